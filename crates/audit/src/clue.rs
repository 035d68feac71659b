//! What one candidate set reveals: the masked values of a matrix cell, and how well they fit the differences that a
//! guess implies.

use crate::AuditError;
use crate::factors::{Difference, Factors};
use crate::order_hidden::Batch;
use crypto_bigint::BoxedUint;
use veilpath_protocol::{HardenedMaskRanges, SeenMessage, Watched};

/// Bits of the product of the two multipliers of the paper's masks.
const FACTOR_BITS: f64 = 64.0;

/// The features that an attack uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// Which candidates are equal.
    Ties,
    /// The ratio of the differences, including ties.
    Ratios,
    /// The apparent size of the largest difference.
    Magnitudes,
    /// All of these, and that differences are integer multiples.
    All,
}

/// The key holder's record of a candidate set.
#[derive(Clone, Debug, PartialEq)]
pub enum Clue {
    /// The paper's masks: the middle and the largest value minus the smallest, both times the same secret factor.
    Shared {
        /// Middle minus smallest.
        low: u128,
        /// Largest minus smallest.
        high: u128,
    },
    /// The masks of the hardened variant: the difference of every two candidates, in an order that the matrix owner
    /// drew, each times its own factor.
    Hardened {
        /// First minus second, first minus third, second minus third.
        differences: [Difference; 3],
        /// The range of the factors.
        factors: Factors,
    },
}

impl Clue {
    /// From the three values of a matrix cell under the paper's masks.
    pub fn shared(values: &[BoxedUint]) -> Option<Self> {
        let mut sorted: Vec<&BoxedUint> = values.iter().collect();
        sorted.sort();
        let [least, middle, largest] = sorted.as_slice() else {
            return None;
        };
        Some(Self::Shared {
            low: difference(middle, least)?,
            high: difference(largest, least)?,
        })
    }

    /// From the slots of a matrix cell in the hardened variant. The last slot holds the padded candidates, which are
    /// random to a party without the pads.
    pub fn hardened(slots: &[BoxedUint], ranges: HardenedMaskRanges) -> Option<Self> {
        let signed = |slot: &BoxedUint| {
            // The bias is removed before a number is rounded.
            let bias = BoxedUint::one_with_precision(slot.bits_precision());
            let bias = bias.unbounded_shl(ranges.bias_bits);
            let negative = slot < &bias;
            let size = if negative {
                bias.wrapping_sub(slot)
            } else {
                slot.wrapping_sub(&bias)
            };
            Difference::new(negative, &size)
        };
        let [first, second, third, _] = slots else {
            return None;
        };
        Some(Self::Hardened {
            differences: [signed(first), signed(second), signed(third)],
            factors: Factors::between(ranges.floor_bits, ranges.factor_bits),
        })
    }

    /// The likelihood of the clue if the cell has these candidates, up to a factor that is the same for all.
    pub fn likelihood(&self, feature: Feature, candidates: [i64; 3]) -> f64 {
        if let Self::Hardened {
            differences,
            factors,
        } = self
        {
            return hardened_likelihood(differences, *factors, feature, candidates);
        }
        let mut sorted = candidates;
        sorted.sort_unstable();
        let low = sorted[1].abs_diff(sorted[0]);
        let high = sorted[2].abs_diff(sorted[0]);
        self.of_differences(feature, low, high)
    }

    /// The same for differences from the smallest candidate.
    pub(crate) fn of_differences(&self, feature: Feature, d_low: u64, d_high: u64) -> f64 {
        let (low, high) = match self {
            Self::Shared { low, high } => (*low, *high),
            Self::Hardened {
                differences,
                factors,
            } => {
                let narrow = |d: u64| i64::try_from(d).unwrap_or(i64::MAX);
                let candidates = [0, narrow(d_low), narrow(d_high)];
                return hardened_likelihood(differences, *factors, feature, candidates);
            }
        };
        let ties = |low: u128, high: u128| (low == 0, high == 0, low == high);
        let (d_low, d_high) = (u128::from(d_low), u128::from(d_high));
        if ties(low, high) != ties(d_low, d_high) && feature != Feature::Magnitudes {
            return 0.0;
        }
        match feature {
            Feature::Ties => 1.0,
            Feature::Magnitudes if high == 0 || d_high == 0 => f64::from(high == d_high),
            Feature::Magnitudes => {
                let d_high = d_high as f64;
                density(high as f64 / d_high) / d_high
            }
            Feature::Ratios | Feature::All if high == 0 => 1.0,
            Feature::Ratios => f64::from(same_ratio(low, high, d_low, d_high)),
            Feature::All => {
                let factor = high / d_high;
                if factor * d_high == high && factor * d_low == low {
                    density(factor as f64)
                } else {
                    0.0
                }
            }
        }
    }
}

/// The key holder's view as clues, one batch for each message.
pub fn clues_of(watched: &Watched) -> Result<Vec<Batch>, AuditError> {
    let read = |message: &SeenMessage| {
        let clue = |set: &Vec<_>| match message.hardened {
            None => Clue::shared(set),
            Some(ranges) => Clue::hardened(set, ranges),
        };
        let sets = message.sets.iter();
        sets.map(|set| clue(set).ok_or(AuditError::LocalAlignment))
            .collect()
    };
    watched.messages.iter().map(read).collect()
}

/// The same for the hardened variant, over all orders that the matrix owner may have drawn. No ties or ratios are
/// visible.
fn hardened_likelihood(
    seen: &[Difference; 3],
    factors: Factors,
    feature: Feature,
    candidates: [i64; 3],
) -> f64 {
    if matches!(feature, Feature::Ties | Feature::Ratios) {
        return 1.0;
    }
    // The engine compares three times a candidate plus its position, so that no two are equal.
    let [x, y, z] = candidates.map(|x| x.saturating_mul(3));
    let values = [x, y.saturating_add(1), z.saturating_add(2)];
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let fit = |order: [usize; 3]| -> f64 {
        let [x, y, z] = order.map(|at| values[at]);
        let pairs = [(x, y), (x, z), (y, z)].into_iter().zip(seen);
        pairs.fold(1.0, |product, ((one, other), seen)| {
            if product > 0.0 {
                product * factors.fit(one.saturating_sub(other), seen)
            } else {
                0.0
            }
        })
    };
    orders.into_iter().map(fit).sum::<f64>() / 6.0
}

/// Whether low : high = d_low : d_high. The right-hand numbers are small.
fn same_ratio(low: u128, high: u128, d_low: u128, d_high: u128) -> bool {
    match (low.checked_mul(d_high), high.checked_mul(d_low)) {
        (Some(left), Some(right)) => left == right,
        _ => false,
    }
}

/// The probability density of the product of two uniform 32-bit numbers at this value, times 2^64.
fn density(factor: f64) -> f64 {
    (std::f64::consts::LN_2 * (FACTOR_BITS - factor.max(1.0).log2())).max(0.0)
}

fn difference(larger: &BoxedUint, smaller: &BoxedUint) -> Option<u128> {
    whole(&larger.wrapping_sub(smaller))
}

/// The number, if it fits.
pub(crate) fn whole(number: &BoxedUint) -> Option<u128> {
    let bytes = number.to_be_bytes();
    bytes.iter().try_fold(0u128, |number, &byte| {
        Some(number.checked_mul(256)? + u128::from(byte))
    })
}
