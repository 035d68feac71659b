//! ARFF gaze files, as in 360em and GazeCom: `%@METADATA name value`, `@ATTRIBUTE name type`, `@DATA`, rows.
//!
//! `time` is in microseconds; `x` and `y` are pixels of `width_px` × `height_px` (of the equirectangular video for 360em)
//! with the origin at the top left; `confidence` 0 marks a lost sample. One attribute of event labels is read (see
//! [`LABELS`]); all others are ignored.

use super::common::report_given_size;
use super::sample_labels::SampleLabels;
use super::table::{LabelMeaning, is_loss, meaning};
use super::{Format, SupportedOptions, has_only, names_of, oriented};
use crate::{
    EncodeField, EncodeNote, Head, Input, Kind, Lines, NamesInFile, NoEffect, ReadError,
    ReadOptions, Recording, RowChoice, Rows, Sample, Sink, Space, TimeUnit,
};

pub(super) struct ArffGaze;

/// The attributes of event labels, the best first: those of sp_tool, and the final ones of GazeCom's experts.
const LABELS: [&str; 2] = ["EYE_MOVEMENT_TYPE", "handlabeller_final"];

impl Format for ArffGaze {
    fn name(&self) -> &'static str {
        "arff-gaze"
    }

    fn title(&self) -> &'static str {
        "ARFF gaze of 360em and GazeCom"
    }

    fn accepts(&self) -> SupportedOptions {
        SupportedOptions {
            units: false,
            events: true,
            ..SupportedOptions::default()
        }
    }

    fn recognises(&self, head: &Head) -> bool {
        head.lines
            .iter()
            .map(|line| line.trim())
            .find(|line| !line.is_empty() && !line.starts_with('%'))
            .is_some_and(|line| {
                directive(line).is_some_and(|(word, _)| word == Directive::Relation)
            })
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        has_only(RowChoice::Samples, &input, options)?;
        let (participant, stimulus) = names_of(&input, options, NamesInFile::default(), sink)?;
        let mut lines = input.into_lines();
        let preamble = Preamble::read(&mut lines)?;
        let mut rows = Rows::with_names(lines, preamble.attributes, b',').with_comments('%');
        let columns = rows.columns();
        let (x, y) = (columns.require(&["x"])?, columns.require(&["y"])?);
        // Without timestamps the rate must be known.
        let time = match options.rate_hz {
            Some(_) => columns.find(&["time"]),
            None => Some(columns.require(&["time"])?),
        };
        let confidence = columns.find(&["confidence"]);
        let time_unit = options.time_unit.unwrap_or(TimeUnit::Microseconds);
        report_given_size(preamble.width_px.zip(preamble.height_px), options, sink);
        let size = options.screen.or(preamble.width_px.zip(preamble.height_px));
        let recording = sink.recording(&Recording {
            participant: &participant,
            stimulus: stimulus.as_deref(),
            kind: Kind::Gaze {
                rate_hz: options.rate_hz,
            },
            space: size.map(|(width, height)| oriented(Space::pixels(width, height), options)),
        })?;
        let mut labels = columns.find(&LABELS).map(|column| {
            let name = &columns.names()[column];
            let labels =
                SampleLabels::new(name, options.events.as_ref(), is_fixation, is_loss, sink);
            (column, labels)
        });
        if labels.is_none() && options.events.is_some() {
            sink.note(EncodeNote::NoEffect {
                field: EncodeField::Events,
                reason: NoEffect::NoEventColumn,
            });
        }
        while let Some(row) = rows.next_row()? {
            if row.text(0).starts_with('{') {
                return Err(row
                    .error(0, "this is a sparse row, which gaze files do not have")
                    .with_remedy("save the file with full rows: every attribute's value, separated by commas"));
            }
            let point = row.number_or_missing(x)?.zip(row.number_or_missing(y)?);
            let confident = match confidence {
                // A missing confidence does not invalidate the point.
                Some(column) => row
                    .number_or_missing(column)?
                    .is_none_or(|confidence| confidence > 0.0),
                None => true,
            };
            let time_ms = match time {
                Some(column) => Some(row.number(column)? * time_unit.in_ms()),
                None => None,
            };
            let sample = Sample {
                time_ms,
                point: point.filter(|_| confident),
                aoi: None,
            };
            match &mut labels {
                Some((column, labels)) => {
                    labels.report_sample(row.text(*column), recording, sample, sink);
                }
                None => sink.sample(recording, sample),
            }
        }
        if let Some((_, labels)) = labels {
            labels.report(sink);
        }
        Ok(())
    }
}

/// Whether a label is a word for a fixation, or GazeCom's number for it.
fn is_fixation(label: &str) -> bool {
    label == "1" || meaning(label) == Some(LabelMeaning::Fixation)
}

