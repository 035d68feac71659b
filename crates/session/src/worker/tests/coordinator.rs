//! Killed workers that store nothing themselves.

mod impossible;
mod large_plans;
mod paillier;
mod refusals;
mod returning;
mod stolen;
mod stopped;
mod wire;

use super::*;
use crate::error::{FileProblem, Limit};
use crate::journal::Journal;
use crate::ledger::LedgerFile;
use crate::worker::coordinator::LeasedTile;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;
use veilpath_protocol::Outcome;
use wire::{KillPoint, KillSwitch, KillableProxy};

/// How long a worker waits for another one.
const WAIT: Duration = Duration::from_secs(6);

type Connected = Result<crate::SecureChannel, SessionError>;

/// A coordinator that runs until it is dropped.
struct RunningCoordinator {
    address: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    events: Arc<Mutex<Vec<CoordinatorEvent>>>,
}

impl RunningCoordinator {
    fn new(setup: &Setup, side: usize) -> Self {
        Self::at("127.0.0.1:0", setup, side, 8)
    }

    fn at(address: &str, setup: &Setup, side: usize, workers: usize) -> Self {
        let (plan, state_dir) = (setup.plan(side), setup.state_dir(side));
        let identity = &setup.identities[side];
        let options = CoordinatorOptions {
            workers,
            ..CoordinatorOptions::default()
        };
        let bound = Coordinator::bind(address, identity, plan, state_dir, options);
        let mut coordinator = bound.unwrap();
        let address = coordinator.address().to_string();
        let stop = Arc::new(AtomicBool::new(false));
        let events = Arc::new(Mutex::new(Vec::new()));
        let (stopped, seen) = (Arc::clone(&stop), Arc::clone(&events));
        let thread = std::thread::spawn(move || {
            coordinator.run(&stopped, &mut |event| seen.lock().unwrap().push(event));
        });
        Self {
            address,
            stop,
            thread: Some(thread),
            events,
        }
    }
}

