//! Comparisons of shared numbers.
//!
//! A number d = d₀ + d₁ modulo 2^(w+1) that lies in −2^w … 2^w − 1 is negative if its highest bit is set. That bit is
//! the sum of the highest bits of both shares and the carry of their w lower bits. The carry of two numbers, each known
//! to one side, comes from blocks of about three bits, as in a carry-lookahead adder. A block generates a carry (g) if
//! its sum overflows, and propagates one (p) if its sum is all ones. One side prepares both signals for each value that
//! the other's bits can have, masked by its own share. The other side fetches its entry by a 1-out-of-2^m transfer.
//! Blocks then merge in a tree: neighbours (g, p) and (g', p') become (g ⊕ p·g', p·p').
//!
//! The sides take turns preparing blocks, so traffic is balanced. Signals are XOR-shared from the start, so neither
//! side learns any of them.

use super::gates::Gates;
use super::packing::{Reader, Words, Writer, list_bytes, unpacked, words};
use super::pool::{Demand, aligned_count};
use super::rounds::join_all;
use super::session::Party;
use crate::bits::mask;
use crate::error::MpcError;
use zeroize::Zeroizing;

/// A block of bits: a leaf of the carry tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Leaf {
    low: usize,
    bits: usize,
    /// The party that prepares the signals.
    sender: Party,
    /// Whether the block needs a propagate signal: all but the lowest.
    propagates: bool,
}

/// The blocks of `width` bits, lowest first: three bits each. If one bit is left over, the lowest block has four,
/// because it has only one signal. If two are left over, the highest block has two.
fn leaves(width: usize, first_sender: Party) -> Vec<Leaf> {
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
            sender: first_sender.alternate(leaves.len()),
            propagates: low > 0,
        });
        low += bits;
    }
    leaves
}

impl Leaf {
    /// Bits of the signals: generate, and propagate if it is needed.
    fn signal_bits(&self) -> usize {
        1 + usize::from(self.propagates)
    }

    /// Bits that the sender sends: one entry fewer than there are values.
    fn table_bits(&self) -> usize {
        ((1 << self.bits) - 1) * self.signal_bits()
    }
}

/// The cost of a gadget per number, both directions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GadgetCost {
    /// Correlated transfers.
    pub cots: usize,
    /// Bits of messages.
    pub bits: usize,
    /// Sequential exchanges of messages.
    pub exchanges: usize,
}

/// The cost of [`Gates::clamp`] with this width.
pub(crate) fn clamp_cost(width: usize) -> GadgetCost {
    let leaves = leaves(width, Party::Host);
    let leaf_bits: usize = leaves
        .iter()
        .map(|leaf| leaf.bits + leaf.table_bits())
        .sum();
    // All merges have two bits, except those with the lowest block.
    let merges = leaves.len() - 1;
    let levels = leaves.len().next_power_of_two().trailing_zeros() as usize;
    GadgetCost {
        cots: width + 2 * merges + 2,
        bits: leaf_bits + 6 * merges - 2 * levels + 2 * (width + 2),
        exchanges: 3 + levels,
    }
}

/// The number of transfer lists that [`Gates::clamp`] uses, both directions together.
pub(crate) fn clamp_lists(width: usize) -> usize {
    let leaves = leaves(width, Party::Host).len();
    leaves + 2 * (leaves - 1) + 2
}

impl Gates {
    /// The transfers of [`Gates::not_negative`].
    pub(crate) fn sign_demand(&self, count: usize, width: usize, first_sender: Party) -> Demand {
        let leaves = leaves(width, first_sender);
        let own = leaves.iter().map(|leaf| {
            Demand::one_way(aligned_count(count * leaf.bits), leaf.sender != self.party)
        });
        let merges = Self::cross_demand(count) * (leaves.len() - 1);
        own.fold(merges, |sum, demand| sum + demand)
    }

    /// The transfers of [`Gates::clamp`].
    pub(crate) fn clamp_demand(&self, count: usize, width: usize, first_sender: Party) -> Demand {
        self.sign_demand(count, width, first_sender) + Self::cross_demand(count)
    }

    /// max(0, d) for numbers modulo 2^(width + 1).
    pub(crate) async fn clamp(
        &self,
        numbers: &[u64],
        width: usize,
        first_sender: Party,
    ) -> Result<Words, MpcError> {
        let positive = self.not_negative(numbers, width, first_sender).await?;
        self.select(&positive, numbers, width + 1).await
    }

