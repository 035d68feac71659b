//! SMI BeGaze and IDF Event Detector events, in both of their forms.
//!
//! - The list: a preamble, `Table Header for Fixations:` and similar headers for other events, then all events mixed,
//!   separated by commas or tabs, with times in microseconds.
//! - The table of BeGaze's metrics export: one header, `Event Start Trial Time [ms]`, `Category`, `Fixation Position X [px]`.

use super::common::{CurrentRecording, pixel_space, report_fixation, report_given_size, start_ms};
use super::smi::{Preamble, Stimuli, is_empty_value};
use super::{Format, SupportedOptions, names_of, names_of_unnamed_rows};
use crate::{
    Columns, Dropped, EncodeField, Eye, Head, Input, Kind, Lines, NamesInFile, ReadError,
    ReadOptions, Recording, RowChoice, Rows, Sink, TimeUnit, guess_delimiter,
};

const HEADER_MARK: &str = "Table Header for Fixations";

/// SMI's events.
pub(crate) struct SmiEvents;

impl Format for SmiEvents {
    fn name(&self) -> &'static str {
        "smi-events"
    }

    fn title(&self) -> &'static str {
        "SMI BeGaze or IDF Event Detector events"
    }

    fn accepts(&self) -> SupportedOptions {
        SupportedOptions {
            eye: true,
            ..SupportedOptions::default()
        }
    }

    fn recognises(&self, head: &Head) -> bool {
        !head.binary
            && (head.lines.iter().any(|line| is_header_mark(line))
                || is_table(&Columns::of_head(head)))
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        if options.rows == RowChoice::Samples {
            return Err(
                ReadError::new(input.name(), "this file has events, not samples")
                    .with_remedy("read the samples that BeGaze or the IDF Converter exports"),
            );
        }
        if is_table(&Columns::of_head(&input.head())) {
            read_table(input, options, sink)
        } else {
            read_list(input, options, sink)
        }
    }
}

fn read_list(input: Input, options: &ReadOptions, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let eyes = EyeChoice::of(&input, options, sink)?;
    // The names need the preamble, which must be read before the input is turned into lines.
    let mut preamble = Preamble::default();
    input
        .head()
        .lines
        .iter()
        .for_each(|line| preamble.take(line));
    let in_preamble = NamesInFile {
        participant: preamble.subject.take(),
        stimulus: preamble.stimulus.take(),
    };
    let (participant, stimulus) = names_of(&input, options, in_preamble, sink)?;
    let mut stimuli = Stimuli::new(stimulus);
    report_given_size(preamble.screen, options, sink);
    let space = pixel_space(preamble.screen, options);

    let mut rows = fixation_rows(input.into_lines())?;
    let columns = rows.columns();
    let trial = columns.require(&["Trial"])?;
    let start = columns.find(&["Start"]);
    let duration = columns.require(&["Duration"])?;
    let x = columns.require(&["Location X"])?;
    let y = columns.require(&["Location Y"])?;
    let aoi = columns.find(&["AOI hit", "AOI Name"]);
    let image = columns.find(&["Image", "Stimulus"]);
    if options.time_unit.is_none() {
        sink.assumed(
            "durations are in microseconds, as in SMI's event lists",
            &[],
        );
    }
    let unit = options.time_unit.unwrap_or(TimeUnit::Microseconds).in_ms();
    let mut current = CurrentRecording::default();
    while let Some(row) = rows.next_row()? {
        let mut words = row.text(0).split_ascii_whitespace();
        match words.next() {
            Some("Fixation") => {}
            // The headers of other kinds of events.
            Some("Table") | Some("Event") => continue,
            Some("UserEvent") => {
                stimuli.receive(row.text(trial), row.text(4));
                sink.dropped(Dropped::OtherEvent);
                continue;
            }
            _ => {
                sink.dropped(Dropped::OtherEvent);
                continue;
            }
        }
        if !eyes.wants(words.next()) {
            sink.dropped(Dropped::OtherEye);
            continue;
        }
        let duration_ms = row.number_or_missing(duration)?.map(|value| value * unit);
        let point = row.number_or_missing(x)?.zip(row.number_or_missing(y)?);
        let in_row = image.map_or("", |image| row.text(image));
        let stimulus = stimuli.name(&participant, row.text(trial), in_row);
        let recording = current.enter(
            sink,
            &Recording {
                participant: &participant,
                stimulus,
                kind: Kind::Fixations,
                space,
            },
        )?;
        let aoi = aoi
            .map(|aoi| row.text(aoi))
            .filter(|aoi| !is_empty_value(aoi));
        let start_ms = start_ms(&row, start, unit);
        report_fixation(sink, recording, point, start_ms, duration_ms, aoi);
    }
    stimuli.report(options, sink);
    Ok(())
}

