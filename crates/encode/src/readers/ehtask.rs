//! Recordings of the EHTask data set (eye and head movements in 360° videos).
//!
//! A raw recording has no header and eight columns, separated by tabs or spaces: time (ms), frame of the video,
//! longitude and latitude of the head (degrees), position of the gaze on the display (0 to 1), longitude and latitude
//! of the gaze in the world (degrees). Two other kinds of files are read as well: files with only the gaze's longitude
//! and latitude, one row per video frame at 30 per second, and files with a header that names these two columns.

use super::{Format, SupportedOptions, has_only, names_by_convention, oriented};
use crate::{
    Columns, EncodeField, Head, Input, Kind, NamesInFile, ReadError, ReadOptions, Recording,
    RowChoice, Rows, Sample, Sink, Space, TimeUnit, guess_delimiter, is_missing, parse_number,
};

pub(super) struct Ehtask;

/// The frame rate of the videos, for files without times.
const VIDEO_RATE_HZ: f64 = 30.0;

const RAW: [&str; 8] = [
    "time",
    "frame",
    "head_longitude",
    "head_latitude",
    "display_x",
    "display_y",
    "gaze_longitude",
    "gaze_latitude",
];

const LONGITUDE: [&str; 5] = [
    "gaze_longitude",
    "gaze_long",
    "gaze_lon",
    "longitude",
    "lon",
];
const LATITUDE: [&str; 4] = ["gaze_latitude", "gaze_lat", "latitude", "lat"];
const TIME: [&str; 2] = ["time", "timestamp"];

impl Format for Ehtask {
    fn name(&self) -> &'static str {
        "ehtask"
    }

    fn title(&self) -> &'static str {
        "EHTask gaze on 360° videos"
    }

    fn accepts(&self) -> SupportedOptions {
        SupportedOptions {
            units: false,
            ..SupportedOptions::default()
        }
    }

    fn recognises(&self, head: &Head) -> bool {
        // Two columns of numbers could be anything, so the full layout or a file name of the data set is required.
        let fields: Vec<&str> = fields_of(head.first_row()).collect();
        let numbers: Vec<f64> = fields.iter().filter_map(|text| text.parse().ok()).collect();
        let named = names_in_stem(stem_of(&head.name)).participant.is_some();
        match numbers.as_slice() {
            [time, frame, head_x, head_y, x, y, gaze_x, gaze_y] if fields.len() == RAW.len() => {
                let whole = |number: &f64| number.fract() == 0.0 && *number >= 0.0;
                let on_sphere =
                    |x: &f64, y: &f64| (-360.0..=360.0).contains(x) && (-90.0..=90.0).contains(y);
                let on_display = |number: &f64| (-1.0..=2.0).contains(number);
                named
                    || whole(time)
                        && whole(frame)
                        && on_sphere(head_x, head_y)
                        && on_display(x)
                        && on_display(y)
                        && on_sphere(gaze_x, gaze_y)
            }
            [_, _] => named && fields.len() == 2,
            _ => false,
        }
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        has_only(RowChoice::Samples, &input, options)?;
        let (participant, stimulus) =
            names_by_convention(&input, options, names_in_stem(input.stem()), sink)?;
        let mut rows = open(input)?;
        let x = rows.columns().require(&LONGITUDE)?;
        let y = rows.columns().require(&LATITUDE)?;
        let time = rows.columns().find(&TIME);
        let time_unit = time_unit(rows.columns(), time, options, sink);
        let rate_hz = match time {
            Some(_) => options.rate_hz,
            None => {
                if options.rate_hz.is_none() {
                    sink.assumed(
                        "30 rows per second, the frame rate of EHTask's videos",
                        &[EncodeField::Rate],
                    );
                }
                options.rate_hz.or(Some(VIDEO_RATE_HZ))
            }
        };
        let recording = sink.recording(&Recording {
            participant: &participant,
            stimulus: stimulus.as_deref(),
            kind: Kind::Gaze { rate_hz },
            space: Some(oriented(Space::globe(), options)),
        })?;
        while let Some(row) = rows.next_row()? {
            let point = row.number_or_missing(x)?.zip(row.number_or_missing(y)?);
            let time_ms = match time {
                Some(column) => Some(row.number(column)? * time_unit.in_ms()),
                None => None,
            };
            sink.sample(
                recording,
                Sample {
                    time_ms,
                    point,
                    aoi: None,
                },
            );
        }
        Ok(())
    }
}

/// The table, with column names even if the file has none.
fn open(input: Input) -> Result<Rows, ReadError> {
    let head = input.head();
    let first = head.first_row();
    if first.is_empty() {
        return Err(ReadError::new(input.name(), "the file is empty").with_remedy(
            "expected eight columns: time, frame, head longitude and latitude, display x and y, gaze longitude and \
             latitude",
        ));
    }
    let fields: Vec<&str> = fields_of(first).collect();
    let is_header = !fields
        .iter()
        .all(|text| is_missing(text) || parse_number(text, false).is_some());
    if is_header {
        return Rows::open(input);
    }
    let names: &[&str] = match fields.len() {
        8 => &RAW,
        2 => &["gaze_longitude", "gaze_latitude"],
        count => {
            return Err(ReadError::new(
                input.name(),
                format!("the rows have {count} columns and no header says what they are"),
            )
            .with_remedy(
                "expected time, frame, head longitude and latitude, display x and y, gaze longitude and latitude; or \
                 longitude and latitude only; or a header with these names",
            ));
        }
    };
    let names = names.iter().map(ToString::to_string).collect();
    let delimiter = guess_delimiter(first);
    Ok(Rows::with_names(input.into_lines(), names, delimiter))
}

