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
    /// The seed that produces the same cohort again.
    pub seed: u64,
    /// How it was made, for the head of its file.
    note: String,
}

impl SyntheticCohort {
    /// Writes a cohort file.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        cohort_file::write(&self.cohort, None, std::slice::from_ref(&self.note), out)
    }
}

/// Options that cannot make a cohort.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SynthError {
    /// The alphabet is too small or too large.
    #[error("the number of letters: {}", .0.problem)]
    Letters(LetterError),
    /// Too much to keep in memory.
    #[error("the cohort would have more than {max} letters")]
    TooManyLetters {
        /// The most letters that are generated.
        max: u64,
    },
    /// A viewing time that is not positive, or longer than a day.
    #[error("the viewing time is {seconds} seconds; it must be above 0 and at most 86400 (a day)")]
    ViewingTime {
        /// The time.
        seconds: f64,
    },
    /// A difference of groups that is not from 0 to 1.
    #[error("the difference {difference} is not a number from 0 to 1")]
    Difference {
        /// The difference.
        difference: f64,
    },
    /// No groups, too many, one without a name, or two of the same name.
    #[error("there must be 1 to {max} groups with different, printable names")]
    Groups {
        /// The most groups.
        max: usize,
    },
    /// Too much to keep in memory.
    #[error("the cohort would have {hours:.0} hours of viewing; the limit is {max_hours:.0}")]
    TooLong {
        /// The viewing time of all participants together.
        hours: f64,
        /// The limit.
        max_hours: f64,
    },
}

/// A random generator with this seed or a new one, which gives the same numbers on every machine.
pub(crate) fn generator(seed: Option<u64>) -> (ChaCha20Rng, u64) {
    let seed = seed.unwrap_or_else(|| rand::rng().random());
    (ChaCha20Rng::seed_from_u64(seed), seed)
}

/// A zero-padded id, so that ids sort by number: `p01`, … `p12`.
fn padded_id(prefix: &str, number: usize, of: usize) -> String {
    let width = of.to_string().len();
    format!("{prefix}{number:0width$}")
}
