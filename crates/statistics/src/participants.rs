//! Assigns scanpaths to participants, and sums over the scanpath pairs of two participants.

use crate::matrix::{pairs_of, place_above};
use crate::{CrossMatrix, PairMatrix, StatisticsError};
use std::collections::HashMap;
use std::hash::Hash;

/// The participants of one side, numbered in the order in which they first appear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Participants {
    of_scanpath: Vec<usize>,
    count: usize,
}

/// Which pair of participants each pair of scanpaths belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParticipantPairs {
    rows: usize,
    columns: usize,
    /// The index into the matrix for each pair of scanpaths.
    places: Vec<usize>,
    counts: Vec<u32>,
}

/// Which pair of participants each pair of scanpaths belongs to, within one set of participants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PooledPairs {
    size: usize,
    /// The index among the values above the diagonal for each pair of scanpaths.
    places: Vec<usize>,
    counts: Vec<u32>,
}

impl Participants {
    /// Numbers the participants, given the participant id of each scanpath.
    pub fn new<Id: Hash + Eq>(ids: impl IntoIterator<Item = Id>) -> Self {
        let mut numbers = HashMap::new();
        let of_scanpath = ids
            .into_iter()
            .map(|id| {
                let next = numbers.len();
                *numbers.entry(id).or_insert(next)
            })
            .collect();
        Self {
            of_scanpath,
            count: numbers.len(),
        }
    }

    /// The number of participants.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no participants.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The participant of each scanpath.
    pub fn of_scanpaths(&self) -> &[usize] {
        &self.of_scanpath
    }

    /// The participant of one scanpath.
    pub fn of(&self, scanpath: usize) -> Result<usize, StatisticsError> {
        let found = self.of_scanpath.get(scanpath).copied();
        found.ok_or(StatisticsError::Index {
            what: "scanpath",
            index: scanpath,
        })
    }
}