impl Drop for RunningCoordinator {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One side of a tile, as a worker process computes it: without a file of its own.
fn side_of_tile(
    order: &WorkOrder,
    tile: Tile,
    coordinator: &KillableProxy,
    connect: impl FnOnce(Tile) -> Connected,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Outcome, SessionError> {
    let coordinated = order.coordinate(&coordinator.address, tile, WAIT, is_stopped)?;
    coordinator.start();
    let (channel, coordinated) = match coordinated.connect(order, is_stopped, || connect(tile))? {
        TileStep::Stored(stored) => return Ok(stored.outcome),
        TileStep::Session(connected) => *connected,
    };
    let session = Session::open_with_order(channel, order, timeouts())?;
    let agreed = session.agree_on_tile(
        order,
        tile,
        TileStorage::Coordinated(Box::new(coordinated)),
        None,
    )?;
    Ok(agreed.run(&())?.outcome)
}

/// What is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum KillTarget {
    Worker,
    /// The coordinator, or the network between it and the worker.
    Coordinator,
    /// The connection between the workers.
    Gateway,
}

/// Two workers on machines with nothing but new work orders compute a tile; with `fault`, a process is killed. Returns whether it was.
fn work(
    setup: &Setup,
    coordinators: [&str; 2],
    tile: Tile,
    fault: Option<(KillTarget, usize, KillPoint)>,
) -> ([Result<Outcome, SessionError>; 2], bool) {
    let orders = [0, 1].map(|side| setup.order(side, &tile.index().to_string()));
    let (kill, none) = (KillSwitch::default(), KillSwitch::default());
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let is_cut = |by: &dyn Fn(KillTarget, usize) -> bool| {
        let is_cut = fault.is_some_and(|(killed, side, _)| by(killed, side));
        if is_cut { kill.clone() } else { none.clone() }
    };
    let between = KillableProxy::new(
        &listener.address().to_string(),
        &is_cut(&|killed, _| killed != KillTarget::Coordinator),
        None,
    );
    let proxies = [0, 1].map(|own| {
        let at = fault.filter(|(_, side, _)| *side == own);
        KillableProxy::new(
            coordinators[own],
            &is_cut(&|killed, side| killed != KillTarget::Gateway && side == own),
            at.map(|(_, _, stage)| (stage, &kill)),
        )
    });
    let times = Timeouts::new(Duration::from_secs(5), WAIT);
    let [host, join] = &orders;
    let (kill, between, proxies) = (&kill, &between, &proxies);
    // There is no need to wait for a side that has ended.
    let has_ended = &[AtomicBool::new(false), AtomicBool::new(false)];
    let is_killed = move || kill.is_triggered();
    let run_side = move |own: usize, connect: &mut dyn FnMut(&dyn Fn() -> bool) -> Connected| {
        let is_alone = move || is_killed() || has_ended[1 - own].load(Ordering::SeqCst);
        let order = [host, join][own];
        let connect = |_| connect(&is_alone);
        let result = side_of_tile(order, tile, &proxies[own], connect, &is_killed);
        has_ended[own].store(true, Ordering::SeqCst);
        result
    };
    let results = std::thread::scope(|scope| {
        let hosted = scope.spawn(move || {
            let mut listener = Some(listener);
            run_side(0, &mut |is_stopped| {
                let listener = listener.take().unwrap();
                host.accept(listener, tile, &times, is_stopped, &mut |_| ())
            })
        });
        let joined = run_side(1, &mut |is_stopped| {
            join.join(&between.address, tile, &times, is_stopped)
        });
        [hosted.join().unwrap(), joined]
    });
    (results, kill.is_triggered())
}

/// All comparisons that each side has counted.
fn all_counted(setup: &Setup) -> [u64; 2] {
    [0, 1].map(|side| {
        let peer = setup.identities[1 - side].fingerprint();
        let ledger = LedgerFile::of(Some(&setup.state_dir(side).ledgers()), peer);
        ledger.read().unwrap().all_comparisons()
    })
}

/// What a coordinator has of a tile.
fn journal(setup: &Setup, side: usize, tile: Tile) -> Journal {
    let plan = setup.plan(side);
    let pairs = plan.pairs_of(tile, None).unwrap();
    let agreed = pairs.agreed(&plan);
    let scope = pairs.storage_scope(&plan, &agreed);
    let (id, reveal) = (scope.journal_id(), plan.spec.reveal);
    let folder = setup.state_dir(side).journals();
    let deadline = Instant::now() + Duration::from_secs(9);
    loop {
        let pairs = pairs.pairs.len();
        match Journal::read_only(&folder, id, pairs, reveal) {
            Ok(journal) => return journal,
            // The coordinator has not yet noticed that its worker is gone.
            Err(SessionError::File {
                problem: FileProblem::Locked,
                ..
            }) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            Err(SessionError::File {
                problem: FileProblem::Io(_),
                ..
            }) => return Journal::in_memory(id, pairs, reveal),
            Err(error) => panic!("{error}"),
        }
    }
}

/// A coordinator may have hundreds of tiles of a plan with many scanpaths.
#[test]
fn tiles_share_the_pairs_of_the_plan() {
    let setup = Setup::new(Engine::Garbled);
    let plan = setup.plan(0);
    let [first, second] = [1, 2].map(|number| plan.pairs_of(tile(number), None).unwrap());
    assert!(Arc::ptr_eq(&first.blocks, &second.blocks));
}

/// How far a side has got with a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Progress {
    started: bool,
    half: bool,
    sent: bool,
    answered: bool,
    complete: bool,
}

impl Progress {
    /// Derives it from what the coordinator has stored.
    fn of(setup: &Setup, side: usize, tile: Tile) -> Self {
        let journal = journal(setup, side, tile);
        let pairs = setup.plan(side).pairs_of(tile, None).unwrap().pairs.len();
        let any = |has: &dyn Fn(usize) -> bool| (0..pairs).any(has);
        Self {
            started: any(&|pair| journal.starts(pair) > 0),
            half: any(&|pair| journal.half(pair).is_some()),
            sent: any(&|pair| journal.is_sent(pair)),
            answered: any(&|pair| journal.is_answered(pair)),
            complete: journal.is_complete(),
        }
    }
}

/// Checks that a kill happened before and after every step.
fn assert_all_stages(seen: &BTreeSet<Progress>) {
    let stages: [&dyn Fn(&Progress) -> bool; 6] = [
        &|it| !it.started,
        &|it| it.started && !it.half,
        &|it| it.half && !it.sent,
        &|it| it.sent && !it.complete,
        &|it| it.answered && !it.complete,
        &|it| it.complete,
    ];
    for (number, stage) in stages.iter().enumerate() {
        assert!(seen.iter().any(stage), "stage {number}: {seen:?}");
    }
}

