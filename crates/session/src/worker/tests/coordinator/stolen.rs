//! What a thief with a work order can and cannot do.

use super::refusals::ModifiedWorker;
use super::*;
use crate::connect::{connect_tcp, join_on};
use crate::error::{BanReason, CoordinatorProblem, NetworkError};
use crate::journal::entry::{ENTRY_BYTES, Entry};
use crate::{SecureChannel, agreement};

const SOON: Duration = Duration::from_millis(800);

/// The bytes of all journals of the host.
fn journal_bytes(setup: &Setup) -> u64 {
    let files = std::fs::read_dir(setup.state_dir(0).journals()).unwrap();
    let files = files.map(|it| it.unwrap().path());
    let journals = files.filter(|path| path.extension().is_some_and(|it| it == "journal"));
    journals.map(|path| path.metadata().unwrap().len()).sum()
}

#[test]
fn repeated_entries_do_not_make_a_journal_grow() {
    let setup = Setup::new(Engine::Garbled);
    let coordinator = RunningCoordinator::new(&setup, 0);
    let ask = |entries: &[Entry]| ModifiedWorker::new(&setup, &coordinator, 1).ask(entries);
    let first = [
        Entry::Started(0, 1),
        Entry::half(0, 7, 7),
        Entry::Rejected(1),
    ];
    ask(&first).unwrap();
    let before = journal_bytes(&setup);
    for _ in 0..3 {
        let mut again = Vec::new();
        for _ in 0..100 {
            again.extend([Entry::Rejected(1), Entry::half(0, 7, 7)]);
        }
        ask(&again).unwrap();
    }
    assert_eq!(journal_bytes(&setup), before);
    // A half without a new start, and two for one start.
    for entries in [
        &[Entry::half(0, 8, 8)][..],
        &[Entry::half(0, 7, 8)],
        &[Entry::half(2, 7, 8)],
    ] {
        assert!(ask(entries).is_err(), "{entries:?}");
    }
    assert_eq!(journal_bytes(&setup), before);
    ask(&[Entry::Started(0, 1), Entry::half(0, 8, 8)]).unwrap();
    let twice = [
        Entry::Started(2, 1),
        Entry::half(2, 8, 8),
        Entry::half(2, 9, 8),
    ];
    assert!(ask(&twice).is_err());
}

/// Repeated actions of a worker are bounded, too.
#[test]
fn a_tile_has_a_bounded_number_of_entries() {
    let setup = Setup::new(Engine::Garbled);
    let coordinator = RunningCoordinator::new(&setup, 0);
    let pairs = setup.plan(0).pairs_of(tile(1), None).unwrap().pairs.len();
    let mut entries = Vec::new();
    for start in 0..900 {
        for pair in 0..pairs {
            entries.push(Entry::Started(pair, 1));
            entries.push(Entry::half(pair, start, start));
        }
    }
    let error = ModifiedWorker::new(&setup, &coordinator, 1)
        .ask(&entries)
        .unwrap_err();
    assert!(
        matches!(error, SessionError::Limit(Limit::TooManyEntries { .. })),
        "{error}"
    );
    let most = (4096 + 30 * pairs as u64) * ENTRY_BYTES as u64;
    let bytes = journal_bytes(&setup);
    assert!((most / 2..=most + 40).contains(&bytes), "{bytes} of {most}");
    // The next worker finds a journal that was rewritten. How often a pair starts is bounded in any case.
    let ask = |entry| ModifiedWorker::new(&setup, &coordinator, 1).ask(&[entry]);
    ask(Entry::Started(0, 1)).unwrap();
    let rewritten = journal_bytes(&setup);
    assert!(rewritten < bytes / 2, "{rewritten} of {bytes}");
}

#[test]
fn a_complete_tile_does_not_change() {
    let setup = Setup::new(Engine::Garbled);
    let coordinators = [0, 1].map(|side| RunningCoordinator::new(&setup, side));
    let addresses = coordinators.each_ref().map(|it| it.address.as_str());
    let (results, _) = work(&setup, addresses, tile(2), None);
    assert!(results.iter().all(Result::is_ok));
    let pairs = setup.plan(0).pairs_of(tile(2), None).unwrap().pairs.len();
    let bytes = journal_bytes(&setup);
    for pair in 0..pairs {
        for entry in [Entry::Started(pair, 1), Entry::Rejected(pair)] {
            let asked = ModifiedWorker::new(&setup, &coordinators[0], 2).ask(&[entry]);
            assert!(asked.is_err(), "{entry:?}");
        }
    }
    let complete = ModifiedWorker::new(&setup, &coordinators[0], 2).ask(&[Entry::Complete; 3]);
    complete.unwrap();
    assert_eq!(journal_bytes(&setup), bytes);
}