/// The rows after the header of the fixations. Other events have other columns; the first column identifies
/// them.
fn fixation_rows(mut lines: Lines) -> Result<Rows, ReadError> {
    let mut marked = false;
    while let Some(line) = lines.next_line()? {
        let line = line.trim_start_matches('#').trim();
        if marked && !line.is_empty() {
            let header = line.to_string();
            let delimiter = guess_delimiter(&header);
            return Ok(Rows::after_header(lines, &header, delimiter));
        }
        marked |= is_header_mark(line);
    }
    Err(
        ReadError::new(lines.name(), format!("there is no \"{HEADER_MARK}\""))
            .with_remedy("expected the event export of SMI BeGaze; export it with fixations"),
    )
}

fn read_table(input: Input, options: &ReadOptions, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let eyes = EyeChoice::of(&input, options, sink)?;
    let (unnamed, stimulus) = names_of_unnamed_rows(&input, options, NamesInFile::default())?;
    let mut stimuli = Stimuli::new(stimulus);
    let mut rows = Rows::open(input)?;
    let columns = rows.columns();
    let x = columns.require(&["Fixation Position X", "Visual Intake Position X"])?;
    let y = columns.require(&["Fixation Position Y", "Visual Intake Position Y"])?;
    let start = columns.find(&["Event Start Trial Time"]);
    let duration = columns.require(&["Event Duration"])?;
    let category = columns.find(&["Category"]);
    let participant = columns.find(&["Participant"]);
    let trial = columns.find(&["Trial"]);
    let shown = columns.find(&["Stimulus"]);
    let eye = columns.find(&["Eye L/R", "Eye"]);
    let aoi = columns.find(&["AOI Name"]);
    let unit = options.time_unit.unwrap_or(TimeUnit::Milliseconds).in_ms();
    let space = pixel_space(None, options);
    let mut current = CurrentRecording::default();
    while let Some(row) = rows.next_row()? {
        let text = |column: Option<usize>| column.map_or("", |column| row.text(column));
        if category.is_some() && !matches!(text(category), "Fixation" | "Visual Intake") {
            sink.dropped(Dropped::OtherEvent);
            continue;
        }
        if !eyes.wants(text(eye).split_ascii_whitespace().next()) {
            sink.dropped(Dropped::OtherEye);
            continue;
        }
        let duration_ms = row.number_or_missing(duration)?.map(|value| value * unit);
        let point = row.number_or_missing(x)?.zip(row.number_or_missing(y)?);
        let participant = match text(participant) {
            "" | "-" => unnamed.name(participant.is_some(), sink),
            participant => participant,
        };
        let recording = current.enter(
            sink,
            &Recording {
                participant,
                stimulus: stimuli.name(participant, text(trial), text(shown)),
                kind: Kind::Fixations,
                space,
            },
        )?;
        let aoi = Some(text(aoi)).filter(|aoi| !is_empty_value(aoi) && *aoi != "White Space");
        let start_ms = start_ms(&row, start, unit);
        report_fixation(sink, recording, point, start_ms, duration_ms, aoi);
    }
    stimuli.report(options, sink);
    Ok(())
}

/// Which eye's events to take.
struct EyeChoice {
    right: bool,
}

