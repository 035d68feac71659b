use super::*;
use crate::UsageError;
use crate::{Listener, join};
use veilpath_metrics::{Alphabet, Cohort, Encoding, Metric};
use veilpath_protocol::{Engine, PairRule, Spec, TreeLevels};

/// One side's cohort, with a scanpath of each of these lengths.
fn cohort(lengths: &[usize]) -> Cohort {
    let alphabet = Alphabet::letters(4).unwrap();
    let entries = lengths
        .iter()
        .enumerate()
        .map(|(index, &length)| veilpath_metrics::Entry {
            participant: format!("P{index}"),
            group: None,
            stimulus: None,
            scanpath: veilpath_metrics::Scanpath::new(vec![1; length]),
            fixations: None,
        });
    Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries: entries.collect(),
    }
}

/// Two sides with an open session.
fn sessions() -> [Session; 2] {
    sessions_of(&[0, 1].map(|_| Identity::ephemeral().unwrap()))
}

fn sessions_of([a, b]: &[Identity; 2]) -> [Session; 2] {
    let timeouts = Timeouts::new(Duration::from_secs(5), Duration::from_secs(5));
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address().to_string();
    let open = |channel, role, identity: &Identity, peer| {
        let alphabet = AlphabetInfo {
            named: None,
            declared: None,
            read_as: cohort(&[]).alphabet,
            grid: None,
        };
        let opened = Session::open(channel, role, identity, peer, &alphabet, timeouts);
        opened.unwrap().0
    };
    std::thread::scope(|scope| {
        let host = scope.spawn(|| {
            let channel = listener.accept(a, b.fingerprint(), &timeouts, &mut |_| ());
            open(channel.unwrap(), Role::Host, a, b.fingerprint())
        });
        let channel = join(&address, b, a.fingerprint(), &timeouts).unwrap();
        let join = open(channel, Role::Join, b, a.fingerprint());
        [host.join().unwrap(), join]
    })
}

fn proposal(lengths: &[usize], pad_to: Option<u32>) -> Proposal {
    let cohort = cohort(lengths);
    let spec = Spec::new(
        Engine::Plain,
        Metric::Levenshtein,
        PairRule::All,
        &cohort,
        &cohort,
    );
    Proposal {
        auto_engine: false,
        spec: Spec {
            pad_to,
            ..spec.unwrap()
        },
        cohort,
        pseudonyms: false,
        estimate_only: false,
        fresh: false,
        limit_per_scanpath: crate::ScanpathLimit::Unlimited,
        declared_letters: None,
        disclosure: crate::DisclosureLimits::default(),
        memory: None,
        tile: None,
        tile_count: None,
        key: None,
    }
}

/// How many bytes each side has sent when they have agreed, and what the host then expects of the work. The engine is not
/// asked whether it can hide lengths.
fn agreed(lengths: [&[usize]; 2], pad_to: Option<u32>) -> ([u64; 2], AgreementSummary) {
    let [host, join] = sessions();
    let side = |mut session: Session, proposal| {
        let folder = tempfile::tempdir().unwrap();
        let agreement =
            session.negotiate(proposal, Some(&StateDir::at(folder.path())), &mut |_| ());
        let agreement = agreement.unwrap();
        let agreed = AgreedSession {
            session,
            agreement,
            record_failure: None,
        };
        let sent = agreed.session.channel.traffic().sent;
        (sent, agreed.summary())
    };
    std::thread::scope(|scope| {
        let host = scope.spawn(|| side(host, proposal(lengths[0], pad_to)));
        let (join_sent, _) = side(join, proposal(lengths[1], pad_to));
        let (host_sent, summary) = host.join().unwrap();
        ([host_sent, join_sent], summary)
    })
}

