//! The fuzz targets. Each reads some bytes, and panics if a contract is broken.

use crate::checks::{Checker, options};
use crate::metrics::metrics;
use crate::scripts;
use veilpath_encode::readers::FORMATS;
use veilpath_encode::{
    Areas, Collector, DetectionOptions, Detector, Input, Kind, LengthUnit, LetterOptions,
    RawCohort, ReadOptions, Recording, Rows, Sample, ScreenLength, Sink, Space, VelocityMethod,
    cohort_file, explain_unknown, recognise_format,
};
use veilpath_metrics::{
    Alphabet, Cohort, Fixations, Frechet, Grid, Metric, Positions, Screen, Table, TableKind,
};
use veilpath_paillier::{KeySize, PublicKey, SecretKey};
use veilpath_protocol::{ProtocolError, Reveal};
use veilpath_report::html::{Image, Options, Report};
use veilpath_report::{ResultFile, json};
use veilpath_session::fuzzing::{decode, relay};

/// A fuzz target.
pub type Target = fn(&[u8]);

/// All of them, by the names of their corpora.
pub const TARGETS: [(&str, Target); 17] = [
    ("readers", readers),
    ("detection", detection),
    ("rows", rows),
    ("tables", tables),
    ("metrics", metrics),
    ("cohort_files", cohort_files),
    ("gaze_samples", gaze_samples),
    ("session_messages", session_messages),
    ("relay_messages", relay_messages),
    ("plain_messages", plain_messages),
    ("paillier_messages", paillier_messages),
    ("garbled_messages", garbled_messages),
    ("shares_messages", shares_messages),
    ("statistics_messages", statistics_messages),
    ("key_files", key_files),
    ("result_files", result_files),
    ("side_files", side_files),
];

const NAMES: [&str; 8] = [
    "a.csv",
    "a.txt",
    "a.json",
    "a.edf",
    "a.mat",
    "sub-1_physio.tsv.gz",
    "sub-1_events.tsv",
    "README",
];

/// Every reader: the first byte chooses the format, the second the options, the rest is the file.
pub fn readers(data: &[u8]) {
    let [format, bits, file @ ..] = data else {
        return;
    };
    let Some(format) = FORMATS.get(usize::from(*format) % FORMATS.len().max(1)) else {
        return;
    };
    let Ok(input) = Input::from_bytes("sub-1_task-a_eyetrack.tsv", file.to_vec()) else {
        return;
    };
    let read = format.read(input, &options(*bits), &mut Checker::default());
    if let Err(error) = read {
        assert!(!error.problem.is_empty());
    }
}

/// Opens a file, recognises its format and explains errors; the first byte chooses the file's name.
pub fn detection(data: &[u8]) {
    let [name, file @ ..] = data else { return };
    let name = NAMES[usize::from(*name) % NAMES.len()];
    let Ok(input) = Input::from_bytes(name, file.to_vec()) else {
        return;
    };
    let head = input.head();
    if recognise_format(&head).is_none() {
        let error = explain_unknown(&head);
        assert!(!error.problem.is_empty() && !error.remedy.is_empty());
    }
}

/// Delimited tables, field by field.
pub fn rows(data: &[u8]) {
    let Ok(input) = Input::from_bytes("a.csv", data.to_vec()) else {
        return;
    };
    let Ok(mut rows) = Rows::open(input) else {
        return;
    };
    let columns = rows.columns().names().len();
    let _ = rows.columns().require(&["x"]);
    let mut line = 0;
    while let Ok(Some(row)) = rows.next_row() {
        assert!(row.line() > line);
        line = row.line();
        for column in 0..columns.max(row.len()) + 1 {
            row.text(column);
            if let Ok(Some(number)) = row.number_or_missing(column) {
                assert!(number.is_finite());
            }
        }
    }
}

/// Users' substitution tables; the first byte chooses the alphabet.
pub fn tables(data: &[u8]) {
    let [letters, text @ ..] = data else { return };
    let Ok(alphabet) = Alphabet::letters(u32::from(*letters % 52) + 1) else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    if let Ok(table) = Table::parse(text, TableKind::Scores, &alphabet) {
        let size = u64::from(table.size());
        assert_eq!(table.values().len() as u64, size * size);
        assert!(table.values().iter().all(|value| value.is_finite()));
        table.fingerprint();
    }
}

/// Fixations with arbitrary numbers become letters of the alphabet.
fn rounded(cohort: &Cohort, screen: &Screen) {
    let Some(grid) = Grid::new(32, 18) else {
        return;
    };
    let metric = Metric::Frechet(Frechet {
        positions: Positions::Cells {
            grid,
            width: screen.width() / 32.0,
            height: screen.height() / 18.0,
        },
    });
    let Some(Ok(Some((rounded, error)))) = metric.quantisation().map(|it| it.apply(cohort)) else {
        panic!("a cohort with fixations can be rounded")
    };
    for entry in &rounded.entries {
        assert!(rounded.alphabet.check(&entry.scanpath).is_ok() && entry.fixations.is_none());
    }
    assert!(error.off_screen <= error.fixations);
}

