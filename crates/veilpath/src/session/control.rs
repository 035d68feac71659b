//! Lets a user approve and stop a running session.

use crate::Error;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use veilpath_session::{ChannelStop, NetworkError, SessionError};

/// How often a side that waits for its user checks whether the other side is still connected.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Controls one session from another thread. Clones control the same session.
///
/// By default a session computes as soon as both sides have agreed. With [`SessionControl::with_approval`] it waits for
/// [`SessionControl::approve`], so that its user can read [`PeerEvent::Agreed`](crate::PeerEvent::Agreed) first. Results that were
/// computed before [`SessionControl::stop`] are kept, and another session with the same options continues.
#[derive(Clone, Debug, Default)]
pub struct SessionControl(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    needs_approval: bool,
    approved: bool,
    stopped: bool,
    connection: Option<ChannelStop>,
}

impl SessionControl {
    /// A control with which the session waits for its user before it computes.
    pub fn with_approval() -> Self {
        let control = Self::default();
        control.state().needs_approval = true;
        control
    }

    /// Lets the session compute what was agreed on.
    pub fn approve(&self) {
        self.state().approved = true;
        self.0.changed.notify_all();
    }

    /// Ends the session; it fails with [`NetworkError::Stopped`].
    pub fn stop(&self) {
        let mut state = self.state();
        state.stopped = true;
        if let Some(connection) = &state.connection {
            connection.stop();
        }
        self.0.changed.notify_all();
    }

    /// Whether the session was stopped.
    pub fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    /// Registers the connection to be closed when the session is stopped.
    pub(super) fn attach(&self, connection: ChannelStop) {
        let mut state = self.state();
        if state.stopped {
            connection.stop();
        }
        state.connection = Some(connection);
    }

    /// Waits until the user has approved, if the session needs that.
    pub(super) fn wait(&self, is_connected: impl Fn() -> bool) -> Result<(), Error> {
        let mut state = self.state();
        loop {
            if state.stopped {
                return Err(SessionError::from(NetworkError::Stopped).into());
            }
            if state.approved || !state.needs_approval {
                return Ok(());
            }
            if !is_connected() {
                return Err(SessionError::from(NetworkError::LeftBeforeStart).into());
            }
            let waited = self.0.changed.wait_timeout(state, CHECK_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Poisoning is harmless: every field is changed in one step.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
