//! Sessions as a front end runs them: options, events and outcomes.
#![allow(clippy::unwrap_used, clippy::panic)] // test helpers may panic

mod approval;
mod stop;

use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use veilpath::{
    CompletedSession, Engine, EngineChoice, Error, Event, Fault, Fingerprint, Identity, Input,
    Limit, LocalCohort, MetricName, MetricOptions, Peer, PeerEvent, PeersError, PlanOptions,
    RiskySetting, ScanpathLimit, ServedPeer, SessionControl, SessionError, SessionEvent,
    SessionOptions, StateDir, SubstitutionChoice, UsageError, check_peers, host, join,
    read_cohort_from, serve,
};

const A: &str = "participant,scanpath\np1,ABCD\np2,AAB\n";
const B: &str = "participant,scanpath\nq1,ABCE\n";

/// One institution.
struct Party {
    identity: Identity,
    folder: tempfile::TempDir,
}

impl Party {
    fn new() -> Self {
        Self {
            identity: Identity::ephemeral().unwrap(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn fingerprint(&self) -> Fingerprint {
        self.identity.fingerprint()
    }

    fn options(&self, cohort: &str) -> SessionOptions {
        self.options_with(
            cohort,
            PlanOptions::new(Engine::Plain, MetricOptions::default()),
        )
    }

    fn options_with(&self, cohort: &str, plan: PlanOptions) -> SessionOptions {
        let input = Input::from_bytes("cohort", cohort.as_bytes().to_vec()).unwrap();
        let cohort = LocalCohort::new(read_cohort_from(input).unwrap(), plan).unwrap();
        let state_dir = StateDir::at(self.folder.path());
        SessionOptions::new(cohort, self.identity.clone(), state_dir)
    }
}

/// Sends the address of a listening host through `sender`.
fn address_to(sender: Sender<String>) -> impl Fn(Event) + Sync {
    let sender = Mutex::new(sender);
    move |event| {
        if let Event::Session(SessionEvent::Listening { address, .. }) = event {
            sender.lock().unwrap().send(address.to_string()).unwrap();
        }
    }
}

fn run(
    parties: [&Party; 2],
    options: [SessionOptions; 2],
    events: &(dyn Fn(Event) + Sync),
) -> [Result<Option<CompletedSession>, Error>; 2] {
    let (sender, address) = channel();
    let [peer_of_join, peer_of_host] = parties.map(Party::fingerprint);
    let [host_options, join_options] = options;
    std::thread::scope(|scope| {
        let listening = address_to(sender);
        let hosting =
            scope.spawn(move || host("127.0.0.1:0", peer_of_host, &host_options, &listening));
        let address = address.recv().unwrap();
        let joined = join(&address, peer_of_join, &join_options, &|event| {
            events(event);
        });
        [hosting.join().unwrap(), joined]
    })
}

#[test]
fn both_sides_get_the_outcome_and_events_in_order() {
    let (a, b) = (Party::new(), Party::new());
    let mut join_options = b.options(B);
    join_options.names = ["clinic", "university"].map(String::from);
    let steps = Mutex::new(Vec::new());
    let cells = Mutex::new(0);
    let note = |event: Event| {
        let step = match event {
            Event::Session(SessionEvent::Connecting { .. }) => "connecting",
            Event::Session(SessionEvent::Peer { event, .. }) => match event {
                PeerEvent::Connected => "connected",
                PeerEvent::Agreed(summary) => {
                    assert_eq!((summary.pairs, summary.cells), (2, 16 + 12));
                    "agreed"
                }
                PeerEvent::Progress(progress) => {
                    assert_eq!(progress.total, 28);
                    let mut cells = cells.lock().unwrap();
                    *cells = progress.done.max(*cells);
                    return;
                }
                other => panic!("{other:?}"),
            },
            _ => return,
        };
        steps.lock().unwrap().push(step);
    };
    let [hosted, joined] = run([&a, &b], [a.options(A), join_options], &note);
    let (hosted, joined) = (hosted.unwrap().unwrap(), joined.unwrap().unwrap());
    assert_eq!(hosted.outcome.results, joined.outcome.results);
    assert_eq!(hosted.outcome.names, ["host", "join"]);
    assert_eq!(joined.outcome.names, ["clinic", "university"]);
    let steps = steps.into_inner().unwrap();
    assert_eq!(steps, ["connecting", "connected", "agreed"]);
    assert_eq!(cells.into_inner().unwrap(), 28);

    // A second run resumes: everything is in the journals.
    let [hosted, _] = run([&a, &b], [a.options(A), b.options(B)], &|_| ());
    assert_eq!(hosted.unwrap().unwrap().outcome.cost.pairs_from_journal, 2);
}

#[test]
fn estimates_and_errors_have_a_fault() {
    let (a, b) = (Party::new(), Party::new());
    let mut only = a.options(A);
    only.estimate_only = true;
    let [hosted, joined] = run([&a, &b], [only, b.options(B)], &|_| ());
    assert!(hosted.unwrap().is_none());
    assert_eq!(joined.unwrap_err().fault(), Fault::Peer);

    let own = host("127.0.0.1:0", a.fingerprint(), &a.options(A), &()).unwrap_err();
    assert!(matches!(own, Error::OwnFingerprint { .. }), "{own}");
    let mut impatient = b.options(B);
    impatient.wait = Duration::from_millis(100);
    let absent = join("127.0.0.1:9", a.fingerprint(), &impatient, &()).unwrap_err();
    assert_eq!(absent.fault(), Fault::Network);
}

#[test]
fn the_default_limit_applies_to_private_engines_and_can_be_raised() {
    let (a, b) = (Party::new(), Party::new());
    let many: String = (0..9).map(|i| format!("q{i},ABCE\n")).collect();
    let many = format!("participant,scanpath\n{many}");
    let options = |engine| {
        let plan = || PlanOptions::new(engine, MetricOptions::default());
        [a.options_with(A, plan()), b.options_with(&many, plan())]
    };
    let [hosted, joined] = run([&a, &b], options(Engine::Garbled), &|_| ());
    // Scanpaths of 3 letters, without a declared alphabet.
    match hosted.unwrap_err() {
        Error::Session(SessionError::Limit(Limit::Comparisons(found))) => {
            assert_eq!((found.limit, found.before, found.now), (1, 0, 9));
            assert_eq!((found.exceeded, found.assumed_letters), (2, Some(4)));
        }
        other => panic!("{other}"),
    }
    assert_eq!(joined.unwrap_err().fault(), Fault::Peer);

    let mut raised = options(Engine::Garbled);
    for side in &mut raised {
        side.limit_per_scanpath = ScanpathLimit::Count(9);
    }
    let limits = Mutex::new(Vec::new());
    let note = |event: Event| {
        if let Event::Session(SessionEvent::Peer { event, .. }) = event
            && let PeerEvent::Agreed(summary) = event
        {
            limits.lock().unwrap().push(summary.limit);
        }
    };
    for side in run([&a, &b], raised, &note) {
        side.unwrap();
    }
    // The user sees what the default would be.
    let limits = limits.into_inner().unwrap();
    assert_eq!(limits.len(), 1);
    assert_eq!(
        (limits[0].limits, limits[0].defaults),
        (Some((9, 9)), Some((1, 1)))
    );
    assert_eq!(limits[0].assumed_letters, Some(4));
    let plain = [Party::new(), Party::new()];
    let [host, join] = options(Engine::Plain);
    let plain_options = [
        SessionOptions {
            identity: plain[0].identity.clone(),
            ..host
        },
        SessionOptions {
            identity: plain[1].identity.clone(),
            ..join
        },
    ];
    for side in run([&plain[0], &plain[1]], plain_options, &|_| ()) {
        side.unwrap();
    }
}

#[test]
fn risky_settings_are_refused_before_connecting_unless_allowed() {
    let (a, b) = (Party::new(), Party::new());
    let table = a.folder.path().join("costs.csv");
    std::fs::write(&table, "0,2\n1,0\n").unwrap();
    let fine = a.folder.path().join("fine.csv");
    std::fs::write(&fine, "0,1,20001\n1,0,7\n20001,7,0\n").unwrap();
    for (substitution, gap, cohort, risk, other) in [
        (
            SubstitutionChoice::Index,
            1000.0,
            A,
            RiskySetting::ExtremeGap,
            RiskySetting::AsymmetricTable,
        ),
        (
            SubstitutionChoice::File(table),
            1.0,
            "participant,scanpath\np1,ABBA\np2,AAB\n",
            RiskySetting::AsymmetricTable,
            RiskySetting::ExtremeGap,
        ),
        (
            SubstitutionChoice::File(fine),
            10_001.0,
            "participant,scanpath\np1,ABCA\np2,AAC\n",
            RiskySetting::FineTable,
            RiskySetting::AsymmetricTable,
        ),
    ] {
        let metric = MetricOptions {
            name: MetricName::NeedlemanWunsch,
            substitution: Some(substitution),
            gap: Some(gap),
            ..MetricOptions::default()
        };
        let mut options = a.options_with(cohort, PlanOptions::new(Engine::Garbled, metric));
        options.wait = Duration::from_millis(100);
        let attempts = |options: &SessionOptions| {
            let peer = b.fingerprint();
            let joining = join("127.0.0.1:9", peer, options, &()).unwrap_err();
            let hosting = host("127.0.0.1:0", peer, options, &()).unwrap_err();
            [joining, hosting]
        };
        // Another risk that is allowed makes no difference.
        for allow in [vec![], vec![other]] {
            options.allow = allow;
            for refused in attempts(&options) {
                match refused {
                    Error::RiskySettings { settings } => assert_eq!(settings, [risk]),
                    other => panic!("{other}"),
                }
            }
        }
        options.allow = vec![risk];
        for absent in attempts(&options) {
            assert_eq!(absent.fault(), Fault::Network, "{absent}");
        }
    }
}

#[test]
fn short_scanpaths_are_refused_before_connecting_if_lengths_are_hidden() {
    let (a, b) = (Party::new(), Party::new());
    let padded = |pad_to| PlanOptions {
        pad_to: Some(pad_to),
        ..PlanOptions::new(Engine::Garbled, MetricOptions::default())
    };
    let attempt = |pad_to, limit| {
        let mut options = a.options_with(A, padded(pad_to));
        options.wait = Duration::from_millis(100);
        options.limit_per_scanpath = limit;
        join("127.0.0.1:9", b.fingerprint(), &options, &()).unwrap_err()
    };
    let error = attempt(16, ScanpathLimit::Default);
    assert!(
        matches!(error, Error::ShortForPadding { shorter: 1, .. }),
        "{error}"
    );
    assert_eq!(attempt(12, ScanpathLimit::Default).fault(), Fault::Network);
    assert_eq!(attempt(16, ScanpathLimit::Count(3)).fault(), Fault::Network);
}

#[test]
fn several_peers_are_served_and_saved() {
    let (a, parties) = (Party::new(), [Party::new(), Party::new()]);
    let peers = parties.each_ref().map(|it| Peer::unnamed(it.fingerprint()));
    check_peers(&peers).unwrap();
    let mut options = a.options(A);
    options.wait = Duration::from_secs(20);
    let saved = Mutex::new(Vec::new());
    let save = |peer: &Peer, completed: &CompletedSession| {
        assert_eq!(completed.pairs, 2);
        saved.lock().unwrap().push(peer.fingerprint);
        Ok(())
    };
    let (sender, address) = channel();
    let served = std::thread::scope(|scope| {
        let listening = address_to(sender);
        let (peers, options, save) = (&peers, &options, &save);
        let serving =
            scope.spawn(move || serve("127.0.0.1:0", peers, 1, options, &listening, save));
        let address = address.recv().unwrap();
        for party in &parties {
            let (address, host) = (address.clone(), a.fingerprint());
            scope.spawn(move || join(&address, host, &party.options(B), &()).unwrap());
        }
        serving.join().unwrap().unwrap()
    });
    assert!(served.iter().all(ServedPeer::is_finished), "{served:?}");
    assert_eq!(saved.into_inner().unwrap().len(), 2);
}

/// How long saving takes depends on the results, so it must not delay what the peer sees.
#[test]
fn a_peer_is_served_again_while_its_results_are_saved() {
    let (a, b, absent) = (Party::new(), Party::new(), Party::new());
    let peers = [&b, &absent].map(|it| Peer::unnamed(it.fingerprint()));
    let options = a.options(A);
    let (served_again, waits) = channel::<()>();
    let (waits, saved) = (Mutex::new(waits), Mutex::new(0));
    let save = |_: &Peer, _: &CompletedSession| {
        *saved.lock().unwrap() += 1;
        let waits = waits.try_lock().expect("one session is saved at a time");
        // The last session may end when the first one is saved.
        let waited = waits.recv_timeout(Duration::from_secs(60));
        assert_ne!(waited, Err(RecvTimeoutError::Timeout));
        Ok(())
    };
    let (sender, address) = channel();
    let served = std::thread::scope(|scope| {
        let listening = address_to(sender);
        let (peers, options, save) = (&peers, &options, &save);
        // One slot for all sessions.
        let serving =
            scope.spawn(move || serve("127.0.0.1:0", peers, 1, options, &listening, save));
        let address = address.recv().unwrap();
        for _ in 0..3 {
            let joined = join(&address, a.fingerprint(), &b.options(B), &()).unwrap();
            assert_eq!(joined.unwrap().outcome.results.len(), 2);
        }
        drop(served_again);
        options.control.stop();
        serving.join().unwrap().unwrap()
    });
    assert!(served[0].is_finished() && !served[1].is_finished());
    assert!((1..=2).contains(&saved.into_inner().unwrap()));
}

fn save_nothing(_: &Peer, _: &CompletedSession) -> Result<(), Error> {
    Ok(())
}

/// What `host` refuses before it listens, a host of several peers refuses, too.
#[test]
fn impossible_options_are_refused_before_listening() {
    let (a, b) = (Party::new(), Party::new());
    let peer = Peer::unnamed(b.fingerprint());
    let refused = |options: &SessionOptions, peers: &[Peer]| {
        let listening = |event: Event| assert!(matches!(event, Event::Note(_)), "{event:?}");
        serve("127.0.0.1:0", peers, 1, options, &listening, &save_nothing).unwrap_err()
    };
    let twice = refused(&a.options(A), &[peer.clone(), peer.clone()]);
    assert!(
        matches!(twice, Error::Peers(PeersError::Duplicate(_))),
        "{twice}"
    );
    let plan = PlanOptions::new(EngineChoice::Auto, MetricOptions::default());
    let mut options = a.options_with(A, plan);
    options.tile_count = Some(2);
    let error = refused(&options, &[peer]);
    assert!(
        matches!(
            error,
            Error::Session(SessionError::Usage(UsageError::TileWithoutEngine))
        ),
        "{error:?}"
    );
}
