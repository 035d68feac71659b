//! Random correlated transfers (COTs) in bulk, behind one interface.
//!
//! For every COT the sender gets a block v, and the receiver a random bit u and a block w, such that v = w ⊕ u·Δ.
//! Nobody chooses u: the extension determines it. A receiver that needs its own bit x sends x ⊕ u. [`super::pads`]
//! turns COTs into masks for messages.
//!
//! A party that needs COTs in both directions holds a sender and a receiver, each with its own set-up messages and
//! offset.
//!
//! # Messages
//! Both sides must ask for the same numbers of COTs in the same order. What a call sends depends only on these numbers.
//! COTs are extended in batches, so memory is bounded by the request plus one batch. A caller that asks for multiples
//! of [`CotSender::batch`] gets them written in place. [`super::correlated`] is the implementation today: its receiver
//! only sends and its sender only receives, so with two channels the two directions never wait for each other. On one
//! channel, a party may call its receiver for one batch and then its sender, while the other side does the same: with
//! trees of four or more levels, a batch has fewer bytes than [`veilpath_channel::UNREAD_BYTES`]. The interface also
//! fits silent OT, where both sides send little and batches are large.

use crate::block::Block;
use crate::error::MpcError;
use crate::label::Delta;
use veilpath_channel::Channel;

/// The side that knows the offset Δ.
pub trait CotSender {
    /// The offset, the same for all COTs of this sender.
    fn delta(&self) -> &Delta;

    /// The most COTs that are made together. It is cheapest to ask for multiples of it.
    fn batch(&self) -> usize;

    /// Fills in v of the next COTs. After an error there are no more.
    fn extend(&mut self, v: &mut [Block], channel: &mut dyn Channel) -> Result<(), MpcError>;
}

/// The side with the random bits.
pub trait CotReceiver {
    /// As [`CotSender::batch`].
    fn batch(&self) -> usize;

    /// Fills in u and w of the next COTs. One word of u belongs to 64 blocks of w, the first bit lowest; bits beyond
    /// the last are zero.
    fn extend(
        &mut self,
        u: &mut [u64],
        w: &mut [Block],
        channel: &mut dyn Channel,
    ) -> Result<(), MpcError>;
}

/// Rejects a list of bits that does not match the list of blocks.
pub(super) fn check_lengths(u: &[u64], w: &[Block]) -> Result<(), MpcError> {
    if u.len() == w.len().div_ceil(64) {
        Ok(())
    } else {
        Err(MpcError::Misuse("64 transfers share a word of bits"))
    }
}
