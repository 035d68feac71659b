//! Sweeps alignment matrices along their anti-diagonals.
//!
//! A cell needs its left and its upper neighbour, so the cells of an anti-diagonal are independent and share bundles.
//! A matrix is swept in strips of [`STRIP_ROWS`] rows: a strip stores the wires along its rows and passes on the
//! wires down its columns, so memory is O(m + n). Several matrices are swept in lockstep, step by step: if the
//! anti-diagonal of one is too short to fill a bundle, cells of the next one fill it.
//!
//! Order and shape are public: they follow from the lengths.

mod geometry;
mod sweep;
#[cfg(test)]
mod tests;

pub use geometry::{CellAt, Geometry, STRIP_ROWS, Shape};
pub(crate) use sweep::offsets;
pub use sweep::{Sweep, SweepOutput};
