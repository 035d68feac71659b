//! Transfers that are checked but not used yet, and how many to make next.

use super::MAX_BATCH;
use crate::block::Block;
use zeroize::Zeroizing;

/// Transfers that callers have announced. Both sides announce the same, so their batches are equal.
#[derive(Default)]
pub(super) struct Demand {
    announced: usize,
}

impl Demand {
    pub(super) fn announce(&mut self, count: usize) {
        self.announced = count;
    }

    /// The size of the next batch, a multiple of 128, if `count` transfers are needed now and `left` exist.
    pub(super) fn next_batch(&self, count: usize, left: usize) -> Option<usize> {
        if count <= left {
            return None;
        }
        let missing = self.announced.max(count) - left;
        Some(missing.min(MAX_BATCH).next_multiple_of(128))
    }

    /// How to get the `needed` transfers that a caller's list still lacks, if `left` exist. Counts transfers that the
    /// step puts into the list as used.
    pub(super) fn next_step(&mut self, needed: usize, left: usize) -> Step {
        let step = match self.next_batch(needed, left) {
            Some(batch) if left == 0 && batch <= needed => Step::InPlace(batch),
            Some(batch) if left == 0 => Step::Refill(batch),
            _ => Step::Take(needed.min(left)),
        };
        if let Step::InPlace(count) | Step::Take(count) = step {
            self.used(count);
        }
        step
    }

    pub(super) fn used(&mut self, count: usize) {
        self.announced = self.announced.saturating_sub(count);
    }
}

/// A step towards a list of transfers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Copy this many of the existing ones.
    Take(usize),
    /// Make a batch of this size in the list itself.
    InPlace(usize),
    /// Make a batch of this size, more than the list needs.
    Refill(usize),
}

/// Labels of transfers that are not used yet. Erased when dropped.
#[derive(Default)]
pub(super) struct Ready {
    labels: Zeroizing<Vec<Block>>,
    used: usize,
}

impl Ready {
    /// The number of unused labels.
    pub(super) fn left(&self) -> usize {
        self.labels.len() - self.used
    }

    /// Drops used labels, 128 at a time, and makes room for new ones. Returns how many blocks of 128 it dropped.
    pub(super) fn make_room(&mut self, more: usize) -> usize {
        let blocks = self.used / 128;
        drop_first(&mut self.labels, blocks * 128, more);
        let left = self.labels.len();
        self.labels.resize(left + more, Block::ZERO);
        self.used %= 128;
        blocks
    }

    /// The last entries, for new labels.
    pub(super) fn last_mut(&mut self, count: usize) -> &mut [Block] {
        let first = self.labels.len() - count;
        &mut self.labels[first..]
    }

    /// The next labels, and the position of the first since the last call of [`Ready::make_room`].
    pub(super) fn take(&mut self, count: usize) -> (usize, &[Block]) {
        let first = self.used;
        self.used += count;
        (first, &self.labels[first..self.used])
    }
}

/// Drops the first elements of a list and makes room for more. A list that reallocates by itself would leave copies in
/// freed memory.
pub(super) fn drop_first(list: &mut Zeroizing<Vec<Block>>, first: usize, more: usize) {
    let left = list.len() - first;
    if left + more > list.capacity() {
        let mut larger = Zeroizing::new(Vec::with_capacity(left + more));
        larger.extend_from_slice(&list[first..]);
        *list = larger;
    } else {
        list.drain(..first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_follow_what_was_announced() {
        let mut demand = Demand::default();
        assert_eq!(demand.next_batch(5, 5), None);
        assert_eq!(demand.next_batch(5, 0), Some(128));
        assert_eq!(demand.next_batch(130, 1), Some(256));
        demand.announce(MAX_BATCH + 300);
        assert_eq!(demand.next_batch(5, 0), Some(MAX_BATCH));
        demand.used(MAX_BATCH - 100);
        assert_eq!(demand.next_batch(200, 100), Some(384));
        demand.used(400);
        assert_eq!(demand.next_batch(1, 0), Some(128));
    }

    #[test]
    fn lists_are_filled_in_place_as_far_as_whole_batches_go() {
        let mut demand = Demand::default();
        assert_eq!(demand.next_step(MAX_BATCH + 5, 3), Step::Take(3));
        assert_eq!(demand.next_step(MAX_BATCH + 2, 0), Step::InPlace(MAX_BATCH));
        assert_eq!(demand.next_step(2, 0), Step::Refill(128));
        assert_eq!(demand.next_step(2, 128), Step::Take(2));
        demand.announce(1000);
        assert_eq!(demand.next_step(256, 126), Step::Take(126));
        assert_eq!(demand.next_step(130, 0), Step::Refill(896));
        assert_eq!(demand.next_step(130, 896), Step::Take(130));
    }

    #[test]
    fn labels_are_taken_in_order() {
        let number = |at: usize| Block::new(at as u128);
        let mut ready = Ready::default();
        let add = |ready: &mut Ready, from: usize, count: usize| {
            let dropped = ready.make_room(count);
            for (at, label) in ready.last_mut(count).iter_mut().enumerate() {
                *label = number(from + at);
            }
            dropped
        };
        assert_eq!(add(&mut ready, 0, 300), 0);
        assert_eq!(ready.take(200).0, 0);
        assert_eq!(ready.left(), 100);
        assert_eq!(add(&mut ready, 300, 128), 1);
        let (first, labels) = ready.take(228);
        assert_eq!(first, 72);
        assert!(labels.iter().copied().eq((200..428).map(number)));
        assert_eq!(ready.left(), 0);
    }
}
