//! The recurrence of a matrix, and what its cells cost.

use super::compare::{GadgetCost, clamp_cost};
use crate::circuit::numbers::bits_for;

/// The recurrence of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Insertions, deletions and substitutions cost 1. The table says whether letters are equal.
    Unit,
    /// Any global alignment with insertions and deletions that together cost `insertion_and_deletion`. The table has what a
    /// substitution saves of that, or 0.
    Difference {
        /// The sum.
        insertion_and_deletion: u64,
    },
    /// Local alignment. The table has the score of a substitution plus two gaps, or 0.
    Local {
        /// The largest score that a matrix can have.
        largest: u64,
        /// The largest entry of the table.
        largest_entry: u64,
        /// The cost of a gap, at most the largest score.
        gap: u64,
    },
    /// Dynamic time warping. The table has distances.
    Warping {
        /// The largest total that a matrix can have: no less than the largest entry for each letter of the longer side.
        largest: u64,
        /// The largest entry of the table.
        largest_entry: u64,
    },
    /// The discrete Fréchet distance. The table has distances, or numbers in their order.
    Frechet {
        /// The largest entry of the table.
        largest: u64,
    },
}

impl Cell {
    /// Bits of a table's entries.
    pub fn entry_bits(&self) -> usize {
        match *self {
            Self::Unit => 1,
            Self::Difference {
                insertion_and_deletion,
            } => bits_for(insertion_and_deletion),
            Self::Local { largest_entry, .. } | Self::Warping { largest_entry, .. } => {
                bits_for(largest_entry)
            }
            Self::Frechet { largest } => bits_for(largest),
        }
    }

    /// w: numbers of a matrix are in −2^w … 2^w − 1.
    pub(crate) fn width(&self) -> usize {
        match *self {
            Self::Unit => 1,
            Self::Difference {
                insertion_and_deletion,
            } => bits_for(insertion_and_deletion),
            Self::Local { largest, gap, .. } => {
                bits_for(largest.saturating_add(gap.saturating_mul(2)))
            }
            Self::Warping { largest, .. } | Self::Frechet { largest } => bits_for(largest),
        }
    }

    /// What a matrix cell costs, without the look-up.
    pub fn cost(&self) -> GadgetCost {
        let (clamps, after_each_other) = match self {
            Self::Unit => {
                return GadgetCost {
                    cots: 6,
                    bits: 18,
                    exchanges: 2,
                };
            }
            Self::Difference { .. } | Self::Warping { .. } => (2, 2),
            Self::Local { .. } => (4, 3),
            Self::Frechet { .. } => (3, 3),
        };
        let clamp = clamp_cost(self.width());
        let numbers: usize = (0..self.entry_bits())
            .map(|bit| 1 + self.width() - bit)
            .sum();
        GadgetCost {
            cots: clamps * clamp.cots + self.entry_bits(),
            bits: clamps * clamp.bits + numbers,
            exchanges: after_each_other * clamp.exchanges,
        }
    }

    /// Bits of the result of a matrix of this size.
    pub(crate) fn result_bits(&self, rows: usize, columns: usize) -> usize {
        match *self {
            Self::Unit => bits_for(2 * columns as u64),
            Self::Difference {
                insertion_and_deletion,
            } => bits_for(insertion_and_deletion.saturating_mul(rows.min(columns) as u64)),
            Self::Local { .. } | Self::Warping { .. } | Self::Frechet { .. } => self.width(),
        }
    }
}
