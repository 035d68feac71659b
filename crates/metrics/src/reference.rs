//! The textbook recurrences, cell by cell.
//!
//! They are slow and easy to read. Tests compare the fast kernels with them, and the benchmarks measure both. Nothing
//! else should call them. Letters must belong to the model's alphabet.

pub mod multimatch;
pub mod positions;

use crate::{
    Distance, GlobalModel, Grid, LocalModel, RecurrenceModel, RecurrentLines, RecurrentPoints,
    Scanpath,
};

/// The minimum cost of a global alignment.
#[allow(clippy::cast_possible_wrap)] // lengths are at most `MAX_LENGTH`
pub fn min_cost(model: &GlobalModel, a: &Scanpath, b: &Scanpath) -> i64 {
    let (insert, delete) = (i64::from(model.insert), i64::from(model.delete));
    let mut row: Vec<i64> = (0..=b.len()).map(|j| j as i64 * insert).collect();
    for (i, &x) in a.letters().iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = (i as i64 + 1) * delete;
        let mut left = row[0];
        for (slot, &y) in row[1..].iter_mut().zip(b.letters()) {
            let cost = i64::from(model.costs.cost(x, y));
            let best = (diagonal + cost).min(*slot + delete).min(left + insert);
            diagonal = *slot;
            *slot = best;
            left = best;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// The best score of a local alignment (Smith–Waterman).
pub fn max_score(model: &LocalModel, a: &Scanpath, b: &Scanpath) -> i64 {
    let gap = i64::from(model.gap);
    let mut row = vec![0i64; b.len() + 1];
    let mut greatest = 0;
    for &x in a.letters() {
        let (mut diagonal, mut left) = (0, 0);
        for (slot, &y) in row[1..].iter_mut().zip(b.letters()) {
            let pair = diagonal + i64::from(model.scores.score(x, y));
            let best = pair.max(*slot - gap).max(left - gap).max(0);
            diagonal = *slot;
            *slot = best;
            left = best;
            greatest = greatest.max(best);
        }
    }
    greatest
}

/// ScanMatch's best sum of `T − d` and gaps in double precision, before it is divided by `T · max(m, n)`.
#[allow(clippy::cast_precision_loss)] // lengths are far below 2⁵³
pub fn scanmatch_sum(grid: &Grid, threshold: f64, gap: f64, a: &Scanpath, b: &Scanpath) -> f64 {
    let mut row: Vec<f64> = (0..=b.len()).map(|j| j as f64 * gap).collect();
    for (i, &x) in a.letters().iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = (i + 1) as f64 * gap;
        let mut left = row[0];
        for (slot, &y) in row[1..].iter_mut().zip(b.letters()) {
            let pair = threshold - grid.distance(Distance::Euclidean, x, y);
            let best = (diagonal + pair).max(*slot + gap).max(left + gap);
            diagonal = *slot;
            *slot = best;
            left = best;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// The minimum sum of distances over all walks along both scanpaths (dynamic time warping). Neither may be empty.
pub fn warping_distance(a: &Scanpath, b: &Scanpath, distance: impl Fn(u16, u16) -> f64) -> f64 {
    let distance = by_position(a, b, distance);
    positions::walk(a.len(), b.len(), distance, |before, here| before + here)
}

/// The smallest maximum distance over such walks (discrete Fréchet distance).
pub fn frechet_distance(a: &Scanpath, b: &Scanpath, distance: impl Fn(u16, u16) -> f64) -> f64 {
    positions::walk(a.len(), b.len(), by_position(a, b, distance), f64::max)
}

/// The largest distance from a letter to the nearest letter of the other scanpath (Hausdorff distance). Neither may be
/// empty.
pub fn hausdorff(a: &Scanpath, b: &Scanpath, distance: impl Fn(u16, u16) -> f64) -> f64 {
    positions::hausdorff(a.len(), b.len(), by_position(a, b, distance))
}

/// Counts the points of a recurrence matrix.
pub fn recurrent_points(model: &RecurrenceModel, a: &Scanpath, b: &Scanpath) -> RecurrentPoints {
    recurrence(model, a, b).0
}

/// Counts the points of a recurrence matrix, and finds its lines.
pub fn recurrence(
    model: &RecurrenceModel,
    a: &Scanpath,
    b: &Scanpath,
) -> (RecurrentPoints, RecurrentLines) {
    let recurs = by_position(a, b, |x, y| model.letters.recur(x, y));
    positions::recurrence(a.len(), b.len(), model.line as usize, recurs)
}

fn by_position<T>(
    a: &Scanpath,
    b: &Scanpath,
    of_letters: impl Fn(u16, u16) -> T,
) -> impl Fn(usize, usize) -> T {
    move |i, j| of_letters(a.letters()[i], b.letters()[j])
}
