//! Runs both roles of every engine against scripts, corrupted scripts and random bytes. Each run ends with a typed error or
//! normally, never with a panic. The test is deterministic; the fuzz targets start from the same scripts.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

#[path = "../../../fuzz/src/scripts.rs"]
#[allow(dead_code, unreachable_pub)] // the fuzz targets use it as a library
mod scripts;

use scripts::{ScriptOutcome, garbled, paillier, plain, shares};
use veilpath_channel::ChannelError;
use veilpath_protocol::ProtocolError;

const HOST: u8 = 0;
const JOIN: u8 = 1;
/// The paper's pattern: no packing, one cell at a time.
const PAPER: u8 = 2 | 4;
const ANNOUNCED: u8 = 64;
const ONE_LETTER: u8 = 1 << 4;
const HARDENED: u8 = 128;

/// A matrix owner with one letter against a key holder with one: a row of costs, one cell, the result.
const MATRIX_OWNER: [u8; 20] = [
    1, 1, // its length
    2, 1, 0, 0, // requests one row of costs
    2, 0, 1, 0, // requests one minimum
    4, 9, // an encryption, as masked candidates
    2, 0, 0, 1, // requests a result
    1, 0, 4, 1, // of the first pair, an encryption of 1
];

/// A key holder with one letter against a matrix owner with one.
const KEY_HOLDER: [u8; 10] = [
    1, 1, // its length
    3, 0, // its key
    5, 2, // a row of costs
    4, 1, // a minimum
    1, 1, // the result
];

/// A matrix owner with hardened masks: a cell of four slots takes two ciphertexts with a key of 512 bits.
const HARDENED_MATRIX_OWNER: [u8; 22] = [
    1, 1, // its length
    2, 1, 0, 0, // requests one row of costs
    2, 0, 1, 0, // requests one minimum
    4, 9, 4, 9, // two encryptions, as differences and padded candidates
    2, 0, 0, 1, // requests a result
    1, 0, 4, 1, // of the first pair, an encryption of 1
];

/// A key holder with hardened masks: a minimum is a padded candidate and two bits that name it.
const HARDENED_KEY_HOLDER: [u8; 14] = [
    1, 1, // its length
    3, 0, // its key
    5, 2, // a row of costs
    4, 9, 4, 1, 4, 0, // a minimum
    1, 1, // the result
];

/// What the evaluator of the `garbled` engine sends: a length, one worker thread, its point, and enough bytes for the rest.
const EVALUATOR: [u8; 10] = [HOST | ONE_LETTER, 1, 1, 1, 0, 1, 1, 2, 1, 3];

/// What the garbler sends: the same with two points for each base transfer.
const GARBLER: [u8; 10] = [JOIN | ONE_LETTER, 1, 1, 1, 0, 1, 1, 2, 128, 3];

/// The script with `times` times 256 bytes appended.
fn with_bytes(script: [u8; 10], times: u8) -> Vec<u8> {
    [&script[..], &[times]].concat()
}

fn matrix_owner() -> Vec<u8> {
    [&[HOST | ONE_LETTER, 1], &MATRIX_OWNER[..]].concat()
}

fn key_holder() -> Vec<u8> {
    [&[JOIN | ONE_LETTER | PAPER, 1], &KEY_HOLDER[..]].concat()
}

fn hardened_matrix_owner() -> Vec<u8> {
    [
        &[HOST | ONE_LETTER | HARDENED, 1],
        &HARDENED_MATRIX_OWNER[..],
    ]
    .concat()
}

fn hardened_key_holder() -> Vec<u8> {
    [&[JOIN | ONE_LETTER | HARDENED, 1], &HARDENED_KEY_HOLDER[..]].concat()
}

fn paillier_scripts() -> [Vec<u8>; 4] {
    [
        matrix_owner(),
        key_holder(),
        hardened_matrix_owner(),
        hardened_key_holder(),
    ]
}

/// A small generator that gives the same bytes on every machine.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next().to_le_bytes()[0]).collect()
    }

    fn corrupt(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len().max(1)).min(bytes.len());
            match self.below(3) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, self.next().to_le_bytes()[0]),
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = self.next().to_le_bytes()[0];
                    }
                }
            }
        }
    }
}

/// Checks that a run ended with a peer's fault or normally, never with an internal error.
#[track_caller]
fn assert_typed(ended: &ScriptOutcome, script: &[u8]) {
    if let Some(Err(error)) = ended {
        assert!(
            !matches!(error, ProtocolError::Internal(_) | ProtocolError::Job(_)),
            "{error} after {script:?}"
        );
    }
}

#[test]
fn honest_scripts_run_to_the_end() {
    for script in paillier_scripts() {
        assert_eq!(paillier(&script), Some(Ok(1)));
    }
    let scanpath = [1, 0, 0, 0, 0, 0, 0, 0, 1, 0];
    let host = [&[HOST, 1][..], &scanpath].concat();
    assert_eq!(plain(&host), Some(Ok(1)));
    let join = [&[JOIN, 1, 1][..], &[0; 17]].concat();
    assert_eq!(plain(&join), Some(Ok(1)));
}

