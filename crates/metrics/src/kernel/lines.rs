//! Line lengths in a recurrence matrix, with 64 columns in a machine word. Per-bit work happens only where a run
//! starts or ends.

use crate::{LineLengths, RecurrentLines};

/// Finds the lines of at least `line` points in a matrix of `rows` rows. `row` returns one row.
pub(super) fn lines<'a>(
    rows: usize,
    words: usize,
    line: usize,
    row: impl Fn(usize) -> &'a [u64],
) -> RecurrentLines {
    let columns = words * 64;
    let blank = vec![0u64; words];
    // The row in which the current run of each column began, and the same for each diagonal, counted from the lower
    // left corner.
    let mut column_starts = vec![0usize; columns];
    let mut diagonal_starts = vec![0usize; columns + rows];
    let mut found = RecurrentLines::default();
    let add = |lengths: &mut LineLengths, length: usize| {
        if length >= line {
            lengths.add(length);
        }
    };
    for at in 0..rows {
        let bits = row(at);
        let above = if at == 0 { &blank[..] } else { row(at - 1) };
        let below = if at + 1 == rows { &blank } else { row(at + 1) };
        let mut run_start = 0;
        for (word, &here) in bits.iter().enumerate() {
            let first = word * 64;
            let before = |bits: &[u64]| {
                let carried = if word == 0 { 0 } else { bits[word - 1] >> 63 };
                bits[word] << 1 | carried
            };
            let after = |bits: &[u64]| {
                let carried = bits.get(word + 1).map_or(0, |next| next << 63);
                bits[word] >> 1 | carried
            };
            for bit in set_bits(here & !above[word]) {
                column_starts[first + bit] = at;
            }
            for bit in set_bits(here & !below[word]) {
                add(&mut found.columns, at + 1 - column_starts[first + bit]);
            }
            let diagonal = |bit: usize| first + bit + rows - 1 - at;
            for bit in set_bits(here & !before(above)) {
                diagonal_starts[diagonal(bit)] = at;
            }
            for bit in set_bits(here & !after(below)) {
                add(&mut found.diagonal, at + 1 - diagonal_starts[diagonal(bit)]);
            }
            // Starts and ends alternate within a row.
            let (starts, ends) = (here & !before(bits), here & !after(bits));
            for bit in set_bits(starts | ends) {
                if starts >> bit & 1 == 1 {
                    run_start = first + bit;
                }
                if ends >> bit & 1 == 1 {
                    add(&mut found.rows, first + bit + 1 - run_start);
                }
            }
        }
    }
    found
}

/// The positions of the one bits in a word, from the lowest.
fn set_bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        bit
    })
}