#[test]
fn nothing_in_an_agreement_depends_on_lengths_that_padding_hides() {
    let (bytes, mut summary) = agreed([&[1, 2], &[3]], Some(150));
    assert_eq!(summary.cells, 2 * 150 * 150);
    assert_eq!(summary.pad_to, Some(150));
    let other = agreed([&[0, 150], &[99]], Some(150));
    // What was measured differs between any two connections, and their keys, which are in the id, are new.
    summary.agreement.clone_from(&other.1.agreement);
    summary.link = other.1.link;
    summary.estimate.seconds = other.1.estimate.seconds;
    assert_eq!((bytes, summary), other);
    let (shown, summary) = agreed([&[1, 2], &[3]], None);
    assert_eq!(summary.cells, 9);
    assert_ne!(shown, agreed([&[100, 150], &[99]], None).0);
}

/// Negotiates for both sides, with an open choice of the engine, and does something with each.
fn with_open_engine<T: Send>(
    identities: &[Identity; 2],
    folders: &[tempfile::TempDir; 2],
    then: impl Fn(Role, AgreedSession) -> T + Sync,
) -> [T; 2] {
    let [host, join] = sessions_of(identities);
    let side = |session: Session, folder: &tempfile::TempDir| {
        let mut proposal = proposal(&[6, 7], None);
        proposal.spec.engine = Engine::Garbled;
        proposal.auto_engine = true;
        let state_dir = StateDir::at(folder.path());
        let role = session.role;
        let agreed = session.agree(proposal, Some(&state_dir), &mut |_| ());
        then(role, agreed.unwrap())
    };
    std::thread::scope(|scope| {
        let host = scope.spawn(|| side(host, &folders[0]));
        let join = side(join, &folders[1]);
        [host.join().unwrap(), join]
    })
}

/// Garbled is faster for this plan on this connection. Once shares was chosen, it stays.
#[test]
fn an_engine_decision_persists_for_its_agreement() {
    let identities = [0, 1].map(|_| Identity::ephemeral().unwrap());
    let folders = [0, 1].map(|_| tempfile::tempdir().unwrap());
    let summaries = with_open_engine(&identities, &folders, |role, mut agreed| {
        let summary = agreed.summary();
        if role == Role::Host {
            let shares = EngineDecision {
                engine: Engine::Shares,
                tree_levels: TreeLevels::Eight,
            };
            let journal = &mut agreed.agreement.journal;
            journal.store_engine(shares).unwrap();
        }
        summary.engine
    });
    for engine in summaries {
        assert_eq!(engine.engine, Engine::Garbled);
        assert_eq!(engine.reason, EngineReason::Estimated);
        assert!(engine.estimates.is_some());
    }
    // The first time only the host knows, the second time both do.
    for _ in 0..2 {
        let result = with_open_engine(&identities, &folders, |_, agreed| {
            let engine = agreed.summary().engine;
            assert_eq!(engine.reason, EngineReason::ChosenEarlier);
            assert_eq!(engine.tree_levels, Some(TreeLevels::Eight));
            agreed.run(&()).unwrap().outcome
        });
        for outcome in result {
            assert_eq!(outcome.spec.engine, Engine::Shares);
            assert_eq!(outcome.results.len(), 4);
        }
    }
}

/// Several sessions of one peer share a journal; the results of the first may still have to be saved.
#[test]
#[cfg(unix)]
fn results_are_read_from_files_that_another_session_uses() {
    let identities = [0, 1].map(|_| Identity::ephemeral().unwrap());
    let folders = [0, 1].map(|_| tempfile::tempdir().unwrap());
    let results = with_open_engine(&identities, &folders, |role, agreed| {
        let computed = agreed.compute(&()).unwrap();
        if role == Role::Join {
            return computed.complete().unwrap();
        }
        let computed = computed.into_files();
        assert!(computed.is_in_files());
        let journals = StateDir::at(folders[0].path()).journals();
        let journal = crate::state_dir::entries(&journals, "journal").unwrap();
        let mut used = std::fs::OpenOptions::new();
        let mut used = used.append(true).open(&journal[0]).unwrap();
        used.try_lock().unwrap();
        std::io::Write::write_all(&mut used, b"half an entry").unwrap();
        computed.complete().unwrap()
    });
    let [host, join] = &results;
    let (ours, theirs) = (&host.outcome, &join.outcome);
    assert_eq!(ours.results, theirs.results);
    assert_eq!(ours.results.len(), 4);
    assert_eq!((&ours.a, &ours.b), (&theirs.a, &theirs.b));
    assert_eq!(ours.spec, theirs.spec);
    assert_eq!(ours.cost.cells, theirs.cost.cells);
    assert_eq!(ours.cost.bytes_sent, theirs.cost.bytes_received);
    assert_eq!(ours.cost.pairs_from_journal, 0);
    let counts = |it: &crate::CompletedSession| {
        let starts = (it.restarted_pairs, it.max_starts, it.starts);
        (it.agreement.clone(), it.pairs, starts, it.max_agreements)
    };
    assert_eq!(counts(host), counts(join));
}