/// A worker that is connected and asks for nothing.
fn silent(order: &WorkOrder, address: &str) -> Result<SecureChannel, SessionError> {
    let soon = Instant::now() + Duration::from_secs(2);
    let socket = connect_tcp(address, soon)?;
    let institution = order.plan.institution();
    let mut channel = join_on(socket, &order.key, institution, &timeouts())?;
    order.certificate.send(&mut channel)?;
    agreement::exchange_versions(&mut channel)?;
    Ok(channel)
}

#[test]
fn one_key_cannot_take_all_connections_and_tiles() {
    let setup = Setup::new(Engine::Garbled);
    let coordinator = RunningCoordinator::at("127.0.0.1:0", &setup, 0, 2);
    let [stolen, other] = [(); 2].map(|()| setup.order(0, "1-3"));
    let mut open = Vec::new();
    // One for each of its tiles, and four that interrupted workers may have left behind.
    for number in 0..12 {
        match silent(&stolen, &coordinator.address) {
            Ok(channel) => open.push(channel),
            Err(_) => assert!(number >= 7, "{number}"),
        }
    }
    assert_eq!(open.len(), 7);
    let ask = |order: &WorkOrder, index| {
        order.coordinate(&coordinator.address, tile(index), SOON, &|| false)
    };
    let tile_of_other = ask(&other, 1).unwrap();
    drop(open);
    // Half of the workers.
    let first = ask(&stolen, 2).unwrap();
    drop(tile_of_other);
    let error = ask(&stolen, 3).unwrap_err();
    assert!(matches!(
        error,
        SessionError::Network(NetworkError::Coordinator(CoordinatorProblem::Full))
    ));
    drop(ask(&other, 3).unwrap());
    drop(first);
}

#[test]
fn a_coordinator_with_more_workers_than_open_files_does_not_start() {
    let setup = Setup::new(Engine::Garbled);
    let options = CoordinatorOptions {
        workers: usize::MAX / 8,
        ..CoordinatorOptions::default()
    };
    let (plan, state_dir) = (setup.plan(0), setup.state_dir(0));
    let identity = &setup.identities[0];
    let bound = Coordinator::bind("127.0.0.1:0", identity, plan, state_dir, options);
    if cfg!(unix) {
        let error = bound.unwrap_err();
        assert!(
            matches!(error, SessionError::Usage(UsageError::TooManyFiles { .. })),
            "{error}"
        );
    }
}

/// Anyone with a worker's key can send a false report. It stops that worker's tile, and the institution decides.
#[test]
fn a_report_stops_a_tile_and_bans_nobody() {
    let setup = Setup::new(Engine::Garbled);
    let coordinator = RunningCoordinator::new(&setup, 0);
    let (state_dir, peer) = (setup.state_dir(0), setup.identities[1].fingerprint());
    let ask = |index| {
        let order = setup.order(0, "1-3");
        order.coordinate(&coordinator.address, tile(index), SOON, &|| false)
    };
    let link = ask(2).unwrap().into_link().unwrap();
    for _ in 0..3 {
        link.report(BanReason::FailedCheck).unwrap();
    }
    // This also applies to a worker that has leased it.
    let modified = |index| {
        let worker = ModifiedWorker::new(&setup, &coordinator, index);
        worker.ask(&[
            Entry::Started(0, 1),
            Entry::half(0, 7, 7),
            Entry::Sent(0, 1),
        ])
    };
    drop(link);
    let is_stopped = |error: SessionError| {
        assert!(
            matches!(
                error,
                SessionError::Limit(Limit::TileStopped(BanReason::FailedCheck))
            ),
            "{error}"
        );
    };
    is_stopped(ask(2).unwrap_err());
    modified(1).unwrap();
    let reports =
        |event: &&CoordinatorEvent| matches!(event, CoordinatorEvent::Reported { tile: 2, .. });
    let count = || {
        coordinator
            .events
            .lock()
            .unwrap()
            .iter()
            .filter(reports)
            .count()
    };
    let deadline = Instant::now() + Duration::from_secs(5);
    while count() == 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(count(), 1);
    let [known] = &state_dir.peers().unwrap().entries[..] else {
        panic!("one peer");
    };
    assert_eq!((known.banned, known.stopped_tiles), (None, 1));
    // The user resumes the tile, or bans the other side.
    state_dir.unblock(peer).unwrap();
    let holder = ModifiedWorker::new(&setup, &coordinator, 2);
    let thief = ask(3).unwrap().into_link().unwrap();
    thief.report(BanReason::ChangedAnswer).unwrap();
    holder.ask(&[Entry::Started(0, 1)]).unwrap();
    state_dir.ban_peer(peer).unwrap();
    let error = ask(1).unwrap_err();
    assert!(
        matches!(error, SessionError::Limit(Limit::Banned(BanReason::ByUser))),
        "{error}"
    );
}

