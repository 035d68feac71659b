//! The path with the minimum sum through the matrix of distances (MultiMatch).
//!
//! A large matrix is not stored in memory. Instead, two adjacent anti-diagonals are stored at regular intervals, and
//! the part that a path can reach between them is recomputed. So memory grows more slowly than the matrix.

use super::coordinates::{Diagonals, Plane, squared};

/// Matrices with at most this many cells are stored whole: half a megabyte.
const SMALL: usize = 1 << 16;
/// The fewest anti-diagonals between two stored pairs.
const MIN_SPAN: usize = 32;

/// The pairs of points on the path with the minimum sum of distances, from last to first. Neither side may be empty.
/// The first pair costs nothing. Ties are broken from the end of the path: diagonal before up before left.
pub(super) fn shortest_path(a: &Plane, b: &Plane) -> Vec<(usize, usize)> {
    let (m, n) = (a.len(), b.len());
    let last = m + n - 2;
    if m.saturating_mul(n) <= SMALL {
        return path(a, b, last + 1);
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss
    )] // far below 2⁵³
    let span = (libm::cbrt(m as f64 * n as f64) / 2.0) as usize;
    path(a, b, span.max(MIN_SPAN))
}

/// As [`shortest_path`], with two anti-diagonals stored every `span`.
fn path(a: &Plane, b: &Plane, span: usize) -> Vec<(usize, usize)> {
    let (m, n) = (a.len(), b.len());
    let last = m + n - 2;
    let mut now = (m - 1, n - 1);
    let mut path = Vec::with_capacity(m + n);
    path.push(now);
    let mut sums = Sums::with_capacity(0, if span > last { m * n } else { 0 });
    let mut diagonals = start(a, b);
    let mut stored = Vec::with_capacity(2 * (last / span));
    for diagonal in 0..=last {
        let (first_row, values) = diagonals.step(a, b, diagonal, 0, m - 1, sum);
        if span > last {
            sums.push(first_row, values);
        } else if (diagonal + 2) % span < 2 && diagonal + 2 >= span {
            stored.push((first_row, values.to_vec()));
        }
    }
    if span > last {
        sums.trace(&mut now, &mut path);
        return path;
    }
    for block in (0..=last / span).rev() {
        let begin = block * span;
        let (row, end) = (now.0, now.0 + now.1);
        if end < begin {
            continue;
        }
        // On an earlier anti-diagonal, any path to this cell is in one of these rows.
        let lowest = |diagonal: usize| row.saturating_sub(end - diagonal);
        let mut sums = Sums::with_capacity(begin.saturating_sub(2), 0);
        let mut diagonals = match block.checked_sub(1) {
            None => start(a, b),
            Some(before) => {
                let [two_before, one_before] = [&stored[2 * before], &stored[2 * before + 1]];
                for (diagonal, (first, values)) in
                    [(begin - 2, two_before), (begin - 1, one_before)]
                {
                    let from = lowest(diagonal).max(*first);
                    let until = (row + 1).min(first + values.len()).max(from);
                    sums.push(from, &values[from - first..until - first]);
                }
                Diagonals::resumed(m, two_before, one_before)
            }
        };
        for diagonal in begin..=end {
            let (first, values) = diagonals.step(a, b, diagonal, lowest(diagonal), row, sum);
            sums.push(first, values);
        }
        sums.until = begin;
        sums.trace(&mut now, &mut path);
    }
    path
}

fn sum(before: f64, squared: f64) -> f64 {
    before + squared.sqrt()
}

fn start(a: &Plane, b: &Plane) -> Diagonals {
    Diagonals::new(a.len(), -squared(a.point(0), b.point(0)).sqrt())
}

/// The minimum sums for part of the matrix.
struct Sums {
    /// The first stored anti-diagonal.
    begin: usize,
    /// Tracing stops before this anti-diagonal.
    until: usize,
    sums: Vec<f64>,
    /// The start of each anti-diagonal in the list of sums, and the row of its first pair.
    diagonals: Vec<(usize, usize)>,
}

impl Sums {
    fn with_capacity(begin: usize, capacity: usize) -> Self {
        Self {
            begin,
            until: 0,
            sums: Vec::with_capacity(capacity),
            diagonals: Vec::new(),
        }
    }

    fn push(&mut self, first_row: usize, values: &[f64]) {
        self.diagonals.push((self.sums.len(), first_row));
        self.sums.extend_from_slice(values);
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        let (begin, row) = self.diagonals[i + j - self.begin];
        self.sums[begin + i - row]
    }

    /// Follows the path backwards from a pair.
    fn trace(&self, now: &mut (usize, usize), path: &mut Vec<(usize, usize)>) {
        while *now != (0, 0) && now.0 + now.1 >= self.until {
            *now = match *now {
                (0, j) => (0, j - 1),
                (i, 0) => (i - 1, 0),
                (i, j) => {
                    let (above, left) = (self.at(i - 1, j), self.at(i, j - 1));
                    let corner = self.at(i - 1, j - 1);
                    if corner <= above && corner <= left {
                        (i - 1, j - 1)
                    } else if above <= left {
                        (i - 1, j)
                    } else {
                        (i, j - 1)
                    }
                }
            };
            path.push(*now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points on a coarse lattice, so that many sums are equal.
    fn plane(length: usize, seed: usize) -> Plane {
        let coordinate = |at: usize| ((at * 7 + seed) * (at + seed * 13) % 11) as f64;
        Plane::of((0..length).map(|at| [coordinate(at), coordinate(at + 31)]))
    }

    #[test]
    fn the_path_does_not_depend_on_what_is_kept() {
        for (m, n) in [(1, 1), (1, 9), (9, 1), (2, 2), (17, 40), (40, 17), (33, 33)] {
            for seed in 0..20 {
                let (a, b) = (plane(m, seed), plane(n, seed + 5));
                let whole = path(&a, &b, m + n);
                for span in [2, 3, 5, 8, 31, 32, m + n - 1] {
                    assert_eq!(path(&a, &b, span), whole, "{m} {n} {seed} {span}");
                }
            }
        }
    }
}
