//! Scores with Paillier keys of different lengths.

use super::{cohort, equals_plain_comparison, metrics};
use crate::{Engine, PaillierOptions};
use veilpath_metrics::Metric;
use veilpath_paillier::KeySize;

#[test]
fn keys_of_usual_sizes_give_the_plain_score() {
    let metrics = metrics();
    scores_with_keys(&[
        (KeySize::Bits1024, &metrics[0], true),
        (KeySize::Bits1024, &metrics[9], false),
        (KeySize::Bits2048, &metrics[7], true),
    ]);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn long_keys_give_the_plain_score() {
    let metrics = metrics();
    scores_with_keys(&[
        (KeySize::Bits3072, &metrics[2], false),
        (KeySize::Bits4096, &metrics[0], true),
    ]);
}

/// Only the time and the number of cells per ciphertext depend on the length of the key, so one metric each is enough.
fn scores_with_keys(cases: &[(KeySize, &Metric, bool)]) {
    let (a, b) = (
        cohort(&[vec![0, 11, 3, 3, 5], vec![7]]),
        cohort(&[vec![11, 3, 4], vec![5; 6]]),
    );
    for (size, metric, hardened) in cases {
        let options = PaillierOptions::new(*size, true).unwrap();
        let engine = Engine::Paillier(options.with_hardening(*hardened));
        equals_plain_comparison(engine, metric, &a, &b);
    }
}
