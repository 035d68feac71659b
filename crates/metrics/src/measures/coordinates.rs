//! Measures of points in the plane, in double precision.
//!
//! The table of a pair is swept along anti-diagonals, in which no place depends on another, so that the compiler uses vector
//! instructions.

use crate::Fixation;

/// The points of a scanpath, coordinate by coordinate.
#[derive(Default)]
pub(crate) struct Plane {
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Plane {
    /// Points from their coordinates.
    pub(super) fn of(points: impl Iterator<Item = [f64; 2]>) -> Self {
        let (x, y) = points.map(|[x, y]| (x, y)).unzip();
        Self { x, y }
    }

    pub(crate) fn new(fixations: &[Fixation]) -> Self {
        Self::of(fixations.iter().map(|fixation| [fixation.x, fixation.y]))
    }

    fn len(&self) -> usize {
        self.x.len()
    }

    fn reversed(&self) -> Self {
        let reversed = |numbers: &[f64]| numbers.iter().rev().copied().collect();
        Self {
            x: reversed(&self.x),
            y: reversed(&self.y),
        }
    }
}

fn squared(x: f64, y: f64, other_x: f64, other_y: f64) -> f64 {
    let (across, down) = (x - other_x, y - other_y);
    across * across + down * down
}

/// The least sum of distances (dynamic time warping); neither is empty.
pub(crate) fn least_sum(a: &Plane, b: &Plane) -> f64 {
    let sum = |before: f64, squared: f64| before + squared.sqrt();
    walk(a, b, 0.0, sum, |_| ())
}

/// The least longest distance (discrete Fréchet distance); neither is empty.
pub(crate) fn least_longest(a: &Plane, b: &Plane) -> f64 {
    let longest = |before: f64, squared: f64| if before > squared { before } else { squared };
    walk(a, b, 0.0, longest, |_| ()).sqrt()
}

/// The least sums of distances to all pairs of points, where the first pair costs nothing; neither is empty.
pub(super) struct LeastSums {
    sums: Vec<f64>,
    /// Where each anti-diagonal begins, and the row of its first pair.
    diagonals: Vec<(usize, usize)>,
}

impl LeastSums {
    pub(super) fn new(a: &Plane, b: &Plane) -> Self {
        let (m, n) = (a.len(), b.len());
        let mut sums = Vec::with_capacity(m * n);
        let mut diagonals = Vec::with_capacity(m + n - 1);
        let first = squared(a.x[0], a.y[0], b.x[0], b.y[0]).sqrt();
        let sum = |before: f64, squared: f64| before + squared.sqrt();
        walk(a, b, -first, sum, |now: &[f64]| {
            let row = (diagonals.len() + 1).saturating_sub(n);
            diagonals.push((sums.len(), row));
            sums.extend_from_slice(now);
        });
        Self { sums, diagonals }
    }

    /// The least sum to point `i` of the first and `j` of the second.
    pub(super) fn at(&self, i: usize, j: usize) -> f64 {
        let (begin, row) = self.diagonals[i + j];
        self.sums[begin + i - row]
    }
}

/// The value of the best walk over all pairs of points. `before_all` is the value before the first pair; `record` is given
/// each anti-diagonal, from its uppermost pair to its lowest.
fn walk(
    a: &Plane,
    b: &Plane,
    before_all: f64,
    combine: impl Fn(f64, f64) -> f64,
    mut record: impl FnMut(&[f64]),
) -> f64 {
    let (m, n) = (a.len(), b.len());
    let b = b.reversed();
    // By row from 1, of the anti-diagonals two before, one before, and now. Row 0 is outside the table.
    let mut two_before = vec![f64::INFINITY; m + 1];
    let mut before = vec![f64::INFINITY; m + 1];
    let mut now = vec![f64::INFINITY; m + 1];
    // Before the first place of both.
    two_before[0] = before_all;
    for diagonal in 0..m + n - 1 {
        let (first, last) = (diagonal.saturating_sub(n - 1), diagonal.min(m - 1));
        let count = last - first + 1;
        // Column j = diagonal − i is at place n − 1 − j of the reversed points.
        let place = n - 1 + first - diagonal;
        let (x, y) = (&a.x[first..][..count], &a.y[first..][..count]);
        let (other_x, other_y) = (&b.x[place..][..count], &b.y[place..][..count]);
        let above = &before[first..][..count];
        let left = &before[first + 1..][..count];
        let corner = &two_before[first..][..count];
        let slots = &mut now[first + 1..][..count];
        for at in 0..count {
            let best = smaller(smaller(above[at], left[at]), corner[at]);
            slots[at] = combine(best, squared(x[at], y[at], other_x[at], other_y[at]));
        }
        record(slots);
        // Places beyond the ends of this anti-diagonal are outside the table.
        now[first] = f64::INFINITY;
        if let Some(beyond) = now.get_mut(last + 2) {
            *beyond = f64::INFINITY;
        }
        std::mem::swap(&mut two_before, &mut before);
        std::mem::swap(&mut before, &mut now);
    }
    before[m]
}

/// The smaller of two numbers that are not NaN: unlike `f64::min` a single instruction.
#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The largest distance of a point to the nearest point of the other (Hausdorff distance); neither is empty.
pub(crate) fn hausdorff(a: &Plane, b: &Plane) -> f64 {
    // For all points of one side at once, which is a minimum per lane.
    let directed = |from: &Plane, to: &Plane| {
        let mut nearest = vec![f64::INFINITY; from.len()];
        for (&other_x, &other_y) in to.x.iter().zip(&to.y) {
            for ((slot, &x), &y) in nearest.iter_mut().zip(&from.x).zip(&from.y) {
                *slot = smaller(squared(x, y, other_x, other_y), *slot);
            }
        }
        nearest.into_iter().fold(0.0, f64::max)
    };
    directed(a, b).max(directed(b, a)).sqrt()
}

/// For each point of `a`, which points of `b` are at most `radius` away; 64 of them in a word.
pub(crate) fn recurrence(a: &Plane, b: &Plane, radius: f64) -> Vec<Vec<u64>> {
    let row = |(x, y): (&f64, &f64)| {
        let mut words = vec![0u64; b.len().div_ceil(64)];
        for (word, (xs, ys)) in words.iter_mut().zip(b.x.chunks(64).zip(b.y.chunks(64))) {
            for (place, (other_x, other_y)) in xs.iter().zip(ys).enumerate() {
                // The root decides, not the square: 60 is within 60.
                let within = squared(*x, *y, *other_x, *other_y).sqrt() <= radius;
                *word |= u64::from(within) << place;
            }
        }
        words
    };
    a.x.iter().zip(&a.y).map(row).collect()
}
