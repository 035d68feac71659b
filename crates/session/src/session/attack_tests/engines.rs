//! The victim leaves the choice of the engine open, and the attacker exploits that; or it pretends to ask for an estimate.

use super::*;
use crate::digests::journal_id;
use crate::engine_decision::EngineDecision;
use crate::error::Limit;
use crate::journal::Journal;
use veilpath_protocol::TreeLevels;

fn setup(attacker: Role, limit: u64) -> Setup {
    let case = Case {
        engine: Engine::Garbled,
        reveal: Reveal::Score,
        to: RevealTo::Both,
        attacker,
    };
    Setup {
        auto: true,
        ..Setup::new(case, limit)
    }
}

/// Naming one engine, the other, or none makes three agreements, and all count.
#[test]
fn every_engine_choice_counts_towards_the_limit() {
    for attacker in [Role::Join, Role::Host] {
        let setup = setup(attacker, 2);
        let folders = folders(4);
        let engines = [Some(Engine::Shares), Some(Engine::Garbled), None, None];
        for (number, (engine, files)) in engines.into_iter().zip(&folders).enumerate() {
            let result = setup.attack(&Attempt {
                engine,
                ..Attempt::new(files.path(), number)
            });
            match result.victim {
                None => assert!(number < 2, "{attacker:?} {number}"),
                Some(SessionError::Limit(Limit::Comparisons(_))) => assert!(number >= 2),
                Some(error) => panic!("{attacker:?} {number}: {error}"),
            }
        }
        assert_eq!(setup.audit(paths(&folders)), (2, 2), "{attacker:?}");
    }
}

/// The attacker disconnects, and returns with other letters and with files in which the other engine was chosen.
#[test]
fn another_engine_on_resume_gives_no_second_answer() {
    for attacker in [Role::Join, Role::Host] {
        let files = tempfile::tempdir().unwrap();
        let result = setup(attacker, 1).attack(&Attempt::new(files.path(), 1));
        assert!(result.victim.is_none());
        let [to_victim, to_attacker] = result.records;
        for cut in [
            (true, to_victim / 2),
            (true, to_victim - 1),
            (false, to_attacker / 2),
            (false, to_attacker - 1),
        ] {
            let setup = setup(attacker, 3);
            let folders = folders(3);
            let (to_victim, records) = cut;
            let first = setup.attack(&Attempt {
                cut: Some(Cut { to_victim, records }),
                ..Attempt::new(folders[0].path(), 1)
            });
            let (agreement, _) = first.agreed.unwrap();
            let id = journal_id(&agreement, attacker, None);
            for (number, engine) in Engine::PROVEN.into_iter().enumerate() {
                let files = folders[number + 1].path();
                let directory = StateDir::at(files).journals();
                let mut journal = Journal::open(&directory, id, 2, Reveal::Score).unwrap();
                let tree_levels = TreeLevels::default();
                journal
                    .store_engine(EngineDecision {
                        engine,
                        tree_levels,
                    })
                    .unwrap();
                drop(journal);
                setup.attack(&Attempt::new(files, number + 2));
            }
            let (_, counted) = setup.audit(paths(&folders));
            assert!(counted <= 1, "{attacker:?} {cut:?}");
        }
    }
}

/// Estimates are free and not limited, so nothing may follow them.
#[test]
fn an_estimate_does_not_become_a_comparison() {
    for_all_cases(|case| {
        let setup = Setup::new(case, 0);
        let files = tempfile::tempdir().unwrap();
        let result = setup.attack(&Attempt {
            estimates: true,
            ..Attempt::new(files.path(), 1)
        });
        assert!(
            matches!(result.victim, Some(SessionError::EstimateOnly)),
            "{case:?}: {:?}",
            result.victim
        );
        assert_eq!(setup.audit([files.path()]), (0, 0));
    });
}
