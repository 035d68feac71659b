//! What two scanpaths have in common, whatever the order of their letters: sums and maxima over the letters of the alphabet instead of
//! over the cells of a matrix.
//!
//! Each side knows how often each letter occurs in its own scanpath, and what the table says about that letter and its own
//! scanpath. So a sum over all cells whose terms depend on the two letters (and the place on one side) is an inner product of one side's
//! numbers and the other's, with a term for each letter of the alphabet.

use super::cells::largest;
use super::compare::{GadgetCost, clamp_cost};
use super::gates::{Factor, Gates};
use super::outputs::output;
use super::packing::{Words, mask, words};
use super::rounds::all;
use super::session::{Outputs, SharesSession};
use crate::error::MpcError;
use std::ops::Range;
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// One side's part of a comparison by [`SharesSession::largest_chosen`].
#[derive(Clone, Copy, Debug)]
pub struct ChosenNumbers<'a> {
    /// Own bits (0 or 1): which of the other side's numbers count.
    pub bits: &'a [u64],
    /// Own numbers, as many as the other side has bits. Where both sides have a bit of 1, both numbers are 0.
    pub numbers: &'a [u64],
    /// The bound of [`Outputs::AtLeast`].
    pub at_least: u64,
}

/// One side's factors of inner products.
#[derive(Clone, Copy, Debug)]
pub enum Terms<'a> {
    /// Of the side that chooses with the bits of its numbers. They are below 2^`bits`.
    Short(&'a [u64]),
    /// Of the other side.
    Long(&'a [u64]),
}

impl SharesSession {
    /// The largest of all numbers below 2^`width` whose bit at the other side is 1, or 0: this side's halves of the outputs. There are
    /// as many numbers in each comparison.
    ///
    /// With x's bit and number b and n at one side and b' and n' at the other, one of b·n' and b'·n is 0, so their sum is
    /// the larger.
    pub fn largest_chosen<'a>(
        &mut self,
        comparisons: &[ChosenNumbers<'a>],
        width: usize,
        outputs: Outputs,
        channel: &mut dyn Channel,
        on_done: &dyn Fn(Range<usize>),
    ) -> Result<Vec<u64>, MpcError> {
        let Some(first) = comparisons.first() else {
            return Ok(Vec::new());
        };
        let each = first.bits.len();
        let alike = |own: &ChosenNumbers<'_>| own.bits.len() == each && own.numbers.len() == each;
        if each == 0 || width > 62 || !comparisons.iter().all(alike) {
            return Err(MpcError::Misuse("comparisons have different sizes"));
        }
        let cost = largest_chosen_cost(each, width);
        self.expect(comparisons.len() * cost.cots / 2);
        let halves = self.on_lists(
            comparisons.len(),
            largest_chosen_bytes(each, width),
            channel,
            async |gates, range| {
                let own = &comparisons[range.clone()];
                let join = |part: fn(&ChosenNumbers<'a>) -> &'a [u64]| -> Words {
                    Zeroizing::new(own.iter().flat_map(part).copied().collect())
                };
                let (bits, numbers) = (join(|own| own.bits), join(|own| own.numbers));
                let largest = gates.largest_chosen(&bits, &numbers, each, width).await?;
                let bounds = own.iter().map(|own| own.at_least);
                let halves = output(&gates, &largest, width, bounds, outputs).await?;
                on_done(range);
                Ok(halves)
            },
        )?;
        Ok(halves.to_vec())
    }

    /// Sums of products of one side's numbers below 2^`bits` and the other's, `each` in a row at a time, which are below 2^`width`:
    /// shared modulo 2⁶⁴.
    pub fn inner_products(
        &mut self,
        own: Terms<'_>,
        each: usize,
        bits: usize,
        width: usize,
        channel: &mut dyn Channel,
    ) -> Result<Words, MpcError> {
        let (numbers, receives) = match own {
            Terms::Short(numbers) => (numbers, true),
            Terms::Long(numbers) => (numbers, false),
        };
        if each == 0 || !numbers.len().is_multiple_of(each) || bits > width || width > 62 {
            return Err(MpcError::Misuse("inner products have the wrong size"));
        }
        let rows = numbers.len() / each;
        self.expect(numbers.len() * bits);
        let bytes = inner_product_bytes(each, bits, width);
        let sums = self.on_lists(rows, bytes, channel, async |gates, range| {
            let own = &numbers[range.start * each..range.end * each];
            let own = match receives {
                true => Terms::Short(own),
                false => Terms::Long(own),
            };
            gates.inner_products(own, each, bits, width).await
        })?;
        self.pool.borrow_mut().erase_surplus()?;
        Ok(sums)
    }

    fn expect(&self, transfers: usize) {
        self.pool.borrow_mut().expect(transfers);
    }
}

impl Gates {
    /// For each `each` bits and numbers of both sides, the largest number whose bit is 1, shared modulo 2^(width + 1).
    pub(super) async fn largest_chosen(
        &self,
        bits: &[u64],
        numbers: &[u64],
        each: usize,
        width: usize,
    ) -> Result<Words, MpcError> {
        self.rounds.reserve(Self::cross_demand(bits.len())).await;
        let chosen = self.cross_products(bits, numbers, width + 1).await?;
        let lists = chosen.chunks_exact(each);
        let lists = lists.map(|list| Zeroizing::new(list.to_vec())).collect();
        largest(self, lists, width).await
    }

    /// See [`SharesSession::inner_products`].
    pub(super) async fn inner_products(
        &self,
        own: Terms<'_>,
        each: usize,
        bits: usize,
        width: usize,
    ) -> Result<Words, MpcError> {
        let (own, receives) = match own {
            Terms::Short(own) => (own, true),
            Terms::Long(own) => (own, false),
        };
        let (modulus, rows) = (width + 1, own.len() / each);
        let demand = Self::products_demand(own.len(), receives) * bits;
        self.rounds.reserve(demand + self.widen_demand(rows)).await;
        let products = (0..bits).map(|bit| async move {
            let chosen = words(own.iter().map(|number| number >> bit & 1));
            let factor = match receives {
                true => Factor::Bits(&chosen),
                false => Factor::Numbers(own),
            };
            // The product for a bit matters modulo 2^(modulus − bit) only.
            self.products(factor, modulus - bit).await
        });
        let mut sums = Zeroizing::new(vec![0u64; rows]);
        for (bit, products) in all(products.collect()).await.into_iter().enumerate() {
            for (sum, row) in sums.iter_mut().zip(products?.chunks_exact(each)) {
                let more = row
                    .iter()
                    .fold(0u64, |sum, product| sum.wrapping_add(*product));
                *sum = sum.wrapping_add(more << bit) & mask(modulus);
            }
        }
        self.widen(&sums, width, 64).await
    }
}

/// Bytes of a comparison by [`SharesSession::largest_chosen`] in one message, at most.
pub(super) fn largest_chosen_bytes(each: usize, width: usize) -> usize {
    // One side's tables of a comparison, for about half of its blocks.
    let tables = 5 * width / 2 + 14;
    (each * (width + 2)).max(each.div_ceil(2) * tables) / 8 + 1
}

/// Bytes of an inner product in one message, at most.
pub(super) fn inner_product_bytes(each: usize, bits: usize, width: usize) -> usize {
    each * bits * (width + 2) / 8 + 1
}

/// What a comparison by [`SharesSession::largest_chosen`] costs before it becomes an output.
pub(super) fn largest_chosen_cost(each: usize, width: usize) -> GadgetCost {
    let clamp = clamp_cost(width);
    let levels = each.next_power_of_two().trailing_zeros() as usize;
    GadgetCost {
        cots: 2 * each + (each - 1) * clamp.cots,
        bits: 2 * each * (width + 2) + (each - 1) * clamp.bits,
        exchanges: 1 + levels * clamp.exchanges,
    }
}
