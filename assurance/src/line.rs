//! Lines on which everything that is sent becomes public: the other side sees it, and so may whoever listens there.

use crate::valgrind::mark_public;
use veilpath_mpc::transport::{MemoryTransport, Transport, TransportError};
use veilpath_protocol::{Channel, ChannelError, MemoryChannel};

/// A line that makes public what it is given.
pub struct Declassifying<T>(pub T);

fn publish(bytes: &[u8]) -> Vec<u8> {
    let copy = bytes.to_vec();
    mark_public(&copy);
    copy
}

impl Transport for Declassifying<MemoryTransport> {
    fn send(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        self.0.send(&publish(bytes))
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), TransportError> {
        self.0.receive(buffer)
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        self.0.flush()
    }
}

impl Channel for Declassifying<MemoryChannel> {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.0.send(&publish(bytes))
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.0.receive(buffer)
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.0.flush()
    }
}
