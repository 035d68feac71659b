//! Transfers that are made and checked, and not used yet; and how many to make next.

use super::MAX_BATCH;
use zeroize::{Zeroize, Zeroizing};

/// What the callers said they will use. Both sides say the same, so their batches are equal.
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

    pub(super) fn used(&mut self, count: usize) {
        self.announced = self.announced.saturating_sub(count);
    }
}

/// Labels of transfers that are not used yet. Erased when dropped.
pub(super) struct Ready<L: Zeroize> {
    labels: Zeroizing<Vec<L>>,
    used: usize,
}

impl<L: Zeroize> Default for Ready<L> {
    fn default() -> Self {
        Self {
            labels: Zeroizing::new(Vec::new()),
            used: 0,
        }
    }
}

impl<L: Copy + Zeroize> Ready<L> {
    /// How many there are.
    pub(super) fn left(&self) -> usize {
        self.labels.len() - self.used
    }

    /// Drops used labels, 128 at a time, and makes room for more. Returns how many times 128 were dropped.
    pub(super) fn make_room(&mut self, more: usize) -> usize {
        let blocks = self.used / 128;
        drop_first(&mut self.labels, blocks * 128, more);
        self.used %= 128;
        blocks
    }

    /// Adds labels. There has to be room for them.
    #[inline]
    pub(super) fn extend(&mut self, labels: impl Iterator<Item = L>) {
        self.labels.extend(labels);
    }

    /// The next labels, and the place of the first since the last call of [`Ready::make_room`].
    pub(super) fn take(&mut self, count: usize) -> (usize, &[L]) {
        let first = self.used;
        self.used += count;
        (first, &self.labels[first..self.used])
    }

    /// Erases all labels.
    pub(super) fn clear(&mut self) {
        self.labels.zeroize();
        self.used = 0;
    }
}

/// Drops the first elements of a list and makes room for more. A list that grew by itself would leave copies in freed
/// memory.
pub(super) fn drop_first<T: Copy + Zeroize>(
    list: &mut Zeroizing<Vec<T>>,
    first: usize,
    more: usize,
) {
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
    fn labels_are_taken_in_order() {
        let mut ready = Ready::<u64>::default();
        ready.make_room(300);
        ready.extend(0..300);
        assert_eq!(ready.take(200).0, 0);
        assert_eq!(ready.left(), 100);
        assert_eq!(ready.make_room(128), 1);
        ready.extend(300..428);
        let (first, labels) = ready.take(228);
        assert_eq!(first, 72);
        assert!(labels.iter().copied().eq(200..428));
        ready.clear();
        assert_eq!(ready.left(), 0);
    }
}
