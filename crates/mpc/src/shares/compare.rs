//! Comparisons of shared numbers.
//!
//! A number d = d₀ + d₁ modulo 2^(w+1) that lies in −2^w … 2^w − 1 is negative if its highest bit is set: the sum of the two
//! highest bits and of the carry of the w lower ones. The carry of two numbers, each known to one side, comes from blocks
//! of about three bits. For a block, one side prepares two facts about its sum with the other's bits (whether it overflows;
//! whether it is all ones, and so passes a carry on) for each value that these can have, and the other fetches its facts by a
//! 1-out-of-2^m transfer, masked by the first side's share. Blocks then merge in a tree: the upper half's fact g ⊕ p·g' of
//! two neighbours, and p·p'.
//!
//! Who prepares alternates from block to block, so that traffic is balanced. Facts are shared by exclusive or from the start,
//! so neither side learns one.

use super::gates::Gates;
use super::packing::{Reader, Words, Writer, list_bytes, mask, unpacked, words};
use super::pool::{Demand, taken};
use super::rounds::all;
use crate::error::MpcError;
use zeroize::Zeroizing;

/// A block of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Leaf {
    low: usize,
    bits: usize,
    /// The party that prepares the facts.
    sender: usize,
    /// Whether the block has to know if it passes a carry on: all but the lowest.
    passes: bool,
}

/// The blocks of `width` bits, lowest first: three each. What is left over makes the lowest a block of four, because it has only one
/// fact, or the highest one of two.
fn leaves(width: usize, first_sender: usize) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    let mut low = 0;
    while low < width {
        let bits = match low {
            0 if width > 3 && width % 3 == 1 => 4,
            _ => (width - low).min(3),
        };
        leaves.push(Leaf {
            low,
            bits,
            sender: (first_sender + leaves.len()) % 2,
            passes: low > 0,
        });
        low += bits;
    }
    leaves
}

impl Leaf {
    /// Bits of a fact.
    fn fact_bits(&self) -> usize {
        1 + usize::from(self.passes)
    }

    /// Bits that the sender sends: all facts but one.
    fn table_bits(&self) -> usize {
        ((1 << self.bits) - 1) * self.fact_bits()
    }
}

/// What a gadget costs for each number, both directions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GadgetCost {
    /// Transfers.
    pub cots: usize,
    /// Bits of messages.
    pub bits: usize,
    /// Exchanges of messages, one after the other.
    pub exchanges: usize,
}

/// The cost of [`Gates::clamp`] with this width.
pub(crate) fn clamp_cost(width: usize) -> GadgetCost {
    let leaves = leaves(width, 0);
    let facts: usize = leaves
        .iter()
        .map(|leaf| leaf.bits + leaf.table_bits())
        .sum();
    // All merges have two bits, except those with the lowest block.
    let merges = leaves.len() - 1;
    let levels = leaves.len().next_power_of_two().trailing_zeros() as usize;
    GadgetCost {
        cots: width + 2 * merges + 2,
        bits: facts + 6 * merges - 2 * levels + 2 * (width + 2),
        exchanges: 3 + levels,
    }
}

/// Lists of transfers that [`Gates::clamp`] uses, both directions together.
pub(crate) fn clamp_lists(width: usize) -> usize {
    let leaves = leaves(width, 0).len();
    leaves + 2 * (leaves - 1) + 2
}

impl Gates {
    /// The transfers of [`Gates::not_negative`].
    pub(crate) fn sign_demand(&self, count: usize, width: usize, first_sender: usize) -> Demand {
        let leaves = leaves(width, first_sender);
        let own = leaves
            .iter()
            .map(|leaf| Demand::one_way(taken(count * leaf.bits), leaf.sender != self.party));
        let merges = Self::cross_demand(count) * (leaves.len() - 1);
        own.fold(merges, |sum, demand| sum + demand)
    }

    /// The transfers of [`Gates::clamp`].
    pub(crate) fn clamp_demand(&self, count: usize, width: usize, first_sender: usize) -> Demand {
        self.sign_demand(count, width, first_sender) + Self::cross_demand(count)
    }

    /// max(0, d) for numbers modulo 2^(width + 1).
    pub(crate) async fn clamp(
        &self,
        numbers: &[u64],
        width: usize,
        first_sender: usize,
    ) -> Result<Words, MpcError> {
        let positive = self.not_negative(numbers, width, first_sender).await?;
        self.select(&positive, numbers, width + 1).await
    }

    /// Whether numbers modulo 2^(width + 1) are not negative, shared by exclusive or.
    pub(crate) async fn not_negative(
        &self,
        numbers: &[u64],
        width: usize,
        first_sender: usize,
    ) -> Result<Words, MpcError> {
        let mut signs = self.carries(numbers, width, first_sender).await?;
        let not = u64::from(self.party == 0);
        for (sign, number) in signs.iter_mut().zip(numbers) {
            *sign ^= number >> width & 1 ^ not;
        }
        Ok(signs)
    }

    /// The carries of the `width` lower bits of both sides' numbers.
    async fn carries(
        &self,
        numbers: &[u64],
        width: usize,
        first_sender: usize,
    ) -> Result<Words, MpcError> {
        let leaves = leaves(width, first_sender);
        let mut facts = self.facts(numbers, &leaves).await?;
        while facts.len() > 1 {
            let mut pairs = facts.into_iter();
            let mut merges = Vec::new();
            let mut lowest = true;
            let mut unpaired = None;
            while let Some(low) = pairs.next() {
                match pairs.next() {
                    Some(high) => merges.push(self.merge(high, low, lowest)),
                    None => unpaired = Some(low),
                }
                lowest = false;
            }
            let merged = all(merges).await;
            facts = merged.into_iter().collect::<Result<Vec<_>, _>>()?;
            facts.extend(unpaired);
        }
        facts
            .pop()
            .ok_or(MpcError::Misuse("a number to compare has no bits"))
    }

