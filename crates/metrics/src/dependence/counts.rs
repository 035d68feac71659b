//! What cross-recurrence counts.

use super::entropy;
use std::collections::BTreeMap;

/// What cross-recurrence counts, apart from how often each letter occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Whether both sides' scores depend on the counts, even in scanpaths without runs.
    pub affect_both_sides: bool,
    /// How many occurrences of each letter are in runs of at least this many.
    pub runs: Option<u32>,
    /// The sum of the positions of each letter.
    pub positions: bool,
    /// The letters in order, if there are at least this many: shorter scanpaths have no diagonal lines.
    pub diagonals: Option<u32>,
}

/// The binary logarithm of how many different words the longest scanpath contains. A partner can test only a negligible
/// fraction of longer words.
const MAX_WORD_BITS: f64 = 24.0;

impl Counts {
    /// Whether scanpaths of this length can have diagonal lines.
    fn has_diagonals(self, length: u64) -> bool {
        self.diagonals.is_some_and(|line| length >= line.into())
    }

    pub(super) fn relevant_features(self, letters: &[u16]) -> Vec<u64> {
        if self.has_diagonals(letters.len() as u64) {
            return letters.iter().map(|letter| (*letter).into()).collect();
        }
        let mut of_letters: BTreeMap<u16, [u64; 3]> = BTreeMap::new();
        let mut position = 0;
        for run in letters.chunk_by(|a, b| a == b) {
            let length = run.len() as u64;
            let [count, in_runs, positions] = of_letters.entry(run[0]).or_default();
            *count += length;
            if self.runs.is_some_and(|line| length >= line.into()) {
                *in_runs += length;
            }
            if self.positions {
                *positions += (position..position + length).sum::<u64>();
            }
            position += length;
        }
        let numbers = of_letters.into_iter();
        numbers
            .flat_map(|(letter, [count, in_runs, positions])| {
                [letter.into(), count, in_runs, positions]
            })
            .collect()
    }

    /// The entropy of a random scanpath's counts. Runs and positions would add to it, so it is a lower bound.
    #[allow(clippy::cast_precision_loss)] // lengths are below 2³²
    pub(super) fn bits(self, length: u64, letters: f64) -> f64 {
        let has_words = self.has_diagonals(length)
            && self
                .diagonals
                .is_some_and(|line| f64::from(line) * letters.log2() <= MAX_WORD_BITS);
        if has_words {
            return length as f64 * letters.log2();
        }
        let letters = letters.floor();
        match self.affect_both_sides && letters >= 2.0 {
            true => entropy::counts(length, letters),
            false => 0.0,
        }
    }
}
