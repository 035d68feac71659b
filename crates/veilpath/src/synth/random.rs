//! Random letters. The paper's synthetic experiment compares ten scanpaths of one length with ten others.

use super::{SynthError, SyntheticCohort, generator, padded_id};
use crate::Error;
use rand::RngExt;
use std::ops::RangeInclusive;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Notation, Scanpath};

/// More than any experiment needs, so that a typo cannot fill memory or disk. An empty scanpath counts as one letter,
/// because its ids take up space.
const MAX_LETTERS: u64 = 1 << 30;

/// The default size of a numeric alphabet: that of a 7×7 grid.
const DEFAULT_NUMBERS: u32 = 49;

/// What to generate.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomOptions {
    /// The number of scanpaths of each length.
    pub count: usize,
    /// The lengths. For a range, each scanpath gets a random length.
    pub lengths: Vec<RangeInclusive<usize>>,
    /// How letters are written.
    pub notation: Notation,
    /// The number of different letters; `None` for the whole notation, or 49 numbers.
    pub letters: Option<u32>,
    /// The seed; `None` picks a new one.
    pub seed: Option<u64>,
}

/// Ten scanpaths of 100 letters.
impl Default for RandomOptions {
    fn default() -> Self {
        Self {
            count: 10,
            lengths: vec![100..=100],
            notation: Notation::Letters,
            letters: None,
            seed: None,
        }
    }
}

/// Generates a cohort of random letters. Scanpaths of the same length share a stimulus named after that length.
pub fn random(options: &RandomOptions) -> Result<SyntheticCohort, Error> {
    let notation = options.notation;
    let letters = options.letters.unwrap_or(match notation {
        Notation::Numbers => DEFAULT_NUMBERS,
        _ => notation.capacity(),
    });
    let alphabet = Alphabet::new(notation, letters).map_err(SynthError::Letters)?;
    if let Some(range) = options.lengths.iter().find(|range| range.is_empty()) {
        let (from, to) = (*range.start(), *range.end());
        return Err(SynthError::EmptyRange { from, to }.into());
    }
    let total = options
        .lengths
        .iter()
        .map(|range| (*range.end() as u64).max(1))
        .try_fold(0u64, u64::checked_add)
        .and_then(|sum| sum.checked_mul(options.count as u64));
    if total.is_none_or(|total| total > MAX_LETTERS) {
        return Err(SynthError::TooManyLetters { max: MAX_LETTERS }.into());
    }
    let (mut rng, seed) = generator(options.seed);
    let last = u16::try_from(letters - 1).unwrap_or(u16::MAX);
    let scanpaths = options.count * options.lengths.len();
    let mut entries = Vec::with_capacity(scanpaths);
    for range in &options.lengths {
        for _ in 0..options.count {
            let length = rng.random_range(range.clone());
            entries.push(Entry {
                participant: padded_id("r", entries.len() + 1, scanpaths),
                group: None,
                stimulus: Some(stimulus(range)),
                scanpath: Scanpath::new((0..length).map(|_| rng.random_range(0..=last)).collect()),
                fixations: None,
            });
        }
    }
    Ok(SyntheticCohort {
        cohort: Cohort {
            alphabet,
            encoding: Encoding::default(),
            screen: None,
            entries,
        },
        seed,
        note: format!("random letters, seed {seed}"),
    })
}

fn stimulus(range: &RangeInclusive<usize>) -> String {
    if range.start() == range.end() {
        format!("length-{}", range.start())
    } else {
        format!("length-{}-{}", range.start(), range.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::reversed_empty_ranges)] // this is tested
    fn a_range_without_lengths_is_refused() {
        let options = RandomOptions {
            lengths: vec![3..=3, 5..=4],
            ..RandomOptions::default()
        };
        let error = random(&options).err();
        assert!(
            matches!(
                error,
                Some(Error::Synth(SynthError::EmptyRange { from: 5, to: 4 }))
            ),
            "{error:?}"
        );
    }
}
