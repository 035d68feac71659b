//! The last step from a matrix's number to an output: hidden lengths or durations are added, or a bound is tested.

use crate::Role;

/// How hidden lengths (or durations, see [`super::private_metric::PrivateMetric::weight`]) enter the result: host_term(m) + join_term(n) plus or minus
/// the number, modulo 2^width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engines) struct LengthTerms {
    /// Bits of each term and of the sum.
    pub(in crate::engines) width: usize,
    /// Whether the number is subtracted.
    pub(in crate::engines) subtract: bool,
    /// Whether the number is doubled first.
    pub(in crate::engines) doubled: bool,
    pub(super) per_host_letter: i128,
    pub(super) per_join_letter: i128,
    pub(super) constant: i128,
    /// Keeps the sum from becoming negative.
    pub(super) offset: i128,
}

/// A one-bit test: whether a number is at least `at_least`, or the opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engines) struct ThresholdTest {
    pub(in crate::engines) at_least: u64,
    pub(in crate::engines) negated: bool,
}

impl LengthTerms {
    /// The garbler's term for one of its scanpaths.
    pub(in crate::engines) fn host_term(&self, weight: u64) -> u64 {
        self.term(self.per_host_letter * i128::from(weight) + self.constant + self.offset)
    }

    /// The evaluator's term for one of its scanpaths.
    pub(in crate::engines) fn join_term(&self, weight: u64) -> u64 {
        self.term(self.per_join_letter * i128::from(weight))
    }

    /// This side's term modulo 2⁶⁴.
    #[allow(clippy::cast_sign_loss)] // modulo 2⁶⁴
    pub(in crate::engines) fn wide_term(&self, role: Role, weight: u64) -> u64 {
        let value = match role {
            Role::Host => self.per_host_letter * i128::from(weight) + self.constant + self.offset,
            Role::Join => self.per_join_letter * i128::from(weight),
        };
        value as u64
    }

    /// Reduces modulo 2^width with a mask: the duration of a division depends on its operands.
    #[allow(clippy::cast_sign_loss)] // modulo 2⁶⁴
    fn term(&self, value: i128) -> u64 {
        value as u64 & (u64::MAX >> (u64::BITS as usize - self.width.clamp(1, 64)))
    }
}

impl ThresholdTest {
    pub(super) fn at_least(limit: i128) -> Self {
        Self {
            at_least: u64::try_from(limit.max(0)).unwrap_or(u64::MAX),
            negated: false,
        }
    }

    pub(super) fn at_most(limit: i128) -> Self {
        Self {
            negated: true,
            ..Self::at_least(limit + 1)
        }
    }
}