/// Cohort files; the first byte chooses the caller's alphabet, if any. Fixations that are written must be read back unchanged.
pub fn cohort_files(data: &[u8]) {
    let [letters, file @ ..] = data else { return };
    let alphabet = match letters {
        0..=127 => None,
        letters => Alphabet::letters(u32::from(letters % 52) + 1).ok(),
    };
    if let Ok(input) = Input::from_bytes("a.csv", file.to_vec())
        && let Ok(raw) = RawCohort::read(input)
    {
        let alphabet = alphabet.unwrap_or_else(|| raw.alphabet(None));
        let Ok(cohort) = raw.cohort(alphabet) else {
            return;
        };
        let mut entries = cohort.entries.iter();
        assert!(entries.all(|entry| entry.fixations.is_some() == cohort.screen.is_some()));
        if cohort.screen.is_some() {
            let again = written_and_read(&cohort);
            assert!(again.screen == cohort.screen);
            let fixations = |cohort: &Cohort| -> Vec<_> {
                let entries = cohort.entries.iter();
                entries.map(|entry| entry.fixations.clone()).collect()
            };
            assert!(fixations(&again) == fixations(&cohort));
        }
        if let Some(screen) = cohort.screen {
            rounded(&cohort, &screen);
        }
    }
}

fn written_and_read(cohort: &Cohort) -> Cohort {
    let mut bytes = Vec::new();
    let written = cohort_file::write(cohort, None, &[], &mut bytes);
    assert!(written.is_ok());
    let read = Input::from_bytes("b.csv", bytes).and_then(RawCohort::read);
    let cohort = read.and_then(|raw| raw.cohort(raw.alphabet(None)));
    cohort.unwrap_or_else(|error| panic!("{error}"))
}

/// Raw gaze: the first two bytes choose the detector and its settings, and each three bytes that follow are a sample.
pub fn gaze_samples(data: &[u8]) {
    let [bits, duration, samples @ ..] = data else {
        return;
    };
    let options = detecting(*bits, *duration);
    let Ok(mut collector) = Collector::new(&options) else {
        return;
    };
    collector.set_screen_settings(&ReadOptions {
        screen_cm: Some((40.0, 30.0)),
        distance_cm: Some(60.0),
        ..ReadOptions::default()
    });
    let recording = Recording {
        participant: "p",
        stimulus: None,
        kind: Kind::Gaze {
            rate_hz: (bits & 64 > 0).then_some(250.0),
        },
        space: Some(Space::pixels(1000.0, 800.0)),
    };
    let Ok(id) = collector.recording(&recording) else {
        return;
    };
    let mut time = 0.0;
    for sample in samples.as_chunks::<3>().0 {
        let [step, x, y] = *sample;
        time += match step {
            255 => -1000.0,
            254 => 1e6,
            step => f64::from(step) / 4.0,
        };
        let point = (f64::from(x) * 5.0 - 100.0, f64::from(y) * 5.0 - 100.0);
        let sample = Sample {
            time_ms: (step != 253).then_some(time),
            point: (y != 255).then_some(point),
            aoi: None,
        };
        collector.sample(id, sample);
    }
    let Ok((cohort, summary)) = collector.finish() else {
        return;
    };
    let dropped: u64 = summary.dropped.values().sum();
    assert_eq!(summary.rows_read, summary.rows_used + dropped);
    let found = summary.detected.map_or(0, |detected| {
        detected.fixations - detected.dropped.values().sum::<u64>()
    });
    let [entry] = cohort.entries.as_slice() else {
        panic!("one recording is one scanpath")
    };
    let fixations = entry.fixations.as_ref().map_or(0, Fixations::len);
    assert_eq!((fixations, fixations as u64), (entry.scanpath.len(), found));
    for fixation in entry.fixations.iter().flat_map(Fixations::list) {
        assert!((0.0..=1000.0).contains(&fixation.x) && (0.0..=800.0).contains(&fixation.y));
    }
}

/// One option of a detector for each bit.
fn detecting(bits: u8, duration: u8) -> LetterOptions {
    let unit = match bits & 2 {
        0 => LengthUnit::Pixels,
        _ => LengthUnit::Degrees,
    };
    let length = |value| ScreenLength { value, unit };
    LetterOptions {
        detection: DetectionOptions {
            detector: match bits & 1 {
                0 => Detector::Ivt,
                _ => Detector::Idt,
            },
            velocity: length(100.0),
            velocity_method: match bits >> 2 & 3 {
                0 => VelocityMethod::Preceding,
                1 => VelocityMethod::Neighbors,
                2 => VelocityMethod::FivePoint,
                _ => VelocityMethod::SavitzkyGolay {
                    window: u16::from(duration >> 4 | 1),
                    degree: 2,
                },
            },
            dispersion: length(25.0),
            min_duration_ms: f64::from(duration),
        },
        keep_fixations: true,
        ..LetterOptions::default()
    }
}

