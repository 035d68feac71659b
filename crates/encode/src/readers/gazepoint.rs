//! Gazepoint Analysis: `… fixations.csv` and `… all_gaze.csv`.
//!
//! A file of fixations has one row per fixation. A file of all gaze has one per sample, in which `FPOGD`, the duration
//! of the fixation so far, grows from row to row; the last valid row of each `FPOGID` is the fixation. Both are read in
//! the same way.

use super::common::{CurrentRecording, fraction_space, report_fixation, start_ms};
use super::{Format, SupportedOptions, names_of, note_unused_eye, note_unused_stimulus};
use crate::{
    Columns, Dropped, Eye, Head, Input, Kind, NamesInFile, ReadError, ReadOptions, Recording,
    RecordingId, Row, RowChoice, Rows, Sample, Sink, Space, TimeUnit,
};

/// Gazepoint Analysis.
pub(crate) struct Gazepoint;

impl Format for Gazepoint {
    fn name(&self) -> &'static str {
        "gazepoint"
    }

    fn title(&self) -> &'static str {
        "Gazepoint Analysis (fixations or all gaze)"
    }

    fn accepts(&self) -> SupportedOptions {
        SupportedOptions {
            eye: true,
            ..SupportedOptions::default()
        }
    }

    fn recognises(&self, head: &Head) -> bool {
        let columns = Columns::of_head(head);
        !head.binary
            && (columns.has_all(&["FPOGX", "FPOGY"]) || columns.has_all(&["BPOGX", "BPOGY"]))
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        let (participant, stimulus) = names_of(&input, options, NamesInFile::default(), sink)?;
        let names = Names {
            // The two files of one person differ only in this ending.
            participant: ["_fixations", "_all_gaze"]
                .iter()
                .find_map(|ending| participant.strip_suffix(ending))
                .filter(|_| options.participant.is_none() && options.name_pattern.is_none())
                .unwrap_or(&participant)
                .to_string(),
            stimulus,
            space: fraction_space(Space::unit(), options),
        };
        let rows = Rows::open(input)?;
        let has_fixations = rows.columns().find(&["FPOGX"]).is_some();
        let samples_wanted = match options.rows {
            RowChoice::Samples => true,
            RowChoice::Fixations => false,
            RowChoice::Any => !has_fixations,
        };
        if samples_wanted {
            read_samples(rows, &names, options, sink)
        } else {
            read_fixations(rows, &names, options, sink)
        }
    }
}

struct Names {
    participant: String,
    /// For files without media.
    stimulus: Option<String>,
    space: Option<Space>,
}

/// The columns that say what was on the screen.
struct Media {
    name: Option<usize>,
    number: Option<usize>,
    /// Whether every row so far names its medium.
    named_in_all_rows: bool,
}

impl Media {
    fn of(columns: &Columns) -> Self {
        Self {
            name: columns.find(&["MEDIA_NAME"]),
            number: columns.find(&["MEDIA_ID"]),
            named_in_all_rows: true,
        }
    }

    fn enter(
        &mut self,
        row: Row<'_>,
        names: &Names,
        kind: Kind,
        current: &mut CurrentRecording,
        sink: &mut dyn Sink,
    ) -> Result<RecordingId, ReadError> {
        let text = |column: Option<usize>| {
            column
                .map(|column| row.text(column))
                .filter(|text| !text.is_empty())
        };
        let recording = |stimulus| Recording {
            participant: &names.participant,
            stimulus,
            kind,
            space: names.space,
        };
        self.named_in_all_rows &= text(self.name).is_some();
        match (text(self.name), &names.stimulus, text(self.number)) {
            (Some(name), _, _) => current.enter(sink, &recording(Some(name))),
            (None, Some(name), _) => current.enter(sink, &recording(Some(name))),
            (None, None, Some(number)) => {
                current.enter(sink, &recording(Some(&format!("media {number}"))))
            }
            (None, None, None) => current.enter(sink, &recording(None)),
        }
    }

    /// Notes a stimulus from the user that no row needs.
    fn report(&self, options: &ReadOptions, sink: &mut dyn Sink) {
        if self.named_in_all_rows {
            note_unused_stimulus(options, sink);
        }
    }
}

/// The last valid row of the current fixation.
struct Pending {
    recording: RecordingId,
    number: f64,
    point: Option<(f64, f64)>,
    start_ms: Option<f64>,
    duration_ms: Option<f64>,
}

