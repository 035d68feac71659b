//! Key files: everything that is written can be read, and nothing else.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail loudly"
)]

use crate::common;

use common::key;
use veilpath_paillier::{Error, KeyFileFault, KeySize, PublicKey, SecretKey};

#[test]
fn every_size_survives_the_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    for size in KeySize::ALL {
        let key = key(size);
        let (secret, public) = (
            folder.path().join(format!("{size}.key")),
            folder.path().join(format!("{size}.pub")),
        );
        key.save(&secret).unwrap();
        key.public_key().save(&public).unwrap();
        let loaded = SecretKey::load(&secret).unwrap();
        assert_eq!(*loaded.to_file_text(), *key.to_file_text());
        assert_eq!(&PublicKey::load(&public, size).unwrap(), key.public_key());
    }
}

#[test]
fn the_text_of_a_file_is_frozen() {
    let key = key(KeySize::Bits512);
    let text = key.public_key().to_file_text();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[..2], ["veilpath paillier public key 1", "bits 512"]);
    assert!(lines[2].starts_with("n ") && lines[2].len() == 130);
    let text = key.to_file_text();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[..2], ["veilpath paillier secret key 1", "bits 512"]);
    assert!(lines[3].starts_with("p ") && lines[3].len() == 66);
    assert!(lines[4].starts_with("q ") && lines[4].len() == 66);
    assert_eq!(lines.len(), 5);
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_a_secret_key() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret.key");
    key(KeySize::Bits512).save(&path).unwrap();
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    assert!(matches!(
        SecretKey::load(&path),
        Err(Error::KeyFile(KeyFileFault::Readable { mode: 0o640 }))
    ));
}

#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret.key");
    std::fs::write(&path, "precious").unwrap();
    let key = key(KeySize::Bits512);
    assert!(matches!(
        key.save(&path),
        Err(Error::KeyFile(KeyFileFault::Exists))
    ));
    assert!(matches!(
        key.public_key().save(&path),
        Err(Error::KeyFile(KeyFileFault::Exists))
    ));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn line_ends_that_an_editor_changed_are_accepted() {
    let secret = key(KeySize::Bits512);
    let (text, public) = (secret.to_file_text(), secret.public_key().to_file_text());
    for change in [
        |text: &str| text.replace('\n', "\r\n"),
        |text: &str| text.trim_end().into(),
    ] {
        assert!(SecretKey::from_file_text(&change(&text)).is_ok());
        assert!(PublicKey::from_file_text(&change(&public), KeySize::Bits512).is_ok());
    }
}

#[test]
fn damaged_files_are_refused() {
    let secret = key(KeySize::Bits512);
    let (text, public) = (secret.to_file_text(), secret.public_key().to_file_text());
    let refused = |text: &str| SecretKey::from_file_text(text).is_err();
    assert!(!refused(&text));
    assert!(refused(""));
    assert!(refused(&public));
    assert!(refused(&text.replace("key 1", "key 2")));
    assert!(refused(&text.replace("bits 512", "bits 1024")));
    assert!(refused(&text.replace("bits 512", "bits 513")));
    assert!(refused(&text.replace("\np ", "\nx ")));
    assert!(refused(&text.replace("\nq ", "\nq  ")));
    assert!(refused(&format!("{}more\n", *text)));
    assert!(refused(
        text.trim_end()
            .trim_end_matches(|c: char| c.is_ascii_hexdigit())
    ));
    let weakest = KeySize::Bits512;
    assert!(PublicKey::from_file_text(&public, weakest).is_ok());
    assert!(PublicKey::from_file_text(&public, KeySize::Bits2048).is_err());
    assert!(PublicKey::from_file_text(&text, weakest).is_err());
    assert!(PublicKey::from_file_text(&public.to_uppercase(), weakest).is_err());
    // With a flipped digit, n no longer matches the primes.
    let line = text.lines().nth(2).unwrap();
    let (head, last) = line.split_at(line.len() - 1);
    let flipped = format!("{head}{}", if last == "1" { "3" } else { "1" });
    assert!(matches!(
        SecretKey::from_file_text(&text.replace(line, &flipped)),
        Err(Error::KeyFile(KeyFileFault::Inconsistent))
    ));
}
