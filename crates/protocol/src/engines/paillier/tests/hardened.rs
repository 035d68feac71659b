//! The hardened variant: its masks, and what the key holder sees of them.

use super::super::hardened::{CellSecrets, HardenedParameters, HardenedSteps, below, log_uniform};
use super::super::watch::watch_key_holder;
use super::{assert_uniform, ciphertexts, cohort, key, recorded_run, rng, short_key, spec};
use crate::pairs_of;
use crypto_bigint::{BoxedUint, U256};
use num_bigint::{BigInt, BigUint};
use std::sync::Arc;
use veilpath_metrics::{Metric, Scanpath, Substitution};
use veilpath_paillier::{KeySize, Plaintext};

/// 900 pairs of 20 × 20 letters.
const SESSION: u64 = 900 * 400;

fn absolute() -> Metric {
    Metric::NeedlemanWunsch {
        substitution: Substitution::Index,
        insert: 1.0,
        delete: 1.0,
        scale: None,
    }
}

/// The largest candidates that can be masked in a session of this many sets: w·(X + 1) has (127 − σ)/2 bits. For three
/// candidates, σ is 43 with one set, and 100 in the largest session; for four, it is one more.
const LARGEST: [(usize, u64, u64); 4] = [
    (3, ((1 << 42) - 1) / 3 - 1, 1),
    (4, (1 << 39) - 2, 1),
    (3, ((1 << 13) - 1) / 3 - 1, 1 << 57),
    (4, (1 << 11) - 2, 1 << 57),
];

/// The bits of |d|, then where the multipliers begin and end.
fn ranges(parameters: &HardenedParameters) -> (u32, u32, u32) {
    let ranges = parameters.mask_ranges();
    let difference = ranges.bias_bits - ranges.factor_bits;
    (difference, ranges.floor_bits, ranges.factor_bits)
}

#[test]
fn multipliers_are_log_uniform_above_their_floor() {
    let mut rng = rng(1);
    let (mut octaves, mut halves) = ([0; 16], [0; 2]);
    for _ in 0..16_000 {
        let number = log_uniform(50, 50 + 16 * 12, &mut rng);
        assert!(number.bits() > 50 && number.bits() <= 242);
        octaves[(number.bits() as usize - 51) / 12] += 1;
        // Half of each octave lies below √2 times its start.
        let leading = number.shr_vartime(number.bits() - 51).to_words()[0];
        let low = (leading as f64) < 2f64.powf(50.5);
        halves[usize::from(low)] += 1;
    }
    assert_uniform("octaves", &octaves);
    assert_uniform("halves of octaves", &halves);
}

#[test]
fn noise_is_uniform_below_its_multiplier() {
    let mut rng = rng(2);
    let mut counts = [0; 11];
    // The noise of the largest multipliers has the fewest random bits left.
    let part = U256::MAX.shr_vartime(4);
    let bound = part.wrapping_mul(&U256::from_u64(11));
    for _ in 0..5_500 {
        let noise = below(&bound, &mut rng);
        assert!(*noise < bound);
        let at = (0..11u64).filter(|&k| *noise >= part.wrapping_mul(&U256::from_u64(k)));
        counts[at.count() - 1] += 1;
    }
    assert_uniform("noise", &counts);
    assert_eq!(*below(&U256::ONE, &mut rng), U256::ZERO);
}

/// Below the floor, a difference would have so few multipliers that a value could determine it.
#[test]
fn multipliers_are_longer_than_differences_by_forty_bits_and_a_session() {
    for (width, largest, log) in [
        (3, 0, 0),
        (3, 1, 5),
        (3, 107, 19),
        (4, 1 << 20, 30),
        (3, (1 << 39) - 1, 0),
    ] {
        let parameters = HardenedParameters::new(width, largest, 1 << log).unwrap();
        let (difference, floor, top) = ranges(&parameters);
        assert!(u128::from(largest + 1) * (width as u128) < 1 << difference);
        // 4.5 times the distance of one mask for three candidates, and 8 times for four, count as 8 and 16 masks. So the distances
        // of a session and those of the randomness of ciphertexts, 3·2⁻⁴³, stay below 2⁻⁴⁰.
        let (masks, counted) = if width == 3 { (4.5, 3) } else { (8.0, 4) };
        assert_eq!(floor, difference + 40 + counted + log);
        let of_all_sets = masks * 2f64.powi(-40 - counted.cast_signed());
        assert!(of_all_sets + 3.0 * 2f64.powi(-43) < 2f64.powi(-40));
        assert!(top >= floor + 127, "{top}");
        let mut rng = rng(7);
        let lengths = (0..2_000).map(|_| log_uniform(floor, top, &mut rng).bits());
        assert!(lengths.min().unwrap() > floor);
    }
}

