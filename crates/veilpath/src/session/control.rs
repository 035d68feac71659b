//! Lets a user approve and stop running sessions.

use crate::Error;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use veilpath_session::{ChannelStop, NetworkError, SessionError};

/// How often a side that is waiting for its user checks that the other side is still connected.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Controls the session, or all sessions of [`serve`](crate::serve), from another thread. Clones control the same ones.
///
/// By default, a session computes as soon as both sides have agreed. With [`SessionControl::with_approval`], it waits
/// for [`SessionControl::approve`], so that its user can read [`PeerEvent::Agreed`](crate::PeerEvent::Agreed) first.
/// Results that were computed before [`SessionControl::stop`] are kept, and another session with the same options
/// continues from there.
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
    stopped: bool,
    /// The running sessions, by an id.
    sessions: BTreeMap<u64, RunningSession>,
    next_id: u64,
}

#[derive(Debug)]
struct RunningSession {
    connection: ChannelStop,
    /// The agreement that the user has not approved yet.
    awaits_approval: Option<String>,
}

impl SessionControl {
    /// A control that makes each session wait for its user before it computes.
    pub fn with_approval() -> Self {
        let control = Self::default();
        control.state().needs_approval = true;
        control
    }

    /// Lets the session compute that has reported this agreement in [`PeerEvent::Agreed`](crate::PeerEvent::Agreed),
    /// and returns whether one was waiting. The approval holds for this session alone. It names the agreement, because
    /// the user has read only this one: another peer may have agreed meanwhile, or the same peer with
    /// another cohort or plan.
    pub fn approve(&self, agreement: &str) -> bool {
        let mut was_waiting = false;
        for session in self.state().sessions.values_mut() {
            if session.awaits_approval.as_deref() == Some(agreement) {
                session.awaits_approval = None;
                was_waiting = true;
            }
        }
        self.0.changed.notify_all();
        was_waiting
    }

    /// Ends all sessions, which fail with [`NetworkError::Stopped`].
    pub fn stop(&self) {
        let mut state = self.state();
        state.stopped = true;
        for session in state.sessions.values() {
            session.connection.stop();
        }
        self.0.changed.notify_all();
    }

    /// Whether the sessions were stopped.
    pub fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    /// Registers the connection of a session, to close it when the sessions are stopped.
    pub(super) fn attach(&self, connection: ChannelStop) -> AttachedSession<'_> {
        let mut state = self.state();
        if state.stopped {
            connection.stop();
        }
        let id = state.next_id;
        state.next_id += 1;
        let session = RunningSession {
            connection,
            awaits_approval: None,
        };
        state.sessions.insert(id, session);
        AttachedSession { control: self, id }
    }

    /// Ignores poisoning: every field is changed in one step.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session under a control, until it is dropped.
pub(super) struct AttachedSession<'a> {
    control: &'a SessionControl,
    id: u64,
}

impl AttachedSession<'_> {
    /// Makes the session wait for an approval of this agreement from now on, if it needs one.
    pub(super) fn request_approval(&self, agreement: &str) {
        let mut state = self.control.state();
        let needs_approval = state.needs_approval;
        if let Some(session) = state.sessions.get_mut(&self.id) {
            session.awaits_approval = needs_approval.then(|| agreement.to_string());
        }
    }

    /// Waits for the approval that was requested.
    pub(super) fn wait_for_approval(&self, is_connected: impl Fn() -> bool) -> Result<(), Error> {
        let mut state = self.control.state();
        loop {
            if state.stopped {
                return Err(SessionError::from(NetworkError::Stopped).into());
            }
            let session = state.sessions.get(&self.id);
            if session.is_none_or(|session| session.awaits_approval.is_none()) {
                return Ok(());
            }
            if !is_connected() {
                return Err(SessionError::from(NetworkError::LeftBeforeStart).into());
            }
            let changed = &self.control.0.changed;
            let waited = changed.wait_timeout(state, CHECK_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for AttachedSession<'_> {
    fn drop(&mut self) {
        self.control.state().sessions.remove(&self.id);
    }
}
