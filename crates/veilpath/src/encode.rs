//! Turns gaze data and fixations, from files or data frames, into a cohort.

mod areas;

use crate::progress::Counter;
use crate::{Error, Event, EventSink};
use std::ops::ControlFlow;
use veilpath_encode::{encode_files, readers, trace_files};

pub use areas::{DrawnArea, DrawnOutline, area_file};
pub use veilpath_encode::{
    Areas, Assumption, ColumnKind, ColumnRole, ColumnRoles, CoordinateUnit, DataKinds,
    DetectedCount, DetectionOptions, Detector, Downsize, Dropped, EncodeField, EncodeNote, Encoded,
    EventChoice, EventChoiceError, Eye, FileSummary, Frame, FrameColumn, Groups, GroupsNotUsed,
    Half, LabelDoubt, LengthUnit, LetterMap, LetterOptions, LikelyCause, NamePattern,
    NamePatternError, NamedFrame, NoEffect, NoLetters, Outside, ReadOptions, RowChoice, RunOptions,
    RunsBy, ScreenLength, ScreenLengthError, Source, Space, SpaceKind, Summary, TimeUnit, Trace,
    TracePoint, TracedRecording, Value, VelocityMethod, VelocityMethodError,
};

/// How to read files and turn their points into letters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EncodeOptions {
    /// The name of the format of all files; `None` recognises it for each file.
    pub format: Option<String>,
    /// Details that the files do not contain.
    pub read: ReadOptions,
    /// How to turn points into letters.
    pub letters: LetterOptions,
    /// The groups of participants; `None` uses those in the files.
    pub groups: Option<Groups>,
}

/// A file format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatInfo {
    /// The name in [`EncodeOptions::format`].
    pub name: &'static str,
    /// The human-readable name.
    pub title: &'static str,
}

/// The formats that can be read.
pub fn formats() -> Vec<FormatInfo> {
    let names = readers::FORMATS.iter().map(|format| FormatInfo {
        name: format.name(),
        title: format.title(),
    });
    names.collect()
}

/// Reads files and encodes them.
///
/// [`Event::Progress`] counts the bytes of files on disk and of data frames.
pub fn encode(
    sources: Vec<Source>,
    options: &EncodeOptions,
    events: &dyn EventSink,
) -> Result<Encoded, Error> {
    let size = |source: &Source| match source {
        Source::File(path) => std::fs::metadata(path).map_or(0, |file| file.len()),
        Source::Open(_) => 0,
        Source::Frame(frame) => frame.bytes(),
    };
    let counter = Counter::new(sources.iter().map(size).sum());
    let cancel = events.cancel_token();
    let progress = |done: u64| {
        events.event(Event::Progress(counter.set(done)));
        match cancel.is_cancelled() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let format = options.format.as_deref();
    let encoded = match progress(0) {
        ControlFlow::Break(()) => Err(Error::Cancelled),
        ControlFlow::Continue(()) => {
            encode_files(sources, format, &options.read, &options.letters, &progress)
                .map_err(Error::from)
        }
    };
    let mut encoded = encoded.map_err(|error| error.or_cancelled(events))?;
    if let Some(groups) = &options.groups {
        encoded.assign(groups)?;
    }
    Ok(encoded)
}

/// Reads files for plotting their points.
pub fn trace(sources: Vec<Source>, options: &EncodeOptions) -> Result<Trace, Error> {
    Ok(trace_files(
        sources,
        options.format.as_deref(),
        &options.read,
    )?)
}
