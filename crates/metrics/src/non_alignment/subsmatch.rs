//! SubsMatch: how similar the frequencies of short sequences of letters are.

use crate::MetricError;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// SubsMatch on letters: 1 − ½ Σ |f_a − f_b| over the relative frequencies of all sequences of `window` letters. If a
/// scanpath is shorter than the window, it has no such sequence and the similarity is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubsMatch {
    /// The number of letters in a sequence.
    pub window: u32,
}

/// The longest window.
pub(crate) const MAX_WINDOW: u32 = 64;

/// A sequence of letters, and how often it occurs.
type Gram<'a> = (&'a [u16], u64);

/// The sequences of a scanpath, sorted.
pub(crate) struct Grams<'a> {
    grams: Vec<Gram<'a>>,
    total: u64,
}

impl SubsMatch {
    pub(crate) fn check(&self) -> Result<(), MetricError> {
        if (1..=MAX_WINDOW).contains(&self.window) {
            return Ok(());
        }
        Err(MetricError::Window {
            window: self.window,
        })
    }

    pub(crate) fn grams<'a>(&self, letters: &'a [u16]) -> Grams<'a> {
        let mut all: Vec<&[u16]> = letters.windows(self.window as usize).collect();
        all.sort_unstable();
        let grams = all.chunk_by(|a, b| a == b);
        Grams {
            grams: grams.map(|same| (same[0], same.len() as u64)).collect(),
            total: all.len() as u64,
        }
    }
}

impl Grams<'_> {
    /// The similarity of two scanpaths; `None` if one of them has no sequences.
    #[allow(clippy::cast_precision_loss)] // counts are far below 2⁵³
    pub(crate) fn similarity(&self, other: &Self) -> Option<f64> {
        let of = u128::from(self.total) * u128::from(other.total);
        if of == 0 {
            return None;
        }
        // Σ min(f_a, f_b) is the same number. Computed in integers, it is exact up to one division.
        let mut common = 0;
        let (mut mine, mut theirs) = (self.grams.iter().peekable(), other.grams.iter().peekable());
        while let (Some((gram, count)), Some((their_gram, their_count))) =
            (mine.peek(), theirs.peek())
        {
            match gram.cmp(their_gram) {
                Ordering::Less => {
                    mine.next();
                }
                Ordering::Greater => {
                    theirs.next();
                }
                Ordering::Equal => {
                    let weighted = u128::from(*count) * u128::from(other.total);
                    common += weighted.min(u128::from(*their_count) * u128::from(self.total));
                    mine.next();
                    theirs.next();
                }
            }
        }
        Some(common as f64 / of as f64)
    }
}
