//! The identity of a side: an Ed25519 key pair, and the fingerprint by which the other side recognises it.
//!
//! The fingerprint is the SHA-256 hash of the public key (as SubjectPublicKeyInfo). The two institutions exchange fingerprints
//! once, over a trusted channel: by phone, or in the contract.

use crate::error::{FileProblem, InternalError, SessionError};
use crate::state_dir;
use crate::unfinished_keys::{NEW_KEY_PREFIX, remove_abandoned, remove_copies};
use ring::digest::{SHA256, digest};
use ring::{hmac, rand::SystemRandom, signature::Ed25519KeyPair};
use rustls::SignatureScheme;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;
use std::fmt;
use std::fs::TryLockError;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The largest identity file that is read; a real one has about two hundred bytes.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// A key pair, and what is derived from it.
#[derive(Clone)]
pub struct Identity {
    key: Arc<CertifiedKey>,
    fingerprint: Fingerprint,
    secret: hmac::Key,
}

/// The hash of a public key.
#[derive(Clone, Copy, Eq)]
pub struct Fingerprint([u8; 32]);

impl Identity {
    /// A new identity that is not stored: for tests, and for both sides on one machine.
    pub fn ephemeral() -> Result<Self, SessionError> {
        Self::from_pkcs8(&new_key()?).ok_or(InternalError::NewKey.into())
    }

    /// A new key, and its PEM form for the caller to store.
    pub(crate) fn new_with_pem() -> Result<(Self, Zeroizing<String>), SessionError> {
        let key = new_key()?;
        let identity = Self::from_pkcs8(&key).ok_or(InternalError::NewKey)?;
        Ok((identity, pem(&key)))
    }

    /// Reads the identity in a file.
    pub fn load(path: &Path) -> Result<Self, SessionError> {
        let failed = |error: io::Error| SessionError::io(path, error);
        let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => SessionError::file(path, FileProblem::NoIdentity),
            _ => failed(error),
        })?;
        if metadata.len() > MAX_FILE_BYTES {
            return Err(SessionError::file(path, FileProblem::NotAnIdentity));
        }
        check_permissions(path, &metadata)?;
        let text = Zeroizing::new(std::fs::read(path).map_err(failed)?);
        let identity = Self::from_pem(&text)
            .ok_or_else(|| SessionError::file(path, FileProblem::NotAnIdentity))?;
        remove_copies(path, &text);
        Ok(identity)
    }

    /// Parses the content of an identity file.
    pub(crate) fn from_pem(text: &[u8]) -> Option<Self> {
        let key = PrivatePkcs8KeyDer::from_pem_slice(text).ok()?;
        Self::from_pkcs8(key.secret_pkcs8_der())
    }

    /// Creates an identity and writes it to a file that does not exist yet.
    pub fn create(path: &Path) -> Result<Self, SessionError> {
        let failed = |error: io::Error| SessionError::io(path, error);
        if let Some(folder) = path.parent() {
            state_dir::create_private_dir(folder)?;
        }
        let key = new_key()?;
        let identity = Self::from_pkcs8(&key).ok_or(InternalError::NewKey)?;
        remove_abandoned(path);
        // Written to a temporary file and linked to its name: a crash leaves no partial key, and no key is overwritten.
        let new = path.with_extension(format!("{NEW_KEY_PREFIX}{}", std::process::id()));
        let written = state_dir::private_file()
            .create_new(true)
            .open(&new)
            .and_then(|mut file| {
                // Locked until the key has its name, so that no other process takes it for an abandoned file.
                if let Err(TryLockError::WouldBlock) = file.try_lock() {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                file.write_all(pem(&key).as_bytes())?;
                file.sync_all()?;
                match std::fs::hard_link(&new, path) {
                    // Not every file system has hard links.
                    Err(_) if !path.exists() => std::fs::rename(&new, path),
                    linked => linked,
                }
            });
        let _ = std::fs::remove_file(&new);
        written.map_err(failed)?;
        state_dir::sync_parent_dir(path);
        Ok(identity)
    }

    /// Reads the identity in a file, or creates it; the flag says whether it is new.
    pub fn load_or_create(path: &Path) -> Result<(Self, bool), SessionError> {
        if path.exists() {
            return Ok((Self::load(path)?, false));
        }
        match Self::create(path) {
            Ok(identity) => Ok((identity, true)),
            // Another process created it in the meantime.
            Err(_) if path.exists() => Ok((Self::load(path)?, false)),
            Err(error) => Err(error),
        }
    }

    /// The fingerprint of the public key.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The public key.
    pub(crate) fn public_key(&self) -> Result<PublicKey, SessionError> {
        let key = self.key.cert.first();
        key.and_then(|key| PublicKey::from_spki(key))
            .ok_or(InternalError::NewKey.into())
    }

    /// Signs a message with the private key.
    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SessionError> {
        let signer = self.key.key.choose_scheme(&[SignatureScheme::ED25519]);
        let signer = signer.ok_or(InternalError::NewKey)?;
        let signature = signer.sign(message);
        signature.map_err(|error| InternalError::Tls(error.to_string()).into())
    }

    pub(crate) fn certified_key(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.key)
    }

    /// An authentication tag (HMAC) of these parts under the private key.
    pub(crate) fn tag(&self, purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.secret);
        for part in [purpose.as_bytes()].iter().chain(parts) {
            context.update(&(part.len() as u64).to_le_bytes());
            context.update(part);
        }
        let mut tag = [0; 32];
        tag.copy_from_slice(context.sign().as_ref());
        tag
    }

    fn from_pkcs8(pkcs8: &[u8]) -> Option<Self> {
        let key = PrivatePkcs8KeyDer::from(pkcs8);
        let key = rustls::crypto::ring::sign::any_eddsa_type(&key).ok()?;
        let public = key.public_key()?;
        let fingerprint = Fingerprint::of(&public);
        let key = CertifiedKey::new(vec![CertificateDer::from(public.to_vec())], key);
        Some(Self {
            key: Arc::new(key),
            fingerprint,
            secret: hmac::Key::new(hmac::HMAC_SHA256, pkcs8),
        })
    }
}

