//! Masked values keep their order, stay in their slots, and give the candidate back, for all random
//! draws.

use super::super::masking::{BatchLayout, Mask, MaskSecrets, Ranges};
use super::super::recurrence::Recurrence;
use super::{assert_uniform, rng};
use num_bigint::{BigInt, BigUint};
use proptest::prelude::*;
use veilpath_metrics::{Costs, GlobalModel, Model, ScoreFormula};
use veilpath_paillier::KeySize;

const BOUNDS: [u64; 5] = [0, 1, 107, (1 << 20) - 1, (1 << 62) - 1];
/// Candidate sets of a session, and the logarithm of that number, rounded up.
const SETS: [(u64, u32); 5] = [(1, 0), (2, 1), (1025, 11), (1 << 57, 57), (u64::MAX, 64)];
/// 900 pairs of 20 × 20 letters.
const SESSION: u64 = 900 * 400;

fn big(value: &crypto_bigint::U256) -> BigInt {
    BigInt::from(BigUint::from_bytes_le(&value.to_le_bytes()))
}

/// The paper's steps 2 and 3, one after the other.
fn masked(numbers: &MaskSecrets, candidates: &[BigInt]) -> Vec<BigInt> {
    let total: BigInt = candidates.iter().sum();
    candidates
        .iter()
        .map(|x| {
            let first = if *numbers.option == 0 {
                x * *numbers.rho_1
            } else {
                x * *numbers.rho_1 - (&total - x)
            };
            (first + big(&numbers.delta_1)) * *numbers.rho_2 + big(&numbers.delta_2)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn order_range_and_inverse(bound in prop::sample::select(BOUNDS.to_vec()), parts in prop::collection::vec(0..=4u64, 3..=4), seed in any::<u64>()) {
        let ranges = Ranges::new(bound, 1000).unwrap();
        let candidates: Vec<BigInt> = parts.iter().map(|&part| BigInt::from(bound / 4 * part + bound % 4 * u64::from(part == 4))).collect();
        let numbers = MaskSecrets::draw(&ranges, &mut rng(seed));
        let masked = masked(&numbers, &candidates);
        let total: BigInt = candidates.iter().sum();
        let (a, t) = (
            BigInt::from(*numbers.rho_2) * (*numbers.rho_1 + *numbers.option),
            BigInt::from(*numbers.rho_2 * *numbers.option),
        );
        let mask = Mask::new(&numbers, vec![].into()).unwrap();
        let b = BigInt::from(BigUint::from_bytes_be(&mask.offset().to_be_bytes()));
        for (x, y) in candidates.iter().zip(&masked) {
            prop_assert!(*y > BigInt::ZERO && y.bits() <= u64::from(ranges.value_bits()));
            // The fused form, and step 6.
            prop_assert_eq!(&(&a * x - &t * &total + &b), y);
            prop_assert_eq!(&((y + &t * &total - &b) / &a), x);
        }
        for (x, y) in candidates.iter().zip(&masked) {
            for (other, masked_other) in candidates.iter().zip(&masked) {
                prop_assert_eq!(x.cmp(other), y.cmp(masked_other));
            }
        }
    }
}

#[test]
fn the_largest_masks_of_the_largest_candidates_fit() {
    for (bound, (sets, log)) in BOUNDS.into_iter().zip(SETS) {
        let ranges = Ranges::new(bound, sets).unwrap();
        let x = u64::BITS - bound.leading_zeros();
        let excess = 40 + log;
        assert_eq!(ranges.value_bits(), 32 + 32 + x + excess + 3);
        let mut numbers = MaskSecrets::draw(&ranges, &mut rng(1));
        *numbers.rho_1 = (1 << 32) - 1;
        *numbers.rho_2 = (1 << 32) - 1;
        let ones = |bits: u32| crypto_bigint::U256::MAX.shr_vartime(256 - bits);
        *numbers.delta_1 = ones(32 + x + 2 + excess);
        *numbers.delta_2 = ones(32 + 32 + x + 2 + excess);
        for option in [0, 1] {
            *numbers.option = option;
            let candidates = [bound, 0, 0].map(BigInt::from);
            for value in masked(&numbers, &candidates) {
                assert!(value.bits() <= u64::from(ranges.value_bits()));
            }
        }
    }
}

/// The additive masks hide all sets of the largest session up to a total statistical distance of 2⁻⁴⁰.
#[test]
fn a_session_is_hidden_up_to_two_to_the_minus_forty() {
    // 2²⁸ letters on each side, and the rounds of local alignments.
    let largest = (1u64 << 56) / 3 * 4;
    for sets in [1, 2, 3, 400, SESSION, 1 << 40, largest] {
        for bound in BOUNDS {
            let ranges = Ranges::new(bound, sets).unwrap();
            // δ₂ is one bit shorter than the masked value; what it hides has the bits of ρ₁·ρ₂·X, and one more.
            let x = u64::BITS - bound.leading_zeros();
            let excess = (ranges.value_bits() - 1) - (32 + 32 + x + 1);
            assert!(u128::from(sets) << 40 < 1 << excess, "{sets} {bound}");
        }
    }
}

#[test]
fn masks_are_uniform_in_their_ranges() {
    let mut rng = rng(2);
    let ranges = Ranges::new(100, 1000).unwrap();
    let mut options = [0; 2];
    let mut eighths = [[0; 8]; 4];
    for _ in 0..16_000 {
        let numbers = MaskSecrets::draw(&ranges, &mut rng);
        assert!(*numbers.rho_1 > 0 && *numbers.rho_2 > 0);
        let delta_1 = big(&numbers.delta_1);
        // Exactly r₁+bx+2+σ bits.
        assert_eq!(delta_1.bits(), 32 + 7 + 2 + 50);
        let top = |value: BigInt, bits: u64| {
            usize::try_from((value >> (bits - 3)) & BigInt::from(7)).unwrap()
        };
        options[*numbers.option as usize] += 1;
        eighths[0][top(BigInt::from(*numbers.rho_1), 32)] += 1;
        eighths[1][top(BigInt::from(*numbers.rho_2), 32)] += 1;
        // Below the bit that is always set.
        eighths[2][top(delta_1, 90)] += 1;
        eighths[3][top(big(&numbers.delta_2), 123)] += 1;
    }
    assert_uniform("options", &options);
    for counts in eighths {
        assert_uniform("a mask", &counts);
    }
}

#[test]
fn slots_are_as_many_as_fit() {
    let layout = |size, bound, width, packing| {
        let ranges = Ranges::new(bound, SESSION).unwrap();
        BatchLayout::new(size, &ranges, width, packing).unwrap()
    };
    for (size, bound, width, cells, ciphertexts) in [
        (KeySize::Bits512, 107, 3, 1, 1),
        // Four values do not fit: three and one.
        (KeySize::Bits512, 107, 4, 1, 2),
        (KeySize::Bits1024, 107, 3, 2, 1),
        (KeySize::Bits2048, 107, 3, 5, 1),
        (KeySize::Bits2048, (1 << 20) - 1, 3, 4, 1),
        (KeySize::Bits3072, 107, 3, 7, 1),
    ] {
        let packed = layout(size, bound, width, true);
        assert_eq!((packed.cells, packed.ciphertexts), (cells, ciphertexts));
        let entries: Vec<_> = (0..ciphertexts)
            .flat_map(|c| packed.slot_entries(c))
            .collect();
        let expected: Vec<_> = (0..cells)
            .flat_map(|cell| (0..width).map(move |position| (cell, position)))
            .collect();
        assert_eq!(entries, expected);
        let alone = layout(size, bound, width, false);
        assert_eq!((alone.cells, alone.ciphertexts), (1, width));
    }
}

#[test]
fn the_bound_of_a_matrix_is_the_largest_candidate() {
    let model = |insert, delete, mismatch| {
        Model::Global(GlobalModel {
            insert,
            delete,
            costs: Costs::Unit { mismatch },
            formula: ScoreFormula::Cost { scale: 1 },
        })
    };
    let bound = |model: &Model, m, n| {
        Recurrence::new(model, [(m, n)].into_iter(), 52)
            .unwrap()
            .bound()
    };
    assert_eq!(bound(&model(1, 1, 1), 100, 100), 101);
    // Replacing costs more than deleting and inserting.
    assert_eq!(bound(&model(1, 1, 1000), 3, 4), 7 + 1000);
    // The largest entry is not the last one: the first row costs more than the rest.
    assert_eq!(bound(&model(100, 1, 0), 10, 10), 1000 + 100);
    let largest = bound(&model(1 << 30, 1 << 30, 1 << 30), 1 << 31, 1 << 31);
    assert!(largest < 1 << 62);
}