    /// Whether numbers modulo 2^(width + 1) are not negative, XOR-shared.
    pub(crate) async fn not_negative(
        &self,
        numbers: &[u64],
        width: usize,
        first_sender: Party,
    ) -> Result<Words, MpcError> {
        let mut signs = self.carries(numbers, width, first_sender).await?;
        let not = u64::from(self.party.is_host());
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
        first_sender: Party,
    ) -> Result<Words, MpcError> {
        let leaves = leaves(width, first_sender);
        let mut signals = self.carry_signals(numbers, &leaves).await?;
        while signals.len() > 1 {
            let mut pairs = signals.into_iter();
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
            let merged = join_all(merges).await;
            signals = merged.into_iter().collect::<Result<Vec<_>, _>>()?;
            signals.extend(unpaired);
        }
        signals
            .pop()
            .ok_or(MpcError::Misuse("a number to compare has no bits"))
    }

    /// Merges the signals of two neighbouring blocks.
    async fn merge(&self, high: Words, low: Words, lowest: bool) -> Result<Words, MpcError> {
        let propagates = words(high.iter().map(|signals| signals >> 1));
        let bits = if lowest { 1 } else { 2 };
        let mut merged = self.and(&propagates, &low, bits).await?;
        for (merged, high) in merged.iter_mut().zip(high.iter()) {
            *merged ^= high & 1;
        }
        Ok(merged)
    }

    /// The signals of all blocks: bit 0 is generate, bit 1 propagate.
    async fn carry_signals(
        &self,
        numbers: &[u64],
        leaves: &[Leaf],
    ) -> Result<Vec<Words>, MpcError> {
        let count = numbers.len();
        let value = |leaf: &Leaf, at: usize| numbers[at] >> leaf.low & mask(leaf.bits);
        // Both sides compute the pads of a block at the same point, because pads are counted.
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
        let mut signals: Vec<Words> = Vec::with_capacity(leaves.len());
        for (leaf, pads) in leaves.iter().zip(&pads) {
            let Pads::Sent(pads) = pads else {
                signals.push(Zeroizing::default());
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
            signals.push(shares);
        }
        let answer = self
            .rounds
            .exchange(message.finish(), their_table_bytes)
            .await;
        let mut answer = Reader::new(&answer);
        for ((leaf, pads), signals) in leaves.iter().zip(&pads).zip(&mut signals) {
            if let Pads::Received(random, pads) = pads {
                let tables = answer.numbers(count, leaf.table_bits())?;
                *signals = words(
                    (0..count).map(|at| leaf.receiver_share(tables[at], random[at], pads[at])),
                );
            }
        }
        Ok(signals)
    }
}

enum Pads {
    Sent(Words),
    /// Random choices and their pads.
    Received(Words, Words),
}

impl Leaf {
    /// The sender's share, and the table that it sends. For each random choice r of the receiver, whose value is then r
    /// ⊕ `swap`, the table has the signals masked by the pad of r and the sender's share. The share makes the entry for
    /// r = 0 zero, so that entry is not sent. Addresses depend on `swap`, which both sides know, and not on the value.
    #[inline]
    fn table(&self, value: u64, swap: usize, pads: &[u64]) -> (u64, u64) {
        let bits = self.signal_bits();
        let signal_mask = mask(bits);
        let signals = |other: usize| {
            let sum = value + other as u64;
            let generate = sum >> self.bits;
            // If the sum is all ones, adding one gives the power of two.
            let propagate = (sum + 1) >> self.bits & !generate & 1;
            (generate | propagate << 1) & signal_mask
        };
        let share = signals(swap) ^ pads[0] & signal_mask;
        let mut table = 0;
        for random in (1..pads.len()).rev() {
            let entry = signals(random ^ swap) ^ share ^ pads[random] & signal_mask;
            table = table << bits | entry;
        }
        (share, table)
    }

    /// The receiver's share. No address depends on its choice.
    #[inline]
    fn receiver_share(&self, table: u64, random: u64, pad: u64) -> u64 {
        let bits = self.signal_bits() as u64;
        // The entry for 0 is zero: a shift by all bits, in two steps.
        let shifted = (table << bits) >> (random * bits);
        (shifted ^ pad) & mask(bits as usize)
    }
}
