//! Several peers at one host, in one process: session slots, duplicate connections, dead connections.
#![allow(clippy::unwrap_used, clippy::panic)] // a test's helpers may fail the test

mod waits;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric, Scanpath};
use veilpath_protocol::{Answer, Engine, Observer, PairRule, Role, Spec};
use veilpath_session::limits::Timeouts;
use veilpath_session::{
    Acceptor, AlphabetInfo, CompletedSession, DeclineReason, Identity, Limit, Listener,
    PeerConnection, PeerServer, PeerState, Proposal, ScanpathLimit, SecureChannel, Session,
    SessionError, SessionFailure, SessionSlots, StateDir, join,
};

fn cohort(scanpaths: usize) -> Cohort {
    let entries = (0..scanpaths).map(|index| Entry {
        participant: format!("p{index}"),
        group: None,
        stimulus: None,
        scanpath: Scanpath::new((0..20).map(|it| (it * index as u16 + 1) % 4).collect()),
        fixations: None,
    });
    Cohort {
        alphabet: Alphabet::letters(4).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries: entries.collect(),
    }
}

fn proposal() -> Proposal {
    proposal_for(cohort(3))
}

/// The same proposal for a cohort with the same ids and lengths and different letters.
fn other_proposal() -> Proposal {
    let mut cohort = cohort(3);
    cohort.entries[0].scanpath = Scanpath::new(vec![3; 20]);
    proposal_for(cohort)
}

fn proposal_for(cohort: Cohort) -> Proposal {
    let spec = Spec::new(
        Engine::Garbled,
        Metric::Levenshtein,
        PairRule::All,
        &cohort,
        &cohort,
    );
    Proposal {
        auto_engine: false,
        spec: spec.unwrap(),
        cohort,
        pseudonyms: false,
        estimate_only: false,
        fresh: false,
        limit_per_scanpath: ScanpathLimit::Unlimited,
        declared_letters: None,
        disclosure: veilpath_session::DisclosureLimits::default(),
        memory: None,
        tile: None,
        tile_count: None,
        key: None,
    }
}

fn alphabet() -> AlphabetInfo {
    AlphabetInfo {
        named: None,
        declared: None,
        read_as: cohort(0).alphabet,
        grid: None,
    }
}

/// The host with its peers.
struct Setup {
    host: Identity,
    peers: Vec<Identity>,
    idle: Duration,
    address: String,
    acceptor: Mutex<Option<Acceptor>>,
    /// Sessions that run now, and the most that ran at the same time.
    working: AtomicUsize,
    max_working: AtomicUsize,
    /// How long each session takes at least.
    work: Duration,
    /// Pairs that the host has computed.
    computed: AtomicUsize,
    /// Whether the host compares all pairs afresh.
    fresh: bool,
    /// How long a peer may take for its first messages.
    open: Duration,
    stopped: AtomicBool,
    /// Contains the state folders of all.
    folder: tempfile::TempDir,
}

/// Counts pairs, and is slow.
struct SlowObserver<'a>(&'a Setup);

impl Observer for SlowObserver<'_> {
    fn scored(&self, pair: usize, _: Answer) {
        self.0.computed.fetch_add(1, Ordering::SeqCst);
        if pair == 0 {
            std::thread::sleep(self.0.work);
        }
    }
}