#[test]
fn a_scanpath_longer_than_the_padding_is_an_error_before_anything_is_sent() {
    let [mut host, join] = sessions();
    let before = host.channel.traffic();
    let folder = tempfile::tempdir().unwrap();
    let agreement = host.negotiate(
        proposal(&[2, 7], Some(6)),
        Some(&StateDir::at(folder.path())),
        &mut |_| (),
    );
    let error = agreement.err().unwrap();
    assert!(matches!(
        error,
        SessionError::Usage(UsageError::LongerThanPadding { number: 2, .. })
    ));
    assert_eq!(host.channel.traffic(), before);
    // Neither waits for the other to close.
    join.connection.shutdown();
}

/// A cause may still follow a broken pipe, but not the end of the stream.
#[test]
fn a_closed_connection_is_reported_at_once() {
    let [host, join] = sessions();
    join.connection.shutdown();
    while !host.connection.is_closed() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let start = Instant::now();
    let error = host.explain(ProtocolError::Channel(ChannelError::Closed).into());
    assert!(start.elapsed() < CAUSE_GRACE_PERIOD);
    assert!(
        matches!(
            error,
            SessionError::Network(NetworkError::Channel(ChannelError::Closed))
        ),
        "{error}"
    );
}

/// Sending a byte now and then keeps a connection alive, but does not keep a slot forever.
#[test]
fn a_session_ends_at_its_deadline() {
    let [mut host, mut join] = sessions();
    host.limit_time(Duration::from_millis(400));
    let stop = std::sync::atomic::AtomicBool::new(false);
    let start = Instant::now();
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            use veilpath_channel::Channel;
            // The head of a long message.
            let _ = join
                .channel
                .send(&[crate::control::Tag::Terms as u8, 0, 0, 2, 0]);
            while !stop.load(std::sync::atomic::Ordering::SeqCst) {
                let _ = join.channel.send(&[0]).and_then(|()| join.channel.flush());
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let agreed = host.agree(proposal(&[2], None), None, &mut |_| ());
        stop.store(true, std::sync::atomic::Ordering::SeqCst);
        agreed.err().unwrap()
    });
    assert!(start.elapsed() < Duration::from_secs(4));
    assert!(
        matches!(&error, SessionError::Network(NetworkError::SessionTooLong(time)) if time.as_millis() == 400),
        "{error}"
    );
}

/// The joining side has sent nothing about its cohort when it rejects the host's sizes.
#[test]
fn invalid_terms_are_not_answered() {
    let [mut host, mut join] = sessions();
    let there = std::thread::spawn(move || {
        let agreed = join.negotiate(proposal(&[3], None), None, &mut |_| ());
        agreed.map(|_| ()).unwrap_err()
    });
    let terms = serde_json::json!({
        "fields": {}, "encoding": {}, "scanpaths": u64::MAX, "letters": 1, "id_bytes": 1,
        "cohort_tag": "0".repeat(64), "estimate_only": false,
    });
    control::send(&mut host.channel, Tag::Terms, &terms).unwrap();
    let answer = control::receive_bytes(&mut host.channel, Tag::Terms);
    assert!(answer.is_err(), "{answer:?}");
    let error = there.join().unwrap();
    assert!(
        matches!(
            error,
            SessionError::Misbehaved(crate::Misbehaviour::CohortBeyondLimits)
        ),
        "{error}"
    );
}
