//! Both roles of every engine meet scripts, spoilt scripts and random bytes: a typed error or the end, never a panic. The
//! same every time; the fuzz targets go on from here.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

#[path = "../../../fuzz/src/scripts.rs"]
#[allow(unreachable_pub)] // the fuzz targets use it as a library
mod scripts;

use scripts::{Ended, paillier, plain};
use veilpath_protocol::{ChannelError, ProtocolError};

const HOST: u8 = 0;
const JOIN: u8 = 1;
/// The paper's pattern: no packing, one cell at a time.
const PAPER: u8 = 2 | 4;
const ANNOUNCED: u8 = 64;
const ONE_LETTER: u8 = 1 << 4;

/// Bob with one letter against Alice with one: a row of costs, one cell, the result.
const BOB: [u8; 20] = [
    1, 1, // his length
    2, 1, 0, 0, // one row of costs, please
    2, 0, 1, 0, // one minimum
    4, 9, // masked candidates: small numbers, as far as anyone can tell
    2, 0, 0, 1, // the result
    1, 0, 4, 1, // of the first pair, an encryption of 1
];

/// Alice with one letter against Bob with one.
const ALICE: [u8; 10] = [
    1, 1, // her length
    3, 0, // her key
    5, 2, // a row of costs
    4, 1, // a minimum
    1, 1, // the result
];

fn bob() -> Vec<u8> {
    [&[HOST | ONE_LETTER, 1], &BOB[..]].concat()
}

fn alice() -> Vec<u8> {
    [&[JOIN | ONE_LETTER | PAPER, 1], &ALICE[..]].concat()
}

/// A small generator of our own: the same bytes on every machine.
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

    fn spoil(&mut self, bytes: &mut Vec<u8>) {
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

/// A peer's fault, or an end; never a contradiction within.
#[track_caller]
fn assert_typed(ended: &Ended, script: &[u8]) {
    if let Some(Err(error)) = ended {
        assert!(
            !matches!(error, ProtocolError::Internal(_) | ProtocolError::Job(_)),
            "{error} after {script:?}"
        );
    }
}

#[test]
fn honest_scripts_come_to_their_end() {
    assert_eq!(paillier(&bob()), Some(Ok(1)));
    assert_eq!(paillier(&alice()), Some(Ok(1)));
    let scanpath = [1, 0, 0, 0, 0, 0, 0, 0, 1, 0];
    let host = [&[HOST, 1][..], &scanpath].concat();
    assert_eq!(plain(&host), Some(Ok(1)));
    let join = [&[JOIN, 1][..], &[0; 17]].concat();
    assert_eq!(plain(&join), Some(Ok(1)));
}

#[test]
fn no_engine_takes_other_lengths_than_were_announced() {
    for script in [bob(), alice()] {
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
fn a_script_that_ends_early_is_a_closed_line() {
    for script in [bob(), alice()] {
        for length in 2..script.len() - 1 {
            let ended = paillier(&script[..length]);
            let closed = Some(Err(ProtocolError::Channel(ChannelError::Closed)));
            let refused = matches!(ended, Some(Err(ProtocolError::PeerMisbehaved(_))));
            assert!(ended == closed || refused, "{ended:?} after {length}");
        }
    }
}

#[test]
fn spoilt_scripts_never_panic() {
    let mut numbers = Numbers(0x5eed);
    let mut ended = 0;
    for round in 0..3000 {
        let mut script = if round % 2 == 0 { bob() } else { alice() };
        numbers.spoil(&mut script);
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
        assert_typed(&paillier(&script), &script);
        assert_typed(&plain(&script), &script);
    }
}