impl Setup {
    fn new(peers: usize, idle: Duration, work: Duration) -> Self {
        let host = Identity::ephemeral().unwrap();
        let peers: Vec<_> = (0..peers).map(|_| Identity::ephemeral().unwrap()).collect();
        let expected: Vec<_> = peers.iter().map(Identity::fingerprint).collect();
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.address().to_string();
        let timeouts = Timeouts::new(idle, Duration::from_secs(10));
        Self {
            acceptor: Mutex::new(Some(Acceptor::new(listener, &host, &expected, &timeouts))),
            host,
            peers,
            idle,
            address,
            working: AtomicUsize::new(0),
            max_working: AtomicUsize::new(0),
            work,
            computed: AtomicUsize::new(0),
            fresh: false,
            open: MINUTE,
            stopped: AtomicBool::new(false),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn state_dir(&self, name: &str) -> StateDir {
        StateDir::at(self.folder.path().join(name))
    }

    fn timeouts(&self) -> Timeouts {
        Timeouts::new(self.idle, Duration::from_secs(10))
    }

    /// The host, until it ends by itself.
    fn serve(&self, sessions: usize, wait: Duration) -> Vec<PeerState<SessionError>> {
        let handler = |connection: PeerConnection, slots: &SessionSlots| {
            let result = self.handle(connection, slots);
            result.map_err(|error| SessionFailure {
                is_final: error.is_blocked(),
                error,
            })
        };
        let acceptor = self.acceptor.lock().unwrap().take().unwrap();
        let server = PeerServer {
            sessions,
            wait,
            open: self.open,
        };
        let is_stopped = || self.stopped.load(Ordering::SeqCst);
        server.serve(&is_stopped, acceptor, &handler, &mut |_| ())
    }

    fn handle(&self, connection: PeerConnection, slots: &SessionSlots) -> Result<(), SessionError> {
        let (host, timeouts) = (&self.host, self.timeouts());
        let (mut session, _) = Session::open(
            connection.channel,
            Role::Host,
            host,
            connection.peer,
            &alphabet(),
            timeouts,
        )?;
        if let Some(reason) = connection.decline {
            session.decline(reason.clone());
            return Err(SessionError::Declined(reason));
        }
        session.pin_agreement(&connection.agreement);
        let _slot = session.acquire_slot(slots, &mut |_| ())?;
        let working = self.working.fetch_add(1, Ordering::SeqCst) + 1;
        self.max_working.fetch_max(working, Ordering::SeqCst);
        let proposal = Proposal {
            fresh: self.fresh,
            ..proposal()
        };
        let results = session
            .agree(proposal, Some(&self.state_dir("host")), &mut |_| ())
            .and_then(|agreed| agreed.run(&SlowObserver(self)));
        self.working.fetch_sub(1, Ordering::SeqCst);
        results.map(|_| ())
    }

    fn call(&self, peer: usize, address: &str) -> SecureChannel {
        let (own, host) = (&self.peers[peer], self.host.fingerprint());
        join(address, own, host, &self.timeouts()).unwrap()
    }

    fn open(&self, peer: usize, address: &str) -> Result<Session, SessionError> {
        let channel = self.call(peer, address);
        let (own, host) = (&self.peers[peer], self.host.fingerprint());
        let opened = Session::open(channel, Role::Join, own, host, &alphabet(), self.timeouts());
        Ok(opened?.0)
    }

    /// A session of the first peer for this proposal; also returns how many pairs were known before.
    fn ask(&self, proposal: Proposal) -> Result<(CompletedSession, usize), SessionError> {
        let session = self.open(0, &self.address)?;
        let agreed = session.agree(proposal, Some(&self.state_dir("p0")), &mut |_| ())?;
        let known = agreed.summary().from_journal;
        Ok((agreed.run(&())?, known))
    }

    /// A peer's session; also returns whether it had to wait.
    fn join(&self, peer: usize, address: &str) -> Result<(CompletedSession, bool), SessionError> {
        let session = self.open(peer, address)?;
        let mut waited = false;
        let state_dir = self.state_dir(&format!("p{peer}"));
        let agreed = session.agree(proposal(), Some(&state_dir), &mut |_| waited = true)?;
        Ok((agreed.run(&())?, waited))
    }
}

fn finished(states: &[PeerState<SessionError>]) -> usize {
    let finished = |state: &&PeerState<_>| matches!(state, PeerState::Finished);
    states.iter().filter(finished).count()
}

const MINUTE: Duration = Duration::from_secs(60);

/// The idle timeout is shorter than the time in the queue: Wait messages keep the peer connected.
#[test]
fn more_peers_than_slots_wait_and_all_are_served() {
    let setup = Setup::new(5, Duration::from_millis(800), Duration::from_millis(400));
    let waited = std::thread::scope(|scope| {
        let host = scope.spawn(|| setup.serve(2, MINUTE));
        let setup = &setup;
        let joins: Vec<_> = (0..5)
            .map(|peer| scope.spawn(move || setup.join(peer, &setup.address)))
            .collect();
        let ends: Vec<_> = joins.into_iter().map(|it| it.join().unwrap()).collect();
        assert_eq!(finished(&host.join().unwrap()), 5);
        let ends = ends.into_iter().map(Result::unwrap);
        ends.filter(|(result, waited)| {
            assert_eq!(result.outcome.results.len(), 9);
            *waited
        })
        .count()
    });
    assert_eq!(setup.max_working.load(Ordering::SeqCst), 2);
    assert!(waited >= 2, "{waited}");
}

#[test]
fn a_duplicate_connection_of_a_live_peer_is_declined() {
    let setup = Setup::new(1, Duration::from_secs(6), Duration::from_secs(4));
    std::thread::scope(|scope| {
        let host = scope.spawn(|| setup.serve(1, MINUTE));
        let first = scope.spawn(|| setup.join(0, &setup.address));
        while setup.working.load(Ordering::SeqCst) == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let second = setup.join(0, &setup.address).unwrap_err();
        assert!(
            matches!(&second, SessionError::Declined(reason) if *reason == DeclineReason::AlreadyConnected),
            "{second}"
        );
        first.join().unwrap().unwrap();
        assert_eq!(finished(&host.join().unwrap()), 1);
    });
}

/// A relay that can be killed: then it forwards nothing, and neither side is told.
fn killable_relay(upstream: SocketAddr, dead: Arc<AtomicBool>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (down, _) = listener.accept().unwrap();
        let up = TcpStream::connect(upstream).unwrap();
        for (from, to) in [(&down, &up), (&up, &down)] {
            from.set_nodelay(true).unwrap();
            let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            let dead = Arc::clone(&dead);
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(count @ 1..) = from.read(&mut buffer) {
                    if !dead.load(Ordering::SeqCst) && to.write_all(&buffer[..count]).is_err() {
                        break;
                    }
                }
                // Its ends stay open for as long as the test.
                std::thread::sleep(MINUTE);
            });
        }
    });
    address
}

