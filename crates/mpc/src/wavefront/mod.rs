//! Sweeping alignment matrices along their anti-diagonals.
//!
//! A cell needs its left and its upper neighbour, so the cells of an anti-diagonal are independent and share bundles. A matrix is swept in
//! strips of [`STRIP_ROWS`] rows: a strip keeps what runs along its rows and passes on what runs down its columns, so memory is O(m + n) however
//! large the matrix. Several matrices are swept in lockstep, step by step: where one has too short anti-diagonals to fill
//! a bundle, the next one's cells go on in it.
//!
//! Order and shape are public: they follow from the lengths.

mod geometry;
mod sweep;

pub use geometry::{CellAt, Geometry, STRIP_ROWS, Shape};
pub use sweep::Sweep;
