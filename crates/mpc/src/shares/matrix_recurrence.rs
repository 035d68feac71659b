//! The recurrence of a matrix, and the cost of its cells.

use super::compare::{GadgetCost, clamp_cost};
use crate::circuit::numbers::bits_for;

/// The recurrence of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixRecurrence {
    /// Insertions, deletions and substitutions cost 1. The table says whether letters are equal.
    Unit,
    /// Any global alignment with insertions and deletions that together cost `insertion_and_deletion`. The table has
    /// what a substitution saves compared with that sum, or 0.
    Difference {
        /// The cost of an insertion plus a deletion.
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
        /// The largest total that a matrix can have: at least the largest entry times the length of the longer side.
        largest: u64,
        /// The largest distance in the table.
        largest_entry: u64,
        /// Whether entries have one more bit, which is 1 where exactly one of the letters is padding.
        padded: bool,
    },
    /// The discrete Fréchet distance. The table has distances, or ranks in the same order.
    Frechet {
        /// The largest entry of the table.
        largest: u64,
    },
}

impl MatrixRecurrence {
    /// Bits of a table's entries.
    pub fn entry_bits(&self) -> usize {
        match *self {
            Self::Unit => 1,
            Self::Difference {
                insertion_and_deletion,
            } => bits_for(insertion_and_deletion),
            Self::Local { largest_entry, .. } => bits_for(largest_entry),
            Self::Warping { padded, .. } => self.number_bits() + usize::from(padded),
            Self::Frechet { largest } => bits_for(largest),
        }
    }

    /// Bits of a table's entries that become numbers.
    pub(crate) fn number_bits(&self) -> usize {
        match *self {
            Self::Warping { largest_entry, .. } => bits_for(largest_entry),
            _ => self.entry_bits(),
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

    /// The cost of a matrix cell, without the look-up.
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
        let numbers: usize = (0..self.number_bits())
            .map(|bit| 1 + self.width() - bit)
            .sum();
        // The product that replaces the sum where a letter meets padding.
        let selected = usize::from(matches!(self, Self::Warping { padded: true, .. }));
        GadgetCost {
            cots: clamps * clamp.cots + self.number_bits() + 2 * selected,
            bits: clamps * clamp.bits + numbers + 2 * (self.width() + 2) * selected,
            exchanges: after_each_other * clamp.exchanges + selected,
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
