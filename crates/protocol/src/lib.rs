//! Engines that run scanpath comparisons between two roles over a [`Channel`](veilpath_channel::Channel).
//!
//! Two institutions take part: the *host* and the *joining side*. Both have the same [`Spec`] and the same list of
//! pairs; each has its own scanpaths. An engine gives one answer per pair, the score or one bit. [`Engine::revealed`]
//! lists what else a side learns; the outcome contains this list, too.
//!
//! This crate opens no sockets or files, and only [`speed`] reads a clock: a [`Channel`](veilpath_channel::Channel) moves bytes, and
//! callers measure time.

mod cancel;
mod engine_choice;
pub mod engines;
mod error;
mod estimate;
mod fixation_rounding;
mod group_answer;
mod group_question;
mod limit;
mod local;
mod memory;
mod merge;
mod outcome;
mod pair_store;
mod pairs;
mod result_format;
mod results;
mod reveal;
mod reveal_to;
mod risk;
mod spec;
mod statistics;
mod tile;
pub mod units;

pub use cancel::CancelToken;
pub use engine_choice::{EngineChoice, ProvenEstimates, TreeLevels, UnknownTreeLevels};
pub use engines::garbled::and_gates_per_cell;
#[cfg(feature = "watch")]
pub use engines::paillier::{
    HardenedMaskRanges, HardenedSecrets, HardenedSet, HardenedSteps, SeenMessage, Watched,
    watch_key_holder, watch_window,
};
pub use engines::paillier::{PaillierOptions, candidate_counts};
pub use engines::{Engine, Job, Observer, Role, receive_halves, send_halves};
pub use error::{JobError, Misbehaviour, ProtocolError};
pub use estimate::{Estimate, Link, Workload, speed};
pub use fixation_rounding::FixationRounding;
pub use group_answer::{
    Bins, GroupAnswer, GroupAnswerError, GroupMeans, GroupTest, Interval, NearestLabel,
    NearestLabels, NearestRate, ScoreHistogram, StimulusMean, StimulusMeans,
};
pub use group_question::{GroupQuestion, QuestionError};
pub use limit::DefaultLimit;
pub use local::{compare_locally, compare_locally_with_coins, compare_tile_locally};
pub use memory::{JobSize, SideSize};
pub use merge::{MergeError, merge};
pub use outcome::{Cost, Outcome, ResultRow, Revealed, ScanpathId};
pub use pair_store::{Opened, PairStore, Refused};
pub use pairs::{
    MAX_PAIRS, PairCount, PairRule, PairRuleError, count_pairs, newly_paired, pairs_of,
};
pub use result_format::{
    MAX_TEXT_BYTES, OutcomeSeed, RESULT_MARK, RESULT_VERSION, ResultFormatError, check_cohort,
    check_encoding,
};
pub use results::{MeasureColumn, PairResult, Results, Value};
pub use reveal::{Answer, Reveal, RevealError, named_measures};
pub use reveal_to::RevealTo;
pub use risk::{MAX_TABLE_STEPS, RiskySetting, UnknownRiskySetting, risky_settings};
pub use spec::{Capability, MAX_PADDING, Spec, SpecError, Unsupported};
pub use statistics::{
    AnswerSchema, GroupInputs, GroupSizes, GroupWorkload, NumberKind, PreparedGroupAnswer,
};
pub use tile::{MAX_TILES, PairBlocks, PlanTile, Tile, TileError, tile_lengths};
pub use veilpath_paillier::{KeySize, SecretKey};
