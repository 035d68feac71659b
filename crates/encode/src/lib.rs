//! Reads gaze and fixation files and turns them into scanpaths.
//!
//! ```text
//! file ─▶ Input ─▶ Format (readers/) ─▶ Sink: fixations and samples ─▶ place to letter ─▶ runs ─▶ Cohort
//!         bytes     rows                 in the file's coordinates      grid or AOI      raw gaze
//! ```
//!
//! Gaze stops here: what leaves this crate is letters.

mod detect;
mod error;
mod input;
mod options;
pub mod readers;
mod rows;
mod sink;

pub use detect::{detect, explain_unknown};
pub use error::ReadError;
pub use input::{Head, Input, Lines};
pub use options::{
    CoordinateUnit, Eye, NameTemplate, NamesInFile, ReadOptions, RowChoice, TimeUnit,
};
pub use rows::{Columns, Row, Rows, guess_delimiter, is_missing, parse_number};
pub use sink::{Dropped, Fixation, Kind, Recording, RecordingId, Sample, Sink, Space};
