//! Why a session failed, sorted by whose fault it is.

mod file;
mod misbehaviour;
mod network;
mod refusal;
mod usage;
mod worker;

pub use file::FileProblem;
pub use misbehaviour::Misbehaviour;
pub use network::{NetworkError, RelayProblem};
pub use refusal::{BanReason, DeclineReason, ExceededLimit, Limit, LimitOrigin};
pub use usage::{InternalError, UsageError};
pub use worker::{CoordinatorProblem, WorkerKeyProblem};

use crate::Fingerprint;
use std::io;
use std::path::{Path, PathBuf};
use veilpath_channel::ChannelError;
use veilpath_metrics::text::is_unprintable;
use veilpath_protocol::ProtocolError;

/// Whose fault an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The two sides do not agree: another plan, an unexpected key, a limit, or a peer that declines.
    PeerDiffers,
    /// The peer broke the protocol.
    PeerMisbehaves,
    /// The network failed.
    Network,
    /// A local file cannot be used.
    File,
    /// The caller asked for something impossible.
    Usage,
    /// A bug in this program, or an operating system without random numbers.
    Internal,
}

/// A setting in which the two sides differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The field of the plan.
    pub field: String,
    /// Its value on this side.
    pub ours: String,
    /// Its value on the other side, safe to print.
    pub theirs: String,
}

/// Why a session failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The two sides ask for different things.
    #[error("{}", list(.0))]
    Differs(Vec<Difference>),
    /// The peer has a different key from the one that was expected.
    #[error(
        "the other side is not the expected one: its fingerprint is {found}, but {expected} was expected"
    )]
    WrongPeer {
        /// The expected fingerprint.
        expected: Fingerprint,
        /// The fingerprint of the peer's key.
        found: Fingerprint,
    },
    /// The peer is not one of the expected ones.
    #[error("no expected partner has the fingerprint {found}")]
    UnknownPeer {
        /// The fingerprint of the peer's key.
        found: Fingerprint,
    },
    /// The peer rejected this side's key.
    #[error("the other side rejected this side's fingerprint: it expects a different one")]
    KeyRejected,
    /// The peer declined the session.
    #[error("the other side declined: {0}")]
    Declined(DeclineReason),
    /// The peer only asked for an estimate.
    #[error("the other side asked for an estimate only; nothing was computed")]
    EstimateOnly,
    /// This side declined because of a limit.
    #[error(transparent)]
    Limit(#[from] Limit),
    /// The peer broke the protocol.
    #[error("the other side broke the protocol: {0}")]
    Misbehaved(#[from] Misbehaviour),
    /// The program at the other end is not Veilpath.
    #[error("the program at the other end does not speak Veilpath's protocol")]
    NotVeilpath,
    /// The network failed.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A local file cannot be used.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: FileProblem,
    },
    /// An engine failed.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The caller asked for something impossible.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// A bug in this program, or an operating system without random numbers.
    #[error("internal error: {0}")]
    Internal(#[from] InternalError),
}

impl SessionError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            SessionError::Differs(_)
            | SessionError::WrongPeer { .. }
            | SessionError::UnknownPeer { .. }
            | SessionError::KeyRejected
            | SessionError::Declined(_)
            | SessionError::EstimateOnly
            | SessionError::Limit(_) => Fault::PeerDiffers,
            SessionError::Misbehaved(_) | SessionError::NotVeilpath => Fault::PeerMisbehaves,
            SessionError::Network(_) => Fault::Network,
            SessionError::File { .. } => Fault::File,
            SessionError::Usage(_) => Fault::Usage,
            SessionError::Internal(_) => Fault::Internal,
            SessionError::Protocol(error) => match error {
                ProtocolError::PeerMisbehaved(_)
                | ProtocolError::KeyRejected(_)
                | ProtocolError::CiphertextRejected(_) => Fault::PeerMisbehaves,
                ProtocolError::Channel(_) => Fault::Network,
                ProtocolError::Cancelled => Fault::Usage,
                ProtocolError::NoRandomness
                | ProtocolError::Refused
                | ProtocolError::Internal(_) => Fault::Internal,
                ProtocolError::Metric(_)
                | ProtocolError::Unsupported(_)
                | ProtocolError::Job(_)
                | ProtocolError::Statistics(_)
                | ProtocolError::DoesNotFit { .. } => Fault::Usage,
            },
        }
    }

    /// The reason for a ban after this error, if it leads to one.
    pub(crate) fn ban(&self) -> Option<BanReason> {
        match self {
            SessionError::Misbehaved(
                Misbehaviour::ChangedAnswer | Misbehaviour::DifferentAnswers,
            ) => Some(BanReason::ChangedAnswer),
            SessionError::Protocol(ProtocolError::PeerMisbehaved(
                veilpath_protocol::Misbehaviour::Computation(_),
            )) => Some(BanReason::FailedCheck),
            _ => None,
        }
    }

    /// Whether the peer is banned, or will be because of this error. In a worker's session, this error only stops the tile.
    pub fn is_ban(&self) -> bool {
        matches!(self, SessionError::Limit(Limit::Banned(_))) || self.ban().is_some()
    }

    /// Whether this side refuses the peer or the tile until its user allows it again ([`StateDir::unblock`]): after a ban, too
    /// many starts, too many journal entries, or a worker's report.
    ///
    /// [`StateDir::unblock`]: crate::StateDir::unblock
    pub fn is_blocked(&self) -> bool {
        let refused = matches!(
            self,
            SessionError::Limit(
                Limit::Banned(_)
                    | Limit::TooManyStarts { .. }
                    | Limit::TooManyEntries { .. }
                    | Limit::TileStopped(_)
            )
        );
        refused || self.ban().is_some()
    }

    /// Whether further attempts of the peer are pointless. This includes an impossible result, so that the peer cannot
    /// recognise one by whether the host still waits.
    pub fn is_final(&self) -> bool {
        self.is_impossible_result() || self.is_blocked()
    }

    /// Whether a result is impossible. Whether it is may depend on this side's letters, so the other side must not notice it.
    pub fn is_impossible_result(&self) -> bool {
        matches!(
            self,
            SessionError::Protocol(ProtocolError::PeerMisbehaved(
                veilpath_protocol::Misbehaviour::ResultOutOfRange
            ))
        )
    }

    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self::file(path, FileProblem::Io(error))
    }

    pub(crate) fn file(path: &Path, problem: FileProblem) -> Self {
        SessionError::File {
            path: path.to_path_buf(),
            problem,
        }
    }
}