fn time_unit(
    columns: &Columns,
    time: Option<usize>,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> TimeUnit {
    let written = time.and_then(|column| columns.unit(column));
    if let Some(unit) = options.time_unit.or(written.and_then(TimeUnit::parse)) {
        return unit;
    }
    if time.is_some() {
        sink.assumed("times are in milliseconds", &[EncodeField::TimeUnit]);
    }
    TimeUnit::Milliseconds
}

fn fields_of(line: &str) -> impl Iterator<Item = &str> {
    line.split(['\t', ' ', ',', ';'])
        .filter(|field| !field.is_empty())
}

fn stem_of(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.split('.').next().unwrap_or(file)
}

/// `User_01_Video_03_Task_2.txt`. The task is part of the stimulus: the same video with another task is a different
/// stimulus.
fn names_in_stem(stem: &str) -> NamesInFile {
    let parts: Vec<&str> = stem.split('_').collect();
    match parts.as_slice() {
        ["User", user, "Video", video, "Task", task] => NamesInFile {
            participant: Some(format!("User_{user}")),
            stimulus: Some(format!("Video_{video}_Task_{task}")),
        },
        _ => NamesInFile::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::recorder::{read_file, read_text, recognised, tiny_file};

    #[test]
    fn the_test_file_is_read() {
        let path = tiny_file("User_07_Video_02_Task_1.txt");
        let (read, recognised) = read_file(&Ehtask, &path, &ReadOptions::default()).unwrap();
        assert_eq!(recognised, "ehtask");
        let [recording] = read.recordings.as_slice() else {
            panic!("one recording");
        };
        assert_eq!(recording.participant, "User_07");
        assert_eq!(recording.stimulus.as_deref(), Some("Video_02_Task_1"));
        assert_eq!(recording.space, Some(Space::globe()));
        assert_eq!(recording.kind, Kind::Gaze { rate_hz: None });
        assert_eq!(
            recording.samples,
            [
                (Some(1000.0), Some((-10.5, 4.25)), None),
                (Some(1010.0), Some((-10.0, 4.0)), None),
                (Some(1020.0), None, None),
                (Some(1031.0), Some((179.5, -45.0)), None),
            ]
        );
        assert_eq!(read.assumed, ["times are in milliseconds"]);
    }

    #[test]
    fn spaces_headers_and_bare_longitudes_are_read() {
        let spaces = "\u{feff}5 1 0 0 0.5 0.5 10 20\r\n15 1 0 0 0.5 0.5 11  21\r\n";
        let input = Input::from_bytes("rec.txt", spaces.into()).unwrap();
        assert_eq!(recognised(&input), "ehtask");
        let read = read_text(&Ehtask, "rec.txt", spaces, &ReadOptions::default()).unwrap();
        assert_eq!(read.recordings[0].participant, "rec");
        assert_eq!(
            read.recordings[0].samples[1],
            (Some(15.0), Some((11.0, 21.0)), None)
        );

        let header = "time [us],frame,gaze_long,gaze_lat\n1000,1,10,20\n";
        let read = read_text(&Ehtask, "t", header, &ReadOptions::default()).unwrap();
        assert_eq!(
            read.recordings[0].samples,
            [(Some(1.0), Some((10.0, 20.0)), None)]
        );
        assert_eq!(read.assumed, [crate::readers::named_after("input", &[])]);

        let bare = "10\t20\nNaN\tNaN\n";
        let name = "User_1_Video_2_Task_3.txt";
        let input = Input::from_bytes(name, bare.into()).unwrap();
        assert_eq!(recognised(&input), "ehtask");
        let read = read_text(&Ehtask, name, bare, &ReadOptions::default()).unwrap();
        let recording = &read.recordings[0];
        assert_eq!(
            recording.kind,
            Kind::Gaze {
                rate_hz: Some(30.0)
            }
        );
        assert_eq!(
            recording.samples,
            [(None, Some((10.0, 20.0)), None), (None, None, None)]
        );
        assert_eq!(read.assumed.len(), 1);
    }

    #[test]
    fn unrelated_rows_of_numbers_are_not_recognised() {
        for text in [
            "1 2\n",
            "1 2 3 4 5 6 7 8\n",
            "1.5 1 0 0 0.5 0.5 10 20\n",
            "1 1 0 0 0.5 0.5 10\n",
            "1 1 0 0 0.5 0.5 10 20 30\n",
            "a b c d e f g h\n",
            "",
        ] {
            let input = Input::from_bytes("t.txt", text.into()).unwrap();
            assert_ne!(recognised(&input), "ehtask", "{text}");
        }
    }

    #[test]
    fn broken_files_are_errors_with_their_place() {
        let good = "5\t1\t0\t0\t0.5\t0.5\t10\t20\n";
        for (row, column) in [
            ("5\t1\t0\t0\t0.5\t0.5\t10", 8),
            ("5\t1\t0\t0\t0.5\t0.5\tx\t20", 7),
            ("NaN\t1\t0\t0\t0.5\t0.5\t1\t2", 1),
            ("5,1,0,0,0.5,0.5,10,20", 7),
        ] {
            let text = format!("{good}{row}\n");
            let error = read_text(&Ehtask, "t", &text, &ReadOptions::default()).unwrap_err();
            assert_eq!(
                (error.line, error.column.unwrap().0),
                (Some(2), column),
                "{row}"
            );
        }
        for text in ["", "1 2 3\n", "time,frame\n1,2\n"] {
            let error = read_text(&Ehtask, "t", text, &ReadOptions::default()).unwrap_err();
            assert!(!error.remedy.is_empty(), "{text}");
        }
    }
}
