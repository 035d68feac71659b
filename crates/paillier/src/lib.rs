//! The Paillier cryptosystem: numbers that can be added, and multiplied by known factors, while they are encrypted.
//!
//! ```
//! use veilpath_paillier::{KeySize, Plaintext, Scalar, SecretKey, system_rng};
//!
//! let mut rng = system_rng()?;
//! // 512 bits make a quick example and a weak key; `KeySize::default()` is 2048.
//! let secret = SecretKey::generate(KeySize::Bits512, &mut rng)?;
//! let public = secret.public_key();
//!
//! let mut randomizers = public.fresh_randomizers(2, &mut rng).into_iter();
//! let mut encrypt = |m: i64| public.encrypt(&Plaintext::from(m), randomizers.next().unwrap());
//! let (a, b) = (encrypt(20)?, encrypt(-6)?);
//!
//! let sum = public.add(&a, &b)?;
//! let triple = public.scalar_mul(&sum, &Scalar::from(3u64))?;
//! assert_eq!(secret.decrypt(&triple)?.to_i128(), Some(42));
//! # Ok::<(), veilpath_paillier::Error>(())
//! ```
//!
//! # The scheme
//!
//! The public key is `n = p·q`, with `g = n + 1`; the secret key is the pair of primes. A number `m` is encrypted as
//! `gᵐ·rⁿ = (1 + m·n)·rⁿ mod n²`. Numbers are signed: those above `n/2` represent negative numbers.
//!
//! # Types
//!
//! [`Plaintext`], [`Scalar`], [`Ciphertext`] and [`Randomizer`] are all numbers inside and must not be confused, so
//! they are separate types. A randomiser is consumed by its use, so no two ciphertexts share one. Secrets are erased
//! when dropped and never printed. Secret keys and randomisers cannot be copied.
//!
//! # Speed
//!
//! Functions that take many ciphertexts compute eight at a time on a CPU with AVX-512 IFMA ([`Kernel::Ifma`]), and one
//! at a time elsewhere ([`Kernel::Portable`]). The choice is made at run time. The key holder computes modulo `p²` and
//! `q²`. Both sides draw randomisers from tables ([`RandomizerTable`]) and can prepare them in advance
//! ([`RandomizerPool`]). All functions take `&self` and may run on as many threads as there are cores. [`mod@bench`]
//! measures the operations.
//!
//! # Key files
//!
//! A key file is text: lines that end in a line feed, numbers in lower-case hexadecimal with exactly as many digits
//! as their size requires. Readers also accept what editors change: a carriage return before a line feed, and a missing
//! last line feed. Version 1 of the public key, and of the secret key:
//!
//! ```text
//! veilpath paillier public key 1        veilpath paillier secret key 1
//! bits 2048                             bits 2048
//! n c5…                                 n c5…
//!                                       p e1…
//!                                       q df…
//! ```
//!
//! `n` is the product of the primes `p` and `q`; in the secret file it serves to detect damage. A file is never
//! overwritten. On Unix, a secret key file is created with mode 0600, and rejected if other users may read it.
//!
//! # What leaks
//!
//! Exponentiation with a secret exponent takes the same steps and touches the same memory for all exponents of equal
//! declared length, table look-ups included. Key generation is not constant-time, nor is the rejection of bad input.
//!
//! The key holder can read the randomness of each ciphertext that it receives, not only its number. So a ciphertext for
//! the key holder must be re-randomised with a randomiser of its own; see [`RandomizerTable`] for the requirements.

mod arith;
pub mod bench;
mod ciphertext;
mod error;
mod key_file;
mod key_size;
mod operations;
mod packing;
mod plaintext;
mod pool;
mod public_key;
mod randomizer;
mod rng;
mod scalar;
mod secret_key;

pub use arith::Kernel;
pub use ciphertext::Ciphertext;
pub use crypto_bigint::BoxedUint;
pub use error::{CiphertextFault, Error, KeyFault, KeyFileFault, Misuse, Result};
pub use key_size::KeySize;
pub use operations::TermShape;
pub use packing::{Bound, SlotLayout};
pub use plaintext::Plaintext;
pub use pool::RandomizerPool;
pub use public_key::PublicKey;
pub use randomizer::{Randomizer, RandomizerSource, RandomizerTable};
pub use rng::{SystemRng, system_rng};
pub use scalar::Scalar;
pub use secret_key::SecretKey;
