//! The attacker asks under one agreement after another, or under two at the same time.

use super::*;
use crate::error::{BanReason, ExceededLimit, FileProblem, Limit};

/// Another cohort is another agreement, and counts as well.
#[test]
fn every_cohort_counts_towards_the_limit() {
    for_all_cases(|case| {
        let setup = Setup::new(case, 2);
        let folders = folders(4);
        let mut refused = 0;
        for (number, files) in folders.iter().enumerate() {
            let result = setup.attack(&Attempt {
                announced: letters(number).to_vec(),
                ..Attempt::new(files.path(), number)
            });
            let Some(SessionError::Limit(limit)) = result.victim else {
                continue;
            };
            refused += 1;
            assert!(matches!(
                limit,
                Limit::Comparisons(ExceededLimit {
                    before: 2,
                    now: 1,
                    exceeded: 2,
                    ..
                })
            ));
            // The peer must not learn how many scanpaths were compared before.
            assert!(matches!(
                result.attacker,
                Some(SessionError::Declined(DeclineReason::Limit(
                    Limit::PeerComparisons
                )))
            ));
        }
        assert_eq!(refused, 2, "{case:?}");
        assert_eq!(setup.audit(paths(&folders)), (2, 2));
    });
}

/// Another metric, alphabet or kind of answer also makes another agreement.
#[test]
fn every_plan_counts_towards_the_limit() {
    let case = cases()[0];
    let mut setup = Setup::new(case, 2);
    let folders = folders(4);
    let threshold = "threshold:9".parse().unwrap();
    let plans: [fn(&mut Setup, Reveal); 4] = [
        |_, _| (),
        |setup, _| setup.metric = Metric::Levenshtein,
        |setup, _| setup.alphabet = Alphabet::letters(52).unwrap(),
        |setup, threshold| setup.case.reveal = threshold,
    ];
    for (number, (change, files)) in plans.into_iter().zip(&folders).enumerate() {
        change(&mut setup, threshold);
        let result = setup.attack(&Attempt::new(files.path(), number));
        match result.victim {
            None => assert!(number < 2, "{number}"),
            Some(SessionError::Limit(Limit::Comparisons(_))) => assert!(number >= 2),
            Some(error) => panic!("{number}: {error}"),
        }
    }
    assert_eq!(setup.audit(paths(&folders)), (2, 2));
}

/// A new agreement on the same plan needs the victim's user.
#[test]
fn one_side_cannot_start_a_new_agreement() {
    for_all_cases(|case| {
        let mut setup = Setup::new(case, 2);
        let folders = folders(5);
        let attempt = |number: usize| Attempt::new(folders[number].path(), number);
        assert!(setup.attack(&attempt(0)).victim.is_none());
        let result = setup.attack(&Attempt {
            fresh: true,
            ..attempt(1)
        });
        assert!(matches!(result.victim, Some(SessionError::Differs(_))));
        assert_eq!(setup.audit(paths(&folders)), (1, 1));
        setup.fresh = true;
        for number in [2, 3, 4] {
            setup.attack(&Attempt {
                fresh: true,
                ..attempt(number)
            });
        }
        assert_eq!(setup.audit(paths(&folders)), (2, 2), "{case:?}");
    });
}

/// Two connections with one key, to two processes of the victim, each with letters of its own.
#[test]
fn concurrent_sessions_share_one_limit() {
    for_all_cases(|case| {
        for same_agreement in [true, false] {
            let setup = Setup::new(case, 1);
            let folders = folders(4);
            let attempt = |number: usize| {
                let announced = if same_agreement { 0 } else { number };
                Attempt {
                    announced: letters(announced).to_vec(),
                    ..Attempt::new(folders[number].path(), number)
                }
            };
            let ends = std::thread::scope(|scope| {
                let attack = |number| {
                    let (setup, attempt) = (&setup, attempt(number));
                    scope.spawn(move || setup.attack(&attempt))
                };
                let threads: Vec<_> = (0..folders.len()).map(attack).collect();
                let ends = threads.into_iter().map(|thread| thread.join().unwrap());
                ends.collect::<Vec<_>>()
            });
            let (learned, _) = setup.audit(paths(&folders));
            assert!(learned <= 1, "{case:?}");
            assert_eq!(setup.counted(), 1, "{case:?}");
            for error in ends.into_iter().filter_map(|result| result.victim) {
                let locked = matches!(
                    error,
                    SessionError::File {
                        problem: FileProblem::Locked,
                        ..
                    }
                );
                assert!(
                    locked || matches!(error, SessionError::Limit(_)),
                    "{case:?}: {error}"
                );
            }
        }
    });
}

/// After both sides have agreed, another session uses up the limit. The attacker is refused, and returns for what the victim has
/// computed.
#[test]
fn a_limit_used_up_by_another_session_holds_on_return() {
    for_all_cases(|case| use_up_limit_between(case, |files| answers_learned(case, files)));
}

fn answers_learned(case: Case, files: &[TempDir]) -> u64 {
    Setup::new(case, 1).learned(paths(files))
}

