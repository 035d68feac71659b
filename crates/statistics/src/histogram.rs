//! Histograms: counts of values in bins.

use crate::StatisticsError;

/// The edges of equally wide bins from `low` to `high`, one more than there are bins.
pub fn histogram_edges(low: i64, high: i64, bins: usize) -> Result<Vec<i64>, StatisticsError> {
    let width = i128::from(high) - i128::from(low);
    let count = bins as i128;
    if bins == 0 || width < count {
        return Err(StatisticsError::Edges);
    }
    let edge = |at: usize| {
        // Rounded to the nearest integer, which lies between `low` and `high`, so it fits.
        let offset = (2 * width * at as i128 + count) / (2 * count);
        i64::try_from(i128::from(low) + offset).map_err(|_| StatisticsError::Edges)
    };
    (0..=bins).map(edge).collect()
}

/// The bin of a value. A value on an edge belongs to the bin above it, and a value beyond the outer edges to the
/// outermost bin.
pub fn bin_of(value: i64, edges: &[i64]) -> usize {
    let inner = edges.get(1..edges.len().saturating_sub(1));
    inner.map_or(0, |inner| inner.partition_point(|&edge| edge <= value))
}

/// How many values are in each bin.
pub fn histogram(
    values: impl IntoIterator<Item = i64>,
    edges: &[i64],
) -> Result<Vec<u64>, StatisticsError> {
    if edges.len() < 2 || edges.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(StatisticsError::Edges);
    }
    let mut counts = vec![0; edges.len() - 1];
    for value in values {
        counts[bin_of(value, edges)] += 1;
    }
    Ok(counts)
}

/// Hides the counts for which `is_shown` is false. If there are any, also hides the smallest of the others (the first
/// of equal ones), so that a hidden count does not follow from the total.
pub fn suppress_small(counts: &[u64], is_shown: &[bool]) -> Vec<Option<u64>> {
    let both = counts.iter().zip(is_shown);
    let mut kept: Vec<Option<u64>> = both.map(|(&count, shown)| shown.then_some(count)).collect();
    if kept.contains(&None) {
        let others = (0..kept.len()).filter(|&bin| is_shown[bin]);
        if let Some(smallest) = others.min_by_key(|&bin| counts[bin]) {
            kept[smallest] = None;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_evenly_spaced() {
        assert_eq!(histogram_edges(0, 1 << 24, 4).unwrap()[2], 1 << 23);
        assert_eq!(histogram_edges(-1, 9, 3), Ok(vec![-1, 2, 6, 9]));
        assert_eq!(
            histogram_edges(i64::MIN, i64::MAX, 1),
            Ok(vec![i64::MIN, i64::MAX])
        );
        assert!(histogram_edges(0, 3, 4).is_err());
        assert!(histogram_edges(0, 3, 0).is_err());
        assert!(histogram_edges(3, 0, 1).is_err());
    }

    #[test]
    fn outer_bins_contain_what_is_beyond() {
        let counts = histogram([-5, 0, 9, 10, 19, 20, 99], &[0, 10, 20]).unwrap();
        assert_eq!(counts, [3, 4]);
        assert!(histogram([], &[0]).is_err());
        assert!(histogram([], &[0, 0]).is_err());
    }

    #[test]
    fn small_counts_are_hidden_with_another() {
        assert_eq!(
            suppress_small(&[9, 2, 7, 7], &[true, false, true, true]),
            [Some(9), None, None, Some(7)]
        );
        assert_eq!(suppress_small(&[9, 8], &[true; 2]), [Some(9), Some(8)]);
        assert_eq!(suppress_small(&[9, 0], &[true, false]), [None, None]);
        assert_eq!(suppress_small(&[1, 2], &[false; 2]), [None, None]);
    }
}
