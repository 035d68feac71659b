//! Who decides on the engine.

use super::*;
use veilpath_protocol::PaillierOptions;

/// What each side asks for: an engine, or `None` to leave the choice open.
fn with_engines(engines: [Option<Engine>; 2]) -> [Proposal; 2] {
    let mut proposals = proposals(|_| ());
    for (proposal, engine) in proposals.iter_mut().zip(engines) {
        proposal.auto_engine = engine.is_none();
        proposal.spec.engine = engine.unwrap_or(Engine::Garbled);
    }
    proposals
}

#[test]
fn auto_gives_the_scores_of_plain_and_results_name_the_engine() {
    let setup = Setup::new();
    let plain = setup.run(proposals(|_| ())).map(Result::unwrap);
    let results = setup.run(with_engines([None; 2])).map(Result::unwrap);
    for (results, plain) in results.iter().zip(&plain) {
        assert_eq!(rows(results), rows(plain));
        assert!(Engine::PROVEN.contains(&results.outcome.spec.engine));
    }
    assert_eq!(results[0].outcome.spec, results[1].outcome.spec);
    // The same agreement again: nothing is computed, and nothing counted.
    let again = setup.run(with_engines([None; 2])).map(Result::unwrap);
    assert_eq!(again[0].outcome.spec, results[0].outcome.spec);
    assert_eq!(again[0].outcome.cost.pairs_from_journal, 3);
    assert_eq!(again[0].max_agreements, results[0].max_agreements);
}

#[test]
fn a_side_that_names_a_proven_engine_decides() {
    for engine in Engine::PROVEN {
        for engines in [
            [Some(engine), None],
            [None, Some(engine)],
            [Some(engine); 2],
        ] {
            let result = Setup::new().run(with_engines(engines)).map(Result::unwrap);
            for result in result {
                assert_eq!(result.outcome.spec.engine, engine);
                assert_eq!(result.outcome.results.len(), 3);
            }
        }
    }
}

#[test]
fn auto_conflicts_with_paillier_and_plain() {
    for engine in [
        Engine::Plain,
        Engine::Paillier(PaillierOptions::new(veilpath_protocol::KeySize::Bits512, true).unwrap()),
    ] {
        for engines in [[Some(engine), None], [None, Some(engine)]] {
            for side in Setup::new().run(with_engines(engines)) {
                let SessionError::Differs(differences) = side.unwrap_err() else {
                    panic!("not a difference");
                };
                let [difference] = &differences[..] else {
                    panic!("{differences:?}");
                };
                assert_eq!(difference.field, "engine");
                let names = [difference.ours.as_str(), difference.theirs.as_str()];
                assert!(names.contains(&"auto") && names.contains(&engine.name()));
            }
        }
    }
}

/// Limits hold for an open choice, and a named engine is another agreement.
#[test]
fn an_open_choice_counts_like_any_other_plan() {
    let setup = Setup::new();
    let limited = |engines, limit| {
        let mut proposals = with_engines(engines);
        for proposal in &mut proposals {
            proposal.limit_per_scanpath = ScanpathLimit::Count(limit);
        }
        proposals
    };
    for result in setup.run(limited([None; 2], 0)) {
        assert_eq!(result.unwrap_err().fault(), Fault::PeerDiffers);
    }
    for _ in 0..2 {
        let results = setup.run(limited([None; 2], 1));
        assert!(results.iter().all(Result::is_ok));
    }
    let named = [Some(Engine::Garbled); 2];
    assert!(setup.run(limited(named, 1)).iter().all(Result::is_err));
    assert!(setup.run(limited(named, 2)).iter().all(Result::is_ok));
}