/// Runs a session that uses up the limit between the agreement and the computation of another, and then resumes the other.
pub(super) fn use_up_limit_between(case: Case, learned: impl Fn(&[TempDir]) -> u64) {
    let setup = Setup::new(case, 1);
    let folders = folders(2);
    let attempt = |number: usize| Attempt {
        announced: letters(number).to_vec(),
        ..Attempt::new(folders[number].path(), number)
    };
    let uses_up = || {
        let result = setup.attack(&attempt(1));
        assert!(result.victim.is_none(), "{case:?}: {:?}", result.victim);
    };
    let first = setup.attack(&Attempt {
        before_computation: Some(&uses_up),
        ..attempt(0)
    });
    for result in [first, setup.attack(&attempt(0)), setup.attack(&attempt(0))] {
        assert!(
            matches!(
                result.victim,
                Some(SessionError::Limit(Limit::Comparisons(_)))
            ),
            "{case:?}: {:?}",
            result.victim
        );
    }
    assert_eq!((learned(&folders), setup.counted()), (1, 1), "{case:?}");
}

/// Every key has its own limit. The victim's user names each peer, and the answers to several of them add up.
#[test]
fn another_key_is_another_peer() {
    let mut setup = Setup::new(cases()[0], 1);
    let folders = folders(3);
    for (number, files) in folders.iter().enumerate() {
        setup.attacker = Identity::ephemeral().unwrap();
        setup.attack(&Attempt::new(files.path(), number));
        assert_eq!(setup.counted(), 1);
    }
    assert_eq!(setup.learned(paths(&folders)), 3);
}

/// Scanpaths of other lengths than those that were announced.
#[test]
fn other_lengths_than_announced_end_the_session() {
    for_all_cases(|case| {
        let setup = Setup::new(case, 1);
        let folders = folders(2);
        for (files, letters) in folders.iter().zip([vec![1; 3], vec![1; 400]]) {
            let result = setup.attack(&Attempt {
                letters,
                ..Attempt::new(files.path(), 0)
            });
            let error = result.victim.unwrap();
            assert_eq!(error.fault(), crate::Fault::PeerMisbehaves, "{error}");
        }
        assert_eq!(setup.learned(paths(&folders)), 0, "{case:?}");
    });
}

/// Sessions without a result leave few bytes on the victim's disk.
#[test]
fn broken_sessions_do_not_fill_the_disk() {
    let setup = Setup::new(cases()[0], 1);
    let files = tempfile::tempdir().unwrap();
    let size = || -> u64 {
        let folder = StateDir::at(setup.victim_files.path()).journals();
        let files = std::fs::read_dir(folder).unwrap();
        files.map(|it| it.unwrap().metadata().unwrap().len()).sum()
    };
    let attack = |number| {
        let cut = Cut {
            to_victim: true,
            records: 3,
        };
        setup.attack(&Attempt {
            cut: Some(cut),
            ..Attempt::new(files.path(), number)
        });
    };
    attack(0);
    let first = size();
    (1..10).for_each(attack);
    // An entry for the start, and a half for each of the two pairs.
    assert!(size() <= first + 9 * 3 * 32, "{} after {first}", size());
}

/// A banned peer is rejected until this side's user lifts the ban.
#[test]
fn a_banned_peer_gets_nothing() {
    for_all_cases(|case| {
        let setup = Setup::new(case, 1);
        let peer = setup.attacker.fingerprint();
        let state = StateDir::at(setup.victim_files.path());
        let ledger = LedgerFile::of(Some(&state.ledgers()), peer);
        ledger
            .update(|ledger| {
                ledger.banned = Some(BanReason::FailedCheck);
                Ok(())
            })
            .unwrap();
        let files = tempfile::tempdir().unwrap();
        let error = setup.attack(&Attempt::new(files.path(), 1)).victim.unwrap();
        assert!(error.is_ban(), "{error}");
        assert_eq!(setup.audit([files.path()]), (0, 0));
        // Whatever its plan is: this side has not sent its own.
        let other = match case.engine {
            Engine::Shares => Engine::Garbled,
            _ => Engine::Shares,
        };
        let error = setup.attack(&Attempt {
            engine: Some(other),
            ..Attempt::new(files.path(), 1)
        });
        let error = error.victim.unwrap();
        assert!(error.is_ban(), "{error}");
        state.unblock(peer).unwrap();
        setup.attack(&Attempt::new(files.path(), 1));
        assert_eq!(setup.audit([files.path()]), (1, 1));
    });
}

/// Lifting a ban forgets nothing that the peer has learned.
#[test]
fn a_lifted_ban_frees_no_comparisons() {
    for_all_cases(|case| {
        let setup = Setup::new(case, 1);
        let peer = setup.attacker.fingerprint();
        let state = StateDir::at(setup.victim_files.path());
        let folders = folders(3);
        for (number, files) in folders.iter().enumerate() {
            let result = setup.attack(&Attempt {
                announced: letters(number).to_vec(),
                ..Attempt::new(files.path(), number)
            });
            match result.victim {
                None => assert_eq!(number, 0, "{case:?}"),
                Some(SessionError::Limit(Limit::Comparisons(_))) => assert!(number > 0),
                Some(error) => panic!("{case:?}: {error}"),
            }
            state.ban_peer(peer).unwrap();
            state.unblock(peer).unwrap();
        }
        assert_eq!(setup.audit(paths(&folders)), (1, 1));
    });
}
