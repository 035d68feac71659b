//! Watches a connection that another thread uses.

use super::{SharedConnection, lock};
use crate::error::NetworkError;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// Monitors a connection, and can abort it, while another thread uses it.
#[derive(Debug)]
pub(crate) struct ConnectionMonitor {
    connection: Arc<SharedConnection>,
    /// A clone, because the connection's own socket is locked while a write blocks.
    socket: TcpStream,
}

impl ConnectionMonitor {
    pub(crate) fn new(connection: &Arc<SharedConnection>) -> io::Result<Self> {
        Ok(Self {
            socket: lock(&connection.outgoing).try_clone()?,
            connection: Arc::clone(connection),
        })
    }

    /// How long nothing arrived.
    pub(crate) fn idle_for(&self) -> Duration {
        self.connection.idle_for()
    }

    /// Closes the connection at once, with this reason for the thread that uses it.
    pub(crate) fn stop(&self, reason: NetworkError) {
        self.connection.fail(reason.into());
        self.abort();
    }

    /// Closes the connection at once, without a reason for the thread that uses it.
    pub(crate) fn abort(&self) {
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}
