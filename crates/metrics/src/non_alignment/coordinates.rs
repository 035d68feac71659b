//! Metrics on points in the plane, in double precision.
//!
//! The matrix of a pair is swept along anti-diagonals. The cells of an anti-diagonal do not depend on each other, so
//! the compiler uses vector instructions.

use crate::Fixation;
use crate::kernel::number::Number;

/// The points of a scanpath, coordinate by coordinate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plane {
    x: Vec<f64>,
    y: Vec<f64>,
    /// The same in reverse: the order in which an anti-diagonal visits the second side.
    reversed_x: Vec<f64>,
    reversed_y: Vec<f64>,
}

impl Plane {
    /// Points from their coordinates.
    pub(super) fn of(points: impl Iterator<Item = [f64; 2]>) -> Self {
        let (x, y): (Vec<f64>, Vec<f64>) = points.map(|[x, y]| (x, y)).unzip();
        let reversed = |numbers: &[f64]| numbers.iter().rev().copied().collect();
        Self {
            reversed_x: reversed(&x),
            reversed_y: reversed(&y),
            x,
            y,
        }
    }

    pub(crate) fn new(fixations: &[Fixation]) -> Self {
        Self::of(fixations.iter().map(|fixation| [fixation.x, fixation.y]))
    }

    pub(super) fn len(&self) -> usize {
        self.x.len()
    }

    pub(super) fn point(&self, at: usize) -> [f64; 2] {
        [self.x[at], self.y[at]]
    }
}

#[inline(always)]
pub(super) fn squared([x, y]: [f64; 2], [other_x, other_y]: [f64; 2]) -> f64 {
    let (across, down) = (x - other_x, y - other_y);
    across * across + down * down
}

/// The minimum sum of distances (dynamic time warping). Neither side may be empty.
pub(crate) fn warping_distance(a: &Plane, b: &Plane) -> f64 {
    walk(a, b, |before: f64, squared: f64| before + squared.sqrt())
}

/// The smallest maximum distance (discrete Fréchet distance). Neither side may be empty.
pub(crate) fn frechet_distance(a: &Plane, b: &Plane) -> f64 {
    let longest = |before: f64, squared: f64| if before > squared { before } else { squared };
    walk(a, b, longest).sqrt()
}

/// The value of the best walk over all pairs of points.
fn walk(a: &Plane, b: &Plane, combine: impl Fn(f64, f64) -> f64) -> f64 {
    let (m, n) = (a.len(), b.len());
    let mut diagonals = Diagonals::new(m, 0.0);
    for diagonal in 0..m + n - 1 {
        diagonals.step(a, b, diagonal, 0, m - 1, &combine);
    }
    diagonals.before[m]
}

/// The values of an anti-diagonal and of the two before it, by row from 1. Row 0 is outside the matrix.
pub(super) struct Diagonals {
    two_before: Vec<f64>,
    before: Vec<f64>,
    now: Vec<f64>,
}

impl Diagonals {
    /// Starts before the first cell of a matrix with `rows` rows, with the value there.
    pub(super) fn new(rows: usize, before_all: f64) -> Self {
        let outside = || vec![f64::INFINITY; rows + 1];
        let mut two_before = outside();
        two_before[0] = before_all;
        Self {
            two_before,
            before: outside(),
            now: outside(),
        }
    }

    /// Resumes after two anti-diagonals, each given by its first row and its values.
    pub(super) fn resumed(
        rows: usize,
        two_before: &(usize, Vec<f64>),
        before: &(usize, Vec<f64>),
    ) -> Self {
        let mut diagonals = Self::new(rows, f64::INFINITY);
        let load = |room: &mut [f64], (first, values): &(usize, Vec<f64>)| {
            room[first + 1..][..values.len()].copy_from_slice(values);
        };
        load(&mut diagonals.two_before, two_before);
        load(&mut diagonals.before, before);
        diagonals
    }

