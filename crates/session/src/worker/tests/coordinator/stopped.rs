//! What is decided while workers compute holds for them, too: withdrawals, bans and reports.

use super::refusals::ModifiedWorker;
use super::*;
use crate::disclosure::DisclosureLedger;
use crate::error::BanReason;
use crate::journal::record::Record;
use veilpath_metrics::PairScore;
use veilpath_protocol::Answer;

/// The participant withdraws after the agreement on tiles, which is what the partner was promised.
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

/// Also what the banned side would not learn, and what is charged only when it is sent.
#[test]
fn nothing_starts_for_a_banned_partner() {
    let setup = Setup::new(Engine::Garbled);
    let coordinator = RunningCoordinator::new(&setup, 0);
    let worker = ModifiedWorker::new(&setup, &coordinator, 1);
    let peer = setup.identities[1].fingerprint();
    setup.state_dir(0).ban_peer(peer).unwrap();
    let error = worker.ask(&[Record::Started(0, 1)]).unwrap_err();
    assert!(
        matches!(error, SessionError::Limit(Limit::Banned(_))),
        "{error}"
    );
}

/// The institution's own session about a tile is the same attempt as its workers'.
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
            tiles: None,
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
    let ask = |records: &[Record]| ModifiedWorker::new(&setup, &coordinator, 1).ask(records);
    ask(&[Record::Rejected(1)]).unwrap();
    let answer = Answer::Score(PairScore::new(1.0, Some(0.5)));
    let records: Vec<Record> = Record::of_answer(1, answer).into_iter().collect();
    assert!(ask(&records).is_err());
}
