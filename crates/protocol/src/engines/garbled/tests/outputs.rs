//! A pair opens no more bits than its own results have, even if other pairs are compared together with it.

use super::*;
use crate::engines::alignment::private_metric::PrivateMetric;
use crate::{PairStore, Refused};
use std::collections::HashMap;
use veilpath_metrics::LocalScoring;

/// The halves of all outputs.
#[derive(Default)]
struct HalvesInMemory(Mutex<HashMap<usize, u64>>);

impl PairStore for HalvesInMemory {
    fn store_halves(&self, pairs: &[usize], halves: &[u64]) -> Result<(), Refused> {
        let pairs = pairs.iter().copied();
        self.0
            .lock()
            .unwrap()
            .extend(pairs.zip(halves.iter().copied()));
        Ok(())
    }
}

/// The halves of both sides.
fn halves(spec: &Spec, a: &Cohort, b: &Cohort) -> [HashMap<usize, u64>; 2] {
    let pairs = pairs_of(spec.pair_rule, a, b);
    let (first, second) = (scanpaths(a), scanpaths(b));
    let (mut host_end, mut join_end) = memory_pair();
    let stores = [HalvesInMemory::default(), HalvesInMemory::default()];
    let [host_progress, join_progress] = &stores;
    let host = Job::new(spec, Role::Host, &first, second.len(), &pairs).unwrap();
    let join = Job::new(spec, Role::Join, &second, first.len(), &pairs).unwrap();
    let (host, join) = (
        host.with_store(host_progress),
        join.with_store(join_progress),
    );
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut rng = ChaCha20Rng::seed_from_u64(2);
            join_with(&join, &mut join_end, &(), one_thread(), &mut rng).unwrap();
        });
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        host_with(&host, &mut host_end, &(), one_thread(), &mut rng).unwrap();
    });
    stores.map(|store| store.0.into_inner().unwrap())
}

/// One portion has matrices of many shapes, and a local alignment's cells are as wide as the longest scanpath needs.
#[test]
fn a_short_pair_opens_few_bits_beside_long_ones() {
    let local = Metric::SmithWaterman {
        scoring: LocalScoring::Unit {
            reward: 3.0,
            mismatch: 1.0,
        },
        gap: 2.0,
        scale: None,
    };
    for metric in metrics().iter().chain([&local]) {
        let short = random_cohort(4, 1..4, 1);
        let mut a = random_cohort(3, 24..32, 2);
        a.entries.extend(short.entries);
        let b = random_cohort(3, 24..32, 3);
        let spec = spec(metric, &a, &b);
        let both = halves(&spec, &a, &b);
        let job_pairs = pairs_of(spec.pair_rule, &a, &b);
        let comparison = Comparison::new(metric.clone(), spec.alphabet).unwrap();
        let scoring = PrivateMetric::new(comparison.model(), spec.alphabet.size(), None);
        for (pair, (i, j)) in job_pairs.into_iter().enumerate() {
            let length = |cohort: &Cohort, index: usize| {
                u32::try_from(cohort.entries[index].scanpath.len()).unwrap()
            };
            let bits = scoring.output_bits(length(&a, i), length(&b, j));
            for halves in &both {
                assert_eq!(halves[&pair] >> bits, 0, "{metric:?}, pair {pair}");
            }
        }
    }
}

/// Every possible number, and no other, is recovered from its lowest bits.
#[test]
fn outputs_are_the_possible_numbers() {
    for metric in metrics() {
        let alphabet = random_cohort(0, 1..2, 1).alphabet;
        let comparison = Comparison::new(metric.clone(), alphabet).unwrap();
        let scoring = PrivateMetric::new(comparison.model(), alphabet.size(), None);
        for (rows, columns) in [(1, 1), (1, 9), (9, 1), (3, 4), (7, 2), (6, 6)] {
            let bits = scoring.output_bits(rows, columns);
            let all = (0..1u64 << bits.min(20)).filter_map(|it| scoring.raw(it, rows, columns));
            let mut all: Vec<i64> = all.collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count, "{metric:?} {rows} × {columns}");
            assert!(
                count > 1 << (bits.min(20) - 1),
                "{metric:?} {rows} × {columns}"
            );
            assert_eq!(scoring.raw(1 << bits, rows, columns), None);
        }
    }
}
