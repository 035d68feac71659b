//! The hardened variant: its masks, and what Alice sees of them.

use super::super::hardened::{Shape, log_uniform};
use super::super::watch::watch_key_holder;
use super::{assert_uniform, ciphertexts, cohort, key, recorded_run, rng, short_key, spec};
use crate::pairs_of;
use crypto_bigint::{BoxedUint, U256};
use std::sync::Arc;
use veilpath_metrics::{Metric, Scanpath, Substitution};
use veilpath_paillier::KeySize;

fn absolute() -> Metric {
    Metric::NeedlemanWunsch {
        substitution: Substitution::Index,
        insert: 1.0,
        delete: 1.0,
        scale: None,
    }
}

#[test]
fn multipliers_are_log_uniform() {
    let mut rng = rng(1);
    let (mut octaves, mut halves) = ([0; 16], [0; 2]);
    for _ in 0..16_000 {
        let number = log_uniform(128, &mut rng);
        assert!(*number > U256::ZERO && number.bits() <= 128);
        octaves[(number.bits() as usize - 1) / 8] += 1;
        // Half of each octave lies below √2 times its start.
        if number.bits() > 64 {
            let leading = number.shr_vartime(number.bits() - 53).to_words()[0];
            let low = (leading as f64) < 2f64.powf(52.5);
            halves[usize::from(low)] += 1;
        }
    }
    assert_uniform("octaves", &octaves);
    assert_uniform("halves of octaves", &halves);
}

#[test]
fn slots_hold_the_largest_numbers_or_costs_are_refused() {
    for (width, largest) in [(3, 1), (3, 107), (3, 1 << 30), (4, 1 << 20)] {
        let shape = Shape::new(width, largest).unwrap();
        for size in [KeySize::Bits512, KeySize::Bits1024, KeySize::Bits2048] {
            let layout = shape.layout(size, true).unwrap();
            let slots = layout.slots();
            assert!(slots.slots() * slots.slot_bits() < size.bits() - 1);
            assert!(slots.slot_bits() >= 128 + 64 - largest.leading_zeros());
        }
    }
    assert!(Shape::new(3, u64::MAX >> 1).is_err());
}

#[test]
fn a_cell_is_four_slots_and_three_answers() {
    let (a, b) = (cohort(&[vec![1, 2, 3]]), cohort(&[vec![3, 4]]));
    let key = key();
    let options = short_key().with_hardening(true);
    let (line, _) = recorded_run(options, &Metric::Levenshtein, &key.secret, &a, &b);
    // Three slots to a ciphertext of 512 bits, so two ciphertexts a cell, and the result.
    assert_eq!(ciphertexts(&line.received).len(), 6 * 2 + 1);
    assert_eq!(ciphertexts(&line.sent).len(), 3 * 12 + 6 * 3);
    let all = [ciphertexts(&line.sent), ciphertexts(&line.received)].concat();
    let distinct: std::collections::HashSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
}

/// All orders of the candidates are equally likely to Alice, whatever the letters, ties or none.
#[test]
fn alice_sees_a_random_order_and_no_ties() {
    let key = key();
    let equal = vec![vec![3u16; 9]; 12];
    let apart: Vec<Vec<u16>> = (0..12u16).map(|i| vec![i % 6; 9]).collect();
    for scanpaths in [equal, apart] {
        let (a, b) = (cohort(&[vec![3; 9]]), cohort(&scanpaths));
        let spec = spec(short_key().with_hardening(true), absolute(), &a, &b);
        let pairs = pairs_of(spec.pairs, &a, &b);
        let hers: Vec<&Scanpath> = a.entries.iter().map(|e| &e.scanpath).collect();
        let his: Vec<&Scanpath> = b.entries.iter().map(|e| &e.scanpath).collect();
        let seen = watch_key_holder(&spec, &hers, &his, &pairs, &Arc::clone(&key.secret)).unwrap();
        let sets: Vec<&Vec<BoxedUint>> = seen.messages.iter().flat_map(|m| &m.sets).collect();
        assert_eq!(sets.len(), 12 * 81);
        // The bias is the top bit of what a slot holds, so a difference is negative where the bit is missing.
        let top = seen.messages[0].hardened.unwrap().bias_bits + 1;
        let mut signs = [0; 8];
        for set in &sets {
            assert_eq!(set.len(), 4);
            let sign = |slot: &BoxedUint| usize::from(slot.bits() == top);
            signs[sign(&set[0]) + 2 * sign(&set[1]) + 4 * sign(&set[2])] += 1;
        }
        // y₀ ≥ y₁ ≥ y₂ and y₀ < y₂ cannot be, nor the reverse: 6 of 8 are left, the orders of three.
        assert_eq!((signs[0b101], signs[0b010]), (0, 0));
        assert_uniform(
            "orders",
            &[signs[0], signs[1], signs[3], signs[4], signs[6], signs[7]],
        );
    }
}
