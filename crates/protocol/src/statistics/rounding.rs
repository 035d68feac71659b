//! Drops the low bits of sums.
//!
//! With known lengths, a sum of similarities is Σ cᵢ·rᵢ with known coefficients and small integers rᵢ. If it were opened exactly, this
//! equation would often have only one solution, which gives all results of the group. So only the [`PRECISION_BITS`] bits that matter for
//! a mean are opened.

use super::{SecretNumbers, SharesSide};
use crate::{ProtocolError, Role};
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// The number of bits of a mean that are opened. A mean of similarities is known to 2⁻¹³.
pub(super) const PRECISION_BITS: usize = 14;

/// The number of low bits to drop from a number, if one unit of it represents `unit` and `resolution` must remain.
pub(super) fn shift(resolution: f64, unit: f64) -> u32 {
    // Both sides must get the same result, so this uses no logarithm.
    let ratio = (resolution / unit).abs();
    let fits = |bits: &u32| (1u64 << bits) as f64 <= ratio;
    (1..=60).take_while(fits).last().unwrap_or(0)
}

/// A number divided by 2^`shift` and rounded down.
pub(super) fn shifted(number: i64, shift: u32) -> i64 {
    number >> shift
}

/// A number without its low bits.
pub(super) fn without_low_bits(number: i64, shift: u32) -> i64 {
    number >> shift << shift
}

impl<C: Channel> SharesSide<'_, C> {
    /// Shares of the numbers, with as many low bits dropped as `shifts` says.
    ///
    /// The high parts of two shares add up to the number's high part minus the carry of the low parts. The carry takes one
    /// comparison.
    pub(crate) fn without_low_bits(
        &mut self,
        numbers: &[u64],
        shifts: &[u32],
    ) -> Result<SecretNumbers, ProtocolError> {
        let mut rounded: SecretNumbers = Zeroizing::new(numbers.to_vec());
        let mut distinct: Vec<u32> = shifts.iter().copied().filter(|it| *it > 0).collect();
        distinct.sort_unstable();
        distinct.dedup();
        for shift in distinct {
            let indices: Vec<usize> = (0..shifts.len())
                .filter(|&at| shifts[at] == shift)
                .collect();
            let chosen: SecretNumbers =
                Zeroizing::new(indices.iter().map(|&at| numbers[at]).collect());
            let carries = self.carries(&chosen, shift)?;
            for (&at, carry) in indices.iter().zip(carries.iter()) {
                let high = numbers[at] >> shift << shift;
                rounded[at] = high.wrapping_add(carry << shift);
            }
        }
        Ok(rounded)
    }

    /// Shares of the numbers divided by 2^`shift` and rounded down. Numbers lie between −2⁶² and 2⁶².
    ///
    /// With 2⁶² added, a number has 63 bits, so its shares add up to 2⁶⁴ more than the number if and only if one of them has 64
    /// bits.
    pub(crate) fn shifted(
        &mut self,
        numbers: &[u64],
        shift: u32,
    ) -> Result<SecretNumbers, ProtocolError> {
        if shift == 0 {
            return Ok(Zeroizing::new(numbers.to_vec()));
        }
        let offset = self.public(1 << 62);
        let raised = numbers.iter().map(|number| number.wrapping_add(offset));
        let raised: SecretNumbers = Zeroizing::new(raised.collect());
        let carries = self.carries(&raised, shift)?;
        let has_63_bits: SecretNumbers =
            Zeroizing::new(raised.iter().map(|it| it >> 63 ^ 1).collect());
        let zeros: SecretNumbers = Zeroizing::new(vec![0; numbers.len()]);
        let (first, second) = match self.role {
            Role::Host => (&has_63_bits, &zeros),
            Role::Join => (&zeros, &has_63_bits),
        };
        let both = self.session.and(first, second, 1, self.channel)?;
        let both = self.session.additive_from_xor(&both, 1, self.channel)?;
        let excess = 1u64 << (u64::BITS - shift);
        // Subtracts the shifted 2⁶² and, unless both shares have 63 bits, the shifted 2⁶⁴.
        let fixed = self.public(((1u64 << (62 - shift)) + excess).cast_signed());
        let parts = raised.iter().zip(carries.iter()).zip(both.iter());
        let quotients = parts.map(|((number, carry), both)| {
            let sum = (number >> shift).wrapping_add(*carry);
            sum.wrapping_add(both.wrapping_mul(excess))
                .wrapping_sub(fixed)
        });
        Ok(Zeroizing::new(quotients.collect()))
    }

    /// Whether the `shift` low bits of both sides' shares together reach 2^`shift`.
    fn carries(&mut self, numbers: &[u64], shift: u32) -> Result<SecretNumbers, ProtocolError> {
        let one = 1u64 << shift;
        // The host subtracts the threshold.
        let low = numbers.iter().map(|number| {
            let low = number & (one - 1);
            match self.role {
                Role::Host => low.wrapping_sub(one),
                Role::Join => low,
            }
        });
        let low: SecretNumbers = Zeroizing::new(low.collect());
        self.count_not_negative(&low, shift as usize)
    }
}
