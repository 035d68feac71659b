//! Products of values that the two sides hold.
//!
//! A transfer gives the sender two random pads m₀ and m₁, and the receiver one of them, m_r for a random bit r. Let x
//! be a bit of the receiver and y a number of the sender, modulo 2^l. The receiver sends c = x ⊕ r and, at the same
//! time, the sender sends e = y − (m₁ − m₀). Then x·y is the sum of
//!
//! > ±(m_r + r·e) at the receiver, and ∓m₀ + c·y at the sender,
//!
//! with the upper signs if c = 0. Both messages are uniform: r is random to the sender, and m₁ − m₀ is random to the
//! receiver, which has only one of the two. With XOR instead of addition, the signs disappear.
//!
//! Take a product of two *shared* factors, a bit s = s₀ ⊕ s₁ and a number d = d₀ + d₁. It is s_p·d_p at each side p
//! plus two products as above, one in each direction: s·d_p = s_p·d_p + s_q·d_p·(1 − 2·s_p), where q is the other side.

use super::packing::{Reader, Words, Writer, list_bytes, words};
use super::pool::{Demand, Pool, ReceiverPads, aligned_count};
use super::rounds::Rounds;
use super::session::Party;
use crate::bits::mask;
use crate::error::MpcError;
use std::cell::RefCell;
use std::rc::Rc;
use zeroize::Zeroizing;

/// Computes products for one task.
#[derive(Clone)]
pub(crate) struct Gates {
    pub(crate) rounds: Rc<Rounds>,
    pub(crate) pool: Rc<RefCell<Pool>>,
    pub(crate) party: Party,
}

