#![allow(clippy::unwrap_used, clippy::panic)] // a test's helpers may fail the test

use super::*;
use crate::{Server, ServerOptions};
use std::sync::mpsc::channel;
use veilpath::{
    Engine, Fingerprint, Identity, Input, LocalCohort, MetricOptions, PlanOptions, ScanpathLimit,
    SessionOptions, StateDir, read_cohort_from,
};

const OWN: &str = "participant,scanpath\np1,ABCD\np2,AAB\n";
const THEIRS: &str = "participant,scanpath\nq1,ABCE\n";
const OTHERS: &str = "participant,scanpath\nq1,ECBA\n";

fn session(phase: Phase) -> SessionState {
    SessionState {
        phase,
        approved: Some(ShownPlan {
            agreement: "1".into(),
            groups: None,
        }),
        ..SessionState::default()
    }
}

#[test]
fn a_changed_plan_needs_a_new_approval() {
    let mut paused = session(Phase::Failed);
    paused.needs_approval();
    assert_eq!(paused.approved, None);
    assert_eq!(paused.phase, Phase::Idle);
    let mut finished = session(Phase::Finished);
    finished.needs_approval();
    assert_eq!(finished.phase, Phase::Idle, "of other recordings");
    let mut running = session(Phase::Computing);
    running.control = Some(SessionControl::default());
    running.needs_approval();
    assert!(running.is_outdated);
    assert_eq!(running.phase, Phase::Computing, "it goes on as approved");
}

/// An institution with a state folder of its own.
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

    fn options(&self, cohort: &str, control: SessionControl) -> SessionOptions {
        let input = Input::from_bytes("cohort", cohort.as_bytes().to_vec()).unwrap();
        let plan = PlanOptions::new(Engine::Garbled, MetricOptions::default());
        let cohort = LocalCohort::new(read_cohort_from(input).unwrap(), plan).unwrap();
        let state_dir = StateDir::at(self.folder.path());
        SessionOptions {
            control,
            limit_per_scanpath: ScanpathLimit::Unlimited,
            ..SessionOptions::new(cohort, self.identity.clone(), state_dir)
        }
    }
}

/// The page of a host, and its partner.
struct Pages {
    app: Arc<App>,
    host: Party,
    partner: Party,
}

impl Pages {
    /// Runs a session like the page does. Once both sides have agreed, calls `agreed` with the host's phase.
    /// The partner needs no approval, or hangs up instead of starting.
    fn run(
        &self,
        cohort: &str,
        resume: bool,
        hangs_up: bool,
        agreed: impl Fn(Phase) + Send + Sync,
    ) {
        let approved = lock(&self.app.workspace).session.approved.clone();
        let approved = approved.filter(|_| resume);
        let (session, control) = SessionState::connecting("127.0.0.1:0", approved);
        lock(&self.app.workspace).session = session;
        let theirs = match hangs_up {
            true => SessionControl::with_approval(),
            false => SessionControl::default(),
        };
        let (sender, address) = channel();
        std::thread::scope(|scope| {
            let theirs = &theirs;
            let hosting = scope.spawn(move || {
                let options = self.host.options(OWN, control);
                let events = |event: Event| {
                    let listening = match &event {
                        Event::Session(SessionEvent::Listening { address, .. }) => Some(*address),
                        _ => None,
                    };
                    let is_agreed = matches!(
                        event,
                        Event::Session(SessionEvent::Peer {
                            event: PeerEvent::Agreed(_),
                            ..
                        })
                    );
                    self.app.session_event(event);
                    if let Some(address) = listening {
                        sender.send(address.to_string()).unwrap();
                    }
                    if is_agreed {
                        let phase = lock(&self.app.workspace).session.phase;
                        agreed(phase);
                        if hangs_up {
                            theirs.stop();
                        }
                    }
                };
                let peer = self.partner.fingerprint();
                let result = veilpath::host("127.0.0.1:0", peer, &options, &events);
                self.app.session_ended(result, 1, None);
            });
            let options = self.partner.options(cohort, theirs.clone());
            let address = address.recv().unwrap();
            let _ = veilpath::join(&address, self.host.fingerprint(), &options, &());
            hosting.join().unwrap();
        });
    }

    /// Presses *Start* for what the page shows.
    fn start(&self) -> Result<(), Problem> {
        let shown = lock(&self.app.workspace).session.shown.clone().unwrap();
        self.start_of(&shown.agreement)
    }

    fn start_of(&self, agreement: &str) -> Result<(), Problem> {
        let agreement = agreement.to_string();
        self.app.approve(&StartForm { agreement })
    }

    fn phase(&self) -> Phase {
        lock(&self.app.workspace).session.phase
    }
}

/// The partner hangs up after *Start*, and returns with other scanpaths.
#[test]
fn a_resumed_session_computes_only_what_was_approved() {
    let pages = Pages {
        app: Server::bind(ServerOptions::default()).unwrap().app,
        host: Party::new(),
        partner: Party::new(),
    };
    let can_resume = || lock(&pages.app.workspace).session.approved.is_some();
    let first = std::sync::Mutex::new(String::new());
    pages.run(THEIRS, false, true, |phase| {
        assert_eq!(phase, Phase::Agreed);
        assert!(pages.start_of("another").is_err());
        assert_eq!(pages.phase(), Phase::Agreed);
        pages.start().unwrap();
        assert!(pages.start().is_err(), "it has started");
        let shown = lock(&pages.app.workspace).session.shown.clone();
        *lock_text(&first) = shown.unwrap().agreement;
    });
    assert_eq!(pages.phase(), Phase::Failed);
    assert!(can_resume(), "{:?}", lock(&pages.app.workspace).session);
    pages.run(OTHERS, true, false, |phase| {
        assert_eq!(phase, Phase::Agreed, "it waits for Start");
        // A page that still shows the first plan.
        assert!(pages.start_of(&lock_text(&first)).is_err());
        let session = &lock(&pages.app.workspace).session;
        let note = session.notes.last().unwrap();
        assert!(note.contains("press Start"), "{note}");
        session.stop();
    });
    assert_eq!(pages.phase(), Phase::Failed);
    assert!(!can_resume(), "nobody has approved the other plan");
    // The same data are resumed without another approval.
    pages.run(THEIRS, false, true, |_| pages.start().unwrap());
    pages.run(THEIRS, true, false, |phase| {
        assert_eq!(phase, Phase::Approved)
    });
    let session = &lock(&pages.app.workspace).session;
    assert_eq!(session.phase, Phase::Finished, "{:?}", session.problem);
}

fn lock_text(text: &std::sync::Mutex<String>) -> std::sync::MutexGuard<'_, String> {
    text.lock().unwrap()
}
