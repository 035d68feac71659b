//! What was disclosed to whom, in a tamper-evident file.
//!
//! Both sides sign their intent before anything is opened, and the completion after it. Each keeps both signatures in
//! its record, a file with one line of JSON for each step. A line has the hash of the line before it, and its owner
//! signs the whole line. So nobody else can change, remove or reorder lines without being noticed. The owner could
//! write a new record, but not one with the partner's signatures. Only the partner's record shows that lines are
//! missing at the end.
//!
//! ```text
//! {"line":1,"previous":"00…","entry":{"session":{"step":"intent","disclosure":{…},"host":{…},"join":{…}}},"owner":"…","signature":"…"}
//! {"line":2,"previous":"5c…","entry":{"session":{"step":"completion",…}},…}
//! ```
//!
//! `previous` is the SHA-256 of the line before it, without the line break (zeros in the first line), `entry` a `session` or a
//! `withdrawal`, `owner` the public key, and `signature` that of `veilpath record line 1`, a line feed, and the line with an empty
//! `signature`.
//!
//! A session that ends before its completion leaves only the intent. A session that resumes it sends the stored
//! signature again and signs no second intent. The record contains no ids and nothing about a single participant.

mod compare;
mod file;
mod line;
mod statement;
mod verify;

pub use compare::RecordComparison;
pub(crate) use file::RecordFile;
pub use line::{RecordEntry, SessionEntry, WithdrawalEntry};
pub(crate) use statement::SentSignature;
pub use statement::{Disclosure, Signed, Step};
pub use verify::{RecordLine, RecordProblem, SignedRecord};

#[cfg(test)]
mod tests;
