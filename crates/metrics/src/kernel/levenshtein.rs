//! Levenshtein distances, bit-parallel, by the `rapidfuzz` crate.

use super::Row;
use super::profile::StepLetters;
use rapidfuzz::distance::levenshtein::{BatchComparator, distance};

/// Letters that the crate looks up in a table; for others it needs a hash map per 64 letters.
const DIRECT_LETTERS: usize = 256;

/// The distances of the shared scanpath to each of the others.
pub(crate) fn row(row: Row<'_>, finished: impl FnMut(usize, usize)) {
    if row.letters as usize <= DIRECT_LETTERS {
        return distances(row.lane, row.others, finished);
    }
    // Large alphabets are seldom used in full: number the letters that are.
    let mut all = vec![row.lane];
    all.extend(row.others);
    let used = StepLetters::of(&all, row.letters);
    if used.letters().len() > DIRECT_LETTERS {
        return distances(row.lane, row.others, finished);
    }
    let renumbered = |letters: &[u16]| -> Vec<u16> {
        letters
            .iter()
            .map(|&letter| u16::try_from(used.number(letter) - 1).unwrap_or(u16::MAX))
            .collect()
    };
    let others: Vec<Vec<u16>> = row.others.iter().map(|other| renumbered(other)).collect();
    let others: Vec<&[u16]> = others.iter().map(Vec::as_slice).collect();
    distances(&renumbered(row.lane), &others, finished);
}

fn distances(lane: &[u16], others: &[&[u16]], mut finished: impl FnMut(usize, usize)) {
    if let [other] = others {
        return finished(0, distance(lane.iter().copied(), other.iter().copied()));
    }
    let comparator = BatchComparator::new(lane.iter().copied());
    for (index, other) in others.iter().enumerate() {
        finished(index, comparator.distance(other.iter().copied()));
    }
}
