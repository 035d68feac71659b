//! SMI BeGaze and IDF Converter samples.
//!
//! `Time Type Trial … L POR X [px] …` in microseconds under a preamble of `##` lines, or BeGaze's newer table with
//! `RecordingTime [ms]` and `Point of Regard Left X [px]`. A sample at 0, 0 or in a blink is lost.

use super::common::{CurrentRecording, pixel_space, report_given_size, sampling_rate};
use super::smi::{Preamble, Stimuli, is_empty_value};
use super::{Format, SupportedOptions, names_of_unnamed_rows};
use crate::{
    Columns, Dropped, EncodeField, Eye, Head, Input, Kind, NamesInFile, ReadError, ReadOptions,
    Recording, RowChoice, Rows, Sample, Sink, TimeUnit,
};

const LEFT: [[&str; 2]; 2] = [
    ["L POR X", "L POR Y"],
    ["Point of Regard Left X", "Point of Regard Left Y"],
];
const RIGHT: [[&str; 2]; 2] = [
    ["R POR X", "R POR Y"],
    ["Point of Regard Right X", "Point of Regard Right Y"],
];
const BOTH: [[&str; 2]; 2] = [
    ["B POR X", "B POR Y"],
    ["Point of Regard Binocular X", "Point of Regard Binocular Y"],
];

/// SMI's samples.
pub(crate) struct SmiSamples;

impl Format for SmiSamples {
    fn name(&self) -> &'static str {
        "smi-samples"
    }

    fn title(&self) -> &'static str {
        "SMI BeGaze or IDF Converter samples"
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
            && columns.find(&["Time", "RecordingTime"]).is_some()
            && [LEFT, RIGHT, BOTH]
                .iter()
                .flatten()
                .any(|names| columns.has_all(names))
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        if options.rows == RowChoice::Fixations {
            return Err(
                ReadError::new(input.name(), "this file has samples, not fixations")
                    .with_remedy("read the events that BeGaze or the IDF Event Detector exports"),
            );
        }
        let mut preamble = Preamble::default();
        let head = input.head();
        let comments = head.lines.iter().filter(|line| line.starts_with('#'));
        comments.for_each(|line| preamble.take(line));
        let in_preamble = NamesInFile {
            participant: preamble.subject.take(),
            stimulus: preamble.stimulus.take(),
        };
        let (unnamed, stimulus) = names_of_unnamed_rows(&input, options, in_preamble)?;
        let mut stimuli = Stimuli::new(stimulus);
        report_given_size(preamble.screen, options, sink);
        let space = pixel_space(preamble.screen, options);
        if space.is_some() && options.screen.is_none() && options.units.is_none() {
            sink.assumed("the calibration area is the size of the screen", &[]);
        }
        let kind = Kind::Gaze {
            rate_hz: sampling_rate(preamble.rate_hz, options, sink),
        };

        let mut rows = Rows::open(input)?;
        let columns = rows.columns();
        let time = columns.require(&["Time", "RecordingTime"])?;
        let (x, y, letter) = point_columns(columns, options.eye, sink)?;
        let row_type = columns.find(&["Type"]);
        let group = columns.find(&["Category Group"]);
        let trial = columns.find(&["Trial"]);
        let participant = columns.find(&["Participant"]);
        let shown = columns.find(&["Stimulus"]);
        let event = columns.find(&match letter {
            'L' => ["L Event Info", "Category Left", "Info"],
            'R' => ["R Event Info", "Category Right", "Info"],
            _ => ["B Event Info", "Category Binocular", "Info"],
        });
        let aoi = columns.find(&[
            &format!("AOI Name {}", if letter == 'R' { "Right" } else { "Left" }),
            "AOI Name Binocular",
        ]);
        let in_file = match columns.unit(time) {
            Some("ms") => TimeUnit::Milliseconds,
            _ => TimeUnit::Microseconds,
        };
        if columns.unit(time).is_none() && options.time_unit.is_none() {
            sink.assumed("times are in microseconds, as in SMI's samples", &[]);
        }
        let unit = options.time_unit.unwrap_or(in_file).in_ms();
        let mut current = CurrentRecording::default();
        while let Some(row) = rows.next_row()? {
            let text = |column: Option<usize>| column.map_or("", |column| row.text(column));
            if row_type.is_some() && text(row_type) != "SMP" {
                // A message has its text where samples have their first number.
                stimuli.receive(text(trial), row.text(3));
                sink.dropped(Dropped::OtherEvent);
                continue;
            }
            if text(group) == "Information" {
                sink.dropped(Dropped::OtherEvent);
                continue;
            }
            let time_ms = row.number_or_missing(time)?.map(|value| value * unit);
            let point = row.number_or_missing(x)?.zip(row.number_or_missing(y)?);
            let blink = text(event) == "Blink";
            let participant = match text(participant) {
                "" | "-" => unnamed.name(participant.is_some(), sink),
                participant => participant,
            };
            let recording = current.enter(
                sink,
                &Recording {
                    participant,
                    stimulus: stimuli.name(participant, text(trial), text(shown)),
                    kind,
                    space,
                },
            )?;
            sink.sample(
                recording,
                Sample {
                    time_ms,
                    point: point.filter(|&point| !blink && point != (0.0, 0.0)),
                    aoi: Some(text(aoi))
                        .filter(|aoi| !is_empty_value(aoi) && *aoi != "White Space"),
                },
            );
        }
        stimuli.report(options, sink);
        Ok(())
    }
}

