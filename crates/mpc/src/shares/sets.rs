//! Metrics that ignore the order of letters: sums and maxima over the letters of the alphabet instead of the cells of
//! a matrix.
//!
//! Each side knows how often each letter occurs in its own scanpath, and what the table says about that letter and its
//! own scanpath. So a sum over all cells whose terms depend on the two letters (and on the place on one side) is an
//! inner product of both sides' numbers, with a term for each letter of the alphabet.

use super::arithmetic::BITS;
use super::cells::largest;
use super::compare::{GadgetCost, clamp_cost};
use super::gates::{Factor, Gates};
use super::grouping::MAX_UNREAD;
use super::outputs::output;
use super::packing::{Words, words};
use super::rounds::{join_all, join2};
use super::session::Party;
use super::session::{Outputs, SharesSession};
use crate::bits::mask;
use crate::error::MpcError;
use std::ops::Range;
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// One side's part of a comparison by [`SharesSession::largest_chosen`].
#[derive(Clone, Copy, Debug)]
pub struct ChosenNumbers<'a> {
    /// Own bits (0 or 1): which of the other side's numbers count.
    pub bits: &'a [u64],
    /// Own numbers, one for each bit of the other side. Where both sides have a bit of 1, both numbers are 0.
    pub numbers: &'a [u64],
    /// The bound of [`Outputs::AtLeast`].
    pub at_least: u64,
}

/// The sizes of inner products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InnerProduct {
    /// Number of factors of each side.
    pub each: usize,
    /// Bits of the host's and of the joining side's factors.
    pub bits: [usize; 2],
    /// Bits of the sum of products.
    pub width: usize,
}

impl InnerProduct {
    /// How many factors of a sum a side selects by its bits: every other one, so traffic is balanced.
    fn chosen_by(&self, party: Party) -> usize {
        (self.each + 1 - party.index()) / 2
    }

    /// The most bytes in one message.
    pub(super) fn bytes(&self) -> usize {
        self.each * self.bits[0].max(self.bits[1]) * (self.width + 2) / 16 + 1
    }

    /// The cost of one inner product.
    pub(super) fn cost(&self) -> GadgetCost {
        let mut cost = GadgetCost {
            cots: 1,
            bits: BITS - self.width,
            exchanges: 2,
        };
        for party in [Party::Host, Party::Join] {
            let bits = self.bits[party.index()];
            let count = self.chosen_by(party);
            cost.cots += count * bits;
            cost.bits += (0..bits)
                .map(|bit| count * (2 + self.width - bit))
                .sum::<usize>();
        }
        cost
    }
}

impl SharesSession {
    /// This side's halves of the largest number whose bit at the other side is 1, or of 0 if there is none. Numbers are
    /// below 2^`width`. All comparisons have the same number of numbers.
    ///
    /// With a bit b and a number n at one side, and b' and n' at the other, one of b·n' and b'·n is 0, so their sum is
    /// the larger one.
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
        let has_size =
            |own: &ChosenNumbers<'_>| own.bits.len() == each && own.numbers.len() == each;
        if each == 0 || width > 62 || !comparisons.iter().all(has_size) {
            return Err(MpcError::Misuse("comparisons have different sizes"));
        }
        let cost = largest_chosen_cost(each, width);
        self.pool
            .borrow_mut()
            .expect(comparisons.len() * cost.cots / 2);
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
        self.pool.borrow_mut().erase_surplus()?;
        Ok(halves.to_vec())
    }

    /// Inner products of both sides' numbers, `size.each` numbers at a time. Shared modulo 2⁶⁴.
    pub fn inner_products(
        &mut self,
        own: &[u64],
        size: InnerProduct,
        channel: &mut dyn Channel,
    ) -> Result<Words, MpcError> {
        let InnerProduct { each, bits, width } = size;
        let fits = bits[0].max(bits[1]) <= width && width < 63;
        if each == 0 || !own.len().is_multiple_of(each) || !fits {
            return Err(MpcError::Misuse("inner products have the wrong size"));
        }
        let rows = own.len() / each;
        self.pool.borrow_mut().expect(rows * size.cost().cots / 2);
        self.on_lists(rows, size.bytes(), channel, async |gates, range| {
            let own = &own[range.start * each..range.end * each];
            gates.inner_products(own, size).await
        })
    }
}

