//! When a session of a peer ends for the server, although its results are still to be saved.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The end of a session of a peer. Clones share it.
///
/// Saving results takes longer if all are possible than if one is not. The server therefore accepts the peer's next connection, and
/// stops waiting for the peer, as soon as the session has [ended](Self::reached), without waiting until the results are saved.
#[derive(Clone, Debug, Default)]
pub struct SessionEnd {
    state: Arc<State>,
    /// Whether the results of one of the peer's sessions are being saved.
    saving: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct State {
    reached: AtomicBool,
    superseded: AtomicBool,
}

/// Lets the results of the peer's next session be saved when it is dropped.
pub(crate) struct SavingGuard(SessionEnd);

impl SessionEnd {
    /// Tells the server that the session has ended: its journal is released and its channel is closed. Returns whether its
    /// results must be saved. If not, those of an earlier session of the peer, which are the same, are still being saved: the
    /// peer may return more often than results can be written.
    pub fn reached(&self) -> bool {
        if self.is_reached() {
            return !self.is_superseded();
        }
        let superseded = self.saving.swap(true, Ordering::SeqCst);
        self.state.superseded.store(superseded, Ordering::SeqCst);
        self.state.reached.store(true, Ordering::SeqCst);
        !superseded
    }

    /// The end of another session of the same peer.
    pub(crate) fn of_next_session(&self) -> Self {
        Self {
            state: Arc::default(),
            saving: Arc::clone(&self.saving),
        }
    }

    pub(crate) fn guard(&self) -> SavingGuard {
        SavingGuard(self.clone())
    }

    pub(crate) fn is_reached(&self) -> bool {
        self.state.reached.load(Ordering::SeqCst)
    }

    /// Whether the session's results are not saved because an earlier session's are.
    pub(crate) fn is_superseded(&self) -> bool {
        self.state.superseded.load(Ordering::SeqCst)
    }
}

impl Drop for SavingGuard {
    fn drop(&mut self) {
        if self.0.is_reached() && !self.0.is_superseded() {
            self.0.saving.store(false, Ordering::SeqCst);
        }
    }
}
