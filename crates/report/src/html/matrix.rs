//! The results as a matrix: one side's ids down, the other's across.

use super::measure::{ScoreKind, ShownMeasure};
use std::collections::{BTreeSet, HashMap};
use veilpath_metrics::MeasureKind;

/// The most heat-map tiles. A file has a tile for each pair unless its pairs are scattered, so this is about the largest
/// file that is read.
pub(crate) const MAX_TILES: usize = 4_000_000;

/// The most rows or columns. Browsers cannot draw a larger picture.
pub(crate) const MAX_ROWS_OR_COLUMNS: usize = 16_000;

/// Two numbers that should be equal may differ by this fraction.
const TOLERANCE: f64 = 1e-9;

/// A matrix of numbers, with ids along its sides.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    pub(crate) a: Vec<String>,
    pub(crate) b: Vec<String>,
    /// Row by row; NaN if there is no pair.
    values: Vec<f64>,
    /// The second number of each tile, if it differs from the first.
    secondary: Option<Vec<f64>>,
    /// The number of pairs behind each value.
    counts: Vec<u32>,
    /// The number of tiles that average several pairs.
    pub(crate) averaged: usize,
    /// The number of tiles without a number.
    pub(crate) missing: usize,
    /// Whether a pair was compared but has no number, in the order of `values`.
    undefined: Vec<bool>,
}

/// One pair to add to a matrix: its labels and its numbers.
#[derive(Clone, Copy)]
pub(crate) struct PairValue<'a> {
    pub(crate) a: &'a str,
    pub(crate) b: &'a str,
    /// `None` if the pair was compared but has no number.
    pub(crate) value: Option<f64>,
    pub(crate) secondary: Option<f64>,
}

impl Matrix {
    /// Builds the matrix of these pairs. Repeated pairs are averaged. `None` if it would have too many rows, columns or
    /// tiles, or no number.
    pub(crate) fn new<'a>(pairs: impl Iterator<Item = PairValue<'a>> + Clone) -> Option<Self> {
        let (mut a, mut b) = (Labels::default(), Labels::default());
        for pair in pairs.clone() {
            a.number(pair.a);
            b.number(pair.b);
        }
        let size = a.names.len().checked_mul(b.names.len())?;
        if size == 0 || size > MAX_TILES || a.names.len().max(b.names.len()) > MAX_ROWS_OR_COLUMNS {
            return None;
        }
        let (mut counts, mut undefined) = (vec![0_u32; size], vec![false; size]);
        let (mut values, mut secondary) = (vec![0.0; size], vec![0.0; size]);
        for pair in pairs {
            let index = a.number(pair.a) * b.names.len() + b.number(pair.b);
            let Some(value) = pair.value else {
                undefined[index] = true;
                continue;
            };
            counts[index] += 1;
            values[index] += value;
            secondary[index] += pair.secondary.unwrap_or(value);
        }
        if counts.iter().all(|&count| count == 0) {
            return None;
        }
        for (index, &count) in counts.iter().enumerate() {
            // Without pairs this is 0/0, which is NaN.
            undefined[index] &= count == 0;
            values[index] /= f64::from(count);
            secondary[index] /= f64::from(count);
        }
        let same = |(value, other): (&f64, &f64)| value == other || value.is_nan();
        let differ = !values.iter().zip(&secondary).all(same);
        Some(Self {
            averaged: counts.iter().filter(|&&count| count > 1).count(),
            missing: counts.iter().filter(|&&count| count == 0).count(),
            a: a.names.into_iter().map(str::to_string).collect(),
            b: b.names.into_iter().map(str::to_string).collect(),
            values,
            secondary: differ.then_some(secondary),
            counts,
            undefined,
        })
    }

    pub(crate) fn rows(&self) -> usize {
        self.a.len()
    }

    pub(crate) fn columns(&self) -> usize {
        self.b.len()
    }

    /// The number of a pair; `None` if the two were not compared or have no number.
    pub(crate) fn get(&self, row: usize, column: usize) -> Option<f64> {
        let value = self.values[row * self.columns() + column];
        (!value.is_nan()).then_some(value)
    }

    /// Whether the two were compared but have no number.
    pub(crate) fn is_undefined(&self, row: usize, column: usize) -> bool {
        self.undefined[row * self.columns() + column]
    }

    /// Whether any pair was compared but has no number.
    pub(crate) fn has_undefined(&self) -> bool {
        self.undefined.contains(&true)
    }

    /// A whole row; NaN if there is no pair.
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns()..(row + 1) * self.columns()]
    }

    /// The second number of a tile, if it differs from the first in any tile.
    pub(crate) fn secondary(&self, row: usize, column: usize) -> Option<f64> {
        let number = *self
            .secondary
            .as_ref()?
            .get(row * self.columns() + column)?;
        (!number.is_nan()).then_some(number)
    }

    pub(crate) fn has_secondary(&self) -> bool {
        self.secondary.is_some()
    }

    /// The number of pairs behind a tile.
    pub(crate) fn count(&self, row: usize, column: usize) -> u32 {
        self.counts[row * self.columns() + column]
    }

    /// All numbers in the matrix.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f64> + Clone {
        self.values.iter().copied().filter(|value| !value.is_nan())
    }

    /// The smallest and the largest number.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        range(self.numbers())
    }

    /// The transposed matrix.
    pub(crate) fn transposed(&self) -> Self {
        let (rows, columns) = (self.rows(), self.columns());
        fn transpose<T: Copy>(values: &[T], [rows, columns]: [usize; 2]) -> Vec<T> {
            (0..rows * columns)
                .map(|index| values[index % rows * columns + index / rows])
                .collect()
        }
        let size = [rows, columns];
        Self {
            a: self.b.clone(),
            b: self.a.clone(),
            values: transpose(&self.values, size),
            secondary: self
                .secondary
                .as_deref()
                .map(|values| transpose(values, size)),
            counts: transpose(&self.counts, size),
            undefined: transpose(&self.undefined, size),
            ..*self
        }
    }

    /// The matrix as dissimilarities between the ids of one cohort, in the order of `a`, or the reason it is not one.
    pub(crate) fn within_one_cohort(
        &self,
        measure: ShownMeasure<'_>,
    ) -> Result<DissimilarityMatrix, NotSquare> {
        if measure.is_bit() {
            return Err(NotSquare::Bits);
        }
        let sides = [&self.a, &self.b].map(|ids| ids.iter().collect::<BTreeSet<_>>());
        if sides[0] != sides[1] {
            return Err(NotSquare::DifferentIds);
        }
        if self.missing > 0 {
            return Err(NotSquare::Missing);
        }
        let score_kind = measure.score_kind().ok_or(NotSquare::UnknownDirection)?;
        let (smallest, largest) = self.range().ok_or(NotSquare::Missing)?;
        // The largest possible similarity is known. For a score, use the largest in the matrix.
        let top = match measure.kind {
            MeasureKind::Fraction => 1.0,
            _ => largest,
        };
        let far = |value: f64| match score_kind {
            ScoreKind::Distance => value,
            ScoreKind::Similarity => top - value,
        };
        let positions: HashMap<&str, usize> = self.b.iter().map(String::as_str).zip(0..).collect();
        let size = self.rows();
        let mut far_apart = Vec::with_capacity(size * size);
        for row in 0..size {
            for id in &self.a {
                let column = positions.get(id.as_str()).copied().unwrap_or_default();
                far_apart.push(far(self.values[row * size + column]));
            }
        }
        let slack = TOLERANCE * smallest.abs().max(largest.abs()).max(1.0);
        let mut unlike_themselves = false;
        for row in 0..size {
            let own = far_apart[row * size + row];
            for column in 0..size {
                let there = far_apart[row * size + column];
                let back = far_apart[column * size + row];
                if (there - back).abs() > slack {
                    return Err(NotSquare::NotSymmetric);
                }
                unlike_themselves |= own > there + slack;
            }
        }
        if unlike_themselves {
            return Err(NotSquare::NotMostSimilarToSelf);
        }
        for index in 0..size {
            far_apart[index * size + index] = 0.0;
        }
        Ok(DissimilarityMatrix { size, far_apart })
    }
}

