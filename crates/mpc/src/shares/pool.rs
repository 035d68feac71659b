//! Correlated transfers in both directions, made in batches and used in order.

use super::packing::Words;
use crate::block::Block;
use crate::error::MpcError;
use crate::hash::TweakedHash;
use crate::ot::pads::{PadReceiver, PadSender};
use crate::ot::{CotReceiver, CotSender};
use std::ops::{Add, Mul};
use veilpath_channel::Channel;
use zeroize::{Zeroize, Zeroizing};

/// How many transfers are used, with this side as sender and as receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Demand {
    pub(crate) sent: usize,
    pub(crate) received: usize,
}

impl Demand {
    /// The same number in each direction.
    pub(crate) fn each_way(count: usize) -> Self {
        Self {
            sent: count,
            received: count,
        }
    }

    /// In one direction.
    pub(crate) fn one_way(count: usize, receives: bool) -> Self {
        let (sent, received) = if receives { (0, count) } else { (count, 0) };
        Self { sent, received }
    }
}

impl Add for Demand {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            sent: self.sent + other.sent,
            received: self.received + other.received,
        }
    }
}

impl Mul<usize> for Demand {
    type Output = Self;

    fn mul(self, factor: usize) -> Self {
        Self {
            sent: self.sent * factor,
            received: self.received * factor,
        }
    }
}

/// Where transfers come from: a sender for one direction and a receiver for the other.
pub(crate) trait Source {
    fn extend_sent(&mut self, v: &mut [Block], channel: &mut dyn Channel) -> Result<(), MpcError>;

    fn extend_received(
        &mut self,
        u: &mut [u64],
        w: &mut [Block],
        channel: &mut dyn Channel,
    ) -> Result<(), MpcError>;
}

impl<S: CotSender, R: CotReceiver> Source for (S, R) {
    fn extend_sent(
        &mut self,
        v: &mut [Block],
        mut channel: &mut dyn Channel,
    ) -> Result<(), MpcError> {
        self.0.extend(v, &mut channel)
    }

    fn extend_received(
        &mut self,
        u: &mut [u64],
        w: &mut [Block],
        mut channel: &mut dyn Channel,
    ) -> Result<(), MpcError> {
        self.1.extend(u, w, &mut channel)
    }
}

/// Transfers that are made and not used yet. All uses take multiples of 64, so that choices stay aligned.
pub(crate) struct Pool {
    source: Box<dyn Source>,
    batch: usize,
    /// Batches that were started and are not complete, and the most that there may be.
    under_way: usize,
    most_under_way: usize,
    /// The largest demand so far.
    largest: usize,
    /// What programs have reserved and not used yet.
    reserved: Demand,
    sent: Zeroizing<Vec<Block>>,
    sent_used: usize,
    received: Zeroizing<Vec<Block>>,
    choices: Words,
    received_used: usize,
    choices_used: usize,
    pad_sender: PadSender,
    pad_receiver: PadReceiver,
    keys: Keys,
    #[cfg(test)]
    used: Demand,
}

/// Keys of transfers: whole blocks. Their hashes start differently from those of pads.
struct Keys {
    sending: TweakedHash,
    receiving: TweakedHash,
    offset: Zeroizing<Block>,
    sent: u64,
    received: u64,
}

/// The hashes of one direction. No two of a session may start alike.
#[derive(Clone, Copy)]
pub(crate) struct Hashes {
    pub(crate) pads: TweakedHash,
    pub(crate) keys: TweakedHash,
}

/// Pads of transfers with this side as the receiver.
pub(crate) struct Chosen {
    /// The random choices, 64 bits to a word.
    pub(crate) choices: Words,
    /// The pad of each choice.
    pub(crate) pads: Words,
}

