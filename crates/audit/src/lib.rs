//! Measures what a curious party learns from the engines, by attacking them.
//!
//! Everything here runs on made-up scanpaths, with both sides in one process. Alice follows the protocol and keeps what she
//! sees; then she tries to guess Bob's letters from it. An attack that fails proves nothing: all numbers are lower bounds of
//! what leaks, to be held against guessing and against what the score alone tells.

mod clue;
mod factors;
mod known;
pub mod order_hidden;
pub mod order_public;
pub mod randomness;
pub mod score_alone;
#[cfg(test)]
mod tests;
pub mod transcript;

pub use clue::{Clue, Feature, clues_of};
pub use factors::{Difference, Factors};
pub use known::{Belief, Known, MAX_LENGTH, hedge, hits};

/// Why there is nothing to measure.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// Smith–Waterman.
    #[error(
        "the attacks know global alignments alone; choose levenshtein, needleman-wunsch or scanmatch"
    )]
    LocalAlignment,
    /// A length that the attacks cannot follow.
    #[error("scanpaths of 1 to 16 letters can be attacked")]
    Length,
    /// A metric that does not go with the alphabet.
    #[error(transparent)]
    Metric(#[from] veilpath_metrics::MetricError),
    /// The engine failed.
    #[error(transparent)]
    Protocol(#[from] veilpath_protocol::ProtocolError),
    /// The cryptosystem failed.
    #[error(transparent)]
    Paillier(#[from] veilpath_paillier::Error),
    /// Our own mistake.
    #[error("something is wrong in the audit itself: {0}")]
    Internal(&'static str),
}
