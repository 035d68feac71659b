//! What a stolen worker key, a partner with many tiles, and a wrong state folder cannot do.

use super::*;
use crate::SecureChannel;
use crate::connect::{connect_tcp, secure};
use crate::error::{FileProblem, Limit};
use crate::ledger::LedgerFile;
use crate::tls::{self, PinnedKeys};
use crate::worker::coordinator::LeasedTile;
use crate::worker::gateway::greeting;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use veilpath_channel::Channel;

/// An order of the joining side for all tiles, whose key expires at this time.
fn order_expiring_at(setup: &Setup, expires: SystemTime) -> WorkOrder {
    let mut order = setup.order(1, "1-3");
    let (signer, tiles) = (&setup.identities[1], "1-3".parse().unwrap());
    let agreement = &order.plan.agreement;
    let certificate = WorkerCertificate::sign(signer, &order.key, agreement, tiles, expires);
    order.certificate = certificate.unwrap();
    order
}

/// Connects two workers, which then do nothing.
pub(super) fn connected([host, join]: [&WorkOrder; 2], tile: Tile) -> [SecureChannel; 2] {
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address().to_string();
    std::thread::scope(|scope| {
        let host = scope.spawn(|| {
            host.accept(listener, tile, &timeouts(), &|| false, &mut |_| ())
                .unwrap()
        });
        let join = join.join(&address, tile, &timeouts(), &|| false).unwrap();
        [host.join().unwrap(), join]
    })
}

/// A thief gains nothing by connecting in time and then waiting.
#[test]
fn a_session_ends_when_the_key_expires() {
    let setup = Setup::new(Engine::Garbled);
    let expires = crate::date::now() + Duration::from_secs(3);
    let orders = [setup.order(0, "1-3"), order_expiring_at(&setup, expires)];
    let [host, join] = connected([&orders[0], &orders[1]], tile(1));
    while crate::date::now() < expires + Duration::from_millis(1500) {
        std::thread::sleep(Duration::from_millis(100));
    }
    let opened = std::thread::scope(|scope| {
        scope.spawn(|| Session::open_with_order(join, &orders[1], timeouts()));
        Session::open_with_order(host, &orders[0], timeouts())
    });
    let error = opened.unwrap_err();
    assert_eq!(
        problem_of(&error),
        Some(WorkerKeyProblem::Expired),
        "{error}"
    );
}

/// The other side decides how long a key may be valid, so a clock that was set back by years accepts no old key.
#[test]
fn a_key_that_is_valid_for_years_is_not_accepted() {
    let setup = Setup::new(Engine::Garbled);
    let far = crate::date::now() + MAX_WORKER_KEY_TIME + Duration::from_secs(3 * 24 * 3600);
    let long = order_expiring_at(&setup, far);
    assert_eq!(
        problem_of(&long.tile(1).unwrap_err()),
        Some(WorkerKeyProblem::Time)
    );
    let [host, _] = setup.work([&setup.order(0, "1-3"), &long], tile(1));
    assert_eq!(problem_of(&host.unwrap_err()), Some(WorkerKeyProblem::Time));
    // A file with a time that no clock can represent.
    let path = setup.folders[0].path().join("work.json");
    setup.order(0, "1").save(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
    file["certificate"]["claim"]["expires"] = u64::MAX.into();
    std::fs::write(&path, file.to_string()).unwrap();
    let order = WorkOrder::load(&path).unwrap();
    assert!(order.expires() < crate::date::now());
    assert!(order.tile(1).is_err());
}

/// Anyone can connect to a worker of the host, but must not learn who takes part in what.
#[test]
fn an_unknown_key_gets_no_certificate() {
    let setup = Setup::new(Engine::Garbled);
    let order = setup.order(0, "1-3");
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address().to_string();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let is_stopped = || is_over.load(Ordering::SeqCst);
            order.accept(listener, tile(1), &timeouts(), &is_stopped, &mut |_| ())
        });
        let soon = Instant::now() + Duration::from_secs(1);
        let socket = connect_tcp(&address, soon).unwrap();
        let (unknown, any) = (Identity::ephemeral().unwrap(), PinnedKeys::of_workers());
        let tls = tls::client(&unknown, &any).unwrap();
        let mut channel = secure(socket, tls, any, &timeouts()).unwrap();
        assert!(channel.receive(&mut [0]).is_err());
        is_over.store(true, Ordering::SeqCst);
    });
}

/// Limits hold where the journals and the ledger of the institution are. A worker that is started with another state folder,
/// or with an empty one on a disk of its own, would count from zero.
#[test]
fn a_worker_without_the_storage_of_its_institution_computes_nothing() {
    let setup = Setup::new(Engine::Garbled);
    let orders = [setup.order(0, "1-3"), setup.order(1, "1-3")];
    std::fs::remove_dir_all(setup.state_dir(0).agreements()).unwrap();
    let [host, join] = setup.work([&orders[0], &orders[1]], tile(1));
    let is_unknown = |error: &SessionError| {
        matches!(
            error,
            SessionError::File {
                problem: FileProblem::NoSuchAgreement,
                ..
            }
        )
    };
    assert!(is_unknown(&host.unwrap_err()));
    assert!(matches!(join.unwrap_err(), SessionError::Declined(_)));
    assert_eq!(setup.counted(), [0, 0]);
}

