//! Whole runs of the hardened variant with masks at the ends of their ranges, and with every metric.

use super::super::PaillierOptions;
use super::{cohort, key, recorded_run_with, rng, short_key};
use crate::engines::tests::metrics;
use proptest::prelude::*;
use rand::rand_core::{TryCryptoRng, TryRng};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha20Rng;
use std::convert::Infallible;
use std::sync::{Arc, OnceLock};
use veilpath_metrics::{Comparison, LocalScoring, MAX_COST, Metric, Substitution};
use veilpath_paillier::{KeySize, SecretKey};

/// Returns bits that are all zero or all one. So each multiplier and its noise are the smallest or the largest, and each
/// pad is 0 or full, in all combinations.
struct ExtremeRng(ChaCha20Rng);

impl TryRng for ExtremeRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok([0, u32::MAX][usize::from(self.0.random::<bool>())])
    }

    /// The coin that decides whether a multiplier is kept. A coin of all ones would never keep the largest.
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(0)
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        let all = [0, u8::MAX][usize::from(self.0.random::<bool>())];
        out.fill(all);
        Ok(())
    }
}

impl TryCryptoRng for ExtremeRng {}

/// The usual metrics, and the largest costs and scores of either sign.
fn all_metrics() -> Vec<Metric> {
    let greatest = f64::from(MAX_COST);
    let global = |mismatch, insert, delete| Metric::NeedlemanWunsch {
        substitution: Substitution::Unit { mismatch },
        insert,
        delete,
        scale: Some(1),
    };
    let local = |reward, mismatch, gap| Metric::SmithWaterman {
        scoring: LocalScoring::Unit { reward, mismatch },
        gap,
        scale: Some(1),
    };
    let costliest = [
        global(greatest, greatest, greatest),
        global(greatest, 0.0, 1.0),
        global(0.0, 0.0, 0.0),
        local(greatest, greatest, greatest),
        local(0.0, greatest, 0.0),
        local(greatest, 0.0, 0.0),
    ];
    metrics().into_iter().chain(costliest).collect()
}

fn secret(size: KeySize) -> Arc<SecretKey> {
    static SHORT: OnceLock<Arc<SecretKey>> = OnceLock::new();
    static LONGER: OnceLock<Arc<SecretKey>> = OnceLock::new();
    let longer = || Arc::new(SecretKey::generate(size, &mut rng(8)).unwrap());
    Arc::clone(match size {
        KeySize::Bits512 => SHORT.get_or_init(|| key().secret),
        _ => LONGER.get_or_init(longer),
    })
}

/// Checks that both sides give the plain score, with masks at the ends of their ranges.
fn equals_plain_score(
    options: PaillierOptions,
    metric: &Metric,
    pair: (&[u16], &[u16]),
    seed: u64,
) {
    let (a, b) = (cohort(&[pair.0.to_vec()]), cohort(&[pair.1.to_vec()]));
    let (x, y) = (&a.entries[0].scanpath, &b.entries[0].scanpath);
    let comparison = Comparison::new(metric.clone(), a.alphabet).unwrap();
    let raw = comparison.raw(x, y).unwrap();
    let expected = comparison.read(raw, x.len(), y.len()).unwrap();
    let key = secret(options.key_size());
    let mut ends = ExtremeRng(rng(seed));
    let (_, pair_scores) = recorded_run_with(options, metric, &key, (&a, &b), &mut ends);
    assert_eq!(pair_scores, [expected], "{metric:?} {pair:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2))]
    #[test]
    fn extreme_masks_give_the_plain_score(
        a in prop::collection::vec(0..12u16, 1..6),
        b in prop::collection::vec(0..12u16, 1..6),
        seed in any::<u64>(),
    ) {
        let hardened = short_key().with_hardening(true);
        for metric in all_metrics() {
            equals_plain_score(hardened, &metric, (&a, &b), seed);
            equals_plain_score(hardened.with_packing(false), &metric, (&a, &a), seed);
        }
    }
}

/// Several cells share a ciphertext, and the last group of a batch is not full.
#[test]
fn extreme_masks_do_not_change_neighbouring_cells() {
    let options = PaillierOptions::new(KeySize::Bits2048, true).unwrap();
    let hardened = options.with_hardening(true);
    let (a, b) = ([3, 1, 4], [1, 5, 9, 2, 6]);
    for metric in all_metrics().iter().rev().step_by(5) {
        equals_plain_score(hardened, metric, (&a, &b), 1);
    }
}

/// The generator behaves as documented.
#[test]
fn extreme_masks_are_all_zeros_or_all_ones() {
    let mut ends = ExtremeRng(rng(2));
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..64 {
        let mut bytes = [7; 32];
        ends.fill_bytes(&mut bytes);
        assert!(bytes == [0; 32] || bytes == [255; 32]);
        seen.insert((bytes[0], ends.next_u32()));
    }
    assert_eq!(seen.len(), 4);
}
