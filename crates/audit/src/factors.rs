//! The likelihood of a masked difference of the hardened variant: `v = ρ·d + r`, ρ log-uniform, r below ρ.
//!
//! Every integer ρ counts separately. For d > 0, ρ explains v if `v/(d+1) < ρ ≤ v/d`; for d < 0, if `|v|/|d| ≤ ρ <
//! |v|/(|d|−1)`. In each case exactly one r fits, so
//!
//! ```text
//! P(v | d) = Σ P(ρ)/ρ,   P(ρ) = log₂(1 + 1/ρ) / octaves
//! ```
//!
//! For small ρ, that interval may contain no integer, which rules out d. An attack that treats ρ as a real number
//! misses this, and with it most of what small multipliers reveal.

use crate::clue::whole;
use crypto_bigint::BoxedUint;

/// Multipliers up to this one are summed one by one. The rest are approximated by an integral, to within a millionth.
const MAX_EXACT: u128 = 1_000;
/// If this many multipliers explain a value, one more or less makes no difference.
const MANY_MULTIPLIERS: f64 = (1u64 << 40) as f64;

/// A masked difference as the key holder sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    negative: bool,
    size: f64,
    /// The exact size, if it is short enough for that to matter.
    whole: Option<u128>,
}

impl Difference {
    /// From its sign and size.
    pub fn new(negative: bool, size: &BoxedUint) -> Self {
        let digits = |number: f64, &byte: &u8| number * 256.0 + f64::from(byte);
        Self {
            negative,
            size: size.to_be_bytes().iter().fold(0.0, digits),
            whole: whole(size),
        }
    }
}

/// The range of the multipliers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors {
    floor: f64,
    top: f64,
    /// The exact range; numbers saturate.
    whole: (u128, u128),
}

impl Factors {
    /// From 2^floor to below 2^top.
    pub fn between(floor: u32, top: u32) -> Self {
        let power = |bits: u32| f64::from(bits).exp2();
        Self {
            floor: power(floor),
            top: power(top),
            whole: (whole_power(floor), whole_power(top)),
        }
    }

    /// P(seen | truth) times the size of the seen value, up to a common factor. It is 1 for every difference with the
    /// right sign, except at the ends of the range and where ρ being an integer matters.
    pub(crate) fn fit(self, truth: i64, seen: &Difference) -> f64 {
        if truth == 0 || (truth < 0) != seen.negative || seen.size == 0.0 {
            return 0.0;
        }
        let size = truth.unsigned_abs();
        // |v| lies between ρ·less and ρ·more.
        let (less, more) = if truth > 0 {
            (size, size.saturating_add(1))
        } else {
            (size - 1, size)
        };
        let (low, high) = (less as f64, more as f64);
        let explaining = if less == 0 {
            f64::INFINITY
        } else {
            seen.size / low / high
        };
        match seen.whole {
            Some(whole) if explaining < MANY_MULTIPLIERS || seen.size / high < MAX_EXACT as f64 => {
                let (less, more) = (u128::from(less), u128::from(more));
                // For positive differences the interval is open at its start; for negative ones, at its end.
                let (first, last) = if truth > 0 {
                    (whole / more + 1, whole / less)
                } else {
                    let last = whole
                        .checked_sub(1)
                        .and_then(|less_one| less_one.checked_div(less));
                    (whole.div_ceil(more), last.unwrap_or(u128::MAX))
                };
                seen.size * self.sum(first, last)
            }
            _ => {
                let first = (seen.size / high).max(self.floor);
                let last = (seen.size / low).min(self.top);
                (seen.size / first - seen.size / last).max(0.0)
            }
        }
    }

    /// Σ ln(1 + 1/ρ)/ρ over the integers ρ from `first` to `last` that are in the range.
    fn sum(self, first: u128, last: u128) -> f64 {
        let (floor, top) = self.whole;
        let first = first.max(floor);
        let last = last.min(top - 1);
        let near = first..=last.min(MAX_EXACT);
        let near: f64 = near
            .map(|rho| (1.0 / rho as f64).ln_1p() / rho as f64)
            .sum();
        let first = first.max(MAX_EXACT + 1);
        if first > last {
            return near;
        }
        // Each term is nearly 1/(ρ + ¼)², so the sum is nearly the integral from half before the first to half after
        // the last: the number of terms divided by the product of the ends.
        let (start, end) = (first as f64 - 0.25, last as f64 + 0.75);
        near + ((last - first) as f64 + 1.0) / start / end
    }
}

fn whole_power(bits: u32) -> u128 {
    1u128.checked_shl(bits).unwrap_or(u128::MAX)
}
