//! The attack that works for every metric and kind of answer.
//!
//! It keeps a population of scanpaths that explain all answers so far, asks the query whose answers differ most among
//! them, and repairs those that the answer contradicts. A repair is simulated annealing: passes over the positions
//! redraw each letter, with a preference for letters that explain more. Once all members are the same scanpath, the
//! attack queries that scanpath.

use super::scorer::{Alignment, Scorer};
use super::{Effort, Oracle, Reply, letter};
use crate::AuditError;
use rand::{Rng, RngExt};
use veilpath_metrics::Bound;

/// The smallest penalty for a candidate that does not explain an answer, in units of the largest change by one letter.
const MIN_PENALTY: f64 = 0.35;

/// The first temperature of a repair, and the ratio of the last to it.
const START_TEMPERATURE: f64 = 0.7;
const END_TO_START: f64 = 0.08;

/// How often the population is repaired, each time with twice the passes, while no member explains all answers.
const ATTEMPTS: u32 = 3;

/// The number of letters that are moved between two passes.
const MOVED_LETTERS: usize = 6;

/// The maximum number of segments in a query.
const SEGMENTS: usize = 3;

/// An answer, as the range of the result to be minimised.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    low: i64,
    high: i64,
}

struct Query {
    letters: Vec<u16>,
    answer: Range,
}

struct Search<'a, R> {
    scorer: &'a Scorer,
    length: usize,
    queries: Vec<Query>,
    rng: &'a mut R,
}

pub(super) fn attack(
    oracle: &mut Oracle<'_>,
    effort: Effort,
    rng: &mut impl Rng,
) -> Result<Option<Vec<u16>>, AuditError> {
    let scorer = Scorer::new(oracle.comparison);
    let length = oracle.length()?;
    let mut search = Search {
        scorer: &scorer,
        length,
        queries: Vec::new(),
        rng,
    };
    let mut population: Vec<Vec<u16>> = (0..effort.members.max(2))
        .map(|_| (0..length).map(|_| search.any_letter()).collect())
        .collect();
    while oracle.asked() < effort.max_comparisons {
        let guess = population.first().cloned().unwrap_or_default();
        let visible = oracle.visible(&guess);
        let all_equal = population
            .iter()
            .all(|member| oracle.visible(member) == visible);
        let letters = if all_equal {
            guess.clone()
        } else {
            search.choose(oracle, &population, effort.proposals)?
        };
        let reply = oracle.ask(&letters)?;
        let answer = range(oracle, letters.len(), reply, scorer.is_maximised())?;
        let is_right = all_equal && answer.distance(scorer.raw(&letters, &guess)) == 0;
        search.queries.push(Query { letters, answer });
        if is_right && (reply != Reply::Within(true) || search.is_unique(&guess, effort)) {
            return Ok(Some(guess));
        }
        search.repair(&mut population, effort.sweeps);
    }
    Ok(None)
}

/// The range of the minimised result that a reply allows.
fn range(
    oracle: &Oracle<'_>,
    query: usize,
    reply: Reply,
    is_maximised: bool,
) -> Result<Range, AuditError> {
    let within = match reply {
        Reply::Raw(raw) => {
            let raw = if is_maximised { -raw } else { raw };
            return Ok(Range {
                low: raw,
                high: raw,
            });
        }
        Reply::Within(within) => within,
    };
    let bound = match oracle.bound(query)? {
        Some(Bound::AtMost(raw)) => raw,
        Some(Bound::AtLeast(raw)) => -raw,
        None => return Err(AuditError::Internal("a bit without a threshold")),
    };
    Ok(if within {
        Range {
            low: i64::MIN / 2,
            high: bound,
        }
    } else {
        Range {
            low: bound + 1,
            high: i64::MAX / 2,
        }
    })
}

impl Range {
    fn distance(self, raw: i64) -> i64 {
        (self.low - raw).max(raw - self.high).max(0)
    }
}

