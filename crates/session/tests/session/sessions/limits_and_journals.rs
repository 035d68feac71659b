//! Limits that are remembered, and journals that outlive an interruption.

use super::*;

#[test]
fn a_limit_is_reported_to_both_and_remembered() {
    let setup = Setup::new();
    let limited = |metric: Metric, limit| {
        let mut proposals = proposals(|proposal| proposal.spec.metric = metric.clone());
        proposals[0].limit_per_scanpath = limit;
        proposals
    };
    let other = |gap| Metric::NeedlemanWunschScore {
        reward: 1.0,
        mismatch: 1.0,
        gap,
        scale: None,
    };
    for _ in 0..2 {
        for side in setup.run(limited(Metric::Levenshtein, ScanpathLimit::Count(2))) {
            side.unwrap();
        }
    }
    for side in setup.run(limited(other(1.0), ScanpathLimit::Count(2))) {
        side.unwrap();
    }
    let [host, join] = setup
        .run(limited(other(2.0), ScanpathLimit::Count(2)))
        .map(Result::unwrap_err);
    for error in [host, join] {
        assert_eq!(error.fault(), Fault::PeerDiffers);
        assert_limit_of_two(&error);
    }
}

fn assert_limit_of_two(error: &SessionError) {
    match error {
        SessionError::Limit(Limit::Comparisons(exceeded)) => {
            assert_eq!((exceeded.limit, exceeded.needed()), (2, 3));
        }
        // The other side learns only that there is a limit.
        SessionError::Declined(DeclineReason::Limit(Limit::PeerComparisons)) => {}
        other => panic!("{other}"),
    }
}

#[test]
fn every_threshold_counts_towards_the_limit() {
    let setup = Setup::new();
    let limited = |threshold: &str| {
        let mut proposals = proposals(revealing(threshold));
        proposals[0].limit_per_scanpath = ScanpathLimit::Count(2);
        setup.run(proposals)
    };
    for reveal in ["threshold:1", "threshold:1", "threshold:2", "threshold:1.0"] {
        for side in limited(reveal) {
            side.unwrap();
        }
    }
    for reveal in ["threshold:3", "score"] {
        for side in limited(reveal) {
            assert_limit_of_two(&side.unwrap_err());
        }
    }
}

/// Stops the host in the middle of its scores.
struct Panics(std::sync::atomic::AtomicUsize);

impl Observer for Panics {
    fn scored(&self, _: usize, _: Answer) {
        let before = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        assert_ne!(before, 1, "the second score is the last");
    }
}

#[test]
fn an_interrupted_session_resumes() {
    resumes(&revealing("score"));
}

#[test]
fn an_interrupted_session_keeps_its_bits() {
    resumes(&revealing("threshold:2"));
}

fn resumes(change: &(dyn Fn(&mut Proposal) + Sync)) {
    let asked = || proposals(change);
    let setup = Setup::new();
    let observer = Panics(std::sync::atomic::AtomicUsize::new(0));
    let interrupted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        setup.run_observed(asked(), &observer)
    }));
    assert!(interrupted.is_err());
    // The joining side had all three scores, the host two: one is missing on one side.
    let [host, join] = setup.run(asked()).map(Result::unwrap);
    assert_eq!(rows(&host), rows(&join));
    assert_eq!(
        host.outcome.cost.cells, 0,
        "the last pair has an empty scanpath"
    );
    // The joining side sends its answer again.
    assert_eq!((host.restarted_pairs, host.max_starts), (0, 1));
    let fresh = Setup::new().run(asked()).map(Result::unwrap);
    assert_eq!(rows(&host), rows(&fresh[0]));
    // Everything is known: nothing is compared again unless both sides ask for it.
    let [again, _] = setup.run(asked()).map(Result::unwrap);
    assert_eq!(rows(&again), rows(&host));
    assert_eq!((again.max_starts, again.max_agreements), (1, 1));
    let mut fresh = asked();
    fresh[1].fresh = true;
    for error in setup.run(fresh.clone()).map(Result::unwrap_err) {
        assert!(error.to_string().contains(FRESH_FIELD), "{error}");
    }
    fresh[0].fresh = true;
    for agreements in [2, 3] {
        let [again, _] = setup.run(fresh.clone()).map(Result::unwrap);
        assert_eq!(rows(&again), rows(&host));
        assert_eq!((again.max_starts, again.max_agreements), (1, agreements));
    }
}

#[test]
fn a_changed_cohort_gets_its_own_journal() {
    let setup = Setup::new();
    let [host, _] = setup.run(proposals(|_| ())).map(Result::unwrap);
    let mut changed = proposals(|_| ());
    changed[1].cohort.entries[1].scanpath = second().alphabet.parse("CCC").unwrap();
    let [other, _] = setup.run(changed).map(Result::unwrap);
    assert_ne!(rows(&host), rows(&other));
    let journals = |folder: &Path| {
        let files = std::fs::read_dir(folder.join("journals")).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|it| it == "journal"))
            .count()
    };
    for folder in &setup.folders {
        assert_eq!(journals(folder.path()), 2);
    }
}

/// Cancelled before it starts.
struct Cancelled;

impl Observer for Cancelled {
    fn cancel_token(&self) -> veilpath_protocol::CancelToken {
        let token = veilpath_protocol::CancelToken::default();
        token.cancel();
        token
    }
}

/// The observer of a session cancels the computation of a `plain` host, not only its connection.
#[test]
fn an_observer_cancels_a_plain_host() {
    let plain = proposals(|proposal| proposal.spec.engine = Engine::Plain);
    let [host, join] = Setup::new().run_observed(plain, &Cancelled);
    let error = host.unwrap_err();
    assert!(
        matches!(error, SessionError::Protocol(ProtocolError::Cancelled)),
        "{error}"
    );
    assert!(join.is_err());
}