/// One side's factors of products in one direction.
pub(crate) enum Factor<'a> {
    /// Bits (0 or 1) of the receiver.
    Bits(&'a [u64]),
    /// Numbers of the sender.
    Numbers(&'a [u64]),
}

/// Bits that are multiplied several times.
pub(crate) struct Multiplier {
    own: Words,
    count: usize,
    chosen: ReceiverPads,
    pads: Words,
    /// The other side's corrections, once they have arrived.
    their_swaps: Words,
    used: usize,
}

impl Multiplier {
    /// How often the bits can be multiplied: once for each bit of a pad.
    pub(crate) const TIMES: usize = u64::BITS as usize;
}

impl Gates {
    /// The demand of [`Gates::products`].
    pub(crate) fn products_demand(count: usize, receives: bool) -> Demand {
        Demand::one_way(aligned_count(count), receives)
    }

    /// Products of one side's bits and the other's numbers, modulo 2^`bits`.
    pub(crate) async fn products(
        &self,
        factor: Factor<'_>,
        bits: usize,
    ) -> Result<Words, MpcError> {
        match factor {
            Factor::Bits(own) => {
                let chosen = self.pool.borrow_mut().receive(own.len(), 1)?;
                let mut message = Writer::with_capacity(list_bytes(own.len(), 1));
                message.numbers(corrections(own, &chosen), 1);
                let expected = list_bytes(own.len(), bits);
                let answer = self.rounds.exchange(message.finish(), expected).await;
                let theirs = Reader::new(&answer).numbers(own.len(), bits)?;
                Ok(receiver_shares(own, &chosen, &theirs, bits))
            }
            Factor::Numbers(own) => {
                let pads = self.pool.borrow_mut().send(own.len(), 1)?;
                let mut message = Writer::with_capacity(list_bytes(own.len(), bits));
                message.numbers(differences(own, &pads), bits);
                let expected = list_bytes(own.len(), 1);
                let answer = self.rounds.exchange(message.finish(), expected).await;
                let theirs = Reader::new(&answer).numbers(own.len(), 1)?;
                Ok(sender_shares(own, &pads, &theirs, bits))
            }
        }
    }

    /// The demand of [`Gates::cross_products`], [`Gates::select`] and [`Gates::and`].
    pub(crate) fn cross_demand(count: usize) -> Demand {
        Demand::each_way(aligned_count(count))
    }

    /// The sum, modulo 2^`bits`, of this side's bits times the other's numbers and this side's numbers times the
    /// other's bits.
    pub(crate) async fn cross_products(
        &self,
        own_bits: &[u64],
        own_numbers: &[u64],
        bits: usize,
    ) -> Result<Words, MpcError> {
        let count = own_bits.len();
        let (chosen, pads) = self.both_pads(count)?;
        let size = list_bytes(count, 1) + list_bytes(count, bits);
        let mut message = Writer::with_capacity(size);
        message.numbers(corrections(own_bits, &chosen), 1);
        message.numbers(differences(own_numbers, &pads), bits);
        let answer = self.rounds.exchange(message.finish(), size).await;
        let mut answer = Reader::new(&answer);
        let their_bits = answer.numbers(count, 1)?;
        let their_numbers = answer.numbers(count, bits)?;
        let mut sums = receiver_shares(own_bits, &chosen, &their_numbers, bits);
        let others = sender_shares(own_numbers, &pads, &their_bits, bits);
        for (sum, other) in sums.iter_mut().zip(others.iter()) {
            *sum = sum.wrapping_add(*other) & mask(bits);
        }
        Ok(sums)
    }

    /// The number if the bit is 1, else 0. Bits are XOR-shared; numbers are shared modulo 2^`bits`.
    pub(crate) async fn select(
        &self,
        chosen: &[u64],
        numbers: &[u64],
        bits: usize,
    ) -> Result<Words, MpcError> {
        let signed = words(chosen.iter().zip(numbers).map(|(bit, number)| {
            // number·(1 − 2·bit)
            (number ^ bit.wrapping_neg()).wrapping_add(*bit) & mask(bits)
        }));
        let mut selected = self.cross_products(chosen, &signed, bits).await?;
        for ((selected, bit), number) in selected.iter_mut().zip(chosen).zip(numbers) {
            *selected = selected.wrapping_add(number & bit.wrapping_neg()) & mask(bits);
        }
        Ok(selected)
    }

    /// The product of each bit and `bits` other bits, all XOR-shared.
    pub(crate) async fn and(
        &self,
        own_bits: &[u64],
        own_values: &[u64],
        bits: usize,
    ) -> Result<Words, MpcError> {
        let count = own_bits.len();
        let (chosen, pads) = self.both_pads(count)?;
        let (pairs, _) = pads.as_chunks::<2>();
        let size = list_bytes(count, 1) + list_bytes(count, bits);
        let mut message = Writer::with_capacity(size);
        message.numbers(corrections(own_bits, &chosen), 1);
        let masked = own_values.iter().zip(pairs);
        message.numbers(masked.map(|(value, pad)| value ^ pad[0] ^ pad[1]), bits);
        let answer = self.rounds.exchange(message.finish(), size).await;
        let mut answer = Reader::new(&answer);
        let their_bits = answer.numbers(count, 1)?;
        let their_values = answer.numbers(count, bits)?;
        // Hidden from the compiler, which could otherwise branch on masks that are all ones or all zeros.
        let choices = words((0..count).map(|at| choice(&chosen, at).wrapping_neg()));
        let choices = std::hint::black_box(choices);
        let mut products = Zeroizing::new(Vec::with_capacity(count));
        for at in 0..count {
            let received = chosen.pads[at] ^ (their_values[at] & choices[at]);
            let sent = pairs[at][0] ^ (own_values[at] & their_bits[at].wrapping_neg());
            let own = own_values[at] & own_bits[at].wrapping_neg();
            products.push((received ^ sent ^ own) & mask(bits));
        }
        Ok(products)
    }

    /// [`Gates::and`] on packed bits: each of `count` bits times the bits in the same place of all `planes`.
    pub(crate) async fn and_planes(
        &self,
        own_bits: &[u64],
        planes: &[&[u64]],
        count: usize,
    ) -> Result<Vec<Words>, MpcError> {
        let (chosen, pads) = self.both_pads(count)?;
        let (pairs, _) = pads.as_chunks::<2>();
        let size = (1 + planes.len()) * list_bytes(count, 1);
        let mut message = Writer::with_capacity(size);
        let swaps = words(
            own_bits
                .iter()
                .zip(chosen.choices.iter())
                .map(|(bit, choice)| bit ^ choice),
        );
        message.bits(&swaps, count);
        let mut zeros = Vec::with_capacity(planes.len());
        for (bit, plane) in planes.iter().enumerate() {
            let zero = packed(pairs.iter().map(|pair| pair[0] >> bit));
            let one = packed(pairs.iter().map(|pair| pair[1] >> bit));
            let masked = plane.iter().zip(zero.iter()).zip(one.iter());
            let masked = words(masked.map(|((plane, zero), one)| plane ^ zero ^ one));
            message.bits(&masked, count);
            zeros.push(zero);
        }
        let answer = self.rounds.exchange(message.finish(), size).await;
        let mut answer = Reader::new(&answer);
        let their_swaps = answer.bits(count)?;
        let mut products = Vec::with_capacity(planes.len());
        for (bit, (plane, zero)) in planes.iter().zip(&zeros).enumerate() {
            let theirs = answer.bits(count)?;
            let pads = packed(chosen.pads.iter().map(|pad| pad >> bit));
            products.push(words((0..theirs.len()).map(|at| {
                let received = pads[at] ^ (theirs[at] & chosen.choices[at]);
                let sent = zero[at] ^ (plane[at] & their_swaps[at]);
                received ^ sent ^ (plane[at] & own_bits[at])
            })));
        }
        Ok(products)
    }

    /// Bits that [`Gates::multiply`] multiplies, 64 to a word.
    pub(crate) fn multiplier(&self, own: Words, count: usize) -> Result<Multiplier, MpcError> {
        let (chosen, pads) = self.both_pads(count)?;
        Ok(Multiplier {
            own,
            count,
            chosen,
            pads,
            their_swaps: Words::default(),
            used: 0,
        })
    }

    /// [`Gates::and`] on packed bits, with the same first factors each time. Up to [`Multiplier::TIMES`] products share
    /// one transfer in each direction, and each product uses its own bit of the pads.
    pub(crate) async fn multiply(
        &self,
        multiplier: &mut Multiplier,
        plane: &[u64],
    ) -> Result<Words, MpcError> {
        let Multiplier {
            own,
            count,
            chosen,
            pads,
            their_swaps,
            used,
        } = multiplier;
        let (count, bit) = (*count, *used);
        if bit == Multiplier::TIMES {
            return Err(MpcError::Misuse("all bits of pads are used"));
        }
        *used += 1;
        let (pairs, _) = pads.as_chunks::<2>();
        let zero = packed(pairs.iter().map(|pair| pair[0] >> bit));
        let one = packed(pairs.iter().map(|pair| pair[1] >> bit));
        let lists = if bit == 0 { 2 } else { 1 };
        let size = lists * list_bytes(count, 1);
        let mut message = Writer::with_capacity(size);
        if bit == 0 {
            let swaps = own.iter().zip(chosen.choices.iter());
            message.bits(&words(swaps.map(|(bit, choice)| bit ^ choice)), count);
        }
        let masked = plane.iter().zip(zero.iter()).zip(one.iter());
        let masked = words(masked.map(|((plane, zero), one)| plane ^ zero ^ one));
        message.bits(&masked, count);
        let answer = self.rounds.exchange(message.finish(), size).await;
        let mut answer = Reader::new(&answer);
        if bit == 0 {
            *their_swaps = answer.bits(count)?;
        }
        let theirs = answer.bits(count)?;
        let received = packed(chosen.pads.iter().map(|pad| pad >> bit));
        Ok(words((0..theirs.len()).map(|at| {
            let received = received[at] ^ (theirs[at] & chosen.choices[at]);
            let sent = zero[at] ^ (plane[at] & their_swaps[at]);
            received ^ sent ^ (plane[at] & own[at])
        })))
    }

    fn both_pads(&self, count: usize) -> Result<(ReceiverPads, Words), MpcError> {
        let mut pool = self.pool.borrow_mut();
        // One party's receiver pairs with the other's sender. The two directions are counted separately, so their order
        // is free.
        let chosen = pool.receive(count, 1)?;
        let pads = pool.send(count, 1)?;
        Ok((chosen, pads))
    }
}

/// The random choice of a transfer.
#[inline]
fn choice(chosen: &ReceiverPads, at: usize) -> u64 {
    chosen.choices[at / 64] >> (at % 64) & 1
}

/// The lowest bits of words, 64 to a word.
pub(crate) fn packed(bits: impl ExactSizeIterator<Item = u64>) -> Words {
    let mut words = Zeroizing::new(vec![0; bits.len().div_ceil(64)]);
    for (at, bit) in bits.enumerate() {
        words[at / 64] |= (bit & 1) << (at % 64);
    }
    words
}

/// c of the module documentation.
fn corrections(bits: &[u64], chosen: &ReceiverPads) -> impl Iterator<Item = u64> {
    let bits = bits.iter().enumerate();
    bits.map(|(at, bit)| bit ^ choice(chosen, at))
}

/// e of the module documentation.
fn differences(numbers: &[u64], pads: &[u64]) -> impl Iterator<Item = u64> {
    let (pairs, _) = pads.as_chunks::<2>();
    let both = numbers.iter().zip(pairs);
    both.map(|(number, pad)| number.wrapping_sub(pad[1]).wrapping_add(pad[0]))
}

fn receiver_shares(
    bits: &[u64],
    chosen: &ReceiverPads,
    differences: &[u64],
    modulus: usize,
) -> Words {
    words(bits.iter().enumerate().map(|(at, bit)| {
        let choice = choice(chosen, at);
        let share = chosen.pads[at].wrapping_add(differences[at] & choice.wrapping_neg());
        let swapped = bit ^ choice;
        (share ^ swapped.wrapping_neg()).wrapping_add(swapped) & mask(modulus)
    }))
}

fn sender_shares(numbers: &[u64], pads: &[u64], swaps: &[u64], modulus: usize) -> Words {
    let (pairs, _) = pads.as_chunks::<2>();
    words(numbers.iter().enumerate().map(|(at, number)| {
        let unswapped = swaps[at] ^ 1;
        let pad = (pairs[at][0] ^ unswapped.wrapping_neg()).wrapping_add(unswapped);
        pad.wrapping_add(number & swaps[at].wrapping_neg()) & mask(modulus)
    }))
}