impl Gates {
    /// For every `each` bits and numbers of both sides, the largest number whose bit is 1, shared modulo 2^(width + 1).
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
        own: &[u64],
        size: InnerProduct,
    ) -> Result<Words, MpcError> {
        let rows = own.len() / size.each;
        let demand = [Party::Host, Party::Join].map(|chooser| {
            let count = rows * size.chosen_by(chooser);
            Self::products_demand(count, chooser == self.party) * size.bits[chooser.index()]
        });
        let demand = demand[0] + demand[1] + self.widen_demand(rows);
        self.rounds.reserve(demand).await;
        let (first, second) = join2(
            self.sums_of_products(own, size, Party::Host),
            self.sums_of_products(own, size, Party::Join),
        )
        .await;
        let (first, second) = (first?, second?);
        let sums = first.iter().zip(second.iter());
        let sums = words(sums.map(|(a, b)| a.wrapping_add(*b) & mask(size.width + 1)));
        self.widen(&sums, size.width, BITS).await
    }

    /// The sums over the factors that `chooser` selects by its bits: every other one.
    async fn sums_of_products(
        &self,
        own: &[u64],
        size: InnerProduct,
        chooser: Party,
    ) -> Result<Words, MpcError> {
        let modulus = size.width + 1;
        let each = size.chosen_by(chooser);
        let rows = own.len() / size.each;
        let mut factors = Zeroizing::new(Vec::with_capacity(rows * each));
        for row in own.chunks_exact(size.each) {
            factors.extend(row.iter().skip(chooser.index()).step_by(2));
        }
        let factors = &factors;
        let products = (0..size.bits[chooser.index()]).map(|bit| async move {
            let chosen = words(factors.iter().map(|number| number >> bit & 1));
            let factor = match chooser == self.party {
                true => Factor::Bits(&chosen),
                false => Factor::Numbers(factors),
            };
            // The product for a bit matters only modulo 2^(modulus − bit).
            self.products(factor, modulus - bit).await
        });
        let mut sums = Zeroizing::new(vec![0u64; rows]);
        for (bit, products) in join_all(products.collect()).await.into_iter().enumerate() {
            let products = products?;
            if each == 0 {
                break;
            }
            for (sum, row) in sums.iter_mut().zip(products.chunks_exact(each)) {
                let more = row
                    .iter()
                    .fold(0u64, |sum, product| sum.wrapping_add(*product));
                *sum = sum.wrapping_add(more << bit) & mask(modulus);
            }
        }
        Ok(sums)
    }
}

/// Bytes of memory for one transfer in flight, and for the transfers of all active comparisons.
const TRANSFER_BYTES: usize = 48;
const IN_FLIGHT_BYTES: usize = 64 << 20;

/// The most bytes of a comparison by [`SharesSession::largest_chosen`] in one message. If its transfers take far more
/// memory than its messages, the messages count as larger, so that fewer comparisons are active.
pub(super) fn largest_chosen_bytes(each: usize, width: usize) -> usize {
    // One side sends the comparison tables of about half of the blocks.
    let tables = 5 * width / 2 + 14;
    let message = (each * (width + 2)).max(each.div_ceil(2) * tables) / 8 + 1;
    let transfers = each.div_ceil(2) * clamp_cost(width).cots * TRANSFER_BYTES;
    message.max(transfers / (IN_FLIGHT_BYTES / MAX_UNREAD))
}

/// The cost of a comparison by [`SharesSession::largest_chosen`], without converting it to an output.
pub(super) fn largest_chosen_cost(each: usize, width: usize) -> GadgetCost {
    let clamp = clamp_cost(width);
    let levels = each.next_power_of_two().trailing_zeros() as usize;
    GadgetCost {
        cots: 2 * each + (each - 1) * clamp.cots,
        bits: 2 * each * (width + 2) + (each - 1) * clamp.bits,
        exchanges: 1 + levels * clamp.exchanges,
    }
}
