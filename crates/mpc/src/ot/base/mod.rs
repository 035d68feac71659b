//! The transfers that all others are derived from: [`COUNT`] random ones per session, on Ristretto.
//!
//! ```text
//! sender                                   receiver (choice bits c)
//!   a, A = a·G            ───── A ─────▶
//!                         ◀─── Bᵢ ─────      bᵢ, Bᵢ = bᵢ·G + cᵢ·A
//!   kᵢ,₀ = H(i, A, Bᵢ, a·Bᵢ)                 kᵢ = H(i, A, Bᵢ, bᵢ·A)
//!   kᵢ,₁ = H(i, A, Bᵢ, a·(Bᵢ − A))
//! ```
//!
//! Chou and Orlandi, "The simplest protocol for oblivious transfer" (Latincrypt 2015), which is secure against semi-honest parties in the random
//! oracle model: the Bᵢ are uniform whatever the choice, and the other key needs a·A, that is, Diffie–Hellman on A twice. H is
//! SHA-256 over a domain of its own, the index and the whole exchange.
//!
//! In a session the *evaluator* is the sender of these transfers, and the garbler's choice bits are those of Δ.

pub mod messages;
mod receiver;
mod sender;

pub use receiver::receive;
pub use sender::send;

use crate::block::Block;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use rand::CryptoRng;
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

/// Transfers per session: one for each bit of Δ.
pub const COUNT: usize = 128;

fn random_scalar(rng: &mut impl CryptoRng) -> Zeroizing<Scalar> {
    let mut bytes = [0; 64];
    rng.fill_bytes(&mut bytes);
    let scalar = Zeroizing::new(Scalar::from_bytes_mod_order_wide(&bytes));
    bytes.zeroize();
    scalar
}

fn derive_key(
    index: usize,
    sender: &CompressedRistretto,
    receiver: &CompressedRistretto,
    shared: &RistrettoPoint,
) -> Block {
    let mut digest = Sha256::new();
    digest.update(b"veilpath base oblivious transfer, version 1");
    digest.update((index as u64).to_le_bytes());
    digest.update(sender.as_bytes());
    digest.update(receiver.as_bytes());
    digest.update(shared.compress().as_bytes());
    let mut hash: [u8; 32] = digest.finalize().into();
    let mut key = [0; 16];
    key.copy_from_slice(&hash[..16]);
    hash.zeroize();
    Block::from_bytes(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::MpcError;
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;
    use veilpath_channel::{Channel, memory_pair};

    #[test]
    fn the_receiver_gets_one_key_of_each_pair() {
        let (mut left, mut right) = memory_pair();
        let choices: [bool; COUNT] = std::array::from_fn(|i| i % 3 == 0);
        std::thread::scope(|scope| {
            let pairs =
                scope.spawn(move || send(&mut ChaCha20Rng::seed_from_u64(1), &mut left).unwrap());
            let keys = receive(&choices, &mut ChaCha20Rng::seed_from_u64(2), &mut right).unwrap();
            let pairs = pairs.join().unwrap();
            for i in 0..COUNT {
                assert_eq!(keys[i], pairs[i][usize::from(choices[i])]);
                assert_ne!(keys[i], pairs[i][usize::from(!choices[i])]);
            }
        });
    }

    #[test]
    fn invalid_points_are_refused() {
        let (mut left, mut right) = memory_pair();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        for bad in [[0xff; 32], [0; 32]] {
            left.send(&bad).unwrap();
            left.flush().unwrap();
            let refused = receive(&[false; COUNT], &mut rng, &mut right);
            assert!(matches!(refused, Err(MpcError::Peer(_))));
        }
        right.send(&[0xff; 32 * COUNT]).unwrap();
        right.flush().unwrap();
        assert!(matches!(send(&mut rng, &mut left), Err(MpcError::Peer(_))));
    }
}