/// Everything that the other side of a session can send, and the entries of a journal; the first byte chooses the decoder.
pub fn session_messages(data: &[u8]) {
    let [decoder, message @ ..] = data else {
        return;
    };
    let accepted = decode(*decoder, message);
    // Decoding is deterministic.
    assert_eq!(accepted, decode(*decoder, message));
}

/// Messages of a relay's clients, in any order.
pub fn relay_messages(data: &[u8]) {
    let connected = relay(data);
    assert_eq!(connected, relay(data));
}

/// Messages to both roles of the `plain` engine.
pub fn plain_messages(data: &[u8]) {
    let _ = scripts::plain(data);
}

/// Messages to both roles of the `paillier` engine. No script may cause an internal error.
pub fn paillier_messages(data: &[u8]) {
    if let Some(Err(error)) = scripts::paillier(data) {
        assert!(!matches!(error, ProtocolError::Internal(_)), "{error}");
    }
}

/// Messages to both roles of the `garbled` engine. No script may cause an internal error.
pub fn garbled_messages(data: &[u8]) {
    if let Some(Err(error)) = scripts::garbled(data) {
        assert!(!matches!(error, ProtocolError::Internal(_)), "{error}");
    }
}

/// Messages to both roles of the `shares` engine. No script may cause an internal error.
pub fn shares_messages(data: &[u8]) {
    if let Some(Err(error)) = scripts::shares(data) {
        assert!(!matches!(error, ProtocolError::Internal(_)), "{error}");
    }
}

/// Messages to both roles of a group answer. No script may cause an internal error.
pub fn statistics_messages(data: &[u8]) {
    if let Some(Err(error)) = scripts::statistics(data) {
        assert!(!matches!(error, ProtocolError::Internal(_)), "{error}");
    }
}

/// Paillier key files; an accepted key must survive being written and read back. The first byte chooses public or secret.
pub fn key_files(data: &[u8]) {
    let [kind, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    if kind % 2 == 0 {
        if let Ok(key) = PublicKey::from_file_text(text, KeySize::Bits512) {
            let again = PublicKey::from_file_text(&key.to_file_text(), KeySize::Bits512);
            assert!(again.is_ok_and(|again| again == key));
        }
    } else if let Ok(key) = SecretKey::from_file_text(text) {
        let again = SecretKey::from_file_text(&key.to_file_text());
        assert!(again.is_ok_and(|again| again.public_key() == key.public_key()));
    }
}

/// Result files: an accepted file must be equal after it is written and read back, and render as HTML, SVG and PNG.
pub fn result_files(data: &[u8]) {
    let Ok(file) = ResultFile::read(data) else {
        return;
    };
    if let Some(outcome) = file.outcome() {
        let mut written = Vec::new();
        let _ = json::write(outcome, &mut written);
        let again = ResultFile::read(written.as_slice()).ok();
        assert_eq!(again.as_ref().and_then(ResultFile::outcome), Some(outcome));
    }
    let Ok(report) = Report::new(&file, Options::default()) else {
        return;
    };
    let mut page = Vec::new();
    let _ = report.write_html(&mut page);
    let page = String::from_utf8_lossy(&page);
    // One script, and one block of data per heat map. If there is another, an id was not escaped.
    let maps = page.matches("<figure class=\"heat\">").count();
    assert_eq!(page.matches("<script").count(), maps + 1);
    if report.has_heat_map().is_ok() {
        let _ = report.write_svg(&mut Vec::new());
        let _ = report.write_png(&mut Vec::new());
    }
}

/// What users provide besides recordings: areas of interest, a picture for the report, thresholds, grids and alphabets. The first
/// byte chooses.
pub fn side_files(data: &[u8]) {
    let [kind, content @ ..] = data else { return };
    match kind % 5 {
        0 => {
            if let Ok(input) = Input::from_bytes("aoi.csv", content.to_vec()) {
                let _ = Areas::read(input);
            }
        }
        1 => {
            let _ = Image::new(content.to_vec());
        }
        kind => {
            let Ok(text) = std::str::from_utf8(content) else {
                return;
            };
            // A parsed value must print as text that parses to the same value.
            match kind {
                2 => {
                    if let Ok(reveal) = text.parse::<Reveal>() {
                        assert_eq!(reveal.to_string().parse(), Ok(reveal));
                    }
                }
                3 => {
                    if let Ok(grid) = text.parse::<Grid>() {
                        assert_eq!(grid.to_string().parse(), Ok(grid));
                    }
                }
                _ => {
                    if let Ok(alphabet) = text.parse::<Alphabet>() {
                        assert_eq!(alphabet.to_string().parse(), Ok(alphabet));
                    }
                }
            }
        }
    }
}
