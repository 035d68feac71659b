//! The largest distance from a letter to the nearest letter of the other scanpath. Only the set of letters matters.

use super::Row;
use super::profile::StepLetters;
use crate::RankModel;

/// The ranks of the Hausdorff distances from the shared scanpath to each of the others. None of them may be empty.
pub(crate) fn row(model: &RankModel, row: Row<'_>, mut finished: impl FnMut(usize, i64)) {
    let shared = StepLetters::of(&[row.shared], row.letters);
    for (index, &other) in row.others.iter().enumerate() {
        let steps = StepLetters::of(&[other], row.letters);
        let mut nearest_shared = vec![u32::MAX; shared.letters().len()];
        let mut largest = 0;
        for &step in steps.letters() {
            let mut nearest = u32::MAX;
            for (&letter, nearest_shared) in shared.letters().iter().zip(&mut nearest_shared) {
                let rank = model.ranks.rank(letter, step);
                nearest = nearest.min(rank);
                *nearest_shared = rank.min(*nearest_shared);
            }
            largest = largest.max(nearest);
        }
        let largest = nearest_shared.into_iter().fold(largest, u32::max);
        (row.progress)(row.cells(index));
        finished(index, largest.into());
    }
}
