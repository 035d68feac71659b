//! Garbled circuits and oblivious transfer for comparing scanpaths that neither side shows.

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
pub mod transport;
pub mod wavefront;

pub use error::GarbleError;
pub use kernel::Kernel;
