//! Ending a computation before it is finished.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends a computation before it is finished. Clones share one state: whoever has one can cancel, and nobody can undo it.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Asks everything that has this token to end soon.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody has cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
