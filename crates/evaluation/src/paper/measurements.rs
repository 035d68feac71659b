//! The measurements, and the file that stores them. An interrupted run resumes from this file.

use crate::Error;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The file in the folder of results.
const NAME: &str = "measurements.jsonl";

/// Settings that must be equal for a run to resume another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    /// The version of this file's format.
    pub(super) version: u32,
    pub(super) seed: u64,
    pub(super) quick: bool,
    /// The processor.
    pub(super) machine: String,
    pub(super) cores: usize,
    /// The names of the user's own cohorts, and the metric for them.
    pub(super) own_cohorts: Option<[String; 3]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum MeasuredEngine {
    /// The paper's protocol with a key of this many bits.
    Paillier(u32),
    /// Garbled circuits.
    Garbled,
    /// Secret sharing.
    Shares,
}

impl MeasuredEngine {
    pub(super) fn name(self) -> String {
        match self {
            MeasuredEngine::Paillier(bits) => format!("paillier {bits}"),
            MeasuredEngine::Garbled => "garbled".into(),
            MeasuredEngine::Shares => "shares".into(),
        }
    }
}

/// One finished step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "lowercase")]
pub(super) enum Measurement {
    /// One cell, while many comparisons run at once.
    Cell {
        engine: MeasuredEngine,
        seconds: f64,
        host: f64,
        join: f64,
        bytes: f64,
    },
    /// Comparisons of two scanpaths of the same length, each in its own session.
    Single {
        engine: MeasuredEngine,
        length: usize,
        seconds: Vec<f64>,
        /// Bytes from the host to the joining side and back, of one comparison.
        bytes: [u64; 2],
    },
    /// A matrix filled in a random order.
    Order {
        size: u32,
        candidates: f64,
        deviation: f64,
        /// Steps, and the mean log₂ of the number of orders up to each.
        log2_orders: Vec<(usize, f64)>,
    },
    /// Some comparisons of a data set, each in its own session.
    Sample {
        data: String,
        engine: MeasuredEngine,
        cells: Vec<u64>,
        seconds: Vec<f64>,
    },
    /// All comparisons of a data set in one session.
    Full {
        data: String,
        engine: MeasuredEngine,
        comparisons: usize,
        cells: u64,
        seconds: f64,
        bytes: [u64; 2],
    },
}

impl Measurement {
    /// The time that counts against the budget.
    pub(super) fn budget_spent(&self) -> f64 {
        match self {
            Measurement::Single { seconds, .. } | Measurement::Sample { seconds, .. } => {
                seconds.iter().sum()
            }
            _ => 0.0,
        }
    }
}

/// The measurements of a folder.
pub(super) struct Measurements {
    pub(super) all: Vec<Measurement>,
    path: PathBuf,
    file: File,
}

impl Measurements {
    /// Opens the folder's file, or creates one. An incomplete line, left by a killed run, is removed and measured again.
    pub(super) fn open(folder: &Path, header: &Header) -> Result<Self, Error> {
        let path = folder.join(NAME);
        let failed = |source: io::Error| Error::Write {
            path: path.clone(),
            source,
        };
        std::fs::create_dir_all(folder).map_err(|source| Error::Write {
            path: folder.to_path_buf(),
            source,
        })?;
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .map_err(failed)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        // Only if there is something to remove: the file's modification time is the time of the last measurement.
        if whole < text.len() {
            file.set_len(whole as u64).map_err(failed)?;
        }
        let mut lines = text[..whole].lines();
        let Some(first) = lines.next() else {
            let mut measurements = Self {
                all: Vec::new(),
                path,
                file,
            };
            measurements.append(header)?;
            return Ok(measurements);
        };
        if serde_json::from_str::<Header>(first).ok().as_ref() != Some(header) {
            return Err(Error::OtherSettings { path });
        }
        let measurement = |(index, line)| {
            serde_json::from_str(line).map_err(|source| Error::Measurement {
                path: path.clone(),
                line: index + 2,
                source,
            })
        };
        let all = lines
            .enumerate()
            .map(measurement)
            .collect::<Result<Vec<Measurement>, _>>()?;
        Ok(Self { all, path, file })
    }

    /// When the last measurement ended; `None` if the file system does not record it.
    pub(super) fn time(&self) -> Option<SystemTime> {
        self.file.metadata().and_then(|file| file.modified()).ok()
    }

    /// Stores a measurement, first on disk and then in memory.
    pub(super) fn push(&mut self, measurement: Measurement) -> Result<(), Error> {
        self.append(&measurement)?;
        self.all.push(measurement);
        Ok(())
    }

    /// Appends a line to the file.
    fn append(&mut self, line: &impl Serialize) -> Result<(), Error> {
        let written = serde_json::to_string(line)
            .map_err(io::Error::from)
            .and_then(|line| self.file.write_all(format!("{line}\n").as_bytes()))
            .and_then(|()| self.file.sync_data());
        written.map_err(|source| Error::Write {
            path: self.path.clone(),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may fail

    use super::*;

    #[test]
    fn complete_lines_are_read_back_wherever_a_run_was_killed() {
        let header = Header {
            version: 1,
            seed: 1,
            quick: true,
            machine: "a machine".into(),
            cores: 2,
            own_cohorts: None,
        };
        let measurement = |length| Measurement::Single {
            engine: MeasuredEngine::Garbled,
            length,
            seconds: vec![0.5, 0.25],
            bytes: [1, 2],
        };
        let folder = tempfile::tempdir().unwrap();
        let mut measurements = Measurements::open(folder.path(), &header).unwrap();
        measurements.push(measurement(8)).unwrap();
        measurements.push(measurement(10)).unwrap();
        let path = folder.path().join(NAME);
        let bytes = std::fs::read(&path).unwrap();
        let ends: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == b'\n').collect();
        for cut in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let mut measurements = Measurements::open(folder.path(), &header).unwrap();
            let whole = ends.iter().filter(|&&end| end < cut).count();
            assert_eq!(measurements.all.len(), whole.saturating_sub(1), "{cut}");
            measurements.push(measurement(20)).unwrap();
            let again = Measurements::open(folder.path(), &header).unwrap();
            assert_eq!(again.all, measurements.all);
        }
        let other = Header { seed: 2, ..header };
        assert!(Measurements::open(folder.path(), &other).is_err());
    }
}
