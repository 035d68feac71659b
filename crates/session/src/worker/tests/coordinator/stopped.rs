//! Decisions made while workers compute apply to them, too: withdrawals, bans and reports.

use super::refusals::ModifiedWorker;
use super::*;
use crate::disclosure::DisclosureLedger;
use crate::error::{BanReason, CoordinatorProblem, NetworkError};
use crate::journal::entry::Entry;
use crate::worker::coordinator::CoordinatorLink;
use veilpath_metrics::PairScore;
use veilpath_protocol::{Answer, RevealTo};

/// A participant withdraws after the agreement on tiles.
#[test]
fn workers_compute_nothing_about_withdrawn_participants() {
    let setup = Setup::new(Engine::Garbled);
    let (state_dir, plan) = (setup.state_dir(0), setup.plan(0));
    let coordinator = RunningCoordinator::new(&setup, 0);
    let first = plan.own_in(tile(1))[0];
    let id = plan.cohort().entries[first].participant.clone();
    let peer = setup.identities[1].fingerprint();
    let ledger = DisclosureLedger::open(Some(&state_dir), &setup.identities[0], peer);
    let orders = [setup.order(0, "1-3"), setup.order(1, "1-3")];
    state_dir
        .check_withdrawn(&plan, "1".parse().unwrap())
        .unwrap();
    assert_eq!(ledger.withdraw(&[id]).unwrap().new, 1);
    let is_refused = |error: SessionError| {
        assert!(error.to_string().contains("withdrawn"), "{error}");
    };
    is_refused(
        state_dir
            .check_withdrawn(&plan, "1".parse().unwrap())
            .unwrap_err(),
    );
    let asked = orders[0].coordinate(&coordinator.address, tile(1), WAIT, &|| false);
    is_refused(asked.unwrap_err());
    drop(coordinator);
    let [host, join] = setup.work([&orders[0], &orders[1]], tile(1));
    is_refused(host.unwrap_err());
    assert!(join.is_err());
    assert_eq!(all_counted(&setup)[0], 0);
}

/// A participant withdraws while a worker computes.
#[test]
fn a_withdrawal_stops_a_worker() {
    for entry in [Entry::Started(0, 1), Entry::Sent(0, 1)] {
        let setup = Setup::new(Engine::Garbled);
        let coordinator = RunningCoordinator::new(&setup, 0);
        let worker = ModifiedWorker::new(&setup, &coordinator, 1);
        withdraw_one(&setup, 0);
        let error = worker.ask(&[entry]).unwrap_err();
        assert!(error.to_string().contains("withdrawn"), "{error}");
        assert_eq!(all_counted(&setup)[0], 0);
    }
}

/// The same without a coordinator: the sides have agreed, and the other side waits.
#[test]
fn a_withdrawal_stops_a_worker_with_shared_files() {
    let setup = Setup::new(Engine::Garbled);
    let orders = [0, 1].map(|side| setup.order(side, "1"));
    let [host, join] = attacks::connected([&orders[0], &orders[1]], tile(1));
    let side = |channel, side: usize, before: &dyn Fn()| {
        let session = Session::open_with_order(channel, &orders[side], timeouts())?;
        let files = setup.state_dir(side);
        let storage = TileStorage::Shared(&files);
        let agreed = session.agree_on_tile(&orders[side], tile(1), storage, None)?;
        before();
        agreed.run(&())
    };
    let host = std::thread::scope(|scope| {
        scope.spawn(|| side(join, 1, &|| ()));
        side(host, 0, &|| withdraw_one(&setup, 0))
    });
    let error = host.unwrap_err();
    assert!(error.to_string().contains("withdrawn"), "{error}");
    assert_eq!(all_counted(&setup)[0], 0);
}

/// With `plain`, the host sees all letters, whoever learns results.
#[test]
fn a_withdrawal_holds_where_the_host_gets_no_results() {
    let setup = Setup::new(Engine::Plain);
    let mut plan = setup.plan(1);
    plan.spec.reveal_to = RevealTo::Join;
    let allowed = || {
        let files = setup.state_dir(1);
        files.check_withdrawn(&plan, "1".parse().unwrap())
    };
    allowed().unwrap();
    withdraw_one(&setup, 1);
    assert!(allowed().is_err());
}

