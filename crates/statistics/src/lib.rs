//! Statistics over groups of participants, computed on integers.
//!
//! ```text
//! pairs of scanpaths ─ParticipantPairs─▶ CrossMatrix ─▶ group sums, tests, intervals
//!        │            ──PooledPairs────▶ PairMatrix ──▶ the same within one set of participants
//!        └──────────────────────────────▶ sums, nearest scanpaths, histograms
//! ```
//!
//! Everything is a sum or a comparison of 64-bit integers, so two parties who hold only shares of the values can
//! compute exactly the same results. What such parties must agree on (permutations, coefficients, edges) is public
//! here. Functions whose names end in `wrapping` add modulo 2⁶⁴, as shares require. All others check with [`check_sum`]
//! that nothing can wrap.
//!
//! A value is a real number divided by a public `unit`; larger values mean more similar. The score of a pair of
//! participants is the sum over their pairs of scanpaths. If the number of these differs between pairs of participants,
//! the caller divides each value by [`ParticipantPairs::count`] first.

mod bootstrap;
mod coins;
mod contrast;
mod error;
mod fixed_point;
mod groups;
mod histogram;
mod label_test;
mod matrix;
mod mean;
mod nearest;
mod participants;

pub use bootstrap::{DrawCounts, percentile_interval};
pub use coins::Coins;
pub use contrast::{Contrast, TestResult, p_value};
pub use error::StatisticsError;
pub use fixed_point::{FixedPoint, check_sum};
pub use groups::group_sums;
pub use histogram::{bin_of, histogram, histogram_edges, suppress_small};
pub use label_test::{CrossTest, LabelTest};
pub use matrix::{CrossMatrix, PairMatrix};
pub use mean::{MeanSum, mean, means_by_key};
pub use nearest::{Confusion, majority, nearest};
pub use participants::{ParticipantPairs, Participants, PooledPairs};
