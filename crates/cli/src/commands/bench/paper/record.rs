//! What was measured, and the file that keeps it: an interrupted run goes on where it was.

use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::SystemTime;

/// The file in the folder of results.
const NAME: &str = "measurements.jsonl";

/// What must be equal for two runs to share a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    /// The version of the records.
    pub(super) version: u32,
    pub(super) seed: u64,
    pub(super) quick: bool,
    /// The processor.
    pub(super) machine: String,
    pub(super) cores: usize,
    /// The cohorts that the user brings, and the metric for them.
    pub(super) cohorts: Option<[String; 3]>,
}

/// The engine of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Measured {
    /// The paper's protocol with a key of so many bits.
    Paillier(u32),
    /// Garbled circuits.
    Garbled,
}

impl Measured {
    pub(super) fn name(self) -> String {
        match self {
            Measured::Paillier(bits) => format!("paillier {bits}"),
            Measured::Garbled => "garbled".into(),
        }
    }
}

/// One finished step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "lowercase")]
pub(super) enum Record {
    /// One cell, with many comparisons in flight.
    Cell {
        engine: Measured,
        seconds: f64,
        alice: f64,
        bob: f64,
        bytes: f64,
    },
    /// Comparisons of two scanpaths of one length, each by itself.
    Alone {
        engine: Measured,
        length: usize,
        seconds: Vec<f64>,
        /// Bytes from Alice to Bob and back, of one comparison.
        bytes: [u64; 2],
    },
    /// A matrix filled in a random order.
    Order {
        size: u32,
        candidates: f64,
        deviation: f64,
        /// The mean log₂ of the orders up to a step.
        choices: Vec<(usize, f64)>,
    },
    /// Some comparisons of a data set, each by itself.
    Sample {
        data: String,
        engine: Measured,
        cells: Vec<u64>,
        seconds: Vec<f64>,
    },
    /// All comparisons of a data set in one session.
    Whole {
        data: String,
        engine: Measured,
        comparisons: usize,
        cells: u64,
        seconds: f64,
        bytes: [u64; 2],
    },
}

impl Record {
    /// The time it took, as far as it counts against the budget.
    pub(super) fn spent(&self) -> f64 {
        match self {
            Record::Alone { seconds, .. } | Record::Sample { seconds, .. } => seconds.iter().sum(),
            _ => 0.0,
        }
    }
}

/// The records of a folder.
pub(super) struct Records {
    pub(super) all: Vec<Record>,
    file: File,
}

impl Records {
    /// Opens the folder's file, or begins one. What a killed run left half written is cut off and measured again.
    pub(super) fn open(folder: &Path, header: &Header) -> Result<Self, Failure> {
        let path = folder.join(NAME);
        let failed = |error: io::Error| Failure::writing(&path, &error);
        std::fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, &error))?;
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .map_err(failed)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        // Only where there is something to cut off: the file's time is that of the last measurement.
        if whole < text.len() {
            file.set_len(whole as u64).map_err(failed)?;
        }
        let mut lines = text[..whole].lines();
        let Some(first) = lines.next() else {
            let mut records = Self {
                all: Vec::new(),
                file,
            };
            records.append(header)?;
            return Ok(records);
        };
        if serde_json::from_str::<Header>(first).ok().as_ref() != Some(header) {
            return Err(Failure::input(format!(
                "{}: line 1: these are no measurements, or of other settings or another machine\n  \
                 choose another folder, or remove this one",
                path.display()
            )));
        }
        let all: Result<Vec<Record>, _> = lines.map(serde_json::from_str).collect();
        let all = all.map_err(|error| {
            Failure::input(format!(
                "{}: a line is no measurement: {error}\n  choose another folder, or remove this one",
                path.display()
            ))
        })?;
        Ok(Self { all, file })
    }

    /// When the last measurement ended; `None` where the file system does not say.
    pub(super) fn time(&self) -> Option<SystemTime> {
        self.file.metadata().and_then(|file| file.modified()).ok()
    }

    /// Keeps a record, on disk first.
    pub(super) fn push(&mut self, record: Record) -> Result<(), Failure> {
        self.append(&record)?;
        self.all.push(record);
        Ok(())
    }

    /// A line, at once.
    fn append(&mut self, line: &impl Serialize) -> Result<(), Failure> {
        let written = serde_json::to_string(line)
            .map_err(io::Error::from)
            .and_then(|line| self.file.write_all(format!("{line}\n").as_bytes()))
            .and_then(|()| self.file.sync_data());
        written.map_err(|error| Failure::writing(Path::new(NAME), &error))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may fail

    use super::*;

    #[test]
    fn what_is_whole_comes_again_wherever_a_run_was_killed() {
        let header = Header {
            version: 1,
            seed: 1,
            quick: true,
            machine: "a machine".into(),
            cores: 2,
            cohorts: None,
        };
        let record = |length| Record::Alone {
            engine: Measured::Garbled,
            length,
            seconds: vec![0.5, 0.25],
            bytes: [1, 2],
        };
        let folder = tempfile::tempdir().unwrap();
        let mut records = Records::open(folder.path(), &header).unwrap();
        records.push(record(8)).unwrap();
        records.push(record(10)).unwrap();
        let path = folder.path().join(NAME);
        let bytes = std::fs::read(&path).unwrap();
        let ends: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == b'\n').collect();
        for cut in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let mut records = Records::open(folder.path(), &header).unwrap();
            let whole = ends.iter().filter(|&&end| end < cut).count();
            assert_eq!(records.all.len(), whole.saturating_sub(1), "{cut}");
            records.push(record(20)).unwrap();
            let again = Records::open(folder.path(), &header).unwrap();
            assert_eq!(again.all, records.all);
        }
        let other = Header { seed: 2, ..header };
        assert!(Records::open(folder.path(), &other).is_err());
    }
}
