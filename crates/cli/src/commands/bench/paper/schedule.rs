//! Which steps there are, and which of them fit into the budget.
//!
//! What is cheap is always measured: cells, random orders, everything with garbled circuits. The comparisons of the engine
//! paillier follow from the cheapest on, each by itself, as long as the budget lasts. The estimate of a step comes from the
//! nearest one of its engine that is finished.

use super::measure::{LEAST_COMPARISONS, Ready, alphabet, order, single};
use super::published::{DATA_SETS, KEYS, Spread, TIMES};
use super::record::{Measured, Record, Records};
use super::tables::Size;
use super::{extrapolate, lengths};
use crate::cohorts::Plan;
use crate::failure::Failure;
use crate::progress;
use indicatif::ProgressBar;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha20Rng;
use std::cell::OnceCell;
use veilpath_metrics::{Cohort, Encoding, Entry, Metric};
use veilpath_protocol::{PairRule, pairs_of};

/// Seconds for the comparisons of the engine paillier in a quick run.
pub(super) const QUICK_BUDGET: f64 = 10.0;
/// Seconds for the cells of one engine.
const CELL_SECONDS: f64 = 20.0;
/// Comparisons of a step: as in the paper, where the budget allows it.
const MOST_COMPARISONS: usize = 100;
/// Sizes of matrices that are filled in a random order.
pub(super) const ORDER_SIZES: [u32; 8] = [5, 10, 20, 50, 75, 100, 150, 200];
/// Steps at which the choices are noted.
const ORDER_STEPS: [usize; 12] = [1, 5, 10, 20, 30, 46, 65, 80, 100, 400, 1_000, 10_000];
/// The cohorts of the user.
pub(super) const OWN: &str = "yours";

/// The plan of a run.
pub(super) struct Schedule<'a> {
    pub(super) quick: bool,
    pub(super) seed: u64,
    /// Seconds.
    pub(super) budget: f64,
    pub(super) own: Option<&'a Plan>,
    pub(super) quiet: bool,
}

/// A step within the budget.
#[derive(Clone, Debug, PartialEq)]
enum Paid {
    Alone(Measured, usize),
    Sample(Measured, String),
}

/// The most comparisons of a step, and the seconds for them.
type Limit = (usize, f64);

/// The engines, made when they are needed: a large key takes a while.
struct Engines([OnceCell<Ready>; 5]);

/// Everything that is measured.
pub(super) const ENGINES: [Measured; 5] = [
    Measured::Garbled,
    Measured::Paillier(KEYS[0].bits()),
    Measured::Paillier(KEYS[1].bits()),
    Measured::Paillier(KEYS[2].bits()),
    Measured::Paillier(KEYS[3].bits()),
];

impl Engines {
    fn get(&self, which: Measured) -> Result<&Ready, Failure> {
        let index = ENGINES
            .iter()
            .position(|&engine| engine == which)
            .unwrap_or(0);
        let cell = &self.0[index];
        if cell.get().is_none() {
            let _ = cell.set(Ready::new(which)?);
        }
        cell.get().ok_or_else(|| Failure::input("no such engine"))
    }
}

