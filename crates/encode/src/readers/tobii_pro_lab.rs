//! Tobii Pro Lab's data export (TSV, often UTF-16).

use super::tobii_columns::Layout;
use super::tobii_table::read_table;
use super::{Format, SupportedOptions, names_of_unnamed_rows};
use crate::{Columns, Head, Input, NamesInFile, ReadError, ReadOptions, Rows, Sink};

pub(crate) struct TobiiProLab;

impl Format for TobiiProLab {
    fn name(&self) -> &'static str {
        "tobii-pro-lab"
    }

    fn title(&self) -> &'static str {
        "Tobii Pro Lab data export"
    }

    fn accepts(&self) -> SupportedOptions {
        SupportedOptions {
            eye: true,
            ..SupportedOptions::default()
        }
    }

    fn recognises(&self, head: &Head) -> bool {
        let columns = Columns::of_head(head);
        let typical = [
            "Recording timestamp",
            "Eye movement type",
            "Gaze event type",
            "Presented Stimulus name",
            "Participant name",
        ];
        let typical = typical
            .iter()
            .filter(|name| columns.find(&[name]).is_some())
            .count();
        let options = ReadOptions::default();
        let layout = Layout::of(&columns);
        let has_points = layout.fixation_point(&columns, &options).is_some()
            || layout.gaze_point(&columns, &options).is_some()
            || !layout.snapshots.is_empty();
        !head.binary && typical >= 2 && has_points && !is_code(&columns)
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        let names = names_of_unnamed_rows(&input, options, NamesInFile::default())?;
        let head = input.head();
        let rows = Rows::open(input)?;
        if is_code(rows.columns()) {
            return Err(ReadError::new(
                rows.name(),
                "this is the source code of a program, not a table",
            )
            .with_remedy("save only the table in a file, beginning with its header line"));
        }
        read_table(rows, &head, names, options, sink)
    }
}

