//! Conversions between XOR-shared bits and additively shared numbers.

use super::gates::{Factor, Gates};
use super::packing::{Words, words};
use super::pool::Demand;
use super::rounds::join_all;
use super::session::Party;
use crate::bits::mask;
use crate::error::MpcError;
use zeroize::Zeroizing;

impl Gates {
    /// The demand of [`Gates::numbers_from_bits`].
    pub(crate) fn numbers_demand(&self, count: usize, width: usize) -> Demand {
        (0..width).fold(Demand::default(), |sum, bit| {
            sum + Self::products_demand(count, self.receives(bit))
        })
    }

    /// Converts numbers of `width` bits, shared bit by bit, to shares modulo the larger 2^`modulus`.
    ///
    /// A bit b₀ ⊕ b₁ is b₀ + b₁ − 2·b₀·b₁. The product for bit i matters only modulo 2^(`modulus` − i − 1).
    pub(crate) async fn numbers_from_bits(
        &self,
        own: &[u64],
        width: usize,
        modulus: usize,
    ) -> Result<Words, MpcError> {
        let products = (0..width).map(|bit| async move {
            let bits = words(own.iter().map(|word| word >> bit & 1));
            let factor = match self.receives(bit) {
                true => Factor::Bits(&bits),
                false => Factor::Numbers(&bits),
            };
            self.products(factor, modulus - bit - 1).await
        });
        let products = join_all(products.collect()).await;
        let mut numbers = words(own.iter().map(|word| word & mask(width)));
        for (bit, products) in products.into_iter().enumerate() {
            for (number, product) in numbers.iter_mut().zip(products?.iter()) {
                *number = number.wrapping_sub(product << (bit + 1)) & mask(modulus);
            }
        }
        Ok(numbers)
    }

    /// Whether this side receives. The sides alternate from bit to bit, so traffic is balanced.
    fn receives(&self, bit: usize) -> bool {
        Party::Host.alternate(bit) != self.party
    }

    /// The demand of [`Gates::widen`].
    pub(crate) fn widen_demand(&self, count: usize) -> Demand {
        Self::products_demand(count, self.party.is_host())
    }

    /// Converts numbers below 2^`width`, shared modulo 2^(`width` + 1), to shares modulo the larger 2^`modulus`.
    ///
    /// The highest bit of the sum is 0, so the sum wraps around exactly if one of the shares has its highest bit set.
    pub(crate) async fn widen(
        &self,
        own: &[u64],
        width: usize,
        modulus: usize,
    ) -> Result<Words, MpcError> {
        let highest = words(own.iter().map(|number| number >> width & 1));
        let factor = match self.party {
            Party::Host => Factor::Bits(&highest),
            Party::Join => Factor::Numbers(&highest),
        };
        let both = self.products(factor, modulus - width - 1).await?;
        let wraps = highest.iter().zip(both.iter());
        Ok(words(own.iter().zip(wraps).map(|(number, (one, both))| {
            let wrapped = one.wrapping_sub(*both) << (width + 1);
            number.wrapping_sub(wrapped) & mask(modulus)
        })))
    }

    /// The demand of [`Gates::bits_from_numbers`].
    pub(crate) fn bits_demand(&self, count: usize, width: usize) -> Demand {
        let carries = Self::products_demand(count * width, self.party.is_host());
        distances(width).fold(carries, |sum, distance| {
            sum + Self::cross_demand(count * (width - distance))
        })
    }

    /// Converts numbers shared modulo 2^`width` to bits, with an adder that computes the carries of all bit positions
    /// at once.
    pub(crate) async fn bits_from_numbers(
        &self,
        own: &[u64],
        width: usize,
    ) -> Result<Words, MpcError> {
        let bit = |number: u64, at: usize| number >> at & 1;
        // One word for each bit position: bit 0 is generate, bit 1 propagate.
        let mut signals = Zeroizing::new(Vec::with_capacity(own.len() * width));
        signals.extend(
            own.iter()
                .flat_map(|number| (0..width).map(move |at| bit(*number, at))),
        );
        let factor = match self.party {
            Party::Host => Factor::Bits(&signals),
            Party::Join => Factor::Numbers(&signals),
        };
        // Modulo 2, addition is XOR.
        let carries = self.products(factor, 1).await?;
        for (signal, carry) in signals.iter_mut().zip(carries.iter()) {
            *signal = *signal << 1 | carry;
        }
        for distance in distances(width) {
            let upper = |number: usize| (distance..width).map(move |at| number * width + at);
            let pairs = || (0..own.len()).flat_map(upper);
            let count = own.len() * (width - distance);
            let mut propagates = Zeroizing::new(Vec::with_capacity(count));
            propagates.extend(pairs().map(|at| signals[at] >> 1));
            let mut lower = Zeroizing::new(Vec::with_capacity(count));
            lower.extend(pairs().map(|at| signals[at - distance]));
            let merged = self.and(&propagates, &lower, 2).await?;
            for (at, merged) in pairs().zip(merged.iter()) {
                signals[at] = (signals[at] & 1) ^ merged;
            }
        }
        Ok(words(own.iter().enumerate().map(|(number, own)| {
            let signals = &signals[number * width..(number + 1) * width];
            let carries = signals
                .iter()
                .enumerate()
                .fold(0, |carries, (at, signal)| carries | (signal & 1) << at);
            (own ^ carries << 1) & mask(width)
        })))
    }
}

/// 1, 2, 4, … below the width.
fn distances(width: usize) -> impl Iterator<Item = usize> {
    (0..)
        .map(|level| 1 << level)
        .take_while(move |distance| *distance < width)
}