/// Shows only the fingerprint.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.fingerprint)
    }
}

impl Fingerprint {
    /// The fingerprint of a public key in SubjectPublicKeyInfo form.
    pub(crate) fn of(public_key: &[u8]) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, public_key).as_ref());
        Self(hash)
    }

    /// The hash of the public key.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Without the hyphens, for files and their names.
    pub(crate) fn plain(&self) -> String {
        hex(&self.0)
    }
}

/// Compares in constant time.
impl PartialEq for Fingerprint {
    fn eq(&self, other: &Self) -> bool {
        let differing = self
            .0
            .iter()
            .zip(&other.0)
            .fold(0, |all, (a, b)| all | (a ^ b));
        std::hint::black_box(differing) == 0
    }
}

/// Sixteen groups of four hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, pair) in self.0.chunks(2).enumerate() {
            let hyphen = if index == 0 { "" } else { "-" };
            write!(f, "{hyphen}{}", hex(pair))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// A text that is not a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint has 64 hexadecimal digits; hyphens, colons and spaces are ignored")]
pub struct FingerprintError;

/// Parses the displayed form, with or without hyphens, colons or spaces, in either case.
impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let digits: String = text
            .chars()
            .filter(|c| !matches!(c, '-' | ':') && !c.is_whitespace())
            .collect();
        from_hex(&digits).map(Self).ok_or(FingerprintError)
    }
}

mod public_key;
pub(crate) use public_key::PublicKey;

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A hash from 64 hexadecimal digits.
pub(crate) fn from_hex(text: &str) -> Option<[u8; 32]> {
    let digits: Vec<char> = text.chars().collect();
    if digits.len() != 64 {
        return None;
    }
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(digits.chunks(2)) {
        for digit in pair {
            *byte = *byte << 4 | u8::try_from(digit.to_digit(16)?).ok()?;
        }
    }
    Some(hash)
}

fn new_key() -> Result<Zeroizing<Vec<u8>>, SessionError> {
    Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
        .map(|document| Zeroizing::new(document.as_ref().to_vec()))
        .map_err(|_| InternalError::NoRandomness.into())
}

