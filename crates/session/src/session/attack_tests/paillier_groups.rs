//! The attacks on group answers, with `paillier`: it has answers about published groups only, and every start of a pair counts.

use super::groups::{attempt, case, comparisons, cost, hang_up_everywhere, learned};
use super::*;
use crate::Misbehaviour;

/// The cases in which the attacker gets the answer.
fn cases() -> [Case; 3] {
    let options = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    let engine = Engine::Paillier(options);
    let case = |question, attacker| case(engine, question, RevealTo::Both, attacker);
    [
        case("groups,published", Role::Join),
        case("test:groups,20,published", Role::Host),
        case("mean:overall", Role::Host),
    ]
}

fn for_all_cases(attack: impl Fn(Case) + Sync) {
    std::thread::scope(|scope| {
        for case in cases() {
            let attack = &attack;
            scope.spawn(move || attack(case));
        }
    });
}

#[test]
fn hanging_up_gives_at_most_one_answer() {
    for_all_cases(hang_up_everywhere);
}

/// With the answer in hand the attacker returns with other letters, and with or without its files.
#[test]
fn returning_after_the_answer_gives_nothing_new() {
    for_all_cases(|case| {
        let setup = Setup::new(case, 10 * comparisons(case));
        let folders = folders(2);
        let first = setup.attack(&attempt(folders[0].path(), 0));
        assert!(first.victim.is_none(), "{case:?}: {:?}", first.victim);
        let known = learned(paths(&folders));
        assert_eq!(known.len(), 1);
        for (number, files) in paths(&folders).enumerate() {
            // Without its files it gets the answer again that both know.
            let victim = setup.attack(&attempt(files, 2 * number + 2)).victim;
            assert!(victim.is_none(), "{case:?}: {victim:?}");
            assert_eq!(learned(paths(&folders)), known, "{case:?}");
            assert_eq!(setup.disclosed(), cost(case));
            assert_eq!(setup.counted(), comparisons(case));
        }
    });
}

/// The attacker publishes other labels than it has committed to, or hangs up with the victim's labels and returns with others.
#[test]
fn labels_cannot_be_chosen_after_the_agreement() {
    let published = |case: &Case| case.reveal.to_string().contains("published");
    for case in cases().into_iter().filter(published) {
        let limit = 20 * comparisons(case);
        let setup = Setup::new(case, limit);
        let files = tempfile::tempdir().unwrap();
        let found = |result: SessionEnd| match result.victim {
            Some(SessionError::Misbehaved(misbehaviour)) => misbehaviour,
            other => panic!("{case:?}: {other:?}"),
        };
        for labels in [&[1, 0], &[0, 0]] {
            let result = setup.attack(&Attempt {
                labels: Some(labels),
                ..Attempt::new(files.path(), 1)
            });
            assert_eq!(found(result), Misbehaviour::InvalidCoins, "{case:?}");
            assert_eq!(setup.disclosed(), 0, "{case:?}");
        }
        let [_, to_attacker] = Setup::new(case, limit)
            .attack(&Attempt::new(files.path(), 1))
            .records;
        for records in [3, to_attacker / 2] {
            let setup = Setup::new(case, limit);
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
                assert_eq!(found(result), Misbehaviour::ChangedGroups, "{case:?}");
            }
            assert!(learned(paths(&folders)).is_empty(), "{case:?}");
            let result = setup.attack(&Attempt::new(folders[0].path(), 1));
            assert!(result.victim.is_none(), "{case:?}: {:?}", result.victim);
            assert_eq!(learned(paths(&folders)).len(), 1, "{case:?}");
            assert_eq!(setup.disclosed(), cost(case), "{case:?}");
        }
    }
}
