//! A matrix owner reads a short scanpath of the key holder through results of a long one, which have more values.

use super::hostile::{header, length, secret};
use super::{LETTERS, cohort, short_key, spec};
use crate::{DefaultLimit, Job, PairStore, Refused, Role};
use num_bigint::BigUint;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use veilpath_channel::{Channel, memory_pair};
use veilpath_metrics::{Metric, Scanpath};

/// Counts started pairs of all scanpaths together, and refuses more than the limit.
struct Charged {
    count: AtomicU64,
    limit: u64,
}

impl PairStore for Charged {
    fn start(&self, pairs: &[usize]) -> Result<(), Refused> {
        let before = self.count.fetch_add(pairs.len() as u64, Ordering::Relaxed);
        match before + pairs.len() as u64 <= self.limit {
            true => Ok(()),
            false => Err(Refused),
        }
    }
}

/// The default limit of the short scanpath is half of what any partner needs on average. All pairs count together.
#[test]
fn results_of_a_long_scanpath_stay_within_the_limit_of_a_short_one() {
    let secret_letters: Vec<u16> = (0..20).map(|at| (at * at + 5 * at + 3) % 12).collect();
    // Three letters have 12³ values, and so have distances of this many letters.
    let long = vec![1; 12 * 12 * 12 - 1];
    let host_cohort = cohort(&[secret_letters.clone(), long.clone()]);
    // As if paired by stimulus: one pair with the short scanpath, seven with the long one.
    let mut join_cohort = vec![vec![0u16]];
    join_cohort.extend(vec![long; 7]);
    let join_cohort = cohort(&join_cohort);
    let pairs: Vec<(usize, usize)> = (0..8).map(|join| (usize::from(join > 0), join)).collect();
    let spec = spec(short_key(), Metric::Levenshtein, &host_cohort, &join_cohort);
    let default = DefaultLimit::new(&spec, Some(LETTERS)).unwrap();
    // After the short pair, five results of the long scanpath would reveal three quarters of the letters.
    assert_eq!(default.comparisons(20), 6);
    let default = default.for_any_scanpath_up_to(1727);
    let limits = [20, 1727].map(|length| default.comparisons(length));
    let store = Charged {
        count: AtomicU64::new(0),
        limit: limits[0].min(limits[1]),
    };
    let own: Vec<Scanpath> = host_cohort
        .entries
        .iter()
        .map(|it| it.scanpath.clone())
        .collect();
    let own: Vec<&Scanpath> = own.iter().collect();
    let lengths: Vec<usize> = join_cohort
        .entries
        .iter()
        .map(|it| it.scanpath.len())
        .collect();
    let job = Job::new(&spec, Role::Host, &own, lengths.len(), &pairs).unwrap();
    let job = job.with_peer_lengths(&lengths).unwrap();
    let job = job.with_key(Arc::clone(secret())).with_store(&store);
    let sent_lengths = lengths.clone();
    let (mut host_end, mut channel) = memory_pair();
    let learned = std::thread::scope(|scope| {
        let attacker = scope.spawn(move || {
            for it in sent_lengths {
                channel.send(&length(it as u64)).unwrap();
            }
            channel.flush().unwrap();
            let mut ignored = [0; 16];
            channel.receive(&mut ignored).unwrap();
            let mut modulus = [0; 64];
            channel.receive(&mut modulus).unwrap();
            let n = BigUint::from_bytes_be(&modulus);
            let square = &n * &n;
            // The costs of the short scanpath's letters.
            channel.send(&header(20, 0, 0)).unwrap();
            channel.flush().unwrap();
            let mut costs = vec![0; 20 * 12 * 128];
            channel.receive(&mut costs).unwrap();
            let costs: Vec<BigUint> = costs.chunks(128).map(BigUint::from_bytes_be).collect();
            // D is 0 for the letter and 1 for the others: the letter is 66 − Σ k·D(k).
            let letter = |at: usize| {
                let mut sum = (BigUint::from(66u32) * &n + 1u32) % &square;
                for k in 1..12 {
                    sum = sum * costs[12 * at + k].modpow(&(&n - k), &square) % &square;
                }
                sum
            };
            let mut learned: Vec<u16> = Vec::new();
            for pair in 1..8u64 {
                let first = learned.len();
                let at: Vec<usize> = (first..20.min(first + 3)).collect();
                let mut number = BigUint::from(1u32);
                for (place, &at) in at.iter().enumerate() {
                    let factor = BigUint::from(12u32.pow(place as u32));
                    number = number * letter(at).modpow(&factor, &square) % &square;
                }
                let bytes = number.to_bytes_be();
                let bytes = [vec![0; 128 - bytes.len()], bytes].concat();
                let open = [header(0, 0, 1), length(pair), bytes].concat();
                channel.send(&open).unwrap();
                channel.flush().unwrap();
                let mut opened = [0; 8];
                if channel.receive(&mut opened).is_err() {
                    break;
                }
                let mut opened = u64::from_le_bytes(opened);
                for _ in at {
                    learned.push((opened % 12) as u16);
                    opened /= 12;
                }
            }
            learned
        });
        let _ = spec.engine.run(&job, &mut host_end, &());
        drop(host_end);
        attacker.join().unwrap()
    });
    let both = learned.iter().zip(&secret_letters);
    let known = both.filter(|(learned, secret)| learned == secret).count();
    // Three letters for each of the results that the limit allows; the first pair is spent on the costs.
    assert!((3..=10).contains(&known), "{known} of 20 letters");
}

