//! TLS 1.3 between two known keys, and nothing else: no older versions, no certificate authorities, no resumption.
//!
//! The keys are raw public keys (RFC 7250): a certificate would add nothing to the fingerprint, and without one there is no
//! X.509 to parse, to sign or to let expire. Each side accepts exactly the key whose fingerprint it was given, and only after
//! the other side has signed the handshake with it.
//!
//! The cryptography is *ring*'s, which needs only a C compiler on every supported platform. aws-lc-rs needs more tools on some of
//! them; the pure-Rust providers either have no stable release yet or need recent processors.
//!
//! A key is sent as SubjectPublicKeyInfo; a fingerprint is the SHA-256 hash of those bytes. The application protocol (ALPN) is
//! `veilpath`. There is no server name, no session ticket and no early data. The end is `close_notify`.

use crate::error::{InternalError, Misbehaviour};
use crate::{Fingerprint, Identity, SessionError};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::version::TLS13;
use rustls::{
    AlertDescription, CertificateError, CipherSuite, ClientConfig, ClientConnection, Connection,
    DigitallySignedStruct, DistinguishedName, Error, InvalidMessage, PeerIncompatible,
    ServerConfig, ServerConnection, SignatureScheme,
};
use std::sync::{Arc, Mutex, PoisonError};

/// The application protocol (ALPN). Programs that speak another one are rejected during the handshake.
const ALPN_PROTOCOL: &[u8] = b"veilpath";

/// The host's end of a connection that accepts only these keys.
pub(crate) fn server(
    identity: &Identity,
    peer: &Arc<PinnedKeys>,
) -> Result<Connection, SessionError> {
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(config_error)?
        .with_client_cert_verifier(Arc::clone(peer) as Arc<dyn ClientCertVerifier>)
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(
            identity.certified_key(),
        )));
    config.alpn_protocols = vec![ALPN_PROTOCOL.to_vec()];
    // A resumed connection would not authenticate the key again.
    config.send_tls13_tickets = 0;
    Ok(ServerConnection::new(Arc::new(config))
        .map_err(config_error)?
        .into())
}

/// The joining end of a connection that accepts only this key.
pub(crate) fn client(
    identity: &Identity,
    peer: &Arc<PinnedKeys>,
) -> Result<Connection, SessionError> {
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(config_error)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::clone(peer) as Arc<dyn ServerCertVerifier>)
        .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(
            identity.certified_key(),
        )));
    config.alpn_protocols = vec![ALPN_PROTOCOL.to_vec()];
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    // The name is neither sent nor checked: the key identifies the host.
    let name =
        ServerName::try_from("veilpath").map_err(|error| InternalError::Tls(error.to_string()))?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(config_error)?;
    Ok(connection.into())
}

/// The keys that are accepted (several, for a host with several peers), and the one that was presented.
#[derive(Debug)]
pub(crate) struct PinnedKeys {
    expected: Arc<[Fingerprint]>,
    /// Whether every key is accepted, as for workers, whose certificates are checked right after the handshake.
    any: bool,
    presented: Mutex<Option<Fingerprint>>,
    provider: Arc<CryptoProvider>,
}

impl PinnedKeys {
    pub(crate) fn new(expected: Fingerprint) -> Arc<Self> {
        Self::any_of([expected].into())
    }

    pub(crate) fn any_of(expected: Arc<[Fingerprint]>) -> Arc<Self> {
        Self::with(expected, false)
    }

    /// Accepts every key. Only certificates may be sent until `WorkerGate::exchange_certificates` has accepted this one.
    pub(crate) fn of_workers() -> Arc<Self> {
        Self::with([].into(), true)
    }

    fn with(expected: Arc<[Fingerprint]>, any: bool) -> Arc<Self> {
        Arc::new(Self {
            expected,
            any,
            presented: Mutex::new(None),
            provider: provider(),
        })
    }

    /// The key that the peer authenticated with, after the handshake.
    pub(crate) fn authenticated(&self) -> Result<Fingerprint, SessionError> {
        let seen = *self
            .presented
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        seen.filter(|found| self.expects(found))
            .ok_or(Misbehaviour::NoKey.into())
    }