/// Whether the header looks like a line of source code that contains a table.
fn is_code(columns: &Columns) -> bool {
    columns.names().first().is_some_and(|name| {
        name.contains('`')
            || ["export ", "const ", "let ", "var ", "import "]
                .iter()
                .any(|word| name.starts_with(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::common::testing::{
        assert_damage_does_not_panic, read_path, read_recognised, recognised, testdata,
    };
    use crate::readers::recorder::{Recorder, read_text, shared_file};
    use crate::{Dropped, EncodeField, EncodeNote, Kind, NoEffect, RowChoice, Space};

    fn check_tiny(read: &Recorder) {
        let [sea, hill, second] = read.recordings.as_slice() else {
            panic!("{read:?}")
        };
        assert_eq!(sea.participant, "P01");
        assert_eq!(sea.stimulus.as_deref(), Some("sea"));
        assert_eq!(sea.space, Some(Space::pixels(1920.0, 1080.0)));
        assert_eq!(
            sea.fixations,
            [
                (960.0, 540.0, Some(250.0), Some("boat".into())),
                (100.0, 200.0, Some(117.0), None)
            ]
        );
        // The fixation that began on the sea is not counted on the hill again.
        assert_eq!(hill.stimulus.as_deref(), Some("hill"));
        assert_eq!(hill.fixations, [(300.0, 400.0, Some(83.0), None)]);
        assert_eq!(second.participant, "P01 (Recording2)");
        assert_eq!(second.fixations.len(), 1);
        for (reason, count) in [
            (Dropped::OtherEvent, 4),
            (Dropped::SameFixation, 3),
            (Dropped::NoStimulus, 2),
            (Dropped::Lost, 1),
        ] {
            assert_eq!(read.dropped[&reason], count, "{reason:?}");
        }
    }

    #[test]
    fn the_test_file_is_read() {
        let plain = ReadOptions::default();
        check_tiny(&read_recognised(&TobiiProLab, "tobii-pro-lab.tsv", &plain));
        // The same as Pro Lab likes to write it: UTF-16 with a mark and Windows line ends.
        let text = std::fs::read_to_string(testdata("tobii-pro-lab.tsv")).unwrap();
        let text = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let input = Input::from_bytes("t.tsv", bytes).unwrap();
        assert_eq!(recognised(&input.head()), Some("tobii-pro-lab"));
        let mut recorder = Recorder::default();
        TobiiProLab.read(input, &plain, &mut recorder).unwrap();
        check_tiny(&recorder);
        assert_damage_does_not_panic(&TobiiProLab, "tobii-pro-lab.tsv");
    }

    #[test]
    fn samples_of_the_test_file_are_read() {
        let samples = ReadOptions {
            rows: RowChoice::Samples,
            ..ReadOptions::default()
        };
        let read = read_recognised(&TobiiProLab, "tobii-pro-lab.tsv", &samples);
        let sea = &read.recordings[0];
        assert_eq!(sea.kind, Kind::Gaze { rate_hz: None });
        assert_eq!(
            sea.samples[0],
            (Some(1000.0), Some((955.0, 541.0)), Some("boat".into()))
        );
        let lost = (Some(1133.336), None, None);
        assert!(sea.samples.contains(&lost), "{:?}", sea.samples);
        assert_eq!(read.dropped[&Dropped::NoStimulus], 2);
        assert_eq!(read.dropped[&Dropped::OtherEvent], 2);
    }

    #[test]
    fn old_column_names_without_an_index_are_read() {
        let text = "Recording timestamp,Participant name,Presented Media name,Gaze event type,Gaze event duration,Fixation X,Fixation Y\n\
                    0,A,m,Fixation,100,1,2\n17,A,m,Fixation,100,1,2\n33,A,m,Saccade,20,,\n50,A,m,Fixation,100,1,2\n67,A,m,Fixation,-3,4,5\n84,A,m,Fixation,60,,\n";
        let read = read_text(&TobiiProLab, "t.csv", text, &ReadOptions::default()).unwrap();
        assert_eq!(
            read.recordings[0].fixations,
            [(1.0, 2.0, Some(100.0), None), (1.0, 2.0, Some(100.0), None)]
        );
        assert_eq!(read.recordings[0].space, None);
        assert_eq!(read.dropped[&Dropped::SameFixation], 1);
        assert_eq!(read.dropped[&Dropped::NegativeDuration], 1);
        assert_eq!(read.dropped[&Dropped::Lost], 1);
        assert!(!read.assumed.iter().any(|it| it.contains("participant")));
        let unnamed = text.replacen(",A,", ",,", 1);
        let read = read_text(&TobiiProLab, "t.csv", &unnamed, &ReadOptions::default()).unwrap();
        assert_eq!(read.recordings[0].participant, "t");
        let assumed = "rows without a participant belong to one who is named after the file";
        assert!(read.assumed.contains(&assumed.to_string()));
    }

    #[test]
    fn a_stimulus_is_unused_if_the_file_has_a_column_of_stimuli() {
        let named = ReadOptions {
            stimulus: Some("walk".into()),
            ..ReadOptions::default()
        };
        let read = read_recognised(&TobiiProLab, "tobii-pro-lab.tsv", &named);
        assert_eq!(read.recordings[0].stimulus.as_deref(), Some("sea"));
        let unused = EncodeNote::NoEffect {
            field: EncodeField::Stimulus,
            reason: NoEffect::NamedInColumn,
        };
        assert_eq!(read.notes, [unused]);
        let text = "Eye movement type\tFixation point X\tFixation point Y\nFixation\t1\t2\n";
        let read = read_text(&TobiiProLab, "t.tsv", text, &named).unwrap();
        assert_eq!(read.recordings[0].stimulus.as_deref(), Some("walk"));
        assert!(read.notes.is_empty(), "{:?}", read.notes);
    }

    #[test]
    fn errors_are_reported() {
        let plain = ReadOptions::default();
        let error = |text: &str| read_text(&TobiiProLab, "t.tsv", text, &plain).unwrap_err();
        assert!(error("").problem.contains("empty"));
        let missing = error("Recording timestamp\tEye movement type\n");
        assert!(missing.problem.contains("Gaze point X"), "{missing}");
        let fixations = ReadOptions {
            rows: RowChoice::Fixations,
            ..plain.clone()
        };
        let text = "Recording timestamp\tGaze point X\tGaze point Y\n";
        let missing = read_text(&TobiiProLab, "t.tsv", text, &fixations).unwrap_err();
        assert!(missing.problem.contains("Eye movement type"));
        let header = "Eye movement type\tFixation point X\tFixation point Y";
        let short = error(&format!("{header}\nFixation\t1\n"));
        assert_eq!(short.line, Some(2));
        let unknown = "Eye movement type\tGaze point X [mm]\tGaze point Y [mm]\n";
        assert!(error(unknown).remedy.contains("pixels"));
    }

    #[test]
    fn published_rows_of_glasses_are_read() {
        let Some(path) = shared_file("tobii_prolab_snippets/TobiiRowParser.test.data.ts") else {
            return;
        };
        // The rows are in the source code of a program: that file is rejected, and its quoted table is
        // read.
        let head = Input::open(&path).unwrap().head();
        assert_eq!(recognised(&head), None);
        let explained = crate::explain_unknown(&head);
        assert!(explained.problem.contains("source code"), "{explained}");
        let plain = ReadOptions::default();
        let refused = read_path(&TobiiProLab, &path, &plain).unwrap_err();
        assert!(refused.problem.contains("source code"), "{refused}");
        let program = std::fs::read_to_string(&path).unwrap();
        let text = program.split('`').nth(1).unwrap();
        let head = Input::from_bytes("t.tsv", text.into()).unwrap().head();
        assert_eq!(recognised(&head), Some("tobii-pro-lab"));
        let read = read_text(&TobiiProLab, "t.tsv", text, &plain).unwrap();
        assert_eq!(read.recordings.len(), 1);
        let snapshot = &read.recordings[0];
        assert_eq!(snapshot.participant, "Y1");
        assert_eq!(snapshot.stimulus.as_deref(), Some("geostul_snap"));
        assert_eq!(
            snapshot.fixations,
            [(1213.0, 735.0, Some(922.0), Some("Kameny".into()))]
        );
        // Of 164 rows 27 are the eye tracker's: 4 before the mapping began, 23 of the one mapped fixation.
        assert_eq!(read.dropped[&Dropped::NoStimulus], 4);
        assert_eq!(read.dropped[&Dropped::SameFixation], 22);
        assert_eq!(read.dropped[&Dropped::OtherEvent], 137);
        let scene = ReadOptions {
            stimulus: Some("walk".into()),
            ..plain
        };
        let read = read_text(&TobiiProLab, "t.tsv", text, &scene).unwrap();
        assert_eq!(read.recordings[0].stimulus.as_deref(), Some("walk"));
        assert_eq!(
            read.recordings[0].fixations,
            [(962.0, 647.0, Some(922.0), None)]
        );
    }
}