impl Schedule<'_> {
    /// Measures everything that the records lack.
    pub(super) fn run(&self, sizes: &[Size], records: &mut Records) -> Result<(), Failure> {
        let engines = Engines(std::array::from_fn(|_| OnceCell::new()));
        let steps = ENGINES.len() + ORDER_SIZES.len() + TIMES.len() + DATA_SETS.len() + 1;
        let bar = progress::bar(steps as u64 + 100, progress::Unit::Steps, self.quiet);
        self.cells(&engines, records, &bar)?;
        self.orders(records, &bar)?;
        self.garbled(&engines, records, &bar)?;
        bar.set_position(steps as u64);
        self.paid(&engines, sizes, records, &bar)?;
        bar.finish_and_clear();
        Ok(())
    }

    fn cells(
        &self,
        engines: &Engines,
        records: &mut Records,
        bar: &ProgressBar,
    ) -> Result<(), Failure> {
        for engine in ENGINES {
            let known = |record: &Record| matches!(record, Record::Cell { engine: known, .. } if *known == engine);
            if !records.all.iter().any(known) {
                let seconds = (!self.quick).then_some(CELL_SECONDS);
                records.push(engines.get(engine)?.cell(seconds)?)?;
            }
            bar.inc(1);
        }
        Ok(())
    }

    fn orders(&self, records: &mut Records, bar: &ProgressBar) -> Result<(), Failure> {
        for size in ORDER_SIZES {
            let known = |record: &Record| matches!(record, Record::Order { size: known, .. } if *known == size);
            if !records.all.iter().any(known) {
                let runs = if self.quick { 5 } else { 100 };
                records.push(order(size, runs, self.seed, &ORDER_STEPS))?;
            }
            bar.inc(1);
        }
        Ok(())
    }

    fn garbled(
        &self,
        engines: &Engines,
        records: &mut Records,
        bar: &ProgressBar,
    ) -> Result<(), Failure> {
        let engine = Measured::Garbled;
        for (length, _) in TIMES {
            if alone(&records.all, engine, length).is_none() {
                let comparisons = if self.quick { 2 } else { MOST_COMPARISONS };
                let time = f64::INFINITY;
                self.measure_alone(engines, engine, length, (comparisons, time), records)?;
            }
            bar.inc(1);
        }
        for name in self.data_names() {
            let known =
                |record: &Record| matches!(record, Record::Whole { data, .. } if *data == name);
            if !records.all.iter().any(known) {
                let mut plan = self.data(&name)?;
                if self.quick {
                    plan.a = part(&plan.a);
                    plan.b = part(&plan.b);
                }
                records.push(engines.get(engine)?.whole(&name, &plan)?)?;
            }
            if !done(&records.all, &Paid::Sample(engine, name.clone())) {
                let comparisons = if self.quick { 3 } else { MOST_COMPARISONS };
                let time = f64::INFINITY;
                self.measure_sample(engines, engine, name, (comparisons, time), records)?;
            }
            bar.inc(1);
        }
        Ok(())
    }

    /// The comparisons of the engine paillier, from the cheapest on.
    fn paid(
        &self,
        engines: &Engines,
        sizes: &[Size],
        records: &mut Records,
        bar: &ProgressBar,
    ) -> Result<(), Failure> {
        let from = bar.position();
        let mut left: Vec<(Paid, f64)> = Vec::new();
        for key in KEYS {
            let engine = Measured::Paillier(key.bits());
            let by_length =
                TIMES.map(|(length, _)| (Paid::Alone(engine, length), (length * length) as f64));
            left.extend(by_length);
            for size in sizes {
                left.push((Paid::Sample(engine, size.name.clone()), size.cells.mean));
            }
        }
        loop {
            left.retain(|(step, _)| !done(&records.all, step));
            let spent: f64 = records.all.iter().map(Record::spent).sum();
            let share = (spent / self.budget.max(1e-9)).min(1.0);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a share of 100
            bar.set_position(from + (share * 100.0) as u64);
            let cost = |(step, cells): &(Paid, f64)| estimate(&records.all, step, *cells);
            let cheapest = left.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)));
            let Some(next) = cheapest else { return Ok(()) };
            let (budget, each) = (self.budget - spent, cost(next));
            if each * LEAST_COMPARISONS as f64 > budget {
                return Ok(());
            }
            // An even part of what is left, so that short comparisons do not eat up the long ones' time.
            let limit = (MOST_COMPARISONS, budget / left.len() as f64);
            let (step, _) = next.clone();
            match step {
                Paid::Alone(engine, length) => {
                    self.measure_alone(engines, engine, length, limit, records)?;
                }
                Paid::Sample(engine, name) => {
                    self.measure_sample(engines, engine, name, limit, records)?;
                }
            }
        }
    }

    fn measure_alone(
        &self,
        engines: &Engines,
        engine: Measured,
        length: usize,
        (comparisons, time): Limit,
        records: &mut Records,
    ) -> Result<(), Failure> {
        let alphabet = alphabet()?;
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed.wrapping_add(length as u64));
        let mut cohort = || Cohort {
            alphabet,
            encoding: Encoding::default(),
            entries: vec![Entry {
                participant: "P".into(),
                stimulus: None,
                scanpath: lengths::random(alphabet, length, &mut rng),
            }],
        };
        let mut pair = || Plan {
            a: cohort(),
            b: cohort(),
            metric: Metric::Levenshtein,
        };
        let pairs: Vec<Plan> = (0..comparisons).map(|_| pair()).collect();
        let (seconds, bytes) = engines.get(engine)?.alone(&pairs, time)?;
        records.push(Record::Alone {
            engine,
            length,
            seconds,
            bytes,
        })
    }

    fn measure_sample(
        &self,
        engines: &Engines,
        engine: Measured,
        name: String,
        (comparisons, time): Limit,
        records: &mut Records,
    ) -> Result<(), Failure> {
        let pairs = self.sample(&name, comparisons)?;
        let (seconds, _) = engines.get(engine)?.alone(&pairs, time)?;
        let cells = pairs
            .iter()
            .map(|pair| cells(&pair.a.entries[0], &pair.b.entries[0]));
        let cells = cells.take(seconds.len()).collect();
        records.push(Record::Sample {
            data: name,
            engine,
            cells,
            seconds,
        })
    }

    /// Pairs and cells of all data sets.
    pub(super) fn sizes(&self) -> Result<Vec<Size>, Failure> {
        let size = |name: String| {
            let Plan { a, b, .. } = self.data(&name)?;
            let pairs = pairs_of(PairRule::SameStimulus, &a, &b);
            let cells: Vec<f64> = pairs
                .iter()
                .map(|&(i, j)| cells(&a.entries[i], &b.entries[j]) as f64)
                .collect();
            let (mean, deviation) = lengths::mean_and_deviation(&cells);
            Ok(Size {
                name,
                comparisons: pairs.len(),
                cells: Spread { mean, deviation },
            })
        };
        self.data_names().into_iter().map(size).collect()
    }

    fn data_names(&self) -> Vec<String> {
        let mut names: Vec<String> = DATA_SETS.iter().map(|data| data.name.into()).collect();
        names.extend(self.own.map(|_| OWN.into()));
        names
    }

    fn data(&self, name: &str) -> Result<Plan, Failure> {
        let Some(data) = DATA_SETS.iter().find(|data| data.name == name) else {
            return self
                .own
                .cloned()
                .ok_or_else(|| Failure::input("no such cohorts"));
        };
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed);
        let [a, b] = lengths::cohorts(data, alphabet()?, &mut rng);
        Ok(Plan {
            a,
            b,
            metric: Metric::Levenshtein,
        })
    }

    /// Pairs of equal stimulus, drawn evenly.
    fn sample(&self, name: &str, count: usize) -> Result<Vec<Plan>, Failure> {
        let Plan { a, b, metric } = self.data(name)?;
        let pairs = pairs_of(PairRule::SameStimulus, &a, &b);
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed.wrapping_add(count as u64));
        let drawn = (0..count).filter_map(|_| pairs.choose(&mut rng));
        Ok(drawn
            .map(|&(i, j)| Plan {
                a: single(&a, &a.entries[i]),
                b: single(&b, &b.entries[j]),
                metric: metric.clone(),
            })
            .collect())
    }
}

