//! Arithmetic on lists of numbers shared modulo 2⁶⁴, for statistics over the results of comparisons.
//!
//! Sums, and products with public numbers, are computed locally on shares. This module has the nonlinear operations.
//! Their results are again shares; nothing is opened.

use super::gates::{Factor, Gates};
use super::grouping::{MAX_UNREAD, max_active};
use super::packing::{Words, words};
use super::pool::MAX_SURPLUS_BETWEEN_LISTS;
use super::rounds::{Task, run};
use super::session::Party;
use super::session::SharesSession;
use crate::bits::mask;
use crate::error::MpcError;
use std::ops::Range;
use std::rc::Rc;
use veilpath_channel::Channel;

/// Bits of a shared number.
pub(super) const BITS: usize = 64;

/// The approximate bytes of one task's messages.
pub(super) const TASK_BYTES: usize = MAX_UNREAD / 16;

/// One side's factors of products in which one side knows a bit and the other a number.
#[derive(Clone, Copy, Debug)]
pub struct Factors<'a> {
    /// Own bits (0 or 1). The other side has as many numbers.
    pub bits: &'a [u64],
    /// Own numbers. The other side has as many bits.
    pub numbers: &'a [u64],
}

/// Shares of products.
pub struct Products {
    /// Of own bits and the other side's numbers.
    pub of_own_bits: Words,
    /// Of own numbers and the other side's bits.
    pub of_own_numbers: Words,
}

impl SharesSession {
    /// Converts numbers of `bits` bits from XOR shares to shares modulo 2⁶⁴.
    pub fn additive_from_xor(
        &mut self,
        halves: &[u64],
        bits: usize,
        channel: &mut dyn Channel,
    ) -> Result<Words, MpcError> {
        if bits >= BITS {
            return Err(MpcError::Misuse("numbers have more than 63 bits"));
        }
        let each = bits * (BITS - bits / 2 + 1) / 8 + 1;
        self.on_lists(halves.len(), each, channel, async |gates, range| {
            let own = &halves[range];
            gates
                .rounds
                .reserve(gates.numbers_demand(own.len(), bits))
                .await;
            gates.numbers_from_bits(own, bits, BITS).await
        })
    }

    /// Products of one side's bits and the other's numbers, in both directions.
    pub fn products(
        &mut self,
        own: Factors<'_>,
        channel: &mut dyn Channel,
    ) -> Result<Products, MpcError> {
        // The host's bits first.
        if self.party.is_host() {
            let of_own_bits = self.one_way_products(Factor::Bits(own.bits), channel)?;
            let of_own_numbers = self.one_way_products(Factor::Numbers(own.numbers), channel)?;
            return Ok(Products {
                of_own_bits,
                of_own_numbers,
            });
        }
        let of_own_numbers = self.one_way_products(Factor::Numbers(own.numbers), channel)?;
        let of_own_bits = self.one_way_products(Factor::Bits(own.bits), channel)?;
        Ok(Products {
            of_own_bits,
            of_own_numbers,
        })
    }

    fn one_way_products(
        &mut self,
        factor: Factor<'_>,
        channel: &mut dyn Channel,
    ) -> Result<Words, MpcError> {
        let (count, receives) = match factor {
            Factor::Bits(bits) => (bits.len(), true),
            Factor::Numbers(numbers) => (numbers.len(), false),
        };
        let factor = &factor;
        let products = self.on_lists(count, BITS / 8 + 1, channel, async |gates, range| {
            let demand = Gates::products_demand(range.len(), receives);
            gates.rounds.reserve(demand).await;
            let factor = match factor {
                Factor::Bits(bits) => Factor::Bits(&bits[range]),
                Factor::Numbers(numbers) => Factor::Numbers(&numbers[range]),
            };
            gates.products(factor, BITS).await
        })?;
        self.pool.borrow_mut().erase_surplus()?;
        Ok(products)
    }

    /// An XOR-shared bit for each number: 1 if it is not negative. Numbers are from −2^`bits` to 2^`bits` − 1.
    pub fn not_negative(
        &mut self,
        numbers: &[u64],
        bits: usize,
        channel: &mut dyn Channel,
    ) -> Result<Words, MpcError> {
        if bits >= BITS {
            return Err(MpcError::Misuse("numbers have more than 63 bits"));
        }
        // This side sends about half of the carry tables.
        let each = (5 * bits / 2 + 14).div_ceil(8);
        self.on_lists(numbers.len(), each, channel, async |gates, range| {
            let own = words(numbers[range].iter().map(|number| number & mask(bits + 1)));
            let demand = gates.sign_demand(own.len(), bits, Party::Host);
            gates.rounds.reserve(demand).await;
            gates.not_negative(&own, bits, Party::Host).await
        })
    }

