//! Cancelled jobs end soon with the right error.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use std::time::{Duration, Instant};
use veilpath::encode::{EncodeOptions, Source, encode};
use veilpath::synth::{RandomOptions, random};
use veilpath::{
    CompareOptions, Engine, Error, Event, Identity, Job, LocalCohort, MetricOptions, PlanOptions,
    RawCohort, SessionEvent, SessionOptions, StateDir, cohort_in_memory, compare, host, join, plan,
};

/// Longer than anything here takes to notice, and far shorter than the jobs.
const SOON: Duration = Duration::from_secs(20);

fn cohort(count: usize) -> RawCohort {
    let options = RandomOptions {
        count,
        lengths: vec![400..=400],
        seed: Some(1),
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

fn comparison(engine: Engine, count: usize) -> Job<veilpath::Outcome> {
    let file = cohort(count);
    Job::start(move |events| {
        let options = PlanOptions::new(engine, MetricOptions::default());
        let planned = plan([&file, &file], &options, events)?;
        compare(&planned, CompareOptions::default(), events)
    })
    .unwrap()
}

#[test]
fn comparisons_are_cancelled() {
    for (engine, count) in [(Engine::Plain, 4000), (Engine::Garbled, 300)] {
        let job = comparison(engine, count);
        cancelled(job, |job| job.progress().is_some_and(|it| it.done > 0));
    }
}

#[test]
fn sessions_are_cancelled_while_they_wait() {
    let folder = tempfile::tempdir().unwrap();
    let peer = Identity::ephemeral().unwrap().fingerprint();
    let session = |hosts: bool| {
        let plan = PlanOptions::new(Engine::Plain, MetricOptions::default());
        let local = LocalCohort::new(cohort(1), plan).unwrap();
        let (identity, state_dir) = (Identity::ephemeral().unwrap(), StateDir::at(folder.path()));
        let mut options = SessionOptions::new(local, identity, state_dir);
        options.wait = Duration::from_secs(600);
        Job::start(move |events| match hosts {
            true => host("127.0.0.1:0", peer, &options, events),
            // Nobody listens on the port for discarded bytes.
            false => join("127.0.0.1:9", peer, &options, events),
        })
        .unwrap()
    };
    for hosts in [true, false] {
        cancelled(session(hosts), |job| {
            let event = job.next_event(Duration::from_secs(5));
            matches!(
                event,
                Some(Event::Session(
                    SessionEvent::Listening { .. } | SessionEvent::Connecting { .. }
                ))
            )
        });
    }
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
