//! Memory for numbers, which is reused.
//!
//! An operation on short keys takes a few microseconds, and the system's allocator a good part of them. So each
//! thread keeps some free pieces. They are erased before they are kept.
#![deny(unsafe_code)]

use core::cell::RefCell;
use core::ops::{Deref, DerefMut};

use zeroize::{Zeroize, ZeroizeOnDrop};

/// Lengths are rounded up to a multiple of this, so that a piece serves all lengths of its class.
const GRANULE: usize = 8;
/// Classes that are kept, up to the elements of a key of 4096 bits.
const CLASSES: usize = 18;

/// Off if blocks of memory are searched for secrets (`assurance/`): then each number has its own block for its whole
/// life.
const REUSE: bool = !cfg!(veilpath_no_reuse);

/// The limbs of numbers.
pub(crate) trait Limb: Copy + Zeroize + 'static {
    const ZERO: Self;
    /// Pieces of a class that a thread keeps.
    const KEPT: usize;

    /// The pieces that this thread keeps; `None` while it is ending.
    fn with_free<R>(act: impl FnOnce(&mut Free<Self>) -> Option<R>) -> Option<R>;
}

/// The free pieces of a thread, by class: zeros, as many as a piece has room for.
pub(crate) struct Free<T>([Vec<Vec<T>>; CLASSES]);

impl<T> Free<T> {
    const NONE: Self = Self([const { Vec::new() }; CLASSES]);
}

/// Maps a type of limb to its free pieces.
macro_rules! reused {
    ($limb:ty, $zero:expr, $kept:expr) => {
        impl Limb for $limb {
            const ZERO: Self = $zero;
            const KEPT: usize = $kept;

            fn with_free<R>(act: impl FnOnce(&mut Free<Self>) -> Option<R>) -> Option<R> {
                thread_local! {
                    static FREE: RefCell<Free<$limb>> = const { RefCell::new(Free::NONE) };
                }
                let act = |free: &RefCell<Free<Self>>| act(&mut *free.try_borrow_mut().ok()?);
                FREE.try_with(act).ok().flatten()
            }
        }
    };
}

// A batch of cells has a few hundred numbers of each kind at a time.
reused!(u64, 0, 512);
#[cfg(target_arch = "x86_64")]
reused!(super::ifma::Lanes, super::ifma::Lanes::ZERO, 64);

/// A piece of memory that is wiped when dropped.
#[derive(PartialEq, Eq)]
pub(crate) struct Memory<T: Limb>(Vec<T>);

/// The words of a number, the lowest first.
pub(crate) type Words = Memory<u64>;

impl<T: Limb> Memory<T> {
    /// This many zeros.
    pub(crate) fn zeros(count: usize) -> Self {
        let mut piece = kept(count);
        piece.truncate(count);
        Self(piece)
    }

    /// The same contents in memory of its own.
    pub(crate) fn copy(contents: &[T]) -> Self {
        let mut piece = Self::zeros(contents.len());
        piece.copy_from_slice(contents);
        piece
    }

    /// Truncates to the first `length`.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.0.truncate(count);
    }
}

/// At least this many zeros.
fn kept<T: Limb>(count: usize) -> Vec<T> {
    if !REUSE {
        return vec![T::ZERO; count];
    }
    let class = count.div_ceil(GRANULE);
    T::with_free(|free| free.0.get_mut(class)?.pop())
        .unwrap_or_else(|| vec![T::ZERO; GRANULE * class])
}

impl<T: Limb> Drop for Memory<T> {
    fn drop(&mut self) {
        // Limb by limb, to the end of the capacity: what was truncated may have been secret, too.
        self.0.resize(self.0.capacity(), T::ZERO);
        self.zeroize();
        let class = self.0.len() / GRANULE;
        let _ = T::with_free(|free| {
            let pieces = free.0.get_mut(class)?;
            if REUSE && class > 0 && pieces.len() < T::KEPT {
                pieces.push(core::mem::take(&mut self.0));
            }
            Some(())
        });
    }
}

impl<T: Limb> Zeroize for Memory<T> {
    fn zeroize(&mut self) {
        self.0.iter_mut().for_each(Zeroize::zeroize);
    }
}

impl<T: Limb> ZeroizeOnDrop for Memory<T> {}

impl<T: Limb> Clone for Memory<T> {
    fn clone(&self) -> Self {
        Self::copy(self)
    }
}

impl<T: Limb> Deref for Memory<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Limb> DerefMut for Memory<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_erased_and_long_enough() {
        for count in [1, 7, 8, 9, 31, 32, 33, 127, 128, 129] {
            let mut piece = Words::zeros(count);
            assert!(piece.iter().all(|&word| word == 0));
            piece.fill(u64::MAX);
            let copy = piece.clone();
            assert_eq!((piece.len(), copy.len()), (count, count));
            // What is truncated is erased as well.
            piece.truncate(count / 2);
            drop(piece);
            let class = count.div_ceil(GRANULE);
            let free = u64::with_free(|free| free.0[class].last().cloned()).unwrap();
            assert_eq!(free, vec![0; GRANULE * class]);
            assert!(copy.iter().all(|&word| word == u64::MAX));
        }
        assert_eq!(Words::zeros(1000).len(), 1000);
        assert!(Words::zeros(0).is_empty());
    }

    #[test]
    fn the_cache_of_a_thread_is_limited() {
        let many: Vec<Words> = (0..2 * u64::KEPT).map(|_| Words::zeros(16)).collect();
        drop(many);
        let kept = u64::with_free(|free| Some(free.0[2].len()));
        assert_eq!(kept, Some(u64::KEPT));
    }
}
