//! The fast alignment kernels.
//!
//! Most of them sweep the table of cells in the same way (`sweep`): a *strip* of up to 128 rows at a time, along
//! anti-diagonals, so that every cell of a step is independent of the others and the compiler turns the step into
//! vector instructions of whatever width the target has. One scanpath lies along the *lanes* (rows), the other along
//! the *steps* (columns). The work per cell is in `global`, `local`, `double` and `walk`; `values` has the value of each pair
//! of letters, `profile` arranges the values by lanes.
//!
//! `edits` and `subsequence` have 64 rows in a machine word instead.
//!
//! Memory besides the letter tables is proportional to the sum of the lengths.

pub(crate) mod double;
mod edits;
pub(crate) mod global;
pub(crate) mod hausdorff;
pub(crate) mod levenshtein;
mod lines;
pub(crate) mod local;
pub(crate) mod number;
mod profile;
pub(crate) mod recurrence;
pub(crate) mod subsequence;
mod sweep;
pub(crate) mod values;
pub(crate) mod walk;

/// One scanpath against several others.
///
/// `lane_is_first` says on which side of the comparison the shared scanpath is: it matters if the cost of a pair
/// depends on the order of its letters.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    /// The shared scanpath, which lies along the lanes.
    pub(crate) lane: &'a [u16],
    /// The others, each along the steps of a sweep of its own.
    pub(crate) others: &'a [&'a [u16]],
    /// Whether `lane` is the first side.
    pub(crate) lane_is_first: bool,
    /// Letters in the alphabet.
    pub(crate) letters: u32,
    /// Called with the number of finished cells, strip by strip, because a single pair can take minutes.
    pub(crate) progress: &'a (dyn Fn(u64) + Sync),
}

impl Row<'_> {
    /// The lengths of the first side and the second in the pair with one of the others.
    pub(crate) fn lengths(&self, index: usize) -> (usize, usize) {
        let (lane, other) = (self.lane.len(), self.others[index].len());
        if self.lane_is_first {
            (lane, other)
        } else {
            (other, lane)
        }
    }

    /// The cells of the table with one of the others.
    pub(crate) fn cells(&self, index: usize) -> u64 {
        self.lane.len() as u64 * self.others[index].len() as u64
    }
}
