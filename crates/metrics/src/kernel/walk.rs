//! Walks along both scanpaths at once: the minimum sum of distances (dynamic time warping), and the smallest maximum
//! distance (discrete Fréchet distance).

use super::Row;
use super::number::{FLOAT_LIMIT, Number};
use super::profile::{GROUP, Profile};
use super::sweep::{SweepStep, Sweeper, window};
use crate::{RankModel, WarpingModel};

/// Dynamic time warping in integers, prepared for an alphabet.
pub(crate) struct WarpingKernel {
    model: WarpingModel,
    largest: i64,
}

impl WarpingKernel {
    pub(crate) fn new(model: &WarpingModel, letters: u32) -> Self {
        Self {
            model: model.clone(),
            largest: model.largest(letters).into(),
        }
    }

    /// The minimum sums of the shared scanpath with each of the others. None of them may be empty.
    #[allow(clippy::cast_possible_wrap)] // lengths are at most `MAX_LENGTH`
    pub(crate) fn row(&self, row: Row<'_>, mut finished: impl FnMut(usize, i64)) {
        let longest = row.others.iter().map(|other| other.len()).max();
        let steps = (row.shared.len() + longest.unwrap_or(0)) as i64;
        let distance = |a, b| i64::from(self.model.distance(a, b));
        if self.largest * steps <= FLOAT_LIMIT {
            walk::<f32, Sum>(
                row,
                |a, b| f32::of(distance(a, b)),
                |index, sum| {
                    finished(index, sum.integer());
                },
            );
        } else if self.largest * steps <= 1 << f64::MANTISSA_DIGITS {
            walk::<f64, Sum>(
                row,
                |a, b| f64::of(distance(a, b)),
                |index, sum| {
                    finished(index, sum.integer());
                },
            );
        } else {
            walk::<i64, Sum>(row, distance, finished);
        }
    }

    /// The minimum sums in double precision, in the unit of distances.
    pub(crate) fn exact_row(&self, row: Row<'_>, finished: impl FnMut(usize, f64)) {
        let distance = |a, b| self.model.lattice.distance(a, b);
        walk::<f64, Sum>(row, distance, finished);
    }
}

/// The ranks of the smallest maximum distances of the shared scanpath with each of the others. None of them may be
/// empty.
pub(crate) fn bottlenecks(model: &RankModel, row: Row<'_>, mut finished: impl FnMut(usize, i64)) {
    let rank = |a, b| i64::from(model.ranks.rank(a, b));
    match model.ranks.largest() {
        0..=0xfe => walk::<u8, Longest>(
            row,
            |a, b| u8::of(rank(a, b)),
            |index, longest| {
                finished(index, longest.integer());
            },
        ),
        0xff..=0x7ffe => walk::<i16, Longest>(
            row,
            |a, b| i16::of(rank(a, b)),
            |index, longest| {
                finished(index, longest.integer());
            },
        ),
        _ => walk::<f32, Longest>(
            row,
            |a, b| f32::of(rank(a, b)),
            |index, longest| {
                finished(index, longest.integer());
            },
        ),
    }
}

/// How the distance at a cell combines with the best path to it.
trait Combine<T> {
    fn combine(before: T, here: T) -> T;
}

/// Adds the distances.
struct Sum;

/// Keeps the larger distance.
struct Longest;

impl<T: Number> Combine<T> for Sum {
    /// Saturates. The largest integer, which occurs only outside the matrix, stays the largest.
    #[inline(always)]
    fn combine(before: T, here: T) -> T {
        before.plus(here)
    }
}

impl<T: Number> Combine<T> for Longest {
    #[inline(always)]
    fn combine(before: T, here: T) -> T {
        before.larger(here)
    }
}

fn walk<T: Number, C: Combine<T>>(
    row: Row<'_>,
    distance: impl Fn(u16, u16) -> T,
    mut finished: impl FnMut(usize, T),
) {
    let profile = Profile::new(row, |a, b| distance(a, b).bits());
    let layout = profile.layout();
    let mut sweeper = Sweeper::new();
    for (index, &other) in row.others.iter().enumerate() {
        if row.shared.is_empty() || other.is_empty() {
            finished(index, T::default());
            continue;
        }
        let mut best = SweepState::<T, C> {
            length: other.len(),
            padding: layout.padding,
            blank: 0,
            left: vec![T::LARGEST; layout.lanes],
            diagonal: vec![T::LARGEST; layout.lanes],
            above: vec![T::LARGEST; other.len() + 2 * GROUP],
            combine: std::marker::PhantomData,
        };
        sweeper.sweep(&profile, other, &mut best, row.progress);
        finished(index, best.above[GROUP]);
    }
}

/// The state of a sweep. By lane: the best path to the cell on the left and to the one diagonally above. By column,
/// reversed: the best path to the cell above. Values outside the matrix are the worst possible, except before the first
/// cell of both scanpaths, so lanes outside the matrix must stay unchanged.
struct SweepState<T, C> {
    length: usize,
    padding: usize,
    blank: usize,
    left: Vec<T>,
    diagonal: Vec<T>,
    above: Vec<T>,
    combine: std::marker::PhantomData<C>,
}

impl<T: Number, C: Combine<T>> SweepStep<T::Bits> for SweepState<T, C> {
    fn begin(&mut self, first_row: usize) {
        self.blank = self.padding.saturating_sub(first_row);
        self.left.fill(T::LARGEST);
        self.diagonal.fill(T::LARGEST);
        if first_row <= self.padding
            && let Some(corner) = self.diagonal.get_mut(self.padding - first_row)
        {
            *corner = T::default();
        }
    }

    #[inline]
    fn step(&mut self, step: usize, values: &[[T::Bits; GROUP]]) {
        let first = (step + 1).saturating_sub(self.length).max(self.blank);
        let last = (step + 1).min(self.left.len());
        if first >= last {
            return;
        }
        let start = window(step, self.length, first);
        let here = &values.as_flattened()[first..last];
        for (((left, diagonal), above), here) in self.left[first..last]
            .iter_mut()
            .zip(&mut self.diagonal[first..last])
            .zip(&mut self.above[start..])
            .zip(here)
        {
            let up = *above;
            let before = up.smaller(*left).smaller(*diagonal);
            let best = C::combine(before, T::from_bits(*here));
            *diagonal = up;
            *left = best;
            *above = best;
        }
    }
}
