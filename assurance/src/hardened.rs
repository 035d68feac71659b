//! The steps of the hardened variant one by one: the matrix owner's masks and the encrypted values that it applies
//! them to, and what the key holder decrypts.

use crate::blocks;
use crate::engines::{by_index, cohort};
use crate::paillier::Keys;
use crate::secret_rng::SecretRng;
use crate::valgrind::{mark_public, mark_secret};
use rand::{CryptoRng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::sync::Arc;
use veilpath_paillier::{Ciphertext, Plaintext, RandomizerSource};
use veilpath_protocol::{Engine, HardenedSteps, KeySize, PaillierOptions, PairRule, Spec};

/// Cells that are processed at once.
const CELLS: usize = 3;
/// Letters of a scanpath.
const LENGTH: usize = 5;

/// The matrix owner draws orders, multipliers, noise and pads.
pub fn draw(keys: &Keys) {
    let steps = steps(keys, Arc::new(keys.public.clone()));
    steps.draw(CELLS, &mut SecretRng::new(11)).expect("masks");
}

/// The matrix owner applies them to encrypted values, which its letters have selected.
pub fn mask(keys: &Keys) {
    masked(keys, true);
}

/// The key holder decrypts a set and replies.
pub fn reply(keys: &Keys) {
    let masked = masked(keys, false);
    let steps = steps(keys, Arc::clone(&keys.secret) as Arc<dyn RandomizerSource>);
    let sets = steps.open(&keys.secret, &masked, CELLS).expect("sets");
    steps.reply(&sets).expect("a reply");
}

/// The matrix owner removes its pads from a reply.
pub fn unmask(keys: &Keys) {
    let steps = steps(keys, Arc::new(keys.public.clone()));
    // Three ciphertexts per cell.
    let replies: Vec<u8> = encrypted(keys, 3 * CELLS)
        .iter()
        .flat_map(|ciphertext| keys.public.ciphertext_to_bytes(ciphertext).expect("bytes"))
        .collect();
    let secrets = steps.draw(CELLS, &mut SecretRng::new(12)).expect("masks");
    let values = steps.unmask(&replies, secrets).expect("values");
    assert_eq!(values.len(), CELLS);
}

fn steps(keys: &Keys, source: Arc<dyn RandomizerSource>) -> HardenedSteps {
    let options = PaillierOptions::new(KeySize::Bits512, true).expect("with consent");
    let engine = Engine::Paillier(options.with_hardening(true));
    let cohort = cohort(&[0; LENGTH]);
    let spec = Spec::new(engine, by_index(), PairRule::All, &cohort, &cohort).expect("a plan");
    HardenedSteps::new(&spec, LENGTH, &keys.public, source).expect("steps")
}

/// What the matrix owner sends, which is then public. If its part is checked, its masks and all words of the cells
/// are secret.
fn masked(keys: &Keys, all_secret: bool) -> Vec<u8> {
    let steps = steps(keys, Arc::new(keys.public.clone()));
    let values = encrypted(keys, 4 * CELLS);
    let cells = || -> Vec<[Ciphertext; 4]> {
        let cells = values.chunks_exact(4);
        cells
            .map(|cell| core::array::from_fn(|at| cell[at].clone()))
            .collect()
    };
    let (cells, numbers) = blocks::secret_memory(|| (), cells);
    assert_eq!(
        numbers.len(),
        4 * CELLS,
        "the words of the ciphertexts were not found"
    );
    if all_secret {
        numbers.into_iter().for_each(mark_secret);
    }
    let (mut secret, mut public) = (SecretRng::new(13), ChaCha20Rng::seed_from_u64(13));
    let rng: &mut dyn CryptoRng = if all_secret { &mut secret } else { &mut public };
    let secrets = steps.draw(CELLS, rng).expect("masks");
    let bytes = steps.mask(cells, secrets).expect("masked cells");
    mark_public(&bytes);
    bytes
}

/// Ciphertexts of public numbers, themselves public.
fn encrypted(keys: &Keys, count: usize) -> Vec<Ciphertext> {
    let plaintexts: Vec<Plaintext> = (0..count as u64).map(Plaintext::from).collect();
    let randomizers = keys
        .public
        .fresh_randomizers(plaintexts.len(), &mut ChaCha20Rng::seed_from_u64(14));
    let references: Vec<&Plaintext> = plaintexts.iter().collect();
    let encrypted = keys.public.encrypt_batch(&references, randomizers);
    encrypted.expect("small numbers can be encrypted")
}
