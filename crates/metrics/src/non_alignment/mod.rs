//! The metrics other than alignments: their settings and their integer models.

mod coordinates;
mod geometry;
mod lines;
mod multimatch;
mod positions;
mod recurrence;
mod rewards;
mod scasim;
mod shortest_path;
mod subsmatch;

pub(crate) use coordinates::{
    Plane, frechet_distance, hausdorff, recurrence as recurrence_rows, warping_distance,
};
pub use geometry::{Dtw, Frechet, Hausdorff, PathDivisor};
pub use geometry::{RankModel, WarpingModel};
pub(crate) use geometry::{distance_scale, dtw_model, ranks_of};
pub use lines::{LineLengths, LineMeasure, RecurrentLines};
pub(crate) use multimatch::Saccades;
pub use multimatch::{MultiMatch, MultiMatchMeasure, Simplification};
pub use positions::{Lattice, Positions, Ranks};
pub(crate) use recurrence::MAX_LINE;
pub use recurrence::{
    Crqa, CrqaMeasure, RATIO_ONE, RecurrenceModel, RecurrenceRule, RecurrentLetters,
    RecurrentPoints, Undefined,
};
pub(crate) use rewards::{Factors, GazeDirections};
pub(crate) use scasim::cell_of;
pub use scasim::{DurationClasses, DurationDivisor, MAX_CELLS, RewardModel, ScaSim, View};
pub(crate) use subsmatch::MAX_WINDOW;
pub use subsmatch::SubsMatch;
