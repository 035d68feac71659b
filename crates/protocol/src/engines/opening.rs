//! Opens outputs that are split into two halves ([`PairStore`](crate::PairStore)). The halves are XOR shares, because
//! only `garbled` and `shares` open single pairs this way.
//!
//! ```text
//! host                                                                                          join
//!  │ makes its halves durable                                                                    │
//!  │── stored ────────────────────────────────────────────────────────────────────────────────▶│
//!  │                                                                 makes its halves durable    │
//!  │◀──────────────────────────────────────────────────────────────────────────────── stored ──│
//!  │                                                records that the host will learn the pairs   │
//!  │◀───────────────────────────────────────────────────────────── halves, if the host learns ──│
//!  │ records that the joining side will learn the pairs                                          │
//!  │── halves, if the joining side learns ────────────────────────────────────────────────────▶│
//! ```
//!
//! A side sends its half only when both halves are durable and it has recorded that the other side will learn the pair. So
//! after an interruption, either no half of a pair was sent, and comparing it again reveals nothing new, or both halves
//! still exist, and the missing one can be sent again.

use crate::{Job, Misbehaviour, ProtocolError, Role};
use veilpath_channel::Channel;

/// Tells the other side that the sender's halves are durable.
const STORED: u8 = 0x4b;

/// Opens the outputs of some pairs to the sides that may learn them. Returns the outputs if this side is one of them.
pub(crate) fn open(
    job: &Job<'_>,
    pairs: &[usize],
    halves: &[u64],
    channel: &mut dyn Channel,
) -> Result<Vec<u64>, ProtocolError> {
    if pairs.len() != halves.len() {
        return Err(ProtocolError::Internal("a pair has no half"));
    }
    job.store.store_halves(pairs, halves)?;
    let (to_host, to_join) = (job.learns_pairs(Role::Host), job.learns_pairs(Role::Join));
    let mut theirs = Vec::new();
    match job.role {
        Role::Host => {
            channel.send(&[STORED])?;
            channel.flush()?;
            receive_stored(channel)?;
            if to_host {
                theirs = receive_halves(pairs.len(), channel)?;
            }
            if to_join {
                job.store.release(pairs)?;
                send_halves(halves, channel)?;
            }
        }
        Role::Join => {
            receive_stored(channel)?;
            channel.send(&[STORED])?;
            if to_host {
                job.store.release(pairs)?;
                send_halves(halves, channel)?;
            }
            channel.flush()?;
            if to_join {
                theirs = receive_halves(pairs.len(), channel)?;
            }
        }
    }
    let both = halves.iter().zip(theirs);
    Ok(both.map(|(ours, theirs)| ours ^ theirs).collect())
}

fn receive_stored(channel: &mut dyn Channel) -> Result<(), ProtocolError> {
    let mut byte = [0];
    channel.receive(&mut byte)?;
    if byte != [STORED] {
        return Err(Misbehaviour::HalvesNotStored.into());
    }
    Ok(())
}

/// Sends halves, eight bytes each.
pub fn send_halves(halves: &[u64], channel: &mut dyn Channel) -> Result<(), ProtocolError> {
    let bytes: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    channel.send(&bytes)?;
    Ok(channel.flush()?)
}

/// Receives as many halves as both sides know there are.
pub fn receive_halves(count: usize, channel: &mut dyn Channel) -> Result<Vec<u64>, ProtocolError> {
    // In one call, because a garbler's thread requests as many bytes as it receives at once.
    let mut bytes = vec![0; count * 8];
    channel.receive(&mut bytes)?;
    let (halves, _) = bytes.as_chunks();
    Ok(halves
        .iter()
        .map(|half| u64::from_le_bytes(*half))
        .collect())
}

#[cfg(test)]
mod tests;
