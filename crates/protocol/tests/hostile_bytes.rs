//! Both roles of every engine against scripts, corrupted scripts and random bytes: a typed error or the end, never a panic.
//! Deterministic; the fuzz targets start from the same scripts.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

#[path = "../../../fuzz/src/scripts.rs"]
#[allow(dead_code, unreachable_pub)] // the fuzz targets use it as a library
mod scripts;

use scripts::{ScriptOutcome, garbled, paillier, plain};
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
    2, 1, 0, 0, // one row of costs, please
    2, 0, 1, 0, // one minimum
    4, 9, // masked candidates: small numbers, as far as anyone can tell
    2, 0, 0, 1, // the result
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

/// A matrix owner with hardened masks: a cell of four slots is two ciphertexts of 512 bits.
const HARDENED_MATRIX_OWNER: [u8; 22] = [
    1, 1, // its length
    2, 1, 0, 0, // one row of costs, please
    2, 0, 1, 0, // one minimum
    4, 9, 4, 9, // differences and padded candidates, as far as anyone can tell
    2, 0, 0, 1, // the result
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

/// What the evaluator of the engine `garbled` sends: a length, one worker, its point, and enough bytes for the rest.
const EVALUATOR: [u8; 10] = [HOST | ONE_LETTER, 1, 1, 1, 0, 1, 1, 2, 1, 3];

/// What the garbler sends: the same with two points for each base transfer.
const GARBLER: [u8; 10] = [JOIN | ONE_LETTER, 1, 1, 1, 0, 1, 1, 2, 128, 3];

/// With `times` times 256 bytes at the end.
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

/// A small generator with the same bytes on every machine.
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

/// A peer's fault, or an end; never an internal error.
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
        let mut pointless = with_bytes(script, 64);
        pointless[7] = 3;
        let refused = garbled(&pointless);
        assert!(matches!(
            refused,
            Some(Err(ProtocolError::PeerMisbehaved(_)))
        ));
    }
}

/// One byte of an honest peer is changed. Three letters against two.
fn changed(role: u8, at: usize) -> ScriptOutcome {
    let [low, high] = u16::try_from(at).unwrap().to_le_bytes();
    garbled(&[0xf0 | role, 1, low, high, 1 << (at % 8)])
}

#[test]
fn a_garbler_notices_every_change_in_what_transfers_are_made_of() {
    // A length and an offer; then a point, corrections and check of the trees, a batch for two letters, its proof.
    let transfers = 9..9 + 32 + 32 * 8 * 16 + 32 + 31 * 2 * 16 + 48;
    for at in transfers.clone().step_by(101).chain([9, transfers.end - 1]) {
        let ended = changed(HOST, at);
        let caught = matches!(ended, Some(Err(ProtocolError::PeerMisbehaved(_))));
        assert!(caught, "{ended:?} after a change at {at}");
    }
    assert_eq!(changed(HOST, 60_000), Some(Ok(1)), "nothing is changed");
}

#[test]
fn an_evaluator_survives_every_change() {
    for at in (0..9000).step_by(150).chain(8200..8240) {
        assert_typed(&changed(JOIN, at), &[]);
    }
    assert_eq!(changed(JOIN, 60_000), Some(Ok(1)), "nothing is changed");
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