/// The metadata before the rows.
#[derive(Default)]
struct Preamble {
    attributes: Vec<String>,
    width_px: Option<f64>,
    height_px: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Directive {
    Relation,
    Attribute,
    Data,
}

impl Preamble {
    /// Reads up to and including `@DATA`.
    fn read(lines: &mut Lines) -> Result<Self, ReadError> {
        let mut preamble = Self::default();
        loop {
            let number = lines.number() + 1;
            let name_for_errors = lines.name().to_string();
            let Some(line) = lines.next_line()? else {
                return Err(ReadError::new(
                    &name_for_errors,
                    "the file ends before its rows: there is no @DATA line",
                )
                .with_remedy(
                    "expected @RELATION, @ATTRIBUTE lines for time, x and y, then @DATA",
                ));
            };
            let error = |problem: &str| ReadError::new(&name_for_errors, problem).at_line(number);
            let line = line.trim();
            if let Some(comment) = line.strip_prefix('%') {
                preamble.take_metadata(comment).map_err(|problem| {
                    error(problem).with_remedy("expected, for example, %@METADATA width_px 1280")
                })?;
                continue;
            }
            if line.is_empty() {
                continue;
            }
            match directive(line) {
                Some((Directive::Relation, _)) => {}
                Some((Directive::Attribute, rest)) => {
                    let name = attribute_name(rest).ok_or_else(|| {
                        error("this attribute has no name, or its quote is not closed")
                            .with_remedy("expected, for example, @ATTRIBUTE x NUMERIC")
                    })?;
                    preamble.attributes.push(name.to_string());
                }
                Some((Directive::Data, _)) => return Ok(preamble),
                None => {
                    return Err(error(
                        "this line is neither @RELATION, @ATTRIBUTE or @DATA nor a comment",
                    )
                    .with_remedy("comments begin with %; rows come after the line @DATA"));
                }
            }
        }
    }

    /// `@METADATA name value` within a comment.
    fn take_metadata(&mut self, comment: &str) -> Result<(), &'static str> {
        let mut words = comment.split_whitespace();
        if !words
            .next()
            .is_some_and(|word| word.eq_ignore_ascii_case("@metadata"))
        {
            return Ok(());
        }
        let size_px = match words.next() {
            Some("width_px") => &mut self.width_px,
            Some("height_px") => &mut self.height_px,
            _ => return Ok(()),
        };
        let size = words.next().and_then(|word| word.parse::<f64>().ok());
        match size {
            Some(size) if size.is_finite() && size > 0.0 => {
                *size_px = Some(size);
                Ok(())
            }
            _ => Err("the size in pixels is not a number above zero"),
        }
    }
}

/// `@WORD rest`, in any case.
fn directive(line: &str) -> Option<(Directive, &str)> {
    let line = line.strip_prefix('@')?;
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    [
        ("relation", Directive::Relation),
        ("attribute", Directive::Attribute),
        ("data", Directive::Data),
    ]
    .into_iter()
    .find(|(name, _)| word.eq_ignore_ascii_case(name))
    .map(|(_, directive)| (directive, rest.trim()))
}

