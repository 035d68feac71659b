//! The agreed channel, as garbled circuits see it.

use crate::{Channel, ChannelError, Observer, ProtocolError};
use std::thread::ScopedJoinHandle;
use veilpath_mpc::MpcError;
use veilpath_mpc::transport::{Transport, TransportError};

/// Moves bytes over the channel, and tells the observer of finished cells.
pub(super) struct Line<'a> {
    pub(super) channel: &'a mut dyn Channel,
    pub(super) observer: &'a dyn Observer,
}

impl Transport for Line<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        self.channel.send(bytes).map_err(to_transport)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), TransportError> {
        self.channel.receive(buffer).map_err(to_transport)
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        self.channel.flush().map_err(to_transport)
    }

    fn finished(&mut self, cells: usize) {
        self.observer.cells(cells as u64);
    }
}

fn to_transport(error: ChannelError) -> TransportError {
    match error {
        ChannelError::Closed => TransportError::Closed,
        ChannelError::TimedOut => TransportError::TimedOut,
        ChannelError::Failed(why) => TransportError::Failed(why),
    }
}

impl From<MpcError> for ProtocolError {
    fn from(error: MpcError) -> Self {
        match error {
            MpcError::Transport(TransportError::Closed) => ChannelError::Closed.into(),
            MpcError::Transport(TransportError::TimedOut) => ChannelError::TimedOut.into(),
            MpcError::Transport(TransportError::Failed(why)) => ChannelError::Failed(why).into(),
            MpcError::Peer(what) => ProtocolError::PeerMisbehaved(what),
            MpcError::Misuse(what) => ProtocolError::Internal(what),
        }
    }
}

/// Does a piece of work that the observer may time.
pub(super) fn timed<T>(
    observer: &dyn Observer,
    work: impl FnOnce() -> Result<T, ProtocolError>,
) -> Result<T, ProtocolError> {
    let (mut work, mut result) = (Some(work), None);
    observer.work(&mut || result = work.take().map(|work| work()));
    result.unwrap_or(Err(ProtocolError::Internal("work was not done")))
}

/// What a lane's thread came to.
pub(super) fn joined(
    thread: ScopedJoinHandle<'_, Result<(), ProtocolError>>,
) -> Result<(), ProtocolError> {
    match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
