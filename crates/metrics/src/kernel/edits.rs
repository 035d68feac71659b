//! Levenshtein distances, with 64 rows of the matrix in a machine word.
//!
//! Neighbouring cells of the matrix differ by −1, 0 or 1, so a column takes two bits per row: whether the step down is
//! +1 and whether it is −1 (Myers 1999, in the form of Hyyrö 2003). Each column follows from the previous one in a
//! dozen word operations. The matrix is swept in *strips* of up to [`STRIP_WORDS`] words, whose columns stay in
//! registers. The steps across the lower edge of a strip, one or two bits per column, are stored for the strip below.
//! The distance is the length of the other scanpath plus all steps down the last column, so nothing needs to be counted
//! along the way.

/// Words per strip. Each takes two registers, which leaves some for temporaries.
const STRIP_WORDS: usize = 4;
const STRIP_ROWS: usize = STRIP_WORDS * 64;

/// The positions of each letter in one scanpath.
pub(super) struct Positions {
    length: usize,
    letters: usize,
    /// For each strip and letter, a bit mask of the rows with that letter, word by word.
    rows: Vec<u64>,
}

/// The last column of a strip.
struct Column<const WORDS: usize> {
    rises: [u64; WORDS],
    falls: [u64; WORDS],
}

impl Positions {
    /// All letters of `scanpath` must be below `letters`.
    pub(super) fn new(scanpath: &[u16], letters: usize) -> Self {
        let mut rows = vec![0; scanpath.len().div_ceil(64) * letters];
        for (strip, part) in rows
            .chunks_mut((letters * STRIP_WORDS).max(1))
            .zip(scanpath.chunks(STRIP_ROWS))
        {
            let words = part.len().div_ceil(64);
            for (row, &letter) in part.iter().enumerate() {
                strip[usize::from(letter) * words + row / 64] |= 1 << (row % 64);
            }
        }
        Self {
            length: scanpath.len(),
            letters,
            rows,
        }
    }

    /// The number of edits to the other scanpath. `crossings` is scratch space.
    pub(super) fn distance(&self, other: &[u16], crossings: &mut Vec<u8>) -> usize {
        let strips = self.length.div_ceil(STRIP_ROWS);
        if strips > 1 {
            crossings.clear();
            crossings.resize(other.len(), RISE);
        }
        let mut distance = other.len();
        for strip in 0..strips {
            let rows = &self.rows[strip * self.letters * STRIP_WORDS..];
            let length = (self.length - strip * STRIP_ROWS).min(STRIP_ROWS);
            let crossings = if strips > 1 {
                &mut crossings[..]
            } else {
                &mut []
            };
            // Cannot underflow: the sum minus the −1 steps is the value of a matrix cell.
            let (rises, falls) = match length.div_ceil(64) {
                1 => steps_down::<1>(rows, other, crossings, length),
                2 => steps_down::<2>(rows, other, crossings, length),
                3 => steps_down::<3>(rows, other, crossings, length),
                _ => steps_down::<STRIP_WORDS>(rows, other, crossings, length),
            };
            distance = distance + rises - falls;
        }
        distance
    }
}

/// The step right along the edge of a strip is +1.
const RISE: u8 = 1;
/// The step right along the edge of a strip is −1.
const FALL: u8 = 2;

/// Counts the +1 and −1 steps down the last column of a strip of `length` rows.
#[inline]
fn steps_down<const WORDS: usize>(
    rows: &[u64],
    other: &[u16],
    crossings: &mut [u8],
    length: usize,
) -> (usize, usize) {
    let mut column = Column::<WORDS> {
        rises: [u64::MAX; WORDS],
        falls: [0; WORDS],
    };
    let (rows, _) = rows.as_chunks::<WORDS>();
    if crossings.is_empty() {
        for &letter in other {
            column.step(&rows[usize::from(letter)], RISE);
        }
    } else {
        for (&letter, crossing) in other.iter().zip(crossings) {
            *crossing = column.step(&rows[usize::from(letter)], *crossing);
        }
    }
    column.count(length)
}

impl<const WORDS: usize> Column<WORDS> {
    /// Computes the next column from the step along the upper edge; returns the step along the lower edge.
    #[inline(always)]
    fn step(&mut self, equal: &[u64; WORDS], above: u8) -> u8 {
        let mut rise = u64::from(above & RISE);
        let mut fall = u64::from(above / FALL);
        for word in 0..WORDS {
            let (rises, falls) = (self.rises[word], self.falls[word]);
            let equal = equal[word] | fall;
            let level = ((equal & rises).wrapping_add(rises) ^ rises) | equal | falls;
            let not_rising = (level | rises) & !falls;
            let falling = level & rises;
            let from_above = not_rising << 1 | rise ^ 1;
            self.rises[word] = falling << 1 | fall | (from_above & !level);
            self.falls[word] = level & !from_above;
            rise = (not_rising >> 63) ^ 1;
            fall = falling >> 63;
        }
        // One-bit flags.
        #[allow(clippy::cast_possible_truncation)]
        let below = (rise | fall << 1) as u8;
        below
    }

    /// Counts the +1 and −1 steps in the first `length` rows.
    fn count(&self, length: usize) -> (usize, usize) {
        let mut counts = (0, 0);
        for (word, (rises, falls)) in self.rises.iter().zip(&self.falls).enumerate() {
            let rows = length.saturating_sub(word * 64).min(64);
            let mask = if rows == 64 {
                u64::MAX
            } else {
                (1 << rows) - 1
            };
            counts.0 += (rises & mask).count_ones() as usize;
            counts.1 += (falls & mask).count_ones() as usize;
        }
        counts
    }
}