/// The name of an attribute, which may be in single or double quotes.
fn attribute_name(rest: &str) -> Option<&str> {
    let name = match rest.chars().next()? {
        quote @ ('\'' | '"') => rest[1..].split_once(quote)?.0,
        _ => rest.split(char::is_whitespace).next()?,
    };
    Some(name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventChoice;
    use crate::readers::recorder::{read_file, read_text, shared_file, tiny_file};

    const HEAD: &str =
        "@relation gaze\n@attribute time integer\n@attribute x numeric\n@attribute y numeric\n";

    #[test]
    fn the_test_file_is_read() {
        let (read, recognised) = read_file(
            &ArffGaze,
            &tiny_file("arff-gaze.arff"),
            &ReadOptions::default(),
        )
        .unwrap();
        assert_eq!(recognised, "arff-gaze");
        let [recording] = read.recordings.as_slice() else {
            panic!("one recording");
        };
        assert_eq!(recording.participant, "arff-gaze");
        assert_eq!(recording.space, Some(Space::pixels(3840.0, 1920.0)));
        assert_eq!(recording.kind, Kind::Gaze { rate_hz: None });
        assert_eq!(
            recording.samples,
            [
                (Some(0.0), Some((1920.0, 960.5)), None),
                (Some(8.0), Some((1921.0, 960.5)), None),
                (Some(17.0), None, None),
                (Some(25.0), None, None),
                (Some(33.0), Some((1930.25, 955.0)), None),
            ]
        );
        assert_eq!(read.assumed, [crate::readers::named_after("file", &[])]);
    }

    #[test]
    fn attributes_may_be_in_any_order_and_case() {
        let text = "\u{feff}% note\r\n@RELATION 'r'\r\n@Attribute \"Y\" REAL\r\n@ATTRIBUTE 'my label' {a,b}\r\n@ATTRIBUTE X\tREAL\r\n@DATA\r\n2,a,1\r\n?,b,1\r\n% end\r\n";
        let error = read_text(&ArffGaze, "t", text, &ReadOptions::default()).unwrap_err();
        assert!(error.problem.contains("time"), "{error}");
        let options = ReadOptions {
            rate_hz: Some(250.0),
            ..ReadOptions::default()
        };
        let read = read_text(&ArffGaze, "t", text, &options).unwrap();
        assert_eq!(read.recordings[0].space, None);
        assert_eq!(
            read.recordings[0].samples,
            [(None, Some((1.0, 2.0)), None), (None, None, None)]
        );
        let options = ReadOptions {
            screen: Some((10.0, 20.0)),
            flip_y: true,
            ..options
        };
        let read = read_text(&ArffGaze, "t", text, &options).unwrap();
        assert_eq!(
            read.recordings[0].space,
            Some(Space::pixels(10.0, 20.0).flipped())
        );
    }

    #[test]
    fn a_given_size_that_contradicts_the_file_is_reported() {
        let size = "%@METADATA width_px 800\n%@METADATA height_px 600\n";
        let text = format!("{size}{HEAD}@data\n0,1,1\n");
        let says = |screen| {
            let options = ReadOptions {
                screen: Some(screen),
                ..ReadOptions::default()
            };
            let read = read_text(&ArffGaze, "t", &text, &options).unwrap();
            let expected = "the size is 1000x500 as given, not 800x600 as in the file";
            read.assumed.iter().any(|text| text == expected)
        };
        assert!(says((1000.0, 500.0)) && !says((800.0, 600.0)));
    }

    #[test]
    fn the_user_chooses_the_events() {
        for (label, fixation, other) in [
            ("handlabeller_final", "1", "2"),
            ("eye_movement_type", "FIX", "SACCADE"),
        ] {
            let attribute = format!("@attribute {label} string\n@data\n");
            let rows = format!("0,1,1,{fixation}\n4,2,2,{other}\n");
            let text = format!("{HEAD}{attribute}{rows}");
            for (events, used) in [
                (None, [true, true]),
                (Some(EventChoice::Fixations), [true, false]),
                (Some(EventChoice::Labels(vec![other.into()])), [false, true]),
            ] {
                let options = ReadOptions {
                    events,
                    ..ReadOptions::default()
                };
                let read = read_text(&ArffGaze, "t", &text, &options).unwrap();
                let samples = read.recordings[0].samples.iter();
                let points: Vec<f64> = samples.filter_map(|it| it.1).map(|at| at.0).collect();
                let expected = [1.0, 2.0].into_iter().zip(used);
                let expected = expected.filter(|(_, used)| *used).map(|(x, _)| x);
                assert_eq!(points, expected.collect::<Vec<_>>(), "{label}");
                let left_out = used.iter().filter(|used| !**used).count() as u64;
                assert_eq!(read.unrequested_events.values().sum::<u64>(), left_out);
                assert!(read.assumed.iter().any(|text| text.contains(label)));
            }
        }
        let text = format!("{HEAD}@data\n0,1,1\n");
        let options = ReadOptions {
            events: Some(EventChoice::Fixations),
            ..ReadOptions::default()
        };
        let read = read_text(&ArffGaze, "t", &text, &options).unwrap();
        let no_effect = EncodeNote::NoEffect {
            field: EncodeField::Events,
            reason: NoEffect::NoEventColumn,
        };
        assert_eq!(read.notes, [no_effect]);
    }

    #[test]
    fn broken_files_are_errors_with_their_place() {
        for (text, line) in [
            (format!("{HEAD}@data\n{{0 1, 1 2}}\n"), Some(6)),
            (format!("{HEAD}@data\n1,2,3\n1,2\n"), Some(7)),
            (format!("{HEAD}@data\n1,2,z\n"), Some(6)),
            (format!("{HEAD}@data\n1;2;3\n"), Some(6)),
            (format!("{HEAD}@data\nNaN,2,3\n"), Some(6)),
            (format!("{HEAD}hello\n"), Some(5)),
            (format!("{HEAD}@attribute 'open\n"), Some(5)),
            (format!("{HEAD}@attribute\n"), Some(5)),
            (format!("%@METADATA width_px none\n{HEAD}"), Some(1)),
            (
                "@relation r\n@attribute time real\n@attribute x real\n@data\n".to_string(),
                Some(4),
            ),
            (HEAD.to_string(), None),
            (String::new(), None),
        ] {
            let error = read_text(&ArffGaze, "t", &text, &ReadOptions::default()).unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(!error.to_string().contains("hello"));
        }
    }

    #[test]
    fn a_published_file_is_read() {
        let Some(path) = shared_file("arff_gazecom/deep_em_input.arff") else {
            return;
        };
        let (read, recognised) = read_file(&ArffGaze, &path, &ReadOptions::default()).unwrap();
        assert_eq!(recognised, "arff-gaze");
        let recording = &read.recordings[0];
        assert_eq!(recording.space, Some(Space::pixels(1280.0, 720.0)));
        assert_eq!(recording.samples.len(), 4996);
        assert_eq!(
            recording.samples[0],
            (Some(2.0), Some((599.5, 320.7)), None)
        );
        assert_eq!(recording.samples[1642], (Some(6687.0), None, None));
        let lost = recording.samples.iter().filter(|sample| sample.1.is_none());
        assert_eq!(lost.count(), 7);
    }
}
