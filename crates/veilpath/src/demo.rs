//! A demonstration with two bundled cohorts.
//!
//! The cohorts are synthetic: novices and experts look at two pictures, and are assigned to a clinic and a university
//! at random.

use crate::plan::work;
use crate::{
    CompareOptions, Error, MetricName, MetricOptions, PlanOptions, PlannedComparison, compare, plan,
};
use veilpath_encode::{Input, RawCohort};
use veilpath_metrics::{Cohort, DEFAULT_PRECISION, Entry};
use veilpath_protocol::{Engine, EngineChoice, Link, Outcome, ProtocolError};

const CLINIC: &str = include_str!("../../../testdata/demo/clinic.csv");
const UNIVERSITY: &str = include_str!("../../../testdata/demo/university.csv");

/// The names of the two cohorts.
pub const NAMES: [&str; 2] = ["clinic", "university"];

/// If a comparison is estimated to take longer than this, only part of the cohorts is used.
const MAX_SECONDS: f64 = 5.0;

/// A comparison of the bundled cohorts.
#[derive(Clone, Debug)]
pub struct Demo {
    /// The number of scanpaths in each cohort.
    pub scanpaths: [usize; 2],
    /// The comparison of all scanpaths, or of as many as this engine compares within seconds.
    pub planned: PlannedComparison,
}

/// Mean similarities of the groups in the demo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupMeans {
    /// The mean for people in the same group.
    pub within: f64,
    /// The mean for people in different groups.
    pub between: f64,
}

impl Demo {
    /// Plans a ScanMatch comparison of the bundled cohorts.
    pub fn new(engine: impl Into<EngineChoice>) -> Result<Self, Error> {
        let metric = MetricOptions {
            name: MetricName::ScanMatch,
            // The plain engine then computes with the same integers as the private engines.
            precision: Some(DEFAULT_PRECISION),
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
        if compare(&in_the_clear, CompareOptions::default(), &())?.results == outcome.results {
            Ok(())
        } else {
            Err(
                ProtocolError::Internal("the scores differ from those computed in the clear")
                    .into(),
            )
        }
    }

    /// Whether all scanpaths are compared.
    pub fn is_complete(&self) -> bool {
        let PlannedComparison { a, b, .. } = &self.planned;
        self.scanpaths == [a.entries.len(), b.entries.len()]
    }
}

/// The mean similarity of people in the same group and in different groups.
pub fn group_means(outcome: &Outcome) -> GroupMeans {
    let group = |id: &str| id.split('-').next().map(str::to_string);
    let mut measures = outcome.results.measures().iter();
    let similarity = measures.position(|measure| measure.name == "similarity");
    let mean = |same: bool| {
        let similarities = outcome
            .rows()
            .filter(|row| (group(row.a) == group(row.b)) == same)
            .filter_map(|row| row.values.get(similarity?)?.number());
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

/// The whole comparison if it is quick. Otherwise a comparison of the first picture only, with as many of its viewers
/// as can be compared quickly.
fn quick_part(whole: PlannedComparison) -> PlannedComparison {
    if seconds(&whole) <= MAX_SECONDS {
        return whole;
    }
    let first_picture = whole.a.entries.first().map(|entry| entry.stimulus.clone());
    let part = |viewers: usize| {
        let part_of = |cohort: &Cohort| {
            let is_first_picture = |entry: &&Entry| Some(&entry.stimulus) == first_picture.as_ref();
            let entries = cohort
                .entries
                .iter()
                .filter(is_first_picture)
                .take(viewers)
                .cloned();
            Cohort {
                entries: entries.collect(),
                ..cohort.clone()
            }
        };
        PlannedComparison {
            tile: None,
            a: part_of(&whole.a),
            b: part_of(&whole.b),
            spec: whole.spec.clone(),
            chosen: whole.chosen,
        }
    };
    (1..whole.a.entries.len())
        .rev()
        .map(part)
        .find(|part| seconds(part) <= MAX_SECONDS)
        .unwrap_or_else(|| part(1))
}

/// The estimated time in seconds.
fn seconds(planned: &PlannedComparison) -> f64 {
    let PlannedComparison { a, b, spec, .. } = planned;
    let work = work(spec, a, b);
    spec.estimate(&work, &Link::local()).seconds
}
