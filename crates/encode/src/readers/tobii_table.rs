//! Reads the tables of Tobii Pro Lab and Tobii Studio 3, which have one row per sample of any sensor.
//!
//! - A fixation spans many rows and is taken once, with the stimulus on which it is first seen.
//! - Rows without a stimulus, and calibration rows, belong to no stimulus.
//! - Glasses show no stimulus. If their gaze was mapped onto snapshots, the snapshots are the stimuli: all of them, or
//!   the one that the user names. Any other name selects positions in the scene video instead.
//! - A participant's second recording is called `participant (recording)`.

use super::common::{CurrentRecording, report_fixation};
use super::tobii_columns::{Layout, Position, Snapshot, time_unit};
use super::{UnnamedParticipant, note_unused_stimulus};
use crate::{
    Columns, Dropped, Head, Input, Kind, ReadError, ReadOptions, Recording, RecordingId, Row,
    RowChoice, Rows, Sample, Sink, Space, TimeUnit,
};
use std::collections::HashMap;

/// Reads a table whose header is known. The names are for rows that do not have them.
pub(super) fn read_table(
    mut rows: Rows,
    head: &Head,
    (unnamed, stimulus): (UnnamedParticipant, Option<String>),
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<(), ReadError> {
    let columns = rows.columns();
    let layout = Layout::of(columns);
    let source = Source::of(columns, &layout, head, options, sink)?;
    if layout.stimulus.is_some() && !matches!(source, Source::Snapshots(_)) {
        note_unused_stimulus(options, sink);
    }
    let mut table = Table {
        duration_unit: duration_unit(columns, &layout, options).in_ms(),
        layout,
        options,
        sink,
        unnamed,
        people: ParticipantNames::default(),
        stimulus,
        current: CurrentRecording::default(),
        last_fixation: LastFixation::default(),
    };
    while let Some(row) = rows.next_row()? {
        if !table.is_gaze(row) {
            table.sink.dropped(Dropped::OtherEvent);
            continue;
        }
        match &source {
            Source::Fixations(position) => table.fixation(row, *position)?,
            Source::Snapshots(snapshots) => table.mapped_fixation(row, snapshots)?,
            Source::Samples {
                position,
                time,
                unit,
            } => table.sample(row, *position, *time, *unit)?,
        }
    }
    Ok(())
}

/// The data that are read from the rows.
enum Source {
    Fixations(Position),
    /// Indices into the layout's snapshots.
    Snapshots(Vec<usize>),
    Samples {
        position: Position,
        time: Option<usize>,
        unit: f64,
    },
}

impl Source {
    fn of(
        columns: &Columns,
        layout: &Layout,
        head: &Head,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<Self, ReadError> {
        let snapshots = wanted_snapshots(layout, options);
        let fixations = layout
            .fixation_point(columns, options)
            .filter(|_| layout.movement.is_some());
        let samples_wanted = match options.rows {
            RowChoice::Samples => true,
            RowChoice::Fixations => false,
            RowChoice::Any => snapshots.is_empty() && fixations.is_none(),
        };
        if samples_wanted {
            let Some(position) = layout.gaze_point(columns, options) else {
                columns.require(&["Gaze point X", "GazePointX"])?;
                columns.require(&["Gaze point Y", "GazePointY"])?;
                return Err(ReadError::new(
                    &head.name,
                    "the columns of the gaze point have a unit that is not known",
                )
                .with_remedy("export them in pixels (DACS or MCS)"));
            };
            position.explain(columns, sink);
            let unit = match layout.time {
                Some(time) => time_unit(columns, time, &first_times(head, layout), options, sink),
                None => TimeUnit::Milliseconds,
            };
            return Ok(Self::Samples {
                position,
                time: layout.time,
                unit: unit.in_ms(),
            });
        }
        if !snapshots.is_empty() {
            sink.assumed(
                "fixations are those that were mapped onto snapshots, which are the stimuli",
                &[],
            );
            return Ok(Self::Snapshots(snapshots));
        }
        columns.require(&["Eye movement type", "Gaze event type", "GazeEventType"])?;
        let Some(position) = fixations else {
            columns.require(&["Fixation point X", "Fixation X", "FixationPointX"])?;
            columns.require(&["Fixation point Y", "Fixation Y", "FixationPointY"])?;
            return Err(ReadError::new(
                &head.name,
                "the columns of the fixation point have a unit that is not known",
            )
            .with_remedy("export them in pixels (DACS or MCS)"));
        };
        position.explain(columns, sink);
        Ok(Self::Fixations(position))
    }
}

fn duration_unit(columns: &Columns, layout: &Layout, options: &ReadOptions) -> TimeUnit {
    let in_file = match layout.duration.and_then(|column| columns.unit(column)) {
        Some("μs" | "µs" | "us") => TimeUnit::Microseconds,
        _ => TimeUnit::Milliseconds,
    };
    options.time_unit.unwrap_or(in_file)
}

/// All snapshots, or the one that the user names, or none if stimuli were presented or the user names something else.
fn wanted_snapshots(layout: &Layout, options: &ReadOptions) -> Vec<usize> {
    let named = |name: &str| {
        let of_name = layout
            .snapshots
            .iter()
            .position(|snapshot| snapshot.name == name);
        of_name.into_iter().collect()
    };
    match &options.stimulus {
        Some(name) => named(name),
        None if layout.stimulus.is_some() => Vec::new(),
        None => (0..layout.snapshots.len()).collect(),
    }
}

/// The times of the first rows of the eye tracker.
fn first_times(head: &Head, layout: &Layout) -> Vec<f64> {
    let Some(time) = layout.time else {
        return Vec::new();
    };
    let text = head.lines.join("\n").into_bytes();
    let Ok(mut rows) = Input::from_bytes(&head.name, text).and_then(Rows::open) else {
        return Vec::new();
    };
    let mut times = Vec::new();
    while let Ok(Some(row)) = rows.next_row() {
        let tracker = layout
            .sensor
            .is_none_or(|sensor| row.text(sensor) == "Eye Tracker");
        if let Ok(Some(time)) = row.number_or_missing(time)
            && tracker
        {
            times.push(time);
        }
    }
    times
}

struct Table<'a> {
    layout: Layout,
    options: &'a ReadOptions,
    sink: &'a mut dyn Sink,
    unnamed: UnnamedParticipant,
    people: ParticipantNames,
    stimulus: Option<String>,
    current: CurrentRecording,
    duration_unit: f64,
    last_fixation: LastFixation,
}

impl Table<'_> {
    /// Whether a row comes from the eye tracker, and not from a gyroscope, a mouse or an event.
    fn is_gaze(&self, row: Row<'_>) -> bool {
        let text = |column: Option<usize>| column.map_or("", |column| row.text(column));
        match text(self.layout.sensor) {
            "" => self.layout.sensor.is_none() || text(self.layout.event).is_empty(),
            sensor => sensor == "Eye Tracker",
        }
    }

    fn fixation(&mut self, row: Row<'_>, position: Position) -> Result<(), ReadError> {
        if let Some(reason) = other_movement(row, self.layout.movement) {
            self.sink.dropped(reason);
            if self.layout.index.is_none() {
                self.last_fixation.forget();
            }
            return Ok(());
        }
        let Some(stimulus) = self.stimulus_of(row) else {
            self.sink.dropped(Dropped::NoStimulus);
            return Ok(());
        };
        let index = self.layout.index;
        if self
            .last_fixation
            .continues_fixation(row, &self.layout, index, position.x, position.y)
        {
            self.sink.dropped(Dropped::SameFixation);
            return Ok(());
        }
        let space = self.layout.space(position, row, self.options, self.sink)?;
        let recording = self.enter(row, stimulus, Kind::Fixations, space)?;
        self.emit(row, recording, stimulus, position.x, position.y)
    }

    fn mapped_fixation(&mut self, row: Row<'_>, snapshots: &[usize]) -> Result<(), ReadError> {
        let is_mapped = |snapshot: &&Snapshot| match snapshot.movement {
            Some(_) => other_movement(row, snapshot.movement).is_none(),
            None => !row.text(snapshot.x).is_empty(),
        };
        let found = snapshots
            .iter()
            .filter_map(|&place| self.layout.snapshots.get(place))
            .find(is_mapped);
        let Some(snapshot) = found else {
            // A fixation that was not mapped was on something else.
            let reason = other_movement(row, self.layout.movement);
            self.sink.dropped(reason.unwrap_or(Dropped::NoStimulus));
            return Ok(());
        };
        let (x, y) = (snapshot.x, snapshot.y);
        let index = snapshot.index.or(self.layout.index);
        if self
            .last_fixation
            .continues_fixation(row, &self.layout, index, x, y)
        {
            self.sink.dropped(Dropped::SameFixation);
            return Ok(());
        }
        let name = snapshot.name.clone();
        let space = super::common::pixel_space(None, self.options);
        let recording = self.enter(row, Some(&name), Kind::Fixations, space)?;
        self.emit(row, recording, Some(&name), x, y)
    }

    fn emit(
        &mut self,
        row: Row<'_>,
        recording: RecordingId,
        stimulus: Option<&str>,
        x: usize,
        y: usize,
    ) -> Result<(), ReadError> {
        let point = row.number_or_missing(x)?.zip(row.number_or_missing(y)?);
        let duration_ms = match self.layout.duration {
            Some(duration) => row
                .number_or_missing(duration)?
                .map(|value| value * self.duration_unit),
            None => None,
        };
        let aoi = self.layout.aoi(row, stimulus.unwrap_or(""));
        report_fixation(self.sink, recording, point, None, duration_ms, aoi);
        Ok(())
    }

    fn sample(
        &mut self,
        row: Row<'_>,
        position: Position,
        time: Option<usize>,
        unit: f64,
    ) -> Result<(), ReadError> {
        let x = row.number_or_missing(position.x)?;
        let point = x.zip(row.number_or_missing(position.y)?);
        let event = self.layout.event.map_or("", |event| row.text(event));
        if point.is_none() && !event.is_empty() {
            self.sink.dropped(Dropped::OtherEvent);
            return Ok(());
        }
        let Some(stimulus) = self.stimulus_of(row) else {
            self.sink.dropped(Dropped::NoStimulus);
            return Ok(());
        };
        let time_ms = match time {
            Some(time) => row.number_or_missing(time)?.map(|value| value * unit),
            None => None,
        };
        let space = self.layout.space(position, row, self.options, self.sink)?;
        let kind = Kind::Gaze {
            rate_hz: self.options.rate_hz,
        };
        let recording = self.enter(row, stimulus, kind, space)?;
        let aoi = self.layout.aoi(row, stimulus.unwrap_or(""));
        self.sink.sample(
            recording,
            Sample {
                time_ms,
                point,
                aoi,
            },
        );
        Ok(())
    }

    /// The stimulus of a row. The outer `None` means that there is a stimulus column, but it is empty or names the
    /// calibration.
    fn stimulus_of<'r>(&self, row: Row<'r>) -> Option<Option<&'r str>> {
        let Some(column) = self.layout.stimulus else {
            return Some(None);
        };
        let name = row.text(column);
        let calibration = name.eq_ignore_ascii_case("Eyetracker Calibration");
        (!name.is_empty() && !calibration).then_some(Some(name))
    }

    fn enter(
        &mut self,
        row: Row<'_>,
        stimulus: Option<&str>,
        kind: Kind,
        space: Option<Space>,
    ) -> Result<RecordingId, ReadError> {
        let text = |column: Option<usize>| column.map_or("", |column| row.text(column));
        let participant = match [self.layout.participant, self.layout.recording].map(text) {
            ["", ""] => self
                .unnamed
                .name(self.layout.participant.is_some(), self.sink),
            [participant, recording] => self.people.name(participant, recording),
        };
        self.current.enter(
            self.sink,
            &Recording {
                participant,
                stimulus: stimulus.or(self.stimulus.as_deref()),
                kind,
                space,
            },
        )
    }
}

