//! The messages before and after the computation: a tag, a length, and the content, usually JSON.
//!
//! Most are small, so a human-readable form costs nothing. A length is checked against the limit of its tag
//! before memory is reserved. In place of any message a side may decline, with a reason. Before its Terms a host may
//! ask the peer to wait.
//!
#![doc = include_str!("control.md")]

use crate::SessionError;
use crate::error::{DeclineReason, InternalError, Misbehaviour, NetworkError};
use crate::limits::{MAX_QUEUE_TIME, MAX_SCANPATHS, MAX_SESSION_PAIRS};
use crate::link::MAX_BURST;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use veilpath_channel::Channel;
use veilpath_protocol::Role;

/// Defines the kinds of messages from one list.
macro_rules! tags {
    ($($(#[$doc:meta])* $tag:ident = $number:literal,)*) => {
        /// The kind of a message.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Tag {
            $($(#[$doc])* $tag = $number,)*
        }

        impl Tag {
            /// All kinds.
            #[cfg(any(test, feature = "fuzzing"))]
            pub(crate) const ALL: &[Self] = &[$(Self::$tag),*];

            fn name(self) -> &'static str {
                match self {
                    $(Self::$tag => stringify!($tag),)*
                }
            }
        }
    };
}

tags! {
    Hello = 1,
    Terms = 2,
    Roster = 3,
    Ready = 4,
    Statements = 5,
    Finished = 6,
    Probe = 7,
    Measured = 8,
    Engine = 9,
    Intent = 10,
    Groups = 11,
    Coins = 12,
    SharesStored = 13,
    Wait = 14,
    Decline = 15,
    Answer = 16,
    Labels = 17,
    /// This and the following ones are between a worker and its coordinator.
    Order = 18,
    Tile = 19,
    JournalEntries = 20,
    EntriesStored = 21,
    Report = 22,
    Refused = 23,
}

impl Tag {
    /// The largest content, in bytes.
    pub(crate) fn max_bytes(self) -> usize {
        match self {
            Tag::Hello
            | Tag::Ready
            | Tag::Finished
            | Tag::Measured
            | Tag::Engine
            | Tag::Intent
            | Tag::Coins
            | Tag::Wait
            | Tag::Decline
            | Tag::Order
            | Tag::Tile
            | Tag::Report
            | Tag::Refused => 4 << 10,
            Tag::Probe => MAX_BURST,
            Tag::Terms => 256 << 10,
            Tag::SharesStored | Tag::EntriesStored => 0,
            Tag::JournalEntries => 1 << 20,
            Tag::Groups => 64 << 10,
            Tag::Answer => 8 * MAX_SCANPATHS,
            Tag::Labels => MAX_SCANPATHS,
            Tag::Roster => 1 << 20,
            Tag::Statements => MAX_SESSION_PAIRS.div_ceil(2) as usize,
        }
    }
}

/// The sender ends the session.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Decline {
    pub(crate) reason: DeclineReason,
}

/// The host serves other peers first. It repeats this message until it sends the next one, so that the peer can tell a
/// busy host from a dead one.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wait {
    /// Peers ahead of this one in the queue.
    pub(crate) ahead: u64,
}

/// Sends a message.
pub(crate) fn send<T: Serialize>(
    channel: &mut dyn Channel,
    tag: Tag,
    message: &T,
) -> Result<(), SessionError> {
    let bytes =
        serde_json::to_vec(message).map_err(|error| InternalError::Serialise(error.to_string()))?;
    send_bytes(channel, tag, &bytes)
}

/// Sends a message of bytes.
pub(crate) fn send_bytes(
    channel: &mut dyn Channel,
    tag: Tag,
    bytes: &[u8],
) -> Result<(), SessionError> {
    let length = u32::try_from(bytes.len())
        .ok()
        .filter(|_| bytes.len() <= tag.max_bytes())
        .ok_or(InternalError::MessageTooLong(tag.name()))?;
    channel.send(&[tag as u8])?;
    channel.send(&length.to_le_bytes())?;
    channel.send(bytes)?;
    Ok(channel.flush()?)
}

