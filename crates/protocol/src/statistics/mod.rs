//! Answers about groups, computed on shares of the values of pairs.
//!
//! The engines `garbled` and `shares` leave each side with half of every pair's number, `paillier` with a share of it. For an answer
//! about groups these are never sent. They become shares of the pair's value modulo 2⁶⁴ ([`values`]). Sums with coefficients that
//! both sides know are then local; [`SharesSession`] does the rest: products, comparisons and counts. Only the answer is opened.
//!
//! | answer | what needs messages | what is opened |
//! |---|---|---|
//! | mean | – | a sum for each stimulus, or one |
//! | means of groups | products of sums with the other side's labels; nothing if labels are published | a sum for each pair of groups |
//! | tests | such products for each permutation if labels are secret; comparisons with the observed sum | the observed statistic, and how many permutations reach it |
//! | nearest | a sorting network for each scanpath, and votes | a group for each scanpath, or how many of these are correct |
//! | histogram | comparisons of each pair with each edge | the counts that are not too small |
//!
//! # What each side learns
//! If both follow the protocol: the answer, and what the engine shows. All other messages are those of
//! [`veilpath_mpc::shares`], whose simulator covers them.
//!
//! Means and statistics are opened without their low bits (`rounding.rs`), and no number with more bits than it can
//! have: a side that uses shares other than its own has another function opened, but with no more bits. Inputs other
//! than a side's own are not detected.
//!
#![doc = include_str!("messages.md")]

mod answer_schema;
mod clear;
mod costs;
mod counting;
mod layout;
mod linear;
mod nearest;
mod network;
mod parts;
mod permutation;
mod plan;
#[cfg(test)]
mod plan_tests;
mod rounding;
mod run;
#[cfg(test)]
mod tests;
mod values;

pub use answer_schema::{AnswerNumbers, AnswerSchema};
pub(crate) use clear::numbers_in_the_clear;
pub use costs::GroupWork;
pub use layout::GroupSizes;
pub use plan::{GroupInputs, GroupPlan};

use crate::{ProtocolError, Role};
use veilpath_channel::Channel;
use veilpath_mpc::shares::SharesSession;
use veilpath_statistics::CrossMatrix;
use zeroize::Zeroizing;

/// Secret numbers, erased when dropped.
pub(crate) type Numbers = Zeroizing<Vec<u64>>;

/// Numbers that are computed on together: bounds memory.
const NUMBERS_AT_ONCE: usize = 1 << 20;

/// How many lists of this length are computed on together.
fn at_once(length: usize) -> usize {
    (NUMBERS_AT_ONCE / length.max(1)).max(1)
}

/// One side of a computation on shares.
pub(crate) struct OnShares<'a, C: Channel> {
    pub(crate) role: Role,
    pub(crate) session: &'a mut SharesSession,
    pub(crate) channel: &'a mut C,
}

impl<C: Channel> OnShares<'_, C> {
    /// A public number as shares: the host has all of it.
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
    ) -> Result<Numbers, ProtocolError> {
        let signs = self.session.not_negative(numbers, bits, self.channel)?;
        Ok(self.session.numbers_from_halves(&signs, 1, self.channel)?)
    }
}

/// The labels of this side's participants, and how many different labels there are. The other side knows only the latter.
#[derive(Clone, Debug)]
pub(crate) struct OwnLabels<'a> {
    pub(crate) labels: &'a [usize],
    pub(crate) count: usize,
}

/// For each label, the sum of the matrix's rows (or columns) with it.
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
                let chosen = u64::from(labels[own] == label).wrapping_neg();
                sums[other] = sums[other].wrapping_add(value & chosen);
            }
        }
    }
    sums
}
