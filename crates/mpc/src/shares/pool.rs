//! Correlated transfers in both directions, made in batches and used in order.

use super::batch_queue::BatchQueue;
use super::packing::Words;
use crate::block::Block;
use crate::error::MpcError;
use crate::hash::TweakedHash;
use crate::kernel::Kernel;
use crate::ot::pads::{PadReceiver, PadSender};
use crate::ot::{CotReceiver, CotSender};
use std::ops::{Add, Mul};
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// The number of transfers, with this side as sender and as receiver.
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

    /// The larger of the two.
    fn larger(self) -> usize {
        self.sent.max(self.received)
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

/// The source of transfers: a sender for one direction and a receiver for the other.
pub(crate) trait CotSource {
    fn extend_sent(&mut self, v: &mut [Block], channel: &mut dyn Channel) -> Result<(), MpcError>;

    fn extend_received(
        &mut self,
        u: &mut [u64],
        w: &mut [Block],
        channel: &mut dyn Channel,
    ) -> Result<(), MpcError>;
}

impl<S: CotSender, R: CotReceiver> CotSource for (S, R) {
    fn extend_sent(&mut self, v: &mut [Block], channel: &mut dyn Channel) -> Result<(), MpcError> {
        self.0.extend(v, channel)
    }

    fn extend_received(
        &mut self,
        u: &mut [u64],
        w: &mut [Block],
        channel: &mut dyn Channel,
    ) -> Result<(), MpcError> {
        self.1.extend(u, w, channel)
    }
}

/// Transfers that have been made but not used. All uses take multiples of 64, so that choices stay aligned.
pub(crate) struct Pool {
    source: Box<dyn CotSource>,
    batch: usize,
    /// Batches that have been started but not completed.
    under_way: usize,
    /// About how many more transfers tasks will reserve in each direction.
    expected: usize,
    /// Transfers that tasks have reserved but not used.
    reserved: Demand,
    sent: BatchQueue<Block>,
    received: BatchQueue<Block>,
    choices: BatchQueue<u64>,
    pad_sender: PadSender,
    pad_receiver: PadReceiver,
    keys: Keys,
    #[cfg(test)]
    used: Demand,
}

/// Keys from transfers: whole blocks. Their hashes have other keys than those of pads.
struct Keys {
    sending: TweakedHash,
    receiving: TweakedHash,
    offset: Zeroizing<Block>,
    sent: u64,
    received: u64,
}

/// The hashes of one direction, which use different keys.
#[derive(Clone, Copy)]
pub(crate) struct Hashes {
    pub(crate) pads: TweakedHash,
    pub(crate) keys: TweakedHash,
}

impl Hashes {
    /// The hashes of transfers whose sender drew this hash key.
    pub(crate) fn new(kernel: Kernel, hash_key: Block) -> Self {
        // Tweak counters have 64 bits.
        Self {
            pads: TweakedHash::new(kernel, hash_key),
            keys: TweakedHash::new(kernel, hash_key ^ Block::new(1 << 96)),
        }
    }
}

/// Pads of transfers with this side as the receiver.
pub(crate) struct ReceiverPads {
    /// The random choices, 64 bits to a word.
    pub(crate) choices: Words,
    /// The pad of each choice.
    pub(crate) pads: Words,
}

impl Pool {
    /// The other side has the same hashes, with the directions swapped.
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
            expected: 0,
            reserved: Demand::default(),
            source: Box::new((sender, receiver)),
            sent: BatchQueue::default(),
            received: BatchQueue::default(),
            choices: BatchQueue::default(),
            pad_sender,
            pad_receiver: PadReceiver::new(receiving.pads, 0),
            keys,
            #[cfg(test)]
            used: Demand::default(),
        }
    }

    /// Transfers used so far.
    #[cfg(test)]
    pub(crate) fn used(&self) -> Demand {
        self.used
    }

    /// Reserves these transfers for one task, if they exist.
    pub(crate) fn reserve(&mut self, demand: Demand) -> bool {
        let available = self.available();
        let enough = demand.sent <= available.sent && demand.received <= available.received;
        if enough {
            self.reserved = self.reserved + demand;
            self.expected = self.expected.saturating_sub(demand.larger());
        }
        enough
    }

    /// Announces about how many transfers tasks will reserve in each direction, so that some are made in advance.
    pub(crate) fn expect(&mut self, transfers: usize) {
        self.expected = transfers;
    }

    /// Batches to start now for these transfers and those that will be needed soon.
    pub(crate) fn missing(&self, demand: Demand) -> usize {
        let available = self.available();
        let upcoming = available.sent.min(available.received) + self.under_way * self.batch;
        let needed_soon = self.expected.saturating_sub(demand.larger());
        let target = demand.larger() + needed_soon.min(MAX_BATCHES_IN_FLIGHT * self.batch);
        let missing = target.saturating_sub(upcoming).div_ceil(self.batch);
        missing.min(MAX_BATCHES_IN_FLIGHT - self.under_way)
    }

    /// Transfers of complete batches that no task has reserved. Both sides count the same.
    fn available(&self) -> Demand {
        let received = self.received.left() - self.under_way * self.batch;
        Demand {
            sent: self.sent.left() - self.reserved.sent,
            received: received - self.reserved.received,
        }
    }

    /// Erases the surplus of one direction if only the other was used, because batches are made in both.
    pub(crate) fn erase_surplus(&mut self) -> Result<(), MpcError> {
        let Demand { sent, received } = self.available();
        let (more_sent, more_received) =
            (sent.saturating_sub(received), received.saturating_sub(sent));
        self.sent.erase(more_sent)?;
        self.received.erase(more_received)?;
        self.choices.erase(more_received / 64)
    }

    /// Erases a surplus of one direction of more than this many batches. Many lists, and many steps of a matrix, use one
    /// direction more than the other, and what is left of the other would take more memory with each of them. Both sides
    /// count the same.
    pub(crate) fn limit_surplus(&mut self, batches: usize) -> Result<(), MpcError> {
        let Demand { sent, received } = self.available();
        match sent.abs_diff(received) > batches * self.batch {
            true => self.erase_surplus(),
            false => Ok(()),
        }
    }

    /// Transfers that were made and not used, in both directions.
    #[cfg(test)]
    pub(crate) fn unused(&self) -> usize {
        self.sent.left() + self.received.left()
    }

    /// Makes a batch with this side as receiver, and sends what the other side needs for it. The other side does the
    /// same.
    pub(crate) fn start_batch(&mut self, channel: &mut dyn Channel) -> Result<(), MpcError> {
        let choices = self.choices.add(self.batch / 64);
        let blocks = self.received.add(self.batch);
        self.source.extend_received(choices, blocks, channel)?;
        self.under_way += 1;
        Ok(())
    }

    /// Receives what the other side sent for the oldest batch under way, with this side as the sender.
    pub(crate) fn complete_batch(&mut self, channel: &mut dyn Channel) -> Result<(), MpcError> {
        let blocks = self.sent.add(self.batch);
        self.source.extend_sent(blocks, channel)?;
        self.under_way -= 1;
        Ok(())
    }

    /// Uses up reserved transfers with this side as the sender, and returns how many.
    fn use_sent(&mut self, cots: usize) -> Result<usize, MpcError> {
        let aligned = aligned_count(cots);
        let left = self.reserved.sent.checked_sub(aligned);
        self.reserved.sent = left.ok_or(NOT_RESERVED)?;
        #[cfg(test)]
        {
            self.used.sent += cots;
        }
        Ok(aligned)
    }

    /// The same with this side as the receiver.
    fn use_received(&mut self, cots: usize) -> Result<usize, MpcError> {
        let aligned = aligned_count(cots);
        let left = self.reserved.received.checked_sub(aligned);
        self.reserved.received = left.ok_or(NOT_RESERVED)?;
        #[cfg(test)]
        {
            self.used.received += cots;
        }
        Ok(aligned)
    }

    /// All pads of `count` 1-out-of-2^m transfers, m = `choice_bits`: 2^m adjacent pads for each.
    pub(crate) fn send(&mut self, count: usize, choice_bits: usize) -> Result<Words, MpcError> {
        let cots = count * choice_bits;
        let aligned = self.use_sent(cots)?;
        let mut pads = Zeroizing::new(vec![0; count << choice_bits]);
        let sender = &mut self.pad_sender;
        let make = |blocks: &[Block]| sender.pads(choice_bits, blocks, &mut pads);
        self.sent.read(cots, aligned, make)??;
        Ok(pads)
    }

    /// Both keys of each transfer.
    pub(crate) fn send_keys(
        &mut self,
        count: usize,
    ) -> Result<Zeroizing<Vec<[Block; 2]>>, MpcError> {
        let aligned = self.use_sent(count)?;
        let mut zeros = self.sent.take(count, aligned)?;
        let ones = zeros.iter().map(|block| *block ^ *self.keys.offset);
        let mut ones = Zeroizing::new(ones.collect::<Vec<_>>());
        self.keys.sending.hash_all(self.keys.sent, &mut zeros);
        self.keys.sending.hash_all(self.keys.sent, &mut ones);
        self.keys.sent += count as u64;
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
        let aligned = self.use_received(count)?;
        let choices = self.choices.take(aligned / 64, aligned / 64)?;
        let mut keys = self.received.take(count, aligned)?;
        self.keys.receiving.hash_all(self.keys.received, &mut keys);
        self.keys.received += count as u64;
        Ok((choices, keys))
    }

    /// The pads of random choices.
    pub(crate) fn receive(
        &mut self,
        count: usize,
        choice_bits: usize,
    ) -> Result<ReceiverPads, MpcError> {
        let cots = count * choice_bits;
        let aligned = self.use_received(cots)?;
        let choices = self.choices.take(aligned / 64, aligned / 64)?;
        let mut pads = Zeroizing::new(vec![0; count]);
        let receiver = &mut self.pad_receiver;
        let make = |blocks: &[Block]| receiver.pads(choice_bits, blocks, &mut pads);
        self.received.read(cots, aligned, make)??;
        Ok(ReceiverPads { choices, pads })
    }
}

/// The most batches in flight. Meanwhile, tasks use earlier ones.
const MAX_BATCHES_IN_FLIGHT: usize = 8;

/// The most batches by which the unused transfers of one direction may exceed those of the other between two lists.
pub(crate) const MAX_SURPLUS_BETWEEN_LISTS: usize = 2;

/// The same while tasks run: 8 MiB. A later step of all active tasks may use what the current one leaves over.
pub(crate) const MAX_SURPLUS_OF_TASKS: usize = 16;

pub(super) const NOT_RESERVED: MpcError = MpcError::Misuse("transfers were not reserved");

/// COTs that a use of `cots` takes from the pool: whole groups of 64.
pub(crate) fn aligned_count(cots: usize) -> usize {
    cots.next_multiple_of(64)
}
