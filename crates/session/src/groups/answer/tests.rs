//! Which messages open an answer, and which are accepted.

use super::opening::{PAIRS, RUN, SHARES, Side};
use super::*;
use crate::error::BanReason;
use crate::groups::tests::negotiation::{Script, message};
use veilpath_channel::ChannelError;

/// A side with shares of two numbers after four pairs.
fn new_side() -> Side {
    let mut side = Side::new().unwrap();
    side.journal
        .store_halves(&[PAIRS, PAIRS + 1], &SHARES, RUN)
        .unwrap();
    side
}

/// Records what is sent, and receives scripted bytes.
struct ScriptedChannel {
    script: Script,
    sent: Vec<u8>,
}

impl Channel for ScriptedChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.sent.extend_from_slice(bytes);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.script.receive(buffer)
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }
}

fn bytes(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|it| it.to_le_bytes()).collect()
}

fn answer(numbers: &[u64]) -> Vec<u8> {
    message(Tag::Answer, &bytes(numbers))
}

/// Exchanges shares with a peer that sends these bytes, and returns what this side sent.
fn exchange(
    side: &mut Side,
    role: Role,
    needed: [bool; 2],
    script: Vec<u8>,
) -> (Result<(), SessionError>, Vec<u8>) {
    let mut tap = ScriptedChannel {
        script: Script(script),
        sent: Vec::new(),
    };
    let result = side.opening(role).exchange_shares(&mut tap, needed);
    (result, tap.sent)
}

#[test]
fn the_same_shares_are_sent_every_time() {
    for role in [Role::Host, Role::Join] {
        let mut side = new_side();
        let theirs = [3, 4];
        for _ in 0..3 {
            let (result, sent) = exchange(&mut side, role, [true; 2], answer(&theirs));
            result.unwrap();
            assert_eq!(sent, answer(&SHARES), "{role:?}");
        }
        assert!((PAIRS..PAIRS + 2).all(|at| side.journal.is_sent(at)));
        assert!((0..PAIRS).all(|pair| !side.journal.is_sent(pair)));
        let numbers = [0, 1].map(|at| side.journal.number(PAIRS + at).unwrap());
        assert_eq!(
            numbers,
            [0, 1].map(|at| SHARES[at].wrapping_add(theirs[at]))
        );
    }
}

/// A peer that hangs up before it sends its own shares has those of the joining side, and no others.
#[test]
fn shares_are_sent_only_to_a_side_that_may_learn_the_answer() {
    for (role, needed, sends) in [
        (Role::Host, [true, false], false),
        (Role::Join, [true, false], true),
        (Role::Host, [false, true], true),
        (Role::Join, [false, true], false),
    ] {
        let mut side = new_side();
        let (result, sent) = exchange(&mut side, role, needed, answer(&[3, 4]));
        result.unwrap();
        assert_eq!(!sent.is_empty(), sends, "{role:?} {needed:?}");
        assert_eq!(side.journal.is_sent(PAIRS), sends, "{role:?} {needed:?}");
    }
    // The host waits for the other side's shares before it sends its own.
    let (result, sent) = exchange(&mut new_side(), Role::Host, [true; 2], Vec::new());
    assert!(result.is_err() && sent.is_empty());
}

/// A channel on which nothing can be sent.
struct BrokenChannel;

impl Channel for BrokenChannel {
    fn send(&mut self, _: &[u8]) -> Result<(), ChannelError> {
        Err(ChannelError::Closed)
    }

    fn receive(&mut self, _: &mut [u8]) -> Result<(), ChannelError> {
        Err(ChannelError::Closed)
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        Err(ChannelError::Closed)
    }
}

#[test]
fn shares_are_marked_before_they_are_sent() {
    let mut side = new_side();
    side.opening(Role::Join)
        .exchange_shares(&mut BrokenChannel, [true; 2])
        .unwrap_err();
    assert!(side.journal.is_sent(PAIRS) && side.journal.is_sent(PAIRS + 1));
    let mut side = new_side();
    side.opening(Role::Host)
        .exchange_shares(&mut BrokenChannel, [true; 2])
        .unwrap_err();
    assert!(!side.journal.is_sent(PAIRS));
}

#[test]
fn a_wrong_number_of_shares_is_misbehaviour() {
    let long = vec![7; 1000];
    for content in [&[][..], &[3], &[3, 4, 5], &long] {
        let mut side = new_side();
        let (result, sent) = exchange(&mut side, Role::Host, [true; 2], answer(content));
        let error = result.unwrap_err();
        assert!(
            matches!(error, SessionError::Misbehaved(Misbehaviour::InvalidAnswer)),
            "{error}"
        );
        assert!(sent.is_empty() && side.journal.number(PAIRS).is_none());
    }
    let torn = message(Tag::Answer, &bytes(&[3, 4])[..15]);
    let (result, _) = exchange(&mut new_side(), Role::Host, [true; 2], torn);
    assert!(matches!(
        result.unwrap_err(),
        SessionError::Misbehaved(Misbehaviour::InvalidAnswer)
    ));
}

/// A second share of a number would open a second answer.
#[test]
fn a_second_share_for_a_known_number_is_banned() {
    let mut side = new_side();
    exchange(&mut side, Role::Host, [true; 2], answer(&[3, 4]))
        .0
        .unwrap();
    let (result, sent) = exchange(&mut side, Role::Host, [true; 2], answer(&[3, 5]));
    assert_eq!(result.unwrap_err().ban(), Some(BanReason::ChangedAnswer));
    assert!(sent.is_empty());
    // Another number is not accepted either.
    let mut script = Script(answer(&[1, 2]));
    let error = side
        .opening(Role::Host)
        .transfer_numbers(&mut script, Role::Join);
    assert_eq!(error.unwrap_err().ban(), Some(BanReason::ChangedAnswer));
}

#[test]
fn impossible_numbers_are_blamed_on_the_other_side() {
    let side = new_side();
    let impossible = |numbers: [i64; 2]| {
        let error = SessionError::from(side.group.schema.answer(&numbers).unwrap_err());
        assert_eq!(error.fault(), crate::Fault::PeerMisbehaves);
        // As for pairs: reported at the end, and final.
        assert!(error.is_final() && error.ban().is_none());
    };
    assert!(side.group.schema.answer(&[5, 30]).is_ok());
    impossible([5, 31]);
    impossible([5, -1]);
    // Only the bits that a number can have mean anything.
    let wrapped = side.group.schema.answer(&[5, 30 + (1 << 40)]).unwrap();
    assert_eq!(wrapped, side.group.schema.answer(&[5, 30]).unwrap());
}

/// Whatever was agreed on, an answer whose shares were sent is not computed again.
#[test]
fn new_shares_are_refused_after_old_ones_were_sent() {
    let mut side = new_side();
    side.journal.mark_sent(&[PAIRS, PAIRS + 1]).unwrap();
    let script = message(Tag::SharesStored, &[]);
    let stored = side
        .opening(Role::Host)
        .store_shares(&mut Script(script), &[8, 8], RUN + 1);
    assert!(matches!(
        stored.unwrap_err(),
        SessionError::Internal(InternalError::ComparedAgain)
    ));
    assert_eq!(side.journal.half(PAIRS).unwrap().half, SHARES[0]);
}
