//! Cross-recurrence, with 64 columns of the matrix in a machine word.
//!
//! The row of a shared letter marks the steps at which the other scanpath has a letter that recurs with it. To find the
//! points on lines of at least `L`, shrink every run by `L − 1` and grow what remains again. Runs in a row are shrunk
//! by shifts, runs in a column by combining successive rows, and runs on a diagonal by both.

use super::Row;
use super::profile::StepLetters;
use crate::{RecurrenceModel, RecurrentLines, RecurrentPoints};

/// The matrix of a pair, stored once per shared letter.
struct Rows {
    words: usize,
    /// For each letter of the shared scanpath: the steps that recur with it.
    bits: Vec<u64>,
    /// For each of these letters: the sum of these steps, Σ j, and their number.
    sums: Vec<(u64, u64)>,
    lines: Vec<u64>,
}

/// Analyses the recurrences of the shared scanpath with each of the others.
pub(crate) fn row(
    model: &RecurrenceModel,
    row: Row<'_>,
    mut finished: impl FnMut(usize, RecurrentPoints, RecurrentLines),
) {
    let has_lines = model.has_lines();
    let shared = StepLetters::of(&[row.shared], row.letters);
    let numbers: Vec<usize> = row
        .shared
        .iter()
        .map(|&letter| shared.number(letter) as usize - 1)
        .collect();
    for (index, &other) in row.others.iter().enumerate() {
        let rows = Rows::new(model, row, shared.letters(), other);
        let line = model.line as usize;
        let counted = rows.count(&numbers, line, row.shared_is_first);
        let lines = match has_lines {
            true => rows.lines(&numbers, line, row.shared_is_first),
            false => RecurrentLines::default(),
        };
        (row.progress)(row.cells(index));
        finished(index, counted, lines);
    }
}

/// Counts the points of a matrix given by its rows, 64 columns in a word.
pub(crate) fn count(rows: &[Vec<u64>], line: u32) -> RecurrentPoints {
    let mut lines = rows.to_vec();
    lines
        .iter_mut()
        .for_each(|row| keep_runs(row, line as usize));
    let matrix = Rows {
        words: rows.first().map_or(0, Vec::len),
        bits: rows.concat(),
        sums: rows.iter().map(|row| sum_of_positions(row)).collect(),
        lines: lines.concat(),
    };
    let all: Vec<usize> = (0..rows.len()).collect();
    matrix.count(&all, line as usize, true)
}

/// The lines of a matrix given by its rows.
pub(crate) fn lines(rows: &[Vec<u64>], line: u32) -> RecurrentLines {
    let words = rows.first().map_or(0, Vec::len);
    super::lines::lines(rows.len(), words, line as usize, |at| &rows[at])
}

impl Rows {
    fn new(model: &RecurrenceModel, row: Row<'_>, letters: &[u16], other: &[u16]) -> Self {
        let words = other.len().div_ceil(64);
        let steps = StepLetters::of(&[other], row.letters);
        // For each letter along the steps: its positions.
        let mut positions = vec![0u64; steps.letters().len() * words];
        for (step, &letter) in other.iter().enumerate() {
            let number = steps.number(letter) as usize - 1;
            positions[number * words + step / 64] |= 1 << (step % 64);
        }
        let mut rows = Self {
            words,
            bits: vec![0; letters.len() * words],
            sums: Vec::with_capacity(letters.len()),
            lines: vec![0; letters.len() * words],
        };
        let line = model.line as usize;
        for (position, &letter) in letters.iter().enumerate() {
            let bits = &mut rows.bits[position * words..][..words];
            for (number, &step) in steps.letters().iter().enumerate() {
                let recur = match row.shared_is_first {
                    true => model.letters.recur(letter, step),
                    false => model.letters.recur(step, letter),
                };
                if recur {
                    let of_letter = &positions[number * words..][..words];
                    bits.iter_mut()
                        .zip(of_letter)
                        .for_each(|(to, from)| *to |= from);
                }
            }
            rows.sums.push(sum_of_positions(bits));
            let lines = &mut rows.lines[position * words..][..words];
            lines.copy_from_slice(bits);
            keep_runs(lines, line);
        }
        rows
    }