/// A report while another worker has the tile: nothing more is revealed.
#[test]
fn nothing_of_a_stopped_tile_is_released() {
    let setup = Setup::new(Engine::Garbled);
    let coordinator = RunningCoordinator::new(&setup, 0);
    let peer = setup.identities[1].fingerprint();
    let id = setup.plan(0).id().unwrap();
    let worker = ModifiedWorker::new(&setup, &coordinator, 1);
    let ledger = LedgerFile::of(Some(&setup.state_dir(0).ledgers()), peer);
    let report = |ledger: &mut crate::ledger::Ledger| {
        ledger.set_report(&id, tile(1), BanReason::FailedCheck);
        Ok(())
    };
    ledger.update(report).unwrap();
    let error = worker
        .ask(&[
            Entry::Started(0, 1),
            Entry::half(0, 7, 7),
            Entry::Sent(0, 1),
        ])
        .unwrap_err();
    assert!(
        matches!(error, SessionError::Limit(Limit::TileStopped(_))),
        "{error}"
    );
    assert_eq!(all_counted(&setup)[0], 0);
    // Workers that share the state folder are bound by it, too.
    let orders = [setup.order(0, "1-3"), setup.order(1, "1-3")];
    drop(coordinator);
    let [host, _] = setup.work([&orders[0], &orders[1]], tile(1));
    assert!(matches!(
        host.unwrap_err(),
        SessionError::Limit(Limit::TileStopped(_))
    ));
    assert!(
        setup
            .work([&orders[0], &orders[1]], tile(2))
            .iter()
            .all(Result::is_ok)
    );
}

/// The connection to the coordinator is lost just when the worker has caught the other side cheating.
#[test]
fn a_report_arrives_even_if_the_connection_is_lost() {
    let setup = Setup::new(Engine::Garbled);
    let coordinator = RunningCoordinator::new(&setup, 0);
    let address = coordinator.address.clone();
    let order = setup.order(0, "1");
    let asked = order.coordinate(&address, tile(1), SOON, &|| false);
    let link = asked.unwrap().into_link().unwrap();
    drop(coordinator);
    let again = std::thread::scope(|scope| {
        let again = scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            RunningCoordinator::at(&address, &setup, 0, 8)
        });
        link.report(BanReason::ChangedAnswer).unwrap();
        again.join().unwrap()
    });
    let error = order
        .coordinate(&address, tile(1), SOON, &|| false)
        .unwrap_err();
    assert!(
        matches!(
            error,
            SessionError::Limit(Limit::TileStopped(BanReason::ChangedAnswer))
        ),
        "{error}"
    );
    drop(again);
}

/// Scanpaths are kept only as long as workers need them.
#[test]
fn letters_are_removed_when_all_tiles_are_complete() {
    let setup = Setup::new(Engine::Garbled);
    let mut coordinators = [0, 1].map(|side| RunningCoordinator::new(&setup, side));
    let has_letters = |side| setup.plan(side).letters.iter().any(|it| !it.is_empty());
    for index in 1..=TILES {
        // Tiles that an earlier process has completed count.
        coordinators = [0, 1].map(|side| RunningCoordinator::new(&setup, side));
        let addresses = coordinators.each_ref().map(|it| it.address.as_str());
        assert!(has_letters(0) && has_letters(1), "{index}");
        let (results, _) = work(&setup, addresses, tile(index), None);
        assert!(results.iter().all(Result::is_ok));
    }
    let deadline = Instant::now() + Duration::from_secs(5);
    while (has_letters(0) || has_letters(1)) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    for side in [0, 1] {
        let plan = setup.plan(side);
        assert!(plan.is_complete && !has_letters(side));
    }
    // If a process is killed just before, the next one does it.
    let mut killed = setup.plan(0);
    killed.is_complete = false;
    killed.letters[0] = vec![1];
    let path = setup.state_dir(0).agreements();
    let path = path.join(format!("{}.json", killed.agreement));
    std::fs::write(path, serde_json::to_vec(&killed).unwrap()).unwrap();
    assert!(has_letters(0));
    drop(RunningCoordinator::new(&setup, 0));
    assert!(!has_letters(0));
    // Stored results remain available to workers with an order, and nothing is computed without letters.
    let orders = [setup.order(0, "1"), setup.order(1, "1")];
    for results in setup.work([&orders[0], &orders[1]], tile(1)) {
        assert!(matches!(
            results.unwrap_err(),
            SessionError::Usage(UsageError::CompleteAgreement) | SessionError::Declined(_)
        ));
    }
    let addresses = coordinators.each_ref().map(|it| it.address.as_str());
    let (results, _) = work(&setup, addresses, tile(1), None);
    assert!(results.iter().all(Result::is_ok));
}
