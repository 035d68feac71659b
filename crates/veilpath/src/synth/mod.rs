//! Synthetic cohorts, for experiments, dry runs and demonstrations.

mod lifelike;
mod random;

pub use lifelike::{FixationTable, LifelikeOptions, MAX_GROUPS, Viewers, fixations, lifelike};
pub use random::{RandomOptions, random};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::io::{self, Write};
use veilpath_encode::cohort_file;
use veilpath_metrics::{Cohort, LetterError};

/// A synthetic cohort.
#[derive(Clone, Debug)]
pub struct SyntheticCohort {
    /// The scanpaths.
    pub cohort: Cohort,
    /// The seed that reproduces the same cohort.
    pub seed: u64,
    /// How the cohort was made, for the header of its file.
    note: String,
}

impl SyntheticCohort {
    /// Writes a cohort file.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        cohort_file::write(&self.cohort, None, std::slice::from_ref(&self.note), out)
    }
}

/// Options from which no cohort can be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SynthError {
    /// The alphabet is too small or too large.
    #[error("the number of letters: {}", .0.problem)]
    Letters(LetterError),
    /// A range of lengths that ends before it starts.
    #[error("there is no length from {from} to {to}")]
    EmptyRange {
        /// The start of the range.
        from: usize,
        /// Its end.
        to: usize,
    },
    /// Too many letters to keep in memory.
    #[error("the cohort would have more than {max} letters")]
    TooManyLetters {
        /// The largest number of letters.
        max: u64,
    },
    /// A viewing time that is not positive, or longer than a day.
    #[error("the viewing time is {seconds} seconds; it must be above 0 and at most 86400 (a day)")]
    ViewingTime {
        /// The time.
        seconds: f64,
    },
    /// A group difference that is not between 0 and 1.
    #[error("the difference {difference} is not a number from 0 to 1")]
    Difference {
        /// The difference.
        difference: f64,
    },
    /// No groups, too many, one without a name, or two with the same name.
    #[error("there must be 1 to {max} groups with different, printable names")]
    Groups {
        /// The largest number of groups.
        max: usize,
    },
    /// Too much viewing time to keep in memory.
    #[error("the cohort would have {hours:.0} hours of viewing; the limit is {max_hours:.0}")]
    TooLong {
        /// The viewing time of all participants together.
        hours: f64,
        /// The limit.
        max_hours: f64,
    },
}

/// A random number generator with this seed or a new one. It gives the same numbers on every machine.
pub(crate) fn generator(seed: Option<u64>) -> (ChaCha20Rng, u64) {
    let seed = seed.unwrap_or_else(|| rand::rng().random());
    (ChaCha20Rng::seed_from_u64(seed), seed)
}

/// A zero-padded id, so that ids sort by number: `p01`, … `p12`.
fn padded_id(prefix: &str, number: usize, of: usize) -> String {
    let width = of.to_string().len();
    format!("{prefix}{number:0width$}")
}