/// Receives a message.
pub(crate) fn receive<T: DeserializeOwned>(
    channel: &mut dyn Channel,
    tag: Tag,
) -> Result<T, SessionError> {
    decode(tag, &receive_bytes(channel, tag)?)
}

/// Receives a message of bytes.
pub(crate) fn receive_bytes(channel: &mut dyn Channel, tag: Tag) -> Result<Vec<u8>, SessionError> {
    Ok(receive_one_of(channel, &[tag])?.1)
}

/// Receives a message. The other side may ask to wait any number of times before it; `waiting` is called each time.
pub(crate) fn receive_after_wait<T: DeserializeOwned>(
    channel: &mut dyn Channel,
    tag: Tag,
    waiting: &mut dyn FnMut(u64),
) -> Result<T, SessionError> {
    let start = Instant::now();
    loop {
        let (found, bytes) = receive_one_of(channel, &[tag, Tag::Wait])?;
        if found == tag {
            return decode(tag, &bytes);
        }
        let wait: Wait = decode(Tag::Wait, &bytes)?;
        if start.elapsed() > MAX_QUEUE_TIME {
            return Err(NetworkError::HostBusy.into());
        }
        waiting(wait.ahead);
    }
}

/// Receives one of several messages.
pub(crate) fn receive_one_of(
    channel: &mut dyn Channel,
    expected: &[Tag],
) -> Result<(Tag, Vec<u8>), SessionError> {
    let (tag, length) = receive_head(channel, expected)?;
    let mut bytes = vec![0; length];
    channel.receive(&mut bytes)?;
    Ok((tag, bytes))
}

/// Receives the content of a message whose head has been received.
pub(crate) fn receive_content<T: DeserializeOwned>(
    channel: &mut dyn Channel,
    tag: Tag,
    length: usize,
) -> Result<T, SessionError> {
    let mut bytes = vec![0; length];
    channel.receive(&mut bytes)?;
    decode(tag, &bytes)
}

/// Receives the tag and the length of a message. The length is within the limit of the tag.
pub(crate) fn receive_head(
    channel: &mut dyn Channel,
    expected: &[Tag],
) -> Result<(Tag, usize), SessionError> {
    let mut head = [0; 5];
    channel.receive(&mut head)?;
    let [found, length @ ..] = head;
    let length = u32::from_le_bytes(length) as usize;
    let mut allowed = expected.iter().chain(&[Tag::Decline]);
    let Some(&tag) = allowed.find(|&&tag| tag as u8 == found) else {
        let expected = expected.first().map_or("no message", |tag| tag.name());
        return Err(Misbehaviour::UnexpectedMessage { expected, found }.into());
    };
    let max = tag.max_bytes();
    if length > max {
        return Err(Misbehaviour::MessageTooLong { length, max }.into());
    }
    if tag == Tag::Decline {
        let decline: Decline = receive_content(channel, tag, length)?;
        return Err(SessionError::Declined(decline.reason));
    }
    Ok((tag, length))
}

/// Parses a message.
pub(crate) fn decode<T: DeserializeOwned>(tag: Tag, bytes: &[u8]) -> Result<T, SessionError> {
    // The parser's error could quote the message.
    serde_json::from_slice(bytes).map_err(|_| {
        Misbehaviour::MalformedMessage {
            message: tag.name(),
        }
        .into()
    })
}

/// Both sides send the same kind of message. The host sends first, so that two long messages never block each other. Both
/// have received everything before either checks it.
pub(crate) fn exchange<T: Serialize + DeserializeOwned>(
    channel: &mut dyn Channel,
    role: Role,
    tag: Tag,
    ours: &T,
) -> Result<T, SessionError> {
    match role {
        Role::Host => {
            send(channel, tag, ours)?;
            receive(channel, tag)
        }
        Role::Join => {
            let theirs = receive(channel, tag);
            if theirs.is_ok() {
                send(channel, tag, ours)?;
            }
            theirs
        }
    }
}

