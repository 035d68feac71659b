//! The attacker starts the same pairs again and again, and hangs up before or after the victim has its half.

use super::broken_connections::bytes_to_start;
use super::groups;
use super::impossible::honest;
use super::*;
use crate::counted_store::MAX_STARTS;
use crate::digests::journal_id;
use crate::error::Limit;
use crate::journal::Journal;

/// The victim's journal.
fn journal(setup: &Setup, agreement: &[u8; 32]) -> Journal {
    let folder = StateDir::at(setup.victim_files.path()).journals();
    let id = journal_id(agreement, setup.case.attacker.other(), None);
    Journal::open(&folder, id, 2, Reveal::Score).unwrap()
}

/// An attempt that ends after the pairs are started and before the victim has its half: the attacker withholds the last
/// message before it confirms that its own half is stored, or an earlier one.
fn hang_up(case: Case, files: &Path) -> Attempt<'_> {
    if case.to != RevealTo::Both {
        // A side that learns all results sends no halves. It hangs up as soon as the victim has started.
        let bytes = Some(bytes_to_start(case));
        return Attempt {
            bytes,
            ..Attempt::new(files, 1)
        };
    }
    let (_, halves) = honest(case);
    let mut offsets = (0..6).map(|earlier| halves - 2 - earlier * halves / 20);
    let offset = offsets.find(|&offset| {
        let setup = Setup::new(case, 1);
        let files = tempfile::tempdir().unwrap();
        let result = setup.attack(&Attempt {
            bytes: Some(offset),
            ..Attempt::new(files.path(), 1)
        });
        let (agreement, _) = result.agreed.unwrap();
        let journal = journal(&setup, &agreement);
        journal.starts(0) == 1 && journal.half(0).is_none()
    });
    Attempt {
        bytes: Some(offset.unwrap()),
        ..Attempt::new(files, 1)
    }
}

/// Starts are free if the output has halves, because nothing of it was sent. Their number is bounded until the victim's
/// user allows more.
#[test]
fn starts_without_a_result_are_bounded() {
    super::for_all_cases(|case| {
        if !case.engine.opens_outputs_by_halves() {
            return;
        }
        let setup = Setup::new(case, 1);
        let files = tempfile::tempdir().unwrap();
        let attempt = hang_up(case, files.path());
        let (agreement, _) = setup.attack(&attempt).agreed.unwrap();
        let again = |number: usize| {
            let result = setup.attack(&Attempt {
                letters: letters(number).to_vec(),
                ..attempt.clone()
            });
            result.victim.unwrap()
        };
        let max_starts = MAX_STARTS as usize;
        let earlier: Vec<usize> = std::iter::repeat_n([0, 1], max_starts - 2)
            .flatten()
            .collect();
        let mut victims = journal(&setup, &agreement);
        assert_eq!(victims.starts(0), 1, "{case:?}");
        assert!(victims.half(0).is_none(), "{case:?}");
        victims.start_pairs(&earlier).unwrap();
        drop(victims);
        let last = again(2);
        assert_eq!(last.fault(), crate::Fault::Network, "{case:?}: {last}");
        for number in 3..5 {
            let refused = again(number);
            assert!(
                matches!(
                    refused,
                    SessionError::Limit(Limit::TooManyStarts { starts: MAX_STARTS })
                ),
                "{case:?}: {refused}"
            );
            assert!(refused.is_blocked() && !refused.is_ban());
        }
        let starts = journal(&setup, &agreement).starts(0);
        assert_eq!(starts, MAX_STARTS, "{case:?}");
        assert_eq!(setup.audit([files.path()]), (0, 0), "{case:?}");
        let state = StateDir::at(setup.victim_files.path());
        let lifted = state.unblock(setup.attacker.fingerprint());
        assert!(matches!(lifted, Ok(None)), "{case:?}: {lifted:?}");
        let result = setup.attack(&Attempt::new(files.path(), 5));
        assert!(result.victim.is_none(), "{case:?}: {:?}", result.victim);
        assert_eq!(setup.audit([files.path()]), (1, 1), "{case:?}");
    });
}

