//! Several numbers in one plaintext: no slot affects its neighbour.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail loudly"
)]

use crate::common;

use common::{big, key, plaintext, seeded_rng, uint};
use num_bigint::{BigInt, BigUint};
use num_traits::One;
use proptest::prelude::*;
use veilpath_paillier::{Bound, KeySize, Plaintext, Scalar, SlotLayout, TermShape};

fn layout_and_values() -> impl Strategy<Value = (SlotLayout, Vec<BigUint>)> {
    (1..200u32).prop_flat_map(|slot_bits| {
        let layout = SlotLayout::with_max_slots(KeySize::Bits512, slot_bits).unwrap();
        let full = (BigUint::one() << slot_bits) - 1u32;
        let value = prop_oneof![
            Just(BigUint::ZERO),
            Just(full.clone()),
            prop::collection::vec(any::<u8>(), 25)
                .prop_map(move |bytes| BigUint::from_bytes_be(&bytes) & &full),
        ];
        (
            Just(layout),
            prop::collection::vec(value, 0..=layout.slots() as usize),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn unpacking_undoes_packing((layout, values) in layout_and_values()) {
        let packed = layout.pack(&values.iter().map(uint).collect::<Vec<_>>()).unwrap();
        let mut expected = values;
        expected.resize(layout.slots() as usize, BigUint::ZERO);
        let unpacked: Vec<_> = layout.unpack(&packed).unwrap().iter().map(big).collect();
        prop_assert_eq!(unpacked, expected);
    }

    #[test]
    fn encrypted_numbers_pack_like_plain_ones((layout, values) in layout_and_values()) {
        let key = key(KeySize::Bits512);
        let public = key.public_key();
        let plaintexts: Vec<_> = values.iter().map(|v| plaintext(&BigInt::from(v.clone()))).collect();
        let randomizers = public.fresh_randomizers(values.len(), &mut seeded_rng(3));
        let ciphertexts = public.encrypt_batch(&plaintexts.iter().collect::<Vec<_>>(), randomizers).unwrap();
        let one = Scalar::new(&uint(&BigUint::one()), 1).unwrap();
        let row: Vec<_> = ciphertexts.iter().map(|ciphertext| (ciphertext, &one)).collect();
        let shape = |slot| TermShape { scalar_bits: one.bits(), shift_bits: layout.shift_bits(slot) };
        let shape: Vec<_> = (0..layout.slots()).take(row.len()).map(shape).collect();
        let packed = public.weighted_sums(&shape, &[row.clone(), row]).unwrap();
        let expected = layout.pack(&values.iter().map(uint).collect::<Vec<_>>()).unwrap();
        for c in &packed {
            prop_assert!(key.decrypt(c).unwrap() == expected);
        }
    }
}

#[test]
fn layouts_stay_below_half_of_the_modulus() {
    let size = KeySize::Bits2048;
    assert_eq!(SlotLayout::with_max_slots(size, 144).unwrap().slots(), 14);
    assert_eq!(
        SlotLayout::with_max_slots(KeySize::Bits512, 144)
            .unwrap()
            .slots(),
        3
    );
    assert!(SlotLayout::new(size, 2, 1023).is_ok());
    assert!(SlotLayout::new(size, 1, 2047).is_err());
    assert!(SlotLayout::new(size, 0, 10).is_err());
    assert!(SlotLayout::new(size, 10, 0).is_err());
    assert!(SlotLayout::with_max_slots(size, 0).is_err());
    assert!(SlotLayout::new(size, u32::MAX, u32::MAX).is_err());
}

#[test]
fn bounds_combine_exactly() {
    let a = Bound::at_most(&uint(&BigUint::from(1_000_000u32)));
    let b = Bound::of_bits(40);
    let combined = a.times(&b).plus(&Bound::of_bits(100));
    assert_eq!(combined.bits(), 101);
    assert_eq!(Bound::of_bits(64).plus(&Bound::of_bits(64)).bits(), 65);
    assert_eq!(Bound::of_bits(64).times(&Bound::of_bits(64)).bits(), 128);
    assert_eq!(Bound::of_bits(0).bits(), 0);
}

#[test]
fn values_beyond_their_slots_are_refused() {
    let layout = SlotLayout::new(KeySize::Bits512, 4, 20).unwrap();
    let too_large = uint(&(BigUint::one() << 20u32));
    assert!(layout.pack(&[too_large]).is_err());
    let one = uint(&BigUint::one());
    assert!(layout.pack(&vec![one; 5]).is_err());
    assert!(layout.unpack(&Plaintext::from(-1i64)).is_err());
    assert!(layout.unpack(&Plaintext::from(1u128 << 80)).is_err());
}
