//! Base transfers, from which all others are derived: [`COUNT`] random ones per stage, on Ristretto.
//!
//! ```text
//! sender                                      receiver (choice bits c)
//!   b, B = b·G                ───── B ─────▶
//!                             ◀─ Rᵢ,₀ Rᵢ,₁ ─    aᵢ; Rᵢ,₁₋c uniform, Rᵢ,c = aᵢ·G − H(B, i, c, Rᵢ,₁₋c)
//!   Sᵢ,ⱼ = Rᵢ,ⱼ + H(B, i, j, Rᵢ,₁₋ⱼ)
//!   kᵢ,ⱼ = K(i, j, B, Rᵢ,₀, Rᵢ,₁, b·Sᵢ,ⱼ)        kᵢ = K(i, c, B, Rᵢ,₀, Rᵢ,₁, aᵢ·B)
//! ```
//!
//! Masny and Rindal, "Endemic oblivious transfer" (CCS 2019), with one B for all transfers. H hashes to the group and K
//! to a key. Both cover B and the index of the transfer, because a batch whose hashes do not is malleable (McQuoid,
//! Rosulek and Roy, "Batching base oblivious transfers", ASIACRYPT 2021). H (SHA-512, mapped to the group) and K
//! (SHA-256) are modelled as random oracles.
//!
//! # Malicious receivers
//! Of the two queries H(B, i, 0, Rᵢ,₁) and H(B, i, 1, Rᵢ,₀), the later one is made when both points are known. Its
//! answer is uniform, so one of Sᵢ,₀ and Sᵢ,₁ is a uniform point that the receiver does not choose. Computing b times
//! this point is the Diffie–Hellman problem for B. The order of the queries gives the simulator the choice bit before
//! any key is used. Queries made before B is known are of no use. Because one B serves all transfers, the assumption is
//! the *gap* Diffie–Hellman problem: a reduction that does not know b must recognise b·S among the receiver's queries
//! to K, to answer them consistently. (With a separate B for each transfer, the computational problem would suffice.)
//!
//! # Malicious senders
//! Rᵢ,₀ and Rᵢ,₁ are uniform and independent for either choice, so they hide it perfectly. A simulator that answers H
//! knows the discrete logarithms of both Sᵢ,ⱼ, and with them both keys.
//!
//! A malicious party can choose its own keys (this is what "endemic" means): a sender both, a receiver the one that it
//! gets. [`super::correlated`] needs only that the receiver's other key is random to it.
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
use sha2::{Digest, Sha256, Sha512};
use zeroize::{Zeroize, Zeroizing};

/// Transfers per stage: one for each bit of Δ.
pub const COUNT: usize = 128;

/// The keys of one side, and a hash of all messages, which is the same on both sides.
pub struct BaseKeys<K: Zeroize> {
    pub(crate) keys: Zeroizing<Vec<K>>,
    pub(crate) transcript: [u8; 32],
}

fn random_wide(rng: &mut impl CryptoRng) -> Zeroizing<[u8; 64]> {
    let mut bytes = Zeroizing::new([0; 64]);
    rng.fill_bytes(&mut *bytes);
    bytes
}

fn random_scalar(rng: &mut impl CryptoRng) -> Zeroizing<Scalar> {
    Zeroizing::new(Scalar::from_bytes_mod_order_wide(&random_wide(rng)))
}

/// H of the module documentation. Constant-time, because it is the receiver's secret which of the two points `other`
/// is.
fn hash_to_point(
    sender: &CompressedRistretto,
    index: usize,
    choice: u8,
    other: &CompressedRistretto,
) -> RistrettoPoint {
    let mut digest = Sha512::new();
    digest.update(b"veilpath base oblivious transfer, version 2, point");
    digest.update(sender.as_bytes());
    digest.update((index as u64).to_le_bytes());
    digest.update([choice]);
    digest.update(other.as_bytes());
    RistrettoPoint::from_uniform_bytes(&digest.finalize().into())
}

/// K of the module documentation.
fn derive_key(
    index: usize,
    choice: u8,
    sender: &CompressedRistretto,
    receiver: &[CompressedRistretto; 2],
    shared: &RistrettoPoint,
) -> Block {
    let mut digest = Sha256::new();
    digest.update(b"veilpath base oblivious transfer, version 2, key");
    digest.update((index as u64).to_le_bytes());
    digest.update([choice]);
    digest.update(sender.as_bytes());
    for point in receiver {
        digest.update(point.as_bytes());
    }
    digest.update(shared.compress().as_bytes());
    let mut hash: [u8; 32] = digest.finalize().into();
    let mut key = [0; 16];
    key.copy_from_slice(&hash[..16]);
    hash.zeroize();
    Block::from_bytes(key)
}

fn transcript(sender: &CompressedRistretto, receiver: &[[CompressedRistretto; 2]]) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(b"veilpath base oblivious transfer, version 2, transcript");
    digest.update(sender.as_bytes());
    for point in receiver.as_flattened() {
        digest.update(point.as_bytes());
    }
    digest.finalize().into()
}

#[cfg(test)]
mod tests;
