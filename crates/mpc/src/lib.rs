//! Garbled circuits and oblivious transfer, for aligning two strings of which each side knows one.
//!
//! | module | its job |
//! |---|---|
//! | [`kernel`], [`hash`] | AES at the speed of the processor, and the hash that garbling stands on, with its bound |
//! | [`label`], [`half_gates`] | wire labels; garbling and evaluating AND gates, many lanes at a time |
//! | [`circuit`] | gadgets and the cells of alignment matrices, the same code in the clear, garbled and evaluated |
//! | [`wavefront`] | sweeping matrices along their anti-diagonals, in memory O(m + n) |
//! | [`ot`] | oblivious transfer: base, correlated, random, 1 out of N, and the look-up of substitution costs |
//! | [`alignment`] | all of it put together: sessions of two parties |
//! | [`lane`] | parts of a session that run beside each other |
//!
//! Everything here is secure against **semi-honest** parties, who follow the protocol and keep what they see, with 128 bits; [`alignment`] says who
//! learns what. It does not hold against a party that breaks the protocol on purpose. Lengths, costs and the alphabet are public; letters are
//! not. The channel has to be encrypted and authenticated by whoever brings it.
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
pub mod error;
pub mod half_gates;
pub mod hash;
pub mod kernel;
pub mod label;
pub mod ot;
mod prg;
pub mod wavefront;
pub mod worker;

pub use error::{Misbehaviour, MpcError};
pub use kernel::Kernel;
