//! Statistics of the lines in a recurrence matrix: how many there are, and how long they are.

use crate::{MeasureKind, Symmetry};
use serde::{Deserialize, Serialize};

/// A statistic of lines. It is computed in the clear only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineMeasure {
    /// The number of diagonal lines.
    Lines,
    /// The length of the longest diagonal line; 0 if there is none.
    Longest,
    /// The mean length of diagonal lines.
    MeanLine,
    /// The entropy of the lengths of diagonal lines, −Σ p ln p, where p is the fraction of lines with a given length.
    Entropy,
    /// Trapping time: the mean length of lines along the second scanpath, with the first fixed.
    TrappingRows,
    /// The mean length of lines along the first scanpath, with the second fixed.
    TrappingColumns,
    /// The length of the longest line along the second scanpath; 0 if there is none.
    LongestRow,
    /// The length of the longest line along the first scanpath; 0 if there is none.
    LongestColumn,
}

/// The lines of a recurrence matrix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecurrentLines {
    /// Diagonal lines.
    pub diagonal: LineLengths,
    /// Lines along the second scanpath.
    pub rows: LineLengths,
    /// Lines along the first scanpath.
    pub columns: LineLengths,
}

/// How many lines have each length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineLengths {
    counts: Vec<u64>,
}

impl LineMeasure {
    /// All statistics.
    pub const ALL: [LineMeasure; 8] = [
        LineMeasure::Lines,
        LineMeasure::Longest,
        LineMeasure::MeanLine,
        LineMeasure::Entropy,
        LineMeasure::TrappingRows,
        LineMeasure::TrappingColumns,
        LineMeasure::LongestRow,
        LineMeasure::LongestColumn,
    ];

    /// The name used in options and results.
    pub fn name(self) -> &'static str {
        match self {
            LineMeasure::Lines => "lines",
            LineMeasure::Longest => "longest",
            LineMeasure::MeanLine => "mean-line",
            LineMeasure::Entropy => "entropy",
            LineMeasure::TrappingRows => "trapping-rows",
            LineMeasure::TrappingColumns => "trapping-columns",
            LineMeasure::LongestRow => "longest-row",
            LineMeasure::LongestColumn => "longest-column",
        }
    }

    /// Longer diagonals mean that more is in the same order. The other statistics do not say which of two pairs is more
    /// similar.
    pub(crate) fn kind(self) -> MeasureKind {
        match self {
            LineMeasure::Longest | LineMeasure::MeanLine => MeasureKind::Similarity,
            _ => MeasureKind::Number,
        }
    }

    /// What happens to the statistic when the two scanpaths are swapped.
    pub(crate) fn symmetry(self) -> Symmetry {
        match self {
            LineMeasure::Lines
            | LineMeasure::Longest
            | LineMeasure::MeanLine
            | LineMeasure::Entropy => Symmetry::Symmetric,
            LineMeasure::TrappingRows
            | LineMeasure::TrappingColumns
            | LineMeasure::LongestRow
            | LineMeasure::LongestColumn => Symmetry::Asymmetric,
        }
    }

    /// Whether the statistic is undefined without lines.
    pub(crate) fn needs_lines(self) -> bool {
        match self {
            LineMeasure::MeanLine
            | LineMeasure::Entropy
            | LineMeasure::TrappingRows
            | LineMeasure::TrappingColumns => true,
            LineMeasure::Lines
            | LineMeasure::Longest
            | LineMeasure::LongestRow
            | LineMeasure::LongestColumn => false,
        }
    }

    /// The statistic; `None` if it needs lines and there are none.
    #[allow(clippy::cast_precision_loss)] // counts are far below 2⁵³
    pub(crate) fn number(self, lines: &RecurrentLines) -> Option<f64> {
        match self {
            LineMeasure::Lines => Some(lines.diagonal.count() as f64),
            LineMeasure::Longest => Some(lines.diagonal.longest() as f64),
            LineMeasure::MeanLine => lines.diagonal.mean(),
            LineMeasure::Entropy => lines.diagonal.entropy(),
            LineMeasure::TrappingRows => lines.rows.mean(),
            LineMeasure::TrappingColumns => lines.columns.mean(),
            LineMeasure::LongestRow => Some(lines.rows.longest() as f64),
            LineMeasure::LongestColumn => Some(lines.columns.longest() as f64),
        }
    }
}

impl LineLengths {
    /// Adds one line.
    pub fn add(&mut self, length: usize) {
        if self.counts.len() <= length {
            self.counts.resize(length + 1, 0);
        }
        self.counts[length] += 1;
    }

    /// The number of lines with this length.
    pub fn of_length(&self, length: usize) -> u64 {
        self.counts.get(length).copied().unwrap_or(0)
    }

    /// The number of lines.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The length of the longest line; 0 if there is none.
    pub fn longest(&self) -> u64 {
        self.counts.len().saturating_sub(1) as u64
    }

    /// The number of points on all lines.
    pub fn points(&self) -> u64 {
        let lengths = (0u64..).zip(&self.counts);
        lengths.map(|(length, count)| length * count).sum()
    }

    #[allow(clippy::cast_precision_loss)] // counts are far below 2⁵³
    fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.points() as f64 / count as f64)
    }

    #[allow(clippy::cast_precision_loss)] // counts are far below 2⁵³
    fn entropy(&self) -> Option<f64> {
        let all = self.count();
        let occurring = self.counts.iter().filter(|&&count| count > 0);
        let terms = occurring.map(|&count| {
            let share = count as f64 / all as f64;
            share * libm::log(share)
        });
        // Gives 0, not −0, if all lines have the same length.
        (all > 0).then(|| 0.0 - terms.sum::<f64>())
    }
}
