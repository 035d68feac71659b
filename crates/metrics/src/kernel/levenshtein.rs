//! Bit-parallel Levenshtein distances. `edits` handles small letter tables; the `rapidfuzz` crate handles large
//! alphabets and long scanpaths that may be similar.

use super::Row;
use super::edits::Positions;
use super::profile::StepLetters;
use rapidfuzz::distance::levenshtein::{Args, BatchComparator, distance, distance_with_args};

/// Up to this many letters, positions are looked up in a table. Beyond it, the crate needs a hash map per 64 letters.
const DIRECT_LETTERS: usize = 256;

/// Below this many matrix cells, finding the letters in use takes longer than the hash maps do.
const RENUMBERED_CELLS: usize = 1 << 22;

/// From this length on, the crate is faster than `edits` because it skips cells that cannot matter.
const LONG: usize = 4096;

/// From this length on, it pays to check first whether two scanpaths are similar.
const VERY_LONG: usize = 2 * LONG;

/// The distances of the shared scanpath to each of the others.
pub(crate) fn row(row: Row<'_>, finished: impl FnMut(usize, usize)) {
    let steps: usize = row.others.iter().map(|other| other.len()).sum();
    if row.letters as usize <= DIRECT_LETTERS {
        return distances(row.shared, row.others, row.letters as usize, finished);
    }
    if row.shared.len().saturating_mul(steps) < RENUMBERED_CELLS {
        return by_rapidfuzz(row.shared, row.others, finished);
    }
    // Large alphabets are seldom used in full, so renumber the letters that occur.
    let mut all = vec![row.shared];
    all.extend(row.others);
    let used = StepLetters::of(&all, row.letters);
    if used.letters().len() > DIRECT_LETTERS {
        return by_rapidfuzz(row.shared, row.others, finished);
    }
    let renumbered = |letters: &[u16]| -> Vec<u16> {
        letters
            .iter()
            .map(|&letter| u16::try_from(used.number(letter) - 1).unwrap_or(u16::MAX))
            .collect()
    };
    let others: Vec<Vec<u16>> = row.others.iter().map(|other| renumbered(other)).collect();
    let others: Vec<&[u16]> = others.iter().map(Vec::as_slice).collect();
    distances(
        &renumbered(row.shared),
        &others,
        used.letters().len(),
        finished,
    );
}

/// Looks up the positions of each letter in a table, for small alphabets.
fn distances(
    shared: &[u16],
    others: &[&[u16]],
    letters: usize,
    mut finished: impl FnMut(usize, usize),
) {
    if shared.len() >= LONG {
        return by_rapidfuzz(shared, others, finished);
    }
    let positions = Positions::new(shared, letters);
    let mut crossings = Vec::new();
    for (index, other) in others.iter().enumerate() {
        finished(index, positions.distance(other, &mut crossings));
    }
}

/// Uses `rapidfuzz`, which needs hash maps for large alphabets.
fn by_rapidfuzz(shared: &[u16], others: &[&[u16]], mut finished: impl FnMut(usize, usize)) {
    let whole = |other: &[u16]| distance(shared.iter().copied(), other.iter().copied());
    if let [other] = others {
        return finished(0, few_edits(shared, other).unwrap_or_else(|| whole(other)));
    }
    let comparator = BatchComparator::new(shared.iter().copied());
    for (index, other) in others.iter().enumerate() {
        let edits =
            few_edits(shared, other).unwrap_or_else(|| comparator.distance(other.iter().copied()));
        finished(index, edits);
    }
}

/// The number of edits, if it is small enough that the crate only needs cells near the diagonal.
///
/// Only very long scanpaths are tried. The limits grow so fast that all failed attempts together cost a small part of
/// the whole matrix.
fn few_edits(a: &[u16], b: &[u16]) -> Option<usize> {
    if a.len().min(b.len()) < VERY_LONG {
        return None;
    }
    let (a, b) = (a.iter().copied(), b.iter().copied());
    let longer = a.len().max(b.len());
    [1024, 64].into_iter().find_map(|part| {
        let limit = Args::default().score_cutoff(longer / part);
        distance_with_args(a.clone(), b.clone(), &limit)
    })
}
