//! What was measured, and the file that keeps it: an interrupted run goes on where it was.

use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

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
    /// Opens the folder's file, or begins one.
    pub(super) fn open(folder: &Path, header: &Header) -> Result<Self, Failure> {
        let path = folder.join(NAME);
        let failed = |error: &std::io::Error| Failure::writing(&path, error);
        std::fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, &error))?;
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .map_err(|error| failed(&error))?;
        let mut lines = BufReader::new(&file).lines();
        let mut all = Vec::new();
        let mut torn = false;
        match lines.next().transpose().map_err(|error| failed(&error))? {
            None => {
                let line = serde_json::to_string(header).unwrap_or_default();
                writeln!(file, "{line}").map_err(|error| failed(&error))?;
            }
            Some(line) => {
                let found: Header = serde_json::from_str(&line).map_err(|_| {
                    Failure::input(format!(
                        "{}: line 1: this is no file of measurements",
                        path.display()
                    ))
                })?;
                if found != *header {
                    return Err(Failure::input(format!(
                        "{}: these measurements were made with other settings or on another machine\n  \
                         choose another folder, or remove this one",
                        path.display()
                    )));
                }
                for line in lines {
                    let line = line.map_err(|error| failed(&error))?;
                    match serde_json::from_str(&line) {
                        Ok(record) => all.push(record),
                        // The run was killed while it wrote: that step is measured again.
                        Err(_) => torn = true,
                    }
                }
            }
        }
        if torn {
            writeln!(file).map_err(|error| failed(&error))?;
        }
        Ok(Self { all, file })
    }

    /// Keeps a record, on disk first.
    pub(super) fn push(&mut self, record: Record) -> Result<(), Failure> {
        let line = serde_json::to_string(&record).unwrap_or_default();
        writeln!(self.file, "{line}")
            .and_then(|()| self.file.sync_data())
            .map_err(|error| Failure::writing(Path::new(NAME), &error))?;
        self.all.push(record);
        Ok(())
    }
}
