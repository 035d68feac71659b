//! The attacker shifts results so that they may be impossible, and tries to learn from the victim's reaction whether
//! they are, which depends on the victim's letters.

use super::*;
use crate::digests::journal_id;
use crate::error::{BanReason, Limit};
use crate::journal::Journal;
use veilpath_protocol::Misbehaviour;

/// What is added to the attacker's half, and hence to the output. The output is 160 minus the score, which is from 1 to
/// 31; with bits 5 and 6 flipped it is above 160, and with bit 7 flipped the score is above 100, the largest of these lengths.
pub(super) const POSSIBLE: u8 = 1;
pub(super) const IMPOSSIBLE: u8 = 0x60;
const ABOVE_LARGEST: u8 = 0x80;

/// Runs an attack with each engine, by the host and by the joining side, with results to these.
fn for_all_cases(to: [RevealTo; 2], attack: impl Fn(Case) + Sync) {
    let attackers = [Role::Host, Role::Join].into_iter().zip(to);
    std::thread::scope(|scope| {
        for engine in [Engine::Garbled, Engine::Shares] {
            for (attacker, to) in attackers.clone() {
                let (attack, reveal) = (&attack, Reveal::Score);
                let case = Case {
                    engine,
                    reveal,
                    to,
                    attacker,
                };
                scope.spawn(move || attack(case));
            }
        }
    });
}

pub(super) fn flips(offset: usize, mask: u8) -> Option<BitFlips> {
    Some(BitFlips {
        sent: 0,
        bytes: offset..offset + 1,
        mask,
    })
}

fn journal(files: &Path, role: Role, agreed: Option<([u8; 32], u64)>) -> Journal {
    let (agreement, _) = agreed.unwrap();
    let id = journal_id(&agreement, role, None);
    Journal::open(&StateDir::at(files).journals(), id, 2, Reveal::Score).unwrap()
}

/// An honest session, and where in it the attacker sends its half of the first pair.
pub(super) fn honest(case: Case) -> (SessionEnd, usize) {
    let files = tempfile::tempdir().unwrap();
    let result = Setup::new(case, 1).attack(&Attempt::new(files.path(), 1));
    assert!(result.victim.is_none(), "{case:?}: {:?}", result.victim);
    let journal = journal(files.path(), case.attacker, result.agreed);
    let halves = [0, 1].map(|pair| journal.half(pair).unwrap().half.to_le_bytes());
    let halves = halves.concat();
    let sent = &result.sent[1];
    let mut windows = sent.windows(halves.len()).enumerate();
    let (offset, _) = windows.rfind(|(_, bytes)| *bytes == halves).unwrap();
    (result, offset)
}

pub(super) fn is_out_of_range(error: &SessionError) -> bool {
    let impossible = ProtocolError::PeerMisbehaved(Misbehaviour::ResultOutOfRange);
    matches!(error, SessionError::Protocol(error) if *error == impossible)
}

/// What the attacker can tell two sessions apart by: how they end for it, and how much it gets.
fn view(result: &SessionEnd) -> (Option<String>, usize) {
    let error = result.attacker.as_ref().map(ToString::to_string);
    (error, result.sent[0].len())
}

/// The victim reports the result when the session is over. Until then, and when the attacker returns, it does what it does after any
/// other result.
#[test]
fn an_impossible_result_is_reported_after_the_end() {
    for_all_cases([RevealTo::Join, RevealTo::Host], |case| {
        let (first, offset) = honest(case);
        let views = [POSSIBLE, IMPOSSIBLE, ABOVE_LARGEST].map(|mask| {
            let setup = Setup::new(case, 1);
            let files = tempfile::tempdir().unwrap();
            let views = [true, false].map(|cheats| {
                let result = setup.attack(&Attempt {
                    flips: flips(offset, mask).filter(|_| cheats),
                    ..Attempt::new(files.path(), 1)
                });
                match (mask, &result.victim) {
                    (POSSIBLE, None) => {}
                    (IMPOSSIBLE | ABOVE_LARGEST, Some(error)) if is_out_of_range(error) => {
                        assert!(error.is_final() && error.ban().is_none());
                    }
                    (_, other) => panic!("{case:?}, {mask}: {other:?}"),
                }
                view(&result)
            });
            assert_eq!(setup.counted(), 0, "{case:?}");
            views
        });
        assert!(views.iter().all(|it| *it == views[0]), "{case:?}");
        assert_eq!(views[0][0], view(&first), "{case:?}");
        assert_eq!(views[0][1].0, None, "{case:?}");
    });
}

