//! How a scripted peer opens an answer, for tests and fuzzing.

use super::*;
use crate::Identity;
use crate::disclosure::DisclosureLedger;
use crate::groups::AgreedGroups;
use crate::ledger::LedgerFile;
use crate::scanpath_limit::Limits;
use veilpath_channel::ChannelError;
use veilpath_metrics::{Alphabet, Cohort, Encoding};
use veilpath_protocol::{AnswerSchema, GroupSizes, NumberKind, Reveal};

pub(super) const PAIRS: usize = 4;
pub(super) const RUN: u64 = 9;
pub(super) const SHARES: [u64; 2] = [0x0123_4567_89ab_cdef, u64::MAX - 3];

/// A side with shares of two numbers after four pairs.
pub(super) struct Side {
    pub(super) group: GroupAgreement,
    pub(super) journal: Journal,
    account: Account,
    pub(super) withdrawals: WithdrawalWatch,
}

impl Side {
    /// `None` only if there is no randomness.
    pub(super) fn new() -> Option<Self> {
        let identity = Identity::ephemeral().ok()?;
        let peer = Identity::ephemeral().ok()?.fingerprint();
        let reveal: Reveal = "test:sites,30".parse().ok()?;
        let question = reveal.group_question()?;
        let group = GroupAgreement {
            groups: AgreedGroups {
                question,
                sizes: [GroupSizes::default(), GroupSizes::default()],
                minimum: 3,
                coins: [0; 32],
                own_groups: None,
                peer_groups: None,
                scanpath_ids: [Vec::new(), Vec::new()],
            },
            committed: None,
            schema: AnswerSchema {
                measure: "similarity".into(),
                unit: 1.0,
                shifts: vec![0, 0],
                bits: vec![64, 5],
                kind: NumberKind::Test {
                    question,
                    groups: vec!["host".into(), "join".into()],
                    pairs: [6, 9],
                    coins: String::new(),
                    is_distance: false,
                },
            },
            ledger: DisclosureLedger::open(None, &identity, peer),
            charge: None,
            sizes: None,
            peer_digest: [0; 32],
        };
        let journal = Journal::in_memory([1; 32], PAIRS + 2, reveal);
        let limits = Limits {
            chosen: None,
            default: Vec::new(),
            policy: None,
            assumed_letters: None,
            about_any: false,
            pad_to: None,
        };
        let cohort = Cohort {
            alphabet: Alphabet::letters(4).ok()?,
            encoding: Encoding::default(),
            screen: None,
            entries: Vec::new(),
        };
        let file = LedgerFile::of(None, peer);
        let account = Account::open(
            file,
            Account::names(&identity, &cohort),
            (&[1; 32], None),
            &limits,
            &[],
        );
        Some(Self {
            account: account.ok()?.0,
            group,
            journal,
            withdrawals: WithdrawalWatch::nobody(),
        })
    }

    pub(super) fn opening(&mut self, role: Role) -> Opening<'_> {
        Opening {
            role,
            numbers: PAIRS..PAIRS + 2,
            group: &mut self.group,
            journal: &mut self.journal,
            account: &mut self.account,
            withdrawals: &mut self.withdrawals,
            comparisons: Vec::new(),
        }
    }
}

/// A peer that sends these bytes, whatever it receives, and counts the bytes that are sent to it.
struct Peer<'a> {
    script: &'a [u8],
    sent: usize,
}

impl Channel for Peer<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.sent += bytes.len();
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        let (now, later) = self
            .script
            .split_at_checked(buffer.len())
            .ok_or(ChannelError::Closed)?;
        buffer.copy_from_slice(now);
        self.script = later;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }
}

/// Stores shares and opens an answer with a peer that sends these bytes, twice. Nothing of the answer may be sent
/// before the peer has stored its shares, and a number stays what it was. Returns whether the answer was opened.
pub(crate) fn exchange(bytes: &[u8]) -> bool {
    let Some((choice, script)) = bytes.split_first() else {
        return false;
    };
    let role = match choice & 1 {
        0 => Role::Host,
        _ => Role::Join,
    };
    let to = [2, 4].map(|bit| choice & bit != 0);
    let Some(mut side) = Side::new() else {
        return false;
    };
    let mut peer = Peer { script, sent: 0 };
    let stored = side.opening(role).store_shares(&mut peer, &SHARES, RUN);
    let is_sent = |side: &Side| (PAIRS..PAIRS + 2).any(|at| side.journal.is_sent(at));
    assert!(!is_sent(&side), "shares were sent too early");
    // SharesStored has no content.
    assert!(peer.sent <= 5, "more than SharesStored was sent");
    let opened = stored.and_then(|()| side.opening(role).exchange_shares(&mut peer, to));
    let number = |side: &Side, at: usize| side.journal.number(PAIRS + at);
    let before = [0, 1].map(|at| number(&side, at));
    let again = side.opening(role).exchange_shares(&mut peer, to);
    for (at, before) in before.into_iter().enumerate() {
        assert!(before.is_none() || before == number(&side, at), "changed");
        let learns = to[usize::from(role == Role::Join)];
        assert!(before.is_none() || learns, "an answer for the other side");
    }
    let _ = again;
    opened.is_ok() && before.iter().all(Option::is_some)
}
