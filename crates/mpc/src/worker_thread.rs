//! Worker threads: parts of a session that run in parallel, each with its own channel.
//!
//! All worker threads of a session share the offset Δ, the base transfers and the letter keys. The thread's number
//! separates what must not repeat under them:
//!
//! | what | where the thread's number goes |
//! |---|---|
//! | AES keys of half gates (see [`crate::hash`]) | bits 96 and up of the tweak; a gate's own number has 68 |
//! | streams of the seed trees (see [`crate::ot::correlated`]) | the upper half of the counter block's second word |
//! | pads of look-ups (see [`crate::ot::lookup`]) | the highest bits of the comparison's number |
//! | numbers of columns (see [`crate::ot::letters`]) | the highest bits |
//!
//! A garbler's thread takes its own randomness from a fresh seed.

use crate::error::MpcError;

/// The number of a session's worker thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerThread(u32);

/// The most worker threads of a session.
pub const MAX_WORKER_THREADS: u32 = 32;

/// Comparison numbers have 32 bits; a thread gets this many of them.
pub(crate) const COMPARISONS: u32 = u32::MAX / MAX_WORKER_THREADS + 1;

impl WorkerThread {
    /// The thread that every session starts with.
    pub const FIRST: Self = Self(0);

    /// The thread with this number, which must be below [`MAX_WORKER_THREADS`].
    pub fn new(number: u32) -> Option<Self> {
        (number < MAX_WORKER_THREADS).then_some(Self(number))
    }

    pub(crate) fn number(self) -> u32 {
        self.0
    }

    /// The number from which the tweaks of its gates count.
    pub(crate) fn tweak_base(self) -> u128 {
        u128::from(self.0) << 96
    }

    /// The number of its first comparison.
    pub(crate) fn first_comparison(self) -> u32 {
        self.0 * COMPARISONS
    }

    /// The number of its first column. Columns have 44 bits.
    pub(crate) fn first_column(self) -> u64 {
        u64::from(self.0) << 39
    }
}

/// The threads that have been created: the streams and keys of a thread must not be used twice.
pub(crate) struct CreatedThreads(u32);

/// The first thread exists from the start.
impl Default for CreatedThreads {
    fn default() -> Self {
        Self(1)
    }
}

impl CreatedThreads {
    /// For a thread that must not create others.
    pub(crate) fn all_claimed() -> Self {
        Self(u32::MAX)
    }

    pub(crate) fn claim(&mut self, thread: WorkerThread) -> Result<(), MpcError> {
        let bit = 1 << thread.0;
        if self.0 & bit != 0 {
            return Err(MpcError::Misuse("a thread can be created once"));
        }
        self.0 |= bit;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_created_once() {
        let mut claims = CreatedThreads::default();
        let thread = |number| WorkerThread::new(number).unwrap();
        assert!(claims.claim(WorkerThread::FIRST).is_err());
        assert!(claims.claim(thread(31)).is_ok());
        assert!(claims.claim(thread(31)).is_err());
        assert!(CreatedThreads::all_claimed().claim(thread(5)).is_err());
        assert_eq!(WorkerThread::new(MAX_WORKER_THREADS), None);
    }

    #[test]
    fn numbers_of_threads_do_not_overlap() {
        let last = WorkerThread::new(MAX_WORKER_THREADS - 1).unwrap();
        let before = WorkerThread::new(MAX_WORKER_THREADS - 2).unwrap();
        assert_eq!(
            last.first_comparison() - before.first_comparison(),
            COMPARISONS
        );
        assert_eq!(last.first_comparison().checked_add(COMPARISONS), None);
        assert!(last.first_column() + (1 << 39) <= 1 << 44);
        assert!(last.tweak_base() >> 68 != before.tweak_base() >> 68);
    }
}
