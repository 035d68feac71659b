//! Checks permutations against another ChaCha20 implementation.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use serde_json::Value;
use veilpath_statistics::Coins;

/// `assurance/statistics/vectors.py` generates the expected permutation.
#[test]
fn a_permutation_equals_that_of_another_program() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/statistics/expected.json"
    );
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let coins = Coins::of_number(expected["seed"].as_u64().unwrap(), 0);
    let found = serde_json::to_value(coins.permutation(3, 7)).unwrap();
    assert_eq!(found, expected["permutation_of_7"]);
}