/// The key of the last fixation.
#[derive(Default)]
struct LastFixation {
    last: String,
    /// The key of the current row; reused to avoid an allocation per row.
    this: String,
}

impl LastFixation {
    /// Whether a row continues the last fixation: by its number, else by position and duration.
    fn continues_fixation(
        &mut self,
        row: Row<'_>,
        layout: &Layout,
        index: Option<usize>,
        x: usize,
        y: usize,
    ) -> bool {
        self.this.clear();
        let by_place = [Some(x), Some(y), layout.duration];
        let names = [layout.participant, layout.recording, index];
        let rest = if index.is_some() { [None; 3] } else { by_place };
        for column in names.into_iter().chain(rest).flatten() {
            self.this.push_str(row.text(column));
            self.this.push('\t');
        }
        std::mem::swap(&mut self.this, &mut self.last);
        self.this == self.last
    }

    /// Makes the next fixation a new one.
    fn forget(&mut self) {
        self.last.clear();
    }
}

/// Why a row is not a fixation; `None` if it is one.
fn other_movement(row: Row<'_>, column: Option<usize>) -> Option<Dropped> {
    match column.map_or("", |column| row.text(column)) {
        "Fixation" => None,
        "EyesNotFound" | "EyesNotFoundMovement" | "Eyes Not Found" => Some(Dropped::Lost),
        _ => Some(Dropped::OtherEvent),
    }
}

/// The names of participants, who may have been recorded more than once.
#[derive(Default)]
struct ParticipantNames {
    first_recording: HashMap<String, String>,
    last: [String; 2],
    name: String,
}

impl ParticipantNames {
    fn name(&mut self, participant: &str, recording: &str) -> &str {
        if self.last != [participant, recording] {
            self.last = [participant, recording].map(str::to_string);
            self.name = match (participant, recording) {
                ("", recording) => recording.to_string(),
                (participant, recording) => {
                    let first = self
                        .first_recording
                        .entry(participant.to_string())
                        .or_insert_with(|| recording.to_string());
                    if first == recording {
                        participant.to_string()
                    } else {
                        format!("{participant} ({recording})")
                    }
                }
            };
        }
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_recordings_are_numbered() {
        let mut people = ParticipantNames::default();
        assert_eq!(people.name("P1", "R1"), "P1");
        assert_eq!(people.name("P1", "R2"), "P1 (R2)");
        assert_eq!(people.name("P1", "R1"), "P1");
        assert_eq!(people.name("", "R9"), "R9");
    }
}
