use super::*;
use crate::Dropped;
use crate::Space;
use crate::readers::FORMATS;
use crate::readers::recorder::{Recorder, read_text, shared_file};
use std::path::Path;

fn read(text: &str) -> Result<Recorder, ReadError> {
    read_text(&VisualSearchJson, "t.json", text, &ReadOptions::default())
}

fn read_file(path: &Path) -> Recorder {
    let mut recorder = Recorder::default();
    let input = Input::open(path).unwrap();
    let head = input.head();
    let first = FORMATS
        .iter()
        .find(|format| format.recognises(&head))
        .unwrap();
    assert_eq!(first.name(), "visual-search-json");
    first
        .read(input, &ReadOptions::default(), &mut recorder)
        .unwrap();
    recorder
}

#[test]
fn the_test_file_is_read() {
    let read = read_file(Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/formats/visual-search-json.json"
    )));
    assert_eq!(read.recordings.len(), 3);
    let kitchen = &read.recordings[0];
    assert_eq!(
        (kitchen.participant.as_str(), kitchen.stimulus.as_deref()),
        ("07", Some("kitchen.jpg"))
    );
    assert_eq!(kitchen.space, Some(Space::pixels(1024.0, 768.0)));
    assert_eq!(kitchen.fixations[1], (300.5, 100.25, Some(185.0), None));
    assert_eq!(read.recordings[1].fixations.len(), 2);
    assert_eq!(read.recordings[1].fixations[1].2, Some(150.0));
    assert_eq!(read.recordings[2].fixations.len(), 1);
    assert_eq!(read.dropped[&Dropped::Lost], 1);
    assert_eq!(read.dropped[&Dropped::NegativeDuration], 1);
    assert!(
        read.assumed
            .iter()
            .any(|text| text.contains("more durations"))
    );
}

#[test]
fn an_endless_record_is_an_error_and_not_a_full_memory() {
    let record = |spaces: usize| {
        let spaces = " ".repeat(spaces);
        format!(r#""a.jpg": {{"subject": 1, "X": [1], "Y": [2{spaces}]}}"#)
    };
    let error = read(&format!("{{{}}}", record(MAX_RECORD_BYTES))).unwrap_err();
    assert!(error.problem.contains("more than 16 MiB"), "{error}");
    // The limit is for each record, not for the file.
    let half = record(MAX_RECORD_BYTES / 2 + 1);
    assert!(read(&format!("{{{half}, {half}}}")).is_ok());
}

#[test]
fn lists_of_records_with_names_and_tasks_are_read() {
    let text = r#"[{"name": "1.jpg", "subject": 2, "task": "fork", "X": [1], "Y": [2], "T": [3]},
        {"name": "2.jpg", "subject": 2, "X": [1], "Y": [2]}]"#;
    let read = read(text).unwrap();
    assert_eq!(read.recordings[0].stimulus.as_deref(), Some("fork/1.jpg"));
    assert_eq!(read.recordings[0].participant, "2");
    assert_eq!(read.recordings[0].space, None);
    assert_eq!(read.recordings[1].fixations, [(1.0, 2.0, None, None)]);
}

#[test]
fn byte_order_marks_and_utf_16_are_read() {
    let text = "\u{feff}{\r\n\"a\": {\"subject\": \"p\", \"X\": [1], \"Y\": [2], \"T\": [3]}\r\n}";
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [text.as_bytes().to_vec(), utf16] {
        let input = Input::from_bytes("t.json", bytes).unwrap();
        assert!(VisualSearchJson.recognises(&input.head()));
        let mut recorder = Recorder::default();
        VisualSearchJson
            .read(input, &ReadOptions::default(), &mut recorder)
            .unwrap();
        assert_eq!(recorder.recordings[0].fixations.len(), 1);
    }
}

#[test]
fn errors_name_line_and_column_and_quote_nothing() {
    for (text, line, words) in [
        (
            "{\"a\": {\"subject\": \"Eve\",\n\"X\": [1, 2], \"Y\": [1], \"T\": [1]}}",
            2,
            "2 X, 1 Y and 1 T",
        ),
        (
            "{\"a\": {\"subject\": \"Eve\",\n\n\"X\": [1, 2], \"Y\": [1, 2], \"T\": [1]}}",
            3,
            "2 X, 2 Y and 1 T",
        ),
        (
            "{\"a\": {\"subject\": \"Eve\",\n\"X\": [\"Eve\"]}}",
            2,
            "not of the expected kind",
        ),
        (
            "{\"a\": {\"subject\": \"Eve\",\n\"X\": [NaN]}}",
            2,
            "not valid JSON",
        ),
        (
            "{\"a\": {\"subject\": \"Eve\",\n\"X\": [1",
            2,
            "ends in the middle",
        ),
        ("{\"a\": {\"X\": [], \"Y\": []}}", 1, "no \"subject\""),
        ("{\"a\": {\"subject\": \"Eve\",\n\"Y\": []}}", 2, "no \"X\""),
        ("{\"name\": \"Eve\"}", 1, "not of the expected kind"),
        ("3", 1, "not of the expected kind"),
        ("", 1, "ends in the middle"),
        ("{} {}", 1, "not valid JSON"),
    ] {
        let error = read(text).err().unwrap_or_else(|| panic!("{text}"));
        assert!(error.problem.contains(words), "{text}: {error}");
        assert!(
            !error.to_string().contains("Eve") && !error.remedy.is_empty(),
            "{error}"
        );
        assert_eq!(error.line, Some(line), "{text}: {error}");
        assert!(error.column.is_some());
    }
    // Depth is bounded, so that the stack cannot overflow.
    assert!(read(&"[".repeat(100_000)).is_err());
}

#[test]
fn published_files_are_read() {
    // Scanpaths, fixations, and scanpaths with more durations than positions, counted with Python's json module.
    for (subject, scanpaths, fixations) in [
        ("01", 132, 735),
        ("02", 131, 678),
        ("03", 130, 867),
        ("04", 133, 741),
    ] {
        let path = format!("visual_search_scanpaths/interiors/subj{subject}_scanpaths.json");
        let Some(path) = shared_file(&path) else {
            return;
        };
        let read = read_file(&path);
        assert_eq!(read.recordings.len(), scanpaths);
        assert!(
            read.recordings
                .iter()
                .all(|recording| recording.participant == subject)
        );
        let total: usize = read
            .recordings
            .iter()
            .map(|recording| recording.fixations.len())
            .sum();
        assert_eq!(total, fixations);
        assert!(read.dropped.is_empty());
        let image = Space::pixels(1024.0, 768.0);
        for recording in &read.recordings {
            assert_eq!(recording.space, Some(image));
            assert!(recording.fixations.iter().all(|(x, y, duration, _)| {
                (0.0..=1023.0).contains(x) && (0.0..=767.0).contains(y) && duration.is_some()
            }));
        }
        if subject == "01" {
            assert_eq!(
                read.recordings[0].stimulus.as_deref(),
                Some("grayscale_11_opensource.jpg")
            );
            assert_eq!(read.recordings[0].fixations[0].0, 623.5);
            assert_eq!(read.recordings[0].fixations[0].1, 758.9);
        }
    }
}