fn scores(outcome: &Outcome) -> Vec<String> {
    let all = outcome.results.iter();
    let mut scores: Vec<String> = all.map(|pair| format!("{:?}", pair.values)).collect();
    scores.sort();
    scores
}

fn expected() -> Vec<String> {
    let (a, b) = (cohort("p"), cohort("q"));
    scores(&compare_locally(spec(Engine::Plain), &a, &b, &()).unwrap())
}

/// What workers count in all tiles if nothing is killed.
fn counts_without_kills(engine: Engine) -> [u64; 2] {
    let setup = Setup::new(engine);
    let coordinators = [0, 1].map(|side| RunningCoordinator::new(&setup, side));
    let addresses = coordinators.each_ref().map(|it| it.address.as_str());
    let mut parts = [Vec::new(), Vec::new()];
    for index in [2, 1, 3, 2] {
        let (result, _) = work(&setup, addresses, tile(index), None);
        for (parts, result) in parts.iter_mut().zip(result) {
            parts.push(result.unwrap());
        }
    }
    let [host, join] = parts.map(|parts| merge(parts).unwrap());
    assert_eq!(scores(&host), expected());
    assert_eq!(host.results, join.results);
    assert_eq!(setup.counted(), [3, 3]);
    all_counted(&setup)
}

/// Kills something at every message of a side to its coordinator, before it arrives and after it was stored, and lets other workers
/// finish. Every pair is counted once, the results are right, and no half that was sent changes.
fn kill_at_every_stage(engine: Engine, killed: KillTarget, side: usize) -> BTreeSet<Progress> {
    let counted = counts_without_kills(engine);
    kill_at_every_stage_and(engine, 3, killed, side, |setup| {
        assert_eq!(all_counted(setup), counted, "{killed:?}");
    })
}

/// Like [`kill_at_every_stage`], with another limit and another check of the counts.
fn kill_at_every_stage_and(
    engine: Engine,
    limit: u64,
    killed: KillTarget,
    side: usize,
    mut check_counts: impl FnMut(&Setup),
) -> BTreeSet<Progress> {
    let mut seen = BTreeSet::new();
    let of = |has_tile, request| {
        [false, true].map(|delivered| KillPoint {
            has_tile,
            request,
            delivered,
        })
    };
    let opening = (1..=3).flat_map(|request| of(false, request));
    let mut stages = opening.chain((1..).flat_map(|request| of(true, request)));
    loop {
        let setup = Setup::with_limit(engine, limit);
        let mut coordinators = [0, 1].map(|side| RunningCoordinator::new(&setup, side));
        let (mut parts, mut any) = ([Vec::new(), Vec::new()], false);
        for index in 1..=TILES {
            let stage = stages.next().unwrap();
            any |= !stage.has_tile;
            let case = format!("{engine:?}, {killed:?} of side {side}, {stage:?}");
            let addresses = coordinators.each_ref().map(|it| it.address.as_str());
            let fault = Some((killed, side, stage));
            let (result, was_killed) = work(&setup, addresses, tile(index), fault);
            any |= was_killed;
            if was_killed {
                if killed == KillTarget::Coordinator {
                    coordinators[side] = RunningCoordinator::new(&setup, side);
                }
                seen.insert(Progress::of(&setup, side, tile(index)));
            } else {
                assert!(result.iter().all(Result::is_ok), "{case}: {result:?}");
            }
            let halves = sent_halves(&setup, tile(index));
            let addresses = coordinators.each_ref().map(|it| it.address.as_str());
            let (result, _) = work(&setup, addresses, tile(index), None);
            for (parts, result) in parts.iter_mut().zip(result) {
                parts.push(result.unwrap_or_else(|error| panic!("{case}: {error}")));
            }
            let after = sent_halves(&setup, tile(index));
            assert!(halves.is_subset(&after), "{case}");
        }
        let [host, join] = parts.map(|parts| merge(parts).unwrap());
        assert_eq!(scores(&host), expected(), "{killed:?}");
        assert_eq!(host.results, join.results);
        check_counts(&setup);
        if !any {
            return seen;
        }
    }
}

