//! Encodes files into a cohort.

use crate::frame::NamedFrame;
use crate::input::{Consumed, STOPPED};
use crate::notes::{first_of, pluralized};
use crate::readers::{FORMATS, Format, SupportedOptions, without_effect};
use crate::{
    Collector, ColumnRoles, Dropped, EncodeField, EncodeNote, EventChoice, Eye, Fixation, Head,
    Input, LetterMap, LetterOptions, NoEffect, ReadError, ReadOptions, Recording, RecordingId,
    Sample, Sink, Summary, explain_unknown, recognise_format,
};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use veilpath_metrics::Cohort;

/// The result of encoding.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded {
    /// The scanpaths.
    pub cohort: Cohort,
    /// Counts of rows that were read, used and dropped.
    pub summary: Summary,
}

/// Where gaze comes from.
pub enum Source {
    /// A file, which is opened only when it is read.
    File(PathBuf),
    /// An input that is already open, such as standard input.
    Open(Box<Input>),
    /// A table in memory, with the columns of a generic table.
    Frame(NamedFrame),
}

/// Encodes files. `format` names the format of all of them; if it is `None`, each is recognised by its content.
///
/// `progress` is called from time to time, and at the end, with the number of bytes of all files (as stored on disk)
/// consumed so far. If it returns `Break`, reading ends with an error. The bytes of a [`Source::Open`] are not counted,
/// so `progress` may not be called before its end.
pub fn encode_files(
    sources: Vec<Source>,
    format: Option<&str>,
    read: &ReadOptions,
    options: &LetterOptions,
    progress: &dyn Fn(u64) -> ControlFlow<()>,
) -> Result<Encoded, ReadError> {
    encode_with(
        (FORMATS, &recognise_format),
        sources,
        format,
        read,
        options,
        progress,
    )
}

/// The formats that can be chosen by name, and the function that recognises a format by content.
pub(crate) type Formats<'f> = (
    &'f [&'static dyn Format],
    &'f dyn Fn(&Head) -> Option<&'static dyn Format>,
);

fn encode_with(
    (formats, recognise): Formats<'_>,
    sources: Vec<Source>,
    format: Option<&str>,
    read: &ReadOptions,
    options: &LetterOptions,
    progress: &dyn Fn(u64) -> ControlFlow<()>,
) -> Result<Encoded, ReadError> {
    read.check()?;
    format.map(|name| named(formats, name)).transpose()?;
    let mut collector = Collector::new(options)?;
    collector.set_screen_settings(read);
    let mut no_effect = Vec::new();
    let mut accepts = SupportedOptions::NOTHING;
    let consumed = Arc::new(Consumed::default());
    let files = sources.len();
    let mut first = None;
    for source in sources {
        let input = source.open(Arc::clone(&consumed))?;
        let name = input.name().to_string();
        first.get_or_insert_with(|| name.clone());
        let format = format_of(&input, (formats, recognise), format, read)?;
        collector.begin_file(input.name(), format.name(), format.title());
        accepts = accepts.or(format.accepts());
        for note in without_effect(format, read) {
            if !no_effect.contains(&note) {
                no_effect.push(note);
            }
        }
        let mut sink = ProgressSink {
            file: &name,
            collector: &mut collector,
            consumed: &consumed,
            progress,
            calls: 0,
            reported: 0,
        };
        format.read(input, read, &mut sink).map_err(|mut error| {
            error.fields.retain(|&field| format.accepts().has(field));
            error
        })?;
        if progress(consumed.bytes()).is_break() {
            return Err(ReadError::new(&name, STOPPED));
        }
    }
    let (needs_size, needs_durations) = (collector.needs_size(), collector.needs_durations());
    let (cohort, mut summary) = collector.finish()?;
    summary.accepts = accepts;
    summary.notes.append(&mut no_effect);
    if !needs_size {
        let reason = match options.letter_map {
            LetterMap::AoiColumn { .. } => NoEffect::AreasInColumn,
            _ => NoEffect::AreasInFile,
        };
        for (field, is_given) in [
            (EncodeField::Screen, read.screen.is_some()),
            (EncodeField::Units, read.units.is_some()),
            (EncodeField::FlipY, read.flip_y),
        ] {
            note_no_effect(&mut summary, field, is_given, &reason);
        }
    }
    let only_fixations = summary.data.fixations && !summary.data.gaze;
    let has_unused_unit = read.time_unit.is_some() && only_fixations && !needs_durations;
    let reason = NoEffect::NoDurationsUsed;
    note_no_effect(
        &mut summary,
        EncodeField::TimeUnit,
        has_unused_unit,
        &reason,
    );
    if read.rate_hz.is_some() && summary.data.fixations && !summary.data.gaze {
        summary.notes.push(EncodeNote::NoEffect {
            field: EncodeField::Rate,
            reason: NoEffect::OnlyFixations,
        });
    }
    if cohort.entries.is_empty() {
        return Err(no_scanpaths(
            &first.unwrap_or_default(),
            files,
            read,
            &summary,
        ));
    }
    Ok(Encoded { cohort, summary })
}

