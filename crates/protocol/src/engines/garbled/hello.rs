//! The first messages: lengths, unless hidden, and the number of worker threads that each side offers.

use crate::engines::lengths::{hidden_lengths, receive_lengths, send_lengths, visible_lengths};
use crate::{Job, Misbehaviour, ProtocolError, Role};
use veilpath_channel::Channel;

/// The largest number of worker threads. With more than a few, the connection is the bottleneck.
const MAX_WORKER_THREADS: usize = 8;

/// The result of the first messages, known to both sides.
pub(super) struct Negotiated {
    pub(super) own: Vec<u32>,
    pub(super) theirs: Vec<u32>,
    /// The smaller of the two offers.
    pub(super) threads: usize,
}

/// The number of worker threads that this machine offers, one for every two cores: encrypting or decrypting the threads'
/// traffic is about a third of a side's work, and the other side may run on the same machine.
pub(super) fn threads_of_this_machine() -> usize {
    threads_of(std::thread::available_parallelism().map_or(1, usize::from))
}

/// The number of worker threads that a machine with this many cores offers.
pub(super) fn threads_of(cores: usize) -> usize {
    (cores / 2).clamp(1, MAX_WORKER_THREADS)
}

/// Exchanges the first messages. The evaluator sends first.
pub(super) fn negotiate(
    job: &Job<'_>,
    channel: &mut dyn Channel,
    threads: usize,
) -> Result<Negotiated, ProtocolError> {
    let own = visible_lengths(job)?;
    let offer = threads.clamp(1, MAX_WORKER_THREADS);
    if job.role == Role::Join {
        send(job, channel, &own, offer)?;
    }
    let theirs = match hidden_lengths(job) {
        Some(lengths) => lengths,
        None => receive_lengths(channel, job)?,
    };
    let mut their_offer = [0];
    channel.receive(&mut their_offer)?;
    let [their_offer] = their_offer.map(usize::from);
    if !(1..=MAX_WORKER_THREADS).contains(&their_offer) {
        return Err(ProtocolError::PeerMisbehaved(Misbehaviour::ThreadCount {
            offered: their_offer,
        }));
    }
    if job.role == Role::Host {
        send(job, channel, &own, offer)?;
    }
    Ok(Negotiated {
        own,
        theirs,
        threads: offer.min(their_offer),
    })
}

fn send(
    job: &Job<'_>,
    channel: &mut dyn Channel,
    own: &[u32],
    offer: usize,
) -> Result<(), ProtocolError> {
    if job.pad_to.is_none() {
        send_lengths(channel, own)?;
    }
    channel.send(&[u8::try_from(offer).unwrap_or(1)])?;
    Ok(channel.flush()?)
}