    /// Computes the next anti-diagonal in the rows from `lowest` to `highest`, at least one of which it must cross.
    /// Returns its first row and its values.
    #[inline(always)]
    pub(super) fn step(
        &mut self,
        a: &Plane,
        b: &Plane,
        diagonal: usize,
        lowest: usize,
        highest: usize,
        combine: impl Fn(f64, f64) -> f64,
    ) -> (usize, &[f64]) {
        let n = b.len();
        let first = (diagonal + 1).saturating_sub(n).max(lowest);
        let last = diagonal.min(highest);
        let count = last - first + 1;
        // Column j = diagonal − i is at index n − 1 − j of the reversed points.
        let reversed_first = n - 1 + first - diagonal;
        let (x, y) = (&a.x[first..][..count], &a.y[first..][..count]);
        let other_x = &b.reversed_x[reversed_first..][..count];
        let other_y = &b.reversed_y[reversed_first..][..count];
        let above = &self.before[first..][..count];
        let left = &self.before[first + 1..][..count];
        let corner = &self.two_before[first..][..count];
        let slots = &mut self.now[first + 1..][..count];
        for at in 0..count {
            let best = above[at].smaller(left[at]).smaller(corner[at]);
            let square = squared([x[at], y[at]], [other_x[at], other_y[at]]);
            slots[at] = combine(best, square);
        }
        // Cells beyond the ends of this anti-diagonal are outside the matrix.
        self.now[first] = f64::INFINITY;
        if let Some(beyond) = self.now.get_mut(last + 2) {
            *beyond = f64::INFINITY;
        }
        std::mem::swap(&mut self.two_before, &mut self.before);
        std::mem::swap(&mut self.before, &mut self.now);
        (first, &self.before[first + 1..][..count])
    }
}

/// The largest distance from a point to the nearest point of the other side (Hausdorff distance). Neither side may be
/// empty.
pub(crate) fn hausdorff(a: &Plane, b: &Plane) -> f64 {
    farthest(b, a, farthest(a, b, 0.0)).sqrt()
}

/// Points to compare before deciding whether to continue: a few vector registers.
const BLOCK: usize = 16;

/// The square of the largest distance from a point to its nearest point on the other side, or `minimum` if that is
/// larger. Once a point has a neighbour no farther away than the largest distance so far, it cannot change the result.
/// A few blocks are usually enough to show this.
fn farthest(from: &Plane, to: &Plane, minimum: f64) -> f64 {
    let (xs, rest_x) = to.x.as_chunks::<BLOCK>();
    let (ys, rest_y) = to.y.as_chunks::<BLOCK>();
    let mut largest = minimum;
    for (&x, &y) in from.x.iter().zip(&from.y) {
        let rest = rest_x.iter().zip(rest_y);
        let mut nearest = rest.fold(f64::INFINITY, |nearest, (&other_x, &other_y)| {
            squared([x, y], [other_x, other_y]).smaller(nearest)
        });
        for (xs, ys) in xs.iter().zip(ys) {
            if nearest <= largest {
                break;
            }
            nearest = nearest_in_block([x, y], xs, ys).smaller(nearest);
        }
        largest = largest.max(nearest);
    }
    largest
}

/// The square of the distance to the nearest point of a block.
#[inline(always)]
fn nearest_in_block([x, y]: [f64; 2], xs: &[f64; BLOCK], ys: &[f64; BLOCK]) -> f64 {
    let mut squares = [0.0; BLOCK];
    for at in 0..BLOCK {
        squares[at] = squared([x, y], [xs[at], ys[at]]);
    }
    // Halving vectorises, unlike a running minimum.
    let mut half = BLOCK / 2;
    while half > 0 {
        for at in 0..half {
            squares[at] = squares[at + half].smaller(squares[at]);
        }
        half /= 2;
    }
    squares[0]
}

/// For each point of `a`, a bit mask of the points of `b` that are at most `radius` away, 64 to a word.
pub(crate) fn recurrence(a: &Plane, b: &Plane, radius: f64) -> Vec<Vec<u64>> {
    let row = |(x, y): (&f64, &f64)| {
        let mut words = vec![0u64; b.len().div_ceil(64)];
        for (word, (xs, ys)) in words.iter_mut().zip(b.x.chunks(64).zip(b.y.chunks(64))) {
            for (bit, (other_x, other_y)) in xs.iter().zip(ys).enumerate() {
                // Compare roots, not squares, so that a distance of exactly 60 is within a radius of 60.
                let within = squared([*x, *y], [*other_x, *other_y]).sqrt() <= radius;
                *word |= u64::from(within) << bit;
            }
        }
        words
    };
    a.x.iter().zip(&a.y).map(row).collect()
}
