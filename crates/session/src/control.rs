//! The messages before and after the work: a tag, a length, and JSON.
//!
//! They are few and small, so that a form that people can read in a trace costs nothing. A length is held against the
//! limit of its tag before memory is reserved. In the place of any of them a side may decline, with a reason in words; before its terms a host may ask to wait.

use crate::SessionError;
use crate::error::sanitize;
use crate::limits::{MAX_PAIRS, MAX_QUEUE_TIME};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::Instant;
use veilpath_protocol::{Channel, Role};

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Hello = 1,
    Terms = 2,
    Roster = 3,
    Ready = 4,
    Done = 5,
    Finished = 6,
    Wait = 14,
    Decline = 15,
}

impl Tag {
    /// The most bytes of such a message.
    pub(crate) fn limit(self) -> usize {
        match self {
            Tag::Hello | Tag::Ready | Tag::Finished | Tag::Wait | Tag::Decline => 4 << 10,
            Tag::Terms => 256 << 10,
            Tag::Roster => 1 << 20,
            Tag::Done => (MAX_PAIRS / 8) as usize,
        }
    }
}

/// Why a side will not go on.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Decline {
    pub(crate) reason: String,
}

/// The host works with others first. It comes again and again before the host's next message, so that nobody takes the
/// host for dead.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wait {
    /// How many are before this side.
    pub(crate) ahead: u64,
}

/// Sends a message.
pub(crate) fn send<T: Serialize>(
    channel: &mut dyn Channel,
    tag: Tag,
    message: &T,
) -> Result<(), SessionError> {
    let bytes = serde_json::to_vec(message)
        .map_err(|error| SessionError::Ours(format!("a message cannot be written: {error}")))?;
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
        .filter(|_| bytes.len() <= tag.limit())
        .ok_or_else(|| SessionError::Ours(format!("a message is too long ({tag:?})")))?;
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

/// Receives a message, however often the other side asks to wait for it; each time is told.
pub(crate) fn receive_after_wait<T: DeserializeOwned>(
    channel: &mut dyn Channel,
    tag: Tag,
    waiting: &mut dyn FnMut(u64),
) -> Result<T, SessionError> {
    let begin = Instant::now();
    loop {
        let (found, bytes) = receive_one_of(channel, &[tag, Tag::Wait])?;
        if found == tag {
            return decode(tag, &bytes);
        }
        let wait: Wait = decode(Tag::Wait, &bytes)?;
        if begin.elapsed() > MAX_QUEUE_TIME {
            return Err(SessionError::Network(
                "the other side was busy with others all the time".into(),
            ));
        }
        waiting(wait.ahead);
    }
}

fn receive_one_of(channel: &mut dyn Channel, due: &[Tag]) -> Result<(Tag, Vec<u8>), SessionError> {
    let mut head = [0; 5];
    channel.receive(&mut head)?;
    let [found, length @ ..] = head;
    let length = u32::from_le_bytes(length) as usize;
    let mut allowed = due.iter().chain(&[Tag::Decline]);
    let Some(&tag) = allowed.find(|&&tag| tag as u8 == found) else {
        let due = due.first().map(|tag| format!(" than {tag:?}"));
        return Err(SessionError::misbehaved(format!(
            "a message other{} came",
            due.unwrap_or_default()
        )));
    };
    let limit = tag.limit();
    if length > limit {
        return Err(SessionError::misbehaved(format!(
            "a message of {length} bytes came where at most {limit} are allowed"
        )));
    }
    let mut bytes = vec![0; length];
    channel.receive(&mut bytes)?;
    if tag == Tag::Decline {
        let decline: Decline = decode(Tag::Decline, &bytes)?;
        return Err(SessionError::Declined(sanitize(&decline.reason)));
    }
    Ok((tag, bytes))
}

/// Reads a message.
pub(crate) fn decode<T: DeserializeOwned>(tag: Tag, bytes: &[u8]) -> Result<T, SessionError> {
    // The parser's own words could quote the message.
    serde_json::from_slice(bytes)
        .map_err(|_| SessionError::misbehaved(format!("a malformed message ({tag:?})")))
}

/// Both sides tell each other the same kind of thing. The host speaks first, so that two long messages never wait for each
/// other. Both have heard everything before either judges.
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

/// Tells the other side, in its next message's place, that this side will not go on.
pub(crate) fn decline(
    channel: &mut dyn Channel,
    role: Role,
    next: Tag,
    reason: &str,
) -> Result<(), SessionError> {
    let reason = Decline {
        reason: reason.to_string(),
    };
    if role == Role::Join {
        receive_bytes(channel, next)?;
    }
    send(channel, Tag::Decline, &reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath_protocol::memory_pair;

    fn received(bytes: &[u8]) -> SessionError {
        let (mut here, mut there) = memory_pair();
        there.send(bytes).unwrap();
        there.flush().unwrap();
        drop(there);
        receive::<Decline>(&mut here, Tag::Hello).unwrap_err()
    }

    #[test]
    fn limits_hold_before_anything_is_reserved() {
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
    fn a_side_that_declines_is_heard_in_place_of_what_was_due() {
        let (mut host, mut join) = memory_pair();
        decline(&mut host, Role::Host, Tag::Ready, "no\u{7}pe").unwrap();
        let error = receive::<u8>(&mut join, Tag::Ready).unwrap_err();
        assert!(
            matches!(&error, SessionError::Declined(reason) if reason == "no\u{fffd}pe"),
            "{error}"
        );
    }
}