/// Workers, single tiles, other numbers of tiles and the whole plan in one session: a scanpath has one limit.
#[test]
fn every_tiling_of_a_plan_shares_one_limit() {
    let whole = || {
        ["p", "q"].map(|side| Proposal {
            tile_count: None,
            ..proposal(side, Engine::Garbled)
        })
    };
    let of_other_count = |index| {
        whole().map(|plan| Proposal {
            tile: Some(Tile::new(index, 2).unwrap()),
            ..plan
        })
    };
    let is_refused = |results: [Result<CompletedSession, SessionError>; 2]| {
        results.iter().all(|results| {
            let error = results.as_ref().err();
            error.is_some_and(|error| {
                matches!(
                    error,
                    SessionError::Limit(Limit::Comparisons(_)) | SessionError::Declined(_)
                )
            })
        })
    };
    let orders = |setup: &Setup| [setup.order(0, "1-3"), setup.order(1, "1-3")];
    // The tiles first.
    let setup = Setup::new(Engine::Garbled);
    let [host, join] = orders(&setup);
    for index in 1..=TILES {
        assert!(
            setup
                .work([&host, &join], tile(index))
                .iter()
                .all(Result::is_ok)
        );
    }
    assert!(is_refused(setup.session(whole())));
    assert!(is_refused(setup.session(of_other_count(1))));
    assert_eq!(setup.counted(), [3, 3]);
    // The whole plan first: an agreement on tiles does not reserve anything.
    let setup = Setup::new(Engine::Garbled);
    let [host, join] = orders(&setup);
    assert!(setup.session(whole()).iter().all(Result::is_ok));
    for index in 1..=TILES {
        assert!(is_refused(setup.work([&host, &join], tile(index))));
    }
    assert!(is_refused(setup.session(of_other_count(2))));
    assert_eq!(setup.counted(), [3, 3]);
}

/// A thief can make a tile unusable: its pairs may have been sent. They are computed again only under a new agreement, and count again.
#[test]
fn an_unusable_tile_needs_a_new_agreement() {
    let setup = Setup::new(Engine::Garbled);
    let (unusable, state_dir) = (setup.plan(0), setup.state_dir(0));
    let pairs = unusable.pairs_of(tile(1), None).unwrap();
    let all: Vec<usize> = (0..pairs.pairs.len()).collect();
    let peer = setup.identities[1].fingerprint();
    let ledger = LedgerFile::of(Some(&state_dir.ledgers()), peer);
    let mut store = LeasedTile::open(&unusable, pairs, &state_dir, &ledger).unwrap();
    store.journal_mut().start_pairs(&all).unwrap();
    store.journal_mut().mark_sent(&all).unwrap();
    drop(store);
    let results = setup.work([&setup.order(0, "1"), &setup.order(1, "1")], tile(1));
    assert!(results.iter().all(Result::is_err));
    let counted = setup.counted()[0];
    assert!(counted > 0);
    let plans = ["p", "q"].map(|side| Proposal {
        fresh: true,
        limit_per_scanpath: ScanpathLimit::Count(6),
        ..proposal(side, Engine::Garbled)
    });
    assert!(setup.session(plans).iter().all(Result::is_ok));
    let orders = [0, 1].map(|side| {
        let folder = setup.state_dir(side).agreements();
        let files = std::fs::read_dir(folder).unwrap();
        let names = files.map(|it| it.unwrap().file_name().into_string().unwrap());
        let mut plans = names.map(|name| setup.state_dir(side).agreed_plan(&name[..12]).unwrap());
        let fresh = plans
            .find(|plan| plan.agreement != unusable.agreement)
            .unwrap();
        let tiles = "1".parse().unwrap();
        WorkOrder::new(&setup.identities[side], &fresh, tiles, in_one_hour()).unwrap()
    });
    let results = setup.work([&orders[0], &orders[1]], tile(1));
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(setup.counted()[0], 2 * counted);
}

/// Equal greetings would have equal signatures: a dropped worker may reconnect within the same second.
#[test]
fn a_worker_can_reconnect_to_the_gateway_at_once() {
    use crate::relay::GreetingFormat;
    let setup = Setup::new(Engine::Garbled);
    let order = setup.order(0, "1-3");
    let mut form = WorkerGreetings::of(&order.plan);
    for _ in 0..5 {
        let greeting = greeting(&order.key, &order.certificate, &order.plan, tile(2)).unwrap();
        assert!(form.read(&greeting).unwrap().is_ok());
    }
}
