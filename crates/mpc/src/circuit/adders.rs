//! Sums of many numbers with full adders, all lists in lockstep.
//!
//! Numbers are split into bits. A full adder (one gate) turns three bits of the same weight into one bit of that weight
//! and one of the next. Every gate removes one bit, so the sum of N bits takes less than N gates, however wide it is. A
//! tree of additions would cost half as much again, and a w-bit counter w times as much.

use super::numbers::next_carry;
use super::reduce::Number;
use super::{Bundle, LANES, TwoPartyCircuit};
use crate::error::MpcError;
use veilpath_channel::Channel;
use zeroize::{Zeroize, Zeroizing};

/// Bits to be added, by weight: those of weight 1, those of weight 2, those of weight 4 and so on.
pub type BitsByWeight<L> = Vec<Number<L>>;

/// A number and a public factor.
pub type Multiple<'a, L> = (&'a [L], u64);

/// The sum of each list. At most one gate per input bit.
pub fn sums<C: TwoPartyCircuit>(
    circuit: &mut C,
    channel: &mut dyn Channel,
    lists: Vec<Vec<Number<C::Label>>>,
) -> Result<Vec<Number<C::Label>>, MpcError> {
    let weights = lists.iter().map(|list| by_weight(list)).collect();
    drop(lists);
    sums_of_weights(circuit, channel, weights)
}

