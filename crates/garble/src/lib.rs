//! Garbled circuits and oblivious transfer for comparing scanpaths that neither side shows.

pub mod aes_kernel;
pub mod block;
pub mod circuit;
pub mod error;
pub mod half_gates;
pub mod hash;
pub mod label;
pub mod transport;

pub use aes_kernel::Kernel;
pub use error::GarbleError;
