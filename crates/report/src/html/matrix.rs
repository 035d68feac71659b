//! The answers as a matrix: one side's ids down, the other's across.

use crate::result_file::{Answer, ResultFile};
use std::collections::{BTreeSet, HashMap};

/// The most cells of a matrix. A file has a cell for each pair unless its pairs are scattered, so that this is about the
/// largest file that is read at all.
pub(crate) const MAX_CELLS: usize = 4_000_000;

/// The most lines of a side: browsers draw no longer picture.
pub(crate) const MAX_LINES: usize = 16_000;

/// Two numbers that ought to be equal may differ by this much of their size.
const TOLERANCE: f64 = 1e-9;

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// From 0 to 1, and 1 is most alike.
    Similarity,
    /// The metric's own number; whether the smaller or the greater is more alike is known from the metric's name.
    Score(Option<Alike>),
    /// 1 where a pair is within the threshold, else 0.
    Within,
}

/// Which numbers mean that two scanpaths are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alike {
    /// A distance.
    Smaller,
    /// A similarity.
    Greater,
}

impl Quantity {
    /// What a file has to offer: similarities where every pair has one, else scores.
    pub(crate) fn of(file: &ResultFile) -> Self {
        let mut all_similar = true;
        for row in &file.rows {
            match row.answer {
                Answer::Within(_) => return Quantity::Within,
                Answer::Score { similarity, .. } => all_similar &= similarity.is_some(),
            }
        }
        if all_similar {
            return Quantity::Similarity;
        }
        let metric = file.spec.as_ref().and_then(|spec| spec.get("metric"));
        let name = metric.and_then(|metric| metric.get("name")?.as_str());
        Quantity::Score(match name {
            Some("levenshtein") => Some(Alike::Smaller),
            // With rewards it is maximised, under the same name.
            Some("needleman-wunsch") => match metric.and_then(|metric| metric.get("match")) {
                Some(_) => Some(Alike::Greater),
                None => Some(Alike::Smaller),
            },
            Some("smith-waterman" | "scanmatch") => Some(Alike::Greater),
            _ => None,
        })
    }

    /// The number of an answer.
    pub(crate) fn value(self, answer: Answer) -> f64 {
        match answer {
            Answer::Score { score, similarity } => match self {
                Quantity::Similarity => similarity.unwrap_or(score),
                Quantity::Score(_) | Quantity::Within => score,
            },
            Answer::Within(within) => f64::from(u8::from(within)),
        }
    }

    /// Which numbers are more alike.
    pub(crate) fn alike(self) -> Option<Alike> {
        match self {
            Quantity::Similarity | Quantity::Within => Some(Alike::Greater),
            Quantity::Score(alike) => alike,
        }
    }

    /// Its name, for headings.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Quantity::Similarity => "similarity",
            Quantity::Score(_) => "score",
            Quantity::Within => "within the threshold",
        }
    }
}

/// A matrix of numbers with ids at its sides.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    pub(crate) a: Vec<String>,
    pub(crate) b: Vec<String>,
    /// Row by row; not a number where there is no pair.
    values: Vec<f64>,
    /// The scores, where similarities are drawn and the scores are other numbers.
    scores: Option<Vec<f64>>,
    /// Cells that are the mean of several pairs.
    pub(crate) averaged: usize,
    pub(crate) missing: usize,
}

/// One pair on its way into a matrix: labels, and the numbers.
pub(crate) struct Cell<'a> {
    pub(crate) a: &'a str,
    pub(crate) b: &'a str,
    pub(crate) value: f64,
    pub(crate) score: f64,
}

