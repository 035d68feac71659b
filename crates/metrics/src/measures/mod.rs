//! The measures of the field besides alignments: their settings, and their integers.

mod geometry;
mod points;
mod recurrence;
mod subsmatch;

pub use geometry::{Dtw, Frechet, Hausdorff, PathDivisor};
pub use geometry::{RankModel, WarpingModel};
pub(crate) use geometry::{dtw_model, ranks_of};
pub use points::{Lattice, Points, Ranks};
pub(crate) use recurrence::MAX_LINE;
pub use recurrence::{
    Crqa, CrqaOutput, RATIO_ONE, RecurrenceModel, RecurrenceRule, RecurrentLetters,
    RecurrentPoints, Undefined,
};
pub(crate) use subsmatch::MAX_WINDOW;
pub use subsmatch::SubsMatch;