/// Dissimilarities between the members of one cohort: symmetric, non-negative, 0 on the diagonal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DissimilarityMatrix {
    pub(crate) size: usize,
    far_apart: Vec<f64>,
}

impl DissimilarityMatrix {
    /// From a distance function, which is called once per pair.
    pub(crate) fn new(size: usize, mut distance: impl FnMut(usize, usize) -> f64) -> Self {
        let mut far_apart = vec![0.0; size * size];
        for i in 0..size {
            for j in 0..i {
                let d = distance(i, j);
                far_apart[i * size + j] = d;
                far_apart[j * size + i] = d;
            }
        }
        Self { size, far_apart }
    }

    pub(crate) fn get(&self, i: usize, j: usize) -> f64 {
        self.far_apart[i * self.size + j]
    }

    pub(crate) fn set(&mut self, i: usize, j: usize, value: f64) {
        self.far_apart[i * self.size + j] = value;
        self.far_apart[j * self.size + i] = value;
    }
}

/// Why a matrix does not give the distances between the members of one cohort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotSquare {
    DifferentIds,
    Missing,
    Bits,
    UnknownDirection,
    /// Both sides have the same ids, but a pair and its reverse differ.
    NotSymmetric,
    /// A member is more similar to another than to itself.
    NotMostSimilarToSelf,
}

pub(crate) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((smallest, largest)) => Some((value.min(smallest), value.max(largest))),
    })
}

#[derive(Default)]
struct Labels<'a> {
    numbers: HashMap<&'a str, usize>,
    names: Vec<&'a str>,
}

impl<'a> Labels<'a> {
    fn number(&mut self, label: &'a str) -> usize {
        *self.numbers.entry(label).or_insert_with(|| {
            self.names.push(label);
            self.names.len() - 1
        })
    }
}
