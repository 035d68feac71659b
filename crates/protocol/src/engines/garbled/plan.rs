//! In which portions the pairs are compared. Both sides make the same plan from the lengths.

use super::scoring::{Circuit, Scoring};
use crate::{Job, Observer, ProtocolError, Role};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use veilpath_garble::ot::lookup::MAX_STRIPS;
use veilpath_garble::wavefront::STRIP_ROWS;
use veilpath_metrics::Reading;

/// AND gates after which the scores so far are told: some 64 megabytes of tables, a tenth of a second on a fast line.
const PORTION_GATES: u64 = 2 << 20;

/// Pairs after which the scores so far are told, however short they are.
const PORTION_PAIRS: usize = 4096;

/// Bob's letters that have keys at the same time: they take some hundred bytes each.
const LETTERS_AT_A_TIME: u64 = 1 << 18;

/// The longest scanpath that the look-up can number.
const MOST_LETTERS: u32 = MAX_STRIPS * STRIP_ROWS as u32;

/// The plan of a run, equal on both sides.
pub(super) struct Plan {
    pub(super) scoring: Scoring,
    host_lengths: Vec<u32>,
    join_lengths: Vec<u32>,
    /// Pairs with at least one cell, in the agreed order.
    open: Vec<usize>,
    /// Some of Bob's scanpaths, and the portions that need no others.
    pub(super) stages: Vec<Stage>,
}

/// Portions that share the keys of Bob's letters.
pub(super) struct Stage {
    /// Bob's scanpaths, and where their letters are among those of the stage.
    pub(super) columns: Vec<(usize, Range<usize>)>,
    pub(super) portions: Vec<Portion>,
}

/// Pairs that are compared together; their scores are told before the next portion begins.
pub(super) struct Portion {
    /// Places in [`Plan::open`].
    places: Range<usize>,
    pub(super) circuit: Circuit,
}

/// A comparison of a portion.
pub(super) struct Member {
    pub(super) pair: usize,
    pub(super) host: usize,
    pub(super) rows: u32,
    pub(super) columns: Range<usize>,
}

impl Plan {
    pub(super) fn new(
        job: &Job<'_>,
        own: Vec<u32>,
        theirs: Vec<u32>,
    ) -> Result<Self, ProtocolError> {
        if own.iter().any(|&length| length > MOST_LETTERS) {
            return Err(ProtocolError::Job("a scanpath is too long"));
        }
        if theirs.iter().any(|&length| length > MOST_LETTERS) {
            return Err(ProtocolError::PeerMisbehaved("a scanpath is too long"));
        }
        let (host_lengths, join_lengths) = match job.role {
            Role::Host => (own, theirs),
            Role::Join => (theirs, own),
        };
        let scoring = Scoring::new(job.comparison.model(), job.comparison.alphabet().size());
        let mut plan = Self {
            scoring,
            host_lengths,
            join_lengths,
            open: Vec::new(),
            stages: Vec::new(),
        };
        plan.open = (0..job.pairs.len())
            .filter(|&pair| {
                let (rows, columns) = plan.lengths(job, pair);
                rows > 0 && columns > 0
            })
            .collect();
        plan.stages = plan.stages(job);
        Ok(plan)
    }

    /// The lengths of a pair.
    pub(super) fn lengths(&self, job: &Job<'_>, pair: usize) -> (u32, u32) {
        let (host, join) = job.pairs[pair];
        (self.host_lengths[host], self.join_lengths[join])
    }

    fn portions(&self, job: &Job<'_>) -> Vec<Portion> {
        let longest = self.open.iter().map(|&pair| self.shorter(job, pair)).max();
        let gates = self.scoring.circuit(longest.unwrap_or(0)).and_gates();
        let mut portions = Vec::new();
        let (mut first, mut sum, mut shorter) = (0, 0u64, 0);
        for (place, &pair) in self.open.iter().enumerate() {
            let (rows, columns) = self.lengths(job, pair);
            let cells = u64::from(rows) * u64::from(columns);
            sum = sum.saturating_add(cells.saturating_mul(gates));
            shorter = shorter.max(self.shorter(job, pair));
            let next = place + 1;
            if sum >= PORTION_GATES || next - first == PORTION_PAIRS || next == self.open.len() {
                portions.push(Portion {
                    places: first..next,
                    circuit: self.scoring.circuit(shorter),
                });
                (first, sum, shorter) = (next, 0, 0);
            }
        }
        portions
    }

    fn shorter(&self, job: &Job<'_>, pair: usize) -> u32 {
        let (rows, columns) = self.lengths(job, pair);
        rows.min(columns)
    }

