//! Group answers, computed on shares of the pairs' values.
//!
//! The engine leaves each side with its half of every pair ([`PairStore`](crate::PairStore)). For a group answer,
//! halves are never sent. They become additive shares of the pair's value modulo 2⁶⁴ ([`values`]). Sums with public coefficients
//! are then local; [`SharesSession`] does the rest: products, comparisons and counts. Only the answer is opened.
//!
//! | answer | what needs messages | what is opened |
//! |---|---|---|
//! | mean | – | a sum for each stimulus, or one |
//! | means of groups | products of sums with the other side's labels; nothing if labels are published | a sum for each pair of groups |
//! | tests | such products for each permutation if labels are secret; comparisons with the observed sum | the observed statistic, and how many permutations reach it |
//! | nearest | a sorting network for each scanpath, and votes | a group for each scanpath, or how many of these are correct |
//! | histogram | comparisons of each pair with each edge | the counts of bins with enough participants |
//!
//! # What each side learns
//! If both sides follow the protocol: the answer, and what the engine reveals. All other messages are those of
//! [`veilpath_mpc::shares`], whose simulator covers them.
//!
//! Means and statistics are opened without their low bits (`rounding.rs`), and no number is opened with more bits than
//! it can have. A side that uses wrong shares has another function opened, but with no more bits. Wrong inputs are not
//! detected.
//!
#![doc = include_str!("messages.md")]

mod answer_schema;
mod clear;
mod costs;
mod histogram;
mod layout;
mod linear;
mod nearest;
mod permutation;
mod prepared;
#[cfg(test)]
mod prepared_tests;
mod public_parameters;
mod rounding;
mod run;
mod sorting_network;
#[cfg(test)]
mod tests;
mod values;

pub use answer_schema::{AnswerSchema, NumberKind};
pub(crate) use clear::numbers_in_the_clear;
pub use costs::GroupWorkload;
pub use layout::GroupSizes;
pub use prepared::{GroupInputs, PreparedGroupAnswer};
pub(crate) use values::ValueKind;

use crate::{GroupQuestion, ProtocolError, Role};
use std::hint::black_box;
use veilpath_channel::Channel;
use veilpath_mpc::shares::SharesSession;
use veilpath_statistics::CrossMatrix;
use zeroize::Zeroizing;

/// Secret numbers, erased when dropped.
pub(crate) type SecretNumbers = Zeroizing<Vec<u64>>;

/// How many numbers are processed together. This bounds memory.
const NUMBERS_AT_ONCE: usize = 1 << 16;

/// How many numbers are compared together. Each needs many transfers.
const COMPARED_AT_ONCE: usize = 1 << 14;

/// Memory for each of these numbers.
const BYTES_PER_NUMBER: u64 = 128;
const BYTES_PER_COMPARED: u64 = 1536;

/// Batches of transfers that are generated in advance.
const TRANSFER_BYTES: u64 = 28 << 20;

/// An upper bound on the memory of a group answer, beyond that of the pairs.
pub(crate) fn memory(question: GroupQuestion, pairs: u64) -> u64 {
    let compared = match question {
        GroupQuestion::Mean { overall: true } => 1,
        // Every sum is rounded by a comparison, and there are at most as many sums as pairs.
        GroupQuestion::Mean { overall: false } | GroupQuestion::Groups { .. } => pairs,
        GroupQuestion::TestSites { .. } | GroupQuestion::TestGroups { .. } => {
            question.permutations().unwrap_or(0).into()
        }
        GroupQuestion::Nearest { .. } => pairs,
        GroupQuestion::Histogram { bins } => pairs.saturating_mul(bins.into()),
    };
    let compared = compared.min(COMPARED_AT_ONCE as u64);
    TRANSFER_BYTES + NUMBERS_AT_ONCE as u64 * BYTES_PER_NUMBER + compared * BYTES_PER_COMPARED
}

/// How many lists of this length are processed together.
fn at_once(length: usize) -> usize {
    (NUMBERS_AT_ONCE / length.max(1)).max(1)
}

/// One side of a computation on shares.
pub(crate) struct SharesSide<'a, C: Channel> {
    pub(crate) role: Role,
    pub(crate) session: &'a mut SharesSession,
    pub(crate) channel: &'a mut C,
}

impl<C: Channel> SharesSide<'_, C> {
    /// This side's share of a public number: the host has the number, the other side 0.
    pub(crate) fn public(&self, number: i64) -> u64 {
        match self.role {
            Role::Host => number.cast_unsigned(),
            Role::Join => 0,
        }
    }

    /// 1 for each number that is not negative, else 0, as additive shares. Numbers are from −2^`bits` to 2^`bits` − 1.
    pub(crate) fn count_not_negative(
        &mut self,
        numbers: &[u64],
        bits: usize,
    ) -> Result<SecretNumbers, ProtocolError> {
        let signs = self.not_negative(numbers, bits)?;
        Ok(self.session.additive_from_xor(&signs, 1, self.channel)?)
    }

    /// The same, as XOR-shared bits.
    pub(crate) fn not_negative(
        &mut self,
        numbers: &[u64],
        bits: usize,
    ) -> Result<SecretNumbers, ProtocolError> {
        let mut signs = Zeroizing::new(Vec::with_capacity(numbers.len()));
        for numbers in numbers.chunks(COMPARED_AT_ONCE) {
            let some = self.session.not_negative(numbers, bits, self.channel)?;
            signs.extend_from_slice(&some);
        }
        Ok(signs)
    }
}

/// The labels of this side's participants, and the number of different labels. The other side knows only that number.
#[derive(Clone, Debug)]
pub(crate) struct OwnLabels<'a> {
    pub(crate) labels: &'a [usize],
    pub(crate) count: usize,
}

/// For each label, the sum of the matrix rows (or columns) with that label.
pub(crate) fn sums_by_label(
    values: &CrossMatrix,
    labels: &[usize],
    count: usize,
    over_rows: bool,
) -> Vec<Zeroizing<Vec<u64>>> {
    let width = if over_rows {
        values.columns()
    } else {
        values.rows()
    };
    let mut sums: Vec<Zeroizing<Vec<u64>>> =
        (0..count).map(|_| Zeroizing::new(vec![0; width])).collect();
    for row in 0..values.rows() {
        for column in 0..values.columns() {
            let (own, other) = if over_rows {
                (row, column)
            } else {
                (column, row)
            };
            let value = values.get(row, column).cast_unsigned();
            // Every sum is written, so that no address depends on a label.
            for (label, sums) in sums.iter_mut().enumerate() {
                // The compiler must not see that the mask is all ones or all zeros, or it could branch.
                let chosen = black_box(u64::from(labels[own] == label).wrapping_neg());
                sums[other] = sums[other].wrapping_add(value & chosen);
            }
        }
    }
    sums
}
