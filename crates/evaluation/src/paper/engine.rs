//! Measures one step. Both parties run on this machine, over TLS on loopback.

use super::measurements::{MeasuredEngine, Measurement};
use crate::{CohortPair, Error, candidates, cell};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use std::time::Instant;
use veilpath_metrics::{Cohort, Entry};
use veilpath_paillier::{KeySize, SecretKey};
use veilpath_protocol::{Engine, Outcome, PaillierOptions, PairRule, Spec};
use veilpath_session::{HostKey, compare_on_loopback};

/// The minimum number of comparisons in a step: a single one has no deviation.
pub(super) const MIN_COMPARISONS: usize = 2;

/// An engine with its key, if it needs one. The key is generated once, outside all measured times.
pub(super) struct PreparedEngine {
    which: MeasuredEngine,
    engine: Engine,
    key: Option<HostKey>,
}

impl PreparedEngine {
    pub(super) fn new(which: MeasuredEngine) -> Result<Self, Error> {
        let (engine, key) = match which {
            MeasuredEngine::Garbled => (Engine::Garbled, None),
            MeasuredEngine::Shares => (Engine::Shares, None),
            MeasuredEngine::Paillier(bits) => {
                let size = KeySize::try_from(bits)?;
                let options = PaillierOptions::new(size, true)?;
                let key = SecretKey::generate(size, &mut rand::rng())?;
                (Engine::Paillier(options), Some(HostKey::from(key)))
            }
        };
        Ok(Self { which, engine, key })
    }

    /// Measures one cell while many comparisons run for `seconds`; with `None`, while a few run.
    pub(super) fn cell(&self, seconds: Option<f64>) -> Result<Measurement, Error> {
        let scoring = cell::Scoring::paper()?;
        let cost = match seconds {
            Some(seconds) => cell::measure_for(self.engine, &scoring, seconds),
            None => cell::measure_briefly(self.engine, &scoring),
        }?;
        Ok(Measurement::Cell {
            engine: self.which,
            seconds: cost.seconds_per_cell,
            host: cost.host_seconds_per_cell,
            join: cost.join_seconds_per_cell,
            bytes: cost.bytes_per_cell,
        })
    }

    /// Compares pairs, each in its own session: as many as fit into `max_seconds`, but at least two. Returns their times in
    /// seconds, and the bytes of the last one.
    pub(super) fn one_by_one(
        &self,
        pairs: &[CohortPair],
        max_seconds: f64,
    ) -> Result<(Vec<f64>, [u64; 2]), Error> {
        let mut seconds = Vec::new();
        let mut bytes = [0; 2];
        for pair in pairs {
            let (count, spent) = (seconds.len(), seconds.iter().sum::<f64>());
            if count >= MIN_COMPARISONS && spent + spent / count as f64 > max_seconds {
                break;
            }
            let (outcome, time) = self.compare(pair, PairRule::All)?;
            bytes = [outcome.cost.bytes_sent, outcome.cost.bytes_received];
            seconds.push(time);
        }
        Ok((seconds, bytes))
    }

    /// Compares all scanpaths of the same stimulus in one session.
    pub(super) fn full(&self, name: &str, pair: &CohortPair) -> Result<Measurement, Error> {
        let (outcome, seconds) = self.compare(pair, PairRule::SameStimulus)?;
        Ok(Measurement::Full {
            data: name.into(),
            engine: self.which,
            comparisons: outcome.results.len(),
            cells: outcome.cost.cells,
            seconds,
            bytes: [outcome.cost.bytes_sent, outcome.cost.bytes_received],
        })
    }

    fn compare(&self, pair: &CohortPair, rule: PairRule) -> Result<(Outcome, f64), Error> {
        let CohortPair { a, b, metric } = pair;
        let spec = Spec::new(self.engine, metric.clone(), rule, a, b)?;
        let start = Instant::now();
        let outcome = compare_on_loopback(&spec, self.key.clone(), [a, b], [&(), &()])?;
        Ok((outcome, start.elapsed().as_secs_f64()))
    }
}

/// A cohort of one scanpath.
pub(super) fn cohort_of_one(like: &Cohort, entry: &Entry) -> Cohort {
    Cohort {
        alphabet: like.alphabet,
        encoding: like.encoding.clone(),
        screen: like.screen,
        entries: vec![entry.clone()],
    }
}

/// Fills matrices in a random order.
pub(super) fn random_order(size: u32, runs: u32, seed: u64, steps: &[usize]) -> Measurement {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let counts = candidates::count(size, runs, &mut rng);
    let log2_orders = steps
        .iter()
        .filter_map(|&step| Some((step, *counts.cumulative_log2.get(step - 1)?)))
        .collect();
    Measurement::Order {
        size,
        candidates: counts.mean_candidates,
        deviation: counts.deviation,
        log2_orders,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may fail

    use super::*;
    use crate::random_scanpath;
    use veilpath_metrics::{Encoding, Metric};

    #[test]
    fn at_least_two_comparisons_are_measured() {
        let alphabet = cell::alphabet(None).unwrap();
        let cohort = Cohort {
            alphabet,
            encoding: Encoding::default(),
            screen: None,
            entries: vec![Entry {
                participant: "P".into(),
                group: None,
                stimulus: None,
                scanpath: random_scanpath(alphabet, 3, &mut ChaCha20Rng::seed_from_u64(1)),
                fixations: None,
            }],
        };
        let pair = CohortPair {
            a: cohort.clone(),
            b: cohort,
            metric: Metric::Levenshtein,
        };
        let pairs = vec![pair; 4];
        let engine = PreparedEngine::new(MeasuredEngine::Garbled).unwrap();
        let count = |max_seconds| engine.one_by_one(&pairs, max_seconds).unwrap().0.len();
        assert_eq!([count(0.0), count(f64::INFINITY)], [2, 4]);
    }
}
