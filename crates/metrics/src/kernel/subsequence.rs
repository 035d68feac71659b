//! Longest common subsequences, with 64 rows of the matrix in a machine word.
//!
//! A step down the matrix of lengths is 0 or 1, so a column takes one bit per row: 0 where the length rises (Hyyrö
//! 2004). Each column follows from the previous one by one addition, whose carry propagates from word to word. The
//! matrix is swept in *strips* of up to [`STRIP_WORDS`] words, whose columns stay in registers. The carry out of each
//! column, one bit, is stored for the strip below. The length is the number of zeros in the last column.

use super::Row;

const STRIP_WORDS: usize = 4;
const STRIP_ROWS: usize = STRIP_WORDS * 64;

/// Up to this many letters, the lookup table stays in the first-level cache.
pub(crate) const MAX_LETTERS: u32 = 256;

/// Computes the lengths for the shared scanpath and each of the others.
pub(crate) fn row(row: Row<'_>, mut finished: impl FnMut(usize, usize)) {
    let strips = row.shared.chunks(STRIP_ROWS);
    let is_single = strips.len() <= 1;
    let mut carries: Vec<Vec<bool>> = row
        .others
        .iter()
        .map(|other| vec![false; if is_single { 0 } else { other.len() }])
        .collect();
    let mut lengths = vec![0; row.others.len()];
    for strip in strips {
        let add = match strip.len().div_ceil(64) {
            1 => add_strip::<1>,
            2 => add_strip::<2>,
            3 => add_strip::<3>,
            _ => add_strip::<STRIP_WORDS>,
        };
        add(strip, row, &mut carries, &mut lengths);
    }
    for (index, length) in lengths.into_iter().enumerate() {
        finished(index, length);
    }
}

/// Adds what one strip of the shared scanpath contributes to the lengths.
fn add_strip<const WORDS: usize>(
    strip: &[u16],
    row: Row<'_>,
    carries: &mut [Vec<bool>],
    lengths: &mut [usize],
) {
    // For each letter, the rows of the strip with that letter.
    let mut rows = vec![[0u64; WORDS]; row.letters as usize];
    for (place, &letter) in strip.iter().enumerate() {
        rows[usize::from(letter)][place / 64] |= 1 << (place % 64);
    }
    for ((other, carries), length) in row.others.iter().zip(carries).zip(lengths) {
        let mut column = [u64::MAX; WORDS];
        if carries.is_empty() {
            for &letter in *other {
                step(&mut column, &rows[usize::from(letter)], false);
            }
        } else {
            for (&letter, carry) in other.iter().zip(carries) {
                *carry = step(&mut column, &rows[usize::from(letter)], *carry);
            }
        }
        // Rows below the strip match no letter and stay 1.
        let zeros = column.iter().map(|word| word.count_zeros() as usize);
        *length += zeros.sum::<usize>();
        (row.progress)(strip.len() as u64 * other.len() as u64);
    }
}

/// Computes the next column. `carry` comes from the strip above; the returned carry goes to the strip below.
#[inline(always)]
fn step<const WORDS: usize>(
    column: &mut [u64; WORDS],
    equal: &[u64; WORDS],
    mut carry: bool,
) -> bool {
    for (word, equal) in column.iter_mut().zip(equal) {
        let matches = *word & equal;
        let (sum, over) = word.overflowing_add(matches);
        let (sum, over_again) = sum.overflowing_add(carry.into());
        carry = over | over_again;
        *word = sum | (*word & !matches);
    }
    carry
}
