//! Files on disk, with a format made for these tests.

use super::*;
use crate::EncodeField;
use crate::{Kind, Rows, Space, readers::names_of};
use std::cell::RefCell;
use std::fs;

/// `x,y` rows under a header, one recording per file, on a screen of 700 × 700.
struct Points;

impl Format for Points {
    fn name(&self) -> &'static str {
        "points"
    }

    fn title(&self) -> &'static str {
        "points made for tests"
    }

    fn recognises(&self, head: &Head) -> bool {
        head.first_line() == "x,y"
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        let (participant, stimulus) = names_of(&input, options, Default::default(), sink)?;
        let mut rows = Rows::open(input)?;
        let recording = Recording {
            participant: &participant,
            stimulus: stimulus.as_deref(),
            kind: Kind::Fixations,
            space: options
                .screen
                .map(|(width, height)| Space::pixels(width, height)),
        };
        while let Some(row) = rows.next_row()? {
            let id = sink.recording(&recording)?;
            sink.fixation(
                id,
                Fixation {
                    x: row.number(0)?,
                    y: row.number(1)?,
                    start_ms: None,
                    duration_ms: None,
                    aoi: None,
                },
            );
        }
        Ok(())
    }
}

/// Encodes a generic table.
fn of_table(text: &str, read: &ReadOptions, options: &LetterOptions) -> Encoded {
    let input = Input::from_bytes("t.csv", text.as_bytes().to_vec()).unwrap();
    let sources = vec![Source::Open(Box::new(input))];
    encode_files(sources, None, read, options, &|_| ControlFlow::Continue(())).unwrap()
}

/// The notes about options without effect.
fn no_effect(summary: &Summary) -> Vec<(EncodeField, NoEffect)> {
    let notes = summary.notes.iter();
    let notes = notes.filter_map(|note| match note {
        EncodeNote::NoEffect { field, reason } => Some((*field, reason.clone())),
        _ => None,
    });
    notes.collect()
}

#[test]
fn coordinates_do_not_matter_to_areas_that_a_column_names() {
    let text = "x,y,duration,aoi\n512.3,384.2,210,face\n700.1,200,180,\n300.1,500,280,hand\n";
    let read = ReadOptions {
        screen: Some((100.0, 100.0)),
        flip_y: true,
        units: Some(crate::CoordinateUnit::Centred),
        ..ReadOptions::default()
    };
    let areas = LetterOptions {
        letter_map: LetterMap::AoiColumn { names: None },
        ..LetterOptions::default()
    };
    let encoded = of_table(text, &read, &areas);
    let reason = NoEffect::AreasInColumn;
    let fields = [EncodeField::Screen, EncodeField::Units, EncodeField::FlipY];
    let expected = fields.map(|field| (field, reason.clone()));
    assert_eq!(no_effect(&encoded.summary), expected);
    let plain = of_table(text, &ReadOptions::default(), &areas);
    assert_eq!(plain.cohort.entries, encoded.cohort.entries);
    let assumed = plain.summary.assumed.iter();
    let assumed: Vec<&str> = assumed.map(|it| it.text.as_str()).collect();
    assert!(!assumed.iter().any(|text| text.contains("coordinates")));
    let kept = LetterOptions {
        keep_fixations: true,
        ..areas
    };
    let read = ReadOptions {
        screen: Some((1000.0, 1000.0)),
        ..ReadOptions::default()
    };
    assert!(no_effect(&of_table(text, &read, &kept).summary).is_empty());
}

/// Areas in a file have the coordinates of the recordings, and may lie beyond the screen.
#[test]
fn a_screen_does_not_limit_areas_in_a_file() {
    let areas = "name,shape,coordinates\nface,rectangle,700 0 800 100\n";
    let areas = Input::from_bytes("aoi.csv", areas.as_bytes().to_vec()).unwrap();
    let options = LetterOptions {
        letter_map: LetterMap::AoiFile(crate::Areas::read(areas).unwrap()),
        ..LetterOptions::default()
    };
    let read = ReadOptions {
        screen: Some((600.0, 600.0)),
        ..ReadOptions::default()
    };
    let encoded = of_table("x,y,duration\n710,50,200\n", &read, &options);
    assert_eq!(encoded.cohort.entries[0].scanpath.len(), 1);
    let expected = [(EncodeField::Screen, NoEffect::AreasInFile)];
    assert_eq!(no_effect(&encoded.summary), expected);
}

