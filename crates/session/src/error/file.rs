//! What can be wrong with a local file.

use std::io;

/// Why a local file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// The operating system reported an error.
    #[error(transparent)]
    Io(io::Error),
    /// There is no identity file.
    #[error("there is no identity here yet")]
    NoIdentity,
    /// The file is not an identity file.
    #[error("this is not an identity file: it contains no Ed25519 private key in PEM form")]
    NotAnIdentity,
    /// The permissions let other users read the private key.
    #[error("other users of this machine can read this private key")]
    ReadableByOthers,
    /// Another process uses the file.
    #[error("another veilpath process is using this file; wait until it has ended")]
    Locked,
    /// The file is not the journal of this comparison.
    #[error(
        "this is not the journal of this comparison\n  move it away; scores are never taken from another comparison"
    )]
    OtherJournal,
    /// The ledger cannot be parsed.
    #[error(
        "the ledger of comparisons with this peer is corrupted; move the file away to start from zero"
    )]
    CorruptedLedger,
}
