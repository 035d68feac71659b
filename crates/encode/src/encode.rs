//! From files to a cohort.

use crate::readers::{FORMATS, Format, NAMED_COLUMNS, without_effect};
use crate::{
    Collector, Dropped, EncodeOptions, Fixation, Head, Input, ReadError, ReadOptions, Recording,
    RecordingId, Sample, Sink, Summary, detect, explain_unknown,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use veilpath_metrics::Cohort;

/// What comes out of encoding.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded {
    /// The scanpaths.
    pub cohort: Cohort,
    /// What was read, used and dropped.
    pub summary: Summary,
}

/// Encodes files; `format` names one of the formats for all of them, else each is recognised by itself.
///
/// `progress` is told from time to time, and at the end, how many bytes of all files have been consumed so far, as they
/// lie on disk.
pub fn encode_files(
    paths: &[PathBuf],
    format: Option<&str>,
    read: &ReadOptions,
    options: &EncodeOptions,
    progress: &dyn Fn(u64),
) -> Result<Encoded, ReadError> {
    encode_with((FORMATS, &detect), paths, format, read, options, progress)
}

/// The formats to choose from by name, and the choice by content.
type Formats<'f> = (
    &'f [&'static dyn Format],
    &'f dyn Fn(&Head) -> Option<&'static dyn Format>,
);

fn encode_with(
    (formats, detect): Formats<'_>,
    paths: &[PathBuf],
    format: Option<&str>,
    read: &ReadOptions,
    options: &EncodeOptions,
    progress: &dyn Fn(u64),
) -> Result<Encoded, ReadError> {
    let asked_for = format.map(|name| named(formats, name)).transpose()?;
    let mut collector = Collector::new(options)?;
    let counter = Arc::new(AtomicU64::new(0));
    for path in paths {
        let input = Input::open_counting(path, Arc::clone(&counter))?;
        let format = match asked_for {
            Some(format) => format,
            None => {
                let head = input.head();
                match detect(&head) {
                    Some(format) => format,
                    // Whoever names columns means a table, whatever they are called.
                    None if !read.columns.is_empty() => named(formats, NAMED_COLUMNS)?,
                    None => return Err(explain_unknown(&head)),
                }
            }
        };
        collector.begin_file(input.name(), format.name(), format.title());
        for line in without_effect(format, read) {
            collector.assumed(&line);
        }
        let mut sink = Reporting {
            collector: &mut collector,
            counter: &counter,
            progress,
            calls: 0,
            told: 0,
        };
        format.read(input, read, &mut sink)?;
        progress(counter.load(Ordering::Relaxed));
    }
    let (cohort, summary) = collector.finish()?;
    if cohort.entries.is_empty() {
        let file = paths
            .first()
            .map_or(String::new(), |path| path.display().to_string());
        return Err(nothing_found(&file, paths.len(), &summary));
    }
    Ok(Encoded { cohort, summary })
}

/// The format of this name.
fn named<'f>(formats: &[&'f dyn Format], name: &str) -> Result<&'f dyn Format, ReadError> {
    formats
        .iter()
        .copied()
        .find(|format| format.name().eq_ignore_ascii_case(name))
        .ok_or_else(|| {
            ReadError::new("encoding options", "there is no input format of this name")
                .with_remedy(format!("the formats are: {}", names(formats)))
        })
}

fn names(formats: &[&dyn Format]) -> String {
    let names: Vec<&str> = formats.iter().map(|format| format.name()).collect();
    names.join(", ")
}

fn nothing_found(file: &str, files: usize, summary: &Summary) -> ReadError {
    let place = match files {
        0 => "encoding".to_string(),
        1 => file.to_string(),
        more => format!("{file} and {} more", more - 1),
    };
    if summary.empty_left_out > 0 {
        let empty = summary.empty_left_out;
        let problem = format!("all scanpaths are empty ({empty}), so that none is left");
        return ReadError::new(&place, problem).with_remedy(
            "without --drop-empty the summary tells why their rows could not be used",
        );
    }
    match (files, summary.rows_read) {
        (0, _) => ReadError::new(&place, "there is no file to encode"),
        (_, 0) => ReadError::new(&place, "there is no row of gaze after the header")
            .with_remedy("was the recording exported completely?"),
        (_, rows) => ReadError::new(&place, format!("none of the {rows} rows is about gaze"))
            .with_remedy("choose the rows with --rows fixations or --rows samples, or name the format with --input-format"),
    }
}

/// Hands everything on to the collector and reports progress in passing.
struct Reporting<'a> {
    collector: &'a mut Collector,
    counter: &'a AtomicU64,
    progress: &'a dyn Fn(u64),
    calls: u32,
    told: u64,
}

impl Reporting<'_> {
    /// Looks at the counter every few thousand rows and speaks up after each mebibyte.
    fn tick(&mut self) {
        self.calls = self.calls.wrapping_add(1);
        if !self.calls.is_multiple_of(4096) {
            return;
        }
        let consumed = self.counter.load(Ordering::Relaxed);
        if consumed - self.told.min(consumed) >= 1 << 20 {
            self.told = consumed;
            (self.progress)(consumed);
        }
    }
}

impl Sink for Reporting<'_> {
    fn recording(&mut self, recording: &Recording<'_>) -> Result<RecordingId, ReadError> {
        self.collector.recording(recording)
    }

    fn fixation(&mut self, recording: RecordingId, fixation: Fixation<'_>) {
        self.tick();
        self.collector.fixation(recording, fixation);
    }

    fn sample(&mut self, recording: RecordingId, sample: Sample<'_>) {
        self.tick();
        self.collector.sample(recording, sample);
    }

    fn dropped(&mut self, reason: Dropped) {
        self.tick();
        self.collector.dropped(reason);
    }

    fn assumed(&mut self, assumption: &str) {
        self.collector.assumed(assumption);
    }
}

#[cfg(test)]
mod tests;
