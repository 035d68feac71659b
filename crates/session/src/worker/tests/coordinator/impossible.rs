//! A partner that makes a result impossible and hangs up waits for the worker to return: whether it comes must not depend on
//! the result.

use super::refusals::ModifiedWorker;
use super::*;
use crate::error::NetworkError;
use crate::journal::entry::Entry;
use veilpath_metrics::PairScore;
use veilpath_protocol::{Answer, Misbehaviour, ProtocolError};

/// Runs a worker for a tile whose results the coordinator has, where the other side does not wait. Returns whether it tried
/// to connect.
fn runs(setup: &Setup, coordinator: &RunningCoordinator) -> (Result<TileStep, SessionError>, bool) {
    let order = setup.order(0, "1");
    let leased = order.coordinate(&coordinator.address, tile(1), WAIT, &|| false);
    let connects = Cell::new(false);
    let step = leased.unwrap().connect(&order, &|| false, || {
        connects.set(true);
        Err(NetworkError::LeftQueue.into())
    });
    (step, connects.get())
}

#[test]
fn a_worker_connects_before_it_reports_an_impossible_result() {
    for is_impossible in [false, true] {
        let setup = Setup::new(Engine::Garbled);
        let coordinator = RunningCoordinator::new(&setup, 0);
        let ask = |entries: &[Entry]| {
            let worker = ModifiedWorker::new(&setup, &coordinator, 1);
            worker.ask(entries).unwrap();
        };
        let pairs = setup.plan(0).pairs_of(tile(1), None).unwrap().pairs.len();
        let answer = Answer::Score(PairScore::new(1.0, Some(0.5)));
        for pair in 0..pairs {
            match pair {
                0 if is_impossible => ask(&[Entry::Rejected(pair)]),
                _ => ask(&Entry::of_answer(pair, answer)
                    .into_iter()
                    .collect::<Vec<_>>()),
            }
        }
        // Once the other side has confirmed that it has everything, there is no need to connect.
        for is_complete in [false, true] {
            if is_complete {
                ask(&[Entry::Complete]);
            }
            let (step, connects) = runs(&setup, &coordinator);
            assert_eq!(connects, !is_complete, "{is_impossible}");
            match step {
                Ok(TileStep::Stored(stored)) if !is_impossible => {
                    assert_eq!(stored.outcome.results.len(), pairs);
                }
                Err(SessionError::Protocol(error)) if is_impossible => {
                    let rejected = ProtocolError::PeerMisbehaved(Misbehaviour::ResultOutOfRange);
                    assert_eq!(error, rejected);
                }
                other => panic!("{is_impossible}: {other:?}"),
            }
        }
    }
}
