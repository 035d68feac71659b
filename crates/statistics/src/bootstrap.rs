//! Bootstrap confidence intervals: participants are drawn with replacement.

use crate::{CrossMatrix, PairMatrix, StatisticsError};

/// How often each participant was drawn. The weight of a pair is the product of both counts. A participant that was
/// drawn twice is not paired with itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawCounts(Vec<u32>);

impl DrawCounts {
    /// Counts draws from `size` participants.
    pub fn new(size: usize, draws: &[usize]) -> Result<Self, StatisticsError> {
        let mut times = vec![0_u32; size];
        for &index in draws {
            let what = "participant";
            let count = times.get_mut(index);
            *count.ok_or(StatisticsError::Index { what, index })? += 1;
        }
        Ok(Self(times))
    }

    /// How often each participant was drawn.
    pub fn times(&self) -> &[u32] {
        &self.0
    }

    /// The mean over pairs of drawn participants for which `take` is true; `None` if there is no such pair.
    pub fn mean_of_pairs(
        &self,
        values: &PairMatrix,
        unit: f64,
        take: impl Fn(usize, usize) -> bool,
    ) -> Option<f64> {
        let pairs = values.pairs().filter(|&(a, b, _)| take(a, b));
        weighted_mean(
            pairs.map(|(a, b, value)| (self.0[a], self.0[b], value)),
            unit,
        )
    }

    /// The mean over pairs of drawn participants, one from each side, for which `take` is true; `None` if there is no
    /// such pair.
    pub fn mean_of_cross_pairs(
        rows: &DrawCounts,
        columns: &DrawCounts,
        values: &CrossMatrix,
        unit: f64,
        take: impl Fn(usize, usize) -> bool,
    ) -> Option<f64> {
        let places = (0..rows.0.len()).flat_map(|a| (0..columns.0.len()).map(move |b| (a, b)));
        let pairs = places.filter(|&(a, b)| take(a, b));
        weighted_mean(
            pairs.map(|(a, b)| (rows.0[a], columns.0[b], values.get(a, b))),
            unit,
        )
    }
}

#[allow(clippy::cast_precision_loss)] // the result is a floating-point number
fn weighted_mean(pairs: impl Iterator<Item = (u32, u32, i64)>, unit: f64) -> Option<f64> {
    let (mut sum, mut weight) = (0_i128, 0_u64);
    for (a, b, value) in pairs {
        let times = u64::from(a) * u64::from(b);
        sum += i128::from(value) * i128::from(times);
        weight += times;
    }
    (weight > 0).then(|| sum as f64 / weight as f64 * unit)
}

/// The central interval that contains this fraction of the numbers, with equal tails. Its ends are interpolated
/// linearly.
pub fn percentile_interval(
    mut numbers: Vec<f64>,
    level: f64,
) -> Result<(f64, f64), StatisticsError> {
    if !(level > 0.0 && level < 1.0) {
        return Err(StatisticsError::Level);
    }
    if numbers.is_empty() {
        return Err(StatisticsError::Empty {
            what: "numbers to make an interval of",
        });
    }
    numbers.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    Ok((quantile(&numbers, tail), quantile(&numbers, 1.0 - tail)))
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)] // an index into the list
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = (place.floor() as usize).min(sorted.len() - 1);
    let above = (below + 1).min(sorted.len() - 1);
    let part = place - below as f64;
    sorted[below] + (sorted[above] - sorted[below]) * part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_participant_counts_as_often_as_drawn() {
        // Pairs 01, 02 and 12.
        let values = PairMatrix::new(3, vec![10, 20, 40]).unwrap();
        let drawn = DrawCounts::new(3, &[0, 0, 1]).unwrap();
        assert_eq!(drawn.mean_of_pairs(&values, 1.0, |_, _| true), Some(10.0));
        let drawn = DrawCounts::new(3, &[0, 1, 2, 2]).unwrap();
        assert_eq!(
            drawn.mean_of_pairs(&values, 1.0, |_, _| true),
            Some(130.0 / 5.0)
        );
        let alone = DrawCounts::new(3, &[2, 2, 2]).unwrap();
        assert_eq!(alone.mean_of_pairs(&values, 1.0, |_, _| true), None);
        assert!(DrawCounts::new(3, &[3]).is_err());

        let cross = CrossMatrix::new(2, 2, vec![1, 2, 3, 4]).unwrap();
        let [rows, columns] = [[0, 0], [0, 1]].map(|draws| DrawCounts::new(2, &draws).unwrap());
        let mean = DrawCounts::mean_of_cross_pairs(&rows, &columns, &cross, 2.0, |_, _| true);
        assert_eq!(mean, Some(3.0));
    }

    #[test]
    fn percentiles_are_interpolated() {
        let numbers: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        let (low, high) = percentile_interval(numbers, 0.95).unwrap();
        assert!((low - 2.5).abs() < 1e-9 && (high - 97.5).abs() < 1e-9);
        assert_eq!(percentile_interval(vec![3.0], 0.95), Ok((3.0, 3.0)));
        assert!(percentile_interval(vec![], 0.95).is_err());
        assert!(percentile_interval(vec![1.0], 1.0).is_err());
    }
}
