//! Runs a job on its own thread, for front ends that must stay responsive.

use crate::{Error, Event, EventSink, PeerEvent, Progress, SessionEvent};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use veilpath_protocol::CancelToken;

/// A job that runs on its own thread. Its events wait in a queue for [`Job::next_event`]; only the latest progress is
/// kept. Dropping the `Job` cancels the job without waiting for its end.
pub struct Job<T> {
    events: Receiver<Event>,
    progress: Arc<Mutex<Option<Progress>>>,
    done: Receiver<Result<T, Error>>,
    result: Option<Result<T, Error>>,
    cancel: CancelToken,
    thread: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Job<T> {
    /// Starts a job and gives it the sink to report to.
    pub fn start(
        job: impl FnOnce(&dyn EventSink) -> Result<T, Error> + Send + 'static,
    ) -> std::io::Result<Self> {
        let (event_sender, events) = channel();
        let (done_sender, done) = channel();
        let cancel = CancelToken::default();
        let progress = Arc::default();
        let sink = JobSink {
            events: Mutex::new(event_sender),
            progress: Arc::clone(&progress),
            cancel: cancel.clone(),
        };
        let run = move || {
            let result = job(&sink);
            // The `Job` may have been dropped.
            let _ = done_sender.send(result);
        };
        let thread = std::thread::Builder::new().name("veilpath job".into());
        Ok(Self {
            events,
            progress,
            done,
            result: None,
            cancel,
            thread: Some(thread.spawn(run)?),
        })
    }

    /// The progress, once the job knows the total. With several peers, that of the last one to report.
    pub fn progress(&self) -> Option<Progress> {
        *lock(&self.progress)
    }

    /// The next event other than progress, if one arrives within `wait`. `None` does not mean that the job is done.
    pub fn next_event(&self, wait: Duration) -> Option<Event> {
        self.events.recv_timeout(wait).ok()
    }

    /// Whether the job has ended. Waits up to `wait`. A job that panicked counts as ended.
    pub fn is_done(&mut self, wait: Duration) -> bool {
        if self.result.is_none() && self.thread.is_some() {
            match self.done.recv_timeout(wait) {
                Ok(result) => self.result = Some(result),
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => {}
            }
        }
        true
    }

    /// The token that cancels the job, for use on another thread.
    pub fn cancel_token(&self) -> CancelToken {
        self.cancel.clone()
    }

    /// Requests that the job end soon.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Requests that the job end, and waits up to `wait` for it.
    pub fn stop(&mut self, wait: Duration) {
        self.cancel();
        self.is_done(wait);
    }

    /// Waits for the job to end and returns its result; `None` if it was already taken. Propagates a panic in the job.
    pub fn take(&mut self) -> Option<Result<T, Error>> {
        if self.result.is_none() {
            self.result = self.done.recv().ok();
        }
        if let Some(thread) = self.thread.take()
            && let Err(panic) = thread.join()
        {
            std::panic::resume_unwind(panic);
        }
        self.result.take()
    }
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// Forwards events to the owner of the job.
struct JobSink {
    events: Mutex<Sender<Event>>,
    progress: Arc<Mutex<Option<Progress>>>,
    cancel: CancelToken,
}

impl EventSink for JobSink {
    fn event(&self, event: Event) {
        match event {
            Event::Progress(progress)
            | Event::Session(SessionEvent::Peer {
                event: PeerEvent::Progress(progress),
                ..
            }) => *lock(&self.progress) = Some(progress),
            // The `Job` may have been dropped.
            event => drop(lock(&self.events).send(event)),
        }
    }

    fn cancel_token(&self) -> CancelToken {
        self.cancel.clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Note;

    #[test]
    fn a_job_reports_events_and_a_result() {
        let mut job = Job::start(|events| {
            events.event(Event::Note(Note::NoGroups));
            Ok(7)
        })
        .unwrap();
        assert!(matches!(
            job.next_event(Duration::from_secs(10)),
            Some(Event::Note(Note::NoGroups))
        ));
        assert!(job.is_done(Duration::from_secs(10)));
        assert_eq!(job.take().unwrap().unwrap(), 7);
        assert!(job.take().is_none());
    }

    #[test]
    fn a_cancelled_job_ends() {
        let mut job = Job::<()>::start(|events| {
            let cancel = events.cancel_token();
            while !cancel.is_cancelled() {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(Error::Cancelled)
        })
        .unwrap();
        assert!(!job.is_done(Duration::from_millis(20)));
        job.stop(Duration::from_secs(10));
        assert!(matches!(job.take(), Some(Err(Error::Cancelled))));
    }

    #[test]
    fn a_job_can_be_stopped_without_a_time_limit() {
        let mut job = Job::start(|_| Ok(7)).unwrap();
        job.stop(Duration::MAX);
        assert_eq!(job.take().unwrap().unwrap(), 7);
    }
}
