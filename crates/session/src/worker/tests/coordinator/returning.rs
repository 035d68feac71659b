//! A thief with a work order returns to the same tile.

use super::*;
use std::collections::BTreeMap;

const SOON: Duration = Duration::from_millis(800);

/// Adds what a thief with an order of the joining side has learned, from the thief's own files.
fn learned(files: &StateDir, seen: &mut BTreeMap<String, BTreeSet<String>>) {
    for comparison in files.comparisons().unwrap().entries {
        let Ok(outcome) = files.stored_outcome(&comparison.id) else {
            continue;
        };
        for pair in outcome.results.iter() {
            let values = seen.entry(format!("{}-{}", pair.a, pair.b)).or_default();
            values.insert(format!("{:?}", pair.values));
        }
    }
}

/// A thief of the joining side's order returns with other letters and empty files, and disconnects at every `step`th point.
fn return_with_other_letters(engine: Engine, step: usize) {
    let setup = Setup::new(engine);
    let coordinator = RunningCoordinator::new(&setup, 0);
    let agreed = setup.plan(0).pairs_of(tile(1), None).unwrap();
    let counted = agreed.cells.iter().filter(|&&cells| cells > 0).count() as u64;
    let (mut seen, mut halves) = (BTreeMap::new(), BTreeSet::new());
    let (never, times) = (
        KillSwitch::default(),
        Timeouts::new(Duration::from_secs(5), SOON),
    );
    for round in (0..22_u16).step_by(step).chain([22, 23]) {
        let kill = KillSwitch::default();
        let stage = KillPoint {
            has_tile: true,
            request: usize::from(round / 2) + 1,
            delivered: round % 2 == 1,
        };
        // Finally it lets a session end.
        let at = (round < 22).then_some((stage, &kill));
        let to_coordinator = KillableProxy::new(&coordinator.address, &never, at);
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let between = KillableProxy::new(&listener.address().to_string(), &kill, None);
        let honest = setup.order(0, "1");
        let mut stolen = setup.order(1, "1");
        for letter in stolen.plan.letters.iter_mut().flatten() {
            *letter = (*letter + round) % 5;
        }
        let folder = tempfile::tempdir().unwrap();
        let files = StateDir::at(folder.path());
        crate::state_dir::create_private_dir(&files.agreements()).unwrap();
        for file in std::fs::read_dir(setup.state_dir(1).agreements()).unwrap() {
            let file = file.unwrap();
            let copy = files.agreements().join(file.file_name());
            std::fs::copy(file.path(), copy).unwrap();
        }
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let is_stopped = || is_over.load(Ordering::SeqCst);
                let mut listener = Some(listener);
                let connect = |tile| {
                    let listener = listener.take().unwrap();
                    honest.accept(listener, tile, &times, &is_stopped, &mut |_| ())
                };
                side_of_tile(&honest, tile(1), &to_coordinator, connect, &|| false)
            });
            let join = || {
                let is_killed = || kill.is_triggered();
                let channel = stolen.join(&between.address, tile(1), &times, &is_killed)?;
                let session = Session::open_with_order(channel, &stolen, timeouts())?;
                let storage = TileStorage::Shared(&files);
                session
                    .agree_on_tile(&stolen, tile(1), storage, None)?
                    .run(&())
            };
            let _ = join();
            is_over.store(true, Ordering::SeqCst);
        });
        learned(&files, &mut seen);
        let now = sent_halves(&setup, tile(1));
        assert!(now.is_superset(&halves), "round {round}");
        halves = now;
        assert!(all_counted(&setup)[0] <= counted, "round {round}");
    }
    assert!(!halves.is_empty() && !seen.is_empty(), "{seen:?}");
    assert!(seen.values().all(|values| values.len() == 1), "{seen:?}");
}

#[test]
fn a_stolen_order_gets_at_most_one_answer_for_each_pair() {
    return_with_other_letters(Engine::Garbled, 3);
}

#[test]
fn a_stolen_order_gets_at_most_one_answer_for_each_pair_by_shares() {
    return_with_other_letters(Engine::Shares, 3);
}

#[test]
#[ignore = "takes half a minute; .ci/full runs it"]
fn a_stolen_order_gets_at_most_one_answer_wherever_it_disconnects() {
    return_with_other_letters(Engine::Garbled, 1);
    return_with_other_letters(Engine::Shares, 1);
}
