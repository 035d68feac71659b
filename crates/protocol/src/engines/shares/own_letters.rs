//! What a side counts in its own scanpath for each letter of the alphabet, for metrics that need no matrix.
//!
//! Timing and addresses do not depend on letters: a table row is selected by masking all rows, and padding takes as long as a
//! letter.

use crate::Role;
use crate::engines::alignment::entries::Inputs;
use crate::engines::alignment::private_metric::PrivateMetric;
use std::hint::black_box;
use zeroize::Zeroizing;

/// Secret numbers, one for each letter of the alphabet.
pub(super) type PerLetter = Zeroizing<Vec<u64>>;

/// The public table, by own letter and then by the other side's.
pub(super) struct OwnTable {
    /// The size of the alphabet, without padding.
    alphabet: usize,
    /// The size of the alphabet with padding: rows and columns of the table.
    letters: usize,
    entries: Vec<u64>,
}

/// Where one of this side's scanpaths recurs, for each letter that the other side may have.
pub(super) struct Recurrences {
    /// How often this side has the letter itself.
    pub(super) letter_counts: PerLetter,
    /// The sum of the positions of the letter, from 0.
    pub(super) position_sums: PerLetter,
    /// How many of this side's letters recur with it.
    pub(super) points: PerLetter,
    /// The sum of the positions of those.
    pub(super) point_position_sums: PerLetter,
    /// How many of those are on lines, which are runs of at least the agreed length.
    pub(super) on_lines: PerLetter,
}

/// The distance from each letter of the alphabet to this side's nearest letter.
pub(super) struct LetterDistances {
    /// Whether this side has the letter itself.
    pub(super) present: PerLetter,
    /// The smallest distance to it.
    pub(super) distances: PerLetter,
}

impl OwnTable {
    pub(super) fn new(scoring: &PrivateMetric, inputs: &Inputs<'_>, role: Role) -> Self {
        let letters = scoring.alphabet_size();
        let mut entries = vec![0; letters * letters];
        for (letter, row) in entries.chunks_exact_mut(letters).enumerate() {
            inputs.fill(letter, row);
        }
        if role == Role::Join {
            let by_host = entries.clone();
            for (own, row) in entries.chunks_exact_mut(letters).enumerate() {
                for (host, entry) in row.iter_mut().enumerate() {
                    *entry = by_host[host * letters + own];
                }
            }
        }
        Self {
            alphabet: scoring.padding_letter(),
            letters,
            entries,
        }
    }

    pub(super) fn alphabet(&self) -> usize {
        self.alphabet
    }

    /// The entries of one of this side's letters with all letters of the alphabet.
    fn row(&self, letter: usize) -> PerLetter {
        let mut row = self.zeros();
        for (number, entries) in self.entries.chunks_exact(self.letters).enumerate() {
            // The compiler must not see that masks are all ones or all zeros, or it could branch.
            let chosen = black_box(equal(number as u64, letter as u64).wrapping_neg());
            for (entry, other) in row.iter_mut().zip(entries) {
                *entry |= other & chosen;
            }
        }
        row
    }

    fn zeros(&self) -> PerLetter {
        Zeroizing::new(vec![0; self.alphabet])
    }

    /// Counts the recurrences of a scanpath, with lines of at least `line` letters.
    pub(super) fn recurrences(&self, letters: &[usize], line: u64) -> Recurrences {
        let mut all = Recurrences {
            letter_counts: self.zeros(),
            position_sums: self.zeros(),
            points: self.zeros(),
            point_position_sums: self.zeros(),
            on_lines: self.zeros(),
        };
        // The length of the current run of recurring letters.
        let mut runs = self.zeros();
        for (position, letter) in letters.iter().enumerate() {
            let row = self.row(*letter);
            for at in 0..self.alphabet {
                let here = equal(at as u64, *letter as u64);
                all.letter_counts[at] += here;
                all.position_sums[at] += here * position as u64;
                let recurs = row[at];
                all.points[at] += recurs;
                all.point_position_sums[at] += recurs * position as u64;
                runs[at] = (runs[at] + 1) * recurs;
                // Once a line is long enough, all of its letters count; from then on, each further letter counts.
                let (complete, longer) = (equal(runs[at], line), less(line, runs[at]));
                all.on_lines[at] += complete * line + longer;
            }
        }
        all
    }

    /// Finds this side's nearest letter for each letter of the alphabet. Distances are at most `largest`.
    pub(super) fn letter_distances(&self, letters: &[usize], largest: u64) -> LetterDistances {
        let mut present = self.zeros();
        let mut distances: PerLetter = Zeroizing::new(vec![largest; self.alphabet]);
        for letter in letters {
            let row = self.row(*letter);
            for at in 0..self.alphabet {
                present[at] |= equal(at as u64, *letter as u64);
                let nearer = black_box(less(row[at], distances[at]).wrapping_neg());
                distances[at] ^= (distances[at] ^ row[at]) & nearer;
            }
        }
        LetterDistances { present, distances }
    }
}

/// 1 if two numbers are equal, else 0.
fn equal(a: u64, b: u64) -> u64 {
    let difference = a ^ b;
    1 ^ (difference | difference.wrapping_neg()) >> 63
}

/// 1 if the first number is smaller, else 0. Both are below 2⁶³.
fn less(a: u64, b: u64) -> u64 {
    a.wrapping_sub(b) >> 63
}
