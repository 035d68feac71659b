//! What a coordinator refuses.

use super::*;
use crate::error::{CoordinatorProblem, InternalError, NetworkError};
use crate::identity::from_hex;
use crate::journal::entry::Entry;

/// How long a refused worker retries.
const WAIT: Duration = Duration::from_millis(800);

/// A worker with requests that no correct worker makes.
pub(super) struct ModifiedWorker {
    pub(super) tile: CoordinatedTile,
    pub(super) id: [u8; 32],
}

impl ModifiedWorker {
    pub(super) fn new(setup: &Setup, coordinator: &RunningCoordinator, index: u32) -> Self {
        let order = setup.order(0, "1-3");
        let asked = order.coordinate(&coordinator.address, tile(index), WAIT, &|| false);
        let id = from_hex(&setup.plan(0).agreement).unwrap();
        Self {
            tile: asked.unwrap(),
            id: crate::digests::journal_id(&id, Role::Host, Some(tile(index))),
        }
    }

    pub(super) fn ask(self, entries: &[Entry]) -> Result<(), SessionError> {
        let mut link = self.tile.into_link().unwrap();
        for entry in entries {
            link.append(&entry.encode(&self.id))?;
        }
        link.sync()
    }
}

#[test]
fn a_modified_worker_cannot_have_a_sent_pair_computed_again() {
    let setup = Setup::new(Engine::Garbled);
    let coordinators = [0, 1].map(|side| RunningCoordinator::new(&setup, side));
    let addresses = coordinators.each_ref().map(|it| it.address.as_str());
    let (results, _) = work(&setup, addresses, tile(1), None);
    assert!(results.iter().all(Result::is_ok));
    let state = || (all_counted(&setup), sent_halves(&setup, tile(1)));
    let before = state();
    let ask = |index, entries: &[Entry]| {
        ModifiedWorker::new(&setup, &coordinators[0], index)
            .ask(entries)
            .unwrap_err()
    };
    let sent = before.1.iter().find(|it| it.0 == 0).unwrap().1;
    for entry in [Entry::Started(sent, 1), Entry::half(sent, 7, 7)] {
        let error = ask(1, &[entry]);
        assert!(
            matches!(error, SessionError::Internal(InternalError::ComparedAgain)),
            "{error}"
        );
    }
    let other = veilpath_protocol::Answer::Within(true);
    let pairs = setup.plan(0).pairs_of(tile(1), None).unwrap().pairs.len();
    for entry in [
        Entry::Answer(sent, other),
        Entry::half(0, 7, 7),
        Entry::Started(pairs, 1),
        Entry::Started(0, usize::MAX),
        Entry::Sent(1, pairs),
        Entry::Rejected(pairs),
        Entry::Number(0, 1),
        Entry::Groups([1, 2]),
    ] {
        let index = if matches!(entry, Entry::Half(..)) {
            2
        } else {
            1
        };
        let error = ask(index, &[entry]);
        assert!(
            matches!(error, SessionError::Usage(UsageError::EntryRefused)),
            "{entry:?}: {error}"
        );
    }
    let error = ask(2, &[Entry::Complete]);
    assert!(matches!(
        error,
        SessionError::Usage(UsageError::EntryRefused)
    ));
    // A repeated pair would count twice, and an empty list would cost a sync for nothing.
    for entries in [
        [Entry::Sent(0, 1); 2],
        [Entry::Started(0, 1); 2],
        [Entry::Started(0, 0); 2],
    ] {
        let error = ask(3, &entries);
        assert!(
            matches!(error, SessionError::Usage(UsageError::EntryRefused)),
            "{entries:?}: {error}"
        );
    }
    // Long lists many times in one message.
    let error = ask(2, &[Entry::Started(0, pairs.min(2)); 64]);
    assert!(matches!(
        error,
        SessionError::Usage(UsageError::EntryRefused)
    ));
    assert_eq!(state(), before);
    let (results, _) = work(&setup, addresses, tile(1), None);
    assert!(results.iter().all(Result::is_ok));
}