impl Pool {
    /// The other side has the same hashes, with the directions exchanged.
    pub(crate) fn new<S: CotSender + 'static, R: CotReceiver + 'static>(
        sender: S,
        receiver: R,
        sending: Hashes,
        receiving: Hashes,
    ) -> Self {
        let pad_sender = PadSender::new(sending.pads, sender.delta(), 0);
        let keys = Keys {
            sending: sending.keys,
            receiving: receiving.keys,
            offset: Zeroizing::new(sender.delta().block()),
            sent: 0,
            received: 0,
        };
        Self {
            batch: sender.batch().min(receiver.batch()) / 64 * 64,
            under_way: 0,
            most_under_way: 1,
            largest: 0,
            reserved: Demand::default(),
            source: Box::new((sender, receiver)),
            sent: Zeroizing::default(),
            sent_used: 0,
            received: Zeroizing::default(),
            choices: Zeroizing::default(),
            received_used: 0,
            choices_used: 0,
            pad_sender,
            pad_receiver: PadReceiver::new(receiving.pads, 0),
            keys,
            #[cfg(test)]
            used: Demand::default(),
        }
    }

    /// Transfers that were used so far.
    #[cfg(test)]
    pub(crate) fn used(&self) -> Demand {
        self.used
    }

    /// Sets these transfers aside for one program, if they are there.
    pub(crate) fn reserve(&mut self, demand: Demand) -> bool {
        let there = self.there();
        let enough = demand.sent <= there.sent && demand.received <= there.received;
        if enough {
            self.reserved = self.reserved + demand;
        }
        enough
    }

    /// Batches to start now for these transfers and those that will be needed soon.
    pub(crate) fn missing(&mut self, demand: Demand) -> usize {
        self.largest = self.largest.max(demand.sent.max(demand.received));
        let there = self.there();
        let coming = there.sent.min(there.received) + self.under_way * self.batch;
        let wanted = demand.sent.max(demand.received) + self.largest / 2;
        let missing = wanted.saturating_sub(coming).div_ceil(self.batch);
        missing.min(self.most_under_way.saturating_sub(self.under_way))
    }

    /// Transfers of complete batches that no program has reserved. Both sides count the same.
    fn there(&self) -> Demand {
        let received = self.received.len() - self.received_used - self.under_way * self.batch;
        Demand {
            sent: self.sent.len() - self.sent_used - self.reserved.sent,
            received: received - self.reserved.received,
        }
    }

    /// Makes a batch with this side as receiver, and sends what the other side needs for it. It does the same.
    pub(crate) fn start_batch(&mut self, channel: &mut dyn Channel) -> Result<(), MpcError> {
        let batch = self.batch;
        make_room(&mut self.received, &mut self.received_used, batch);
        make_room(&mut self.choices, &mut self.choices_used, batch / 64);
        let (first, first_word) = (self.received.len(), self.choices.len());
        self.received.resize(first + batch, Block::ZERO);
        self.choices.resize(first_word + batch / 64, 0);
        self.source.extend_received(
            &mut self.choices[first_word..],
            &mut self.received[first..],
            channel,
        )?;
        self.under_way += 1;
        Ok(())
    }

    /// Receives what the other side sent for the oldest batch under way, of which this side is the sender.
    pub(crate) fn complete_batch(&mut self, channel: &mut dyn Channel) -> Result<(), MpcError> {
        make_room(&mut self.sent, &mut self.sent_used, self.batch);
        let first = self.sent.len();
        self.sent.resize(first + self.batch, Block::ZERO);
        self.source.extend_sent(&mut self.sent[first..], channel)?;
        self.under_way -= 1;
        Ok(())
    }

    fn use_sent(&mut self, cots: usize) -> Result<(), MpcError> {
        let taken = taken(cots);
        let left = self.reserved.sent.checked_sub(taken);
        self.reserved.sent = left.ok_or(NOT_RESERVED)?;
        self.sent_used += taken;
        #[cfg(test)]
        {
            self.used.sent += cots;
        }
        Ok(())
    }

    fn use_received(&mut self, cots: usize) -> Result<(), MpcError> {
        let taken = taken(cots);
        let left = self.reserved.received.checked_sub(taken);
        self.reserved.received = left.ok_or(NOT_RESERVED)?;
        self.received_used += taken;
        self.choices_used += taken / 64;
        #[cfg(test)]
        {
            self.used.received += cots;
        }
        Ok(())
    }

