//! Who may connect with a worker key.
//!
//! ```text
//! host                                       join
//!  │◀═══════ TLS 1.3, each with its own key ═══════▶│   any key: it proves nothing without what follows
//!  │◀───────────────────────── certificate ──│   which institution lets this key compute which tiles, and until when
//!  │── certificate ─────────────────────────▶│   each side checks it, and only then goes on
//! ```
//!
//! Certificates are encrypted, so that an eavesdropper does not learn who compares what (the greetings at a gateway are
//! not encrypted, see `gateway.rs`). Anyone can connect to a host, so the joining side presents its certificate first:
//! a connection without a valid one is rejected like one with a wrong key, and nothing is sent to it. A session does
//! not outlast the key of the other side.

use super::certificate::{MAX_BYTES, WorkerCertificate};
use crate::error::{Misbehaviour, WorkerKeyProblem};
use crate::limits::HANDSHAKE_TIMEOUT;
use crate::{Fingerprint, SecureChannel, SessionError, date};
use veilpath_channel::Channel;
use veilpath_protocol::Role;

/// What each side of a connection must present.
#[derive(Clone, Debug)]
pub(crate) struct WorkerGate {
    /// This side's role.
    pub(crate) role: Role,
    /// Whose workers may connect.
    pub(crate) institution: Fingerprint,
    pub(crate) agreement: String,
    /// The tile; `None` for any tile that the other side's key allows.
    pub(crate) tile: Option<u32>,
    /// This side's certificate; a coordinator has the key of the institution, and needs none.
    pub(crate) own: Option<WorkerCertificate>,
}

impl WorkerGate {
    /// Exchanges certificates on a new connection, and checks the other side's.
    pub(crate) fn exchange_certificates(
        &self,
        channel: &mut SecureChannel,
    ) -> Result<(), SessionError> {
        let connection = channel.connection();
        connection.set_deadline(HANDSHAKE_TIMEOUT);
        if self.role == Role::Join {
            self.send_certificate(channel)?;
        }
        let mut length = [0; 2];
        channel.receive(&mut length)?;
        let length = usize::from(u16::from_le_bytes(length));
        if length > MAX_BYTES {
            return Err(refused(WorkerKeyProblem::Forged));
        }
        let mut bytes = vec![0; length];
        channel.receive(&mut bytes)?;
        let theirs = WorkerCertificate::from_bytes(&bytes);
        let theirs = theirs.ok_or_else(|| refused(WorkerKeyProblem::Forged))?;
        let key = connection.peer_key().ok_or(Misbehaviour::NoKey)?;
        let (institution, agreement) = (self.institution, &self.agreement);
        let checked = theirs.check(institution, key, agreement, self.tile, date::now());
        connection.set_expiry(checked.map_err(refused)?);
        if self.role == Role::Host {
            self.send_certificate(channel)?;
        }
        connection.clear_deadline();
        channel.set_certificate(theirs);
        Ok(())
    }

    fn send_certificate(&self, channel: &mut SecureChannel) -> Result<(), SessionError> {
        match &self.own {
            Some(own) => own.send(channel),
            None => Ok(()),
        }
    }
}

impl WorkerCertificate {
    /// Sends the certificate.
    pub(super) fn send(&self, channel: &mut SecureChannel) -> Result<(), SessionError> {
        let bytes = self.to_bytes()?;
        let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
        channel.send(&length.to_le_bytes())?;
        channel.send(&bytes)?;
        Ok(channel.flush()?)
    }
}

fn refused(problem: WorkerKeyProblem) -> SessionError {
    Misbehaviour::WorkerKey(problem).into()
}
