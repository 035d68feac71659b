//! Levenshtein distances, bit-parallel, by the `rapidfuzz` crate.

use super::Row;
use super::profile::StepLetters;
use rapidfuzz::distance::levenshtein::{Args, BatchComparator, distance, distance_with_args};

/// Letters that the crate looks up in a table; for others it needs a hash map per 64 letters.
const DIRECT_LETTERS: usize = 256;

/// Below this many cells, finding out which letters are in use takes longer than hash maps do.
const RENUMBERED_CELLS: usize = 1 << 22;

/// From this length on it pays to try first whether two scanpaths are alike.
const LONG: usize = 4096;

/// The distances of the shared scanpath to each of the others.
pub(crate) fn row(row: Row<'_>, finished: impl FnMut(usize, usize)) {
    let steps: usize = row.others.iter().map(|other| other.len()).sum();
    let few_cells = row.lane.len().saturating_mul(steps) < RENUMBERED_CELLS;
    if row.letters as usize <= DIRECT_LETTERS || few_cells {
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
        return finished(0, single(lane, other));
    }
    let comparator = BatchComparator::new(lane.iter().copied());
    for (index, other) in others.iter().enumerate() {
        let edits = if lane.len().min(other.len()) < LONG {
            comparator.distance(other.iter().copied())
        } else {
            single(lane, other)
        };
        finished(index, edits);
    }
}

/// Long scanpaths that are alike need only the cells near the diagonal. Whether they are alike is found out by limits
/// that grow so fast that all failed tries together cost a small part of the whole table.
fn single(a: &[u16], b: &[u16]) -> usize {
    let (a, b) = (a.iter().copied(), b.iter().copied());
    let longer = a.len().max(b.len());
    if a.len().min(b.len()) >= LONG {
        for part in [4096, 256, 16] {
            let limit = Args::default().score_cutoff(longer / part);
            if let Some(edits) = distance_with_args(a.clone(), b.clone(), &limit) {
                return edits;
            }
        }
    }
    distance(a, b)
}
