//! Measuring one step: both parties on this machine, over TLS on loopback, as `veilpath compare` does it.

use super::record::{Measured, Record};
use crate::cohorts::Plan;
use crate::commands::bench::{candidates, cell};
use crate::failure::Failure;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use std::time::Instant;
use veilpath_metrics::{Alphabet, Cohort, Entry};
use veilpath_paillier::{KeySize, SecretKey};
use veilpath_protocol::{Engine, Outcome, PaillierOptions, PairRule, Spec};
use veilpath_session::{HostKey, compare_on_loopback};

/// Letters, as in the paper.
pub(super) const LETTERS: u32 = 52;

/// One comparison has no deviation.
pub(super) const LEAST_COMPARISONS: usize = 2;

/// An engine, with its key where it needs one: keys are made once and are not part of any time here.
pub(super) struct Ready {
    pub(super) which: Measured,
    engine: Engine,
    key: Option<HostKey>,
}

impl Ready {
    pub(super) fn new(which: Measured) -> Result<Self, Failure> {
        let (engine, key) = match which {
            Measured::Garbled => (Engine::Garbled, None),
            Measured::Paillier(bits) => {
                let size =
                    KeySize::try_from(bits).map_err(|error| Failure::input(error.to_string()))?;
                let options = PaillierOptions::new(size, true)?;
                let mut rng = rand::rng();
                let key = SecretKey::generate(size, &mut rng)
                    .map_err(|error| Failure::input(error.to_string()))?;
                (Engine::Paillier(options), Some(HostKey::from(key)))
            }
        };
        Ok(Self { which, engine, key })
    }

    /// One cell, with many comparisons in flight; without a time, with a few.
    pub(super) fn cell(&self, seconds: Option<f64>) -> Result<Record, Failure> {
        let rule = cell::Rule::of_paper()?;
        let measured = match seconds {
            Some(seconds) => cell::measure_for(self.engine, &rule, seconds),
            None => cell::measure_shortly(self.engine, &rule),
        }?;
        Ok(Record::Cell {
            engine: self.which,
            seconds: measured.seconds_per_cell,
            alice: measured.alice,
            bob: measured.bob,
            bytes: measured.bytes,
        })
    }

    /// Each pair by itself, as many as fit into so many seconds but no fewer than two: its seconds, and the bytes of the last one.
    pub(super) fn alone(
        &self,
        pairs: &[Plan],
        allowed: f64,
    ) -> Result<(Vec<f64>, [u64; 2]), Failure> {
        let mut seconds = Vec::new();
        let mut bytes = [0; 2];
        for pair in pairs {
            let (count, spent) = (seconds.len(), seconds.iter().sum::<f64>());
            if count >= LEAST_COMPARISONS && spent + spent / count as f64 > allowed {
                break;
            }
            let (outcome, time) = self.compare(pair, PairRule::All)?;
            bytes = [outcome.cost.bytes_sent, outcome.cost.bytes_received];
            seconds.push(time);
        }
        Ok((seconds, bytes))
    }

    /// All pairs of equal stimulus in one session.
    pub(super) fn whole(&self, name: &str, plan: &Plan) -> Result<Record, Failure> {
        let (outcome, seconds) = self.compare(plan, PairRule::SameStimulus)?;
        Ok(Record::Whole {
            data: name.into(),
            engine: self.which,
            comparisons: outcome.results.len(),
            cells: outcome.cost.cells,
            seconds,
            bytes: [outcome.cost.bytes_sent, outcome.cost.bytes_received],
        })
    }

    fn compare(&self, plan: &Plan, rule: PairRule) -> Result<(Outcome, f64), Failure> {
        let Plan { a, b, metric } = plan;
        let spec = Spec::new(self.engine, metric.clone(), rule, a, b)?;
        let start = Instant::now();
        let outcome = compare_on_loopback(&spec, self.key.clone(), [a, b], [&(), &()])
            .map_err(Failure::from)?;
        Ok((outcome, start.elapsed().as_secs_f64()))
    }
}

/// The letters of all measurements.
pub(super) fn alphabet() -> Result<Alphabet, Failure> {
    Alphabet::letters(LETTERS).map_err(|error| Failure::input(error.to_string()))
}

/// A cohort of one.
pub(super) fn single(like: &Cohort, entry: &Entry) -> Cohort {
    Cohort {
        alphabet: like.alphabet,
        encoding: like.encoding.clone(),
        entries: vec![entry.clone()],
    }
}

/// Matrices filled in a random order.
pub(super) fn order(size: u32, runs: u32, seed: u64, steps: &[usize]) -> Record {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let counted = candidates::count(size, runs, &mut rng);
    let choices = steps
        .iter()
        .filter_map(|&step| Some((step, *counted.cumulative.get(step - 1)?)))
        .collect();
    Record::Order {
        size,
        candidates: counted.mean,
        deviation: counted.deviation,
        choices,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may fail

    use super::super::lengths::random;
    use super::*;
    use veilpath_metrics::{Encoding, Metric};

    #[test]
    fn no_time_is_enough_for_two_comparisons() {
        let alphabet = alphabet().unwrap();
        let cohort = Cohort {
            alphabet,
            encoding: Encoding::default(),
            entries: vec![Entry {
                participant: "P".into(),
                stimulus: None,
                scanpath: random(alphabet, 3, &mut ChaCha20Rng::seed_from_u64(1)),
            }],
        };
        let pair = Plan {
            a: cohort.clone(),
            b: cohort,
            metric: Metric::Levenshtein,
        };
        let pairs = vec![pair; 4];
        let engine = Ready::new(Measured::Garbled).unwrap();
        let count = |allowed| engine.alone(&pairs, allowed).unwrap().0.len();
        assert_eq!([count(0.0), count(f64::INFINITY)], [2, 4]);
    }
}