/// The columns of the eye to read, and its letter.
fn point_columns(
    columns: &Columns,
    eye: Eye,
    sink: &mut dyn Sink,
) -> Result<(usize, usize, char), ReadError> {
    let find = |names: [[&str; 2]; 2], letter| {
        names.iter().find_map(|[x, y]| {
            let (x, y) = columns.find(&[x]).zip(columns.find(&[y]))?;
            Some((x, y, letter))
        })
    };
    let (left, right) = (find(LEFT, 'L'), find(RIGHT, 'R'));
    if eye == Eye::Any && left.is_some() && right.is_some() {
        sink.assumed(
            "both eyes were recorded; the left one was used",
            &[EncodeField::Eye],
        );
    }
    let found = match eye {
        Eye::Left => left,
        Eye::Right => right,
        Eye::Any => left.or(right).or(find(BOTH, 'B')),
    };
    let wanted = if eye == Eye::Right { RIGHT } else { LEFT };
    match found {
        Some(found) => Ok(found),
        None => {
            let [[old_x, old_y], [x, y]] = wanted;
            Ok((
                columns.require(&[old_x, x])?,
                columns.require(&[old_y, y])?,
                'L',
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Space;
    use crate::readers::common::testing::{
        assert_damage_does_not_panic, read_recognised, recognised,
    };
    use crate::readers::recorder::read_text;

    #[test]
    fn an_idf_converter_file_is_read() {
        let plain = ReadOptions::default();
        let read = read_recognised(&SmiSamples, "smi-samples.txt", &plain);
        let [one, two] = read.recordings.as_slice() else {
            panic!("{read:?}")
        };
        assert_eq!(one.participant, "P7");
        assert_eq!(one.stimulus.as_deref(), Some("cups.bmp"));
        assert_eq!(one.space, Some(Space::pixels(1024.0, 768.0)));
        assert_eq!(
            one.kind,
            Kind::Gaze {
                rate_hz: Some(50.0)
            }
        );
        assert_eq!(
            one.samples,
            [
                (Some(1000.0), Some((500.5, 300.25)), None),
                (Some(1020.0), None, None),
                (Some(1040.0), Some((510.0, 310.0)), None)
            ]
        );
        assert_eq!(two.stimulus.as_deref(), Some("trial 2"));
        assert_eq!(two.samples.len(), 1);
        assert_eq!(read.dropped[&Dropped::OtherEvent], 2);
        let faster = ReadOptions {
            rate_hz: Some(60.0),
            ..plain.clone()
        };
        let read = read_recognised(&SmiSamples, "smi-samples.txt", &faster);
        let rate_hz = Some(60.0);
        assert_eq!(read.recordings[0].kind, Kind::Gaze { rate_hz });
        assert!(
            read.assumed
                .iter()
                .any(|text| text.contains("60 Hz as given, not 50 Hz"))
        );
        let right = ReadOptions {
            eye: Eye::Right,
            ..plain
        };
        let read = read_recognised(&SmiSamples, "smi-samples.txt", &right);
        assert_eq!(read.recordings[0].samples[1].1, Some((505.0, 305.0)));
    }

    #[test]
    fn a_begaze_table_is_read() {
        let text = "RecordingTime [ms],Trial,Stimulus,Participant,Category Group,Category Right,Point of Regard Right X [px],Point of Regard Right Y [px],AOI Name Right\r\n\
                    10.5,Trial1,a.png,P1,Eye,Visual Intake,5,6,cup\r\n\
                    12.5,Trial1,a.png,P1,Eye,Blink,5,6,-\r\n\
                    13.0,Trial1,a.png,P1,Information,-,-,-,-\r\n\
                    14.5,Trial1,-,P1,Eye,Saccade,-,-,-\r\n";
        let head = Input::from_bytes("t.csv", text.into()).unwrap().head();
        assert_eq!(recognised(&head), Some("smi-samples"));
        let read = read_text(&SmiSamples, "t.csv", text, &ReadOptions::default()).unwrap();
        assert_eq!(
            read.recordings[0].samples,
            [
                (Some(10.5), Some((5.0, 6.0)), Some("cup".into())),
                (Some(12.5), None, None)
            ]
        );
        assert_eq!(read.recordings[1].stimulus.as_deref(), Some("Trial1"));
        assert_eq!(read.dropped[&Dropped::OtherEvent], 1);
    }

    #[test]
    fn errors_are_reported() {
        let error = |text: &str, eye: Eye| {
            let options = ReadOptions {
                eye,
                ..ReadOptions::default()
            };
            read_text(&SmiSamples, "t.txt", text, &options).unwrap_err()
        };
        assert!(error("", Eye::Any).problem.contains("empty"));
        let header = "Time\tType\tTrial\tL POR X [px]\tL POR Y [px]\n";
        assert!(error(header, Eye::Right).problem.contains("R POR X"));
        assert!(error("Time\tType\n", Eye::Any).problem.contains("L POR X"));
        let short = format!("{header}1\tSMP\t1\t5\n");
        assert_eq!(error(&short, Eye::Any).line, Some(2));
        let word = format!("{header}1\tSMP\t1\t5\tsecret\n");
        assert!(!error(&word, Eye::Any).to_string().contains("secret"));
        assert_damage_does_not_panic(&SmiSamples, "smi-samples.txt");
    }
}
