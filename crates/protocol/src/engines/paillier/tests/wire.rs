//! The messages, counted.

use super::{as_in_the_paper, ciphertexts, cohort, key, recorded_run, short_key};
use veilpath_metrics::Metric;

const CIPHERTEXT: usize = 128;

#[test]
fn a_batch_of_one_without_packing_is_the_papers_pattern() {
    let (a, b) = (cohort(&[vec![1, 2, 3]]), cohort(&[vec![3, 4]]));
    let key = key();
    let (line, _) = recorded_run(as_in_the_paper(), &Metric::Levenshtein, &key.secret, &a, &b);
    // Lengths, then questions: for D, for each of 6 cells three ciphertexts, for the result one.
    let sizes: Vec<usize> = line.received.iter().map(Vec::len).collect();
    let cell = [12, 3 * CIPHERTEXT];
    let expected: Vec<usize> = [8, 12]
        .into_iter()
        .chain([cell; 6].into_iter().flatten())
        .chain([12, 8, CIPHERTEXT])
        .collect();
    assert_eq!(sizes, expected);
    // Her length, pk, D with 3·12 entries, one ciphertext for each cell, the result.
    let sizes: Vec<usize> = line.sent.iter().map(Vec::len).collect();
    let expected: Vec<usize> = [8, 64, 36 * CIPHERTEXT]
        .into_iter()
        .chain([CIPHERTEXT; 6])
        .chain([8])
        .collect();
    assert_eq!(sizes, expected);
}

#[test]
fn a_scanpaths_costs_travel_once_for_all_pairs() {
    let (a, b) = (
        cohort(&[vec![1, 2, 3], vec![], vec![5]]),
        cohort(&[vec![3, 4], vec![1], vec![2, 2], vec![]]),
    );
    let key = key();
    let (line, readings) = recorded_run(short_key(), &Metric::Levenshtein, &key.secret, &a, &b);
    assert_eq!(readings.len(), 12);
    let costs = 4 * 12;
    let cells = 4 * 5;
    assert_eq!(ciphertexts(&line.sent).len(), costs + cells);
    // One ciphertext for each cell at 512 bits, and one for each result.
    assert_eq!(ciphertexts(&line.received).len(), cells + 6);
}

#[test]
fn no_two_ciphertexts_are_equal() {
    let (a, b) = (
        cohort(&[vec![1, 1, 1, 1]]),
        cohort(&[vec![1; 5], vec![1; 5]]),
    );
    let key = key();
    let (line, _) = recorded_run(short_key(), &Metric::Levenshtein, &key.secret, &a, &b);
    let all = [ciphertexts(&line.sent), ciphertexts(&line.received)].concat();
    let distinct: std::collections::HashSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
}