    /// Compares with all keys, so that the time does not depend on which one it is.
    fn expects(&self, found: &Fingerprint) -> bool {
        let matches = self.expected.iter().filter(|expected| *expected == found);
        matches.count() > 0 || self.any
    }

    fn has_presented_key(&self) -> bool {
        let seen = self
            .presented
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        seen.is_some()
    }

    /// The session error for an error of TLS.
    pub(crate) fn explain(&self, error: &Error) -> SessionError {
        match error {
            Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure) => {
                let seen = *self
                    .presented
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                match (seen, &self.expected[..]) {
                    (Some(found), &[expected]) => SessionError::WrongPeer { expected, found },
                    (Some(found), _) => SessionError::UnknownPeer { found },
                    (None, _) => Misbehaviour::NoKey.into(),
                }
            }
            Error::AlertReceived(alert) if rejects_key(*alert) => SessionError::KeyRejected,
            // Not a TLS record: the first bytes of an HTTP or SSH server.
            Error::InvalidMessage(
                InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion,
            ) if !self.has_presented_key() => SessionError::NotVeilpath,
            other => Misbehaviour::Tls(other.to_string()).into(),
        }
    }

    fn check(&self, key: &CertificateDer<'_>, rest: &[CertificateDer<'_>]) -> Result<(), Error> {
        let found = Fingerprint::of(key);
        *self
            .presented
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(found);
        if self.expects(&found) && rest.is_empty() {
            return Ok(());
        }
        Err(CertificateError::ApplicationVerificationFailure.into())
    }

    fn check_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature_with_raw_key(
            message,
            &SubjectPublicKeyInfoDer::from(key.as_ref()),
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }
}