/// The peer's machine is gone and the host has not noticed; it would notice in six seconds. The peer that reconnects is
/// accepted after a third of that.
#[test]
fn a_peer_with_a_dead_connection_is_accepted_again_soon() {
    let idle = Duration::from_secs(6);
    let setup = Setup::new(1, idle, Duration::ZERO);
    let dead = Arc::new(AtomicBool::new(false));
    let relay = killable_relay(setup.address.parse().unwrap(), Arc::clone(&dead));
    std::thread::scope(|scope| {
        let host = scope.spawn(|| setup.serve(1, MINUTE));
        // It opens the session and stops; dropping the session would close the connection.
        let channel = setup.call(0, &relay.to_string());
        let (own, peer) = (&setup.peers[0], setup.host.fingerprint());
        let opened = Session::open(
            channel,
            Role::Join,
            own,
            peer,
            &alphabet(),
            setup.timeouts(),
        );
        dead.store(true, Ordering::SeqCst);
        let start = Instant::now();
        let (result, _) = setup.join(0, &setup.address).unwrap();
        let took = start.elapsed();
        assert_eq!(result.outcome.results.len(), 9);
        assert!(took > idle / 4 && took < idle * 5 / 6, "{took:?}");
        assert_eq!(finished(&host.join().unwrap()), 1);
        // Closing would wait for an answer that never arrives.
        std::mem::forget(opened);
    });
}

#[test]
fn a_failed_peer_can_reconnect_and_the_host_does_not_wait_forever() {
    let setup = Setup::new(2, Duration::from_secs(5), Duration::ZERO);
    std::thread::scope(|scope| {
        let host = scope.spawn(|| setup.serve(2, Duration::from_millis(1500)));
        drop(setup.call(0, &setup.address));
        setup.join(0, &setup.address).unwrap();
        let states = host.join().unwrap();
        assert!(matches!(
            states[..],
            [PeerState::Finished, PeerState::Awaited]
        ));
    });
}