/// Tests every slot at both ends of its range, next to slots at either end: nothing carries over, signs are right, and the
/// smallest candidate is found.
#[test]
fn slots_hold_the_largest_numbers_without_carry() {
    let others = [(3, 0, 1), (3, 107, SESSION), (4, 1 << 20, SESSION)];
    for (width, largest, sets) in others.into_iter().chain(LARGEST) {
        let parameters = HardenedParameters::new(width, largest, sets).unwrap();
        let (_, floor, top) = ranges(&parameters);
        let one = |bits: u32| U256::ONE.shl_vartime(bits);
        let (min_factor, max_factor) = (one(floor), one(top).wrapping_sub(&U256::ONE));
        let extremes = [min_factor, max_factor].map(|factor| {
            let noise = factor.wrapping_sub(&U256::ONE);
            [(factor, U256::ZERO), (factor, noise)]
        });
        let masks = extremes.concat();
        let pads = [U256::ZERO, one(floor).wrapping_sub(&U256::ONE)];
        let forwards: Vec<usize> = (0..width).collect();
        let backwards: Vec<usize> = (0..width).rev().collect();
        // Each candidate 0 or the largest.
        for (case, order) in (0..1u32 << width).flat_map(|c| [(c, &forwards), (c, &backwards)]) {
            let candidates: Vec<u64> = (0..width)
                .map(|at| if case >> at & 1 > 0 { largest } else { 0 })
                .collect();
            for turn in 0..masks.len() {
                extreme_cell(&parameters, order, &candidates, &masks, &pads, turn);
            }
        }
    }
    for (width, largest, sets) in LARGEST {
        assert!(HardenedParameters::new(width, largest + 1, sets).is_err());
    }
    assert!(HardenedParameters::new(3, u64::MAX >> 1, 1).is_err());
    assert!(HardenedParameters::new(3, u64::MAX, u64::MAX).is_err());
}

