//! Cohorts with fixations alongside letters.

use super::{read_text, small, written};
use crate::cohort_file::CohortNote;
use veilpath_metrics::{Cohort, Fixation, Fixations, Screen};

fn with_fixations() -> Cohort {
    let mut cohort = small();
    let screen = Screen::from_settings("1280 x 720 pixels", Some("52 x 29.5 cm from 60 cm"));
    cohort.screen = Some(screen.unwrap());
    let fixation = |x, y, start, duration| Fixation {
        x,
        y,
        start,
        duration,
    };
    let lists = [
        vec![
            fixation(401.5, 90.0, Some(0.0), 212.0),
            fixation(0.1 + 0.2, -3.0, Some(212.25), 1e-7),
        ],
        vec![],
        vec![fixation(1.0, 2.0, None, 3.0)],
    ];
    for (entry, list) in cohort.entries.iter_mut().zip(lists) {
        entry.stimulus = None;
        entry.fixations = Some(Fixations::new(list).unwrap());
    }
    cohort
}

#[test]
fn fixations_are_written_as_documented_and_read_again() {
    let cohort = with_fixations();
    let text = written(&cohort, &[]);
    let expected = "\
# veilpath cohort 1
# alphabet: letters 49
# data: fixations
# grid: 7x7
# screen: 1280 x 720 pixels
# viewing: 52 x 29.5 cm from 60 cm
participant,stimulus,scanpath,fixations
p1,,Aw,401.5 90 212 0;0.30000000000000004 -3 0.0000001 212.25
\"Müller, \"\"A\"\"\",,,
\"#3\",,a,1 2 3
";
    assert_eq!(text, expected);
    // A spreadsheet pads lines, or writes semicolons and quotes fields that contain one.
    let padded = text.replace('\n', ",,\n");
    let mut semicolons = String::new();
    for line in text.lines() {
        let line = match line.split(',').collect::<Vec<_>>()[..] {
            [first, stimulus, letters, fixations] if !line.starts_with('"') => {
                format!("{first};{stimulus};{letters};\"{fixations}\"")
            }
            _ if line.starts_with("\"M") => "\"Müller, \"\"A\"\"\";;;".to_string(),
            _ if line.starts_with("\"#") => "\"#3\";;a;\"1 2 3\"".to_string(),
            _ => line.to_string(),
        };
        semicolons += &format!("{line}\n");
    }
    for text in [text, padded, semicolons] {
        let file = read_text(&text).unwrap();
        assert_eq!(file.cohort, cohort, "{text}");
        assert_eq!(file.cohort.encoding, small().encoding);
        assert!(file.notes.is_empty(), "{:?}", file.notes);
    }
}

#[test]
fn fixations_need_a_screen_and_a_screen_needs_fixations() {
    let text = written(&with_fixations(), &[]);
    let without: String = text
        .lines()
        .filter(|line| !line.starts_with("# screen"))
        .map(|line| format!("{line}\n"))
        .collect();
    let file = read_text(&without).unwrap();
    let ignored = CohortNote::ColumnsIgnored(vec!["fixations".into()]);
    assert_eq!(file.notes, [ignored.to_string()]);
    assert!(file.cohort.entries.iter().all(|it| it.fixations.is_none()));

    let letters = "# veilpath cohort 1\n# screen: 5 x 4 degrees\nparticipant,scanpath\np,AB\n";
    assert_eq!(read_text(letters).unwrap().cohort.screen, None);
}

#[test]
fn errors_do_not_quote_fixations() {
    let text = written(&with_fixations(), &[]);
    for (good, bad, expected) in [
        (";0.3", ";;0.3", "fixation 2 is not three or four numbers"),
        ("1 2 3", "1 2 -3", "fixation 1 has a duration below zero"),
        (" 720 pixels", " 720 px", "the setting \"screen\" must look"),
        ("from 60", "from 0", "must be finite numbers above 0"),
    ] {
        assert!(text.contains(good), "{good}");
        let error = read_text(&text.replace(good, bad)).unwrap_err();
        let shown = error.to_string();
        assert!(shown.contains(expected), "{shown}");
        assert!(!shown.contains("0.3") && !shown.contains("-3"), "{shown}");
    }
}
