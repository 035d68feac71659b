//! Fixation lists of the Salient360! data sets and of the toolbox of the same name: a header after `#`, such as `# Idx,
//! longitude, latitude, start timestamp, duration, start frame, end frame`.
//!
//! Longitude and latitude are fractions of the equirectangular picture with the origin at the top left. A file holds all
//! observers of a stimulus one after the other, without names: the index restarts with each of them. Times are in
//! milliseconds, although the data set's description says seconds.

use super::common::{report_fixation, space_in};
use super::{Format, has_only, names_found};
use crate::SpaceKind;
use crate::{
    CoordinateUnit, EncodeField, Head, Input, Kind, NamesInFile, ReadError, ReadOptions, Recording,
    RecordingId, RowChoice, Rows, Sink, Space, TimeUnit, guess_delimiter,
};

pub(super) struct Salient360;

// The names of the data sets first, then those of the toolbox's exports.
const INDEX: [&str; 3] = ["idx", "index", "fix_index"];
const LONGITUDE: [&str; 3] = ["longitude", "lon", "long_gaze"];
const LATITUDE: [&str; 3] = ["latitude", "lat", "lat_gaze"];
const DURATION: [&str; 2] = ["duration", "fix_duration"];

/// The range in which numbers are taken for fractions; the margin around 0 to 1 allows for rounding.
const FRACTIONS: std::ops::RangeInclusive<f64> = -0.1..=1.1;

impl Format for Salient360 {
    fn name(&self) -> &'static str {
        "salient360"
    }

    fn title(&self) -> &'static str {
        "Salient360! fixation list"
    }

    fn recognises(&self, head: &Head) -> bool {
        let header = header_of(head.first_line()).to_ascii_lowercase();
        let has = |names: &[&str]| header.split(',').any(|name| names.contains(&name.trim()));
        has(&INDEX) && has(&LONGITUDE) && has(&LATITUDE)
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        has_only(RowChoice::Fixations, &input, options)?;
        let mut observers = Observers::new(&input, options)?;
        let space = space(&input, options, sink)?;
        let mut rows = open(input)?;
        let columns = rows.columns();
        let index = columns.require(&INDEX)?;
        let (x, y) = (columns.require(&LONGITUDE)?, columns.require(&LATITUDE)?);
        let duration = columns.find(&DURATION);
        let time_unit = options.time_unit.unwrap_or(TimeUnit::Milliseconds);
        if duration.is_some() && options.time_unit.is_none() {
            sink.assumed(
                "durations are in milliseconds, as in the published files",
                &[EncodeField::TimeUnit],
            );
        }
        let mut current: Option<RecordingId> = None;
        let mut last_index = f64::INFINITY;
        while let Some(row) = rows.next_row()? {
            let this_index = row.number(index)?;
            let recording = match current {
                Some(recording) if this_index > last_index => recording,
                _ => {
                    let participant = observers
                        .next(sink)
                        .map_err(|problem| row.error(index, problem.0).with_remedy(problem.1))?;
                    sink.recording(&Recording {
                        participant: &participant,
                        stimulus: Some(&observers.stimulus),
                        kind: Kind::Fixations,
                        space,
                    })?
                }
            };
            (current, last_index) = (Some(recording), this_index);
            let point = row.number_or_missing(x)?.zip(row.number_or_missing(y)?);
            let duration_ms = match duration {
                Some(column) => row
                    .number_or_missing(column)?
                    .map(|duration| duration * time_unit.in_ms()),
                None => None,
            };
            report_fixation(sink, recording, point, None, duration_ms, None);
        }
        Ok(())
    }
}

/// Assigns names to the unnamed observers of a file.
struct Observers {
    count: u32,
    stimulus: String,
    /// The user's name for the only observer of a file.
    only: Option<String>,
}

impl Observers {
    fn new(input: &Input, options: &ReadOptions) -> Result<Self, ReadError> {
        let found = names_found(input, options, NamesInFile::default())?;
        // In this format, a file is named after its stimulus.
        let stem = input.stem();
        let stem = stem
            .strip_suffix("_fixations")
            .or_else(|| stem.strip_suffix("_fixation"))
            .unwrap_or(stem);
        Ok(Self {
            count: 0,
            stimulus: found.stimulus.unwrap_or_else(|| stem.to_string()),
            only: found.participant,
        })
    }