fn read_fixations(
    mut rows: Rows,
    names: &Names,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<(), ReadError> {
    let columns = rows.columns();
    let mut media = Media::of(columns);
    let x = columns.require(&["FPOGX"])?;
    let y = columns.require(&["FPOGY"])?;
    let start = columns.find(&["FPOGS"]);
    let duration = columns.require(&["FPOGD"])?;
    let number = columns.require(&["FPOGID"])?;
    let valid = columns.find(&["FPOGV"]);
    let aoi = columns.find(&["AOI"]);
    let unit = options.time_unit.unwrap_or(TimeUnit::Seconds).in_ms();
    let mut current = CurrentRecording::default();
    let mut pending: Option<Pending> = None;
    let mut pending_aoi = String::new();
    while let Some(row) = rows.next_row()? {
        // Do this first: a participant whose rows are all dropped still gets an empty scanpath.
        let recording = media.enter(row, names, Kind::Fixations, &mut current, sink)?;
        if is_off(row, valid)? {
            sink.dropped(Dropped::Invalid);
            continue;
        }
        let next = Pending {
            recording,
            number: row.number(number)?,
            point: row.number_or_missing(x)?.zip(row.number_or_missing(y)?),
            start_ms: start_ms(&row, start, unit),
            duration_ms: row.number_or_missing(duration)?.map(|value| value * unit),
        };
        match &pending {
            Some(last) if last.recording == next.recording && last.number == next.number => {
                sink.dropped(Dropped::SameFixation);
            }
            Some(last) => emit(last, &pending_aoi, sink),
            None => {}
        }
        pending = Some(next);
        pending_aoi.clear();
        pending_aoi.push_str(aoi.map_or("", |aoi| row.text(aoi)));
    }
    if let Some(last) = &pending {
        emit(last, &pending_aoi, sink);
    }
    note_unused_eye(options, sink);
    media.report(options, sink);
    Ok(())
}

fn emit(fixation: &Pending, aoi: &str, sink: &mut dyn Sink) {
    report_fixation(
        sink,
        fixation.recording,
        fixation.point,
        fixation.start_ms,
        fixation.duration_ms,
        Some(aoi).filter(|aoi| !aoi.is_empty()),
    );
}

fn read_samples(
    mut rows: Rows,
    names: &Names,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<(), ReadError> {
    let columns = rows.columns();
    let mut media = Media::of(columns);
    let [x, y, valid] = match options.eye {
        Eye::Any => ["BPOGX", "BPOGY", "BPOGV"],
        Eye::Left => ["LPOGX", "LPOGY", "LPOGV"],
        Eye::Right => ["RPOGX", "RPOGY", "RPOGV"],
    };
    if options.eye == Eye::Any {
        sink.assumed(
            "the best point of gaze (BPOG), which combines both eyes, was used",
            &[],
        );
    }
    let x = columns.require(&[x])?;
    let y = columns.require(&[y])?;
    let valid = columns.find(&[valid]);
    let aoi = columns.find(&["AOI"]);
    // The column's name contains the start of the recording: `TIME(2023/02/22 14:26:24.897)`.
    let time = columns
        .names()
        .iter()
        .position(|name| name.split('(').next().is_some_and(is_time));
    let unit = options.time_unit.unwrap_or(TimeUnit::Seconds).in_ms();
    let kind = Kind::Gaze {
        rate_hz: options.rate_hz,
    };
    let mut current = CurrentRecording::default();
    while let Some(row) = rows.next_row()? {
        let recording = media.enter(row, names, kind, &mut current, sink)?;
        let time_ms = match time {
            Some(time) => row.number_or_missing(time)?.map(|value| value * unit),
            None => None,
        };
        let point = row.number_or_missing(x)?.zip(row.number_or_missing(y)?);
        let lost = is_off(row, valid)?;
        sink.sample(
            recording,
            Sample {
                time_ms,
                point: point.filter(|_| !lost),
                aoi: aoi.map(|aoi| row.text(aoi)).filter(|aoi| !aoi.is_empty()),
            },
        );
    }
    media.report(options, sink);
    Ok(())
}

fn is_time(name: &str) -> bool {
    name.trim().eq_ignore_ascii_case("time")
}

/// Whether the tracker marks this row as invalid.
fn is_off(row: Row<'_>, valid: Option<usize>) -> Result<bool, ReadError> {
    Ok(match valid {
        Some(valid) => row.number_or_missing(valid)? == Some(0.0),
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::common::testing::{
        assert_damage_does_not_panic, read_path, read_recognised, recognised,
    };
    use crate::readers::recorder::{Recorder, read_text, shared_file};
    use crate::{EncodeField, EncodeNote, NoEffect};

    fn read(text: &str, options: &ReadOptions) -> Result<Recorder, ReadError> {
        read_text(&Gazepoint, "User 1_all_gaze.csv", text, options)
    }

    #[test]
    fn fixations_are_read_from_all_gaze() {
        let read = read_recognised(&Gazepoint, "gazepoint.csv", &ReadOptions::default());
        let [sea, hill] = read.recordings.as_slice() else {
            panic!("{read:?}")
        };
        assert_eq!(sea.participant, "gazepoint");
        assert_eq!(sea.stimulus.as_deref(), Some("sea.png"));
        assert_eq!(sea.space, Some(Space::unit()));
        assert_eq!(
            sea.fixations,
            [
                (0.26, 0.31, Some(200.0), Some("boat".into())),
                (0.7, 0.8, Some(125.0), None)
            ]
        );
        assert_eq!(sea.starts, [Some(0.0), Some(60.0)]);
        assert_eq!(hill.stimulus.as_deref(), Some("hill.png"));
        assert_eq!(hill.fixations, [(0.5, 0.5, Some(250.0), None)]);
        assert_eq!(read.dropped[&Dropped::SameFixation], 2);
        assert_eq!(read.dropped[&Dropped::Invalid], 1);
        assert_eq!(read.dropped.values().sum::<u64>(), 3);
    }

    #[test]
    fn samples_are_read_from_all_gaze() {
        let samples = ReadOptions {
            rows: RowChoice::Samples,
            ..ReadOptions::default()
        };
        let read = read_recognised(&Gazepoint, "gazepoint.csv", &samples);
        assert_eq!(read.recordings[0].samples.len(), 5);
        assert_eq!(
            read.recordings[0].samples[0],
            (Some(0.0), Some((0.24, 0.29)), None)
        );
        assert_eq!(read.recordings[0].samples[3].1, None);
        assert_eq!(read.recordings[0].samples[4].0, Some(66.0));
        let left = ReadOptions {
            eye: Eye::Left,
            ..samples
        };
        let error = read_text(&Gazepoint, "t", "BPOGX,BPOGY\n", &left).unwrap_err();
        assert!(error.problem.contains("LPOGX"), "{error}");
    }

    #[test]
    fn odd_rows_are_counted_or_named() {
        let options = ReadOptions::default();
        let header = "\u{feff}MEDIA_ID;MEDIA_NAME;FPOGX;FPOGY;FPOGD;FPOGID;FPOGV;\r\n";
        let text =
            format!("{header}0;;0,5;0,5;0,1;1;1;\r\n0;;;;0,1;2;1;\r\n1;;0.5;0.5;-1;2;1;\r\n");
        let read = read(&text, &options).unwrap();
        assert_eq!(read.recordings[0].participant, "User 1");
        assert_eq!(read.recordings[0].stimulus.as_deref(), Some("media 0"));
        assert_eq!(read.recordings[0].fixations.len(), 1);
        assert_eq!(read.dropped[&Dropped::Lost], 1);
        assert_eq!(read.dropped[&Dropped::NegativeDuration], 1);
        let error = super::tests::read("FPOGX,FPOGY,FPOGID\n1,2,3\n", &options).unwrap_err();
        assert!(error.problem.contains("FPOGD"));
        let error = super::tests::read("FPOGX,FPOGY,FPOGD,FPOGID\n1,2\n", &options).unwrap_err();
        assert_eq!(error.line, Some(2));
        assert!(
            super::tests::read("", &options)
                .unwrap_err()
                .problem
                .contains("empty")
        );
    }

    #[test]
    fn a_stimulus_is_unused_if_every_row_names_its_medium() {
        let unused = EncodeNote::NoEffect {
            field: EncodeField::Stimulus,
            reason: NoEffect::NamedInColumn,
        };
        for rows in [RowChoice::Fixations, RowChoice::Samples] {
            let options = ReadOptions {
                stimulus: Some("hill".into()),
                rows,
                ..ReadOptions::default()
            };
            let header = "MEDIA_ID,MEDIA_NAME,FPOGX,FPOGY,FPOGD,FPOGID,BPOGX,BPOGY";
            let row = |medium: &str, id: u32| format!("{id},{medium},0.5,0.5,0.1,{id},0.5,0.5");
            let named = format!("{header}\n{}\n{}\n", row("sea", 1), row("sky", 2));
            let read = super::tests::read(&named, &options).unwrap();
            assert_eq!(read.notes, std::slice::from_ref(&unused), "{rows:?}");
            let unnamed = format!("{header}\n{}\n{}\n", row("sea", 1), row("", 2));
            let read = super::tests::read(&unnamed, &options).unwrap();
            assert!(read.notes.is_empty(), "{rows:?}: {:?}", read.notes);
            assert_eq!(read.recordings[1].stimulus.as_deref(), Some("hill"));
        }
    }

    #[test]
    fn damaged_input_does_not_panic() {
        assert_damage_does_not_panic(&Gazepoint, "gazepoint.csv");
    }

    #[test]
    fn a_published_file_of_fixations_is_read() {
        let Some(path) = shared_file("gazepoint/valid_fixations.csv") else {
            return;
        };
        assert_eq!(
            recognised(&Input::open(&path).unwrap().head()),
            Some("gazepoint")
        );
        let read = read_path(&Gazepoint, &path, &ReadOptions::default()).unwrap();
        assert_eq!(read.recordings.len(), 1);
        let recording = &read.recordings[0];
        assert_eq!(recording.participant, "valid");
        assert_eq!(recording.stimulus.as_deref(), Some("X-Plane"));
        assert_eq!(recording.fixations.len(), 20);
        let aoi = || Some("AOI_A".to_string());
        assert_eq!(
            recording.fixations[0],
            (0.55532, 0.37966, Some(661.25), aoi())
        );
        assert_eq!(
            recording.fixations[19],
            (0.47815, 0.45335, Some(148.56), aoi())
        );
        assert!(read.dropped.is_empty());
    }
}