/// Both sides send bytes, in the same order.
pub(crate) fn exchange_bytes(
    channel: &mut dyn Channel,
    role: Role,
    tag: Tag,
    ours: &[u8],
) -> Result<Vec<u8>, SessionError> {
    if role == Role::Host {
        send_bytes(channel, tag, ours)?;
    }
    let theirs = receive_bytes(channel, tag)?;
    if role == Role::Join {
        send_bytes(channel, tag, ours)?;
    }
    Ok(theirs)
}

/// How long a side that declines waits for its turn to say so.
const MAX_DECLINE_TIME: Duration = Duration::from_secs(60);

/// Sends a Decline instead of the next message.
pub(crate) fn decline(
    channel: &mut dyn Channel,
    role: Role,
    next: Tag,
    reason: DeclineReason,
) -> Result<(), SessionError> {
    if role == Role::Join {
        // A host that serves others first says so before its terms. This side's user should not wait for that.
        let expected: &[Tag] = match next {
            Tag::Terms => &[Tag::Terms, Tag::Wait],
            _ => &[next],
        };
        let start = Instant::now();
        while receive_one_of(channel, expected)?.0 == Tag::Wait {
            if start.elapsed() > MAX_DECLINE_TIME {
                return Err(NetworkError::HostBusy.into());
            }
        }
    }
    send(channel, Tag::Decline, &Decline { reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limit;
    use veilpath_channel::memory_pair;

    /// A host that serves others first says so before its terms, and at no other time.
    #[test]
    fn a_side_that_declines_lets_the_host_serve_others_before_its_terms_only() {
        for (next, declines) in [(Tag::Terms, true), (Tag::Roster, false)] {
            let (mut here, mut there) = memory_pair();
            send_bytes(&mut there, Tag::Wait, br#"{"ahead":1}"#).unwrap();
            send_bytes(&mut there, next, b"{}").unwrap();
            let declined = decline(&mut here, Role::Join, next, DeclineReason::LocalProblem);
            assert_eq!(declined.is_ok(), declines, "{next:?}: {declined:?}");
        }
    }

    fn received(bytes: &[u8]) -> SessionError {
        let (mut here, mut there) = memory_pair();
        there.send(bytes).unwrap();
        there.flush().unwrap();
        drop(there);
        receive::<Decline>(&mut here, Tag::Hello).unwrap_err()
    }

    #[test]
    fn limits_are_checked_before_memory_is_reserved() {
        let mut head = vec![Tag::Hello as u8];
        head.extend(u32::MAX.to_le_bytes());
        assert!(matches!(received(&head), SessionError::Misbehaved(_)));
        head[0] = Tag::Decline as u8;
        assert!(matches!(received(&head), SessionError::Misbehaved(_)));
        assert!(matches!(
            received(&[Tag::Terms as u8, 0, 0, 0, 0]),
            SessionError::Misbehaved(_)
        ));
        assert!(matches!(
            received(&[Tag::Hello as u8, 2, 0, 0, 0, b'{', b'}']),
            SessionError::Misbehaved(_)
        ));
        assert!(matches!(received(&[1, 2]), SessionError::Protocol(_)));
    }

    #[test]
    fn a_decline_is_received_instead_of_the_next_message() {
        for reason in [
            DeclineReason::LocalProblem,
            DeclineReason::Limit(Limit::TooManyPairs { pairs: 9, max: 8 }),
        ] {
            let (mut host, mut join) = memory_pair();
            decline(&mut host, Role::Host, Tag::Ready, reason.clone()).unwrap();
            let error = receive::<u8>(&mut join, Tag::Ready).unwrap_err();
            assert!(
                matches!(&error, SessionError::Declined(received) if *received == reason),
                "{error}"
            );
        }
    }
}