    /// The facts of two neighbouring blocks as those of one.
    async fn merge(&self, high: Words, low: Words, lowest: bool) -> Result<Words, MpcError> {
        let passes = words(high.iter().map(|fact| fact >> 1));
        let bits = if lowest { 1 } else { 2 };
        let mut merged = self.and(&passes, &low, bits).await?;
        for (merged, high) in merged.iter_mut().zip(high.iter()) {
            *merged ^= high & 1;
        }
        Ok(merged)
    }

    /// The facts of all blocks: bit 0 is the carry, bit 1 whether a carry is passed on.
    async fn facts(&self, numbers: &[u64], leaves: &[Leaf]) -> Result<Vec<Words>, MpcError> {
        let count = numbers.len();
        let value = |leaf: &Leaf, at: usize| numbers[at] >> leaf.low & mask(leaf.bits);
        // Both sides compute the pads of a block at the same point, as pads are counted.
        let mut pads = Vec::with_capacity(leaves.len());
        let (mut choice_bytes, mut their_choice_bytes) = (0, 0);
        let (mut table_bytes, mut their_table_bytes) = (0, 0);
        for leaf in leaves {
            let mut pool = self.pool.borrow_mut();
            let (choices, table) = (
                list_bytes(count, leaf.bits),
                list_bytes(count, leaf.table_bits()),
            );
            if leaf.sender == self.party {
                pads.push(Pads::Sent(pool.send(count, leaf.bits)?));
                their_choice_bytes += choices;
                table_bytes += table;
            } else {
                let chosen = pool.receive(count, leaf.bits)?;
                let (random, _) = unpacked(chosen.choices.iter().copied(), count, leaf.bits);
                pads.push(Pads::Received(random, chosen.pads));
                choice_bytes += choices;
                their_table_bytes += table;
            }
        }
        let mut message = Writer::with_capacity(choice_bytes);
        for (leaf, pads) in leaves.iter().zip(&pads) {
            if let Pads::Received(random, _) = pads {
                let swaps = random.iter().enumerate();
                message.numbers(
                    swaps.map(|(at, random)| value(leaf, at) ^ random),
                    leaf.bits,
                );
            }
        }
        let answer = self
            .rounds
            .exchange(message.finish(), their_choice_bytes)
            .await;
        let mut answer = Reader::new(&answer);
        let mut message = Writer::with_capacity(table_bytes);
        let mut facts: Vec<Words> = Vec::with_capacity(leaves.len());
        for (leaf, pads) in leaves.iter().zip(&pads) {
            let Pads::Sent(pads) = pads else {
                facts.push(Zeroizing::default());
                continue;
            };
            let swaps = answer.numbers(count, leaf.bits)?;
            let mut shares = Zeroizing::new(Vec::with_capacity(count));
            let mut tables = Zeroizing::new(Vec::with_capacity(count));
            for (at, (swap, pads)) in swaps
                .iter()
                .zip(pads.chunks_exact(1 << leaf.bits))
                .enumerate()
            {
                let (share, table) = leaf.table(value(leaf, at), *swap as usize, pads);
                shares.push(share);
                tables.push(table);
            }
            message.numbers(tables.iter().copied(), leaf.table_bits());
            facts.push(shares);
        }
        let answer = self
            .rounds
            .exchange(message.finish(), their_table_bytes)
            .await;
        let mut answer = Reader::new(&answer);
        for ((leaf, pads), facts) in leaves.iter().zip(&pads).zip(&mut facts) {
            if let Pads::Received(random, pads) = pads {
                let tables = answer.numbers(count, leaf.table_bits())?;
                *facts = words((0..count).map(|at| leaf.fact(tables[at], random[at], pads[at])));
            }
        }
        Ok(facts)
    }
}

enum Pads {
    Sent(Words),
    /// Random choices and their pads.
    Received(Words, Words),
}

impl Leaf {
    /// The sender's share, and the facts that it sends: for each random choice r of the receiver, whose value is then r ⊕
    /// `swap`, the fact under the pad of r and the sender's share, which is such that the message for r = 0 is zero and need
    /// not be sent. Addresses depend on `swap`, which both sides know, and not on the value.
    #[inline]
    fn table(&self, value: u64, swap: usize, pads: &[u64]) -> (u64, u64) {
        let bits = self.fact_bits();
        let facts = mask(bits);
        let fact = |other: usize| {
            let sum = value + other as u64;
            let carry = sum >> self.bits;
            // All ones: adding one gives the power of two.
            let full = (sum + 1) >> self.bits & !carry & 1;
            (carry | full << 1) & facts
        };
        let share = fact(swap) ^ pads[0] & facts;
        let mut table = 0;
        for random in (1..pads.len()).rev() {
            let entry = fact(random ^ swap) ^ share ^ pads[random] & facts;
            table = table << bits | entry;
        }
        (share, table)
    }

    /// The receiver's share. No address depends on its choice.
    #[inline]
    fn fact(&self, table: u64, random: u64, pad: u64) -> u64 {
        let bits = self.fact_bits() as u64;
        // The message for 0 is zero: a shift by all bits, in two halves.
        let shifted = (table << bits) >> (random * bits);
        (shifted ^ pad) & mask(bits as usize)
    }
}
