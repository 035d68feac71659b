//! The agreed channel, as garbled circuits see it.

use crate::{Channel, ChannelError, Observer, ProtocolError};
use veilpath_garble::GarbleError;
use veilpath_garble::transport::{Transport, TransportError};

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

pub(super) fn to_transport(error: ChannelError) -> TransportError {
    match error {
        ChannelError::Closed => TransportError::Closed,
        ChannelError::TimedOut => TransportError::TimedOut,
        ChannelError::Failed(why) => TransportError::Failed(why),
    }
}

impl From<GarbleError> for ProtocolError {
    fn from(error: GarbleError) -> Self {
        match error {
            GarbleError::Transport(TransportError::Closed) => ChannelError::Closed.into(),
            GarbleError::Transport(TransportError::TimedOut) => ChannelError::TimedOut.into(),
            GarbleError::Transport(TransportError::Failed(why)) => ChannelError::Failed(why).into(),
            GarbleError::Peer(what) => ProtocolError::PeerMisbehaved(what),
            GarbleError::Misuse(what) => ProtocolError::Internal(what),
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