impl ServerCertVerifier for PinnedKeys {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity, intermediates)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(PeerIncompatible::Tls12NotOfferedOrEnabled.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for PinnedKeys {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity, intermediates)?;
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(PeerIncompatible::Tls12NotOfferedOrEnabled.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

/// AES-128 comes first: it is as strong as everything else here, and the fastest for megabytes of garbled tables per second.
fn provider() -> Arc<CryptoProvider> {
    let mut provider = ring::default_provider();
    provider
        .cipher_suites
        .sort_by_key(|suite| suite.suite() != CipherSuite::TLS13_AES_128_GCM_SHA256);
    Arc::new(provider)
}

fn rejects_key(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::AccessDenied
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::UnknownCA
            | AlertDescription::CertificateRequired
    )
}

fn config_error(error: Error) -> SessionError {
    InternalError::Tls(error.to_string()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a handshake in memory until both ends are done or one fails.
    fn handshake(
        client: &mut Connection,
        server: &mut Connection,
    ) -> (Result<(), Error>, Result<(), Error>) {
        let mut results = (Ok(()), Ok(()));
        for _ in 0..10 {
            let mut bytes = Vec::new();
            while client.wants_write() {
                client.write_tls(&mut bytes).unwrap();
            }
            let mut input = &bytes[..];
            while !input.is_empty() && results.1.is_ok() {
                server.read_tls(&mut input).unwrap();
                results.1 = server.process_new_packets().map(|_| ());
            }
            let mut bytes = Vec::new();
            while server.wants_write() {
                server.write_tls(&mut bytes).unwrap();
            }
            let mut input = &bytes[..];
            while !input.is_empty() && results.0.is_ok() {
                client.read_tls(&mut input).unwrap();
                results.0 = client.process_new_packets().map(|_| ());
            }
        }
        results
    }

    fn two() -> (Identity, Identity) {
        (
            Identity::ephemeral().unwrap(),
            Identity::ephemeral().unwrap(),
        )
    }

    #[test]
    fn two_sides_that_expect_each_other_connect_with_tls_1_3() {
        let (a, b) = two();
        let mut client = client(&a, &PinnedKeys::new(b.fingerprint())).unwrap();
        let mut server = server(&b, &PinnedKeys::new(a.fingerprint())).unwrap();
        let (first, second) = handshake(&mut client, &mut server);
        first.unwrap();
        second.unwrap();
        for end in [&client, &server] {
            assert!(!end.is_handshaking());
            assert_eq!(
                end.protocol_version(),
                Some(rustls::ProtocolVersion::TLSv1_3)
            );
        }
    }

    #[test]
    fn a_wrong_key_is_rejected_by_either_side_and_reported() {
        let (a, b) = two();
        let other = Identity::ephemeral().unwrap();
        let expects_other = PinnedKeys::new(other.fingerprint());

        let mut caller = client(&a, &expects_other).unwrap();
        let mut waiting = server(&b, &PinnedKeys::new(a.fingerprint())).unwrap();
        let (rejecting, rejected) = handshake(&mut caller, &mut waiting);
        let error = expects_other.explain(&rejecting.unwrap_err());
        assert!(
            matches!(error, SessionError::WrongPeer { expected, found }
                if expected == other.fingerprint() && found == b.fingerprint()),
            "{error}"
        );
        let error = PinnedKeys::new(a.fingerprint()).explain(&rejected.unwrap_err());
        assert!(matches!(error, SessionError::KeyRejected), "{error}");

        let expects_other = PinnedKeys::new(other.fingerprint());
        let pinned = PinnedKeys::new(b.fingerprint());
        let mut caller = client(&a, &pinned).unwrap();
        let mut waiting = server(&b, &expects_other).unwrap();
        let (rejected, rejecting) = handshake(&mut caller, &mut waiting);
        let error = expects_other.explain(&rejecting.unwrap_err());
        assert!(matches!(error, SessionError::WrongPeer { found, .. }
            if found == a.fingerprint()));
        let error = pinned.explain(&rejected.unwrap_err());
        assert!(matches!(error, SessionError::KeyRejected), "{error}");
    }

    /// A ClientHello of TLS 1.2, without the list of newer versions.
    #[test]
    fn tls_1_2_is_rejected() {
        let mut hello = vec![3, 3];
        hello.extend([7; 32]); // random
        hello.push(0); // no session
        hello.extend([0, 4, 0xc0, 0x2b, 0xc0, 0x2f]); // ECDHE with AES-GCM
        hello.extend([1, 0]); // no compression
        let extensions = [
            0, 10, 0, 4, 0, 2, 0, 29, // X25519
            0, 13, 0, 6, 0, 4, 8, 7, 4, 3, // Ed25519, ECDSA
        ];
        hello.extend([0, extensions.len() as u8]);
        hello.extend(extensions);
        let mut record = vec![
            22,
            3,
            1,
            0,
            hello.len() as u8 + 4,
            1,
            0,
            0,
            hello.len() as u8,
        ];
        record.extend(hello);
        let (a, b) = two();
        let mut server = server(&b, &PinnedKeys::new(a.fingerprint())).unwrap();
        server.read_tls(&mut &record[..]).unwrap();
        let error = server.process_new_packets().unwrap_err();
        assert!(
            matches!(error, Error::PeerIncompatible(_)),
            "a version, not a detail: {error:?}"
        );
        let mut alert = Vec::new();
        server.write_tls(&mut alert).unwrap();
        assert_eq!(alert[0], 21);
        assert_eq!(alert[alert.len() - 1], 70, "protocol_version");
    }

    #[test]
    fn a_peer_without_a_key_is_rejected() {
        let (a, b) = two();
        let mut config = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&TLS13])
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(PinnedKeys::new(b.fingerprint()))
            .with_no_client_auth();
        config.alpn_protocols = vec![ALPN_PROTOCOL.to_vec()];
        let name = ServerName::try_from("veilpath").unwrap();
        let mut client: Connection = ClientConnection::new(Arc::new(config), name)
            .unwrap()
            .into();
        let mut server = server(&b, &PinnedKeys::new(a.fingerprint())).unwrap();
        let (_, rejecting) = handshake(&mut client, &mut server);
        assert!(rejecting.is_err());
    }
}
