//! The least cost of a global alignment.

use crate::{GlobalModel, Scanpath};

/// Row by row, the textbook's recurrence: the reference that the fast kernels are tested against.
#[allow(clippy::cast_possible_wrap)] // lengths are checked against `MAX_LENGTH`
pub(crate) fn least_cost(model: &GlobalModel, a: &Scanpath, b: &Scanpath) -> i64 {
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
