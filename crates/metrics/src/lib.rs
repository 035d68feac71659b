//! Defines what a scanpath comparison is, and computes it in the clear.
//!
//! This crate is at the bottom of the workspace and is the oracle for everything above it: the secure engines are
//! tested for exact equality with its results.
//!
//! | question | type |
//! |---|---|
//! | which letters may occur | [`Alphabet`] |
//! | what did one participant look at | [`Scanpath`], [`Fixations`] on a [`Screen`] |
//! | who took part, and how were they encoded | [`Cohort`], [`Encoding`] |
//! | what does it cost to replace one letter by another | [`Substitution`], [`Grid`], [`Table`] |
//! | which metric, with which parameters | [`Metric`] |
//! | the same in integers, as every engine computes it | [`Model`] |
//! | what of a scanpath its scores depend on | [`Dependence`] |
//! | the numbers that the user sees | [`PairScore`] |
//! | whether that number meets a threshold | [`Threshold`], [`Bound`] |
//!
//! # Numbers
//! Users give decimals, but all costs are integers internally. A decimal is multiplied by a fixed-point scale `K` that
//! both sides agree on, and rounded to the nearest integer. See [`scale`] for the error bound, which a test checks.
//! Costs are at most [`MAX_COST`] and lengths at most [`MAX_LENGTH`], so a 64-bit sum cannot overflow.
//!
//! ```
//! use veilpath_metrics::{Alphabet, Comparison, Metric};
//! let alphabet = Alphabet::letters(52)?;
//! let a = alphabet.parse("kitten")?;
//! let b = alphabet.parse("sitting")?;
//! let score = Comparison::new(Metric::Levenshtein, alphabet)?.compare(&a, &b)?;
//! assert_eq!(score.score(), 3.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alphabet;
mod batch;
mod cohort;
mod comparison;
mod dependence;
mod encoding_setting;
mod error;
mod fixation_comparison;
mod fixations;
mod grid;
mod kernel;
mod metric;
mod model;
mod non_alignment;
mod pair_score;
mod quantisation;
pub mod reference;
pub mod scale;
mod scanmatch;
mod substitution;
mod table;
pub mod text;
mod threshold;
mod traceback;

pub use alphabet::{Alphabet, LetterError, Notation, NotationError};
pub use cohort::{Cohort, Encoding, Entry};
pub use comparison::Comparison;
pub use dependence::Dependence;
pub use encoding_setting::EncodingSetting;
pub use error::MetricError;
pub use fixation_comparison::FixationComparison;
pub use fixations::{
    Fixation, FixationError, Fixations, SCREEN, Screen, ScreenError, ScreenUnit, VIEWING,
    ViewingGeometry,
};
pub use grid::{Distance, Grid, GridError};
pub use metric::{LocalScoring, Metric};
pub use model::{Costs, GlobalModel, LocalModel, Model, ScoreFormula, Scores};
pub use non_alignment::{
    Crqa, CrqaMeasure, Dtw, DurationClasses, DurationDivisor, Frechet, Hausdorff, Lattice,
    LineLengths, LineMeasure, MAX_CELLS, MultiMatch, MultiMatchMeasure, PathDivisor, Positions,
    RATIO_ONE, RankModel, Ranks, RecurrenceModel, RecurrenceRule, RecurrentLetters, RecurrentLines,
    RecurrentPoints, RewardModel, ScaSim, Simplification, SubsMatch, Undefined, View, WarpingModel,
};
pub use pair_score::{MAX_MEASURES, Measure, MeasureKind, PairScore, Symmetry};
pub use quantisation::{Quantisation, RoundingError};
pub use scanmatch::{DEFAULT_PRECISION, temporal_repeats};
pub use substitution::Substitution;
pub use table::{Table, TableError, TableKind};
pub use threshold::{Bound, Threshold};
pub use traceback::{Alignment, AlignmentStep, MAX_TRACEBACK_CELLS, NoAlignment};

/// The largest cost (after scaling) of a single edit operation.
pub const MAX_COST: u32 = 1 << 30;

/// The longest scanpath, in letters. Together with [`MAX_COST`], this keeps every sum below 2⁶².
pub const MAX_LENGTH: usize = 1 << 31;

/// One participant's scanpath: the letters (indices of grid cells) in chronological order.
///
/// The `Debug` form shows only the length, so that logs and assertions never print what somebody looked at.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Scanpath(Vec<u16>);

impl Scanpath {
    /// Creates a scanpath from grid cell indices. [`Alphabet::check`] tells whether they fit an alphabet.
    pub fn new(letters: Vec<u16>) -> Self {
        Self(letters)
    }

    /// The grid cell indices.
    pub fn letters(&self) -> &[u16] {
        &self.0
    }

    /// The number of letters.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the scanpath has no letters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Debug for Scanpath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scanpath({} letters)", self.0.len())
    }
}
