//! Sums without their low bits.
//!
//! With known lengths a sum of similarities is Σ cᵢ·rᵢ with known coefficients and small integers rᵢ. Opened exactly, it would often have
//! one solution: all results of the group. So only the bits that matter for a mean are opened, [`PRECISION_BITS`] of them.

use super::{Numbers, OnShares};
use crate::{ProtocolError, Role};
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// Bits of a mean that are opened: a mean of similarities is known to 2⁻¹³.
pub(super) const PRECISION_BITS: usize = 14;

/// The number of low bits that a number loses, if one unit of it stands for `unit` and `resolution` must remain.
pub(super) fn shift(resolution: f64, unit: f64) -> u32 {
    // Both sides must find the same, so there is no logarithm here.
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

impl<C: Channel> OnShares<'_, C> {
    /// Shares of the numbers without as many low bits as `shifts` says.
    ///
    /// The high parts of two shares add up to that of the number, less the carry of their low parts, which is one comparison.
    pub(crate) fn without_low_bits(
        &mut self,
        numbers: &[u64],
        shifts: &[u32],
    ) -> Result<Numbers, ProtocolError> {
        let mut rounded: Numbers = Zeroizing::new(numbers.to_vec());
        let mut distinct: Vec<u32> = shifts.iter().copied().filter(|it| *it > 0).collect();
        distinct.sort_unstable();
        distinct.dedup();
        for shift in distinct {
            let places: Vec<usize> = (0..shifts.len())
                .filter(|&at| shifts[at] == shift)
                .collect();
            let chosen: Numbers = Zeroizing::new(places.iter().map(|&at| numbers[at]).collect());
            let carries = self.carries(&chosen, shift)?;
            for (&at, carry) in places.iter().zip(carries.iter()) {
                let high = numbers[at] >> shift << shift;
                rounded[at] = high.wrapping_add(carry << shift);
            }
        }
        Ok(rounded)
    }

    /// Shares of the numbers divided by 2^`shift` and rounded down. Numbers lie between −2⁶² and 2⁶².
    ///
    /// With 2⁶² added a number has 63 bits, so its shares add up to 2⁶⁴ more than the number if and only if one of them has 64.
    pub(crate) fn shifted(
        &mut self,
        numbers: &[u64],
        shift: u32,
    ) -> Result<Numbers, ProtocolError> {
        if shift == 0 {
            return Ok(Zeroizing::new(numbers.to_vec()));
        }
        let offset = self.public(1 << 62);
        let raised = numbers.iter().map(|number| number.wrapping_add(offset));
        let raised: Numbers = Zeroizing::new(raised.collect());
        let carries = self.carries(&raised, shift)?;
        let has_63_bits: Numbers = Zeroizing::new(raised.iter().map(|it| it >> 63 ^ 1).collect());
        let zeros: Numbers = Zeroizing::new(vec![0; numbers.len()]);
        let (first, second) = match self.role {
            Role::Host => (&has_63_bits, &zeros),
            Role::Join => (&zeros, &has_63_bits),
        };
        let both = self.session.and(first, second, 1, self.channel)?;
        let both = self.session.numbers_from_halves(&both, 1, self.channel)?;
        let excess = 1u64 << (u64::BITS - shift);
        // The shifted 2⁶² and, unless both shares have 63 bits, 2⁶⁴.
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
    fn carries(&mut self, numbers: &[u64], shift: u32) -> Result<Numbers, ProtocolError> {
        let one = 1u64 << shift;
        // The host subtracts what must be reached.
        let low = numbers.iter().map(|number| {
            let low = number & (one - 1);
            match self.role {
                Role::Host => low.wrapping_sub(one),
                Role::Join => low,
            }
        });
        let low: Numbers = Zeroizing::new(low.collect());
        self.count_not_negative(&low, shift as usize)
    }
}