    /// Counts everything. `shared` holds the numbers of the shared scanpath's letters.
    #[allow(clippy::cast_possible_wrap)] // sums of positions are below 2⁶²
    fn count(&self, shared: &[usize], line: usize, shared_is_first: bool) -> RecurrentPoints {
        let row = |at: usize| &self.bits[shared[at] * self.words..][..self.words];
        let (mut all, mut along_steps, mut shift) = (0, 0, 0i64);
        for (position, &letter) in shared.iter().enumerate() {
            let (sum, count) = self.sums[letter];
            all += count;
            shift += sum as i64 - position as i64 * count as i64;
            along_steps += ones(&self.lines[letter * self.words..][..self.words]);
        }
        let along_shared = self.count_lines(
            shared.len(),
            line,
            |at, back, to| {
                to.iter_mut()
                    .zip(row(at + back))
                    .for_each(|(to, from)| *to &= from);
            },
            |_, from, to| {
                to.iter_mut().zip(from).for_each(|(to, from)| *to |= from);
            },
        );
        let diagonal = self.count_lines(
            shared.len(),
            line,
            |at, back, to| {
                and_shifted_down(to, row(at + back), back);
            },
            or_shifted_up,
        );
        let (rows, columns) = match shared_is_first {
            true => (along_steps, along_shared),
            false => (along_shared, along_steps),
        };
        RecurrentPoints {
            all,
            diagonal,
            rows,
            columns,
            shift: if shared_is_first { shift } else { -shift },
        }
    }

    /// Finds the lines. `shared` holds the numbers of the shared scanpath's letters.
    fn lines(&self, shared: &[usize], line: usize, shared_is_first: bool) -> RecurrentLines {
        let row = |at: usize| &self.bits[shared[at] * self.words..][..self.words];
        let found = super::lines::lines(shared.len(), self.words, line, row);
        match shared_is_first {
            true => found,
            false => RecurrentLines {
                diagonal: found.diagonal,
                rows: found.columns,
                columns: found.rows,
            },
        }
    }

    /// Counts points on lines that cross rows. `shrink` keeps the line starts at row `at` that row `at + back`
    /// continues. `grow` adds the points that line starts `back` rows above reach.
    fn count_lines(
        &self,
        rows: usize,
        line: usize,
        shrink: impl Fn(usize, usize, &mut [u64]),
        grow: impl Fn(usize, &[u64], &mut [u64]),
    ) -> u64 {
        let words = self.words;
        // The line starts in the last `line` rows.
        let mut starts = vec![0u64; line * words];
        let mut points = vec![0u64; words];
        let mut counted = 0;
        for at in 0..rows {
            let latest = &mut starts[at % line * words..][..words];
            match at + line <= rows {
                true => {
                    latest.fill(u64::MAX);
                    (0..line).for_each(|back| shrink(at, back, latest));
                }
                false => latest.fill(0),
            }
            points.fill(0);
            for back in 0..line.min(at + 1) {
                grow(
                    back,
                    &starts[(at - back) % line * words..][..words],
                    &mut points,
                );
            }
            counted += ones(&points);
        }
        counted
    }
}

fn ones(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// The sum of the positions of all one bits, and their number.
fn sum_of_positions(words: &[u64]) -> (u64, u64) {
    let mut sum = 0;
    for (index, &word) in words.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            sum += index as u64 * 64 + u64::from(rest.trailing_zeros());
            rest &= rest - 1;
        }
    }
    (sum, ones(words))
}

/// Keeps runs of at least `line` ones.
fn keep_runs(words: &mut [u64], line: usize) {
    let original = words.to_vec();
    for back in 1..line {
        and_shifted_down(words, &original, back);
    }
    let starts = words.to_vec();
    for back in 1..line {
        or_shifted_up(back, &starts, words);
    }
}

/// `to` AND `from` shifted towards the lower positions; `back` is below 64.
#[inline]
fn and_shifted_down(to: &mut [u64], from: &[u64], back: usize) {
    if back == 0 {
        return to.iter_mut().zip(from).for_each(|(to, from)| *to &= from);
    }
    let next = from[1..].iter().copied().chain([0]);
    for ((to, &low), high) in to.iter_mut().zip(from).zip(next) {
        *to &= low >> back | high << (64 - back);
    }
}

/// `to` OR `from` shifted towards the higher positions; `back` is below 64.
#[inline]
fn or_shifted_up(back: usize, from: &[u64], to: &mut [u64]) {
    if back == 0 {
        return to.iter_mut().zip(from).for_each(|(to, from)| *to |= from);
    }
    let mut below = 0;
    for (to, &word) in to.iter_mut().zip(from) {
        *to |= word << back | below >> (64 - back);
        below = word;
    }
}
