//! Transfers in the order of use.

use super::pool::NOT_RESERVED;
use crate::error::MpcError;
use std::collections::VecDeque;
use zeroize::{Zeroize, Zeroizing};

/// Batches in the order of use. A batch is erased once all of it is used, and its memory is reused.
pub(super) struct BatchQueue<T: Zeroize> {
    batches: VecDeque<Zeroizing<Vec<T>>>,
    /// How much of the first batch is used.
    used: usize,
    /// How much is left of all batches.
    left: usize,
    spare: Vec<Zeroizing<Vec<T>>>,
}

impl<T: Zeroize> Default for BatchQueue<T> {
    fn default() -> Self {
        Self {
            batches: VecDeque::new(),
            used: 0,
            left: 0,
            spare: Vec::new(),
        }
    }
}

impl<T: Copy + Default + Zeroize> BatchQueue<T> {
    /// How much is left of all batches.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Adds room for a new batch. All batches have the same length.
    pub(super) fn add(&mut self, count: usize) -> &mut [T] {
        let spare = self.spare.pop().filter(|batch| batch.len() == count);
        let batch = spare.unwrap_or_else(|| Zeroizing::new(vec![T::default(); count]));
        self.left += count;
        self.batches.push_back(batch);
        self.batches
            .back_mut()
            .map_or(&mut [], |batch| &mut batch[..])
    }

    /// Calls a function with the next `count` elements and consumes `used`. Copies them only if they span several
    /// batches.
    pub(super) fn read<R>(
        &mut self,
        count: usize,
        used: usize,
        read: impl FnOnce(&[T]) -> R,
    ) -> Result<R, MpcError> {
        let end = self.used + used;
        match self.batches.front().filter(|batch| end <= batch.len()) {
            Some(batch) => {
                let result = read(&batch[self.used..self.used + count]);
                self.left = self.left.checked_sub(used).ok_or(NOT_RESERVED)?;
                self.advance(end);
                Ok(result)
            }
            None => Ok(read(&self.take(count, used)?)),
        }
    }

    /// The next `count` elements; consumes `used`.
    pub(super) fn take(
        &mut self,
        count: usize,
        used: usize,
    ) -> Result<Zeroizing<Vec<T>>, MpcError> {
        let mut list = Zeroizing::new(Vec::with_capacity(used));
        self.left = self.left.checked_sub(used).ok_or(NOT_RESERVED)?;
        while list.len() < used {
            let batch = self.batches.front().ok_or(NOT_RESERVED)?;
            let end = batch.len().min(self.used + used - list.len());
            list.extend_from_slice(&batch[self.used..end]);
            self.advance(end);
        }
        list.truncate(count);
        Ok(list)
    }

    /// Skips the next `count` elements. Like used ones, they are erased with the rest of their batch.
    pub(super) fn erase(&mut self, count: usize) -> Result<(), MpcError> {
        self.left = self.left.checked_sub(count).ok_or(NOT_RESERVED)?;
        let mut remaining = count;
        while remaining > 0 {
            let batch = self.batches.front().ok_or(NOT_RESERVED)?;
            let end = batch.len().min(self.used + remaining);
            remaining -= end - self.used;
            self.advance(end);
        }
        Ok(())
    }

    /// Marks the first batch as used up to this place.
    fn advance(&mut self, end: usize) {
        self.used = end;
        if self.batches.front().is_some_and(|batch| batch.len() == end) {
            self.used = 0;
            if let Some(mut batch) = self.batches.pop_front() {
                // Keeps its length, so that its memory is written only once.
                batch.iter_mut().zeroize();
                self.spare.push(batch);
            }
        }
    }
}
