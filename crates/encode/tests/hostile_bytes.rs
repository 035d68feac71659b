//! Damaged files of every kind go through every reader: nothing may panic, and no row may be counted twice.
//!
//! The damage is drawn from a generator with a fixed seed, so a failure repeats. The fuzz targets in `fuzz/` look for
//! more, for longer.

use std::io;
use std::path::{Path, PathBuf};
use veilpath_encode::readers::{FORMATS, Format};
use veilpath_encode::{
    Dropped, EncodeField, Fixation, Head, Input, ReadError, ReadOptions, Recording, RecordingId,
    Sample, Sink, explain_unknown, recognise_format,
};

/// How often each file is damaged for the reader that recognises it, and for each of the others.
const OWN_FORMAT_ROUNDS: usize = 240;
const OTHER_FORMAT_ROUNDS: usize = 6;

/// Larger files would take time and find nothing new.
const MAX_BYTES: usize = 16 << 10;

#[test]
fn damaged_files_never_panic_and_are_never_counted_twice() {
    let mut files = Vec::new();
    collect(&testdata(), &mut files).unwrap();
    files.extend(generated());
    assert!(files.len() > 10);
    let mut random = Random(0x5eed_0f7e_57da_7a01);
    for (name, bytes) in &files {
        let own = head(name, bytes).and_then(|head| recognise_format(&head));
        for format in FORMATS {
            let is_own = own.is_some_and(|own| own.name() == format.name());
            let rounds = if is_own {
                OWN_FORMAT_ROUNDS
            } else {
                OTHER_FORMAT_ROUNDS
            };
            for round in 0..rounds {
                let damaged = damage(bytes, round, rounds, &mut random);
                try_everything(*format, name, damaged);
            }
        }
    }
}

#[test]
fn damaged_metadata_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("sub-1_task-a_physio.tsv");
    std::fs::write(&data, "1\t2\t3\nn/a\t5\t6\n").unwrap();
    let sidecar = br#"{"SamplingFrequency": 50, "Columns": ["timestamp", "x_coordinate", "y_coordinate"],
        "RecordedEye": "left", "timestamp": {"Units": "s"}, "x_coordinate": {"Units": "pixel"},
        "StimulusPresentation": {"ScreenResolution": [800, 600], "ScreenOrigin": ["top", "left"]}}"#;
    let format = FORMATS.iter().find(|format| format.name() == "bids-physio");
    let mut random = Random(0x5eed_0f7e_57da_7a02);
    for round in 0..OWN_FORMAT_ROUNDS {
        let damaged = damage(sidecar, round, OWN_FORMAT_ROUNDS, &mut random);
        std::fs::write(folder.path().join("task-a_physio.json"), damaged).unwrap();
        let mut counter = Counter::default();
        let input = Input::open(&data).unwrap();
        let read = format
            .unwrap()
            .read(input, &ReadOptions::default(), &mut counter);
        match read {
            Ok(()) => assert_eq!(counter.reports, 2),
            Err(error) => assert!(!error.remedy.is_empty(), "{error}"),
        }
    }
}

/// Detection, explanation and reading of one file.
fn try_everything(format: &dyn Format, name: &str, bytes: Vec<u8>) {
    if let Some(head) = head(name, &bytes)
        && recognise_format(&head).is_none()
    {
        let refusal = explain_unknown(&head);
        assert!(!refusal.problem.is_empty() && !refusal.remedy.is_empty());
    }
    let lines = lines(name, &bytes);
    let Ok(input) = Input::from_bytes(name, bytes) else {
        return;
    };
    let mut counter = Counter::default();
    let read = format.read(input, &ReadOptions::default(), &mut counter);
    if let Err(error) = read {
        assert!(!error.problem.is_empty(), "{} on {name}", format.name());
    }
    // Formats by line report each line once; a scanpath in JSON or MATLAB may be on a single line.
    if !matches!(format.name(), "visual-search-json" | "matlab") {
        assert!(
            counter.reports <= lines,
            "{} on {name}: {} reports of {lines} lines",
            format.name(),
            counter.reports
        );
    }
}

fn head(name: &str, bytes: &[u8]) -> Option<Head> {
    Some(Input::from_bytes(name, bytes.to_vec()).ok()?.head())
}

fn lines(name: &str, bytes: &[u8]) -> usize {
    let Ok(input) = Input::from_bytes(name, bytes.to_vec()) else {
        return 0;
    };
    let mut lines = input.into_lines();
    let mut count = 0;
    while let Ok(Some(_)) = lines.next_line() {
        count += 1;
    }
    count
}

/// Counts, and checks what every reader promises.
#[derive(Default)]
struct Counter {
    reports: usize,
    recordings: usize,
}

impl Sink for Counter {
    fn recording(&mut self, recording: &Recording<'_>) -> Result<RecordingId, ReadError> {
        if let Some(space) = recording.space {
            let (u, v) = space.fraction(1.0, 1.0);
            assert!(!u.is_nan() && !v.is_nan(), "an empty screen");
        }
        self.recordings += 1;
        Ok(RecordingId(self.recordings))
    }

