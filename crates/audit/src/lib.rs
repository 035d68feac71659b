//! Measures what a curious party learns from the engines, by attacking them.
//!
//! All attacks run on synthetic scanpaths, with both sides in one process. The key holder follows the protocol and
//! keeps what it sees; then it tries to guess the matrix owner's letters. A failed attack proves nothing: all numbers
//! are lower bounds on what leaks. Compare them with guessing and with what the score reveals by itself.

mod clue;
mod factors;
pub mod groups;
pub mod order_hidden;
pub mod order_public;
pub mod randomness;
pub mod reconstruct;
pub mod score_only;
#[cfg(test)]
mod tests;
pub mod transcript;
mod view;

pub use clue::{Clue, Feature, clues_of};
pub use factors::{Difference, Factors};
pub use view::{KeyHolderView, LetterProbabilities, MAX_LENGTH, correct_letters, smoothed};

/// Why there is nothing to measure.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// Smith–Waterman.
    #[error(
        "the attacks support only global alignments; choose levenshtein, needleman-wunsch or scanmatch"
    )]
    LocalAlignment,
    /// A length that the attacks do not support.
    #[error("scanpaths of 1 to 16 letters can be attacked")]
    Length,
    /// A metric that does not fit the alphabet.
    #[error(transparent)]
    Metric(#[from] veilpath_metrics::MetricError),
    /// The engine failed.
    #[error(transparent)]
    Protocol(#[from] veilpath_protocol::ProtocolError),
    /// The cryptosystem failed.
    #[error(transparent)]
    Paillier(#[from] veilpath_paillier::Error),
    /// A bug in the audit.
    #[error("internal error of the audit: {0}")]
    Internal(&'static str),
}
