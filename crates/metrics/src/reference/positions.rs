//! Metrics that need only a function of two positions: `i` in the first scanpath and `j` in the second.

use crate::{RecurrentLines, RecurrentPoints};

/// The least value of a walk over an `m` × `n` matrix in which each step advances one side or both. Neither side may be
/// empty. `combine` takes the value of a walk so far and the distance at the next cell, and returns the new value.
pub fn walk(
    m: usize,
    n: usize,
    distance: impl Fn(usize, usize) -> f64,
    combine: impl Fn(f64, f64) -> f64,
) -> f64 {
    let mut row = vec![f64::INFINITY; n + 1];
    row[0] = 0.0;
    for i in 0..m {
        let (mut diagonal, mut left) = (row[0], f64::INFINITY);
        row[0] = f64::INFINITY;
        for (j, slot) in row[1..].iter_mut().enumerate() {
            let best = combine(diagonal.min(*slot).min(left), distance(i, j));
            diagonal = *slot;
            *slot = best;
            left = best;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// The largest distance from a position to the nearest position of the other side. Neither side may be empty.
pub fn hausdorff(m: usize, n: usize, distance: impl Fn(usize, usize) -> f64) -> f64 {
    let from_first = (0..m).map(|i| {
        let distances = (0..n).map(|j| distance(i, j));
        distances.fold(f64::INFINITY, f64::min)
    });
    let from_second = (0..n).map(|j| {
        let distances = (0..m).map(|i| distance(i, j));
        distances.fold(f64::INFINITY, f64::min)
    });
    from_first.chain(from_second).fold(0.0, f64::max)
}

/// The largest total reward of an alignment with free gaps.
pub fn largest_reward(m: usize, n: usize, reward: impl Fn(usize, usize) -> f64) -> f64 {
    let mut row = vec![0.0f64; n + 1];
    for i in 0..m {
        let (mut diagonal, mut left) = (0.0, 0.0);
        for (j, slot) in row[1..].iter_mut().enumerate() {
            let best = f64::max(diagonal + reward(i, j), slot.max(left));
            diagonal = *slot;
            *slot = best;
            left = best;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// Counts the points of a recurrence matrix run by run, and finds its lines of at least `line` points.
#[allow(clippy::cast_possible_wrap)] // lengths are at most `MAX_LENGTH`
pub fn recurrence(
    m: usize,
    n: usize,
    line: usize,
    recurs: impl Fn(usize, usize) -> bool,
) -> (RecurrentPoints, RecurrentLines) {
    let mut lines = RecurrentLines::default();
    let add = |lengths: &mut crate::LineLengths, cells: Vec<(usize, usize)>| {
        let runs = cells.chunk_by(|x, y| recurs(x.0, x.1) == recurs(y.0, y.1));
        for run in runs.filter(|run| recurs(run[0].0, run[0].1) && run.len() >= line) {
            lengths.add(run.len());
        }
    };
    for i in 0..m {
        add(&mut lines.rows, (0..n).map(|j| (i, j)).collect());
    }
    for j in 0..n {
        add(&mut lines.columns, (0..m).map(|i| (i, j)).collect());
    }
    for (i, j) in (0..m).map(|i| (i, 0)).chain((1..n).map(|j| (0, j))) {
        add(&mut lines.diagonal, (i..m).zip(j..n).collect());
    }
    let all = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
    let all: Vec<(usize, usize)> = all.filter(|&(i, j)| recurs(i, j)).collect();
    let counted = RecurrentPoints {
        all: all.len() as u64,
        diagonal: lines.diagonal.points(),
        rows: lines.rows.points(),
        columns: lines.columns.points(),
        shift: all.iter().map(|&(i, j)| j as i64 - i as i64).sum(),
    };
    (counted, lines)
}

/// SubsMatch, sequence by sequence; `None` if a side has no sequence of `window` letters.
#[allow(clippy::cast_precision_loss)] // counts are far below 2⁵³
pub fn subsmatch(a: &[u16], b: &[u16], window: usize) -> Option<f64> {
    let (total_a, total_b) = (a.windows(window).count(), b.windows(window).count());
    if total_a == 0 || total_b == 0 {
        return None;
    }
    let frequency = |letters: &[u16], gram: &[u16], total: usize| {
        letters.windows(window).filter(|it| *it == gram).count() as f64 / total as f64
    };
    let mut seen: Vec<&[u16]> = a.windows(window).chain(b.windows(window)).collect();
    seen.sort_unstable();
    seen.dedup();
    let differences = seen
        .into_iter()
        .map(|gram| (frequency(a, gram, total_a) - frequency(b, gram, total_b)).abs());
    Some(1.0 - differences.sum::<f64>() / 2.0)
}
