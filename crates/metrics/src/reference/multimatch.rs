//! MultiMatch, step by step.

use crate::{Fixation, Simplification};
use std::f64::consts::PI;

/// A scanpath as saccades, each with the fixation it starts from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saccades {
    /// The horizontal and vertical components of each saccade.
    pub vectors: Vec<[f64; 2]>,
    /// The start of each saccade.
    pub starts: Vec<[f64; 2]>,
    /// The duration of the fixation at each start, and that of the last fixation.
    pub durations: Vec<f64>,
}

impl Saccades {
    /// One saccade between every two consecutive fixations.
    pub fn of(fixations: &[Fixation]) -> Self {
        let pairs = || fixations.windows(2);
        Self {
            vectors: pairs()
                .map(|it| [it[1].x - it[0].x, it[1].y - it[0].y])
                .collect(),
            starts: pairs().map(|it| [it[0].x, it[0].y]).collect(),
            durations: fixations.iter().map(|it| it.duration).collect(),
        }
    }

    /// Merges by direction and by length in turn until nothing changes.
    #[must_use]
    pub fn simplified(mut self, rule: &Simplification) -> Self {
        loop {
            let before = self.vectors.len();
            self = self.pass(|path, at| path.turns_little(at, rule));
            let end_was_short = path_end_is_short(&self, rule);
            self = self.pass(|path, at| path.is_short(at, rule));
            // The last saccade has no successor, so it is merged into the one before.
            let count = self.vectors.len();
            if end_was_short && count > 1 && path_end_is_short(&self, rule) {
                let [x, y] = self.vectors.remove(count - 1);
                self.vectors[count - 2][0] += x;
                self.vectors[count - 2][1] += y;
                self.starts.remove(count - 1);
                self.durations.remove(count - 1);
            }
            if self.vectors.len() == before {
                return self;
            }
        }
    }

    /// Whether a saccade and the next have nearly the same direction, with a short fixation between them.
    pub fn turns_little(&self, at: usize, rule: &Simplification) -> bool {
        let ([x, y], [next_x, next_y]) = (self.vectors[at], self.vectors[at + 1]);
        let (cross, dot) = (x * next_y - y * next_x, x * next_x + y * next_y);
        let angle = libm::atan2(cross.abs(), dot).to_degrees();
        angle < rule.direction && self.durations[at + 1] < rule.duration
    }

    /// Whether a saccade is short, and so is the fixation before or after it.
    pub fn is_short(&self, at: usize, rule: &Simplification) -> bool {
        length(self.vectors[at]) < rule.length
            && (self.durations[at] < rule.duration || self.durations[at + 1] < rule.duration)
    }

    /// Merges each saccade for which `joins` is true with the next, which is then skipped.
    fn pass(&self, joins: impl Fn(&Self, usize) -> bool) -> Self {
        let mut merged = Self::default();
        let mut at = 0;
        while at < self.vectors.len() {
            let [mut x, mut y] = self.vectors[at];
            merged.starts.push(self.starts[at]);
            merged.durations.push(self.durations[at]);
            if at + 1 < self.vectors.len() && joins(self, at) {
                at += 1;
                x += self.vectors[at][0];
                y += self.vectors[at][1];
            }
            merged.vectors.push([x, y]);
            at += 1;
        }
        merged.durations.extend(self.durations.last());
        merged
    }
}

fn path_end_is_short(path: &Saccades, rule: &Simplification) -> bool {
    let last = path.vectors.len().checked_sub(1);
    last.is_some_and(|last| path.is_short(last, rule))
}

fn length([x, y]: [f64; 2]) -> f64 {
    (x * x + y * y).sqrt()
}

fn between(a: [f64; 2], b: [f64; 2]) -> f64 {
    length([a[0] - b[0], a[1] - b[1]])
}

/// Shape, direction, length, position and duration for two scanpaths with at least one saccade each, on a screen with
/// this diagonal. Ties are broken from the end of the path: diagonal before up before left.
pub fn multimatch(a: &Saccades, b: &Saccades, diagonal: f64) -> [Option<f64>; 5] {
    let (m, n) = (a.vectors.len(), b.vectors.len());
    let mut min_sums = vec![vec![f64::INFINITY; n + 1]; m + 1];
    for i in 0..m {
        for j in 0..n {
            let before = min_sums[i][j]
                .min(min_sums[i][j + 1])
                .min(min_sums[i + 1][j]);
            let here = between(a.vectors[i], b.vectors[j]);
            min_sums[i + 1][j + 1] = if i + j == 0 { 0.0 } else { before + here };
        }
    }
    let mut path = vec![(m, n)];
    while let Some(&(i, j)) = path.last()
        && (i, j) != (1, 1)
    {
        let (corner, up, left) = (
            min_sums[i - 1][j - 1],
            min_sums[i - 1][j],
            min_sums[i][j - 1],
        );
        path.push(if corner <= up && corner <= left {
            (i - 1, j - 1)
        } else if up <= left {
            (i - 1, j)
        } else {
            (i, j - 1)
        });
    }
    let similarity = |difference: &dyn Fn(usize, usize) -> Option<f64>| {
        let differences = path.iter().map(|&(i, j)| difference(i - 1, j - 1));
        let mut differences = differences.collect::<Option<Vec<f64>>>()?;
        differences.sort_unstable_by(f64::total_cmp);
        let middle = differences.len() / 2;
        Some(match differences.len() % 2 {
            0 => 1.0 - (differences[middle - 1] + differences[middle]) / 2.0,
            _ => 1.0 - differences[middle],
        })
    };
    let direction = |[x, y]: [f64; 2]| libm::atan2(y, x);
    [
        similarity(&|i, j| Some(between(a.vectors[i], b.vectors[j]) / (2.0 * diagonal))),
        similarity(&|i, j| {
            let angle = (direction(a.vectors[i]) - direction(b.vectors[j])).abs();
            Some(angle.min(2.0 * PI - angle) / PI)
        }),
        similarity(&|i, j| Some((length(a.vectors[i]) - length(b.vectors[j])).abs() / diagonal)),
        similarity(&|i, j| Some(between(a.starts[i], b.starts[j]) / diagonal)),
        similarity(&|i, j| {
            let (x, y) = (a.durations[i], b.durations[j]);
            let longer = x.max(y);
            (longer > 0.0).then(|| (x - y).abs() / longer)
        }),
    ]
}
