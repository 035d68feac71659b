//! Cancelled jobs end soon, with the right error.
#![allow(clippy::unwrap_used)] // test helpers may panic

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use veilpath::encode::{EncodeOptions, Source, encode};
use veilpath::synth::{RandomOptions, random};
use veilpath::{
    CancelToken, CompareOptions, Engine, Error, Event, EventSink, Identity, Job, LocalCohort,
    MetricOptions, Peer, PeerEvent, PlanOptions, RawCohort, RevealTo, SessionEvent, SessionOptions,
    StateDir, cohort_in_memory, compare, host, join, plan, serve,
};

/// Longer than any job here takes to notice, and far shorter than the jobs themselves.
const SOON: Duration = Duration::from_secs(20);

fn cohort(count: usize) -> RawCohort {
    cohort_of(count, 400, 1)
}

fn cohort_of(count: usize, length: usize, seed: u64) -> RawCohort {
    let options = RandomOptions {
        count,
        lengths: vec![length..=length],
        seed: Some(seed),
        ..RandomOptions::default()
    };
    cohort_in_memory("cohort", &random(&options).unwrap().cohort, None).unwrap()
}

/// Starts a job, cancels it once it runs, and checks how it ended.
fn cancelled<T: Send + 'static>(mut job: Job<T>, runs: impl Fn(&Job<T>) -> bool) {
    let start = Instant::now();
    while !runs(&job) {
        assert!(start.elapsed() < SOON && !job.is_done(Duration::from_millis(5)));
    }
    let start = Instant::now();
    job.cancel();
    assert!(matches!(job.take(), Some(Err(Error::Cancelled))));
    assert!(start.elapsed() < SOON);
}

fn comparison(engine: Engine, count: usize, reveal: &str) -> Job<veilpath::Outcome> {
    // A group answer is about two cohorts.
    let files = [1, 2].map(|seed| cohort_of(count, 400, seed));
    let reveal = reveal.parse().unwrap();
    Job::start(move |events| {
        let mut options = PlanOptions::new(engine, MetricOptions::default());
        options.reveal = reveal;
        let planned = plan([&files[0], &files[1]], &options, events)?;
        compare(&planned, CompareOptions::default(), events)
    })
    .unwrap()
}

#[test]
fn comparisons_are_cancelled() {
    for (engine, count) in [(Engine::Plain, 4000), (Engine::Garbled, 300)] {
        for reveal in ["score", "mean"] {
            let job = comparison(engine, count, reveal);
            cancelled(job, |job| job.progress().is_some_and(|it| it.done > 0));
        }
    }
}

#[test]
fn sessions_are_cancelled_while_they_wait() {
    let folder = tempfile::tempdir().unwrap();
    let peer = Identity::ephemeral().unwrap().fingerprint();
    let session = |hosts: bool| {
        let options = session_options(folder.path());
        Job::start(move |events| match hosts {
            true => host("127.0.0.1:0", peer, &options, events),
            // Nobody listens on the discard port.
            false => join("127.0.0.1:9", peer, &options, events),
        })
        .unwrap()
    };
    for hosts in [true, false] {
        cancelled(session(hosts), waits);
    }
}

/// Cancels its session as soon as a matrix cell is filled, and notes how many are.
struct CancelsEarly {
    cancel: CancelToken,
    cells: AtomicU64,
    address: Mutex<Sender<String>>,
}

impl EventSink for CancelsEarly {
    fn event(&self, event: Event) {
        match event {
            Event::Session(SessionEvent::Listening { address, .. }) => {
                let sender = self.address.lock().unwrap();
                sender.send(address.to_string()).unwrap();
            }
            Event::Session(SessionEvent::Peer {
                event: PeerEvent::Progress(progress),
                ..
            }) if progress.done > 0 => {
                self.cells.fetch_max(progress.done, Ordering::Relaxed);
                self.cancel.cancel();
            }
            _ => {}
        }
    }

    fn cancel_token(&self) -> CancelToken {
        self.cancel.clone()
    }
}

/// A `plain` host computes many pairs without using its connection, if only it gets the results.
#[test]
fn a_plain_host_is_cancelled_while_it_computes() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [hosting, joining] = folders.each_ref().map(|folder| {
        let mut plan = PlanOptions::new(Engine::Plain, MetricOptions::default());
        plan.reveal_to = RevealTo::Host;
        options_for(folder.path(), cohort_of(128, 5, 1), plan)
    });
    let peers = [&joining, &hosting].map(|it| it.identity.fingerprint());
    let (sender, address) = channel();
    let events = CancelsEarly {
        cancel: CancelToken::default(),
        cells: AtomicU64::new(0),
        address: Mutex::new(sender),
    };
    std::thread::scope(|scope| {
        let hosted = scope.spawn(|| host("127.0.0.1:0", peers[0], &hosting, &events));
        let address = address.recv().unwrap();
        assert!(join(&address, peers[1], &joining, &()).is_err());
        assert!(matches!(hosted.join().unwrap(), Err(Error::Cancelled)));
    });
    let (cells, total) = (events.cells.into_inner(), 128 * 128 * 25);
    assert!((1..total / 4).contains(&cells), "{cells} of {total}");
}

#[test]
fn a_host_of_several_peers_is_cancelled_while_it_waits() {
    let folder = tempfile::tempdir().unwrap();
    let peers = [(); 2].map(|()| Peer::unnamed(Identity::ephemeral().unwrap().fingerprint()));
    let options = session_options(folder.path());
    let job =
        Job::start(move |events| serve("127.0.0.1:0", &peers, 2, &options, events, &|_, _| Ok(())));
    cancelled(job.unwrap(), waits);
}

/// Options for a session that waits for ten minutes.
fn session_options(folder: &Path) -> SessionOptions {
    let plan = PlanOptions::new(Engine::Plain, MetricOptions::default());
    options_for(folder, cohort(1), plan)
}

fn options_for(folder: &Path, cohort: RawCohort, plan: PlanOptions) -> SessionOptions {
    let local = LocalCohort::new(cohort, plan).unwrap();
    let identity = Identity::ephemeral().unwrap();
    let mut options = SessionOptions::new(local, identity, StateDir::at(folder));
    options.wait = Duration::from_secs(600);
    options
}

/// Whether the next event of a session says that it waits for its peer.
fn waits<T: Send + 'static>(job: &Job<T>) -> bool {
    let event = job.next_event(Duration::from_secs(5));
    matches!(
        event,
        Some(Event::Session(
            SessionEvent::Listening { .. } | SessionEvent::Connecting { .. }
        ))
    )
}

#[test]
fn encoding_is_cancelled_before_it_starts() {
    let mut job = Job::start(|events| {
        events.cancel_token().cancel();
        encode(
            vec![Source::File("nothing.csv".into())],
            &EncodeOptions::default(),
            events,
        )
    })
    .unwrap();
    assert!(matches!(job.take(), Some(Err(Error::Cancelled))));
}
