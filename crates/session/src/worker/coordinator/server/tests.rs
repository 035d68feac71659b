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
    // In use, and beyond the memory.
    assert!(shared.open(1, other).is_err());
    assert!(shared.open(2, other).is_err());
    assert_eq!(listed(), before + 1);
    drop(first);
    shared.open(2, other).unwrap();
    assert_eq!(shared.plan.pairs_in(tile(2)), 6);
}
