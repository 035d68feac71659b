//! Division of shared numbers by shared numbers.
//!
//! Long division: for each bit from the highest, compares the rest of the dividend with the shifted divisor. The rest
//! is always below twice the shifted divisor, so comparisons become shorter from bit to bit.

use super::gates::Gates;
use super::packing::{Words, words};
use super::session::Party;
use crate::bits::mask;
use crate::error::MpcError;

impl Gates {
    /// Quotients of `bits` bits, rounded down and XOR-shared. Dividends and divisors are shared modulo 2⁶⁴, and
    /// divisors are below 2^`divisor_bits`. Zero divided by zero has all bits set.
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
            let excess = left.iter().zip(divisors);
            let excess = words(
                excess.map(|(left, divisor)| left.wrapping_sub(divisor << bit) & mask(width + 1)),
            );
            let mut demand = self.sign_demand(count, width, Party::Host.alternate(bit));
            if bit > 0 {
                demand = demand + Self::cross_demand(count);
            }
            self.rounds.reserve(demand).await;
            let fits = self
                .not_negative(&excess, width, Party::Host.alternate(bit))
                .await?;
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
