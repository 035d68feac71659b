//! Paillier key files; one that is accepted must come back from its own text. The first byte chooses public or secret.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_paillier::{KeySize, PublicKey, SecretKey};

fuzz_target!(|data: &[u8]| {
    let [kind, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    if kind % 2 == 0 {
        if let Ok(key) = PublicKey::from_file_text(text, KeySize::Bits512) {
            let again = PublicKey::from_file_text(&key.to_file_text(), KeySize::Bits512);
            assert!(again.is_ok_and(|again| again == key));
        }
    } else if let Ok(key) = SecretKey::from_file_text(text) {
        let again = SecretKey::from_file_text(&key.to_file_text());
        assert!(again.is_ok_and(|again| again.public_key() == key.public_key()));
    }
});