/// One such cell, `candidates` in the order before π.
fn extreme_cell(
    parameters: &HardenedParameters,
    order: &[usize],
    candidates: &[u64],
    masks: &[(U256, U256)],
    pads: &[U256; 2],
    turn: usize,
) {
    let width = order.len();
    let pairs: Vec<_> = (0..width)
        .flat_map(|i| (i + 1..width).map(move |j| (i, j)))
        .collect();
    let wrapped = |number: U256| zeroize::Zeroizing::new(number);
    let masks: Vec<_> = (turn..turn + pairs.len())
        .map(|at| masks[at % masks.len()])
        .map(|(factor, noise)| (wrapped(factor), wrapped(noise)))
        .collect();
    let padding = (turn..turn + width)
        .map(|at| wrapped(pads[at % 2]))
        .collect();
    let secrets = CellSecrets::new(parameters, order.to_vec().into(), &masks, padding).unwrap();
    let big = |number: &U256| BigInt::from(BigUint::from_bytes_le(&number.to_le_bytes()));
    let permuted: Vec<BigInt> = order.iter().map(|&at| candidates[at].into()).collect();
    let layout = parameters.layout(KeySize::Bits4096, true).unwrap();
    let (bits, slots) = (layout.slots().slot_bits(), layout.width());
    let mut total = BigInt::ZERO;
    for position in 0..slots {
        // As under encryption: candidates times factors, and offsets in the clear.
        let secret = match pairs.get(position).zip(masks.get(position)) {
            Some((&(i, j), (factor, _))) => big(factor) * width * (&permuted[i] - &permuted[j]),
            None => (0..padded_per_slot(parameters))
                .filter_map(|k| {
                    let at = (position - pairs.len()) * padded_per_slot(parameters) + k;
                    Some(permuted.get(at)? << (k * padded(parameters)))
                })
                .sum(),
        };
        let slot = secret + big(&secrets.offset(parameters, position));
        assert!(slot > BigInt::ZERO && slot.bits() <= u64::from(bits));
        total += slot << (bits as usize * position);
    }
    let bytes = total.to_biguint().unwrap().to_bytes_be();
    let total = BoxedUint::from_be_slice_vartime(&bytes);
    let opened = layout.slots().unpack(&Plaintext::from_uint(&total));
    let opened: Vec<_> = opened
        .unwrap()
        .into_iter()
        .map(zeroize::Zeroizing::new)
        .collect();
    let reply = parameters.reply(&opened[..slots]);
    let value = |plaintext: &Plaintext| {
        BigInt::from(BigUint::from_bytes_be(&plaintext.magnitude().to_be_bytes()))
    };
    // The matrix owner's correction, in the clear. The last pad has one more bit.
    let pad = |at: usize| {
        big(&pads[(turn + at) % 2]) + (BigInt::from(at + 1 == width) << (padded(parameters) - 2))
    };
    let mut found = value(&reply[0]) - pad(width - 1);
    for (at, bit) in reply[1..].iter().enumerate() {
        found += value(bit) * (pad(width - 1) - pad(at));
    }
    assert_eq!(found, BigInt::from(*candidates.iter().min().unwrap()));
    // Of equal candidates, the first before π.
    let minimum = (0..width)
        .min_by_key(|&at| (&permuted[at], order[at]))
        .unwrap();
    for (at, bit) in reply[1..].iter().enumerate() {
        assert_eq!(value(bit), BigInt::from(at == minimum));
    }
}

/// Bits of a padded candidate: the pad, one more for the last pad, one for the sum.
fn padded(parameters: &HardenedParameters) -> usize {
    parameters.mask_ranges().floor_bits as usize + 2
}

/// Padded candidates in a slot.
fn padded_per_slot(parameters: &HardenedParameters) -> usize {
    if 3 * padded(parameters) <= 255 { 3 } else { 2 }
}

/// This many cells fit into a ciphertext, or a cell takes this many ciphertexts.
#[test]
fn slots_hold_the_documented_number_of_cells() {
    for (largest, sets) in [(1, 1), (107, SESSION), (1 << 20, 100)] {
        let (three, four) = (
            HardenedParameters::new(3, largest, sets).unwrap(),
            HardenedParameters::new(4, largest, sets).unwrap(),
        );
        for (size, global, local) in [
            (KeySize::Bits512, (1, 2), (1, 4)),
            (KeySize::Bits1024, (1, 1), (1, 2)),
            (KeySize::Bits2048, (2, 1), (1, 1)),
            (KeySize::Bits3072, (3, 1), (1, 1)),
            (KeySize::Bits4096, (4, 1), (2, 1)),
        ] {
            for (parameters, expected) in [(three, global), (four, local)] {
                let layout = parameters.layout(size, true).unwrap();
                assert_eq!((layout.cells, layout.ciphertexts), expected, "{size:?}");
                let slots = layout.slots();
                assert!(slots.slots() * slots.slot_bits() < size.bits() - 1);
            }
        }
    }
}

#[test]
fn a_cell_is_four_slots_and_three_answers() {
    let (a, b) = (cohort(&[vec![1, 2, 3]]), cohort(&[vec![3, 4]]));
    let key = key();
    let options = short_key().with_hardening(true);
    let (channel, _) = recorded_run(options, &Metric::Levenshtein, &key.secret, &a, &b);
    // Two slots fit into a ciphertext with a key of 512 bits, so a cell takes two ciphertexts; and one for the result.
    assert_eq!(ciphertexts(&channel.received).len(), 6 * 2 + 1);
    assert_eq!(ciphertexts(&channel.sent).len(), 3 * 12 + 6 * 3);
    let all = [ciphertexts(&channel.sent), ciphertexts(&channel.received)].concat();
    let distinct: std::collections::HashSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
}