/// The sum of each list, times public factors. A factor costs one addition for each 1 in its binary form.
pub fn weighted_sums<C: TwoPartyCircuit>(
    circuit: &mut C,
    channel: &mut dyn Channel,
    lists: &[Vec<Multiple<'_, C::Label>>],
) -> Result<Vec<Number<C::Label>>, MpcError> {
    let weights = lists
        .iter()
        .map(|list| {
            let mut weights = BitsByWeight::new();
            for (number, factor) in list {
                add_multiple(&mut weights, number, *factor);
            }
            weights
        })
        .collect();
    sums_of_weights(circuit, channel, weights)
}

/// The sum of each list of bits.
pub fn sums_of_weights<C: TwoPartyCircuit>(
    circuit: &mut C,
    channel: &mut dyn Channel,
    mut weights: Vec<BitsByWeight<C::Label>>,
) -> Result<Vec<Number<C::Label>>, MpcError> {
    add_until(circuit, channel, &mut weights, 1)?;
    let zero = circuit.constant(false);
    let sum = |weights: &BitsByWeight<C::Label>| {
        let bits = weights
            .iter()
            .map(|bits| bits.first().copied().unwrap_or(zero));
        let empty = weights.is_empty().then_some(zero);
        Number::new(bits.chain(empty).collect())
    };
    Ok(weights.iter().map(sum).collect())
}

/// Counters that add up bits as they arrive. A counter soon reduces the bits of each weight to at most two, and costs
/// less than one gate per bit.
pub struct Tallies<L: Zeroize> {
    counters: Vec<BitsByWeight<L>>,
    /// Counters with at least three bits of weight 1.
    full: Vec<usize>,
    pending: usize,
}

/// How many bits are collected before they are added: enough to fill the lanes.
const PENDING: usize = 1 << 11;

impl<L: Copy + Default + Zeroize> Tallies<L> {
    /// Creates this many counters, all at 0.
    pub fn new(count: usize) -> Self {
        Self {
            counters: (0..count).map(|_| BitsByWeight::new()).collect(),
            full: Vec::new(),
            pending: 0,
        }
    }

    /// Queues a bit for a counter.
    pub fn push(&mut self, counter: usize, bit: L) {
        let weights = &mut self.counters[counter];
        if weights.is_empty() {
            // A counter for each diagonal of a long matrix: most have few bits.
            weights.reserve_exact(1);
            weights.push(Number::default());
        }
        append(&mut weights[0], &[bit]);
        if weights[0].len() == 3 {
            self.full.push(counter);
        }
        self.pending += 1;
    }

    /// Adds the pending bits once there are enough to fill the lanes.
    pub fn add_pending<C: TwoPartyCircuit<Label = L>>(
        &mut self,
        circuit: &mut C,
        channel: &mut dyn Channel,
    ) -> Result<(), MpcError> {
        if self.pending < PENDING {
            return Ok(());
        }
        self.pending = 0;
        let full = std::mem::take(&mut self.full);
        let taken = |counter: &usize| std::mem::take(&mut self.counters[*counter]);
        let mut weights: Vec<BitsByWeight<L>> = full.iter().map(taken).collect();
        add_until(circuit, channel, &mut weights, 2)?;
        for (counter, weights) in full.into_iter().zip(weights) {
            self.counters[counter] = weights;
        }
        Ok(())
    }

    /// The bits of each counter, by weight. Their sum is its count.
    pub fn into_weights(self) -> Vec<BitsByWeight<L>> {
        self.counters
    }
}

/// Sums of numbers that arrive one after another. Their bits are added whenever there are many, so memory does not grow
/// with the numbers. The gates are as many as if all were added at the end.
pub struct RunningSums<L: Zeroize> {
    sums: Vec<BitsByWeight<L>>,
    pending: usize,
}

/// How many bits running sums collect before they add them: a megabyte of labels.
const PENDING_OF_SUMS: usize = 1 << 16;

impl<L: Copy + Default + Zeroize> RunningSums<L> {
    /// Creates this many sums, all 0.
    pub fn new(count: usize) -> Self {
        Self {
            sums: (0..count).map(|_| BitsByWeight::new()).collect(),
            pending: 0,
        }
    }

    /// Adds a number, times a public factor, to a sum.
    pub fn add<C: TwoPartyCircuit<Label = L>>(
        &mut self,
        circuit: &mut C,
        channel: &mut dyn Channel,
        sum: usize,
        (number, factor): Multiple<'_, L>,
    ) -> Result<(), MpcError> {
        add_multiple(&mut self.sums[sum], number, factor);
        self.pending += number.len() * factor.count_ones() as usize;
        if self.pending < PENDING_OF_SUMS {
            return Ok(());
        }
        self.pending = 0;
        add_until(circuit, channel, &mut self.sums, 2)
    }

    /// The sums.
    pub fn finish<C: TwoPartyCircuit<Label = L>>(
        self,
        circuit: &mut C,
        channel: &mut dyn Channel,
    ) -> Result<Vec<Number<L>>, MpcError> {
        sums_of_weights(circuit, channel, self.sums)
    }
}

/// Appends bits to others. If they must move, the bits in the memory that is freed are erased, which `Vec` would not do.
fn append<L: Copy + Zeroize>(bits: &mut Number<L>, more: &[L]) {
    let length = bits.len() + more.len();
    if length > bits.capacity() {
        let mut moved = Number::new(Vec::with_capacity(length.max(2 * bits.len())));
        moved.extend_from_slice(bits);
        *bits = moved;
    }
    bits.extend_from_slice(more);
}

/// Adds a number, times a public factor, to the bits of a sum. No gates.
fn add_multiple<L: Copy + Zeroize>(weights: &mut BitsByWeight<L>, number: &[L], factor: u64) {
    for shift in (0..u64::BITS as usize).filter(|shift| factor >> shift & 1 == 1) {
        while weights.len() < shift + number.len() {
            weights.push(Number::new(Vec::new()));
        }
        for (bits, bit) in weights[shift..].iter_mut().zip(number) {
            append(bits, &[*bit]);
        }
    }
}

/// Adds bits of the same weight, from the lowest weight to the highest, until no list has more than `most` (1 or 2)
/// bits of any weight.
fn add_until<C: TwoPartyCircuit>(
    circuit: &mut C,
    channel: &mut dyn Channel,
    weights: &mut [BitsByWeight<C::Label>],
    most: usize,
) -> Result<(), MpcError> {
    let mut weight = 0;
    while weights.iter().any(|bits| bits.len() > weight) {
        let overfull = |list: &usize| {
            let bits = weights[*list].get(weight);
            bits.is_some_and(|bits| bits.len() > most)
        };
        let overfull: Vec<usize> = (0..weights.len()).filter(overfull).collect();
        let mut taken: Vec<Number<C::Label>> = overfull
            .iter()
            .map(|list| std::mem::take(&mut weights[*list][weight]))
            .collect();
        while taken.iter().any(|bits| bits.len() > most) {
            let carries = add_once(circuit, channel, &mut taken, most)?;
            for (list, carries) in overfull.iter().zip(carries) {
                let bits = &mut weights[*list];
                if !carries.is_empty() {
                    if bits.len() == weight + 1 {
                        bits.push(Number::default());
                    }
                    append(&mut bits[weight + 1], &carries);
                }
            }
        }
        for (list, bits) in overfull.into_iter().zip(taken) {
            weights[list][weight] = bits;
        }
        weight += 1;
    }
    Ok(())
}

fn by_weight<L: Copy + Zeroize>(numbers: &[Number<L>]) -> BitsByWeight<L> {
    let width = numbers.iter().map(|number| number.len()).max().unwrap_or(0);
    let of_weight = |weight: usize| {
        // Allocated at full size: growing would leave copies in freed memory.
        let mut bits = Number::new(Vec::with_capacity(numbers.len()));
        bits.extend(numbers.iter().filter_map(|number| number.get(weight)));
        bits
    };
    (0..width).map(of_weight).collect()
}

/// Adds bits of one weight in threes in every list, and as a pair if only two are left and `most` is 1. The sums
/// replace the bits; the carries are returned.
fn add_once<C: TwoPartyCircuit>(
    circuit: &mut C,
    channel: &mut dyn Channel,
    lists: &mut [Number<C::Label>],
    most: usize,
) -> Result<Vec<Number<C::Label>>, MpcError> {
    let zero = circuit.constant(false);
    let most_threes = lists.iter().map(|bits| bits.len().div_ceil(3)).sum();
    let mut threes: Zeroizing<Vec<[C::Label; 3]>> = Zeroizing::new(Vec::with_capacity(most_threes));
    let mut counts = Vec::with_capacity(lists.len());
    for bits in lists.iter() {
        let before = threes.len();
        let (whole, _) = bits.as_chunks::<3>();
        threes.extend_from_slice(whole);
        if let ([x, y], 1) = (&bits[..], most) {
            threes.push([*x, *y, zero]);
        }
        counts.push(threes.len() - before);
    }
    circuit.prepare(threes.len(), channel)?;
    let mut added = Zeroizing::new(Vec::with_capacity(threes.len()));
    let mut carried = Zeroizing::new(Vec::with_capacity(threes.len()));
    for chunk in threes.chunks(LANES) {
        circuit.set_lanes(chunk.len());
        let wire = |input: usize| -> Bundle<C::Label> {
            std::array::from_fn(|lane| chunk.get(lane).map_or(zero, |three| three[input]))
        };
        let (x, y, z) = (wire(0), wire(1), wire(2));
        let carry = next_carry(circuit, &x, &y, Some(&z));
        let sum = circuit.xor(&circuit.xor(&x, &y), &z);
        added.extend_from_slice(&sum[..chunk.len()]);
        carried.extend_from_slice(&carry[..chunk.len()]);
    }
    circuit.finish_gates(channel)?;
    let mut carries = Vec::with_capacity(lists.len());
    let mut first = 0;
    for (bits, count) in lists.iter_mut().zip(counts) {
        let range = first..first + count;
        first = range.end;
        let rest = bits.get(3 * count..).unwrap_or_default();
        let left = added[range.clone()].iter().chain(rest).copied().collect();
        *bits = Number::new(left);
        carries.push(Number::new(carried[range].to_vec()));
    }
    Ok(carries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::Clear;
    use proptest::prelude::*;
    use veilpath_channel::memory_pair;

    fn value(number: &[bool]) -> u64 {
        let bits = number.iter().rev();
        bits.fold(0, |sum, bit| sum * 2 + u64::from(*bit))
    }

    proptest! {
        #[test]
        fn counters_count_with_less_than_a_gate_for_each_bit(
            bits in prop::collection::vec((0usize..7, any::<bool>()), 0..9000),
        ) {
            let (mut channel, _peer) = memory_pair();
            let mut clear = Clear::new();
            let mut tallies = Tallies::new(8);
            let mut expected = [0; 8];
            for (counter, bit) in &bits {
                tallies.push(*counter, *bit);
                expected[*counter] += u64::from(*bit);
                tallies.add_pending(&mut clear, &mut channel).unwrap();
            }
            let weights = tallies.into_weights();
            let counts = sums_of_weights(&mut clear, &mut channel, weights).unwrap();
            let counts: Vec<u64> = counts.iter().map(|count| value(count)).collect();
            prop_assert_eq!(counts, expected);
            prop_assert!(clear.and_gates() <= bits.len());
        }

        #[test]
        fn running_sums_take_as_many_gates_as_one_sum(
            factors in prop::collection::vec(0u64..10_000, 1..30),
            count in 1usize..6000,
        ) {
            let (mut channel, _peer) = memory_pair();
            let wires: Vec<[bool; 2]> = (0..count).map(|at| [at % 2 == 1, at % 3 == 0]).collect();
            let terms = wires.iter().zip(factors.iter().cycle());
            let [mut one_sum, mut running] = [Clear::new(), Clear::new()];
            let terms: Vec<Multiple<'_, bool>> = terms.map(|(bits, factor)| (&bits[..], *factor)).collect();
            let expected = weighted_sums(&mut one_sum, &mut channel, std::slice::from_ref(&terms)).unwrap();
            let mut sums = RunningSums::new(1);
            for term in terms {
                sums.add(&mut running, &mut channel, 0, term).unwrap();
            }
            let got = sums.finish(&mut running, &mut channel).unwrap();
            prop_assert_eq!(value(&got[0]), value(&expected[0]));
            prop_assert_eq!(running.and_gates(), one_sum.and_gates());
        }

        #[test]
        fn public_factors_multiply(
            lists in prop::collection::vec(prop::collection::vec((0u64..64, 0u64..1000), 0..20), 0..5),
        ) {
            let (mut channel, _peer) = memory_pair();
            let wires = |value: u64| -> Vec<bool> { (0..6).map(|bit| value >> bit & 1 == 1).collect() };
            let wired: Vec<Vec<(Vec<bool>, u64)>> = lists
                .iter()
                .map(|list| list.iter().map(|(value, factor)| (wires(*value), *factor)).collect())
                .collect();
            let borrowed: Vec<Vec<Multiple<'_, bool>>> = wired
                .iter()
                .map(|list| list.iter().map(|(number, factor)| (&number[..], *factor)).collect())
                .collect();
            let got = weighted_sums(&mut Clear::new(), &mut channel, &borrowed).unwrap();
            let got: Vec<u64> = got.iter().map(|sum| value(sum)).collect();
            let sum = |list: &Vec<(u64, u64)>| list.iter().map(|(value, factor)| value * factor).sum();
            let expected: Vec<u64> = lists.iter().map(sum).collect();
            prop_assert_eq!(got, expected);
        }
    }
}
