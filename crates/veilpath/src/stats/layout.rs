//! Pairs of participants, between two cohorts or within one.

use super::StatsError;
use veilpath_statistics::{
    CrossMatrix, DrawCounts, PairMatrix, ParticipantPairs, Participants, PooledPairs,
    StatisticsError,
};

/// Maps each pair of scanpaths to its pair of participants.
pub(super) enum Layout {
    Cross(ParticipantPairs),
    Within(PooledPairs),
}

/// A value for each pair of participants.
pub(super) enum Matrix {
    Cross(CrossMatrix),
    Within(PairMatrix),
}

impl Layout {
    /// Fails if two participants have no pair of scanpaths, because they share no stimulus.
    pub(super) fn new(
        participants: &[Participants; 2],
        is_one_cohort: bool,
        pairs: impl Iterator<Item = (usize, usize)>,
    ) -> Result<Self, StatsError> {
        let [rows, columns] = participants;
        let layout = match is_one_cohort {
            true => Layout::Within(PooledPairs::new(rows, pairs)?),
            false => Layout::Cross(ParticipantPairs::new(rows, columns, pairs)?),
        };
        let cells = layout.cells(rows.len(), columns.len());
        let without = cells.filter(|&(a, b)| layout.count(a, b) == 0).count();
        match without {
            0 => Ok(layout),
            pairs => Err(StatsError::NoCommonStimulus { pairs }),
        }
    }

    pub(super) fn count(&self, a: usize, b: usize) -> u32 {
        match self {
            Layout::Cross(pairs) => pairs.count(a, b),
            Layout::Within(pairs) => pairs.count(a, b),
        }
    }

    pub(super) fn uniform_count(&self) -> Option<u32> {
        match self {
            Layout::Cross(pairs) => pairs.uniform_count(),
            Layout::Within(pairs) => pairs.uniform_count(),
        }
    }

    pub(super) fn sums(&self, values: &[i64]) -> Result<Matrix, StatisticsError> {
        Ok(match self {
            Layout::Cross(pairs) => Matrix::Cross(pairs.sums(values)?),
            Layout::Within(pairs) => Matrix::Within(pairs.sums(values)?),
        })
    }

    /// All pairs of participants.
    fn cells(&self, rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
        let is_one_cohort = matches!(self, Layout::Within(_));
        let first = move |row: usize| if is_one_cohort { row + 1 } else { 0 };
        (0..rows).flat_map(move |row| (first(row)..columns).map(move |column| (row, column)))
    }
}

impl Matrix {
    /// The mean over drawn participants, for pairs for which `take` is true.
    pub(super) fn drawn_mean(
        &self,
        [rows, columns]: [&DrawCounts; 2],
        unit: f64,
        take: impl Fn(usize, usize) -> bool,
    ) -> Option<f64> {
        match self {
            Matrix::Within(matrix) => rows.mean_of_pairs(matrix, unit, take),
            Matrix::Cross(matrix) => {
                DrawCounts::mean_of_cross_pairs(rows, columns, matrix, unit, take)
            }
        }
    }
}
