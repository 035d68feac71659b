//! Counts the messages.

use super::super::PaillierOptions;
use super::{LETTERS, as_in_the_paper, ciphertexts, cohort, key, recorded_run, rng, short_key};
use std::sync::Arc;
use veilpath_metrics::Metric;
use veilpath_paillier::{KeySize, SecretKey};

const CIPHERTEXT: usize = 128;

#[test]
fn a_batch_of_one_without_packing_is_the_papers_pattern() {
    let (a, b) = (cohort(&[vec![1, 2, 3]]), cohort(&[vec![3, 4]]));
    let key = key();
    let (channel, _) = recorded_run(as_in_the_paper(), &Metric::Levenshtein, &key.secret, &a, &b);
    // Lengths, then requests: for D, three ciphertexts for each of 6 cells, and one for the result.
    let sizes: Vec<usize> = channel.received.iter().map(Vec::len).collect();
    let cell = [12, 3 * CIPHERTEXT];
    let expected: Vec<usize> = [8, 12]
        .into_iter()
        .chain([cell; 6].into_iter().flatten())
        .chain([12, 8, CIPHERTEXT])
        .collect();
    assert_eq!(sizes, expected);
    // The key holder's length, pk, D with 3·12 entries, one ciphertext for each cell, the result.
    let sizes: Vec<usize> = channel.sent.iter().map(Vec::len).collect();
    let expected: Vec<usize> = [8, 64, 36 * CIPHERTEXT]
        .into_iter()
        .chain([CIPHERTEXT; 6])
        .chain([8])
        .collect();
    assert_eq!(sizes, expected);
}

#[test]
fn the_costs_of_a_scanpath_are_sent_once_for_all_pairs() {
    let (a, b) = (
        cohort(&[vec![1, 2, 3], vec![], vec![5]]),
        cohort(&[vec![3, 4], vec![1], vec![2, 2], vec![]]),
    );
    let key = key();
    let (channel, pair_scores) =
        recorded_run(short_key(), &Metric::Levenshtein, &key.secret, &a, &b);
    assert_eq!(pair_scores.len(), 12);
    let costs = 4 * 12;
    let cells = 4 * 5;
    assert_eq!(ciphertexts(&channel.sent).len(), costs + cells);
    // One ciphertext for each cell at 512 bits, and one for each result.
    assert_eq!(ciphertexts(&channel.received).len(), cells + 6);
}

#[test]
fn no_two_ciphertexts_are_equal() {
    let (a, b) = (
        cohort(&[vec![1, 1, 1, 1]]),
        cohort(&[vec![1; 5], vec![1; 5]]),
    );
    let key = key();
    let (channel, _) = recorded_run(short_key(), &Metric::Levenshtein, &key.secret, &a, &b);
    let all = [ciphertexts(&channel.sent), ciphertexts(&channel.received)].concat();
    let distinct: std::collections::HashSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
}

/// The formula at the top of the engine is exact to the last ciphertext. Everything else is headers, lengths, the key and
/// results.
#[test]
fn traffic_follows_the_formula() {
    let (m, n, letters) = (21, 34, LETTERS as usize);
    let (a, b) = (cohort(&[vec![5; m]]), cohort(&[vec![7; n]]));
    // Cells per ciphertext, with values of 32+32+6+50+3 bits: one at 512, two at 1024; unpacked, three ciphertexts per
    // cell.
    for (size, packing, cells_each, ciphertexts_each) in [
        (KeySize::Bits512, true, 1, 1),
        (KeySize::Bits512, false, 1, 3),
        (KeySize::Bits1024, true, 2, 1),
    ] {
        let key = Arc::new(SecretKey::generate(size, &mut rng(3)).unwrap());
        let options = PaillierOptions::new(size, true)
            .unwrap()
            .with_packing(packing);
        let (channel, _) = recorded_run(options, &Metric::Levenshtein, &key, &a, &b);
        let headers: Vec<_> = channel.received.iter().filter(|b| b.len() == 12).collect();
        let batch = |header: &[u8]| u32::from_le_bytes(*header[4..].first_chunk().unwrap());
        let batches: Vec<usize> = headers.iter().map(|h| batch(h) as usize).collect();
        assert_eq!(batches.iter().sum::<usize>(), m * n);
        let masked: usize = batches
            .iter()
            .map(|cells| cells.div_ceil(cells_each) * ciphertexts_each)
            .sum();
        // Only the last ciphertext of a batch may have room left.
        let fewest = (m * n).div_ceil(cells_each) * ciphertexts_each;
        assert!((fewest..=fewest + batches.len()).contains(&masked));
        let c = size.ciphertext_bytes();
        let bytes = |buffers: &[Vec<u8>]| buffers.iter().map(Vec::len).sum::<usize>();
        let (length, result) = (8, 8);
        assert_eq!(
            bytes(&channel.received),
            length + 12 * headers.len() + masked * c + (8 + c)
        );
        assert_eq!(
            bytes(&channel.sent),
            length + c / 2 + (m * letters + m * n) * c + result
        );
    }
}
