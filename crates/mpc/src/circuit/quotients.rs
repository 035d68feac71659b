//! Many divisions at a time.

use super::numbers::next_carry;
use super::reduce::{Number, Pair};
use super::{Bundle, LANES, TwoPartyCircuit};
use crate::error::MpcError;
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// ⌊x / y⌋ of every pair (x, y), in `bits` bits; `of_zero` if y is 0. Every x must be below y·2^bits. Long division
/// takes w + bits·(2·w + 2) − 1 gates for y of w bits.
pub fn quotients<C: TwoPartyCircuit>(
    circuit: &mut C,
    channel: &mut dyn Channel,
    pairs: &[Pair<'_, C::Label>],
    bits: usize,
    of_zero: u64,
) -> Result<Vec<Number<C::Label>>, MpcError> {
    let width = pairs.iter().map(|(_, y)| y.len()).max().unwrap_or(0).max(1);
    let zero = circuit.constant(false);
    let mut results = Vec::with_capacity(pairs.len());
    for chunk in pairs.chunks(LANES) {
        let bundles = |second: bool, count: usize| -> Zeroizing<Vec<Bundle<C::Label>>> {
            let bundle = |bit: usize| -> Bundle<C::Label> {
                std::array::from_fn(|lane| {
                    let pair = chunk.get(lane).map(|(x, y)| if second { *y } else { *x });
                    *pair.and_then(|number| number.get(bit)).unwrap_or(&zero)
                })
            };
            Zeroizing::new((0..count).map(bundle).collect())
        };
        let (x, y) = (bundles(false, width + bits), bundles(true, width));
        circuit.prepare(chunk.len() * and_gates(width, bits), channel)?;
        circuit.set_lanes(chunk.len());
        let quotient = divide(circuit, &x, &y, bits, of_zero);
        circuit.finish_gates(channel)?;
        let number = |lane: usize| Number::new(quotient.iter().map(|wire| wire[lane]).collect());
        results.extend((0..chunk.len()).map(number));
    }
    Ok(results)
}

fn and_gates(width: usize, bits: usize) -> usize {
    width + bits * (2 * width + 2) - 1
}

/// `x` is `bits` wider than `y`.
fn divide<C: TwoPartyCircuit>(
    circuit: &mut C,
    x: &[Bundle<C::Label>],
    y: &[Bundle<C::Label>],
    bits: usize,
    of_zero: u64,
) -> Zeroizing<Vec<Bundle<C::Label>>> {
    let one = circuit.constants(true);
    let mut is_zero = circuit.not(&y[0]);
    for bit in &y[1..] {
        is_zero = circuit.and(&is_zero, &circuit.not(bit));
    }
    let is_nonzero = circuit.not(&is_zero);
    // The remainder of the part of x that is divided so far, less than y.
    // With room for one more digit: growing would leave copies in freed memory.
    let mut remainder = Zeroizing::new(Vec::with_capacity(x.len() - bits + 1));
    remainder.extend_from_slice(&x[bits..]);
    let mut quotient = Zeroizing::new(vec![one; bits]);
    for (at, digit) in quotient.iter_mut().enumerate().rev() {
        remainder.insert(0, x[at]);
        // The remainder minus y, as a sum with the complement: it is not negative if there is a carry.
        let mut carry = one;
        let mut difference = Zeroizing::new(Vec::with_capacity(y.len()));
        for (x, y) in remainder.iter().zip(y) {
            let complement = circuit.not(y);
            difference.push(circuit.xor(&circuit.xor(x, &complement), &carry));
            carry = next_carry(circuit, x, &complement, Some(&carry));
        }
        let top = remainder.pop().unwrap_or(one);
        let fits = {
            let neither = circuit.and(&circuit.not(&top), &circuit.not(&carry));
            circuit.not(&neither)
        };
        for (x, difference) in remainder.iter_mut().zip(difference.iter()) {
            let change = circuit.and(&fits, &circuit.xor(x, difference));
            *x = circuit.xor(x, &change);
        }
        let of_zero = at < 64 && of_zero >> at & 1 == 1;
        let digit_or = |circuit: &C, bit: &Bundle<C::Label>| match of_zero {
            true => circuit.not(bit),
            false => *bit,
        };
        let selected = circuit.and(&digit_or(circuit, &fits), &is_nonzero);
        *digit = digit_or(circuit, &selected);
    }
    quotient
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::Clear;
    use proptest::prelude::*;
    use veilpath_channel::memory_pair;

    fn number(value: u64, width: usize) -> Vec<bool> {
        (0..width).map(|bit| value >> bit & 1 == 1).collect()
    }

    fn value(number: &[bool]) -> u64 {
        let bits = number.iter().rev();
        bits.fold(0, |sum, bit| sum * 2 + u64::from(*bit))
    }

    proptest! {
        #[test]
        fn quotients_are_exact(
            pairs in prop::collection::vec((any::<u64>(), any::<u64>()), 0..20),
            width in 1usize..14,
            bits in 1usize..16,
            of_zero in any::<u64>(),
        ) {
            let pairs: Vec<(u64, u64)> = pairs
                .iter()
                .map(|(x, y)| {
                    let y = y % (1 << width);
                    (if y == 0 { *x % (1 << width) } else { x % (y << bits) }, y)
                })
                .collect();
            let wires: Vec<_> = pairs
                .iter()
                .map(|(x, y)| (number(*x, width + bits), number(*y, width)))
                .collect();
            let borrowed: Vec<_> = wires.iter().map(|(x, y)| (&x[..], &y[..])).collect();
            let (mut channel, _peer) = memory_pair();
            let mut clear = Clear::new();
            let got = quotients(&mut clear, &mut channel, &borrowed, bits, of_zero).unwrap();
            let got: Vec<u64> = got.iter().map(|quotient| value(quotient)).collect();
            let of_zero = of_zero % (1 << bits);
            let expected: Vec<u64> = pairs
                .iter()
                .map(|(x, y)| x.checked_div(*y).unwrap_or(of_zero))
                .collect();
            prop_assert_eq!(got, expected);
            prop_assert_eq!(clear.and_gates(), pairs.len() * and_gates(width, bits));
        }
    }
}