#[test]
fn durations_that_are_not_used_have_no_unit() {
    let text = "x,y,duration\n10,20,210\n30,40,180\n";
    let screen = ReadOptions {
        screen: Some((100.0, 100.0)),
        ..ReadOptions::default()
    };
    let seconds = ReadOptions {
        time_unit: Some(crate::TimeUnit::Seconds),
        ..screen.clone()
    };
    let plain = LetterOptions::default();
    let binned = LetterOptions {
        bin_ms: Some(50.0),
        ..LetterOptions::default()
    };
    let assumes = |options| {
        let assumed = of_table(text, &screen, options).summary.assumed;
        assumed.iter().any(|it| it.text.contains("durations"))
    };
    assert!(assumes(&binned) && !assumes(&plain));
    let expected = [(EncodeField::TimeUnit, NoEffect::NoDurationsUsed)];
    assert_eq!(
        no_effect(&of_table(text, &seconds, &plain).summary),
        expected
    );
    let seconds_binned = of_table(text, &seconds, &binned);
    assert!(no_effect(&seconds_binned.summary).is_empty());
}

/// The labels of events say why no row is a fixation.
#[test]
fn a_file_with_only_other_events_lists_them() {
    let rows = "p,SACC,1,1,30\n".repeat(2) + "p,BLINK,1,1,30\n";
    let text = format!("participant,event,x,y,duration\n{rows}");
    let error = error_of_table(&text);
    let problem =
        "no row is a fixation: the labels in the column \"event\" are SACC (2 rows), BLINK (1 row)";
    assert_eq!(error.problem, problem);
    assert_eq!(
        error.fields,
        [EncodeField::Events, EncodeField::EventColumn]
    );
}

/// A fixation without a stimulus is a fixation all the same.
#[test]
fn rows_dropped_for_other_reasons_may_be_fixations() {
    let text = "participant,stimulus,event,x,y,duration\np,s,SACC,1,1,30\np,,FIX,1,1,30\n";
    let error = error_of_table(text);
    assert_eq!(error.problem, "no row has gaze data (2 rows read)");
}

fn error_of_table(text: &str) -> ReadError {
    let input = Input::from_bytes("t.csv", text.into()).unwrap();
    encode_files(
        vec![Source::Open(Box::new(input))],
        None,
        &ReadOptions {
            screen: SCREEN,
            ..ReadOptions::default()
        },
        &LetterOptions::default(),
        &|_| ControlFlow::Continue(()),
    )
    .unwrap_err()
}

const TEST_FORMATS: &[&dyn Format] = &[&Points];

fn encode(
    files: &[(&str, &str)],
    format: Option<&str>,
    screen: Option<(f64, f64)>,
) -> Result<(Encoded, Vec<u64>), ReadError> {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = files
        .iter()
        .map(|(name, text)| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        })
        .collect();
    let read = ReadOptions {
        screen,
        ..ReadOptions::default()
    };
    let reported = RefCell::new(Vec::new());
    let progress = |bytes| {
        reported.borrow_mut().push(bytes);
        ControlFlow::Continue(())
    };
    encode_with(
        (TEST_FORMATS, &|head| {
            TEST_FORMATS
                .iter()
                .copied()
                .find(|format| format.recognises(head))
        }),
        paths.into_iter().map(Source::File).collect(),
        format,
        &read,
        &LetterOptions::default(),
        &progress,
    )
    .map(|encoded| (encoded, reported.into_inner()))
}

const SCREEN: Option<(f64, f64)> = Some((700.0, 700.0));

#[test]
fn files_become_one_cohort() {
    let (encoded, reported) = encode(
        &[("p1.csv", "x,y\n0,0\n699,0\n"), ("p2.csv", "x,y\n0,699\n")],
        None,
        SCREEN,
    )
    .unwrap();
    let Encoded { cohort, summary } = encoded;
    let strings: Vec<(String, String)> = cohort
        .entries
        .iter()
        .map(|entry| {
            (
                entry.participant.clone(),
                cohort.alphabet.format(&entry.scanpath),
            )
        })
        .collect();
    assert_eq!(
        strings,
        [("p1".into(), "AG".into()), ("p2".into(), "q".into())]
    );
    assert_eq!((summary.format.as_str(), summary.rows_used), ("points", 3));
    assert!(summary.files[1].file.ends_with("p2.csv"));
    assert_eq!(reported, [14, 24]);
}

#[test]
fn progress_is_reported_in_steps_and_counts_every_byte() {
    let text = format!("x,y\n{}", "1,1\n".repeat(1_000_000));
    let (_, reported) = encode(&[("p.csv", &text)], None, SCREEN).unwrap();
    assert!(
        reported.is_sorted() && (3..=5).contains(&reported.len()),
        "{reported:?}"
    );
    assert_eq!(reported.last(), Some(&(text.len() as u64)));
}

#[test]
fn a_caller_who_stops_gets_an_error_even_after_the_last_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.csv");
    let text = "x,y,duration\n1,1,200\n";
    fs::write(&path, text).unwrap();
    let input = Input::from_bytes("q.csv", text.into()).unwrap();
    for source in [Source::File(path), Source::Open(Box::new(input))] {
        let read = ReadOptions {
            screen: SCREEN,
            ..ReadOptions::default()
        };
        let options = LetterOptions::default();
        let stop = |_| ControlFlow::Break(());
        let error = encode_files(vec![source], None, &read, &options, &stop).unwrap_err();
        assert!(error.problem.contains("stopped"), "{error}");
    }
}

