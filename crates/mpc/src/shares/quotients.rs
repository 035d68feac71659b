//! Division of shared numbers by shared numbers.
//!
//! Long division: bit by bit from the highest, what is left of the dividend is at least the shifted divisor, or not. What is left is
//! always below twice the shifted divisor, so comparisons become shorter from bit to bit.

use super::gates::Gates;
use super::packing::{Words, mask, words};
use crate::error::MpcError;

impl Gates {
    /// Quotients of `bits` bits, rounded down, of numbers that are shared modulo 2⁶⁴; divisors are below 2^`divisor_bits`. Shared by
    /// exclusive or. Zero divided by zero has all bits set.
    pub(crate) async fn quotients(
        &self,
        dividends: &[u64],
        divisors: &[u64],
        divisor_bits: usize,
        bits: usize,
    ) -> Result<Words, MpcError> {
        let count = dividends.len();
        let mut left = words(dividends.iter().copied());
        let mut quotients = words((0..count).map(|_| 0));
        for bit in (0..bits).rev() {
            let width = divisor_bits + bit;
            let over = left.iter().zip(divisors);
            let over = words(
                over.map(|(left, divisor)| left.wrapping_sub(divisor << bit) & mask(width + 1)),
            );
            let mut demand = self.sign_demand(count, width, bit % 2);
            if bit > 0 {
                demand = demand + Self::cross_demand(count);
            }
            self.rounds.reserve(demand).await;
            let fits = self.not_negative(&over, width, bit % 2).await?;
            for (quotient, fits) in quotients.iter_mut().zip(fits.iter()) {
                *quotient |= fits << bit;
            }
            if bit == 0 {
                break;
            }
            let taken = self.select(&fits, divisors, divisor_bits).await?;
            for (left, taken) in left.iter_mut().zip(taken.iter()) {
                *left = left.wrapping_sub(taken << bit) & mask(width);
            }
        }
        Ok(quotients)
    }
}
