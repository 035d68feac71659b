//! The greatest score of a local alignment (Smith–Waterman).

use crate::{LocalModel, Scanpath};

/// Row by row, the textbook's recurrence: the reference that the fast kernels are tested against.
pub(crate) fn greatest_score(model: &LocalModel, a: &Scanpath, b: &Scanpath) -> i64 {
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
