//! A job on its own thread, for front ends that must stay responsive.

use crate::{Error, Event, EventSink, PeerEvent, Progress, SessionEvent};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use veilpath_protocol::CancelToken;

/// A job that runs on its own thread. Its events are queued until they are taken; of its progress only the last
/// state is kept. Dropping it cancels the job, and does not wait for it.
pub struct Job<T> {
    events: Receiver<Event>,
    progress: Arc<Mutex<Option<Progress>>>,
    done: Receiver<Result<T, Error>>,
    result: Option<Result<T, Error>>,
    cancel: CancelToken,
    thread: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Job<T> {
    /// Starts a job, which reports to the sink that it is given.
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
            // The job may have been dropped.
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

    /// How much is done, once the job knows how much there is to do.
    pub fn progress(&self) -> Option<Progress> {
        *guard(&self.progress)
    }

    /// The next event other than progress, if one arrives in time. `None` does not mean that the job is done.
    pub fn next_event(&self, wait: Duration) -> Option<Event> {
        self.events.recv_timeout(wait).ok()
    }

    /// Whether the job has ended; waits for it for up to `wait`. A job that panicked has ended, too.
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

    /// The token that cancels the job, for another thread.
    pub fn cancel_token(&self) -> CancelToken {
        self.cancel.clone()
    }

    /// Asks the job to end soon.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Asks the job to end, and waits for up to `wait` until it has.
    pub fn stop(&mut self, wait: Duration) {
        self.cancel();
        let end = Instant::now() + wait;
        while !self.is_done(end.saturating_duration_since(Instant::now())) && Instant::now() < end {
        }
    }

    /// Waits for the end of the job. A panic of the job is propagated. `None` if the result was taken already.
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
            }) => *guard(&self.progress) = Some(progress),
            // The job may have been dropped.
            event => drop(guard(&self.events).send(event)),
        }
    }

    fn cancel_token(&self) -> CancelToken {
        self.cancel.clone()
    }
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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
}