/// What a matrix owner can tell apart after one charged pair: the result, whether it was refused, and whether the run failed at the
/// end because a masked number was out of range. Each may depend on the key holder's letters.
#[test]
fn all_that_a_pair_reveals_stays_within_the_limit() {
    let spec_of = |length: usize| {
        let both = cohort(&[vec![1; length]]);
        spec(short_key(), Metric::Levenshtein, &both, &both)
    };
    let mut ends = std::collections::BTreeSet::new();
    for masked in [0, -1] {
        for result in 0..=2 {
            let spec = spec_of(1);
            let own = Scanpath::new(vec![1]);
            let store = Charged {
                count: AtomicU64::new(0),
                limit: 1,
            };
            let (own, pairs) = ([&own], [(0, 0)]);
            let job = Job::new(&spec, Role::Host, &own, 1, &pairs).unwrap();
            let job = job.with_key(Arc::clone(secret())).with_store(&store);
            let (mut host_end, mut channel) = memory_pair();
            let end = std::thread::scope(|scope| {
                let attacker = scope.spawn(move || {
                    let encrypted = super::hostile::encrypted;
                    let masked = [header(0, 1, 0), encrypted(masked)].concat();
                    let open = [header(0, 0, 1), length(0), encrypted(result)].concat();
                    channel.send(&[length(1), masked, open].concat()).unwrap();
                    channel.flush().unwrap();
                    // The length, the key and the minimum.
                    channel.receive(&mut [0; 8 + 64 + 128]).unwrap();
                    let mut opened = [0; 8];
                    let opened = channel.receive(&mut opened).map(|()| opened[0]);
                    opened.ok()
                });
                let run = spec.engine.run(&job, &mut host_end, &());
                drop(host_end);
                (attacker.join().unwrap(), run.is_ok())
            });
            assert_eq!(store.count.load(Ordering::Relaxed), 1);
            ends.insert(end);
        }
    }
    // Two results with either end, and a refusal.
    let per_pair = |length: u64| ((length + 1) * ends.len() as u64 / 2) as f64;
    for length in [1, 3, 5, 10, 20] {
        let spec = spec_of(length);
        let default = DefaultLimit::new(&spec, Some(LETTERS)).unwrap();
        let bits = default.comparisons(length as u64) as f64 * per_pair(length as u64).log2();
        let secret = length as f64 * f64::from(LETTERS).log2();
        assert!(
            bits <= secret / 2.0,
            "{length} letters: {bits:.1} of {secret:.1} bits"
        );
    }
}
