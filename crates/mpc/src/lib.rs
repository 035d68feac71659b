//! Garbled circuits and oblivious transfer, for aligning two strings, one known to each side.
//!
//! | module | its job |
//! |---|---|
//! | [`kernel`], [`hash`] | AES and products in GF(2¹²⁸) at the speed of the processor, and the hash of garbling with its bound |
//! | [`label`], [`half_gates`] | wire labels; garbling and evaluating AND gates, many lanes at a time |
//! | [`circuit`] | gadgets and the cells of alignment matrices, the same code in the clear, garbled and evaluated |
//! | [`wavefront`] | sweeping matrices along their anti-diagonals, in memory O(m + n) |
//! | [`ot`] | oblivious transfer: base, correlated, random, 1 out of N, and the look-up of substitution costs |
//! | [`alignment`] | everything combined: sessions of two parties |
//! | [`worker`] | parts of a session that run in parallel |
//!
//! Garbling is secure against **semi-honest** parties, which follow the protocol and keep what they see, with 128 bits.
//! Transfers are secure against malicious parties too, so that a malicious evaluator does not learn the offset. [`alignment`]
//! says who learns what, and what a malicious party of either side can do. Lengths, costs and the alphabet are public;
//! letters are not. The caller has to provide an encrypted and authenticated channel.
//!
//! Labels, offsets, seeds and letters have no `Debug` form. Offset, seeds and buffers of labels are erased when dropped. Code that handles
//! secrets has no branches and no addresses that depend on them.
//!
//! The crate does no input or output, reads no clock, and takes its randomness from the caller.

#[cfg(target_arch = "x86_64")]
mod aes_kernel;
mod aes_portable;
pub mod alignment;
pub mod block;
pub mod circuit;
#[cfg(target_arch = "x86_64")]
mod clmul_kernel;
pub mod error;
mod field;
pub mod half_gates;
pub mod hash;
pub mod kernel;
pub mod label;
pub mod ot;
#[cfg(target_arch = "x86_64")]
mod ot_kernel;
mod prg;
pub mod shares;
mod transpose;
#[cfg(target_arch = "x86_64")]
mod transpose_kernel;
pub mod wavefront;
pub mod worker;

pub use error::{Misbehaviour, MpcError};
pub use kernel::Kernel;