/// Asserts that the first peer is declined with another cohort, and that the host stores nothing of it.
fn declines_another_cohort(setup: &Setup) {
    let error = setup.ask(other_proposal()).unwrap_err();
    assert!(
        matches!(&error, SessionError::Declined(reason) if *reason == DeclineReason::Limit(Limit::OtherAgreement)),
        "{error}"
    );
    let files = std::fs::read_dir(setup.folder.path().join("host/journals")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let is_journal = |path: &std::path::PathBuf| path.extension().is_some_and(|it| it == "journal");
    assert_eq!(paths.filter(is_journal).count(), 1);
}

/// This holds even if both sides ask for a new agreement.
#[test]
fn a_finished_peer_gets_its_results_again_and_no_others() {
    let mut setup = Setup::new(2, Duration::from_secs(5), Duration::ZERO);
    setup.fresh = true;
    std::thread::scope(|scope| {
        let host = scope.spawn(|| setup.serve(2, Duration::from_millis(1500)));
        let mut fresh = proposal();
        fresh.fresh = true;
        let (first, known) = setup.ask(fresh).unwrap();
        assert_eq!((first.outcome.results.len(), known), (9, 0));
        declines_another_cohort(&setup);
        let (again, known) = setup.ask(proposal()).unwrap();
        assert_eq!(again.outcome.results, first.outcome.results);
        assert_eq!((known, again.restarted_pairs), (9, 0));
        assert!(matches!(
            host.join().unwrap()[..],
            [PeerState::Finished, PeerState::Awaited]
        ));
    });
    assert_eq!(setup.computed.load(Ordering::SeqCst), 9);
}

/// A peer may have all answers when it disconnects: its comparison has started.
#[test]
fn an_interrupted_peer_can_only_continue() {
    let setup = Setup::new(1, Duration::from_secs(5), Duration::ZERO);
    std::thread::scope(|scope| {
        let host = scope.spawn(|| setup.serve(1, MINUTE));
        let session = setup.open(0, &setup.address).unwrap();
        drop(
            session
                .agree(proposal(), Some(&setup.state_dir("p0")), &mut |_| ())
                .unwrap(),
        );
        declines_another_cohort(&setup);
        let (result, _) = setup.ask(proposal()).unwrap();
        assert_eq!(result.outcome.results.len(), 9);
        assert_eq!(finished(&host.join().unwrap()), 1);
    });
}

/// Two peers, of which the second is banned.
fn with_banned_peer() -> Setup {
    let setup = Setup::new(2, Duration::from_secs(5), Duration::ZERO);
    let ledgers = setup.state_dir("host").identity().with_file_name("peers");
    std::fs::create_dir_all(&ledgers).unwrap();
    let banned = setup.peers[1].fingerprint().to_string().replace('-', "");
    let ledger = r#"{"version":5,"stamp":"00","scanpaths":{},"banned":"failed_check"}"#;
    std::fs::write(ledgers.join(format!("{banned}.json")), ledger).unwrap();
    std::fs::write(
        ledgers.join(format!("{banned}.log")),
        "veilpath ledger log 00\n",
    )
    .unwrap();
    setup
}

/// A peer whose session has failed for good returns and hangs up.
#[test]
fn a_later_failure_does_not_make_a_host_wait_again() {
    let setup = with_banned_peer();
    std::thread::scope(|scope| {
        let host = scope.spawn(|| setup.serve(2, MINUTE));
        let session = setup.open(1, &setup.address).unwrap();
        assert!(session.agree(proposal(), None, &mut |_| ()).is_err());
        for _ in 0..2 {
            std::thread::sleep(Duration::from_millis(300));
            drop(setup.call(1, &setup.address));
        }
        std::thread::sleep(Duration::from_millis(300));
        let start = Instant::now();
        setup.join(0, &setup.address).unwrap();
        let states = host.join().unwrap();
        assert!(start.elapsed() < MINUTE / 4);
        assert!(matches!(&states[1], PeerState::Failed(failure) if failure.error.is_ban()));
    });
}

/// A host that waits for one more peer ends when that one is banned, however often it tries again.
#[test]
fn a_host_does_not_wait_for_a_banned_peer() {
    let setup = with_banned_peer();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let host = scope.spawn(|| setup.serve(2, MINUTE));
        scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                let (own, host) = (&setup.peers[1], setup.host.fingerprint());
                let timeouts = Timeouts::new(setup.idle, Duration::from_millis(200));
                let Ok(channel) = join(&setup.address, own, host, &timeouts) else {
                    continue;
                };
                let opened = Session::open(channel, Role::Join, own, host, &alphabet(), timeouts);
                if let Ok((session, _)) = opened {
                    let _ = session.agree(proposal(), None, &mut |_| ());
                }
            }
        });
        let start = Instant::now();
        setup.join(0, &setup.address).unwrap();
        let states = host.join().unwrap();
        over.store(true, Ordering::SeqCst);
        assert!(start.elapsed() < MINUTE / 4);
        assert_eq!(finished(&states), 1);
        assert!(matches!(&states[1], PeerState::Failed(failure) if failure.error.is_ban()));
    });
}