impl EyeChoice {
    /// The left eye, unless the user wants the right one or there is only the right one.
    fn of(input: &Input, options: &ReadOptions, sink: &mut dyn Sink) -> Result<Self, ReadError> {
        let right = match options.eye {
            Eye::Left => false,
            Eye::Right => true,
            Eye::Any => {
                let (left, right) = eyes_in(input, sink)?;
                if left && right {
                    sink.assumed(
                        "both eyes were recorded; the left one was used",
                        &[EncodeField::Eye],
                    );
                }
                right && !left
            }
        };
        Ok(Self { right })
    }

    /// Whether an event of this eye (`L`, `Right`, …) is wanted; events of no eye in particular always are.
    fn wants(&self, eye: Option<&str>) -> bool {
        match eye {
            Some("L" | "Left") => !self.right,
            Some("R" | "Right") => self.right,
            _ => true,
        }
    }
}

/// Whether fixations of the left and of the right eye occur.
fn eyes_in(input: &Input, sink: &mut dyn Sink) -> Result<(bool, bool), ReadError> {
    let mut found = (false, false);
    let mut look_at = |line: &str| {
        // The list begins a line with `Fixation L`; the table has `Left` in a column.
        let has = |event: &str, word: &str| {
            line.starts_with(event) || line.split(['\t', ',', ';']).any(|field| field == word)
        };
        found.0 |= has("Fixation L", "Left");
        found.1 |= has("Fixation R", "Right");
        found == (true, true)
    };
    match input.reopen()? {
        Some(again) => {
            let mut lines = again.into_lines();
            while let Some(line) = lines.next_line()? {
                if look_at(&line) {
                    break;
                }
                sink.looked_at_line()?;
            }
        }
        None => {
            input.head().lines.iter().any(|line| look_at(line));
        }
    }
    Ok(found)
}

fn is_header_mark(line: &str) -> bool {
    line.trim_start_matches('#').trim().starts_with(HEADER_MARK)
}