/// The attacker hangs up when both have their halves, changes its own, and resumes.
#[test]
fn an_impossible_result_after_resuming_is_reported_after_the_end() {
    for_all_cases([RevealTo::Join, RevealTo::Host], |case| {
        let [to_victim, _] = honest(case).0.records;
        let interrupted = |records: usize| {
            let setup = Setup::new(case, 1);
            let files = tempfile::tempdir().unwrap();
            let result = setup.attack(&Attempt {
                cut: Some(Cut {
                    to_victim: true,
                    records,
                }),
                ..Attempt::new(files.path(), 1)
            });
            let victim = case.attacker.other();
            let victims = journal(setup.victim_files.path(), victim, result.agreed);
            let theirs = journal(files.path(), case.attacker, result.agreed);
            let is_open = victims.half(0).is_some() && !victims.is_answered(0);
            let half = theirs.half(0).filter(|_| is_open);
            half.map(|half| (setup, files, result.agreed, half))
        };
        // Where a cut falls depends on the threads' timing: not every run of a session has both halves stored and no answer.
        let found = || {
            let mut cuts = (0..20).flat_map(|_| (to_victim.saturating_sub(8)..to_victim).rev());
            let found = cuts.find_map(interrupted);
            found.unwrap_or_else(|| panic!("{case:?}: no cut left both sides with their halves"))
        };
        let mut views = Vec::new();
        for mask in [POSSIBLE, IMPOSSIBLE, ABOVE_LARGEST] {
            let (setup, files, agreed, half) = found();
            let mut journal = journal(files.path(), case.attacker, agreed);
            let wrong = half.half ^ u64::from(mask);
            journal.store_halves(&[0], &[wrong], half.run).unwrap();
            drop(journal);
            let result = setup.attack(&Attempt::new(files.path(), 1));
            let impossible = result.victim.as_ref().is_some_and(is_out_of_range);
            assert_eq!(impossible, mask != POSSIBLE, "{case:?}");
            assert_eq!(result.victim.is_some(), impossible, "{case:?}");
            views.push(view(&result));
        }
        assert!(views.iter().all(|it| *it == views[0]), "{case:?}");
        assert_eq!(views[0].0, None, "{case:?}");
    });
}

/// Where both learn results, they compare them at the end: another result is a ban, and whether it is possible makes no difference.
#[test]
fn a_different_result_is_banned_whether_possible_or_not() {
    for_all_cases([RevealTo::Both; 2], |case| {
        let (first, offset) = honest(case);
        for mask in [POSSIBLE, IMPOSSIBLE, ABOVE_LARGEST] {
            let setup = Setup::new(case, 1);
            let files = tempfile::tempdir().unwrap();
            let result = setup.attack(&Attempt {
                flips: flips(offset, mask),
                ..Attempt::new(files.path(), 1)
            });
            let error = result.victim.as_ref().unwrap();
            assert_eq!(error.ban(), Some(BanReason::ChangedAnswer), "{case:?}");
            assert_eq!(result.sent[0].len(), first.sent[0].len(), "{case:?}");
            // An honest session with that peer is refused before it agrees on anything.
            let empty = tempfile::tempdir().unwrap();
            let next = setup.attack(&Attempt {
                letters: vec![0; 4],
                ..Attempt::new(empty.path(), 2)
            });
            let banned = Limit::Banned(BanReason::ChangedAnswer);
            match next.victim {
                Some(SessionError::Limit(limit)) => assert_eq!(limit, banned, "{case:?}"),
                other => panic!("{case:?}: {other:?}"),
            }
            assert_eq!(next.agreed, None, "{case:?}");
        }
    });
}
