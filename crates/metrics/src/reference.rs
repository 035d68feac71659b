//! The textbook recurrences, cell by cell.
//!
//! They are slow and easy to read. Tests compare the fast kernels with them and the benchmark measures both; nothing
//! else should call them. Letters must belong to the model's alphabet.

use crate::{Distance, GlobalModel, Grid, LocalModel, RecurrenceModel, RecurrentPoints, Scanpath};

/// The least cost of a global alignment.
#[allow(clippy::cast_possible_wrap)] // lengths are at most `MAX_LENGTH`
pub fn least_cost(model: &GlobalModel, a: &Scanpath, b: &Scanpath) -> i64 {
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

/// The greatest score of a local alignment (Smith–Waterman).
pub fn greatest_score(model: &LocalModel, a: &Scanpath, b: &Scanpath) -> i64 {
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

/// The least sum of distances over all walks along both scanpaths, neither of them empty (dynamic time warping).
pub fn least_sum(a: &Scanpath, b: &Scanpath, distance: impl Fn(u16, u16) -> f64) -> f64 {
    walk(a, b, distance, |before, here| before + here)
}

/// The least longest distance of such a walk (discrete Fréchet distance).
pub fn least_longest(a: &Scanpath, b: &Scanpath, distance: impl Fn(u16, u16) -> f64) -> f64 {
    walk(a, b, distance, f64::max)
}

fn walk(
    a: &Scanpath,
    b: &Scanpath,
    distance: impl Fn(u16, u16) -> f64,
    combine: impl Fn(f64, f64) -> f64,
) -> f64 {
    let mut row = vec![f64::INFINITY; b.len() + 1];
    row[0] = 0.0;
    for &x in a.letters() {
        let (mut diagonal, mut left) = (row[0], f64::INFINITY);
        row[0] = f64::INFINITY;
        for (slot, &y) in row[1..].iter_mut().zip(b.letters()) {
            let best = combine(diagonal.min(*slot).min(left), distance(x, y));
            diagonal = *slot;
            *slot = best;
            left = best;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// The largest distance of a letter to the nearest letter of the other scanpath, neither of them empty (Hausdorff distance).
pub fn hausdorff(a: &Scanpath, b: &Scanpath, distance: impl Fn(u16, u16) -> f64) -> f64 {
    let directed = |from: &Scanpath, to: &Scanpath| {
        let nearest = from.letters().iter().map(|&x| {
            let distances = to.letters().iter().map(|&y| distance(x, y));
            distances.fold(f64::INFINITY, f64::min)
        });
        nearest.fold(0.0, f64::max)
    };
    directed(a, b).max(directed(b, a))
}

/// What is counted in a matrix of recurrence, run by run.
#[allow(clippy::cast_possible_wrap)] // lengths are at most `MAX_LENGTH`
pub fn recurrent_points(model: &RecurrenceModel, a: &Scanpath, b: &Scanpath) -> RecurrentPoints {
    let (m, n) = (a.len(), b.len());
    let recurs = |i: usize, j: usize| model.letters.recur(a.letters()[i], b.letters()[j]);
    let on_lines = |places: Vec<(usize, usize)>| -> u64 {
        let runs = places.chunk_by(|x, y| recurs(x.0, x.1) == recurs(y.0, y.1));
        let lines =
            runs.filter(|run| recurs(run[0].0, run[0].1) && run.len() >= model.line as usize);
        lines.map(|run| run.len() as u64).sum()
    };
    let row = |i: usize| (0..n).map(|j| (i, j)).collect();
    let column = |j: usize| (0..m).map(|i| (i, j)).collect();
    let starts = (0..m).map(|i| (i, 0)).chain((1..n).map(|j| (0, j)));
    let diagonal = |(i, j)| (i..m).zip(j..n).collect();
    let all = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
    let all: Vec<(usize, usize)> = all.filter(|&(i, j)| recurs(i, j)).collect();
    RecurrentPoints {
        all: all.len() as u64,
        diagonal: starts.map(|start| on_lines(diagonal(start))).sum(),
        rows: (0..m).map(|i| on_lines(row(i))).sum(),
        columns: (0..n).map(|j| on_lines(column(j))).sum(),
        shift: all.iter().map(|&(i, j)| j as i64 - i as i64).sum(),
    }
}