/// The halves that may be known to the other side: side, pair and half.
fn sent_halves(setup: &Setup, tile: Tile) -> BTreeSet<(usize, usize, u64)> {
    let of_side = |side: usize| {
        let journal = journal(setup, side, tile);
        let pairs = setup.plan(side).pairs_of(tile, None).unwrap().pairs.len();
        let sent = (0..pairs).filter(|&pair| journal.is_sent(pair));
        let halves = sent.filter_map(|pair| Some((side, pair, journal.half(pair)?.half)));
        halves.collect::<Vec<_>>()
    };
    [0, 1].into_iter().flat_map(of_side).collect()
}

#[test]
fn a_killed_worker_of_the_host_loses_nothing_and_counts_nothing_twice() {
    assert_all_stages(&kill_at_every_stage(Engine::Garbled, KillTarget::Worker, 0));
}

#[test]
fn a_killed_worker_of_the_joining_side_loses_nothing_and_counts_nothing_twice() {
    assert_all_stages(&kill_at_every_stage(Engine::Garbled, KillTarget::Worker, 1));
}

#[test]
fn a_killed_coordinator_of_the_host_loses_nothing_and_counts_nothing_twice() {
    let seen = kill_at_every_stage(Engine::Shares, KillTarget::Coordinator, 0);
    assert_all_stages(&seen);
}

#[test]
fn a_killed_coordinator_of_the_joining_side_loses_nothing_and_counts_nothing_twice() {
    let seen = kill_at_every_stage(Engine::Garbled, KillTarget::Coordinator, 1);
    assert_all_stages(&seen);
}

#[test]
fn a_killed_gateway_loses_nothing_and_counts_nothing_twice() {
    let seen = kill_at_every_stage(Engine::Garbled, KillTarget::Gateway, 0);
    assert!(seen.len() > 3, "{seen:?}");
}

/// The coordinator is killed between the journal and the ledger.
#[test]
fn sent_but_uncounted_halves_are_counted_once() {
    let setup = Setup::new(Engine::Garbled);
    let (plan, state_dir) = (setup.plan(0), setup.state_dir(0));
    let counts = || all_counted(&setup)[0];
    let open = || {
        let pairs = plan.pairs_of(tile(1), None).unwrap();
        let peer = setup.identities[1].fingerprint();
        let ledger = LedgerFile::of(Some(&state_dir.ledgers()), peer);
        LeasedTile::open(&plan, pairs, &state_dir, &ledger)
    };
    let mut store = open().unwrap();
    store.journal_mut().start_pairs(&[0, 1]).unwrap();
    store.journal_mut().mark_sent(&[0, 1]).unwrap();
    drop(store);
    let before = state_dir.peers().unwrap().entries;
    assert!(before.iter().all(|peer| peer.max_comparisons == 0));
    for _ in 0..2 {
        drop(open().unwrap());
        assert_eq!(counts(), 2);
    }
}

/// A coordinator that stops between its journal and its ledger has sent nothing. If the limit is used up in the meantime, it never
/// does.
#[test]
fn uncounted_halves_are_not_sent_beyond_the_limit() {
    let setup = Setup::new(Engine::Garbled);
    let (plan, state_dir) = (setup.plan(0), setup.state_dir(0));
    let open = || {
        let pairs = plan.pairs_of(tile(1), None).unwrap();
        let peer = setup.identities[1].fingerprint();
        let ledger = LedgerFile::of(Some(&state_dir.ledgers()), peer);
        LeasedTile::open(&plan, pairs, &state_dir, &ledger)
    };
    let mut store = open().unwrap();
    store.journal_mut().start_pairs(&[0, 1]).unwrap();
    store.journal_mut().mark_sent(&[0, 1]).unwrap();
    drop(store);
    // The whole plan in one session uses up the limit.
    let whole = ["p", "q"].map(|side| Proposal {
        tile_count: None,
        ..proposal(side, Engine::Garbled)
    });
    assert!(setup.session(whole).iter().all(Result::is_ok));
    let before = all_counted(&setup)[0];
    for _ in 0..2 {
        let error = open().unwrap_err();
        assert!(
            matches!(error, SessionError::Limit(Limit::Comparisons(_))),
            "{error}"
        );
        assert_eq!(all_counted(&setup)[0], before);
    }
}
