//! Classification by the nearest scanpaths.

use crate::StatisticsError;

/// The indices of the `k` largest values, the nearest first. Of equal values, the earlier one is nearer.
pub fn nearest(query: usize, values: &[i64], k: usize) -> Result<Vec<usize>, StatisticsError> {
    if k == 0 || values.len() < k {
        return Err(StatisticsError::TooFewReferences {
            query,
            found: values.len(),
            k,
        });
    }
    let nearness = |&at: &usize| (std::cmp::Reverse(values[at]), at);
    let mut order: Vec<usize> = (0..values.len()).collect();
    if k < order.len() {
        order.select_nth_unstable_by_key(k, nearness);
        order.truncate(k);
    }
    order.sort_unstable_by_key(nearness);
    Ok(order)
}

/// The group with the most votes; of tied groups, the one with the smallest number. Groups are numbered in order of
/// their names.
pub fn majority(votes: impl IntoIterator<Item = usize>, groups: usize) -> usize {
    let mut counts = vec![0_usize; groups];
    for vote in votes {
        if let Some(count) = counts.get_mut(vote) {
            *count += 1;
        }
    }
    let mut best = 0;
    for (group, &count) in counts.iter().enumerate() {
        if count > counts[best] {
            best = group;
        }
    }
    best
}

/// A confusion matrix: how many scanpaths of each group were assigned to each group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confusion(Vec<Vec<u64>>);

impl Confusion {
    /// Counts pairs of a scanpath's true group and its assigned group, both below `groups`.
    pub fn new(
        groups: usize,
        pairs: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Self, StatisticsError> {
        let mut counts = vec![vec![0; groups]; groups];
        for (own, given) in pairs {
            let index = own.max(given);
            let what = "group";
            let count = counts.get_mut(own).and_then(|row| row.get_mut(given));
            *count.ok_or(StatisticsError::Index { what, index })? += 1;
        }
        Ok(Self(counts))
    }

    /// The counts: a row for each true group, a column for each assigned group.
    pub fn counts(&self) -> &[Vec<u64>] {
        &self.0
    }

    /// How many scanpaths were assigned their true group.
    pub fn correct(&self) -> u64 {
        (0..self.0.len()).map(|group| self.0[group][group]).sum()
    }

    /// How many scanpaths there are.
    pub fn total(&self) -> u64 {
        self.0.iter().flatten().sum()
    }

    /// The size of the largest group: how many assignments are right if all scanpaths are assigned to it.
    pub fn most_frequent(&self) -> u64 {
        let sizes = self.0.iter().map(|row| row.iter().sum());
        sizes.max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_values_are_nearest_and_the_earlier_of_equal_ones() {
        assert_eq!(nearest(0, &[5, 9, 7, 9, 7], 3), Ok(vec![1, 3, 2]));
        assert_eq!(nearest(0, &[5, 5, 5], 2), Ok(vec![0, 1]));
        assert_eq!(nearest(0, &[1, 2], 2), Ok(vec![1, 0]));
        assert!(nearest(0, &[1, 2], 3).is_err());
        assert!(nearest(0, &[1, 2], 0).is_err());
    }

    #[test]
    fn ties_go_to_the_first_group() {
        assert_eq!(majority([1, 2, 2, 1, 0], 3), 1);
        assert_eq!(majority([2, 2, 1], 3), 2);
        assert_eq!(majority([], 3), 0);
    }

    #[test]
    fn right_answers_are_on_the_diagonal() {
        let confusion = Confusion::new(2, [(0, 0), (0, 1), (1, 1), (1, 1), (1, 0)]).unwrap();
        assert_eq!(confusion.counts(), [[1, 1], [1, 2]]);
        assert_eq!(confusion.correct(), 3);
        assert_eq!(confusion.total(), 5);
        assert_eq!(confusion.most_frequent(), 3);
        assert!(Confusion::new(2, [(0, 2)]).is_err());
    }
}
