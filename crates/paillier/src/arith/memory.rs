//! Buffers for numbers, with a free list per thread.
//!
//! An operation on short keys takes a few microseconds, of which the system allocator would take a large part. Buffers
//! are erased before they go to the free list.
#![deny(unsafe_code)]

use core::cell::RefCell;
use core::ops::{Deref, DerefMut};

use zeroize::{Zeroize, ZeroizeOnDrop};

/// Lengths are rounded up to a multiple of this, so that a buffer serves all lengths of its class.
const LENGTH_STEP: usize = 8;
/// Classes with a free list, up to the elements of a key of 4096 bits.
const CLASSES: usize = 18;

/// Off when `assurance/` searches heap blocks for secrets, so that each number keeps its own block.
const REUSE: bool = !cfg!(veilpath_no_reuse);

/// The limbs of numbers.
pub(crate) trait Limb: Copy + Zeroize + 'static {
    const ZERO: Self;
    /// The most free buffers of a class that a thread keeps.
    const MAX_FREE: usize;

    /// Runs `act` on this thread's free lists; `None` while the thread is ending.
    fn with_free_lists<R>(act: impl FnOnce(&mut FreeLists<Self>) -> Option<R>) -> Option<R>;
}

/// The free buffers of a thread, by class. Each is zero up to its capacity.
pub(crate) struct FreeLists<T>([Vec<Vec<T>>; CLASSES]);

impl<T> FreeLists<T> {
    const NONE: Self = Self([const { Vec::new() }; CLASSES]);
}

/// Implements [`Limb`] with a thread-local free list.
macro_rules! impl_limb {
    ($limb:ty, $zero:expr, $max_free:expr) => {
        impl Limb for $limb {
            const ZERO: Self = $zero;
            const MAX_FREE: usize = $max_free;

            fn with_free_lists<R>(act: impl FnOnce(&mut FreeLists<Self>) -> Option<R>) -> Option<R> {
                thread_local! {
                    static FREE: RefCell<FreeLists<$limb>> = const { RefCell::new(FreeLists::NONE) };
                }
                let act = |free: &RefCell<FreeLists<Self>>| act(&mut *free.try_borrow_mut().ok()?);
                FREE.try_with(act).ok().flatten()
            }
        }
    };
}

// A batch of matrix cells has a few hundred numbers of each kind at a time.
impl_limb!(u64, 0, 512);
#[cfg(target_arch = "x86_64")]
impl_limb!(super::ifma::Lanes, super::ifma::Lanes::ZERO, 64);

/// Limbs that are erased when dropped.
#[derive(PartialEq, Eq)]
pub(crate) struct Buffer<T: Limb>(Vec<T>);

/// The words of a number, the lowest first.
pub(crate) type Words = Buffer<u64>;

impl<T: Limb> Buffer<T> {
    pub(crate) fn zeros(count: usize) -> Self {
        let mut buffer = take_zeroed(count);
        buffer.truncate(count);
        Self(buffer)
    }

    /// A copy of `contents`.
    pub(crate) fn copy(contents: &[T]) -> Self {
        let mut buffer = Self::zeros(contents.len());
        buffer.copy_from_slice(contents);
        buffer
    }

    /// Keeps the first `count` limbs. The others are erased on drop.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.0.truncate(count);
    }
}

/// At least this many zeros, from the thread's free list if it has a buffer of this class.
fn take_zeroed<T: Limb>(count: usize) -> Vec<T> {
    if !REUSE {
        return vec![T::ZERO; count];
    }
    let class = count.div_ceil(LENGTH_STEP);
    T::with_free_lists(|free| free.0.get_mut(class)?.pop())
        .unwrap_or_else(|| vec![T::ZERO; LENGTH_STEP * class])
}

impl<T: Limb> Drop for Buffer<T> {
    fn drop(&mut self) {
        // Erase up to the capacity, because truncated limbs may have been secret, too.
        self.0.resize(self.0.capacity(), T::ZERO);
        self.zeroize();
        let class = self.0.len() / LENGTH_STEP;
        let _ = T::with_free_lists(|free| {
            let free_buffers = free.0.get_mut(class)?;
            if REUSE && class > 0 && free_buffers.len() < T::MAX_FREE {
                free_buffers.push(core::mem::take(&mut self.0));
            }
            Some(())
        });
    }
}

impl<T: Limb> Zeroize for Buffer<T> {
    fn zeroize(&mut self) {
        self.0.iter_mut().for_each(Zeroize::zeroize);
    }
}

impl<T: Limb> ZeroizeOnDrop for Buffer<T> {}

impl<T: Limb> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self::copy(self)
    }
}

impl<T: Limb> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Limb> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_buffers_are_erased_up_to_their_capacity() {
        for count in [1, 7, 8, 9, 31, 32, 33, 127, 128, 129] {
            let mut buffer = Words::zeros(count);
            assert!(buffer.iter().all(|&word| word == 0));
            buffer.fill(u64::MAX);
            let copy = buffer.clone();
            assert_eq!((buffer.len(), copy.len()), (count, count));
            // Truncated limbs are erased as well.
            buffer.truncate(count / 2);
            drop(buffer);
            let class = count.div_ceil(LENGTH_STEP);
            let free = u64::with_free_lists(|free| free.0[class].last().cloned()).unwrap();
            assert_eq!(free, vec![0; LENGTH_STEP * class]);
            assert!(copy.iter().all(|&word| word == u64::MAX));
        }
        assert_eq!(Words::zeros(1000).len(), 1000);
        assert!(Words::zeros(0).is_empty());
    }

    #[test]
    fn the_free_list_of_a_thread_is_bounded() {
        let many: Vec<Words> = (0..2 * u64::MAX_FREE).map(|_| Words::zeros(16)).collect();
        drop(many);
        let free = u64::with_free_lists(|free| Some(free.0[2].len()));
        assert_eq!(free, Some(u64::MAX_FREE));
    }
}
