//! Gaze on 360° videos of Xu et al. (CVPR 2018): one headerless row per video frame,
//! `frame,12,forward,0.48,0.55,eye,0.49,0.52`.
//!
//! `forward` is the head and `eye` the gaze, both as fractions of the equirectangular frame with the origin at the bottom
//! left. The files do not say the frame rate, which differs from video to video.

use super::{Format, SupportedOptions, has_only, names_by_convention, oriented};
use crate::{
    EncodeField, Head, Input, Kind, NamesInFile, ReadError, ReadOptions, Recording, Row, RowChoice,
    Rows, Sample, Sink, Space,
};

pub(super) struct Xu360;

/// The frame rate of most films; the videos of the data set have 24 to 60 frames per second.
const ASSUMED_RATE_HZ: f64 = 25.0;

const COLUMNS: [&str; 8] = [
    "frame", "number", "forward", "head x", "head y", "eye", "gaze x", "gaze y",
];
const NUMBER: usize = 1;
const GAZE_X: usize = 6;
const GAZE_Y: usize = 7;

impl Format for Xu360 {
    fn name(&self) -> &'static str {
        "xu360"
    }

    fn title(&self) -> &'static str {
        "Gaze on 360° videos of Xu et al., CVPR 2018"
    }

    fn accepts(&self) -> SupportedOptions {
        SupportedOptions {
            units: false,
            time_unit: false,
            ..SupportedOptions::default()
        }
    }

    fn recognises(&self, head: &Head) -> bool {
        let mut fields = head.first_row().split(',').map(str::trim);
        fields.next() == Some("frame")
            && fields
                .next()
                .is_some_and(|number| number.parse::<u64>().is_ok())
            && fields.next() == Some("forward")
            && fields.nth(2) == Some("eye")
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        has_only(RowChoice::Samples, &input, options)?;
        if input.head().first_row().is_empty() {
            return Err(ReadError::new(input.name(), "the file is empty")
                .with_remedy("expected rows such as frame,1,forward,0.48,0.55,eye,0.49,0.52"));
        }
        let (participant, stimulus) =
            names_by_convention(&input, options, names_in_path(&input), sink)?;
        let rate_hz = options.rate_hz.unwrap_or(ASSUMED_RATE_HZ);
        if options.rate_hz.is_none() {
            sink.assumed(
                "25 video frames per second: the files do not say, and the videos differ",
                &[EncodeField::Rate],
            );
        }
        let recording = sink.recording(&Recording {
            participant: &participant,
            stimulus: stimulus.as_deref(),
            kind: Kind::Gaze {
                rate_hz: Some(rate_hz),
            },
            space: Some(oriented(Space::panorama().flipped(), options)),
        })?;
        let names = COLUMNS.map(str::to_string).to_vec();
        let mut rows = Rows::with_names(input.into_lines(), names, b',');
        while let Some(row) = rows.next_row()? {
            check_words(&row)?;
            let frame = row.number(NUMBER)?;
            let point = row
                .number_or_missing(GAZE_X)?
                .zip(row.number_or_missing(GAZE_Y)?);
            sink.sample(
                recording,
                Sample {
                    // The first frame is number 1.
                    time_ms: Some((frame - 1.0) * 1000.0 / rate_hz),
                    point,
                    aoi: None,
                },
            );
        }
        Ok(())
    }
}

/// Only the words between the numbers distinguish this format from other rows of numbers.
fn check_words(row: &Row<'_>) -> Result<(), ReadError> {
    for (column, word) in [(0, "frame"), (2, "forward"), (5, "eye")] {
        if row.text(column) != word {
            return Err(row
                .error(column, format!("expected the word \"{word}\""))
                .with_remedy("rows look like frame,1,forward,0.48,0.55,eye,0.49,0.52"));
        }
    }
    Ok(())
}

/// `video028_p003.txt`, or as the data set has it: `p003/028._…_ori_0.txt`.
fn names_in_path(input: &Input) -> NamesInFile {
    let stem = input.stem();
    if let Some((video, person)) = stem.split_once('_')
        && is_numbered(video, "video")
        && is_numbered(person, "p")
    {
        return NamesInFile {
            participant: Some(person.to_string()),
            stimulus: Some(video.to_string()),
        };
    }
    let folder = input.name().rsplit(['/', '\\']).nth(1).unwrap_or("");
    if let Some((video, _)) = stem.split_once("._")
        && is_numbered(video, "")
        && is_numbered(folder, "p")
    {
        return NamesInFile {
            participant: Some(folder.to_string()),
            stimulus: Some(format!("video{video}")),
        };
    }
    NamesInFile::default()
}