impl ParticipantPairs {
    /// Assigns pairs of scanpaths, given by their indices, to pairs of participants.
    pub fn new(
        rows: &Participants,
        columns: &Participants,
        pairs: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Self, StatisticsError> {
        let mut counts = vec![0_u32; rows.len() * columns.len()];
        let mut places = Vec::new();
        for (a, b) in pairs {
            let place = rows.of(a)? * columns.len() + columns.of(b)?;
            counts[place] = counts[place].saturating_add(1);
            places.push(place);
        }
        Ok(Self {
            rows: rows.len(),
            columns: columns.len(),
            places,
            counts,
        })
    }

    /// How many pairs of scanpaths two participants have.
    ///
    /// # Panics
    ///
    /// Where there is no such row or column.
    pub fn count(&self, row: usize, column: usize) -> u32 {
        assert!(row < self.rows && column < self.columns);
        self.counts[row * self.columns + column]
    }

    /// The number that all pairs of participants have, if it is the same for all.
    pub fn uniform_count(&self) -> Option<u32> {
        uniform(&self.counts)
    }

    /// Refuses pairs of participants without any pair of scanpaths.
    pub fn require_all(&self) -> Result<(), StatisticsError> {
        match self.counts.iter().position(|&count| count == 0) {
            None => Ok(()),
            Some(place) => Err(StatisticsError::NoCommonStimulus {
                row: place / self.columns,
                column: place % self.columns,
            }),
        }
    }

    /// For each pair of participants, the sum over its pairs of scanpaths modulo 2⁶⁴; `values` has one entry for each
    /// pair of scanpaths.
    pub fn sums_wrapping(&self, values: &[i64]) -> Result<CrossMatrix, StatisticsError> {
        let sums = sums_at(&self.places, self.counts.len(), values)?;
        CrossMatrix::new(self.rows, self.columns, sums)
    }

    /// The same, for values that can be added up.
    pub fn sums(&self, values: &[i64]) -> Result<CrossMatrix, StatisticsError> {
        crate::fixed_point::check_values(values)?;
        self.sums_wrapping(values)
    }
}

impl PooledPairs {
    /// Assigns pairs of scanpaths of different participants, given by their indices in either order, to pairs of
    /// participants.
    pub fn new(
        participants: &Participants,
        pairs: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Self, StatisticsError> {
        let size = participants.len();
        let mut counts = vec![0_u32; pairs_of(size)];
        let mut places = Vec::new();
        for (a, b) in pairs {
            let (a, b) = (participants.of(a)?, participants.of(b)?);
            if a == b {
                return Err(StatisticsError::SameParticipant { participant: a });
            }
            let place = place_above(size, a.min(b), a.max(b));
            counts[place] = counts[place].saturating_add(1);
            places.push(place);
        }
        Ok(Self {
            size,
            places,
            counts,
        })
    }

    /// How many pairs of scanpaths two different participants have.
    ///
    /// # Panics
    ///
    /// If there are no such participants.
    pub fn count(&self, a: usize, b: usize) -> u32 {
        assert!(a != b && a.max(b) < self.size);
        self.counts[place_above(self.size, a.min(b), a.max(b))]
    }

    /// The number that all pairs of participants have, if it is the same for all.
    pub fn uniform_count(&self) -> Option<u32> {
        uniform(&self.counts)
    }

    /// Refuses pairs of participants without any pair of scanpaths.
    pub fn require_all(&self) -> Result<(), StatisticsError> {
        let pairs = (0..self.size).flat_map(|a| (a + 1..self.size).map(move |b| (a, b)));
        match pairs.zip(&self.counts).find(|&(_, &count)| count == 0) {
            None => Ok(()),
            Some(((row, column), _)) => Err(StatisticsError::NoCommonStimulus { row, column }),
        }
    }

    /// For each pair of participants, the sum over its pairs of scanpaths modulo 2⁶⁴; `values` has one entry for each
    /// pair of scanpaths.
    pub fn sums_wrapping(&self, values: &[i64]) -> Result<PairMatrix, StatisticsError> {
        let sums = sums_at(&self.places, self.counts.len(), values)?;
        PairMatrix::new(self.size, sums)
    }

    /// The same, for values that can be added up.
    pub fn sums(&self, values: &[i64]) -> Result<PairMatrix, StatisticsError> {
        crate::fixed_point::check_values(values)?;
        self.sums_wrapping(values)
    }
}

fn uniform(counts: &[u32]) -> Option<u32> {
    let first = *counts.first()?;
    counts.iter().all(|&it| it == first).then_some(first)
}

fn sums_at(places: &[usize], size: usize, values: &[i64]) -> Result<Vec<i64>, StatisticsError> {
    if values.len() != places.len() {
        return Err(StatisticsError::Length {
            what: "values of pairs",
            found: values.len(),
            expected: places.len(),
        });
    }
    let mut sums = vec![0_i64; size];
    for (&place, &value) in places.iter().zip(values) {
        sums[place] = sums[place].wrapping_add(value);
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn participants_are_numbered_by_first_appearance() {
        let participants = Participants::new(["q", "p", "q", "r"]);
        assert_eq!(participants.len(), 3);
        assert_eq!(participants.of_scanpaths(), [0, 1, 0, 2]);
    }

    #[test]
    fn pairs_of_scanpaths_are_added_up_by_participants() {
        let rows = Participants::new(["p", "p", "q"]);
        let columns = Participants::new(["x", "y"]);
        let pairs =
            ParticipantPairs::new(&rows, &columns, [(0, 0), (1, 0), (2, 0), (2, 1)]).unwrap();
        assert_eq!(pairs.count(0, 0), 2);
        assert_eq!(pairs.uniform_count(), None);
        assert_eq!(
            pairs.require_all(),
            Err(StatisticsError::NoCommonStimulus { row: 0, column: 1 })
        );
        let sums = pairs.sums(&[1, 2, 4, 8]).unwrap();
        assert_eq!(sums.values(), [3, 0, 4, 8]);
        assert!(pairs.sums(&[1, 2, 4]).is_err());
        assert!(pairs.sums(&[i64::MAX, 0, 0, 0]).is_err());
        assert!(ParticipantPairs::new(&rows, &columns, [(3, 0)]).is_err());
    }

    #[test]
    fn pairs_within_a_set_have_no_order() {
        let participants = Participants::new(["p", "q", "p", "r"]);
        let pairs = [(0, 1), (1, 2), (3, 0), (3, 1)];
        let pairs = PooledPairs::new(&participants, pairs).unwrap();
        assert_eq!([pairs.count(1, 0), pairs.count(0, 2)], [2, 1]);
        assert_eq!(pairs.uniform_count(), None);
        assert_eq!(pairs.require_all(), Ok(()));
        // Pairs 01, 02 and 12 of participants.
        assert_eq!(pairs.sums(&[1, 2, 4, 8]).unwrap().values(), [3, 4, 8]);
        assert!(PooledPairs::new(&participants, [(0, 2)]).is_err());
        let few = PooledPairs::new(&participants, [(0, 1), (0, 3)]).unwrap();
        assert_eq!(
            few.require_all(),
            Err(StatisticsError::NoCommonStimulus { row: 1, column: 2 })
        );
    }
}
