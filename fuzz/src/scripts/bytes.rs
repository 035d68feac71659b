//! The bytes of a peer, from the parts that a fuzzer generates.

use std::sync::{Arc, OnceLock};
use veilpath_paillier::{Plaintext, SecretKey};

/// A key for experiments; it protects nothing.
const KEY: &str = "veilpath paillier secret key 1
bits 512
n ac13fc6d6891fc28288d3df0690ade2bd72503a8e34728b8e16b121b6d6604c90e27e4c019123145c944d6865e1ee698361217ec2beca494a876e0ec8e2627c5
p c5db5e0b80cd86bb1e56745bdc88d91be46b209f42db78141d4c97806cfa6c27
q dea54bab80949e9cef81fcd34a80220f2c4a3dab1b63593594268012ee1e0433
";

/// A point that is not the identity: the base point, in compressed form.
const POINT: [u8; 32] = [
    0xe2, 0xf2, 0xae, 0x0a, 0x6a, 0xbc, 0x4e, 0x71, 0xa8, 0x84, 0xa9, 0x61, 0xc5, 0x00, 0x51, 0x5f,
    0x58, 0xe3, 0x0b, 0x6a, 0xa5, 0x82, 0xdd, 0x8d, 0xb6, 0xa6, 0x59, 0x45, 0xe0, 0x8d, 0x2d, 0x76,
];

/// The bytes of a peer, part by part. Each part starts with a byte for its kind and a byte for its number.
///
/// | kind | part |
/// |---|---|
/// | 0 | that many of the following bytes, unchanged |
/// | 1 | a number of 64 bits |
/// | 2 | that many pairs of points of the curve |
/// | 3 | that many times 256 arbitrary bytes, for tables and corrections |
pub(super) fn garbled_bytes(mut parts: &[u8]) -> Vec<u8> {
    let mut sent = Vec::new();
    while let [kind, number, rest @ ..] = parts {
        parts = rest;
        let times = usize::from(*number);
        match kind % 4 {
            0 => {
                let (now, later) = rest.split_at(rest.len().min(times));
                sent.extend(now);
                parts = later;
            }
            1 => sent.extend(u64::from(*number).to_le_bytes()),
            2 => sent.extend(POINT.repeat(2 * times)),
            _ => sent.extend((0..256 * times).map(|at| (at * at / 7 % 251) as u8)),
        }
    }
    sent
}

/// The bytes of a peer, part by part. Each part starts with a byte for its kind; most have another for their number.
///
/// | kind | part |
/// |---|---|
/// | 0 | that many of the following bytes, unchanged |
/// | 1 | a number of 64 bits |
/// | 2 | the matrix owner's header, from three bytes |
/// | 3 | the key holder's modulus |
/// | 4 | an encryption of the signed number |
/// | 5 | that many encryptions of 1 |
pub(super) fn paillier_bytes(mut parts: &[u8]) -> Option<Vec<u8>> {
    let key = key()?;
    let public = key.public_key();
    let encrypted = |value: i8| {
        let ciphertext = public.trivial(&Plaintext::from(i64::from(value))).ok()?;
        public.ciphertext_to_bytes(&ciphertext).ok()
    };
    let mut sent = Vec::new();
    while let [kind, number, rest @ ..] = parts {
        parts = rest;
        match kind % 6 {
            0 => {
                let (now, later) = rest.split_at(rest.len().min(usize::from(*number)));
                sent.extend(now);
                parts = later;
            }
            1 => sent.extend(u64::from(*number).to_le_bytes()),
            2 => {
                let [second, third, later @ ..] = rest else {
                    break;
                };
                for count in [number, second, third] {
                    sent.extend(u32::from(*count).to_le_bytes());
                }
                parts = later;
            }
            3 => {
                let bytes = public.modulus().to_be_bytes();
                sent.extend(&bytes[bytes.len().saturating_sub(64)..]);
            }
            4 => sent.extend(encrypted(i8::from_le_bytes([*number]))?),
            _ => {
                let one = encrypted(1)?;
                sent.extend(one.repeat(usize::from(*number % 32)));
            }
        }
    }
    Some(sent)
}

pub(super) fn key() -> Option<Arc<SecretKey>> {
    static READ: OnceLock<Option<Arc<SecretKey>>> = OnceLock::new();
    READ.get_or_init(|| SecretKey::from_file_text(KEY).ok().map(Arc::new))
        .clone()
}