/// Notes that an option has no effect, unless another note already says so.
fn note_no_effect(summary: &mut Summary, field: EncodeField, is_so: bool, reason: &NoEffect) {
    let is_same = |note: &EncodeNote| matches!(note, EncodeNote::NoEffect { field: known, .. } if *known == field);
    if is_so && !summary.notes.iter().any(is_same) {
        summary.notes.push(EncodeNote::NoEffect {
            field,
            reason: reason.clone(),
        });
    }
}

impl Source {
    /// Opens the source; bytes that are read from a file or a frame are counted.
    pub(crate) fn open(self, consumed: Arc<Consumed>) -> Result<Input, ReadError> {
        match self {
            Source::File(path) => Input::open_counting(&path, consumed),
            Source::Open(input) => Ok(*input),
            Source::Frame(frame) => Input::from_frame_counting(frame, consumed),
        }
    }
}

/// The format of a file: the named one, or the one that recognises it.
pub(crate) fn format_of<'f>(
    input: &Input,
    (formats, recognise): Formats<'f>,
    name: Option<&str>,
    read: &ReadOptions,
) -> Result<&'f dyn Format, ReadError> {
    let asked_for = name.map(|name| named(formats, name)).transpose()?;
    if let Some(table) = input.frame().and(with_named_columns(formats)) {
        return match asked_for {
            Some(format) if format.name() != table.name() => Err(not_for_frames(input, table)),
            _ => Ok(table),
        };
    }
    if let Some(format) = asked_for {
        return Ok(format);
    }
    let head = input.head();
    match recognise(&head) {
        Some(format) => Ok(format),
        // A user who names columns means a table.
        None => match with_named_columns(formats) {
            Some(format) if !read.columns.is_empty() => Ok(format),
            _ => Err(explain_unknown(&head)),
        },
    }
}

/// The format whose columns a user can name.
fn with_named_columns<'f>(formats: &[&'f dyn Format]) -> Option<&'f dyn Format> {
    let mut formats = formats.iter().copied();
    formats.find(|format| format.accepts().columns)
}

/// The error for a frame with the name of a file format.
fn not_for_frames(input: &Input, table: &dyn Format) -> ReadError {
    ReadError::new(
        input.name(),
        "this format is for files, not for data frames",
    )
    .with_remedy(format!("leave it out, or choose \"{}\"", table.name()))
    .with_fields(&[EncodeField::Format])
}

/// The format of this name.
fn named<'f>(formats: &[&'f dyn Format], name: &str) -> Result<&'f dyn Format, ReadError> {
    formats
        .iter()
        .copied()
        .find(|format| format.name().eq_ignore_ascii_case(name))
        .ok_or_else(|| {
            ReadError::new(
                "encoding options",
                "there is no input format with this name",
            )
            .with_remedy(format!("the formats are: {}", names(formats)))
            .with_fields(&[EncodeField::Format])
        })
}

fn names(formats: &[&dyn Format]) -> String {
    let names: Vec<&str> = formats.iter().map(|format| format.name()).collect();
    names.join(", ")
}

fn no_scanpaths(file: &str, files: usize, read: &ReadOptions, summary: &Summary) -> ReadError {
    let files_named = match files {
        0 => "encoding".to_string(),
        1 => file.to_string(),
        more => format!("{file} and {} more", more - 1),
    };
    if summary.empty_left_out > 0 {
        let empty = summary.empty_left_out;
        let problem = format!("all scanpaths are empty ({empty}), so none is left");
        return ReadError::new(&files_named, problem)
            .with_remedy(
                "keep the empty ones: the summary then says why their rows could not be used",
            )
            .with_fields(&[EncodeField::DropEmpty]);
    }
    match (files, summary.rows_read) {
        (0, _) => ReadError::new(&files_named, "there is no file to encode"),
        (_, 0) => ReadError::new(&files_named, "there are no gaze rows after the header")
            .with_remedy("was the recording exported completely?"),
        (_, rows) if summary.dropped.contains_key(&Dropped::OtherEye) => {
            let eye = match read.eye {
                Eye::Left => "left",
                Eye::Right => "right",
                Eye::Any => "chosen",
            };
            let problem = format!(
                "no row has data of the {eye} eye ({} read)",
                pluralized(rows, "row")
            );
            ReadError::new(&files_named, problem)
                .with_remedy("choose the other eye, or none")
                .with_fields(&[EncodeField::Eye])
        }
        _ if only_other_events(summary) => {
            no_requested_event(&files_named, read.events.as_ref(), summary)
        }
        (_, rows) => ReadError::new(
            &files_named,
            format!("no row has gaze data ({} read)", pluralized(rows, "row")),
        )
        .with_remedy("choose fixations or samples, choose the events, or name the format")
        .with_fields(&[EncodeField::Rows, EncodeField::Events, EncodeField::Format]),
    }
}