    /// The next observer's name, or what is wrong and what to do.
    fn next(&mut self, sink: &mut dyn Sink) -> Result<String, (&'static str, &'static str)> {
        self.count += 1;
        match &self.only {
            Some(name) if self.count == 1 => Ok(name.clone()),
            Some(_) => Err((
                "the index restarts, so this file has several observers, but one name was given",
                "leave the participant out; observers are then numbered in the order of the file",
            )),
            None => {
                sink.assumed("observers have no names in these files: they are numbered in the order of the file", &[]);
                // Three digits, so that names sort like numbers.
                Ok(format!("observer-{:03}", self.count))
            }
        }
    }
}

/// The header without its comment character.
fn header_of(line: &str) -> &str {
    line.trim_start_matches('#').trim()
}

fn open(input: Input) -> Result<Rows, ReadError> {
    let mut lines = input.into_lines();
    while let Some(line) = lines.next_line()? {
        let header = header_of(line.trim()).to_string();
        if !header.is_empty() {
            let delimiter = guess_delimiter(&header);
            return Ok(Rows::after_header(lines, &header, delimiter));
        }
    }
    Err(ReadError::new(lines.name(), "the file is empty")
        .with_remedy("expected a header such as # Idx, longitude, latitude, start timestamp"))
}

/// The space of the file: fractions, if the first rows agree. Versions in other units are in circulation.
fn space(
    input: &Input,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<Option<Space>, ReadError> {
    let unit = match options.units {
        Some(unit) => unit,
        None => {
            let first_rows = input.head().lines.join("\n");
            let mut rows = open(Input::from_bytes(input.name(), first_rows.into_bytes())?)?;
            let x = rows.columns().require(&LONGITUDE)?;
            let y = rows.columns().require(&LATITUDE)?;
            while let Some(row) = rows.next_row()? {
                for column in [x, y] {
                    let number = row.number_or_missing(column)?;
                    if number.is_some_and(|number| !FRACTIONS.contains(&number)) {
                        return Err(row
                            .error(column, "longitude and latitude are not between 0 and 1 here")
                            .with_remedy("say which unit they have: longitude and latitude in degrees, or pixels of a screen whose size you give")
                            .with_fields(&[EncodeField::Units, EncodeField::Screen]));
                    }
                }
            }
            sink.assumed(
                "longitude and latitude run from 0 to 1, from the top left",
                &[EncodeField::Units],
            );
            CoordinateUnit::Fraction
        }
    };
    let space = space_in(unit, None, options);
    Ok(space.map(|space| match unit {
        CoordinateUnit::Fraction => Space {
            kind: SpaceKind::PanoramaFractions,
            ..space
        },
        _ => space,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dropped;
    use crate::NamePattern;
    use crate::readers::recorder::{read_file, read_text, recognised, shared_file, tiny_file};

    const HEADER: &str =
        "# Idx, longitude, latitude, start timestamp, duration, start frame, end frame\n";

    #[test]
    fn the_test_file_is_read() {
        let path = tiny_file("salient360_fixations.csv");
        let (read, recognised) = read_file(&Salient360, &path, &ReadOptions::default()).unwrap();
        assert_eq!(recognised, "salient360");
        let [first, second] = read.recordings.as_slice() else {
            panic!("two recordings");
        };
        assert_eq!(first.participant, "observer-001");
        assert_eq!(second.participant, "observer-002");
        assert_eq!(first.stimulus.as_deref(), Some("salient360"));
        assert_eq!(first.space, Some(Space::panorama()));
        assert_eq!(first.kind, Kind::Fixations);
        assert_eq!(
            first.fixations,
            [
                (0.1, 0.5, Some(200.0), None),
                (0.2, 0.55, Some(180.0), None),
                (0.9, 0.45, Some(240.5), None),
            ]
        );
        assert_eq!(second.fixations, [(0.3, 0.6, Some(150.0), None)]);
        assert_eq!(read.dropped[&Dropped::Lost], 1);
        assert_eq!(read.dropped[&Dropped::NegativeDuration], 1);
        assert_eq!(read.assumed.len(), 3);
    }

    #[test]
    fn exports_of_the_toolbox_and_short_lists_are_read_too() {
        let text = "# Fix_index, long_Gaze, lat_Gaze, Fix_time_start\r\n0,1.0e-1,0.25,0\r\n1,0.5,0.5,310\r\n";
        let input = Input::from_bytes("t.csv", text.into()).unwrap();
        assert_eq!(recognised(&input), "salient360");
        let options = ReadOptions {
            participant: Some("P1".into()),
            ..ReadOptions::default()
        };
        let read = read_text(&Salient360, "x/s2_fixation.csv", text, &options).unwrap();
        let recording = &read.recordings[0];
        assert_eq!(recording.participant, "P1");
        assert_eq!(recording.stimulus.as_deref(), Some("s2"));
        assert_eq!(
            recording.fixations,
            [(0.1, 0.25, None, None), (0.5, 0.5, None, None)]
        );
        let two = format!("{text}0,0.5,0.5,0\n");
        let error = read_text(&Salient360, "t", &two, &options).unwrap_err();
        assert_eq!(error.line, Some(4), "{error}");
    }

    #[test]
    fn a_pattern_may_name_participant_and_stimulus() {
        let options = ReadOptions {
            name_pattern: Some(NamePattern::parse("{stimulus}_by_{participant}").unwrap()),
            time_unit: Some(TimeUnit::Seconds),
            ..ReadOptions::default()
        };
        let text = format!("{HEADER}0,0.1,0.2,0,0.2,1,2\n");
        let read = read_text(&Salient360, "cows_by_me.csv", &text, &options).unwrap();
        let recording = &read.recordings[0];
        assert_eq!(recording.participant, "me");
        assert_eq!(recording.stimulus.as_deref(), Some("cows"));
        assert_eq!(recording.fixations[0].2, Some(200.0));
    }

    #[test]
    fn other_units_are_asked_for() {
        let text = format!("{HEADER}0,0.1,0.2,0,200,1,2\n1,-120.5,33,0,200,1,2\n");
        let error = read_text(&Salient360, "t", &text, &ReadOptions::default()).unwrap_err();
        assert_eq!(error.line, Some(3));
        assert!(error.fields.contains(&EncodeField::Units), "{error}");
        let space_with = |units, screen| {
            let options = ReadOptions {
                units: Some(units),
                screen,
                ..ReadOptions::default()
            };
            read_text(&Salient360, "t", &text, &options)
                .unwrap()
                .recordings[0]
                .space
        };
        assert_eq!(
            space_with(CoordinateUnit::LonLat, None),
            Some(Space::globe())
        );
        assert_eq!(space_with(CoordinateUnit::Pixels, None), None);
        assert_eq!(
            space_with(CoordinateUnit::Pixels, Some((2048.0, 1024.0))),
            Some(Space::pixels(2048.0, 1024.0))
        );
    }

    #[test]
    fn broken_files_are_errors_with_their_place() {
        for (row, column) in [
            ("0,0.1", 3),
            ("0,a,0.2,0,1,1,1", 2),
            ("x,0.1,0.2,0,1,1,1", 1),
        ] {
            let text = format!("\u{feff}{HEADER}{row}\n");
            let error = read_text(&Salient360, "t", &text, &ReadOptions::default()).unwrap_err();
            assert_eq!(
                (error.line, error.column.unwrap().0),
                (Some(2), column),
                "{row}"
            );
        }
        let missing = "# Idx, longitude\n0,1\n";
        let error = read_text(&Salient360, "t", missing, &ReadOptions::default()).unwrap_err();
        assert!(error.problem.contains("latitude"), "{error}");
        assert!(read_text(&Salient360, "t", "#\n\n", &ReadOptions::default()).is_err());
    }

    #[test]
    fn a_published_file_is_read() {
        let Some(path) = shared_file("salient360_videos_H/10_Cows_fixations.csv") else {
            return;
        };
        let (read, recognised) = read_file(&Salient360, &path, &ReadOptions::default()).unwrap();
        assert_eq!(recognised, "salient360");
        assert_eq!(read.recordings.len(), 57);
        assert!(read.recordings.iter().all(|one| one.fixations.len() == 100));
        assert!(read.dropped.is_empty());
        let (first, last) = (&read.recordings[0], &read.recordings[56]);
        assert_eq!(first.stimulus.as_deref(), Some("10_Cows"));
        assert_eq!(last.participant, "observer-057");
        assert_eq!(
            first.fixations[0],
            (8.010131275379972e-4, 0.5306069490392065, Some(200.0), None)
        );
        assert_eq!(
            last.fixations[99],
            (0.9448117919911966, 0.558274617755397, Some(200.0), None)
        );
    }
}
