//! Tiles whose pairs are counted at every start: by the matrix owner whenever a pair starts, by the key holder when its result is
//! opened.

use super::*;
use veilpath_protocol::{KeySize, PaillierOptions};

fn engine() -> Engine {
    Engine::Paillier(PaillierOptions::new(KeySize::Bits512, true).unwrap())
}

/// How often the pairs of all tiles were started by each side.
fn all_starts(setup: &Setup) -> [u64; 2] {
    [0, 1].map(|side| {
        let starts = (1..=TILES).map(|index| {
            let pairs = setup.plan(side).pairs_of(tile(index), None).unwrap();
            journal(setup, side, tile(index)).all_starts(pairs.pairs.len())
        });
        starts.sum()
    })
}

/// Kills something at every stage. The host counts each pair once, the joining side each start. Returns whether pairs were started
/// again.
fn kill(killed: KillTarget, side: usize) -> bool {
    let [of_host, of_join] = counts_without_kills(engine());
    let mut started_again = false;
    let seen = kill_at_every_stage_and(engine(), 50, killed, side, |setup| {
        let counted = all_counted(setup);
        assert_eq!(counted, all_starts(setup), "{killed:?} of side {side}");
        assert_eq!(counted[0], of_host, "{killed:?} of side {side}");
        assert!(counted[1] >= of_join, "{killed:?} of side {side}");
        started_again |= counted[1] > of_join;
    });
    assert!(seen.iter().any(|it| !it.started), "{seen:?}");
    assert!(seen.iter().any(|it| it.complete), "{seen:?}");
    started_again
}

#[test]
fn a_killed_worker_of_the_key_holder_counts_nothing_twice() {
    assert!(kill(KillTarget::Worker, 0));
}

#[test]
fn a_killed_worker_of_the_matrix_owner_counts_its_starts() {
    assert!(kill(KillTarget::Worker, 1));
}

#[test]
fn a_killed_coordinator_of_the_key_holder_counts_nothing_twice() {
    assert!(kill(KillTarget::Coordinator, 0));
}

#[test]
fn a_killed_gateway_counts_nothing_twice_for_the_key_holder() {
    kill(KillTarget::Gateway, 0);
}

/// Whether a coordinator has refused a tile because of the limit; how many comparisons it needs.
fn needed(results: &[Result<Outcome, SessionError>; 2]) -> Option<u64> {
    results.iter().find_map(|result| match result {
        Err(SessionError::Limit(Limit::Comparisons(exceeded))) => Some(exceeded.needed()),
        _ => None,
    })
}

/// How often a coordinator has leased a tile, until it was refused.
fn leases(coordinator: &RunningCoordinator, index: u32) -> usize {
    let is_refusal = |event: &CoordinatorEvent| matches!(event, CoordinatorEvent::Refused { tile, .. } if *tile == Some(index));
    loop {
        let events = coordinator.events.lock().unwrap().clone();
        if let Some(end) = events.iter().position(is_refusal) {
            let leased = CoordinatorEvent::Started { tile: index };
            return events[..end].iter().filter(|it| **it == leased).count();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Kills use up the limit of the joining side, and the tiles that no longer fit are refused before they cost anything.
#[test]
fn a_tile_that_cannot_finish_within_the_limit_is_refused_at_once() {
    let setup = Setup::new(engine());
    let coordinators = [0, 1].map(|side| RunningCoordinator::new(&setup, side));
    let addresses = coordinators.each_ref().map(|it| it.address.as_str());
    // The matrix owner has started its pairs, and the key holder has not opened any.
    let stage = KillPoint {
        has_tile: true,
        request: 2,
        delivered: true,
    };
    let fault = Some((KillTarget::Worker, 1, stage));
    let (_, was_killed) = work(&setup, addresses, tile(1), fault);
    assert!(was_killed);
    let before = all_counted(&setup);
    assert!(before[0] == 0 && before[1] > 0, "{before:?}");
    let mut refused = 0;
    for index in (1..=TILES).rev() {
        let counted = all_counted(&setup);
        let (results, _) = work(&setup, addresses, tile(index), None);
        match needed(&results) {
            Some(needed) => {
                assert!(needed > 3);
                // The coordinator has refused the tile itself, and not a start of its pairs.
                let before = usize::from(index == 1);
                assert_eq!(leases(&coordinators[1], index), before, "tile {index}");
                assert_eq!(all_counted(&setup), counted, "tile {index}");
                refused += 1;
            }
            None => assert!(results.iter().all(Result::is_ok), "{index}: {results:?}"),
        }
    }
    assert!(refused > 0);
    drop(coordinators);
    // Both institutions agree again with a larger limit, and all tiles can be computed.
    setup.agree(engine(), 9);
    let coordinators = [0, 1].map(|side| RunningCoordinator::new(&setup, side));
    let addresses = coordinators.each_ref().map(|it| it.address.as_str());
    for index in 1..=TILES {
        let (results, _) = work(&setup, addresses, tile(index), None);
        assert!(results.iter().all(Result::is_ok), "{index}: {results:?}");
    }
    assert_eq!(all_counted(&setup), all_starts(&setup));
}
