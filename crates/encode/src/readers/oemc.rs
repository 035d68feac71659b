//! GazeCom gaze as the OEMC project distributes it: tab-separated `X_coord Y_coord Confidence Pattern`.
//!
//! Coordinates are fractions of the video with the origin at the top left; gaze off the video gives values outside 0 to
//! 1. Pattern is F, S, P or B for fixation, saccade, pursuit and blink. There are no timestamps.

use super::sample_labels::SampleLabels;
use super::{Format, SupportedOptions, has_only, names_by_convention, oriented};
use crate::{
    EncodeField, Head, Input, Kind, NamesInFile, ReadError, ReadOptions, Recording, RowChoice,
    Rows, Sample, Sink, Space,
};

pub(super) struct Oemc;

/// GazeCom was recorded with an EyeLink II.
const GAZECOM_RATE_HZ: f64 = 250.0;

const COLUMNS: [&str; 4] = ["x_coord", "y_coord", "confidence", "pattern"];

impl Format for Oemc {
    fn name(&self) -> &'static str {
        "oemc"
    }

    fn title(&self) -> &'static str {
        "OEMC (GazeCom) gaze with event labels"
    }

    fn accepts(&self) -> SupportedOptions {
        SupportedOptions {
            units: false,
            time_unit: false,
            events: true,
            ..SupportedOptions::default()
        }
    }

    fn recognises(&self, head: &Head) -> bool {
        let names = head.first_row().split(['\t', ',', ';']).map(str::trim);
        names
            .map(str::to_ascii_lowercase)
            .take(COLUMNS.len())
            .eq(COLUMNS)
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        has_only(RowChoice::Samples, &input, options)?;
        let (participant, stimulus) =
            names_by_convention(&input, options, names_in_stem(&input), sink)?;
        let mut rows = Rows::open(input)?;
        let [x, y, confidence, pattern] = [
            rows.columns().require(&COLUMNS[..1])?,
            rows.columns().require(&COLUMNS[1..2])?,
            rows.columns().require(&COLUMNS[2..3])?,
            rows.columns().require(&COLUMNS[3..])?,
        ];
        if options.rate_hz.is_none() {
            sink.assumed(
                "250 samples per second, the rate of GazeCom",
                &[EncodeField::Rate],
            );
        }
        let recording = sink.recording(&Recording {
            participant: &participant,
            stimulus: stimulus.as_deref(),
            kind: Kind::Gaze {
                rate_hz: options.rate_hz.or(Some(GAZECOM_RATE_HZ)),
            },
            space: Some(oriented(Space::unit(), options)),
        })?;
        let mut labels = SampleLabels::new(
            &rows.columns().names()[pattern],
            options.events.as_ref(),
            |label| label == "F",
            |label| label == "B",
            sink,
        );
        while let Some(row) = rows.next_row()? {
            let point = row.number_or_missing(x)?.zip(row.number_or_missing(y)?);
            // A missing confidence does not invalidate the point.
            let confident = row.number_or_missing(confidence)? != Some(0.0);
            let label = row.text(pattern);
            if !matches!(label, "F" | "S" | "P" | "B") {
                return Err(row
                    .error(pattern, "expected F, S, P or B")
                    .with_remedy("the labels are fixation, saccade, pursuit and blink"));
            }
            let sample = Sample {
                time_ms: None,
                point: point.filter(|_| confident),
                aoi: None,
            };
            labels.report_sample(label, recording, sample, sink);
        }
        labels.report(sink);
        Ok(())
    }
}