#[test]
fn a_stolen_order_is_refused_by_the_coordinator() {
    let setup = Setup::new(Engine::Garbled);
    let coordinator = RunningCoordinator::new(&setup, 0);
    let ask = |order: &WorkOrder, index| {
        let asked = order.coordinate(&coordinator.address, tile(index), WAIT, &|| false);
        asked.err()
    };
    let is_refused =
        |error: Option<SessionError>, problem| problem_of(&error.unwrap()) == Some(problem);
    assert!(is_refused(
        ask(&setup.order(0, "1-2"), 3),
        WorkerKeyProblem::OtherTile
    ));
    // These are rejected before anything is read from them.
    let rejected = |order: &WorkOrder, words: &str| {
        let error = ask(order, 1).unwrap();
        let lost = matches!(
            error,
            SessionError::Network(NetworkError::Coordinator(CoordinatorProblem::Lost))
        );
        assert!(lost, "{error}");
        let events = std::mem::take(&mut *coordinator.events.lock().unwrap());
        let found = events.iter().any(|event| {
            matches!(event, CoordinatorEvent::Rejected { reason } if reason.contains(words))
        });
        assert!(found, "{words}: {events:?}");
    };
    let sign = |order: &WorkOrder, agreement: &str, expires| {
        let tiles = "1-3".parse().unwrap();
        let identity = &setup.identities[0];
        WorkerCertificate::sign(identity, &order.key, agreement, tiles, expires).unwrap()
    };
    let agreement = setup.plan(0).agreement.clone();
    let mut expired = setup.order(0, "1-3");
    let past = crate::date::now() - Duration::from_secs(5);
    expired.certificate = sign(&expired, &agreement, past);
    rejected(&expired, &WorkerKeyProblem::Expired.to_string());
    let mut other = setup.order(0, "1-3");
    other.certificate = sign(&other, &"0".repeat(64), in_one_hour());
    rejected(&other, &WorkerKeyProblem::OtherAgreement.to_string());
    // The partner's worker, and one with the certificate of another.
    let mut partner = setup.order(1, "1-3");
    partner.plan = setup.plan(0);
    rejected(&partner, &WorkerKeyProblem::OtherInstitution.to_string());
    let mut taken = setup.order(0, "1-3");
    taken.certificate = setup.order(0, "1-3").certificate;
    rejected(&taken, &WorkerKeyProblem::OtherKey.to_string());
    // A coordinator that is not the institution's.
    let mut elsewhere = setup.order(0, "1-3");
    elsewhere.plan = setup.plan(1);
    assert!(matches!(
        ask(&elsewhere, 1),
        Some(SessionError::WrongPeer { .. } | SessionError::KeyRejected)
    ));
    assert!(!setup.state_dir(0).journals().exists());
    assert!(ask(&setup.order(0, "1-3"), 1).is_none());
}

/// A key that expires while its worker computes.
#[test]
fn an_expired_key_stores_nothing_more() {
    let setup = Setup::new(Engine::Garbled);
    let coordinator = RunningCoordinator::new(&setup, 0);
    let mut order = setup.order(0, "1");
    let soon = crate::date::now() + Duration::from_secs(2);
    let (identity, tiles) = (&setup.identities[0], "1".parse().unwrap());
    let agreement = setup.plan(0).agreement.clone();
    order.certificate =
        WorkerCertificate::sign(identity, &order.key, &agreement, tiles, soon).unwrap();
    let asked = order.coordinate(&coordinator.address, tile(1), WAIT, &|| false);
    let id = from_hex(&agreement).unwrap();
    let id = crate::digests::journal_id(&id, Role::Host, Some(tile(1)));
    let mut link = asked.unwrap().into_link().unwrap();
    while crate::date::now() < soon {
        std::thread::sleep(Duration::from_millis(20));
    }
    link.append(&Entry::Started(0, 1).encode(&id)).unwrap();
    let error = link.sync().unwrap_err();
    // The connection ends with the key, before or after the coordinator says why.
    let lost = matches!(
        error,
        SessionError::Network(NetworkError::Coordinator(CoordinatorProblem::Lost))
    );
    assert!(
        lost || problem_of(&error) == Some(WorkerKeyProblem::Expired),
        "{error}"
    );
    assert_eq!(journal(&setup, 0, tile(1)).starts(0), 0);
}

#[test]
fn a_tile_belongs_to_one_connection_at_a_time() {
    let setup = Setup::new(Engine::Garbled);
    let coordinator = RunningCoordinator::new(&setup, 0);
    let order = setup.order(0, "1-3");
    let ask = |index| order.coordinate(&coordinator.address, tile(index), WAIT, &|| false);
    let first = ask(1).unwrap();
    let error = ask(1).unwrap_err();
    assert!(matches!(
        error,
        SessionError::Network(NetworkError::Coordinator(CoordinatorProblem::TileInUse))
    ));
    let other = ask(2).unwrap();
    drop(first);
    // It waits until the tile is free.
    drop(ask(1).unwrap());
    drop(other);
    drop(ask(2).unwrap());
}

#[test]
fn a_coordinator_bounds_memory_and_workers() {
    let setup = Setup::new(Engine::Garbled);
    let (plan, state_dir) = (setup.plan(0), setup.state_dir(0));
    let options = CoordinatorOptions {
        workers: 9,
        // Enough for the six pairs of each of two tiles, but not for the counts of all scanpaths as well.
        memory: 2 * 6 * 384,
    };
    let identity = &setup.identities[0];
    let mut coordinator =
        Coordinator::bind("127.0.0.1:0", identity, plan, state_dir, options).unwrap();
    let address = coordinator.address().to_string();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| coordinator.run(&stop, &mut |_| ()));
        let order = setup.order(0, "1-3");
        let first = order.coordinate(&address, tile(1), WAIT, &|| false);
        let second = order.coordinate(&address, tile(2), WAIT, &|| false);
        stop.store(true, Ordering::Relaxed);
        assert!(first.is_ok());
        assert!(matches!(
            second,
            Err(SessionError::Network(NetworkError::Coordinator(
                CoordinatorProblem::Full
            )))
        ));
    });
    let other = setup.plan(1);
    let bound = Coordinator::bind("127.0.0.1:0", identity, other, setup.state_dir(0), options);
    assert_eq!(
        problem_of(&bound.unwrap_err()),
        Some(WorkerKeyProblem::OtherInstitution)
    );
}
