//! Tiles of one plan, in sessions of their own.

use super::*;
use veilpath_protocol::{CancelToken, Outcome, Tile, merge};
use veilpath_session::{SignedRecord, Step};

const TILES: u32 = 4;

/// Cohorts of some size, so that every tile has pairs.
fn cohorts() -> [Cohort; 2] {
    ["P", "Q"].map(|side| {
        let letters = ["ABCDE", "AAB", "C", "", "DDDDABC", "BA"];
        let ids: Vec<String> = (0..6).map(|at| format!("{side}{at}")).collect();
        let stimuli = ["cows", "boat", "cows", "cows", "boat", "cows"];
        let rows = ids.iter().zip(stimuli).zip(letters);
        let rows: Vec<_> = rows
            .map(|((id, stimulus), letters)| (id.as_str(), Some(stimulus), letters))
            .collect();
        cohort(&rows)
    })
}

fn proposals(engine: Engine, change: impl Fn(&mut Proposal)) -> [Proposal; 2] {
    cohorts().map(|cohort| {
        let mut proposal = proposal(cohort);
        proposal.spec.engine = engine;
        change(&mut proposal);
        proposal
    })
}

fn tile(index: u32) -> Tile {
    Tile::new(index, TILES).unwrap()
}

fn without_cost(outcome: &Outcome) -> Outcome {
    Outcome {
        cost: Default::default(),
        ..outcome.clone()
    }
}

/// The most comparisons of a scanpath that each side has counted.
fn counted(setup: &Setup) -> [u64; 2] {
    [0, 1].map(|side| {
        let peers = setup.state_dir(side).peers().unwrap().entries;
        peers
            .iter()
            .map(|peer| peer.max_comparisons)
            .max()
            .unwrap_or(0)
    })
}

#[test]
fn merged_tiles_equal_one_run_and_count_as_one() {
    for engine in [Engine::Garbled, Engine::Shares, Engine::Plain] {
        for change in [
            (&|_: &mut Proposal| ()) as &dyn Fn(&mut Proposal),
            &|plan| plan.pseudonyms = true,
            &|plan| plan.spec.reveal_to = RevealTo::Join,
        ] {
            if engine != Engine::Garbled && proposals(engine, change)[0].spec.check().is_err() {
                continue;
            }
            let (setup, tiled) = (Setup::new(), Setup::new());
            let tiled = Setup {
                identities: setup.identities.clone(),
                ..tiled
            };
            let whole = setup.run(proposals(engine, change)).map(Result::unwrap);
            let mut parts = [Vec::new(), Vec::new()];
            // In any order, and one of them twice.
            for index in [3, 1, 4, 2, 1] {
                let proposals = proposals(engine, |plan| {
                    change(plan);
                    plan.tile = Some(tile(index));
                });
                let results = tiled.run(proposals).map(Result::unwrap);
                for (parts, results) in parts.iter_mut().zip(results) {
                    parts.push(results.outcome);
                }
            }
            for (whole, parts) in whole.iter().zip(parts) {
                let merged = merge(parts).unwrap();
                assert_eq!(merged.pairs, 20);
                assert_eq!(without_cost(&merged), without_cost(&whole.outcome));
            }
            assert_eq!(counted(&setup), counted(&tiled), "{}", engine.name());
            let agreements = |setup: &Setup| {
                let record = SignedRecord::read(&setup.state_dir(0).record(), None).unwrap();
                let mut ids: Vec<String> = record
                    .lines
                    .iter()
                    .filter_map(|line| match &line.entry {
                        veilpath_session::RecordEntry::Session(entry)
                            if entry.step == Step::Completion =>
                        {
                            Some(entry.disclosure.agreement.clone())
                        }
                        _ => None,
                    })
                    .collect();
                let lines = ids.len();
                ids.sort();
                ids.dedup();
                (lines, ids.len())
            };
            assert_eq!(agreements(&setup), (1, 1));
            // A tile that is run again is not entered again.
            assert_eq!(agreements(&tiled), (TILES as usize, 1));
        }
    }
}

