//! Scanpath lengths, which engines that hide letters exchange first.

use super::alignment::private_metric::ends_in_padding;
use crate::{Job, JobError, Misbehaviour, ProtocolError, Role};
use veilpath_channel::Channel;
use veilpath_metrics::MAX_LENGTH;

/// The lengths of this side's scanpaths. Checks that all letters belong to the alphabet.
pub(super) fn own_lengths(job: &Job<'_>) -> Result<Vec<u32>, ProtocolError> {
    let alphabet = job.comparison.alphabet();
    job.own
        .iter()
        .map(|scanpath| {
            alphabet
                .check(scanpath)
                .map_err(|_| ProtocolError::Job(JobError::LetterOutsideAlphabet))?;
            u32::try_from(scanpath.len())
                .ok()
                .filter(|_| scanpath.len() <= MAX_LENGTH)
                .ok_or(ProtocolError::Job(JobError::ScanpathTooLong))
        })
        .collect()
}

/// The lengths of this side's scanpaths as the other side sees them.
pub(super) fn visible_lengths(job: &Job<'_>) -> Result<Vec<u32>, ProtocolError> {
    let own = own_lengths(job)?;
    match job.pad_to {
        None => Ok(own),
        Some(length) => {
            // The other side's lengths are unknown. Rejects a scanpath that has no result with any length.
            for length in &own {
                job.comparison.model().check_lengths(*length as usize, 1)?;
            }
            Ok(vec![padded(job, length); own.len()])
        }
    }
}

/// The padded lengths of the other side's scanpaths, if lengths are hidden.
pub(super) fn hidden_lengths(job: &Job<'_>) -> Option<Vec<u32>> {
    job.pad_to
        .map(|length| vec![padded(job, length); job.peer_count])
}

/// The lengths of a pair's two scanpaths (host, then joining side), as both sides see them.
pub(crate) fn lengths_of_pair(job: &Job<'_>, pair: usize) -> Result<(u32, u32), ProtocolError> {
    if let Some(length) = job.pad_to {
        return Ok((padded(job, length), padded(job, length)));
    }
    let lengths = || {
        let &(host, join) = job.pairs.get(pair)?;
        let (own, theirs) = match job.role {
            Role::Host => (host, join),
            Role::Join => (join, host),
        };
        let own = u32::try_from(job.own.get(own)?.len()).ok()?;
        let theirs = u32::try_from(*job.peer_lengths?.get(theirs)?).ok()?;
        Some(match job.role {
            Role::Host => (own, theirs),
            Role::Join => (theirs, own),
        })
    };
    lengths().ok_or(ProtocolError::Internal("a length is not known"))
}

/// The length of every scanpath including padding.
fn padded(job: &Job<'_>, length: usize) -> u32 {
    let more = usize::from(ends_in_padding(job.comparison.metric()));
    u32::try_from(length.saturating_add(more)).unwrap_or(u32::MAX)
}

/// Sends the lengths of this side's scanpaths.
pub(super) fn send_lengths(
    channel: &mut dyn Channel,
    lengths: &[u32],
) -> Result<(), ProtocolError> {
    for length in lengths {
        channel.send(&u64::from(*length).to_le_bytes())?;
    }
    Ok(channel.flush()?)
}

/// Receives the lengths of the other side's scanpaths. They must match those that it announced before, if any.
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
            .ok_or(ProtocolError::PeerMisbehaved(Misbehaviour::ScanpathTooLong))?;
        job.check_announced_length(index, length as usize)?;
        lengths.push(length);
    }
    Ok(lengths)
}
