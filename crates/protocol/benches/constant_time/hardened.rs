//! The secret steps of the hardened variant, on every kernel of this processor.

use crate::paillier::{BATCH, Prepared, SIZE, number};
use crate::probe::{Expected::ConstantTime, Experiment, time};
use crate::statistics::Class;
use rand::RngExt;
use rand::rand_core::{TryCryptoRng, TryRng};
use rand_chacha::ChaCha20Rng;
use std::array::from_fn;
use std::convert::Infallible;
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric, Scanpath};
use veilpath_paillier::{
    Ciphertext, Plaintext, PublicKey, Randomizer, RandomizerSource, RandomizerTable, SecretKey,
};
use veilpath_protocol::{
    Engine, HardenedSecrets, HardenedSet, HardenedSteps, PaillierOptions, PairRule, Spec,
};
use zeroize::Zeroizing;

/// Letters of a scanpath.
const LENGTH: usize = 40;
/// Slots of a cell, and their bits.
const SLOTS: usize = 4;
const SLOT_BITS: u32 = 255;
/// Ciphertexts of the reply for a cell.
const REPLIES: usize = 3;
/// Stack depths at which a short operation is measured, over several pages of the stack.
const DEPTHS: u32 = 256;

/// Drawing secrets, which uses no kernel.
pub(crate) fn masks(experiment: &mut Experiment, key: &SecretKey) {
    let steps = steps(key.public_key(), &Arc::default());
    experiment.probe(
        "paillier: hardened masks, zeros or random",
        ConstantTime,
        &mut |class, rng| {
            let mut secret = prepared(class, rng);
            // The time of such a short operation depends on the state of caches and branch prediction, so both classes are
            // prepared in the same way.
            steps
                .draw(BATCH, &mut prepared(Class::Random, rng))
                .unwrap();
            // Its time also depends on the alignment of the stack, so both classes are measured at many depths.
            let depth = rng.random_range(0..DEPTHS);
            at_depth(depth, &mut || {
                time(|| steps.draw(BATCH, &mut secret).unwrap())
            })
        },
    );
}

/// Measures `depth` frames further down the stack. Each frame has a few words.
#[inline(never)]
fn at_depth(depth: u32, measure: &mut dyn FnMut() -> Duration) -> Duration {
    if depth == 0 {
        return measure();
    }
    let frame = black_box([depth; 4]);
    let time = at_depth(depth - 1, measure);
    black_box(frame);
    time
}

/// All steps that use a kernel.
pub(crate) fn all(
    experiment: &mut Experiment,
    key: &Arc<SecretKey>,
    name: &dyn Fn(&str) -> String,
    rng: &mut ChaCha20Rng,
) {
    let source = Arc::new(PrecomputedRandomizers::default());
    let public = key.public_key();
    let steps = steps(public, &source);
    let table = RandomizerTable::for_other_side(public, rng);
    let pools = [Class::Fixed, Class::Random].map(|class| cells(key, class, rng));
    experiment.probe(
        &name("hardened values, masks zeros or random"),
        ConstantTime,
        &mut |class, rng| {
            let secrets = secrets(&steps, class, rng);
            source.put(table.draw(BATCH, rng));
            time(|| steps.mask(&pools[1], secrets).unwrap())
        },
    );
    experiment.probe(
        &name("hardened values of zeros or numbers"),
        ConstantTime,
        &mut |class, rng| {
            let secrets = secrets(&steps, Class::Random, rng);
            source.put(table.draw(BATCH, rng));
            let cells = cells(key, class, rng);
            time(|| steps.mask(&cells, secrets).unwrap())
        },
    );
    let replies: Vec<u8> = pools[1]
        .iter()
        .flat_map(|cell| &cell[..REPLIES])
        .flat_map(|value| public.ciphertext_to_bytes(value).unwrap())
        .collect();
    experiment.probe(
        &name("hardened unmasking, pads zero or random"),
        ConstantTime,
        &mut |class, rng| {
            let secrets = secrets(&steps, class, rng);
            time(|| steps.unmask(&replies, secrets).unwrap())
        },
    );
    let table = RandomizerTable::for_key_holder(key, rng);
    experiment.probe(
        &name("hardened reply, slots zero or random"),
        ConstantTime,
        &mut |class, rng| {
            let slot = |rng: &mut ChaCha20Rng| Zeroizing::new(number(class, SLOT_BITS, rng));
            let sets: Vec<HardenedSet> = (0..BATCH)
                .map(|_| (0..SLOTS).map(|_| slot(rng)).collect())
                .collect();
            source.put(table.draw(REPLIES * BATCH, rng));
            time(|| steps.reply(&sets).unwrap())
        },
    );
}

fn steps(public: &PublicKey, source: &Arc<PrecomputedRandomizers>) -> HardenedSteps {
    let options = PaillierOptions::new(SIZE, true).unwrap();
    let engine = Engine::Paillier(options.with_hardening(true));
    let cohort = Cohort {
        alphabet: Alphabet::letters(12).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries: vec![Entry {
            participant: "p".into(),
            group: None,
            stimulus: None,
            scanpath: Scanpath::new(vec![0; LENGTH]),
            fixations: None,
        }],
    };
    let metric = Metric::Levenshtein;
    let spec = Spec::new(engine, metric, PairRule::All, &cohort, &cohort).unwrap();
    let source = Arc::clone(source) as Arc<dyn RandomizerSource>;
    HardenedSteps::new(&spec, LENGTH, public, source).unwrap()
}

fn secrets(steps: &HardenedSteps, class: Class, rng: &mut ChaCha20Rng) -> HardenedSecrets {
    steps.draw(BATCH, &mut prepared(class, rng)).unwrap()
}

/// Slightly more randomness than a batch needs.
fn prepared(class: Class, rng: &mut ChaCha20Rng) -> WithoutRejection {
    WithoutRejection(Prepared::of(class, 512 * BATCH, rng))
}

/// Encrypted values of a batch of cells: zeros, or numbers that a matrix may have.
fn cells(key: &SecretKey, class: Class, rng: &mut ChaCha20Rng) -> Vec<[Ciphertext; 4]> {
    let plaintexts: Vec<Plaintext> = (0..4 * BATCH)
        .map(|_| Plaintext::from_uint(&number(class, 5, rng)))
        .collect();
    let references: Vec<&Plaintext> = plaintexts.iter().collect();
    let mut encrypted = key.encrypt_batch(&references, rng).unwrap().into_iter();
    (0..BATCH)
        .map(|_| from_fn(|_| encrypted.next().unwrap()))
        .collect()
}

/// Randomisers that were computed before the measurement.
#[derive(Default)]
struct PrecomputedRandomizers(Mutex<Vec<Randomizer>>);

impl PrecomputedRandomizers {
    fn put(&self, randomizers: Vec<Randomizer>) {
        *self.0.lock().unwrap() = randomizers;
    }
}

impl RandomizerSource for PrecomputedRandomizers {
    fn draw(&self, count: usize, _: &mut dyn rand::CryptoRng) -> Vec<Randomizer> {
        let mut ready = self.0.lock().unwrap();
        let rest = ready.len() - count;
        ready.split_off(rest)
    }
}

/// Prepared randomness with which no multiplier is rejected. The number of rejections is not secret, but would dominate
/// the time. Only the draws that decide about rejection are 64 bits long; they are all zero.
struct WithoutRejection(Prepared);

impl TryRng for WithoutRejection {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(0)
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(out)
    }
}

impl TryCryptoRng for WithoutRejection {}