#[test]
fn limits_apply_to_all_tiles_together() {
    let limited = |limit, index| {
        proposals(Engine::Garbled, move |plan| {
            plan.limit_per_scanpath = ScanpathLimit::Count(limit);
            plan.tile = Some(tile(index));
        })
    };
    // The four scanpaths of one stimulus are compared with four, of which one is empty.
    let setup = Setup::new();
    for result in setup.run(limited(2, 1)) {
        let error = result.unwrap_err();
        assert!(
            matches!(
                error,
                SessionError::Limit(Limit::Comparisons(_)) | SessionError::Declined(_)
            ),
            "{error}"
        );
    }
    assert_eq!(counted(&setup), [0, 0]);
    for index in 1..=TILES {
        let _ = setup.run(limited(3, index)).map(Result::unwrap);
    }
    assert_eq!(counted(&setup), [3, 3]);
    // The plan is complete: its tiles are free.
    let again = setup.run(limited(3, 2)).map(Result::unwrap);
    assert!(again.iter().all(|result| result.outcome.cost.cells == 0));
    // One more tile, or another plan, is not.
    let other = proposals(Engine::Garbled, |plan| {
        plan.limit_per_scanpath = ScanpathLimit::Count(3);
        plan.tile = Some(Tile::new(1, TILES + 1).unwrap());
    });
    assert!(setup.run(other).iter().all(Result::is_err));
    assert_eq!(counted(&setup), [3, 3]);
}

#[test]
fn an_interrupted_tile_continues_and_counts_once() {
    struct Interrupt(CancelToken);
    impl Observer for Interrupt {
        fn scored(&self, _: usize, _: Answer) {
            self.0.cancel();
        }
        fn cancel_token(&self) -> CancelToken {
            self.0.clone()
        }
    }
    let setup = Setup::new();
    let plan = |index| proposals(Engine::Garbled, move |plan| plan.tile = Some(tile(index)));
    for index in 1..=TILES {
        let observer = Interrupt(CancelToken::default());
        let _ = setup.run_observed(plan(index), &observer);
    }
    let mut parts = Vec::new();
    for index in 1..=TILES {
        let [host, _] = setup.run(plan(index)).map(Result::unwrap);
        parts.push(host.outcome);
    }
    let [a, b] = cohorts();
    let expected = compare_locally(proposal(a.clone()).spec, &a, &b, &()).unwrap();
    assert_eq!(merge(parts).unwrap().results, expected.results);
    assert_eq!(counted(&setup), [3, 3]);
}

#[test]
fn both_sides_must_have_the_same_tile() {
    let fields = |tiles: [Option<Tile>; 2]| {
        let mut proposals = proposals(Engine::Garbled, |_| ());
        for (plan, tile) in proposals.iter_mut().zip(tiles) {
            plan.tile = tile;
        }
        let [host, _] = Setup::new().run(proposals);
        match host.unwrap_err() {
            SessionError::Differs(differences) => {
                let fields = differences.into_iter();
                fields
                    .map(|it| (it.field, it.ours, it.theirs))
                    .collect::<Vec<_>>()
            }
            other => panic!("{other}"),
        }
    };
    let text = |a: &str, b: &str, c: &str| (a.to_string(), b.to_string(), c.to_string());
    assert_eq!(
        fields([Some(tile(1)), Some(tile(2))]),
        [text("tile", "1", "2")]
    );
    assert_eq!(
        fields([Some(tile(1)), Some(Tile::new(1, 5).unwrap())]),
        [text("tile_count", "4", "5")]
    );
    assert_eq!(
        fields([Some(tile(1)), None]),
        [text("tile_count", "4", "(not given)")]
    );
}

#[test]
fn plans_that_cannot_be_split_are_refused_before_anything_is_sent() {
    let refused = |change: &dyn Fn(&mut Proposal)| {
        let proposals = proposals(Engine::Garbled, |plan| {
            plan.tile = Some(tile(1));
            change(plan);
        });
        let [host, _] = Setup::new().run(proposals);
        host.unwrap_err().to_string()
    };
    let group = refused(&|plan| plan.spec.reveal = "mean".parse().unwrap());
    assert!(group.contains("about all pairs at once"), "{group}");
    assert!(refused(&|plan| plan.auto_engine = true).contains("must name its engine"));
    assert!(refused(&|plan| plan.fresh = true).contains("all tiles of a plan share one"));
}