/// Starts are bounded even where each is charged and the limit is high.
#[test]
fn starts_of_paillier_are_bounded_whatever_the_limit() {
    super::for_all_cases(|case| {
        if !matches!(case.engine, Engine::Paillier(_)) {
            return;
        }
        let setup = Setup::new(case, 10 * u64::from(MAX_STARTS));
        let files = tempfile::tempdir().unwrap();
        let hang_up = Attempt {
            bytes: Some(1),
            ..Attempt::new(files.path(), 1)
        };
        let (agreement, _) = setup.attack(&hang_up).agreed.unwrap();
        let mut victims = journal(&setup, &agreement);
        for pair in 0..2 {
            let missing = (MAX_STARTS - victims.starts(pair)) as usize;
            victims.start_pairs(&vec![pair; missing]).unwrap();
        }
        drop(victims);
        let refused = setup.attack(&Attempt::new(files.path(), 2)).victim;
        assert!(
            matches!(
                refused,
                Some(SessionError::Limit(Limit::TooManyStarts {
                    starts: MAX_STARTS
                }))
            ),
            "{case:?}: {refused:?}"
        );
        // Every start counts.
        let learned = setup.learned([files.path()]);
        assert_eq!((learned, setup.counted()), (0, MAX_STARTS.into()));
    });
}

/// A group answer may be started as often as a pair.
#[test]
fn starts_of_a_group_answer_are_bounded() {
    let question = "test:sites,20";
    for attacker in [Role::Host, Role::Join] {
        let case = groups::case(Engine::Shares, question, RevealTo::Both, attacker);
        let setup = Setup::new(case, 1);
        let files = tempfile::tempdir().unwrap();
        let attempt = groups::attempt(files.path(), 0);
        let hang_up = Attempt {
            bytes: Some(1),
            ..attempt.clone()
        };
        let (agreement, _) = setup.attack(&hang_up).agreed.unwrap();
        let journal = || {
            let victim = setup.victim_files.path();
            setup.journal(victim, case.attacker.other(), &agreement, 2)
        };
        let first = vec![groups::PAIRS; MAX_STARTS as usize];
        journal().start_pairs(&first).unwrap();
        for _ in 0..2 {
            let refused = setup.attack(&attempt).victim;
            assert!(
                matches!(
                    refused,
                    Some(SessionError::Limit(Limit::TooManyStarts {
                        starts: MAX_STARTS
                    }))
                ),
                "{case:?}: {refused:?}"
            );
        }
        assert_eq!(journal().starts(groups::PAIRS), MAX_STARTS);
        assert!(groups::learned([files.path()]).is_empty(), "{case:?}");
        assert_eq!(setup.disclosed(), 0, "{case:?}");
        let state = StateDir::at(setup.victim_files.path());
        state.unblock(setup.attacker.fingerprint()).unwrap();
        let result = setup.attack(&attempt);
        assert!(result.victim.is_none(), "{case:?}: {:?}", result.victim);
        assert_eq!(groups::learned([files.path()]).len(), 1, "{case:?}");
    }
}

/// The attacker lets the victim compute and store its half, hangs up, and returns without files: no halves match, so
/// everything is computed again. Each time the victim stores another half, in a file that it reads at every start.
#[test]
fn repeated_starts_do_not_fill_the_disk() {
    super::for_all_cases(|case| {
        // A joining side sends its half as soon as it is stored.
        if !case.engine.opens_outputs_by_halves()
            || case.attacker == Role::Host
            || case.to != RevealTo::Both
        {
            return;
        }
        let setup = Setup::new(case, 1);
        let files = folders(4);
        let (_, halves) = honest(case);
        // It does not confirm that it has stored its own half.
        let attempt = |number: usize| Attempt {
            bytes: Some(halves - 1),
            ..Attempt::new(files[number].path(), number)
        };
        let (agreement, _) = setup.attack(&attempt(0)).agreed.unwrap();
        let length = || {
            let folder = StateDir::at(setup.victim_files.path()).journals();
            let files = crate::state_dir::entries(&folder, crate::journal::EXTENSION).unwrap();
            assert_eq!(files.len(), 1);
            std::fs::metadata(&files[0]).unwrap().len()
        };
        let mut victims = journal(&setup, &agreement);
        let half = victims.half(0).unwrap();
        assert_eq!(victims.starts(0), 1, "{case:?}");
        // More sessions like this one, up to the limit.
        for run in 0..u64::from(MAX_STARTS) - 4 {
            victims.start_pairs(&[0, 1]).unwrap();
            let halves = [half.half ^ run, half.half];
            victims.store_halves(&[0, 1], &halves, run).unwrap();
        }
        drop(victims);
        assert!(length() > 90_000, "{case:?}");
        for number in 1..3 {
            setup.attack(&attempt(number));
            assert!(length() < 1000, "{case:?}: {}", length());
        }
        assert_eq!(journal(&setup, &agreement).starts(0), MAX_STARTS - 1);
        let result = setup.attack(&Attempt::new(files[3].path(), 3));
        assert!(result.victim.is_none(), "{case:?}: {:?}", result.victim);
        assert_eq!(setup.audit(paths(&files)), (1, 1), "{case:?}");
    });
}
