//! What is compared.

use crate::{cell, paper};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};
use veilpath_metrics::{Alphabet, Cohort};
use veilpath_protocol::PairRule;

/// Random scanpaths: time and traffic depend only on their lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// Scanpaths of the same length, each compared with all scanpaths of the other side.
    Square {
        /// Scanpaths per side.
        scanpaths: usize,
        /// Their length.
        length: usize,
    },
    /// Scanpaths with the lengths of the Salient360 data set: 70,796 comparisons of the same stimulus.
    Salient360,
}

/// The seed of the scanpaths.
const SEED: u64 = 1;

impl Work {
    /// The cohorts of the host and of the joining side.
    pub(super) fn cohorts(self, alphabet: Alphabet) -> [Cohort; 2] {
        let mut rng = ChaCha20Rng::seed_from_u64(SEED);
        match self {
            Self::Square { scanpaths, length } => {
                [(); 2].map(|()| cell::cohort(alphabet, scanpaths, length, &mut rng))
            }
            Self::Salient360 => paper::salient360(alphabet, &mut rng),
        }
    }

    /// Which scanpaths are compared.
    pub(super) fn rule(self) -> PairRule {
        match self {
            Self::Square { .. } => PairRule::All,
            Self::Salient360 => PairRule::SameStimulus,
        }
    }
}
