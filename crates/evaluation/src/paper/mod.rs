//! The tables and figures of the paper's evaluation, measured on this machine, next to the paper's own numbers.
//!
//! | file | contents |
//! |---|---|
//! | `published` | the paper's numbers |
//! | `data_sets` | cohorts with the lengths of its data sets |
//! | `measurements` | the measurements, each stored on disk at once |
//! | `engine` | the measurement of one step |
//! | `schedule` | which steps there are, and which of them fit into the budget |
//! | `extrapolate` | the extrapolation of steps that did not fit |
//! | `tables`, `data_set_tables` | the rows, as CSV and JSON |
//! | `figures` | the HTML page with plots |
//! | `markdown` | the summary for documents |

mod data_set_tables;
mod data_sets;
mod engine;
mod extrapolate;
mod figures;
mod markdown;
mod measurements;
mod published;
mod schedule;
mod tables;

use crate::{CohortPair, Error};
use measurements::{Header, Measurements};
use rand::Rng;
use schedule::Schedule;
use std::path::PathBuf;
use std::time::SystemTime;
use tables::Tables;
use veilpath_metrics::{Alphabet, Cohort};

/// The version of the file with the measurements.
const VERSION: u32 = 2;

/// The settings of an evaluation.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder that stores the measurements. A run with the same options resumes there.
    pub folder: PathBuf,
    /// Minutes for the comparisons with the `paillier` engine; a quick run has its own budget.
    pub budget_minutes: f64,
    /// Whether to make only short measurements, on parts of the data sets.
    pub quick: bool,
    /// The seed of the random scanpaths.
    pub seed: u64,
    /// The user's cohorts, for the data set table.
    pub user_cohorts: Option<UserCohorts>,
}

/// Two cohorts of the user.
#[derive(Clone, Debug)]
pub struct UserCohorts {
    /// Their names; a run with other names does not resume.
    pub names: [String; 2],
    /// The cohorts.
    pub pair: CohortPair,
}

/// An event of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The folder already contains finished measurements.
    Resumed {
        /// How many.
        measurements: usize,
    },
    /// The progress of the run.
    Progress {
        /// Parts of the work that are done.
        done: u64,
        /// All parts.
        total: u64,
    },
}

/// A finished evaluation.
#[derive(Clone, Debug)]
pub struct Evaluation {
    header: Header,
    tables: Tables,
    finished: Option<SystemTime>,
}

/// A file of a finished evaluation.
#[derive(Clone, Debug)]
pub struct OutputFile {
    /// Its name in the folder.
    pub name: String,
    /// Its content.
    pub content: String,
}

/// Makes all measurements that the folder does not contain yet.
pub fn run(options: &Options, events: &dyn Fn(Event)) -> Result<Evaluation, Error> {
    let header = Header {
        version: VERSION,
        seed: options.seed,
        quick: options.quick,
        machine: machine(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        own_cohorts: options.user_cohorts.as_ref().map(|user| {
            let [a, b] = user.names.clone();
            let metric = serde_json::to_string(&user.pair.metric).unwrap_or_default();
            [a, b, metric]
        }),
    };
    let mut measurements = Measurements::open(&options.folder, &header)?;
    if !measurements.all.is_empty() {
        events(Event::Resumed {
            measurements: measurements.all.len(),
        });
    }
    let schedule = Schedule {
        quick: options.quick,
        seed: options.seed,
        budget: if options.quick {
            schedule::QUICK_BUDGET
        } else {
            options.budget_minutes * 60.0
        },
        user_cohorts: options.user_cohorts.as_ref().map(|user| &user.pair),
        events,
    };
    let sizes = schedule.sizes()?;
    schedule.run(&sizes, &mut measurements)?;
    Ok(Evaluation {
        header,
        tables: Tables::new(&measurements.all, &sizes),
        finished: measurements.time(),
    })
}

impl Evaluation {
    /// A CSV file per table, all of them as JSON, an HTML page with plots, and a Markdown summary, which quotes the command that
    /// produced it.
    pub fn files(&self, command: &str) -> serde_json::Result<Vec<OutputFile>> {
        let Self { header, tables, .. } = self;
        let origin = markdown::Origin {
            header,
            command,
            time: self.finished,
        };
        let file = |name: &str, content| OutputFile {
            name: name.into(),
            content,
        };
        let mut files: Vec<OutputFile> = tables
            .csv()
            .map(|(name, content)| OutputFile { name, content })
            .collect();
        let json = serde_json::to_string_pretty(&tables.json(header))?;
        files.push(file("paper.json", json));
        files.push(file("summary.md", markdown::render(tables, &origin)));
        files.push(file("index.html", figures::render(tables, header)));
        Ok(files)
    }

    /// The most important numbers, one line each.
    pub fn summary(&self) -> Vec<String> {
        self.tables.summary()
    }
}

/// Random cohorts with the lengths of Salient360, for 70,796 comparisons of the same stimulus.
pub(crate) fn salient360(alphabet: Alphabet, rng: &mut impl Rng) -> [Cohort; 2] {
    data_sets::cohorts(&published::DATA_SETS[0], alphabet, rng)
}

/// The processor's name.
fn machine() -> String {
    let named = std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        });
    named.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}