    fn stages(&self, job: &Job<'_>) -> Vec<Stage> {
        let mut stages: Vec<Stage> = Vec::new();
        let mut known: HashSet<usize> = HashSet::new();
        let mut letters = 0u64;
        for portion in self.portions(job) {
            let mut new: Vec<usize> = self.open[portion.places.clone()]
                .iter()
                .map(|&pair| job.pairs[pair].1)
                .collect();
            new.sort_unstable();
            new.dedup();
            let sum = |joins: &[usize]| -> u64 {
                joins
                    .iter()
                    .map(|&join| u64::from(self.join_lengths[join]))
                    .sum()
            };
            let missing: Vec<usize> = new
                .iter()
                .copied()
                .filter(|join| !known.contains(join))
                .collect();
            let more = sum(&missing);
            let add = match stages.last_mut() {
                Some(stage) if letters + more <= LETTERS_AT_A_TIME => {
                    letters += more;
                    stage.portions.push(portion);
                    missing
                }
                _ => {
                    known.clear();
                    letters = sum(&new);
                    stages.push(Stage {
                        columns: Vec::new(),
                        portions: vec![portion],
                    });
                    new
                }
            };
            if let Some(stage) = stages.last_mut() {
                for join in add {
                    known.insert(join);
                    let start = stage.letters();
                    let end = start + self.join_lengths[join] as usize;
                    stage.columns.push((join, start..end));
                }
            }
        }
        stages
    }

    /// The comparisons of a portion.
    pub(super) fn members<'a>(
        &'a self,
        job: &'a Job<'_>,
        columns: &'a HashMap<usize, Range<usize>>,
        portion: &Portion,
    ) -> impl Iterator<Item = Member> + 'a {
        self.open[portion.places.clone()].iter().map(move |&pair| {
            let (host, join) = job.pairs[pair];
            Member {
                pair,
                host,
                rows: self.host_lengths[host],
                columns: columns.get(&join).cloned().unwrap_or_default(),
            }
        })
    }

    /// The user's numbers for what a circuit gave out.
    pub(super) fn read(
        &self,
        job: &Job<'_>,
        pair: usize,
        number: u64,
    ) -> Result<Reading, ProtocolError> {
        let (rows, columns) = self.lengths(job, pair);
        let raw = self
            .scoring
            .raw(number, rows, columns)
            .ok_or(ProtocolError::PeerMisbehaved("a result is out of range"))?;
        Ok(job.comparison.read(raw, rows as usize, columns as usize)?)
    }
}

impl Stage {
    /// Letters of all its scanpaths.
    pub(super) fn letters(&self) -> usize {
        self.columns.last().map_or(0, |(_, range)| range.end)
    }

    /// Where each of Bob's scanpaths has its letters.
    pub(super) fn places(&self) -> HashMap<usize, Range<usize>> {
        self.columns.iter().cloned().collect()
    }
}

/// What this side gets to know, as it comes.
pub(super) struct Results<'a> {
    observer: &'a dyn Observer,
    /// No list at all where the scores are hidden from this side.
    readings: Option<Vec<Option<Reading>>>,
}

impl<'a> Results<'a> {
    /// Starts with the readings that follow from the lengths alone: those of empty scanpaths.
    pub(super) fn new(
        job: &Job<'_>,
        plan: &Plan,
        observer: &'a dyn Observer,
    ) -> Result<Self, ProtocolError> {
        let mut results = Self {
            observer,
            readings: job
                .reveal_to
                .includes(job.role)
                .then(|| vec![None; job.pairs.len()]),
        };
        for pair in 0..job.pairs.len() {
            let (rows, columns) = plan.lengths(job, pair);
            if rows == 0 || columns == 0 {
                let raw = plan.scoring.without_cells(rows, columns)?;
                let reading = job.comparison.read(raw, rows as usize, columns as usize)?;
                results.know(pair, reading);
            }
        }
        Ok(results)
    }

    /// The reading of a pair is known.
    pub(super) fn know(&mut self, pair: usize, reading: Reading) {
        let place = self.readings.as_mut().and_then(|all| all.get_mut(pair));
        if let Some(place) = place {
            *place = Some(reading);
            self.observer.scored(pair, reading);
        }
    }

    /// All readings, once there are no gaps left; nothing where they are hidden from this side.
    pub(super) fn complete(self) -> Result<Vec<Reading>, ProtocolError> {
        self.readings
            .unwrap_or_default()
            .into_iter()
            .collect::<Option<_>>()
            .ok_or(ProtocolError::Internal("a comparison was left out"))
    }
}