impl Matrix {
    /// The matrix of these pairs; pairs that come again are averaged. `None` where it would have too many lines or cells.
    pub(crate) fn new<'a>(cells: impl Iterator<Item = Cell<'a>> + Clone) -> Option<Self> {
        let (mut a, mut b) = (Labels::default(), Labels::default());
        for cell in cells.clone() {
            a.number(cell.a);
            b.number(cell.b);
        }
        let size = a.names.len().checked_mul(b.names.len())?;
        if size > MAX_CELLS || a.names.len().max(b.names.len()) > MAX_LINES {
            return None;
        }
        let mut counts = vec![0_u32; size];
        let (mut values, mut scores) = (vec![0.0; size], vec![0.0; size]);
        for cell in cells {
            let index = a.number(cell.a) * b.names.len() + b.number(cell.b);
            counts[index] += 1;
            values[index] += cell.value;
            scores[index] += cell.score;
        }
        for (index, &count) in counts.iter().enumerate() {
            // No pair gives 0/0, which is not a number.
            values[index] /= f64::from(count);
            scores[index] /= f64::from(count);
        }
        let same = |(value, score): (&f64, &f64)| value == score || value.is_nan();
        let scores_differ = !values.iter().zip(&scores).all(same);
        Some(Self {
            averaged: counts.iter().filter(|&&count| count > 1).count(),
            missing: counts.iter().filter(|&&count| count == 0).count(),
            a: a.names.into_iter().map(str::to_string).collect(),
            b: b.names.into_iter().map(str::to_string).collect(),
            values,
            scores: scores_differ.then_some(scores),
        })
    }

    pub(crate) fn rows(&self) -> usize {
        self.a.len()
    }

    pub(crate) fn columns(&self) -> usize {
        self.b.len()
    }

    /// The number of a pair; `None` where the two were not compared.
    pub(crate) fn get(&self, row: usize, column: usize) -> Option<f64> {
        let value = self.values[row * self.columns() + column];
        (!value.is_nan()).then_some(value)
    }

    /// A whole row; not a number where there is no pair.
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns()..(row + 1) * self.columns()]
    }

    /// The score behind a similarity, where the two differ anywhere.
    pub(crate) fn score(&self, row: usize, column: usize) -> Option<f64> {
        let score = *self.scores.as_ref()?.get(row * self.columns() + column)?;
        (!score.is_nan()).then_some(score)
    }

    pub(crate) fn has_scores(&self) -> bool {
        self.scores.is_some()
    }

    /// All numbers that there are.
    pub(crate) fn known(&self) -> impl Iterator<Item = f64> + Clone {
        self.values.iter().copied().filter(|value| !value.is_nan())
    }

    /// The smallest and the greatest number.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        range(self.known())
    }

    /// The other way round.
    pub(crate) fn transposed(&self) -> Self {
        let (rows, columns) = (self.rows(), self.columns());
        let turn = |values: &[f64]| -> Vec<f64> {
            (0..rows * columns)
                .map(|index| values[index % rows * columns + index / rows])
                .collect()
        };
        Self {
            a: self.b.clone(),
            b: self.a.clone(),
            values: turn(&self.values),
            scores: self.scores.as_deref().map(turn),
            ..*self
        }
    }

    /// The matrix as one of dissimilarities of the ids of one cohort, in the order of `a`, or why it is none.
    pub(crate) fn within_one_cohort(&self, quantity: Quantity) -> Result<Square, NotSquare> {
        if quantity == Quantity::Within {
            return Err(NotSquare::Bits);
        }
        let sides = [&self.a, &self.b].map(|ids| ids.iter().collect::<BTreeSet<_>>());
        if sides[0] != sides[1] {
            return Err(NotSquare::DifferentIds);
        }
        if self.missing > 0 {
            return Err(NotSquare::Missing);
        }
        let alike = quantity.alike().ok_or(NotSquare::UnknownDirection)?;
        let (least, greatest) = self.range().ok_or(NotSquare::Missing)?;
        // A similarity has its own greatest value; a score has the greatest that there is.
        let top = match quantity {
            Quantity::Similarity => 1.0,
            _ => greatest,
        };
        let far = |value: f64| match alike {
            Alike::Smaller => value,
            Alike::Greater => top - value,
        };
        let places: HashMap<&str, usize> = self.b.iter().map(String::as_str).zip(0..).collect();
        let size = self.rows();
        let mut far_apart = Vec::with_capacity(size * size);
        for row in 0..size {
            for id in &self.a {
                let column = places.get(id.as_str()).copied().unwrap_or_default();
                far_apart.push(far(self.values[row * size + column]));
            }
        }
        let slack = TOLERANCE * least.abs().max(greatest.abs()).max(1.0);
        for row in 0..size {
            let own = far_apart[row * size + row];
            for column in 0..size {
                let there = far_apart[row * size + column];
                let back = far_apart[column * size + row];
                if (there - back).abs() > slack || own > there + slack {
                    return Err(NotSquare::NotSymmetric);
                }
            }
        }
        for place in 0..size {
            far_apart[place * size + place] = 0.0;
        }
        Ok(Square { size, far_apart })
    }
}

/// Dissimilarities of the members of one cohort: symmetric, none negative, 0 on the diagonal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Square {
    pub(crate) size: usize,
    far_apart: Vec<f64>,
}

impl Square {
    /// From the distance of every two, which is asked for once each.
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

/// Why a matrix does not tell how far the members of one cohort are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotSquare {
    DifferentIds,
    Missing,
    Bits,
    UnknownDirection,
    /// The same ids on both sides, but a pair and its reverse differ, or somebody is not most like themselves.
    NotSymmetric,
}

pub(crate) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((least, greatest)) => Some((value.min(least), value.max(greatest))),
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
