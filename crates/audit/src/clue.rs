//! What one candidate set tells: the masked values of a cell, and how well they fit the differences of a guess.

use crypto_bigint::BoxedUint;

/// Bits of the product of the two multipliers of the paper's masks.
const FACTOR_BITS: f64 = 80.0;

/// What an attack looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// Which candidates are equal.
    Ties,
    /// The ratio of the differences, ties included.
    Ratios,
    /// How large the largest difference looks.
    Magnitudes,
    /// All of it together, and that differences are whole multiples.
    All,
}

/// What Alice keeps of a candidate set.
#[derive(Clone, Debug, PartialEq)]
pub enum Clue {
    /// The paper's masks: the middle and the largest value less the least, both times the same secret factor.
    Shared {
        /// Middle less least.
        low: u128,
        /// Largest less least.
        high: u128,
    },
}

impl Clue {
    /// Of the three values of a cell under the paper's masks.
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

    /// How likely the clue is where the candidates of the cell are these, up to a factor that is the same for all.
    pub fn likelihood(&self, feature: Feature, candidates: [i64; 3]) -> f64 {
        let mut sorted = candidates;
        sorted.sort_unstable();
        let low = sorted[1].abs_diff(sorted[0]);
        let high = sorted[2].abs_diff(sorted[0]);
        self.of_differences(feature, low, high)
    }

    /// The same for differences to the least candidate.
    pub(crate) fn of_differences(&self, feature: Feature, d_low: u64, d_high: u64) -> f64 {
        let Self::Shared { low, high } = *self;
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

/// Whether low : high = d_low : d_high. The right-hand numbers are small.
fn same_ratio(low: u128, high: u128, d_low: u128, d_high: u128) -> bool {
    match (low.checked_mul(d_high), high.checked_mul(d_low)) {
        (Some(left), Some(right)) => left == right,
        _ => false,
    }
}

/// How likely the product of two uniform numbers of 40 bits is about this, times 2^80.
fn density(factor: f64) -> f64 {
    (std::f64::consts::LN_2 * (FACTOR_BITS - factor.max(1.0).log2())).max(0.0)
}

fn difference(larger: &BoxedUint, smaller: &BoxedUint) -> Option<u128> {
    let difference = larger.wrapping_sub(smaller);
    let bytes = difference.to_be_bytes();
    let (high, low) = bytes.split_at(bytes.len().checked_sub(16)?);
    if high.iter().any(|&byte| byte != 0) {
        return None;
    }
    Some(u128::from_be_bytes(low.try_into().ok()?))
}
