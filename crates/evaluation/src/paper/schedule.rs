//! Which steps there are, and which of them fit into the time budget.
//!
//! Cheap steps are always measured: cells, random orders, and everything with garbled circuits and secret sharing. The comparisons
//! with the `paillier` engine follow, cheapest first, until the budget is spent. The cost of a step is extrapolated from the
//! finished steps.

use super::engine::{MIN_COMPARISONS, PreparedEngine, cohort_of_one, random_order};
use super::measurements::{MeasuredEngine, Measurement, Measurements};
use super::published::{DATA_SETS, DataSet, KEYS, Spread, TIMES};
use super::tables::Size;
use super::{Event, data_sets, extrapolate};
use crate::{CohortPair, Error, cell, mean_and_deviation, random_scanpath};
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha20Rng;
use std::cell::{Cell, OnceCell};
use veilpath_metrics::{Cohort, Encoding, Entry, Metric};
use veilpath_protocol::{PairRule, pairs_of};

/// Seconds for the comparisons with the `paillier` engine in a quick run.
pub(super) const QUICK_BUDGET: f64 = 10.0;
/// Seconds for the cells of one engine.
const CELL_SECONDS: f64 = 20.0;
/// The number of comparisons in a step, as in the paper, if the budget allows it.
const MAX_COMPARISONS: usize = 100;
/// Sizes of matrices that are filled in a random order.
pub(super) const ORDER_SIZES: [u32; 8] = [5, 10, 20, 50, 75, 100, 150, 200];
/// Steps at which the number of orders is recorded.
const ORDER_STEPS: [usize; 12] = [1, 5, 10, 20, 30, 46, 65, 80, 100, 400, 1_000, 10_000];
/// The name of the user's cohorts in the tables.
const USER_COHORTS: &str = "yours";

/// The steps of a run.
pub(super) struct Schedule<'a> {
    pub(super) quick: bool,
    pub(super) seed: u64,
    /// Seconds.
    pub(super) budget: f64,
    pub(super) user_cohorts: Option<&'a CohortPair>,
    pub(super) events: &'a dyn Fn(Event),
}

/// Where the cohorts of a data set come from.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// Random scanpaths with the lengths of one of the paper's data sets.
    Published(&'static DataSet),
    /// The user's cohorts.
    User(&'a CohortPair),
}

impl Source<'_> {
    fn name(self) -> &'static str {
        match self {
            Source::Published(data) => data.name,
            Source::User(_) => USER_COHORTS,
        }
    }
}

/// A step that counts against the budget.
#[derive(Clone, Copy)]
enum BudgetedStep<'a> {
    Single(MeasuredEngine, usize),
    Sample(MeasuredEngine, Source<'a>),
}

/// The maximum number of comparisons in a step, and of seconds for them.
type Limit = (usize, f64);

/// The engines, prepared on first use: a large key takes a while to generate.
struct Engines([OnceCell<PreparedEngine>; ENGINES.len()]);

/// The engines that are measured.
pub(super) const ENGINES: [MeasuredEngine; 6] = [
    FAST_ENGINES[0],
    FAST_ENGINES[1],
    MeasuredEngine::Paillier(KEYS[0].bits()),
    MeasuredEngine::Paillier(KEYS[1].bits()),
    MeasuredEngine::Paillier(KEYS[2].bits()),
    MeasuredEngine::Paillier(KEYS[3].bits()),
];

/// The engines with which everything is measured, whatever the budget.
const FAST_ENGINES: [MeasuredEngine; 2] = [MeasuredEngine::Garbled, MeasuredEngine::Shares];

/// The budget's share of the progress, in parts; each step outside the budget is one part.
const BUDGET_PARTS: u64 = 100;

/// Reports the progress of the run.
struct Progress<'a> {
    events: &'a dyn Fn(Event),
    total: u64,
    done: Cell<u64>,
}