fn is_table(columns: &Columns) -> bool {
    columns.has_all(&["Event Start Trial Time", "Event Duration"])
        && columns
            .find(&["Fixation Position X", "Visual Intake Position X"])
            .is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Space;
    use crate::readers::common::testing::{
        assert_damage_does_not_panic, read_path, read_recognised, recognised,
    };
    use crate::readers::recorder::{read_text, shared_file};

    #[test]
    fn the_test_list_is_read() {
        let read = read_recognised(&SmiEvents, "smi-events.txt", &ReadOptions::default());
        let [one, two] = read.recordings.as_slice() else {
            panic!("{read:?}")
        };
        assert_eq!(one.participant, "P7");
        assert_eq!(one.stimulus.as_deref(), Some("kitchen.jpg"));
        assert_eq!(one.space, Some(Space::pixels(1680.0, 1050.0)));
        assert_eq!(
            one.fixations,
            [
                (400.25, 300.5, Some(240.0), Some("stove".into())),
                (900.0, 500.0, Some(120.5), None)
            ]
        );
        assert_eq!(one.starts, [Some(1000.0), Some(1260.0)]);
        assert_eq!(two.stimulus.as_deref(), Some("trial 2"));
        assert_eq!(two.fixations.len(), 1);
        assert_eq!(read.dropped[&Dropped::OtherEye], 1);
        assert_eq!(read.dropped[&Dropped::NegativeDuration], 1);
        assert_eq!(read.dropped[&Dropped::OtherEvent], 3);
    }

    #[test]
    fn the_right_eye_is_read_if_there_is_no_left_one() {
        let text = "Table Header for Fixations:\nEvent Type,Trial,Number,Start,End,Duration,Location X,Location Y\n\
                    Fixation R,1,1,0,5000,5000,1,2\n";
        let read = read_text(&SmiEvents, "t", text, &ReadOptions::default()).unwrap();
        assert_eq!(read.recordings[0].fixations, [(1.0, 2.0, Some(5.0), None)]);
        assert_eq!(read.recordings[0].starts, [Some(0.0)]);
        assert_eq!(read.recordings[0].space, None);
        let left = ReadOptions {
            eye: Eye::Left,
            ..ReadOptions::default()
        };
        let read = read_text(&SmiEvents, "t", text, &left).unwrap();
        assert_eq!(read.dropped[&Dropped::OtherEye], 1);
    }

    #[test]
    fn a_begaze_table_is_read() {
        let text = "\u{feff}Trial\tStimulus\tParticipant\tEye L/R\tCategory\tEvent Start Trial Time [ms]\tEvent Duration [ms]\tFixation Position X [px]\tFixation Position Y [px]\tAOI Name\r\n\
                    Trial001\tmap.png\tP01\tLeft\tFixation\t0\t120,5\t10,5\t20\tlegend\r\n\
                    Trial001\tmap.png\tP01\tRight\tFixation\t0\t120\t11\t21\tlegend\r\n\
                    Trial001\tmap.png\tP01\tLeft\tSaccade\t120\t20\t-\t-\t-\r\n\
                    Trial002\tmap.png\tP01\tLeft\tVisual Intake\t0\t100\t-\t-\tWhite Space\r\n";
        let head = Input::from_bytes("t.txt", text.into()).unwrap().head();
        assert_eq!(recognised(&head), Some("smi-events"));
        let read = read_text(&SmiEvents, "t.txt", text, &ReadOptions::default()).unwrap();
        assert_eq!(read.recordings[0].participant, "P01");
        assert_eq!(
            read.recordings[0].fixations,
            [(10.5, 20.0, Some(120.5), Some("legend".into()))]
        );
        assert_eq!(read.recordings[1].stimulus.as_deref(), Some("map.png (2)"));
        assert_eq!(read.dropped[&Dropped::Lost], 1);
        assert_eq!(read.dropped[&Dropped::OtherEye], 1);
        assert_eq!(read.dropped[&Dropped::OtherEvent], 1);
        assert!(!read.assumed.iter().any(|it| it.contains("participant")));
        let unnamed = text.replacen("P01\tLeft", "-\tLeft", 1);
        let read = read_text(&SmiEvents, "t.txt", &unnamed, &ReadOptions::default()).unwrap();
        assert_eq!(read.recordings[0].participant, "t");
        let assumed = "rows without a participant belong to one who is named after the file";
        assert!(read.assumed.contains(&assumed.to_string()));
    }

    #[test]
    fn errors_are_reported() {
        let plain = ReadOptions::default();
        let error = |text: &str| read_text(&SmiEvents, "t.txt", text, &plain).unwrap_err();
        assert!(error("").problem.contains("Table Header"));
        let missing = error("Table Header for Fixations:\nEvent Type,Trial,Duration\n");
        assert!(missing.problem.contains("Location X"));
        let short = error(
            "Table Header for Fixations:\nEvent Type,Trial,Duration,Location X,Location Y\nFixation L,1,5\n",
        );
        assert_eq!((short.line, short.column.unwrap().0), (Some(3), 4));
        assert_damage_does_not_panic(&SmiEvents, "smi-events.txt");
    }

    #[test]
    fn a_published_list_is_read() {
        let Some(path) = shared_file("smi/EMDAT_SMI_Sample_67_Events_first4000lines.txt") else {
            return;
        };
        assert_eq!(
            recognised(&Input::open(&path).unwrap().head()),
            Some("smi-events")
        );
        let read = read_path(&SmiEvents, &path, &ReadOptions::default()).unwrap();
        assert_eq!(read.recordings.len(), 1);
        let recording = &read.recordings[0];
        assert_eq!(recording.participant, "MT430PN56168");
        assert_eq!(recording.fixations.len(), 969);
        assert_eq!(recording.fixations[0], (951.83, 791.4, Some(241.786), None));
        assert_eq!(read.dropped[&Dropped::OtherEye], 969);
        // 1915 saccades, 76 blinks, 50 messages.
        assert_eq!(read.dropped[&Dropped::OtherEvent], 2041);
    }
}