fn is_numbered(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NamePattern;
    use crate::readers::recorder::{read_file, read_text, shared_file, tiny_file};

    #[test]
    fn the_test_file_is_read() {
        let (read, recognised) = read_file(
            &Xu360,
            &tiny_file("video007_p012.txt"),
            &ReadOptions::default(),
        )
        .unwrap();
        assert_eq!(recognised, "xu360");
        let [recording] = read.recordings.as_slice() else {
            panic!("one recording");
        };
        assert_eq!(recording.participant, "p012");
        assert_eq!(recording.stimulus.as_deref(), Some("video007"));
        assert_eq!(recording.space, Some(Space::panorama().flipped()));
        assert_eq!(
            recording.kind,
            Kind::Gaze {
                rate_hz: Some(25.0)
            }
        );
        assert_eq!(recording.samples.len(), 6);
        assert_eq!(recording.samples[0], (Some(0.0), Some((0.31, 0.62)), None));
        // Frame 4 is missing from the file, the gaze of frame 5 is lost.
        assert_eq!(recording.samples[3], (Some(160.0), None, None));
        assert_eq!(read.assumed.len(), 1);
    }

    #[test]
    fn a_known_rate_is_used_and_y_can_be_flipped() {
        let options = ReadOptions {
            rate_hz: Some(50.0),
            flip_y: true,
            name_pattern: Some(NamePattern::parse("{participant}-{stimulus}").unwrap()),
            ..ReadOptions::default()
        };
        let text = "\u{feff}frame,2,forward,0,0,eye,0.5,0.25\r\n\r\n";
        let read = read_text(&Xu360, "a-b.txt", text, &options).unwrap();
        let recording = &read.recordings[0];
        assert_eq!(recording.samples, [(Some(20.0), Some((0.5, 0.25)), None)]);
        assert_eq!(recording.space, Some(Space::panorama()));
        assert_eq!(
            (
                recording.participant.as_str(),
                recording.stimulus.as_deref()
            ),
            ("a", Some("b"))
        );
        assert!(read.assumed.is_empty());
    }

    #[test]
    fn names_come_from_the_folders_of_the_data_set() {
        let row = "frame,1,forward,0,0,eye,0.5,0.25\n";
        let name = "Gaze_txt_files/p045/179._2017-11-01_ori_0.txt";
        let read = read_text(&Xu360, name, row, &ReadOptions::default()).unwrap();
        let recording = &read.recordings[0];
        assert_eq!(recording.participant, "p045");
        assert_eq!(recording.stimulus.as_deref(), Some("video179"));
        let read = read_text(&Xu360, "x/video_p1.txt", row, &ReadOptions::default()).unwrap();
        assert_eq!(read.recordings[0].participant, "video_p1");
    }

    #[test]
    fn broken_rows_are_errors_with_their_place() {
        let good = "frame,1,forward,0,0,eye,0.5,0.25\n";
        for (bad, column) in [
            ("frame,2,forward,0,0,eye,0.5", 8),
            ("frame,2,forward,0,0,head,0.5,0.5", 6),
            ("frame;2;forward;0;0;eye;0.5;0.5", 1),
            ("frame,x,forward,0,0,eye,0.5,0.5", 2),
        ] {
            let text = format!("{good}{bad}\n");
            let error = read_text(&Xu360, "t", &text, &ReadOptions::default()).unwrap_err();
            assert_eq!(error.line, Some(2), "{error}");
            assert_eq!(error.column.unwrap().0, column, "{bad}");
        }
        assert!(read_text(&Xu360, "t", "\n", &ReadOptions::default()).is_err());
        let options = ReadOptions {
            rows: RowChoice::Fixations,
            ..ReadOptions::default()
        };
        assert!(read_text(&Xu360, "t", good, &options).is_err());
    }

    #[test]
    fn a_published_file_is_read() {
        let Some(path) = shared_file("xu_cvpr18_360gaze/video028_p003.txt") else {
            return;
        };
        let (read, recognised) = read_file(&Xu360, &path, &ReadOptions::default()).unwrap();
        assert_eq!(recognised, "xu360");
        let recording = &read.recordings[0];
        assert_eq!(recording.participant, "p003");
        assert_eq!(recording.stimulus.as_deref(), Some("video028"));
        assert_eq!(recording.samples.len(), 1024);
        assert_eq!(recording.samples[0].1, Some((0.4920959, 0.5222855)));
        assert_eq!(
            recording.samples[1023],
            (Some(40_920.0), Some((0.2316982, 0.5069977)), None)
        );
        assert!(recording.samples.iter().all(|sample| sample.1.is_some()));
    }
}
