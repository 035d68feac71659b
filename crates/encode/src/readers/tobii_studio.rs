//! Tobii Studio: the fixation export of version 2, with a preamble, and the data export of version 3.
//!
//! Fixations off the screen have negative coordinates, often −1; they are passed on unchanged, and the encoder counts
//! them as outside.

use super::common::{CurrentRecording, pixel_space, report_fixation, report_given_size, start_ms};
use super::tobii_columns::{Layout, size_in_words};
use super::tobii_table::read_table;
use super::{Format, SupportedOptions, names_of, names_of_unnamed_rows, note_unused_eye};
use crate::{
    Columns, Head, Input, Kind, NamesInFile, ReadError, ReadOptions, Recording, RowChoice, Rows,
    Sink, TimeUnit, guess_delimiter,
};

pub(crate) struct TobiiStudio;

impl Format for TobiiStudio {
    fn name(&self) -> &'static str {
        "tobii-studio"
    }

    fn title(&self) -> &'static str {
        "Tobii Studio fixations (version 2) or data export (version 3)"
    }

    fn accepts(&self) -> SupportedOptions {
        SupportedOptions {
            eye: true,
            ..SupportedOptions::default()
        }
    }

    fn recognises(&self, head: &Head) -> bool {
        !head.binary && (is_version_2(head) || is_version_3(head))
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        let head = input.head();
        if is_version_3(&head) {
            let names = names_of_unnamed_rows(&input, options, NamesInFile::default())?;
            return read_table(Rows::open(input)?, &head, names, options, sink);
        }
        read_version_2(input, &head, options, sink)
    }
}