/// The individual steps, which the timing and branch checks run, also give the smallest candidate.
#[test]
fn the_steps_one_by_one_give_the_least_candidate() {
    let key = key();
    let public = key.secret.public_key();
    let some = cohort(&[vec![0; 5]]);
    let spec = spec(short_key().with_hardening(true), absolute(), &some, &some);
    let steps = HardenedSteps::new(&spec, 5, public, Arc::new(public.clone())).unwrap();
    // M(i−1, j−1), D, M(i, j−1) and M(i−1, j); a gap costs 1. Each of the three may be the least, alone or tied.
    let cells = [
        [1, 2, 9, 9],
        [5, 4, 2, 7],
        [5, 4, 7, 0],
        [3, 0, 2, 2],
        [0; 4],
    ];
    let encrypt = |cell: [u64; 4]| {
        let plaintexts = cell.map(Plaintext::from);
        let encrypted = key
            .secret
            .encrypt_batch(&plaintexts.each_ref(), &mut rng(3));
        <[_; 4]>::try_from(encrypted.unwrap()).unwrap()
    };
    let draw = || steps.draw(cells.len(), &mut rng(4)).unwrap();
    let masked = steps.mask(&cells.map(encrypt), draw()).unwrap();
    let sets = steps.open(&key.secret, &masked, cells.len()).unwrap();
    let replies = steps.reply(&sets).unwrap();
    let values = steps.unmask(&replies, draw()).unwrap();
    let opened = key.secret.decrypt_batch(&values.iter().collect::<Vec<_>>());
    let opened: Vec<_> = opened.unwrap().iter().map(Plaintext::to_i128).collect();
    assert_eq!(opened, [3, 3, 1, 3, 0].map(Some));
    let papers = crate::Spec {
        engine: crate::Engine::Paillier(short_key()),
        ..spec
    };
    assert!(HardenedSteps::new(&papers, 5, public, Arc::new(public.clone())).is_err());
}

/// To the key holder, all orders of the candidates are equally likely, for any letters, with or without ties.
#[test]
fn the_key_holder_sees_a_random_order_and_no_ties() {
    let key = key();
    let equal = vec![vec![3u16; 9]; 12];
    let apart: Vec<Vec<u16>> = (0..12u16).map(|i| vec![i % 6; 9]).collect();
    for scanpaths in [equal, apart] {
        let (a, b) = (cohort(&[vec![3; 9]]), cohort(&scanpaths));
        let spec = spec(short_key().with_hardening(true), absolute(), &a, &b);
        let pairs = pairs_of(spec.pair_rule, &a, &b);
        let host_scanpaths: Vec<&Scanpath> = a.entries.iter().map(|e| &e.scanpath).collect();
        let join_scanpaths: Vec<&Scanpath> = b.entries.iter().map(|e| &e.scanpath).collect();
        let seen = watch_key_holder(
            &spec,
            &host_scanpaths,
            &join_scanpaths,
            &pairs,
            &Arc::clone(&key.secret),
        )
        .unwrap();
        let sets: Vec<&Vec<BoxedUint>> = seen.messages.iter().flat_map(|m| &m.sets).collect();
        assert_eq!(sets.len(), 12 * 81);
        // The bias is the top bit of a slot, so a difference is negative if the bit is missing.
        let top = seen.messages[0].hardened.unwrap().bias_bits + 1;
        let mut signs = [0; 8];
        for set in &sets {
            assert_eq!(set.len(), 4);
            let sign = |slot: &BoxedUint| usize::from(slot.bits() == top);
            signs[sign(&set[0]) + 2 * sign(&set[1]) + 4 * sign(&set[2])] += 1;
        }
        // y₀ ≥ y₁ ≥ y₂ with y₀ < y₂ is impossible, and so is the reverse. 6 of 8 sign patterns are left, the orders of
        // three.
        assert_eq!((signs[0b101], signs[0b010]), (0, 0));
        assert_uniform(
            "orders",
            &[signs[0], signs[1], signs[3], signs[4], signs[6], signs[7]],
        );
    }
}