/// Whether all rows have labels that are not wanted. Rows that were dropped for another reason may be fixations.
fn only_other_events(summary: &Summary) -> bool {
    !summary.unrequested_events.is_empty()
        && summary
            .dropped
            .keys()
            .all(|reason| *reason == Dropped::OtherEvent)
}

/// The error if rows have labels, but none that is wanted.
fn no_requested_event(file: &str, events: Option<&EventChoice>, summary: &Summary) -> ReadError {
    const LISTED: usize = 5;
    let wanted = match events {
        None | Some(EventChoice::Fixations) => "a fixation",
        Some(_) => "a requested event",
    };
    let columns = summary.files.iter().filter_map(|it| it.columns.as_ref());
    let event = columns
        .flat_map(|columns| &columns.used)
        .find(|column| column.role == "event");
    let place = match event {
        Some(event) => format!("the labels in the column \"{}\" are", event.column),
        None => "the labels are".to_string(),
    };
    let mut labels: Vec<(&String, &u64)> = summary.unrequested_events.iter().collect();
    labels.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let labels = labels.iter().map(|(label, count)| {
        let rows = pluralized(**count, "row");
        format!("{label} ({rows})")
    });
    let labels: Vec<String> = labels.collect();
    let mut fields = vec![EncodeField::Events, EncodeField::EventColumn];
    fields.retain(|&field| summary.accepts.has(field));
    let problem = format!("no row is {wanted}: {place} {}", first_of(&labels, LISTED));
    ReadError::new(file, problem)
        .with_remedy("if one of these labels means fixations, choose it; or name the column that has the labels, or use all rows")
        .with_fields(&fields)
}

/// Passes everything on to the collector and reports progress.
struct ProgressSink<'a> {
    file: &'a str,
    collector: &'a mut Collector,
    consumed: &'a Consumed,
    progress: &'a dyn Fn(u64) -> ControlFlow<()>,
    calls: u32,
    reported: u64,
}

impl ProgressSink<'_> {
    /// Looks at the counter every few thousand rows and reports each mebibyte.
    fn tick(&mut self) {
        self.calls = self.calls.wrapping_add(1);
        if !self.calls.is_multiple_of(4096) {
            return;
        }
        let bytes = self.consumed.bytes();
        if bytes - self.reported.min(bytes) >= 1 << 20 {
            self.reported = bytes;
            if (self.progress)(bytes).is_break() {
                self.consumed.stop();
            }
        }
    }
}

impl Sink for ProgressSink<'_> {
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

    fn unrequested_event(&mut self, label: &str) {
        self.tick();
        self.collector.unrequested_event(label);
    }

    fn unrequested_sample(&mut self, recording: RecordingId, time_ms: Option<f64>, label: &str) {
        self.tick();
        self.collector.unrequested_sample(recording, time_ms, label);
    }

    fn assumed(&mut self, assumption: &str, changed_by: &[EncodeField]) {
        self.collector.assumed(assumption, changed_by);
    }

    fn note(&mut self, note: EncodeNote) {
        self.collector.note(note);
    }

    /// These lines are read again, so their bytes do not count.
    fn looked_at_line(&mut self) -> Result<(), ReadError> {
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(1 << 16) && (self.progress)(self.consumed.bytes()).is_break() {
            return Err(ReadError::new(self.file, STOPPED));
        }
        Ok(())
    }

    fn needs_size(&self) -> bool {
        self.collector.needs_size()
    }

    fn needs_durations(&self) -> bool {
        self.collector.needs_durations()
    }

    fn groups(&mut self, groups: HashMap<String, String>, requested: bool) {
        self.collector.groups(groups, requested);
    }

    fn columns(&mut self, roles: ColumnRoles) {
        self.collector.columns(roles);
    }
}

#[cfg(test)]
mod tests;