/// EyeLink and SMI files are looked through before they are read.
#[test]
fn a_caller_can_stop_the_first_look_at_a_file() {
    let lines = "1 2 3 4\n".repeat(1 << 17);
    // Reading would end with an error about the last line.
    let text = format!("START 1 LEFT\n{lines}1 wrong 3 4\n");
    let input = Input::from_bytes("p.asc", text.into()).unwrap();
    let read = ReadOptions {
        screen: SCREEN,
        ..ReadOptions::default()
    };
    let options = LetterOptions::default();
    let stop = |_| ControlFlow::Break(());
    let sources = vec![Source::Open(Box::new(input))];
    let error = encode_files(sources, None, &read, &options, &stop).unwrap_err();
    assert!(error.problem.contains("stopped"), "{error}");
}

#[test]
fn errors_name_the_file_and_a_remedy() {
    let fails = |files: &[(&str, &str)], format, screen| encode(files, format, screen).unwrap_err();

    let error = fails(&[("p.csv", "x,y\n1,1\n")], None, None);
    assert!(
        error.file.ends_with("p.csv") && error.fields == [EncodeField::Screen],
        "{error}"
    );

    let error = fails(&[("p.csv", "x,y\n1,1\n")], Some("tobii"), SCREEN);
    assert!(error.remedy.contains("points"), "{error}");

    let error = fails(&[("p.csv", "a,b\n1,1\n")], None, SCREEN);
    assert!(error.fields.contains(&EncodeField::Format), "{error}");

    let error = fails(&[("p.csv", "\n")], None, SCREEN);
    assert!(error.problem.contains("empty"), "{error}");

    let error = fails(&[("p.csv", "x,y\n")], None, SCREEN);
    assert!(error.problem.contains("no gaze rows"), "{error}");

    let error = fails(
        &[("p.csv", "# veilpath cohort 1\nparticipant,scanpath\n")],
        None,
        SCREEN,
    );
    assert!(error.problem.contains("already a cohort"), "{error}");

    assert!(
        encode(&[], None, SCREEN)
            .unwrap_err()
            .problem
            .contains("no file")
    );
    assert!(encode(&[("p.txt", "x,y\n1,1\n")], Some("Points"), SCREEN).is_ok());
}

#[test]
fn a_cohort_with_only_empty_scanpaths_cannot_drop_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.csv");
    fs::write(&path, "x,y,duration\n-5,0,200\n").unwrap();
    let read = ReadOptions {
        screen: SCREEN,
        ..ReadOptions::default()
    };
    let encode = |drop_empty| {
        let options = LetterOptions {
            drop_empty,
            ..LetterOptions::default()
        };
        encode_files(
            vec![Source::File(path.clone())],
            None,
            &read,
            &options,
            &|_| ControlFlow::Continue(()),
        )
    };
    assert!(encode(false).is_ok());
    let error = encode(true).unwrap_err();
    assert!(error.fields == [EncodeField::DropEmpty], "{error}");
}

/// The strings that the ScanMatch toolbox' own example gives, computed independently.
#[test]
fn the_scanmatch_example_gives_its_known_strings() {
    let Some(path) =
        crate::readers::recorder::shared_file("scanmatch_toolbox/ScanMatch_DataExample.mat")
    else {
        return;
    };
    let read = ReadOptions {
        screen: Some((1024.0, 768.0)),
        ..ReadOptions::default()
    };
    let strings = |grid: &str, notation| {
        let options = LetterOptions {
            letter_map: crate::LetterMap::Grid(grid.parse().unwrap()),
            notation,
            ..LetterOptions::default()
        };
        let Encoded { cohort, .. } = encode_files(
            vec![Source::File(path.clone())],
            None,
            &read,
            &options,
            &|_| ControlFlow::Continue(()),
        )
        .unwrap();
        let text = |entry: &veilpath_metrics::Entry| cohort.alphabet.format(&entry.scanpath);
        cohort.entries.iter().map(text).collect::<Vec<_>>()
    };
    assert_eq!(
        strings("7x7", None),
        [
            "IKKDPPqtggvbbbSSGGS",
            "RPKDPPqqtggvbGSS",
            "QRSSSGibvnggttqWPPKD"
        ]
    );
    assert_eq!(
        strings("12x8", Some(veilpath_metrics::Notation::Numbers)),
        [
            "15 18 18 18 27 27 85 89 55 55 93 47 47 58 32 31 23 11 32",
            "41 26 18 6 27 26 85 85 89 55 55 93 58 11 31 31",
            "40 42 31 32 32 11 58 58 93 80 67 55 89 89 85 38 26 26 18 18"
        ]
    );
}
