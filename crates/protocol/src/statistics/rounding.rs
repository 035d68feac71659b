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

/// The number of low bits that a number loses, where one unit of it stands for `unit` and `resolution` is to be left.
pub(super) fn shift(resolution: f64, unit: f64) -> u32 {
    // Both sides must find the same, so there is no logarithm here.
    let ratio = (resolution / unit).abs();
    let fits = |bits: &u32| (1u64 << bits) as f64 <= ratio;
    (1..=60).take_while(fits).last().unwrap_or(0)
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
            let one = 1u64 << shift;
            // Whether both low parts together reach 2^shift; the host subtracts it.
            let low = places.iter().map(|&at| {
                let low = numbers[at] & (one - 1);
                match self.role {
                    Role::Host => low.wrapping_sub(one),
                    Role::Join => low,
                }
            });
            let low: Numbers = Zeroizing::new(low.collect());
            let carries = self.count_not_negative(&low, shift as usize)?;
            for (&at, carry) in places.iter().zip(carries.iter()) {
                let high = numbers[at] >> shift << shift;
                rounded[at] = high.wrapping_add(carry << shift);
            }
        }
        Ok(rounded)
    }
}