impl Progress<'_> {
    fn set(&self, done: u64) {
        self.done.set(done);
        let total = self.total;
        (self.events)(Event::Progress { done, total });
    }

    fn advance(&self) {
        self.set(self.done.get() + 1);
    }
}

impl Engines {
    fn get(&self, which: MeasuredEngine) -> Result<&PreparedEngine, Error> {
        let index = ENGINES
            .iter()
            .position(|&engine| engine == which)
            .unwrap_or(0);
        let slot = &self.0[index];
        if let Some(engine) = slot.get() {
            return Ok(engine);
        }
        let engine = PreparedEngine::new(which)?;
        Ok(slot.get_or_init(|| engine))
    }
}

impl Schedule<'_> {
    /// Makes all measurements that are not stored yet.
    pub(super) fn run(&self, sizes: &[Size], measurements: &mut Measurements) -> Result<(), Error> {
        let engines = Engines(std::array::from_fn(|_| OnceCell::new()));
        let of_engine = TIMES.len() + DATA_SETS.len() + 1;
        let steps = ENGINES.len() + ORDER_SIZES.len() + FAST_ENGINES.len() * of_engine;
        let progress = Progress {
            events: self.events,
            total: steps as u64 + BUDGET_PARTS,
            done: Cell::new(0),
        };
        self.cells(&engines, measurements, &progress)?;
        self.orders(measurements, &progress)?;
        for engine in FAST_ENGINES {
            self.everything(engine, &engines, measurements, &progress)?;
        }
        progress.set(steps as u64);
        self.budgeted(&engines, sizes, measurements, &progress)
    }

    fn cells(
        &self,
        engines: &Engines,
        measurements: &mut Measurements,
        progress: &Progress<'_>,
    ) -> Result<(), Error> {
        for engine in ENGINES {
            let is_measured = |measurement: &Measurement| matches!(measurement, Measurement::Cell { engine: measured, .. } if *measured == engine);
            if !measurements.all.iter().any(is_measured) {
                let seconds = (!self.quick).then_some(CELL_SECONDS);
                measurements.push(engines.get(engine)?.cell(seconds)?)?;
            }
            progress.advance();
        }
        Ok(())
    }

    fn orders(
        &self,
        measurements: &mut Measurements,
        progress: &Progress<'_>,
    ) -> Result<(), Error> {
        for size in ORDER_SIZES {
            let is_measured = |measurement: &Measurement| matches!(measurement, Measurement::Order { size: measured, .. } if *measured == size);
            if !measurements.all.iter().any(is_measured) {
                let runs = if self.quick { 5 } else { 100 };
                measurements.push(random_order(size, runs, self.seed, &ORDER_STEPS))?;
            }
            progress.advance();
        }
        Ok(())
    }

    /// All comparisons with a fast engine.
    fn everything(
        &self,
        engine: MeasuredEngine,
        engines: &Engines,
        measurements: &mut Measurements,
        progress: &Progress<'_>,
    ) -> Result<(), Error> {
        for (length, _) in TIMES {
            if single(&measurements.all, engine, length).is_none() {
                let comparisons = if self.quick { 2 } else { MAX_COMPARISONS };
                let time = f64::INFINITY;
                self.measure_single(engines, engine, length, (comparisons, time), measurements)?;
            }
            progress.advance();
        }
        for source in self.sources() {
            let name = source.name();
            let is_measured = |measurement: &Measurement| matches!(measurement, Measurement::Full { data, engine: measured, .. } if *data == name && *measured == engine);
            if !measurements.all.iter().any(is_measured) {
                let mut pair = self.cohorts(source)?;
                if self.quick {
                    pair.a = first_three_per_stimulus(&pair.a);
                    pair.b = first_three_per_stimulus(&pair.b);
                }
                measurements.push(engines.get(engine)?.full(name, &pair)?)?;
            }
            if !done(&measurements.all, &BudgetedStep::Sample(engine, source)) {
                let comparisons = if self.quick { 3 } else { MAX_COMPARISONS };
                let time = f64::INFINITY;
                self.measure_sample(engines, engine, source, (comparisons, time), measurements)?;
            }
            progress.advance();
        }
        Ok(())
    }

    /// The comparisons with the `paillier` engine, cheapest first.
    fn budgeted(
        &self,
        engines: &Engines,
        sizes: &[Size],
        measurements: &mut Measurements,
        progress: &Progress<'_>,
    ) -> Result<(), Error> {
        let from = progress.done.get();
        let mut left: Vec<(BudgetedStep<'_>, f64)> = Vec::new();
        for key in KEYS {
            let engine = MeasuredEngine::Paillier(key.bits());
            let by_length = TIMES.map(|(length, _)| {
                (
                    BudgetedStep::Single(engine, length),
                    (length * length) as f64,
                )
            });
            left.extend(by_length);
            for (source, size) in self.sources().into_iter().zip(sizes) {
                left.push((BudgetedStep::Sample(engine, source), size.cells.mean));
            }
        }
        loop {
            left.retain(|(step, _)| !done(&measurements.all, step));
            let spent: f64 = measurements.all.iter().map(Measurement::budget_spent).sum();
            let fraction = (spent / self.budget.max(1e-9)).min(1.0);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            // from 0 to BUDGET_PARTS
            progress.set(from + (fraction * BUDGET_PARTS as f64) as u64);
            let cost =
                |(step, cells): &(BudgetedStep<'_>, f64)| estimate(&measurements.all, step, *cells);
            let cheapest = left.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)));
            let Some(next) = cheapest else { return Ok(()) };
            let (budget, each) = (self.budget - spent, cost(next));
            if each * MIN_COMPARISONS as f64 > budget {
                return Ok(());
            }
            // An equal share of the remaining budget, so that short comparisons leave time for long ones.
            let limit = (MAX_COMPARISONS, budget / left.len() as f64);
            let (step, _) = *next;
            match step {
                BudgetedStep::Single(engine, length) => {
                    self.measure_single(engines, engine, length, limit, measurements)?;
                }
                BudgetedStep::Sample(engine, source) => {
                    self.measure_sample(engines, engine, source, limit, measurements)?;
                }
            }
        }
    }

    fn measure_single(
        &self,
        engines: &Engines,
        engine: MeasuredEngine,
        length: usize,
        (comparisons, time): Limit,
        measurements: &mut Measurements,
    ) -> Result<(), Error> {
        let alphabet = cell::alphabet(None)?;
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed.wrapping_add(length as u64));
        let mut cohort = || Cohort {
            alphabet,
            encoding: Encoding::default(),
            screen: None,
            entries: vec![Entry {
                participant: "P".into(),
                group: None,
                stimulus: None,
                scanpath: random_scanpath(alphabet, length, &mut rng),
                fixations: None,
            }],
        };
        let mut pair = || CohortPair {
            a: cohort(),
            b: cohort(),
            metric: Metric::Levenshtein,
        };
        let pairs: Vec<CohortPair> = (0..comparisons).map(|_| pair()).collect();
        let (seconds, bytes) = engines.get(engine)?.one_by_one(&pairs, time)?;
        measurements.push(Measurement::Single {
            engine,
            length,
            seconds,
            bytes,
        })
    }

    fn measure_sample(
        &self,
        engines: &Engines,
        engine: MeasuredEngine,
        source: Source<'_>,
        (comparisons, time): Limit,
        measurements: &mut Measurements,
    ) -> Result<(), Error> {
        let pairs = self.sample(source, comparisons)?;
        let (seconds, _) = engines.get(engine)?.one_by_one(&pairs, time)?;
        let cells = pairs
            .iter()
            .map(|pair| cells(&pair.a.entries[0], &pair.b.entries[0]));
        let cells = cells.take(seconds.len()).collect();
        measurements.push(Measurement::Sample {
            data: source.name().into(),
            engine,
            cells,
            seconds,
        })
    }

    /// Pairs and cells of all data sets.
    pub(super) fn sizes(&self) -> Result<Vec<Size>, Error> {
        let size = |source: Source<'_>| {
            let CohortPair { a, b, .. } = self.cohorts(source)?;
            let pairs = pairs_of(PairRule::SameStimulus, &a, &b);
            let cells: Vec<f64> = pairs
                .iter()
                .map(|&(i, j)| cells(&a.entries[i], &b.entries[j]) as f64)
                .collect();
            let (mean, deviation) = mean_and_deviation(&cells);
            Ok(Size {
                name: source.name(),
                comparisons: pairs.len(),
                cells: Spread { mean, deviation },
            })
        };
        self.sources().into_iter().map(size).collect()
    }

    fn sources(&self) -> Vec<Source<'_>> {
        let published = DATA_SETS.iter().map(Source::Published);
        published
            .chain(self.user_cohorts.map(Source::User))
            .collect()
    }

    fn cohorts(&self, source: Source<'_>) -> Result<CohortPair, Error> {
        let data = match source {
            Source::User(pair) => return Ok(pair.clone()),
            Source::Published(data) => data,
        };
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed);
        let [a, b] = data_sets::cohorts(data, cell::alphabet(None)?, &mut rng);
        Ok(CohortPair {
            a,
            b,
            metric: Metric::Levenshtein,
        })
    }

    /// Pairs of scanpaths of the same stimulus, drawn at random.
    fn sample(&self, source: Source<'_>, count: usize) -> Result<Vec<CohortPair>, Error> {
        let CohortPair { a, b, metric } = self.cohorts(source)?;
        let pairs = pairs_of(PairRule::SameStimulus, &a, &b);
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed.wrapping_add(count as u64));
        let drawn = (0..count).filter_map(|_| pairs.choose(&mut rng));
        Ok(drawn
            .map(|&(i, j)| CohortPair {
                a: cohort_of_one(&a, &a.entries[i]),
                b: cohort_of_one(&b, &b.entries[j]),
                metric: metric.clone(),
            })
            .collect())
    }
}