/// Refuses a key file that other users can read.
#[cfg(unix)]
pub(crate) fn check_permissions(
    path: &Path,
    metadata: &std::fs::Metadata,
) -> Result<(), SessionError> {
    use std::os::unix::fs::PermissionsExt;
    if metadata.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(SessionError::file(path, FileProblem::ReadableByOthers))
}

#[cfg(not(unix))]
pub(crate) fn check_permissions(_: &Path, _: &std::fs::Metadata) -> Result<(), SessionError> {
    Ok(())
}

/// A key as PEM. The text is erased when dropped, and allocated once, because a growing text leaves copies.
fn pem(key: &[u8]) -> Zeroizing<String> {
    const BASE64_ALPHABET: &[u8; 64] =
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = Zeroizing::new(String::with_capacity(2 * key.len() + 64));
    text.push_str("-----BEGIN PRIVATE KEY-----\n");
    // Lines of 64 Base64 digits.
    for line in key.chunks(48) {
        for three in line.chunks(3) {
            let byte = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for digit in 0..4 {
                let value = (bits >> (18 - 6 * digit) & 63) as usize;
                let used = digit <= three.len();
                text.push(if used {
                    char::from(BASE64_ALPHABET[value])
                } else {
                    '='
                });
            }
        }
        text.push('\n');
    }
    text.push_str("-----END PRIVATE KEY-----\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_checked_with_the_public_key() {
        let [ours, theirs] = [0, 1].map(|_| Identity::ephemeral().unwrap());
        let key = ours.public_key().unwrap();
        assert_eq!(key.fingerprint(), ours.fingerprint());
        let signature = hex(&ours.sign(b"message").unwrap());
        assert!(key.verifies(b"message", &signature));
        assert!(!key.verifies(b"massage", &signature));
        assert!(
            !theirs
                .public_key()
                .unwrap()
                .verifies(b"message", &signature)
        );
        for broken in ["", "00", &signature[2..], &signature.to_uppercase()] {
            assert!(!key.verifies(b"message", broken));
        }
    }

    #[test]
    fn an_identity_is_read_back_from_its_file_and_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/identity.pem");
        let (made, new) = Identity::load_or_create(&path).unwrap();
        assert!(new);
        let (read, new) = Identity::load_or_create(&path).unwrap();
        assert!(!new);
        assert_eq!(made.fingerprint(), read.fingerprint());
        assert_eq!(made.tag("x", &[b"y"]), read.tag("x", &[b"y"]));
        assert_ne!(made.tag("x", &[b"y", b"z"]), read.tag("x", &[b"yz"]));
        assert!(Identity::create(&path).is_err());
        assert_eq!(
            std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1
        );
        assert!(!format!("{made:?}").contains("secret"));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_may_read_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("identity.pem");
        Identity::create(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = Identity::load(&path).unwrap_err();
        let problem = matches!(
            &error,
            SessionError::File {
                problem: FileProblem::ReadableByOthers,
                ..
            }
        );
        assert!(problem, "{error}");
    }

    #[test]
    fn other_files_are_rejected_with_their_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("identity.pem");
        let error = Identity::load(&path).unwrap_err().to_string();
        assert!(error.contains("identity.pem") && error.contains("no identity"));
        for content in [
            "",
            "hello",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        ] {
            std::fs::remove_file(&path).ok();
            state_dir::private_file()
                .create_new(true)
                .open(&path)
                .unwrap()
                .write_all(content.as_bytes())
                .unwrap();
            assert!(matches!(
                Identity::load(&path),
                Err(SessionError::File { .. })
            ));
        }
    }

    #[test]
    fn fingerprints_are_parsed_as_people_write_them() {
        let shown = Identity::ephemeral().unwrap().fingerprint();
        let text = shown.to_string();
        assert_eq!(text.len(), 64 + 15);
        for spelling in [
            text.clone(),
            text.replace('-', ""),
            text.replace('-', ":").to_uppercase(),
            text.replace('-', " "),
        ] {
            assert_eq!(spelling.parse(), Ok(shown));
        }
        for wrong in ["", "12", &text[1..], &text.replace(['0', 'a', '7'], "g")] {
            assert!(wrong.parse::<Fingerprint>().is_err());
        }
        assert_ne!(shown, Identity::ephemeral().unwrap().fingerprint());
    }
}
