//! Memory for elements, used again and again.
//!
//! An operation on short keys takes a few microseconds, and the system's allocator a good part of them: most pieces are
//! longer than those it keeps at hand. So each thread keeps a few of its own. They are wiped before they are kept.
#![deny(unsafe_code)]

use core::cell::RefCell;
use core::ops::{Deref, DerefMut};

use zeroize::Zeroize;

use super::Lanes;

/// Pieces that a thread keeps.
const KEPT: usize = 64;
/// The longest piece worth keeping, in vectors of eight limbs: beyond it the work is longer by far than an allocation.
const LONGEST: usize = 128;

thread_local! {
    static FREE: RefCell<Vec<Vec<Lanes>>> = const { RefCell::new(Vec::new()) };
}

/// A piece of memory that is wiped when dropped.
pub(super) struct Memory(Vec<Lanes>);

impl Memory {
    /// So many zeros.
    pub(super) fn zeros(count: usize) -> Self {
        let mut piece = kept(count);
        piece.resize(count, Lanes::ZERO);
        Self(piece)
    }

    /// The same contents in memory of its own.
    pub(super) fn copy(contents: &[Lanes]) -> Self {
        let mut piece = kept(contents.len());
        piece.extend_from_slice(contents);
        Self(piece)
    }
}

/// An empty piece with room for so many.
fn kept(count: usize) -> Vec<Lanes> {
    let fitting = |free: &RefCell<Vec<Vec<Lanes>>>| {
        let mut free = free.try_borrow_mut().ok()?;
        // All pieces of a key have about the same length, so the last one nearly always fits.
        let place = free.iter().rposition(|piece| piece.capacity() >= count)?;
        Some(free.swap_remove(place))
    };
    FREE.try_with(fitting)
        .ok()
        .flatten()
        .unwrap_or_else(|| Vec::with_capacity(count))
}

impl Drop for Memory {
    fn drop(&mut self) {
        // Wipes all of the capacity, and leaves it empty.
        self.0.zeroize();
        if (1..=LONGEST).contains(&self.0.capacity()) {
            let piece = core::mem::take(&mut self.0);
            // A thread that is ending keeps nothing more.
            let _ = FREE.try_with(|free| {
                if let Ok(mut free) = free.try_borrow_mut()
                    && free.len() < KEPT
                {
                    free.push(piece);
                }
            });
        }
    }
}

impl Deref for Memory {
    type Target = [Lanes];

    fn deref(&self) -> &[Lanes] {
        &self.0
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [Lanes] {
        &mut self.0
    }
}