    /// Each number whose bit is 1, else 0. Bits are XOR-shared.
    pub fn select(
        &mut self,
        chosen: &[u64],
        numbers: &[u64],
        channel: &mut dyn Channel,
    ) -> Result<Words, MpcError> {
        same_length(chosen, numbers)?;
        self.on_lists(chosen.len(), BITS / 8 + 1, channel, async |gates, range| {
            let demand = Gates::cross_demand(range.len());
            gates.rounds.reserve(demand).await;
            gates
                .select(&chosen[range.clone()], &numbers[range], BITS)
                .await
        })
    }

    /// Each word of `bits` bits whose bit in `chosen` is 1, else 0. Everything is XOR-shared.
    pub fn and(
        &mut self,
        chosen: &[u64],
        values: &[u64],
        bits: usize,
        channel: &mut dyn Channel,
    ) -> Result<Words, MpcError> {
        same_length(chosen, values)?;
        self.on_lists(chosen.len(), bits / 8 + 1, channel, async |gates, range| {
            let demand = Gates::cross_demand(range.len());
            gates.rounds.reserve(demand).await;
            gates
                .and(&chosen[range.clone()], &values[range], bits)
                .await
        })
    }

    /// Quotients, rounded down, of dividends by divisors below 2^`divisor_bits`: XOR-shared, and at most `bits` bits
    /// each. If a divisor is zero, its dividend must be zero too, and all bits of the quotient are 1.
    pub fn quotients(
        &mut self,
        dividends: &[u64],
        divisors: &[u64],
        divisor_bits: usize,
        bits: usize,
        channel: &mut dyn Channel,
    ) -> Result<Words, MpcError> {
        same_length(dividends, divisors)?;
        if divisor_bits + bits > BITS || divisor_bits == 0 {
            return Err(MpcError::Misuse("quotients have more than 63 bits"));
        }
        // This side sends about half of the carry tables.
        let each = (5 * (divisor_bits + bits) / 2 + 14).div_ceil(8);
        self.on_lists(dividends.len(), each, channel, async |gates, range| {
            let (dividends, divisors) = (&dividends[range.clone()], &divisors[range]);
            gates
                .quotients(dividends, divisors, divisor_bits, bits)
                .await
        })
    }

    /// Converts numbers of `bits` bits, shared modulo 2^`bits` or a multiple, to XOR shares.
    pub fn xor_from_additive(
        &mut self,
        numbers: &[u64],
        bits: usize,
        channel: &mut dyn Channel,
    ) -> Result<Words, MpcError> {
        self.on_lists(numbers.len(), bits, channel, async |gates, range| {
            let own = words(numbers[range].iter().map(|number| number & mask(bits)));
            let demand = gates.bits_demand(own.len(), bits);
            gates.rounds.reserve(demand).await;
            gates.bits_from_numbers(&own, bits).await
        })
    }

    /// Runs a task on parts of a list of `count` entries, each of which takes about `each` bytes of a message.
    pub(super) fn on_lists(
        &mut self,
        count: usize,
        each: usize,
        channel: &mut dyn Channel,
        task: impl AsyncFn(Gates, Range<usize>) -> Result<Words, MpcError>,
    ) -> Result<Words, MpcError> {
        let at_once = (TASK_BYTES / each.max(1)).max(1);
        let task = &task;
        let tasks = (0..count).step_by(at_once).map(|first| {
            let gates = self.gates();
            let range = first..count.min(first + at_once);
            Task {
                rounds: Rc::clone(&gates.rounds),
                future: Box::pin(task(gates, range)),
            }
        });
        let active = max_active(at_once.min(count) * each);
        let parts = run(tasks, active, &self.pool, channel)?;
        self.pool
            .borrow_mut()
            .limit_surplus(MAX_SURPLUS_BETWEEN_LISTS)?;
        let mut all = Words::new(Vec::with_capacity(count));
        for part in parts {
            all.extend_from_slice(&part);
        }
        Ok(all)
    }
}

fn same_length(a: &[u64], b: &[u64]) -> Result<(), MpcError> {
    match a.len() == b.len() {
        true => Ok(()),
        false => Err(MpcError::Misuse("lists have different lengths")),
    }
}
