//! Two bundled cohorts, to show the whole job of two institutions.
//!
//! They are synthetic: novices and experts look at two pictures, and are assigned to a clinic and a university at random.

use crate::{Error, MetricName, MetricOptions, PlanOptions, PlannedComparison, compare, plan};
use veilpath_encode::{Input, RawCohort};
use veilpath_metrics::scale::DEFAULT_SCALE;
use veilpath_metrics::{Cohort, Entry};
use veilpath_protocol::{Engine, Outcome, ProtocolError, Reveal, Work, count_pairs};

const CLINIC: &str = include_str!("../../../testdata/demo/clinic.csv");
const UNIVERSITY: &str = include_str!("../../../testdata/demo/university.csv");

/// What the two cohorts are called.
pub const NAMES: [&str; 2] = ["clinic", "university"];

/// A comparison that is estimated to take longer gets a part of the cohorts.
const MAX_SECONDS: f64 = 5.0;

/// A comparison of the bundled cohorts.
#[derive(Clone, Debug)]
pub struct Demo {
    /// How many scanpaths the two cohorts have.
    pub scanpaths: [usize; 2],
    /// The comparison: of all scanpaths, or of as many as this engine compares in seconds.
    pub planned: PlannedComparison,
}

/// Mean similarities of the demo's groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupMeans {
    /// Of people in the same group.
    pub within: f64,
    /// Of people in different groups.
    pub between: f64,
}

impl Demo {
    /// Plans a ScanMatch comparison of the bundled cohorts.
    pub fn new(engine: Engine) -> Result<Self, Error> {
        let metric = MetricOptions {
            name: MetricName::ScanMatch,
            // The clear comparison then computes with the integers of the private ones.
            scale: Some(DEFAULT_SCALE),
            ..MetricOptions::default()
        };
        let [clinic, university] = [bundled(NAMES[0], CLINIC)?, bundled(NAMES[1], UNIVERSITY)?];
        let options = PlanOptions::new(engine, metric);
        let whole = plan([&clinic, &university], &options, &())?;
        Ok(Self {
            scanpaths: [whole.a.entries.len(), whole.b.entries.len()],
            planned: quick_part(whole),
        })
    }

    /// Checks results against the same comparison in the clear.
    pub fn check(&self, outcome: &Outcome) -> Result<(), Error> {
        let mut in_the_clear = self.planned.clone();
        in_the_clear.spec.engine = Engine::Plain;
        if compare(&in_the_clear, None, &())?.results == outcome.results {
            Ok(())
        } else {
            Err(ProtocolError::Internal("the scores are not those in the clear").into())
        }
    }

    /// Whether every scanpath is compared.
    pub fn is_whole(&self) -> bool {
        let PlannedComparison { a, b, .. } = &self.planned;
        self.scanpaths == [a.entries.len(), b.entries.len()]
    }
}

/// Whether people of one group look more alike than people of different groups.
pub fn group_means(outcome: &Outcome) -> GroupMeans {
    let group = |id: &str| id.split('-').next().map(str::to_string);
    let mean = |same: bool| {
        let similarities = outcome
            .rows()
            .filter(|row| (group(row.a) == group(row.b)) == same)
            .filter_map(|row| row.values.get(1)?.number());
        let (count, sum) =
            similarities.fold((0u32, 0.0), |(count, sum), next| (count + 1, sum + next));
        sum / f64::from(count.max(1))
    };
    GroupMeans {
        within: mean(true),
        between: mean(false),
    }
}

fn bundled(name: &str, text: &str) -> Result<RawCohort, Error> {
    crate::read_cohort_from(Input::from_bytes(name, text.as_bytes().to_vec())?)
}

/// All of it where that is quick, else as many viewers of the first picture as are.
fn quick_part(whole: PlannedComparison) -> PlannedComparison {
    if seconds(&whole) <= MAX_SECONDS {
        return whole;
    }
    let picture = whole.a.entries.first().map(|entry| entry.stimulus.clone());
    let part = |viewers: usize| {
        let of = |cohort: &Cohort| {
            let sees = |entry: &&Entry| Some(&entry.stimulus) == picture.as_ref();
            let entries = cohort.entries.iter().filter(sees).take(viewers).cloned();
            Cohort {
                entries: entries.collect(),
                ..cohort.clone()
            }
        };
        PlannedComparison {
            a: of(&whole.a),
            b: of(&whole.b),
            spec: whole.spec.clone(),
        }
    };
    (1..whole.a.entries.len())
        .rev()
        .map(part)
        .find(|part| seconds(part) <= MAX_SECONDS)
        .unwrap_or_else(|| part(1))
}

/// The estimated time.
fn seconds(planned: &PlannedComparison) -> f64 {
    let PlannedComparison { a, b, spec } = planned;
    let count = count_pairs(spec.pairs, a, b);
    let letters = |cohort: &Cohort| {
        let lengths = cohort
            .entries
            .iter()
            .map(|entry| entry.scanpath.len() as u64);
        lengths.sum()
    };
    let work = Work {
        pairs: count.pairs,
        cells: count.cells,
        host_scanpaths: a.entries.len() as u64,
        join_scanpaths: b.entries.len() as u64,
        host_letters: letters(a),
        join_letters: letters(b),
        alphabet: a.alphabet.size().into(),
        padded: false,
        reveal: Reveal::Score,
    };
    spec.estimate(&work).seconds
}
