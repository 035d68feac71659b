//! What can be wrong with a local file.

use crate::Fingerprint;
use crate::signed_record::RecordProblem;
use std::io;

/// Why a local file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// There is no such agreement on tiles, or there are several whose ids start with this text.
    #[error(
        "there is no agreement on tiles with this id, or there are several whose ids start with it"
    )]
    NoSuchAgreement,
    /// The file of an agreement on tiles, or of a work order, is corrupted.
    #[error("this is neither an agreement on tiles nor a work order")]
    NotAWorkOrder,
    /// A file with this name exists.
    #[error("this file already exists, and an existing key is never overwritten")]
    Exists,
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
    /// A ledger cannot be parsed, or another version wrote it.
    #[error(
        "this ledger of what this partner has learned is corrupted, or another version of Veilpath wrote it"
    )]
    CorruptedLedger,
    /// The log of the ledger is missing, and what was counted in it.
    #[error("this part of the ledger of comparisons with this partner is missing")]
    NoLedgerLog,
    /// There is no ledger of this peer.
    #[error("no session with {0} is recorded here")]
    NoLedger(Fingerprint),
    /// Other users may change the file or folder.
    #[error("other users of this machine can write to this")]
    WritableByOthers,
    /// The file or folder belongs to another user.
    #[error("this belongs to another user of this machine")]
    OwnedByOther,
    /// The description of a stored comparison cannot be parsed.
    #[error("the description of this comparison is corrupted")]
    CorruptedComparison,
    /// No stored comparison has this id.
    #[error("no stored comparison has this id")]
    NoSuchComparison,
    /// Several stored comparisons have ids that start with this text.
    #[error("the ids of several stored comparisons start with this")]
    SeveralComparisons,
    /// A line of the signed record was changed.
    #[error("line {line}: {problem}")]
    BrokenRecord {
        /// The first such line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: RecordProblem,
    },
    /// The signed record is too large to be read.
    #[error("this record is too large")]
    RecordTooLarge,
    /// No answer of a stored comparison is known yet.
    #[error("this comparison has no results yet")]
    NoResults,
}
