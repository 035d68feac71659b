//! Lengths of scanpaths, which engines that hide letters tell each other before anything else.

use crate::{Channel, Job, ProtocolError};
use veilpath_metrics::MAX_LENGTH;

/// The lengths of this side's scanpaths, once all letters are known to belong to the alphabet.
pub(super) fn own_lengths(job: &Job<'_>) -> Result<Vec<u32>, ProtocolError> {
    let alphabet = job.comparison.alphabet();
    job.own
        .iter()
        .map(|scanpath| {
            alphabet
                .check(scanpath)
                .map_err(|_| ProtocolError::Job("a letter is outside the agreed alphabet"))?;
            u32::try_from(scanpath.len())
                .ok()
                .filter(|_| scanpath.len() <= MAX_LENGTH)
                .ok_or(ProtocolError::Job("a scanpath is too long"))
        })
        .collect()
}

/// Both sides learn the lengths of the other.
pub(super) fn send_lengths(
    channel: &mut dyn Channel,
    lengths: &[u32],
) -> Result<(), ProtocolError> {
    for length in lengths {
        channel.send(&u64::from(*length).to_le_bytes())?;
    }
    Ok(channel.flush()?)
}

/// The lengths of the other side's scanpaths. Where it announced them before, it is held to them.
pub(super) fn receive_lengths(
    channel: &mut dyn Channel,
    job: &Job<'_>,
) -> Result<Vec<u32>, ProtocolError> {
    let mut lengths = Vec::new();
    for index in 0..job.peer_count {
        let mut bytes = [0; 8];
        channel.receive(&mut bytes)?;
        let length = u32::try_from(u64::from_le_bytes(bytes))
            .ok()
            .filter(|&length| length as usize <= MAX_LENGTH)
            .ok_or(ProtocolError::PeerMisbehaved("a scanpath is too long"))?;
        let announced = job.peer_lengths.and_then(|lengths| lengths.get(index));
        if announced.is_some_and(|&announced| announced != length as usize) {
            return Err(ProtocolError::PeerMisbehaved(
                "a scanpath is not as long as announced",
            ));
        }
        lengths.push(length);
    }
    Ok(lengths)
}