/// A small part of a cohort, of all stimuli alike.
fn part(cohort: &Cohort) -> Cohort {
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
        entries,
    }
}

fn cells(a: &Entry, b: &Entry) -> u64 {
    a.scanpath.len() as u64 * b.scanpath.len() as u64
}

fn done(records: &[Record], step: &Paid) -> bool {
    records.iter().any(|record| match (record, step) {
        (Record::Alone { engine, length, .. }, Paid::Alone(e, l)) => (engine, length) == (e, l),
        (Record::Sample { engine, data, .. }, Paid::Sample(e, d)) => (engine, data) == (e, d),
        _ => false,
    })
}

/// The seconds of comparisons of one length, where they were measured.
pub(super) fn alone(records: &[Record], engine: Measured, length: usize) -> Option<&[f64]> {
    records.iter().find_map(|record| match record {
        Record::Alone {
            engine: e,
            length: l,
            seconds,
            ..
        } if (*e, *l) == (engine, length) => Some(&seconds[..]),
        _ => None,
    })
}

/// The seconds of one comparison.
fn estimate(records: &[Record], step: &Paid, cells: f64) -> f64 {
    let (Paid::Alone(engine, _) | Paid::Sample(engine, _)) = step;
    extrapolate::seconds(records, *engine, cells).unwrap_or(f64::INFINITY)
}