fn read_version_2(
    input: Input,
    head: &Head,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<(), ReadError> {
    if options.rows == RowChoice::Samples {
        return Err(
            ReadError::new(input.name(), "this file has fixations, not samples")
                .with_remedy("export all data from Tobii Studio 3 or Tobii Pro Lab"),
        );
    }
    let preamble = Preamble::of(head);
    if let Some(unit) = &preamble.unit
        && !unit.eq_ignore_ascii_case("pixels")
    {
        return Err(
            ReadError::new(input.name(), "the coordinates are not in pixels").with_remedy(
                "export the fixations from Tobii Studio with pixels as the coordinate unit",
            ),
        );
    }
    let in_preamble = NamesInFile {
        participant: preamble.subject.or(preamble.recording),
        stimulus: None,
    };
    let (participant, stimulus) = names_of(&input, options, in_preamble, sink)?;
    report_given_size(preamble.screen, options, sink);
    let recording = Recording {
        participant: &participant,
        stimulus: stimulus.as_deref(),
        kind: Kind::Fixations,
        space: pixel_space(preamble.screen, options),
    };
    let mut rows = rows_after_preamble(input)?;
    let columns = rows.columns();
    let x = columns.require(&["MappedFixationPointX", "FixationPointX"])?;
    let y = columns.require(&["MappedFixationPointY", "FixationPointY"])?;
    let duration = columns.require(&["FixationDuration"])?;
    let start = columns.find(&["Timestamp"]);
    let unit = options.time_unit.unwrap_or(TimeUnit::Milliseconds).in_ms();
    let mut current = CurrentRecording::default();
    while let Some(row) = rows.next_row()? {
        let point = row.number_or_missing(x)?.zip(row.number_or_missing(y)?);
        let duration_ms = row.number_or_missing(duration)?.map(|value| value * unit);
        let recording = current.enter(sink, &recording)?;
        let start_ms = start_ms(&row, start, unit);
        report_fixation(sink, recording, point, start_ms, duration_ms, None);
    }
    note_unused_eye(options, sink);
    Ok(())
}

fn rows_after_preamble(input: Input) -> Result<Rows, ReadError> {
    let mut lines = input.into_lines();
    while let Some(line) = lines.next_line()? {
        if is_header(&line) {
            let header = line.trim_end().to_string();
            let delimiter = guess_delimiter(&header);
            return Ok(Rows::after_header(lines, &header, delimiter));
        }
    }
    let problem = if lines.number() == 0 {
        "the file is empty"
    } else {
        "there is no header with FixationIndex and FixationDuration"
    };
    Err(ReadError::new(lines.name(), problem)
        .with_remedy("expected the fixations that Tobii Studio exports as text"))
}

/// The settings before the table.
#[derive(Default)]
struct Preamble {
    subject: Option<String>,
    recording: Option<String>,
    screen: Option<(f64, f64)>,
    unit: Option<String>,
}

impl Preamble {
    fn of(head: &Head) -> Self {
        let mut preamble = Self::default();
        for line in head.lines.iter().take_while(|line| !is_header(line)) {
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            let text = Some(value.trim().to_string()).filter(|text| !text.is_empty());
            match key.trim() {
                "Subject" | "Participant" => preamble.subject = text,
                "Recording" => preamble.recording = text,
                "Screen resolution" => preamble.screen = size_in_words(value),
                "Coordinate unit" => preamble.unit = text,
                _ => {}
            }
        }
        preamble
    }
}

fn is_header(line: &str) -> bool {
    let has = |name: &str| {
        line.split(['\t', ',', ';'])
            .any(|field| field.trim() == name)
    };
    has("FixationIndex") && has("FixationDuration")
}

fn is_version_2(head: &Head) -> bool {
    head.lines.iter().any(|line| is_header(line))
}

fn is_version_3(head: &Head) -> bool {
    let columns = Columns::of_head(head);
    let layout = Layout::of(&columns);
    let options = ReadOptions::default();
    let typical = [
        "GazeEventType",
        "RecordingTimestamp",
        "ParticipantName",
        "MediaName",
    ];
    typical.iter().any(|name| columns.find(&[name]).is_some())
        && (layout.fixation_point(&columns, &options).is_some()
            || layout.gaze_point(&columns, &options).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::common::testing::{
        assert_damage_does_not_panic, read_path, read_recognised, recognised,
    };
    use crate::readers::recorder::{read_text, shared_file};
    use crate::{Dropped, Space};

    #[test]
    fn a_version_2_file_is_read() {
        let plain = ReadOptions::default();
        let read = read_recognised(&TobiiStudio, "tobii-studio.tsv", &plain);
        let recording = &read.recordings[0];
        assert_eq!(recording.participant, "P7");
        assert_eq!(recording.stimulus, None);
        assert_eq!(recording.space, Some(Space::pixels(1280.0, 1024.0)));
        assert_eq!(
            recording.fixations,
            [
                (640.0, 512.0, Some(633.0), None),
                (-1.0, 578.0, Some(116.0), None),
                (100.0, 900.0, Some(250.0), None)
            ]
        );
        assert_eq!(recording.starts, [Some(26.0), Some(659.0), Some(800.0)]);
        assert_eq!(read.dropped[&Dropped::Lost], 1);
        assert_eq!(read.dropped[&Dropped::NegativeDuration], 1);
        assert_damage_does_not_panic(&TobiiStudio, "tobii-studio.tsv");
    }

    #[test]
    fn a_version_3_file_is_read() {
        let text = "\u{feff}ParticipantName\tRecordingName\tRecordingResolution\tMediaName\tMediaWidth\tMediaHeight\tRecordingTimestamp\tFixationIndex\tGazeEventType\tGazeEventDuration\tFixationPointX (MCSpx)\tFixationPointY (MCSpx)\tGazePointX (ADCSpx)\tGazePointY (ADCSpx)\tAOI[lake]Hit\t\r\n\
                    P1\tR1\t1920 x 1080\ta.png\t800\t600\t0\t1\tFixation\t200\t10\t20\t570\t260\t1\t\r\n\
                    P1\tR1\t1920 x 1080\ta.png\t800\t600\t3\t1\tFixation\t200\t10\t20\t571\t261\t1\t\r\n\
                    P1\tR1\t1920 x 1080\ta.png\t800\t600\t7\t\tUnclassified\t3\t\t\t\t\t0\t\r\n\
                    P1\tR1\t1920 x 1080\t\t\t\t10\t2\tFixation\t90\t\t\t5\t6\t\t\r\n";
        let head = Input::from_bytes("t.tsv", text.into()).unwrap().head();
        assert_eq!(recognised(&head), Some("tobii-studio"));
        let mut options = ReadOptions::default();
        let read = read_text(&TobiiStudio, "t.tsv", text, &options).unwrap();
        assert_eq!(read.recordings.len(), 1);
        assert_eq!(read.recordings[0].space, Some(Space::pixels(800.0, 600.0)));
        assert_eq!(
            read.recordings[0].fixations,
            [(10.0, 20.0, Some(200.0), Some("lake".into()))]
        );
        assert_eq!(read.dropped.values().sum::<u64>(), 3);
        options.rows = RowChoice::Samples;
        let read = read_text(&TobiiStudio, "t.tsv", text, &options).unwrap();
        assert_eq!(
            read.recordings[0].space,
            Some(Space::pixels(1920.0, 1080.0))
        );
        assert_eq!(read.recordings[0].samples.len(), 3);
        assert_eq!(read.recordings[0].samples[1].0, Some(3.0));
        assert!(read.assumed.iter().any(|text| text.contains("in ms")));
    }

    #[test]
    fn errors_are_reported() {
        let plain = ReadOptions::default();
        let error = |text: &str| read_text(&TobiiStudio, "t.tsv", text, &plain).unwrap_err();
        assert!(error("").problem.contains("empty"));
        assert!(
            error("Data properties:\n")
                .problem
                .contains("FixationIndex")
        );
        let header = "FixationIndex\tTimestamp\tFixationDuration\tMappedFixationPointX";
        assert!(error(header).problem.contains("MappedFixationPointY"));
        let header = format!("Coordinate unit: Pixels\n\n{header}\tMappedFixationPointY\n");
        assert_eq!(error(&format!("{header}1\t2\t3\n")).line, Some(4));
        let millimetres = header.replace("Pixels", "Millimeters");
        assert!(error(&millimetres).remedy.contains("pixels"));
    }

    #[test]
    fn a_published_version_2_file_is_read() {
        let Some(path) = shared_file("tobii_v2/P61-Fixation-Data.tsv") else {
            return;
        };
        assert_eq!(
            recognised(&Input::open(&path).unwrap().head()),
            Some("tobii-studio")
        );
        let read = read_path(&TobiiStudio, &path, &ReadOptions::default()).unwrap();
        let recording = &read.recordings[0];
        assert_eq!(recording.participant, "P105");
        assert_eq!(recording.space, Some(Space::pixels(1280.0, 1024.0)));
        let fixations = &recording.fixations;
        assert_eq!(fixations[0], (513.0, 518.0, Some(633.0), None));
        assert_eq!(fixations.last(), Some(&(1277.0, 91.0, Some(650.0), None)));
        assert_eq!(fixations.len(), 4664);
        let outside = |&&(x, y, ..): &&(f64, f64, Option<f64>, Option<String>)| x < 0.0 || y < 0.0;
        assert_eq!(fixations.iter().filter(outside).count(), 38);
        assert!(read.dropped.is_empty());
    }
}
