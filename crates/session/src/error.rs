//! What can end a session, sorted by whose fault it is.

use crate::Fingerprint;
use std::io;
use std::path::{Path, PathBuf};
use veilpath_protocol::{ChannelError, ProtocolError};

/// Whose fault an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The other side wants something else, or is somebody else.
    PeerDiffers,
    /// The other side broke the rules.
    PeerMisbehaves,
    /// The line failed.
    Network,
    /// A file of ours is bad.
    File,
    /// This side was asked for something impossible.
    Ours,
}

/// A setting in which the two sides differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which.
    pub field: String,
    /// Its value on this side.
    pub ours: String,
    /// Its value on the other.
    pub theirs: String,
}

/// A session that did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The two sides ask for different things.
    #[error("{}", list(.0))]
    Differs(Vec<Difference>),
    /// Somebody else is at the other end.
    #[error(
        "the other side is not the expected one: its fingerprint is {found}, and {expected} was expected"
    )]
    WrongPeer {
        /// The one that was given.
        expected: Fingerprint,
        /// The one of whoever is there.
        found: Fingerprint,
    },
    /// Somebody who is none of those who are expected.
    #[error("nobody with the fingerprint {found} is expected")]
    UnknownPeer {
        /// The one of whoever is there.
        found: Fingerprint,
    },
    /// The other side expects somebody else.
    #[error("the other side refused this side's fingerprint: it expects another")]
    NotExpected,
    /// The other side declined, with a reason.
    #[error("the other side declined: {0}")]
    Declined(String),
    /// This side declines, by a limit of its own.
    #[error("{0}")]
    Limit(String),
    /// The other side broke the rules.
    #[error("the other side broke the protocol: {0}")]
    Misbehaved(String),
    /// Whoever is at the other end is no Veilpath.
    #[error("another program is at the other end: it does not speak veilpath's protocol")]
    AnotherProgram,
    /// The line failed.
    #[error("{0}")]
    Network(String),
    /// A file could not be used.
    #[error("{}: {problem}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// An engine stopped.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// This side was asked for something impossible.
    #[error("{0}")]
    Ours(String),
}

impl SessionError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            SessionError::Differs(_)
            | SessionError::WrongPeer { .. }
            | SessionError::UnknownPeer { .. }
            | SessionError::NotExpected
            | SessionError::Declined(_)
            | SessionError::Limit(_) => Fault::PeerDiffers,
            SessionError::Misbehaved(_) | SessionError::AnotherProgram => Fault::PeerMisbehaves,
            SessionError::Network(_) => Fault::Network,
            SessionError::File { .. } => Fault::File,
            SessionError::Ours(_) => Fault::Ours,
            SessionError::Protocol(error) => match error {
                ProtocolError::PeerMisbehaved(_)
                | ProtocolError::KeyRefused(_)
                | ProtocolError::CiphertextRefused(_) => Fault::PeerMisbehaves,
                ProtocolError::Channel(_) => Fault::Network,
                ProtocolError::Metric(_)
                | ProtocolError::Unsupported(_)
                | ProtocolError::Job(_)
                | ProtocolError::DoesNotFit { .. }
                | ProtocolError::NoRandomness
                | ProtocolError::Internal(_) => Fault::Ours,
            },
        }
    }

    pub(crate) fn file(path: &Path, error: &io::Error) -> Self {
        SessionError::File {
            path: path.to_path_buf(),
            problem: error.to_string(),
        }
    }

    pub(crate) fn bad_file(path: &Path, problem: impl Into<String>) -> Self {
        SessionError::File {
            path: path.to_path_buf(),
            problem: problem.into(),
        }
    }

    pub(crate) fn misbehaved(what: impl Into<String>) -> Self {
        SessionError::Misbehaved(what.into())
    }
}

impl From<ChannelError> for SessionError {
    fn from(error: ChannelError) -> Self {
        SessionError::Protocol(ProtocolError::Channel(error))
    }
}

/// Text from the other side, fit for a terminal: short, on one line, in one direction, without control characters.
pub(crate) fn sanitize(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    let mut sanitize: String = text
        .chars()
        .take(MAX_CHARS)
        .map(|c| if needs_sanitizing(c) { '\u{fffd}' } else { c })
        .collect();
    if text.chars().nth(MAX_CHARS).is_some() {
        sanitize.push('…');
    }
    sanitize
}

/// Whether a character steers what others look like: control characters, ends of lines, and those that turn the direction of
/// writing, by which a text can look like another.
fn needs_sanitizing(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

fn list(differences: &[Difference]) -> String {
    const MAX_CHARS: usize = 12;
    let mut text = "the two sides differ:".to_string();
    for difference in differences.iter().take(MAX_CHARS) {
        text.push_str(&format!(
            "\n  {}: {} here, {} there",
            difference.field, difference.ours, difference.theirs
        ));
    }
    if differences.len() > MAX_CHARS {
        text.push_str(&format!("\n  and {} more", differences.len() - MAX_CHARS));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_the_other_side_cannot_steer_a_terminal_or_fill_it() {
        assert_eq!(sanitize("a\u{1b}[31m\nb"), "a\u{fffd}[31m\u{fffd}b");
        for wild in
            "\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}".chars()
        {
            assert_eq!(sanitize(&format!("a{wild}b")), "a\u{fffd}b", "{wild:?}");
        }
        // Letters of every script are no harm.
        assert_eq!(sanitize("Zürich עברית 東京 – …"), "Zürich עברית 東京 – …");
        assert_eq!(sanitize(&"x".repeat(5000)).chars().count(), 201);
    }
}