    /// All pads of `count` transfers of one message in 2^m, m = `choice_bits`: 2^m in a row for each.
    pub(crate) fn send(&mut self, count: usize, choice_bits: usize) -> Result<Words, MpcError> {
        let cots = count * choice_bits;
        let end = self.sent_used + cots;
        let blocks = self.sent.get(self.sent_used..end).ok_or(NOT_RESERVED)?;
        let mut pads = Zeroizing::new(vec![0; count << choice_bits]);
        self.pad_sender.pads(choice_bits, blocks, &mut pads)?;
        self.use_sent(cots)?;
        Ok(pads)
    }

    /// Both keys of transfers.
    pub(crate) fn send_keys(
        &mut self,
        count: usize,
    ) -> Result<Zeroizing<Vec<[Block; 2]>>, MpcError> {
        let end = self.sent_used + count;
        let blocks = self.sent.get(self.sent_used..end).ok_or(NOT_RESERVED)?;
        let mut zeros = Zeroizing::new(blocks.to_vec());
        let ones = blocks.iter().map(|block| *block ^ *self.keys.offset);
        let mut ones = Zeroizing::new(ones.collect::<Vec<_>>());
        self.keys.sending.hash_all(self.keys.sent, &mut zeros);
        self.keys.sending.hash_all(self.keys.sent, &mut ones);
        self.keys.sent += count as u64;
        self.use_sent(count)?;
        let pairs = zeros.iter().zip(ones.iter());
        Ok(Zeroizing::new(
            pairs.map(|(zero, one)| [*zero, *one]).collect(),
        ))
    }

    /// Random choices, 64 to a word, and the key of each.
    pub(crate) fn receive_keys(
        &mut self,
        count: usize,
    ) -> Result<(Words, Zeroizing<Vec<Block>>), MpcError> {
        let end = self.received_used + count;
        let blocks = self
            .received
            .get(self.received_used..end)
            .ok_or(NOT_RESERVED)?;
        let mut keys = Zeroizing::new(blocks.to_vec());
        self.keys.receiving.hash_all(self.keys.received, &mut keys);
        self.keys.received += count as u64;
        let words = self.choices_used..self.choices_used + count.div_ceil(64);
        let choices = Zeroizing::new(self.choices[words].to_vec());
        self.use_received(count)?;
        Ok((choices, keys))
    }

    /// The pads of random choices.
    pub(crate) fn receive(&mut self, count: usize, choice_bits: usize) -> Result<Chosen, MpcError> {
        let cots = count * choice_bits;
        let end = self.received_used + cots;
        let blocks = self
            .received
            .get(self.received_used..end)
            .ok_or(NOT_RESERVED)?;
        let mut pads = Zeroizing::new(vec![0; count]);
        self.pad_receiver.pads(choice_bits, blocks, &mut pads)?;
        let words = self.choices_used..self.choices_used + cots.div_ceil(64);
        let choices = Zeroizing::new(self.choices[words].to_vec());
        self.use_received(cots)?;
        Ok(Chosen { choices, pads })
    }
}

const NOT_RESERVED: MpcError = MpcError::Misuse("transfers were not reserved");

/// COTs that a use of `cots` takes from the pool.
pub(crate) fn taken(cots: usize) -> usize {
    cots.next_multiple_of(64)
}

/// Makes room for more. What is used is dropped when it is the larger part, so that elements are seldom moved. A list that grew
/// on its own would leave copies in freed memory.
fn make_room<T: Copy + Zeroize>(list: &mut Zeroizing<Vec<T>>, used: &mut usize, more: usize) {
    if list.len() + more <= list.capacity() {
        return;
    }
    let left = list.len() - *used;
    if left + more > list.capacity() / 2 {
        let mut larger = Zeroizing::new(Vec::with_capacity(2 * (left + more)));
        larger.extend_from_slice(&list[*used..]);
        *list = larger;
    } else {
        list.drain(..*used);
    }
    *used = 0;
}
