//! What a comparison will cost, before it is run.

use crate::Reveal;

/// The size of a job, as both sides know it beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Pairs to compare.
    pub pairs: u64,
    /// Matrix cells of these pairs.
    pub cells: u64,
    /// Scanpaths of the host in these pairs.
    pub host_scanpaths: u64,
    /// Scanpaths of the joining side in these pairs.
    pub join_scanpaths: u64,
    /// Letters of the host's scanpaths.
    pub host_letters: u64,
    /// Letters of the joining side's scanpaths.
    pub join_letters: u64,
    /// Letters of the alphabet.
    pub alphabet: u64,
    /// What comes out.
    pub reveal: Reveal,
    /// Whether the lengths are hidden: the numbers above then count padded scanpaths.
    pub padded: bool,
}

/// What a job will cost, by the engine's formula. The time is for a common machine and a fast connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Bytes from the joining side to the host.
    pub bytes_to_host: u64,
    /// Bytes from the host to the joining side.
    pub bytes_to_join: u64,
    /// How often a side waits for the other.
    pub rounds: u64,
    /// Seconds of computation.
    pub seconds: f64,
}
