use super::*;
use crate::worker::tests::{Setup, tile};
use crate::worker::tile::LISTED;
use veilpath_protocol::Engine;

/// The coordinator lists pairs, of which there may be millions, only for a leased tile.
#[test]
fn pairs_are_listed_only_for_a_leased_tile() {
    let setup = Setup::new(Engine::Garbled);
    let options = CoordinatorOptions {
        workers: 4,
        memory: 1,
    };
    let (plan, state_dir) = (setup.plan(0), setup.state_dir(0));
    let identity = &setup.identities[0];
    let bound = Coordinator::bind("127.0.0.1:0", identity, plan, state_dir, options);
    let shared = Arc::clone(&bound.unwrap().shared);
    let [key, other] = [0, 1].map(|side| setup.order(side, "1-3").fingerprint());
    let listed = || LISTED.with(std::cell::Cell::get);
    let before = listed();
    let first = shared.open(1, key).unwrap();
    assert_eq!(listed(), before + 1);
    // One tile is in use, the other exceeds the memory.
    assert!(shared.open(1, other).is_err());
    assert!(shared.open(2, other).is_err());
    assert_eq!(listed(), before + 1);
    drop(first);
    shared.open(2, other).unwrap();
    assert_eq!(shared.plan.pairs_in(tile(2)), 6);
}

#[test]
fn simultaneous_reports_cause_one_event() {
    let setup = Setup::new(Engine::Garbled);
    let (plan, state_dir) = (setup.plan(0), setup.state_dir(0));
    let path = state_dir
        .ledgers()
        .join(format!("{}.json", plan.peer().plain()));
    let identity = &setup.identities[0];
    let options = CoordinatorOptions::default();
    let bound = Coordinator::bind("127.0.0.1:0", identity, plan, state_dir, options).unwrap();
    let (events, received) = channel();
    // Both have read the ledger before either may change it.
    let guard = crate::locked_file::guard(&path).unwrap();
    std::thread::scope(|scope| {
        for reason in [BanReason::FailedCheck, BanReason::ChangedAnswer] {
            let (shared, events) = (&bound.shared, events.clone());
            scope.spawn(move || shared.stop_tile(1, reason, &events).unwrap());
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
        drop(guard);
    });
    assert_eq!(received.try_iter().count(), 1);
}
