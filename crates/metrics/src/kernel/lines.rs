//! The lengths of lines in a matrix of recurrence, 64 columns in a machine word. Work is done only where a run starts or ends.

use crate::{LineLengths, RecurrentLines};

/// The lines of at least `line` points in a matrix of `rows` rows. `row` returns a row.
pub(super) fn lines<'a>(
    rows: usize,
    words: usize,
    line: usize,
    row: impl Fn(usize) -> &'a [u64],
) -> RecurrentLines {
    let columns = words * 64;
    let blank = vec![0u64; words];
    // The row in which the run of a column began, and that of a diagonal, counted from the lower left corner.
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
            for place in places(here & !above[word]) {
                column_starts[first + place] = at;
            }
            for place in places(here & !below[word]) {
                add(&mut found.columns, at + 1 - column_starts[first + place]);
            }
            let diagonal = |place: usize| first + place + rows - 1 - at;
            for place in places(here & !before(above)) {
                diagonal_starts[diagonal(place)] = at;
            }
            for place in places(here & !after(below)) {
                add(
                    &mut found.diagonal,
                    at + 1 - diagonal_starts[diagonal(place)],
                );
            }
            // Starts and ends in one row alternate.
            let (starts, ends) = (here & !before(bits), here & !after(bits));
            for place in places(starts | ends) {
                if starts >> place & 1 == 1 {
                    run_start = first + place;
                }
                if ends >> place & 1 == 1 {
                    add(&mut found.rows, first + place + 1 - run_start);
                }
            }
        }
    }
    found
}

/// The places of the ones in a word, from the lowest.
fn places(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        place
    })
}