/// `AAF_beach.csv`: an observer's name is three capital letters.
fn names_in_stem(input: &Input) -> NamesInFile {
    match input.stem().split_once('_') {
        Some((observer, video))
            if observer.len() == 3 && observer.bytes().all(|byte| byte.is_ascii_uppercase()) =>
        {
            NamesInFile {
                participant: Some(observer.to_string()),
                stimulus: Some(video.to_string()),
            }
        }
        _ => NamesInFile::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::recorder::{read_file, read_text, recognised, shared_file, tiny_file};
    use crate::{EncodeNote, EventChoice};

    #[test]
    fn the_test_file_is_read() {
        let (read, recognised) =
            read_file(&Oemc, &tiny_file("QQQ_pond.csv"), &ReadOptions::default()).unwrap();
        assert_eq!(recognised, "oemc");
        let [recording] = read.recordings.as_slice() else {
            panic!("one recording");
        };
        assert_eq!(recording.participant, "QQQ");
        assert_eq!(recording.stimulus.as_deref(), Some("pond"));
        assert_eq!(recording.space, Some(Space::unit()));
        assert_eq!(
            recording.kind,
            Kind::Gaze {
                rate_hz: Some(250.0)
            }
        );
        let points: Vec<_> = recording.samples.iter().map(|sample| sample.1).collect();
        assert_eq!(
            points,
            [
                Some((0.25, 0.5)),
                Some((0.26, 0.5)),
                Some((1.02, -0.01)),
                None,
                None,
                None,
                Some((0.75, 0.125)),
            ]
        );
        assert_eq!(read.assumed.len(), 2);
        assert!(read.assumed[1].contains("as blinks or losses"));
    }

    #[test]
    fn the_user_chooses_the_events() {
        let header = "X_coord\tY_coord\tConfidence\tPattern\n";
        let rows = "1\t1\t1\tF\n2\t2\t1\tS\n3\t3\t1\tB\n";
        let text = format!("{header}{rows}");
        let labels = |labels: &[&str]| {
            EventChoice::Labels(labels.iter().map(|label| label.to_string()).collect())
        };
        for (events, used) in [
            (None, [true, true, false]),
            (Some(EventChoice::All), [true; 3]),
            (Some(EventChoice::Fixations), [true, false, false]),
            (Some(labels(&["s", "X"])), [false, true, false]),
        ] {
            let options = ReadOptions {
                events: events.clone(),
                ..ReadOptions::default()
            };
            let read = read_text(&Oemc, "t", &text, &options).unwrap();
            let samples = read.recordings[0].samples.iter();
            let points: Vec<f64> = samples.filter_map(|it| it.1).map(|point| point.0).collect();
            let expected = [1.0, 2.0, 3.0].into_iter().zip(used);
            let expected = expected.filter(|(_, used)| *used).map(|(x, _)| x);
            assert_eq!(points, expected.collect::<Vec<_>>(), "{events:?}");
            // A blink counts as lost unless events are chosen; then it is one of those that are not.
            let not_used = used.iter().filter(|used| !**used).count() as u64;
            let others = events.as_ref().map_or(0, |_| not_used);
            let labels = read.unrequested_events.values().sum::<u64>();
            assert_eq!(labels, others, "{events:?}");
            let missing = EncodeNote::LabelsMissing {
                labels: vec!["X".to_string()],
            };
            let expected: Vec<EncodeNote> = match events {
                Some(EventChoice::Labels(_)) => vec![missing],
                _ => Vec::new(),
            };
            assert_eq!(read.notes, expected);
        }
    }

    #[test]
    fn encodings_line_ends_and_a_given_rate() {
        let text = "X_coord\tY_coord\tConfidence\tPattern\r\n0.5\t0.5\t1.0\tF\r\n";
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [
            text.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            utf16,
        ] {
            let input = Input::from_bytes("a.csv", bytes).unwrap();
            assert_eq!(recognised(&input), "oemc");
            let options = ReadOptions {
                rate_hz: Some(200.0),
                ..ReadOptions::default()
            };
            let mut read = crate::readers::recorder::Recorder::default();
            Oemc.read(input, &options, &mut read).unwrap();
            assert_eq!(read.recordings[0].samples.len(), 1);
            assert_eq!(
                read.recordings[0].kind,
                Kind::Gaze {
                    rate_hz: Some(200.0)
                }
            );
            assert_eq!(read.recordings[0].participant, "a");
            assert_eq!(read.assumed[0], crate::readers::named_after("file", &[]));
        }
    }

    #[test]
    fn broken_files_are_errors_with_their_place() {
        let header = "X_coord\tY_coord\tConfidence\tPattern\n";
        for (row, column) in [
            ("0.1\t0.2\t1", 4),
            ("0.1", 2),
            ("a\t0\t1\tF", 1),
            ("0\t0\t1\tX", 4),
        ] {
            let text = format!("{header}{row}\n");
            let error = read_text(&Oemc, "t", &text, &ReadOptions::default()).unwrap_err();
            assert_eq!(
                (error.line, error.column.unwrap().0),
                (Some(2), column),
                "{row}"
            );
        }
        let missing = "X_coord\tY_coord\tConfidence\n1\t1\t1\n";
        let error = read_text(&Oemc, "t", missing, &ReadOptions::default()).unwrap_err();
        assert!(error.problem.contains("pattern"), "{error}");
        assert!(read_text(&Oemc, "t", "", &ReadOptions::default()).is_err());
    }

    #[test]
    fn a_published_file_is_read() {
        let Some(path) = shared_file("oemc_gazecom/AAF_beach.csv") else {
            return;
        };
        let (read, recognised) = read_file(&Oemc, &path, &ReadOptions::default()).unwrap();
        assert_eq!(recognised, "oemc");
        let recording = &read.recordings[0];
        assert_eq!(recording.participant, "AAF");
        assert_eq!(recording.stimulus.as_deref(), Some("beach"));
        assert_eq!(recording.samples.len(), 5008);
        let lost = recording.samples.iter().filter(|sample| sample.1.is_none());
        assert_eq!(lost.count(), 480);
        let first = recording
            .samples
            .iter()
            .position(|sample| sample.1.is_some());
        assert_eq!(first, Some(63));
        assert_eq!(
            recording.samples[5007].1,
            Some((0.553125, 0.9424999660915798))
        );
    }
}