    fn fixation(&mut self, _: RecordingId, fixation: Fixation<'_>) {
        self.reports += 1;
        assert!(fixation.x.is_finite() && fixation.y.is_finite());
        assert!(fixation.duration_ms.is_none_or(|duration| duration >= 0.0));
    }

    fn sample(&mut self, _: RecordingId, sample: Sample<'_>) {
        self.reports += 1;
        assert!(
            sample
                .point
                .is_none_or(|(x, y)| x.is_finite() && y.is_finite())
        );
        assert!(sample.time_ms.is_none_or(|time| !time.is_nan()));
    }

    fn dropped(&mut self, _: Dropped) {
        self.reports += 1;
    }

    fn unrequested_event(&mut self, label: &str) {
        assert!(!label.is_empty());
        self.dropped(Dropped::OtherEvent);
    }

    fn unrequested_sample(&mut self, _: RecordingId, time_ms: Option<f64>, label: &str) {
        assert!(time_ms.is_none_or(|time| !time.is_nan()));
        self.unrequested_event(label);
    }

    fn assumed(&mut self, assumption: &str, _: &[EncodeField]) {
        assert!(!assumption.is_empty());
    }
}

/// One way to damage a file. The first round leaves it whole, the next ones truncate it more and more,
/// and the rest are random.
fn damage(bytes: &[u8], round: usize, rounds: usize, random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if round == 0 || bytes.is_empty() {
        return bytes;
    }
    if round < rounds / 3 {
        bytes.truncate(bytes.len() * round / (rounds / 3));
        return bytes;
    }
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len().max(1));
        let length = random.below(40).min(bytes.len() - at.min(bytes.len()));
        let at = at.min(bytes.len());
        match random.below(9) {
            0 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            1 => drop(bytes.drain(at..at + length)),
            2 => {
                let copy = bytes[at..at + length].to_vec();
                bytes.splice(at..at, copy);
            }
            3 => {
                let delimiters = [b',', b'\t', b';', b' ', b'\n', b'\r', b'"', b'{', b']'];
                let (from, to) = (random.pick(&delimiters), random.pick(&delimiters));
                for byte in bytes.iter_mut().filter(|byte| **byte == from) {
                    *byte = to;
                }
            }
            4 => {
                let odd = random.pick(&ODD_TEXTS);
                bytes.splice(at..at + length.min(8), odd.bytes());
            }
            5 => drop(bytes.splice(at..at, [0; 3])),
            6 => drop(bytes.splice(at..at, [0xff, 0xfe, 0xef, 0xbb, 0xbf])),
            7 => {
                // A number grows beyond all bounds.
                let digit = bytes.iter().skip(at).position(u8::is_ascii_digit);
                if let Some(digit) = digit {
                    bytes.splice(at + digit..at + digit, [b'9'; 320]);
                }
            }
            _ => drop(bytes.splice(at..at, *b"\r\n\r\n")),
        }
    }
    bytes
}

const ODD_TEXTS: [&str; 16] = [
    "NaN",
    "-inf",
    "1e999",
    "-1",
    "n/a",
    ".",
    "1,5",
    "null",
    "\"",
    "#",
    "[",
    "\u{feff}",
    "µ",
    "-0.0",
    "18446744073709551616",
    "\t\t\t\t\t",
];

/// Kinds of input that none of the files have.
fn generated() -> Vec<(String, Vec<u8>)> {
    let wide = vec!["x"; 3000].join(",") + "\n" + &vec!["1"; 3000].join(",");
    let utf16: Vec<u8> = "x\ty\tduration\r\n1\t2\t3\r\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let texts = [
        ("empty.csv", String::new()),
        ("header.csv", "x,y,duration".to_string()),
        (
            "table.csv",
            "participant,stimulus,x,y,duration\np,s,1,2,3\np,s,4,5,6\n".to_string(),
        ),
        ("quotes.csv", "\"x\",\"y\"\n\"1\",\"2\n".to_string()),
        ("old-mac.txt", "x\ty\r1\t2\r3\t4\r".to_string()),
        ("deep.json", "{\"subject\":[".repeat(300)),
        (
            "sub-1_eyetrack.tsv",
            "timestamp\tx_coordinate\ty_coordinate\n1\t2\t3\nn/a\tn/a\tn/a\n".to_string(),
        ),
        ("wide.csv", wide),
    ];
    let texts = texts
        .into_iter()
        .map(|(name, text)| (name.to_string(), text.into_bytes()));
    texts.chain([("utf16.tsv".to_string(), utf16)]).collect()
}

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/formats")
}

fn collect(folder: &Path, files: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    let entries: io::Result<Vec<_>> = std::fs::read_dir(folder)?.collect();
    let mut entries = entries?;
    // The same order everywhere, so that the seed gives the same damage.
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            let mut bytes = std::fs::read(&path)?;
            bytes.truncate(MAX_BYTES);
            files.push((entry.file_name().to_string_lossy().into_owned(), bytes));
        }
    }
    Ok(())
}

/// Marsaglia's xorshift, which is good enough for damaging files.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound.max(1)
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}
