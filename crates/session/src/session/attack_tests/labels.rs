//! Both sides publish who is in which group, and the attacker publishes something else, nothing, or too much.

use super::groups::{case, cost, learned};
use super::signatures::{record, steps};
use super::*;
use crate::error::Limit;
use crate::{DisclosureRefusal, Misbehaviour, Step};

fn cases() -> [Case; 4] {
    let (groups, test) = ("groups,published", "test:groups,20,published");
    [
        // The joining side sees the host's labels before it sends its own.
        case(Engine::Shares, groups, RevealTo::Both, Role::Join),
        case(Engine::Garbled, groups, RevealTo::Host, Role::Host),
        case(Engine::Shares, test, RevealTo::Join, Role::Join),
        case(Engine::Garbled, test, RevealTo::Both, Role::Host),
    ]
}

fn misbehaviour(result: SessionEnd) -> Misbehaviour {
    match result.victim {
        Some(SessionError::Misbehaved(misbehaviour)) => misbehaviour,
        other => panic!("{other:?}"),
    }
}

/// Labels chosen after the attacker has seen the victim's; for one group only; for fewer and for more participants than
/// it has named.
#[test]
fn labels_cannot_be_chosen_after_the_agreement() {
    let others: [&'static [u8]; 5] = [&[1, 0], &[0, 0], &[0], &[0, 1, 1], &[]];
    for case in cases() {
        let setup = Setup::new(case, 1);
        let files = tempfile::tempdir().unwrap();
        for labels in others {
            let result = setup.attack(&Attempt {
                labels: Some(labels),
                ..Attempt::new(files.path(), 1)
            });
            let found = misbehaviour(result);
            assert_eq!(found, Misbehaviour::InvalidCoins, "{case:?} {labels:?}");
            assert_eq!(setup.disclosed(), 0, "{case:?}");
            assert!(learned([files.path()]).is_empty(), "{case:?}");
        }
        // The victim has published its labels, and its record says so.
        let signed = steps(&record(setup.victim_files.path()));
        assert_eq!(signed, [Step::Intent], "{case:?}");
        // As committed, there is one answer.
        let result = setup.attack(&Attempt::new(files.path(), 1));
        assert!(result.victim.is_none(), "{case:?}: {:?}", result.victim);
        assert_eq!(learned([files.path()]).len(), 1, "{case:?}");
        assert_eq!(setup.disclosed(), cost(case), "{case:?}");
    }
}

/// The attacker hangs up once it has the victim's labels, and returns under the same agreement with other labels for groups of the same
/// sizes, with and without the files of the first session.
#[test]
fn other_labels_on_resume_are_rejected() {
    for (number, case) in cases().into_iter().enumerate() {
        let files = tempfile::tempdir().unwrap();
        let [_, to_attacker] = Setup::new(case, 1)
            .attack(&Attempt::new(files.path(), 1))
            .records;
        let cuts = [2, 3, to_attacker / 2, to_attacker.saturating_sub(3)];
        let (first, step) = if is_long() { (0, 1) } else { (number % 2, 2) };
        for &records in cuts[first..].iter().step_by(step) {
            let setup = Setup::new(case, 1);
            let folders = folders(2);
            let cut = Cut {
                to_victim: false,
                records,
            };
            setup.attack(&Attempt {
                cut: Some(cut),
                ..Attempt::new(folders[0].path(), 1)
            });
            for files in paths(&folders) {
                let result = setup.attack(&Attempt {
                    groups: Some(["y", "x"]),
                    ..Attempt::new(files, 2)
                });
                let found = misbehaviour(result);
                assert_eq!(found, Misbehaviour::ChangedGroups, "{case:?} {records}");
            }
            setup.attack(&Attempt::new(folders[0].path(), 1));
            assert!(learned(paths(&folders)).len() <= 1, "{case:?}");
            assert!(setup.disclosed() <= cost(case), "{case:?}");
        }
    }
}

/// Two sessions under one agreement at the same time, with different labels: at most one of them gets the victim's
/// labels and an answer.
#[test]
fn concurrent_sessions_publish_one_set_of_labels() {
    for case in cases() {
        let setup = Setup::new(case, 1);
        let folders = folders(2);
        let result = std::thread::scope(|scope| {
            let attempts = [None, Some(["y", "x"])];
            let attempts = attempts.into_iter().zip(&folders).map(|(groups, files)| {
                let (setup, files) = (&setup, files.path());
                scope.spawn(move || {
                    let attempt = Attempt {
                        groups,
                        ..Attempt::new(files, 1)
                    };
                    setup.attack(&attempt).victim.is_none()
                })
            });
            let attempts: Vec<_> = attempts.collect();
            let result = attempts.into_iter().map(|it| it.join().unwrap());
            result.filter(|finished| *finished).count()
        });
        assert!(result <= 1, "{case:?}");
        assert!(learned(paths(&folders)).len() <= 1, "{case:?}");
        assert!(setup.disclosed() <= cost(case), "{case:?}");
    }
}

/// The same question with secret and with published groups gives two answers. An answer beyond the budget is refused
/// before any label is published.
#[test]
fn published_and_secret_answers_share_one_budget() {
    for (secret, published) in [
        ("groups", "groups,published"),
        ("test:groups,20", "test:groups,20,published"),
    ] {
        for attacker in [Role::Join, Role::Host] {
            let [first, second] = [secret, published]
                .map(|question| case(Engine::Shares, question, RevealTo::Both, attacker));
            let setup = Setup {
                answers: 2 * cost(first) - 1,
                ..Setup::new(first, 1)
            };
            let files = tempfile::tempdir().unwrap();
            let result = setup.attack(&Attempt::new(files.path(), 1));
            assert!(result.victim.is_none(), "{:?}", result.victim);
            let setup = Setup {
                case: second,
                ..setup
            };
            let result = setup.attack(&Attempt::new(files.path(), 1));
            let Some(SessionError::Limit(Limit::Disclosure(refusal))) = result.victim else {
                panic!("{:?}", result.victim);
            };
            let expected = DisclosureRefusal::Budget {
                answers: cost(first),
                counts_as: cost(second),
                budget: 2 * cost(first) - 1,
            };
            assert_eq!(refusal, expected);
            assert!(result.agreed.is_none());
            assert_eq!(setup.disclosed(), cost(first));
        }
    }
}