/// A participant of a side who is in the first tile withdraws.
fn withdraw_one(setup: &Setup, side: usize) {
    let plan = setup.plan(side);
    let first = plan.own_in(tile(1))[0];
    let id = plan.cohort().entries[first].participant.clone();
    let (files, identity) = (setup.state_dir(side), &setup.identities[side]);
    let ledger = DisclosureLedger::open(Some(&files), identity, plan.peer());
    assert_eq!(ledger.withdraw(&[id]).unwrap().new, 1);
}

/// This includes what the banned side would not learn, and what is charged only when it is sent.
#[test]
fn nothing_starts_for_a_banned_partner() {
    let setup = Setup::new(Engine::Garbled);
    let coordinator = RunningCoordinator::new(&setup, 0);
    let worker = ModifiedWorker::new(&setup, &coordinator, 1);
    let peer = setup.identities[1].fingerprint();
    setup.state_dir(0).ban_peer(peer).unwrap();
    let error = worker.ask(&[Entry::Started(0, 1)]).unwrap_err();
    assert!(
        matches!(error, SessionError::Limit(Limit::Banned(_))),
        "{error}"
    );
}

/// The institution's own session about a tile counts as the same attempt as its workers' sessions.
#[test]
fn a_stopped_tile_is_also_refused_to_the_institution() {
    let setup = Setup::new(Engine::Garbled);
    let peer = setup.identities[1].fingerprint();
    let id = setup.plan(0).id().unwrap();
    let ledger = LedgerFile::of(Some(&setup.state_dir(0).ledgers()), peer);
    let report = |ledger: &mut crate::ledger::Ledger| {
        ledger.set_report(&id, tile(1), BanReason::FailedCheck);
        Ok(())
    };
    ledger.update(report).unwrap();
    let of_tile = |index| {
        ["p", "q"].map(|side| Proposal {
            tile: Some(tile(index)),
            tile_count: None,
            ..proposal(side, Engine::Garbled)
        })
    };
    let [host, _] = setup.session(of_tile(1));
    let error = host.unwrap_err();
    assert!(
        matches!(error, SessionError::Limit(Limit::TileStopped(_))),
        "{error}"
    );
    assert!(setup.session(of_tile(2)).iter().all(Result::is_ok));
}

#[test]
fn a_rejected_pair_gets_no_answer() {
    let setup = Setup::new(Engine::Garbled);
    let coordinator = RunningCoordinator::new(&setup, 0);
    let ask = |entries: &[Entry]| ModifiedWorker::new(&setup, &coordinator, 1).ask(entries);
    ask(&[Entry::Rejected(1)]).unwrap();
    let answer = Answer::Score(PairScore::new(1.0, Some(0.5)));
    let entries: Vec<Entry> = Entry::of_answer(1, answer).into_iter().collect();
    assert!(ask(&entries).is_err());
}

/// The coordinator takes longer than a worker waits, and its answer to one entry arrives after the next one was sent.
#[test]
fn a_late_answer_is_not_taken_for_the_next_one() {
    let setup = Setup::new(Engine::Garbled);
    let coordinator = RunningCoordinator::new(&setup, 0);
    let peer = setup.identities[1].fingerprint();
    let ledger = LedgerFile::of(Some(&setup.state_dir(0).ledgers()), peer);
    let worker = ModifiedWorker::new(&setup, &coordinator, 1);
    let id = worker.id;
    let mut link = worker.tile.into_link().unwrap();
    let store = |link: &mut CoordinatorLink, entry: Entry| {
        link.append(&entry.encode(&id)).and_then(|()| link.sync())
    };
    for entry in [
        Entry::Started(0, 2),
        Entry::half(0, 7, 7),
        Entry::half(1, 7, 7),
    ] {
        store(&mut link, entry).unwrap();
    }
    let is_lost = |stored: Result<(), SessionError>| {
        let error = stored.unwrap_err();
        let problem = CoordinatorProblem::Lost;
        assert!(
            matches!(&error, SessionError::Network(NetworkError::Coordinator(it)) if *it == problem),
            "{error}"
        );
    };
    link.set_stall(Duration::from_millis(200));
    // The coordinator waits for the ledger while this has it.
    let hold = |_: &mut crate::ledger::Ledger| {
        is_lost(store(&mut link, Entry::Sent(0, 1)));
        Ok(())
    };
    ledger.update(hold).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    // Otherwise the worker would send this half before it is charged.
    is_lost(store(&mut link, Entry::Sent(1, 1)));
}
