//! Garbled circuits, secret sharing and oblivious transfer, for aligning two strings of which each side knows one.
//!
//! | module | its job |
//! |---|---|
//! | [`kernel`], [`hash`] | fast AES and products in GF(2¹²⁸), and the garbling hash with its bound |
//! | [`label`], [`half_gates`] | wire labels; garbling and evaluating AND gates, many lanes at a time |
//! | [`circuit`] | gadgets and the cells of alignment matrices, the same code in the clear, garbled and evaluated |
//! | [`wavefront`] | sweeping matrices along their anti-diagonals, in memory O(m + n) |
//! | [`ot`] | oblivious transfer: base, correlated, random, 1 out of N, and the look-up of substitution costs |
//! | [`alignment`] | sessions of two parties by garbled circuits, which combine all of these |
//! | [`shares`] | the same by secret sharing, and arithmetic on the results before anything is opened |
//!
//! Garbling and sharing are secure against **semi-honest** parties, which follow the protocol but try to learn from
//! what they see. Transfers are also secure against malicious parties, so that a malicious evaluator does not learn the
//! offset. [`alignment`] and [`shares`] say who learns what, and what a malicious party on either side can do; [`hash`]
//! and [`ot`] give the bounds. Lengths, costs and the alphabet are public; letters are not. The caller must provide an
//! encrypted and authenticated channel.
//!
//! Labels, offsets, seeds and letters do not implement `Debug`. The offset, seeds and label buffers are erased when
//! dropped. Code that handles secrets has no branches and no addresses that depend on them.
//!
//! The crate does no I/O, reads no clock, and takes its randomness from the caller.

#[cfg(target_arch = "x86_64")]
mod aes_kernel;
mod aes_portable;
pub mod alignment;
mod bits;
pub mod block;
mod chain_hash;
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
#[cfg(target_arch = "x86_64")]
mod sha_kernel;
pub mod shares;
mod transpose;
#[cfg(target_arch = "x86_64")]
mod transpose_kernel;
pub mod wavefront;
pub mod worker_thread;

pub use error::{Misbehaviour, MpcError};
pub use kernel::Kernel;
