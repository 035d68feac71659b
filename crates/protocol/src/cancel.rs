//! Cancels a computation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cancels a computation. Clones share one state: any of them can cancel, and cancelling is final.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Asks everything that checks this token to stop soon.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody has cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