impl<R: Rng> Search<'_, R> {
    fn below(&mut self, count: usize) -> usize {
        self.rng.random_range(0..count.max(1))
    }

    fn any_letter(&mut self) -> u16 {
        letter(self.below(self.scorer.letters))
    }

    /// How badly a raw result explains an answer; 0 if it does.
    fn penalty(&self, answer: Range, raw: i64) -> f64 {
        match answer.distance(raw) {
            0 => 0.0,
            off => MIN_PENALTY + off as f64 / self.scorer.largest_change as f64,
        }
    }

    fn energy(&self, member: &[u16]) -> f64 {
        let queries = self.queries.iter();
        queries
            .map(|query| self.penalty(query.answer, self.scorer.raw(&query.letters, member)))
            .sum()
    }

    /// Makes as many members as possible explain all answers; the others become variants of these.
    fn repair(&mut self, population: &mut [Vec<u16>], sweeps: usize) {
        let mut good: Vec<Vec<u16>> = Vec::new();
        for attempt in 0..ATTEMPTS {
            for member in population.iter_mut() {
                let mut repaired = member.clone();
                let energy = self.anneal(&mut repaired, sweeps << attempt);
                if energy <= self.energy(member) {
                    *member = repaired;
                }
            }
            let explains = |member: &&Vec<u16>| self.energy(member) == 0.0;
            good = population.iter().filter(explains).cloned().collect();
            if !good.is_empty() {
                break;
            }
        }
        if good.is_empty() {
            return;
        }
        for member in population.iter_mut() {
            if self.energy(member) > 0.0 {
                let origin = good[self.below(good.len())].clone();
                let mut variant = origin.clone();
                let explains = self.anneal(&mut variant, sweeps / 2) == 0.0;
                *member = if explains { variant } else { origin };
            }
        }
    }

    /// Whether long repairs of random scanpaths find no other scanpath. A single bit cannot confirm a guess.
    fn is_unique(&mut self, guess: &[u16], effort: Effort) -> bool {
        (0..effort.members).all(|_| {
            let mut other: Vec<u16> = (0..self.length).map(|_| self.any_letter()).collect();
            let energy = self.anneal(&mut other, 4 * effort.sweeps);
            energy > 0.0 || other == guess
        })
    }

    /// Passes from hot to cold. Returns the energy at the end.
    fn anneal(&mut self, member: &mut [u16], sweeps: usize) -> f64 {
        let scorer = self.scorer;
        let queries = self.queries.iter();
        let mut alignments: Vec<Alignment> = queries
            .map(|query| scorer.alignment(&query.letters, member))
            .collect();
        let (mut scratch, mut raw) = (Vec::new(), vec![0; scorer.letters]);
        let mut energy = self.energy(member);
        for sweep in 0..sweeps {
            let progress = sweep as f64 / sweeps.saturating_sub(1).max(1) as f64;
            let temperature = START_TEMPERATURE * END_TO_START.powf(progress);
            if sweep > 0 {
                self.move_letters(member, temperature);
                for (query, alignment) in self.queries.iter().zip(&mut alignments) {
                    scorer.back(&query.letters, member, alignment);
                }
            }
            for (position, slot) in member.iter_mut().enumerate() {
                let mut energies = vec![0.0; scorer.letters];
                for (query, alignment) in self.queries.iter().zip(&alignments) {
                    let letters = &query.letters;
                    scorer.each_letter(letters, alignment, position, &mut scratch, &mut raw);
                    for (energy, &raw) in energies.iter_mut().zip(&raw) {
                        *energy += self.penalty(query.answer, raw);
                    }
                }
                let chosen = self.draw(&energies, temperature);
                *slot = letter(chosen);
                energy = energies[chosen];
                for (query, alignment) in self.queries.iter().zip(&mut alignments) {
                    scorer.advance(&query.letters, alignment, position, letter(chosen));
                }
            }
            if energy == 0.0 && 2 * sweep >= sweeps {
                break;
            }
        }
        energy
    }

    /// Draws a letter, each with the probability of its energy at this temperature.
    fn draw(&mut self, energies: &[f64], temperature: f64) -> usize {
        let min_energy = energies.iter().copied().fold(f64::INFINITY, f64::min);
        let weight = |energy: &f64| ((min_energy - energy) / temperature).exp();
        let total: f64 = energies.iter().map(weight).sum();
        let mut left = self.rng.random::<f64>() * total;
        let passed = |energy: &f64| {
            left -= weight(energy);
            left <= 0.0
        };
        let found = energies.iter().position(passed);
        found.unwrap_or(energies.len().saturating_sub(1))
    }

    /// Moves letters to other positions.
    fn move_letters(&mut self, member: &mut [u16], temperature: f64) {
        let mut energy = self.energy(member);
        for _ in 0..MOVED_LETTERS {
            let (one, other) = (self.below(member.len()), self.below(member.len()));
            if one == other {
                continue;
            }
            let part = one.min(other)..=one.max(other);
            let before = member[part.clone()].to_vec();
            match self.below(3) {
                0 => member.swap(one, other),
                1 => member[part.clone()].rotate_left(1),
                _ => member[part.clone()].rotate_right(1),
            }
            let after = self.energy(member);
            if self.rng.random::<f64>() < ((energy - after) / temperature).exp() {
                energy = after;
            } else {
                member[part].copy_from_slice(&before);
            }
        }
    }

    /// The query, out of some random ones, whose answers differ most among the population.
    fn choose(
        &mut self,
        oracle: &Oracle<'_>,
        population: &[Vec<u16>],
        proposals: usize,
    ) -> Result<Vec<u16>, AuditError> {
        let mut best = (f64::NEG_INFINITY, Vec::new());
        for _ in 0..proposals.max(1) {
            let query = self.propose(population);
            let bound = oracle.bound(query.len())?;
            let mut answers: Vec<i64> = population
                .iter()
                .map(|member| {
                    let raw = self.scorer.raw(&query, member);
                    match bound {
                        None => raw,
                        Some(Bound::AtMost(bound)) => i64::from(raw <= bound),
                        Some(Bound::AtLeast(bound)) => i64::from(-raw >= bound),
                    }
                })
                .collect();
            answers.sort_unstable();
            let entropy: f64 = answers
                .chunk_by(|one, other| one == other)
                .map(|group| group.len() as f64 / answers.len() as f64)
                .map(|share| -share * share.log2())
                .sum();
            if entropy > best.0 {
                best = (entropy, query);
            }
        }
        Ok(best.1)
    }

    /// A query of segments: a part of a member, one letter repeated, or a random set of letters repeated.
    fn propose(&mut self, population: &[Vec<u16>]) -> Vec<u16> {
        let (n, k) = (self.length.max(1), self.scorer.letters);
        let mut query = Vec::new();
        for _ in 0..=self.below(SEGMENTS) {
            match self.below(4) {
                0 => {
                    let member = &population[self.below(population.len())];
                    let (one, other) = (self.below(member.len() + 1), self.below(member.len() + 1));
                    query.extend_from_slice(&member[one.min(other)..one.max(other)]);
                }
                1 => {
                    let (x, count) = (self.any_letter(), 1 + self.below(n));
                    query.extend(std::iter::repeat_n(x, count));
                }
                _ => {
                    let mut set: Vec<u16> = (0..k).map(letter).collect();
                    for index in 0..k {
                        let other = index + self.below(k - index);
                        set.swap(index, other);
                    }
                    set.truncate(1 + self.below(k));
                    let count = 1 + self.below(3 * n);
                    query.extend(set.into_iter().cycle().take(count));
                }
            }
        }
        if query.is_empty() {
            query.push(self.any_letter());
        }
        query
    }
}
