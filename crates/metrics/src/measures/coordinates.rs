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
    pub(crate) fn new(fixations: &[Fixation]) -> Self {
        Self {
            x: fixations.iter().map(|fixation| fixation.x).collect(),
            y: fixations.iter().map(|fixation| fixation.y).collect(),
        }
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
    walk(a, b, |before, squared| before + squared.sqrt())
}

/// The least longest distance (discrete Fréchet distance); neither is empty.
pub(crate) fn least_longest(a: &Plane, b: &Plane) -> f64 {
    walk(
        a,
        b,
        |before, squared| if before > squared { before } else { squared },
    )
    .sqrt()
}

fn walk(a: &Plane, b: &Plane, combine: impl Fn(f64, f64) -> f64) -> f64 {
    let (m, n) = (a.len(), b.len());
    let b = b.reversed();
    // By row from 1, of the anti-diagonals two before, one before, and now. Row 0 is outside the table.
    let mut two_before = vec![f64::INFINITY; m + 1];
    let mut before = vec![f64::INFINITY; m + 1];
    let mut now = vec![f64::INFINITY; m + 1];
    // Before the first place of both.
    two_before[0] = 0.0;
    for diagonal in 0..m + n - 1 {
        let (first, last) = (diagonal.saturating_sub(n - 1), diagonal.min(m - 1));
        let count = last - first + 1;
        // Column j = diagonal − i is at place n − 1 − j of the reversed points.
        let place = n - 1 + first - diagonal;
        let points = a.x[first..][..count].iter().zip(&a.y[first..][..count]);
        let others = b.x[place..][..count].iter().zip(&b.y[place..][..count]);
        let above = before[first..][..count].iter();
        let left = before[first + 1..][..count].iter();
        let corner = two_before[first..][..count].iter();
        let slots = now[first + 1..][..count].iter_mut();
        for (((((slot, point), other), above), left), corner) in slots
            .zip(points)
            .zip(others)
            .zip(above)
            .zip(left)
            .zip(corner)
        {
            let best = if above < left { above } else { left };
            let best = if corner < best { corner } else { best };
            *slot = combine(*best, squared(*point.0, *point.1, *other.0, *other.1));
        }
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

/// The largest distance of a point to the nearest point of the other (Hausdorff distance); neither is empty.
pub(crate) fn hausdorff(a: &Plane, b: &Plane) -> f64 {
    let directed = |from: &Plane, to: &Plane| {
        let nearest = from.x.iter().zip(&from.y).map(|(x, y)| {
            let others = to.x.iter().zip(&to.y);
            let distances = others.map(|(other_x, other_y)| squared(*x, *y, *other_x, *other_y));
            distances.fold(
                f64::INFINITY,
                |nearest, it| if it < nearest { it } else { nearest },
            )
        });
        nearest.fold(0.0, f64::max)
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
