//! Reads gaze and fixation files and turns them into scanpaths.
//!
//! ```text
//! file ─▶ Input ─▶ Format (readers/) ─▶ Sink: fixations and samples ─▶ point to letter ─▶ runs ─▶ Cohort
//!         bytes     rows                 in the file's coordinates      grid or AOI      raw gaze
//! ```
//! A fixation detector, if requested, runs before points become letters and replaces the runs.
//!
//! A cohort contains letters, and fixations if the user wants to keep them, but never raw gaze.

mod aoi;
mod aoi_column;
pub mod cohort_file;
mod collector;
mod detector;
mod encode;
mod error;
mod field;
mod fixation_path;
mod format_recognition;
mod frame;
mod grid_cell;
mod groups;
mod input;
mod notes;
mod observations;
mod options;
pub mod readers;
mod rows;
mod runs;
mod screen_mapping;
mod settings;
mod sink;
mod summary;
mod trace;

pub use aoi::Areas;
pub use cohort_file::{CohortNote, RawCohort};
pub use collector::Collector;
pub use detector::{
    DetectionOptions, Detector, LengthUnit, ScreenLength, ScreenLengthError, VelocityMethod,
    VelocityMethodError,
};
pub use encode::{Encoded, Source, encode_files};
pub use error::ReadError;
pub use field::EncodeField;
pub(crate) use format_recognition::explain_preamble;
pub use format_recognition::{explain_binary, explain_unknown, recognise_format};
pub use frame::{ColumnKind, Frame, FrameColumn, NamedFrame, Value};
pub use groups::{Groups, GroupsNotUsed, is_group_name};
pub use input::{Head, Input, Lines};
pub use notes::{EncodeNote, Half, LabelDoubt, LikelyCause, NoEffect, NoLetters};
pub use options::{
    CoordinateUnit, EventChoice, EventChoiceError, Eye, NamePattern, NamePatternError, NamesInFile,
    ReadOptions, RowChoice, TimeUnit,
};
pub use readers::is_bids_metadata;
pub use rows::{Columns, Row, Rows, guess_delimiter, is_missing, parse_number};
pub use settings::{DataKinds, Downsize, LetterMap, LetterOptions, Outside, RunOptions, RunsBy};
pub use sink::{Dropped, Fixation, Kind, Recording, RecordingId, Sample, Sink, Space, SpaceKind};
pub use summary::{Assumption, ColumnRole, ColumnRoles, DetectedCount, FileSummary, Summary};
pub use trace::{Trace, TracePoint, TracedRecording, trace_files};