/// The first three scanpaths of each stimulus.
fn first_three_per_stimulus(cohort: &Cohort) -> Cohort {
    let mut seen = std::collections::BTreeMap::<Option<&str>, usize>::new();
    let entries = cohort
        .entries
        .iter()
        .filter(|entry| {
            let count = seen.entry(entry.stimulus.as_deref()).or_default();
            *count += 1;
            *count <= 3
        })
        .cloned()
        .collect();
    Cohort {
        alphabet: cohort.alphabet,
        encoding: cohort.encoding.clone(),
        screen: cohort.screen,
        entries,
    }
}

fn cells(a: &Entry, b: &Entry) -> u64 {
    a.scanpath.len() as u64 * b.scanpath.len() as u64
}

fn done(measurements: &[Measurement], step: &BudgetedStep<'_>) -> bool {
    measurements
        .iter()
        .any(|measurement| match (measurement, step) {
            (Measurement::Single { engine, length, .. }, BudgetedStep::Single(e, l)) => {
                (engine, length) == (e, l)
            }
            (Measurement::Sample { engine, data, .. }, BudgetedStep::Sample(e, source)) => {
                engine == e && data == source.name()
            }
            _ => false,
        })
}

/// The times of single comparisons of one length, if they were measured.
pub(super) fn single(
    measurements: &[Measurement],
    engine: MeasuredEngine,
    length: usize,
) -> Option<&[f64]> {
    measurements
        .iter()
        .find_map(|measurement| match measurement {
            Measurement::Single {
                engine: e,
                length: l,
                seconds,
                ..
            } if (*e, *l) == (engine, length) => Some(&seconds[..]),
            _ => None,
        })
}

/// The estimated time of one comparison.
fn estimate(measurements: &[Measurement], step: &BudgetedStep<'_>, cells: f64) -> f64 {
    let (BudgetedStep::Single(engine, _) | BudgetedStep::Sample(engine, _)) = step;
    extrapolate::seconds(measurements, *engine, cells).unwrap_or(f64::INFINITY)
}
