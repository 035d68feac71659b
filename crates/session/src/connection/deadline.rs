//! Deadlines of a connection, which traffic does not extend.

use super::{SharedConnection, lock, millis};
use crate::error::{Misbehaviour, NetworkError, WorkerKeyProblem};
use std::time::Duration;
use veilpath_channel::ChannelError;
use veilpath_protocol::CancelToken;

impl SharedConnection {
    /// Ends the connection after this time, whatever arrives.
    pub(crate) fn set_deadline(&self, time: Duration) {
        *lock(&self.deadline) = Some((self.now().saturating_add(millis(time)), time));
    }

    /// Removes the deadline.
    pub(crate) fn clear_deadline(&self) {
        *lock(&self.deadline) = None;
    }

    /// Ends the connection after this time, when the worker key of the other side expires.
    pub(crate) fn set_expiry(&self, time: Duration) {
        let _ = self.expiry.set(self.now().saturating_add(millis(time)));
    }

    /// Ends the connection soon after this token is cancelled. Only the first token is used.
    pub(crate) fn cancel_with(&self, token: CancelToken) {
        let _ = self.cancel.set(token);
    }

    pub(super) fn check_deadline(&self) -> Result<(), ChannelError> {
        if self.cancel.get().is_some_and(CancelToken::is_cancelled) {
            return Err(self.fail(NetworkError::Stopped.into()));
        }
        if self.expiry.get().is_some_and(|&end| self.now() > end) {
            return Err(self.fail(Misbehaviour::WorkerKey(WorkerKeyProblem::Expired).into()));
        }
        match *lock(&self.deadline) {
            Some((end, time)) if self.now() > end => {
                Err(self.fail(NetworkError::SessionTooLong(time).into()))
            }
            _ => Ok(()),
        }
    }
}
