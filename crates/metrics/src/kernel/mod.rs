//! The fast alignment kernels.
//!
//! Most kernels sweep the matrix in the same way (`sweep`): a *strip* of up to 128 rows at a time, along
//! anti-diagonals. The cells of one step are independent of each other, so the compiler turns the step into vector
//! instructions of whatever width the target has. The shared scanpath lies along the *lanes* (rows), another one along
//! the *steps* (columns). `global`, `local`, `double` and `walk` define the work per cell. `values` holds the value of
//! each letter pair, and `profile` arranges the values by lane.
//!
//! `edits` and `subsequence` pack 64 rows into a machine word instead.
//!
//! Apart from the letter tables, memory is proportional to the sum of the lengths.

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

/// One scanpath to compare with several others.
///
/// `shared_is_first` says which side of the comparison the shared scanpath is on. It matters if the cost of a letter
/// pair depends on the order of the letters.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    /// The shared scanpath, which lies along the lanes.
    pub(crate) shared: &'a [u16],
    /// The others. Each lies along the steps of its own sweep.
    pub(crate) others: &'a [&'a [u16]],
    /// Whether `shared` is the first side.
    pub(crate) shared_is_first: bool,
    /// The size of the alphabet.
    pub(crate) letters: u32,
    /// Called after each strip with the number of finished cells, because a single pair can take minutes.
    pub(crate) progress: &'a (dyn Fn(u64) + Sync),
}

impl Row<'_> {
    /// The lengths of the first and second side in the pair with one of the others.
    pub(crate) fn lengths(&self, index: usize) -> (usize, usize) {
        let (shared, other) = (self.shared.len(), self.others[index].len());
        if self.shared_is_first {
            (shared, other)
        } else {
            (other, shared)
        }
    }

    /// The number of matrix cells in the pair with one of the others.
    pub(crate) fn cells(&self, index: usize) -> u64 {
        self.shared.len() as u64 * self.others[index].len() as u64
    }
}