#[test]
fn every_engine_refuses_lengths_that_were_not_announced() {
    for script in paillier_scripts() {
        let mut announced = script.clone();
        announced[0] |= ANNOUNCED;
        assert_eq!(paillier(&announced), Some(Ok(1)));
        announced[3] = 2;
        let refused = paillier(&announced);
        assert!(
            matches!(refused, Some(Err(ProtocolError::PeerMisbehaved(_)))),
            "{refused:?}"
        );
    }
    let scanpath = [1, 0, 0, 0, 0, 0, 0, 0, 1, 0];
    let host = [&[HOST | 2, 1][..], &scanpath].concat();
    assert!(matches!(
        plain(&host),
        Some(Err(ProtocolError::PeerMisbehaved(_)))
    ));
}

#[test]
fn a_script_that_ends_early_is_a_closed_channel() {
    for script in paillier_scripts() {
        for length in 2..script.len() - 1 {
            let ended = paillier(&script[..length]);
            let closed = Some(Err(ProtocolError::Channel(ChannelError::Closed)));
            let refused = matches!(ended, Some(Err(ProtocolError::PeerMisbehaved(_))));
            assert!(ended == closed || refused, "{ended:?} after {length}");
        }
    }
}

#[test]
fn garbled_scripts_end_in_a_number_or_in_a_typed_error() {
    for script in [EVALUATOR, GARBLER] {
        for choice in [0, 2, 4, 6] {
            let mut whole = with_bytes(script, 64);
            whole[0] |= choice;
            let ended = garbled(&whole);
            let out_of_range = matches!(ended, Some(Err(ProtocolError::PeerMisbehaved(_))));
            assert!(ended == Some(Ok(1)) || out_of_range, "{ended:?}");
        }
        let closed = Some(Err(ProtocolError::Channel(ChannelError::Closed)));
        assert_eq!(garbled(&with_bytes(script, 0)), closed);
        let mut without_points = with_bytes(script, 64);
        without_points[7] = 3;
        let refused = garbled(&without_points);
        assert!(matches!(
            refused,
            Some(Err(ProtocolError::PeerMisbehaved(_)))
        ));
    }
}

/// Changes one byte of an honest peer. Three letters against two.
fn changed(role: u8, at: usize) -> ScriptOutcome {
    let [low, high] = u16::try_from(at).unwrap().to_le_bytes();
    garbled(&[0xf0 | role, 1, low, high, 1 << (at % 8)])
}

#[test]
fn a_garbler_detects_every_changed_byte_of_the_transfers() {
    // A length and an offer, then a point, the trees' corrections and check, a batch for two letters, and its proof.
    let transfers = 9..9 + 32 + 32 * 8 * 16 + 32 + 31 * 2 * 16 + 48;
    for at in transfers.clone().step_by(101).chain([9, transfers.end - 1]) {
        let ended = changed(HOST, at);
        let caught = matches!(ended, Some(Err(ProtocolError::PeerMisbehaved(_))));
        assert!(caught, "{ended:?} after a change at {at}");
    }
    assert_eq!(changed(HOST, 60_000), Some(Ok(1)), "nothing is changed");
}

#[test]
fn changed_bytes_never_panic_an_evaluator() {
    for at in (0..9000).step_by(150).chain(8200..8240) {
        assert_typed(&changed(JOIN, at), &[]);
    }
    assert_eq!(changed(JOIN, 60_000), Some(Ok(1)), "nothing is changed");
}

/// Both tree depths, lines that share trees, look-ups in several tiles, and ScanMatch.
#[test]
fn shares_survives_changes_with_every_kind_of_look_up() {
    for options in (0..8).map(|bits| bits << 4) {
        for role in [HOST, JOIN] {
            let honest = [0xf0 | role, options];
            assert_eq!(shares(&honest), Some(Ok(1)), "{options}");
            for at in [9u32, 60, 13_000, 72_000, 140_000] {
                let [low, middle, high, _] = at.to_le_bytes();
                let script = [&honest[..], &[low, middle, high, 1]].concat();
                assert_typed(&shares(&script), &script);
            }
        }
    }
}

#[test]
fn corrupted_scripts_never_panic() {
    let mut numbers = Numbers(0x5eed);
    let scripts = paillier_scripts();
    let mut ended = 0;
    for round in 0..3000 {
        let mut script = scripts[round % scripts.len()].clone();
        numbers.corrupt(&mut script);
        let result = paillier(&script);
        assert_typed(&result, &script);
        ended += usize::from(matches!(result, Some(Ok(_))));
    }
    assert!((1..3000).contains(&ended), "{ended}");
}

#[test]
fn random_scripts_never_panic() {
    let mut numbers = Numbers(0xbad);
    for _ in 0..3000 {
        let length = numbers.below(100);
        let script = numbers.bytes(length);
        assert_typed(&garbled(&script), &script);
        assert_typed(&paillier(&script), &script);
        assert_typed(&plain(&script), &script);
    }
}
