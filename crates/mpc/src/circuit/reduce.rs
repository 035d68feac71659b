//! Reduces the last row of each matrix to one number: sums and maxima as trees, all comparisons in lockstep.

pub use super::adders::sums;

use super::numbers::{add, less_than, max_assign, subtract_assign};
use super::{Bundle, LANES, TwoPartyCircuit};
use crate::error::MpcError;
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// One number: its wires, lowest bit first. Erased when dropped.
pub type Number<L> = Zeroizing<Vec<L>>;

/// Two numbers, borrowed.
pub type Pair<'a, L> = (&'a [L], &'a [L]);

/// An operation on two numbers of w bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The sum, of w + 1 bits: w gates.
    Add,
    /// The difference modulo 2^w: w − 1 gates.
    Subtract,
    /// The larger: 2·w gates.
    Max,
    /// One bit, x ≥ y: w gates.
    AtLeast,
}

impl Operation {
    fn and_gates(self, width: usize) -> usize {
        match self {
            Self::Add | Self::AtLeast => width,
            Self::Subtract => width.saturating_sub(1),
            Self::Max => 2 * width,
        }
    }
}

/// Applies the operation to every pair (x, y). All numbers are zero-extended to the longest.
pub fn pairwise<C: TwoPartyCircuit>(
    circuit: &mut C,
    channel: &mut dyn Channel,
    operation: Operation,
    pairs: &[Pair<'_, C::Label>],
) -> Result<Vec<Number<C::Label>>, MpcError> {
    let width = pairs.iter().map(|(x, y)| x.len().max(y.len())).max();
    let width = width.unwrap_or(0);
    let zero = circuit.constant(false);
    let bundle = |chunk: &[&[C::Label]], bit: usize| -> Bundle<C::Label> {
        std::array::from_fn(|lane| {
            let number = chunk.get(lane);
            *number.and_then(|number| number.get(bit)).unwrap_or(&zero)
        })
    };
    let mut results = Vec::with_capacity(pairs.len());
    for chunk in pairs.chunks(LANES) {
        circuit.prepare(chunk.len() * operation.and_gates(width), channel)?;
        circuit.set_lanes(chunk.len());
        let (left, right): (Vec<_>, Vec<_>) = chunk.iter().copied().unzip();
        let mut x: Vec<_> = (0..width).map(|bit| bundle(&left, bit)).collect();
        let y: Vec<_> = (0..width).map(|bit| bundle(&right, bit)).collect();
        match operation {
            Operation::Add => {
                let mut sum = vec![[zero; LANES]; width + 1];
                add(circuit, &x, &y, &mut sum);
                x = sum;
            }
            Operation::Subtract => subtract_assign(circuit, &mut x, &y),
            Operation::Max => max_assign(circuit, &mut x, &y),
            Operation::AtLeast => {
                let less = less_than(circuit, &x, &y);
                x = vec![circuit.not(&less)];
            }
        }
        circuit.finish_gates(channel)?;
        let number = |lane: usize| Zeroizing::new(x.iter().map(|wire| wire[lane]).collect());
        results.extend((0..chunk.len()).map(number));
    }
    Ok(results)
}

/// The last number of each list of numbers known modulo 2^(w+1), where the list starts from 0 and rises by less than
/// 2^w from one number to the next. At most one gate for each number.
///
/// Such a step changes ⌊x / 2^w⌋ by 0 or 1, and the top bit is the lowest bit of that quotient. So the quotient of the
/// last number is how often the top bit changes, and the other bits of the last number are the remainder.
pub fn unwrapped<C: TwoPartyCircuit>(
    circuit: &mut C,
    channel: &mut dyn Channel,
    lists: Vec<Vec<Number<C::Label>>>,
) -> Result<Vec<Number<C::Label>>, MpcError> {
    let zero = circuit.constant(false);
    let top = |number: &Number<C::Label>| number.last().copied().unwrap_or(zero);
    let changes = lists
        .iter()
        .map(|list| {
            let tops = Number::new(list.iter().map(top).collect());
            let before = list.iter().map(top).take(list.len().saturating_sub(1));
            let before = Number::new(std::iter::once(zero).chain(before).collect());
            differing(circuit, &tops, &before)
        })
        .collect();
    let quotients = sums(circuit, channel, changes)?;
    let whole = |(list, quotient): (&Vec<Number<C::Label>>, Number<C::Label>)| {
        let last = list.last().and_then(|number| number.split_last());
        let remainder = last.map_or(&[][..], |(_, remainder)| remainder);
        Number::new(remainder.iter().chain(quotient.iter()).copied().collect())
    };
    Ok(lists.iter().zip(quotients).map(whole).collect())
}

/// One-bit numbers that say where two lists of bits differ. No gates.
fn differing<C: TwoPartyCircuit>(
    circuit: &C,
    x: &[C::Label],
    y: &[C::Label],
) -> Vec<Number<C::Label>> {
    let mut all = Vec::with_capacity(x.len());
    for (x, y) in x.chunks(LANES).zip(y.chunks(LANES)) {
        let bundle = |bits: &[C::Label]| -> Bundle<C::Label> {
            std::array::from_fn(|lane| bits.get(lane).copied().unwrap_or_default())
        };
        let differs = circuit.xor(&bundle(x), &bundle(y));
        all.extend(
            differs[..x.len()]
                .iter()
                .map(|bit| Zeroizing::new(vec![*bit])),
        );
    }
    all
}

/// The largest of each list. About 2·w gates per number.
pub fn maxima<C: TwoPartyCircuit>(
    circuit: &mut C,
    channel: &mut dyn Channel,
    lists: Vec<Vec<Number<C::Label>>>,
) -> Result<Vec<Number<C::Label>>, MpcError> {
    fold(circuit, channel, Operation::Max, lists)
}

/// Wires for a number that both sides know.
pub fn public_number<C: TwoPartyCircuit>(
    circuit: &C,
    value: u64,
    width: usize,
) -> Number<C::Label> {
    let wire = |bit| circuit.constant(bit < 64 && value >> bit & 1 == 1);
    Zeroizing::new((0..width).map(wire).collect())
}

/// Combines neighbours until every list has one number; an empty list becomes zero.
fn fold<C: TwoPartyCircuit>(
    circuit: &mut C,
    channel: &mut dyn Channel,
    operation: Operation,
    mut lists: Vec<Vec<Number<C::Label>>>,
) -> Result<Vec<Number<C::Label>>, MpcError> {
    while lists.iter().any(|list| list.len() > 1) {
        let pairs: Vec<Pair<'_, C::Label>> = lists
            .iter()
            .flat_map(|list| list.as_chunks::<2>().0)
            .map(|[x, y]| (&x[..], &y[..]))
            .collect();
        let mut joined = pairwise(circuit, channel, operation, &pairs)?.into_iter();
        for list in &mut lists {
            let odd = if list.len() % 2 == 1 {
                list.pop()
            } else {
                None
            };
            *list = joined.by_ref().take(list.len() / 2).chain(odd).collect();
        }
    }
    let zero = circuit.constant(false);
    Ok(lists
        .into_iter()
        .map(|mut list| list.pop().unwrap_or_else(|| Zeroizing::new(vec![zero])))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::Clear;
    use proptest::prelude::*;
    use veilpath_channel::memory_pair;

    fn number(value: u64, width: usize) -> Number<bool> {
        Zeroizing::new((0..width).map(|bit| value >> bit & 1 == 1).collect())
    }

    fn value(number: &[bool]) -> u64 {
        number
            .iter()
            .rev()
            .fold(0, |sum, bit| sum * 2 + u64::from(*bit))
    }

    proptest! {
        #[test]
        fn trees_give_the_sum_and_the_maximum(
            lists in prop::collection::vec(prop::collection::vec(0u64..200, 0..40), 0..12),
        ) {
            let wires: Vec<Vec<_>> = lists
                .iter()
                .map(|list| list.iter().map(|&v| number(v, 8)).collect())
                .collect();
            let (mut channel, _peer) = memory_pair();
            let mut clear = Clear::new();
            let got = sums(&mut clear, &mut channel, wires.clone()).unwrap();
            let bits: usize = lists.iter().map(|list| list.len() * 8).sum();
            prop_assert!(clear.and_gates() <= bits);
            let got: Vec<u64> = got.iter().map(|n| value(n)).collect();
            let expected: Vec<u64> = lists.iter().map(|list| list.iter().sum()).collect();
            prop_assert_eq!(got, expected);
            let got = maxima(&mut Clear::new(), &mut channel, wires).unwrap();
            let got: Vec<u64> = got.iter().map(|n| value(n)).collect();
            let expected: Vec<u64> = lists.iter().map(|list| *list.iter().max().unwrap_or(&0)).collect();
            prop_assert_eq!(got, expected);
        }

        #[test]
        fn numbers_modulo_a_power_of_two_are_unwrapped(
            lists in prop::collection::vec(prop::collection::vec(0u64..32, 0..70), 0..12),
        ) {
            let ends = |steps: &Vec<u64>| -> Vec<u64> {
                steps.iter().scan(0, |sum, step| { *sum += step; Some(*sum) }).collect()
            };
            let wires: Vec<Vec<_>> = lists
                .iter()
                .map(|steps| ends(steps).iter().map(|&v| number(v % 64, 6)).collect())
                .collect();
            let (mut channel, _peer) = memory_pair();
            let mut clear = Clear::new();
            let got = unwrapped(&mut clear, &mut channel, wires).unwrap();
            prop_assert!(clear.and_gates() <= lists.iter().map(Vec::len).sum());
            let got: Vec<u64> = got.iter().map(|n| value(n)).collect();
            let expected: Vec<u64> = lists.iter().map(|steps| steps.iter().sum()).collect();
            prop_assert_eq!(got, expected);
        }

        #[test]
        fn a_threshold_is_one_bit(values in prop::collection::vec((0u64..600, 0u64..600), 0..20)) {
            let wires: Vec<_> = values.iter().map(|&(x, t)| (number(x, 10), number(t, 10))).collect();
            let pairs: Vec<_> = wires.iter().map(|(x, t)| (&x[..], &t[..])).collect();
            let (mut channel, _peer) = memory_pair();
            let mut clear = Clear::new();
            let got = pairwise(&mut clear, &mut channel, Operation::AtLeast, &pairs).unwrap();
            let expected: Vec<_> = values.iter().map(|&(x, t)| Zeroizing::new(vec![x >= t])).collect();
            prop_assert_eq!(got, expected);
            prop_assert_eq!(clear.and_gates(), 10 * values.len());
        }
    }

    #[test]
    fn public_numbers_have_their_value() {
        assert_eq!(value(&public_number(&Clear::new(), 300, 70)), 300);
    }
}