impl From<ChannelError> for SessionError {
    fn from(error: ChannelError) -> Self {
        SessionError::Protocol(ProtocolError::Channel(error))
    }
}

/// Text from the peer, safe to print on a terminal: short, on one line, in one direction, without control characters.
pub(crate) fn sanitize(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    let mut safe: String = text
        .chars()
        .take(MAX_CHARS)
        .map(|c| if is_unprintable(c) { '\u{fffd}' } else { c })
        .collect();
    if text.chars().nth(MAX_CHARS).is_some() {
        safe.push('…');
    }
    safe
}

fn list(differences: &[Difference]) -> String {
    const MAX_LISTED: usize = 12;
    let mut text = "the two sides differ:".to_string();
    for difference in differences.iter().take(MAX_LISTED) {
        text.push_str(&format!(
            "\n  {}: {} here, {} there",
            difference.field, difference.ours, difference.theirs
        ));
    }
    if differences.len() > MAX_LISTED {
        text.push_str(&format!("\n  and {} more", differences.len() - MAX_LISTED));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_the_peer_cannot_control_or_flood_a_terminal() {
        assert_eq!(sanitize("a\u{1b}[31m\nb"), "a\u{fffd}[31m\u{fffd}b");
        for unsafe_char in
            "\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}".chars()
        {
            let text = format!("a{unsafe_char}b");
            assert_eq!(sanitize(&text), "a\u{fffd}b", "{unsafe_char:?}");
        }
        // Letters of every script stay.
        assert_eq!(sanitize("Zürich עברית 東京 – …"), "Zürich עברית 東京 – …");
        assert_eq!(sanitize(&"x".repeat(5000)).chars().count(), 201);
    }
}
