//! The best score of a local alignment (Smith–Waterman).

use super::Row;
use super::number::{FLOAT_LIMIT, Number};
use super::profile::{GROUP, Profile};
use super::sweep::{SweepStep, Sweeper, active, lanes, window};
use super::values::{Values, common_divisor};
use crate::LocalModel;

/// A prepared local model. Scores and gap are divided by their common divisor.
pub(crate) struct LocalKernel {
    gap: i64,
    divisor: i64,
    largest: i64,
    scores: Values<i32>,
}

impl LocalKernel {
    #[allow(clippy::cast_possible_wrap)] // the divisor of numbers up to 2³⁰ is at most 2³⁰
    pub(crate) fn new(model: &LocalModel, letters: u32) -> Self {
        let scores = Values::of_scores(&model.scores).squared(letters);
        let (mut divisor, mut largest) = (model.gap, 0);
        scores.visit(|score| {
            largest = largest.max(score);
            if divisor != 1 {
                divisor = common_divisor(divisor, score.unsigned_abs());
            }
        });
        let divisor = divisor.max(1) as i32;
        Self {
            gap: i64::from(model.gap) / i64::from(divisor),
            divisor: i64::from(divisor),
            largest: i64::from(largest / divisor),
            scores: scores.map(|score| score / divisor),
        }
    }

    /// The best scores of the shared scanpath with each of the others.
    #[allow(clippy::cast_possible_wrap)] // lengths are at most `MAX_LENGTH`
    pub(crate) fn row(&self, row: Row<'_>, mut finished: impl FnMut(usize, i64)) {
        let longest = row.others.iter().map(|other| other.len()).max();
        // No alignment scores more than this. Larger penalties are clipped to it: either way, such a penalty cancels
        // any alignment that meets it.
        let bound = self.largest * row.shared.len().min(longest.unwrap_or(0)) as i64;
        let finish = |index: usize, score: i64| finished(index, score * self.divisor);
        if bound <= i64::from(i16::MAX) {
            self.narrowed::<i16>(row, bound, finish);
        } else if bound <= FLOAT_LIMIT {
            self.narrowed::<f32>(row, bound, finish);
        } else if bound <= i64::from(i32::MAX) {
            self.narrowed::<i32>(row, bound, finish);
        } else {
            self.narrowed::<i64>(row, bound, finish);
        }
    }

    fn narrowed<T: Number>(&self, row: Row<'_>, bound: i64, mut finish: impl FnMut(usize, i64)) {
        let narrow = |value: i64| T::of(value.clamp(-bound, bound));
        let profile = Profile::new(row, |a, b| narrow(i64::from(self.scores.get(a, b))).bits());
        let groups = profile.layout().lanes / GROUP;
        let mut sweeper = Sweeper::new();
        for (index, &other) in row.others.iter().enumerate() {
            if bound == 0 || other.is_empty() {
                (row.progress)(row.cells(index));
                finish(index, 0);
                continue;
            }
            let mut scores = LocalScores {
                length: other.len(),
                gap: narrow(self.gap),
                left: vec![[T::default(); GROUP]; groups],
                diagonal: vec![[T::default(); GROUP]; groups],
                greatest: vec![[T::default(); GROUP]; groups],
                above: vec![T::default(); other.len() + 2 * GROUP],
            };
            sweeper.sweep(&profile, other, &mut scores, row.progress);
            let greatest = scores.greatest.as_flattened().iter();
            finish(
                index,
                greatest.map(|score| score.integer()).max().unwrap_or(0),
            );
        }
    }
}

/// The state of a sweep. By lane: the scores to the left and diagonally above, and the best so far. By column,
/// reversed: the scores above.
struct LocalScores<T> {
    length: usize,
    gap: T,
    left: Vec<[T; GROUP]>,
    diagonal: Vec<[T; GROUP]>,
    greatest: Vec<[T; GROUP]>,
    above: Vec<T>,
}

/// Positions before a scanpath score zero. Positions after its end score no more than some position inside.
impl<T: Number> SweepStep<T::Bits> for LocalScores<T> {
    fn begin(&mut self, _first_row: usize) {
        self.left.fill([T::default(); GROUP]);
        self.diagonal.fill([T::default(); GROUP]);
    }

    #[inline]
    fn step(&mut self, step: usize, values: &[[T::Bits; GROUP]]) {
        let gap = self.gap;
        let active = active(step, self.length, values.len());
        let start = window(step, self.length, active.start * GROUP);
        let columns = self.above[start..].as_chunks_mut::<GROUP>().0;
        for ((((left, diagonal), greatest), above), scores) in self.left[active.clone()]
            .iter_mut()
            .zip(&mut self.diagonal[active.clone()])
            .zip(&mut self.greatest[active.clone()])
            .zip(columns)
            .zip(&values[active])
        {
            // Read everything before writing anything; otherwise the compiler does not vectorise.
            let (before, up, corner, record) = (*left, *above, *diagonal, *greatest);
            let best = lanes(|lane| {
                let gapped = before[lane].larger(up[lane]).minus(gap);
                let paired = corner[lane].plus(T::from_bits(scores[lane]));
                gapped.larger(paired).larger(T::default())
            });
            *diagonal = up;
            *left = best;
            *above = best;
            *greatest = lanes(|lane| record[lane].larger(best[lane]));
        }
    }
}
