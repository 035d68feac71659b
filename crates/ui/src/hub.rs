//! Sends events to all open pages, and decides when the server may stop.

use crate::IdleTimeouts;
use crate::workspace::Need;
use axum::response::sse::Event;
use futures_core::Stream;
use serde_json::Value;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The maximum number of events that wait for a page. A page that is further behind is disconnected.
const MAX_WAITING: usize = 256;

/// How often the server checks whether it may stop.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// The open pages.
#[derive(Debug)]
pub(crate) struct Hub {
    pages: Arc<Mutex<Pages>>,
    idle_timeouts: IdleTimeouts,
    quit: Notify,
}

#[derive(Debug)]
struct Pages {
    open: Vec<(u64, Sender<String>)>,
    next: u64,
    /// The time since which no page has been open.
    empty_since: Instant,
}

impl Hub {
    pub(crate) fn new(idle_timeouts: IdleTimeouts) -> Self {
        Self {
            pages: Arc::new(Mutex::new(Pages {
                open: Vec::new(),
                next: 0,
                empty_since: Instant::now(),
            })),
            idle_timeouts,
            quit: Notify::new(),
        }
    }

    /// Sends an event to all pages.
    pub(crate) fn send(&self, event: &Value) {
        let text = event.to_string();
        // A page that is too far behind would miss this event. When its stream ends, it connects again and reloads the
        // state.
        let mut pages = lock(&self.pages);
        let before = pages.open.len();
        pages
            .open
            .retain(|(_, page)| page.try_send(text.clone()).is_ok());
        if pages.open.len() < before {
            pages.empty_since = Instant::now();
        }
    }

    /// Subscribes another page to the events.
    pub(crate) fn subscribe(&self) -> Subscription {
        let (sender, events) = channel(MAX_WAITING);
        let mut pages = lock(&self.pages);
        let id = pages.next;
        pages.next += 1;
        pages.open.push((id, sender));
        Subscription {
            id,
            events,
            pages: Arc::clone(&self.pages),
        }
    }

    /// Stops the server at once.
    pub(crate) fn quit(&self) {
        self.quit.notify_one();
    }

    /// Waits until the user stops the server, or until no page is open and nothing is left to do.
    pub(crate) async fn wait_until_done(&self, need: impl Fn() -> Need) {
        loop {
            let wait = tokio::time::timeout(CHECK_INTERVAL, self.quit.notified());
            if wait.await.is_ok() || self.is_abandoned(need()) {
                return;
            }
        }
    }

    fn is_abandoned(&self, need: Need) -> bool {
        let pages = lock(&self.pages);
        let timeouts = &self.idle_timeouts;
        let timeout = match (need, pages.next) {
            (Need::Work, _) => return false,
            (_, 0) => timeouts.first,
            (Need::Files, _) => timeouts.with_files,
            (Need::Nothing, _) => timeouts.after,
        };
        pages.open.is_empty() && pages.empty_since.elapsed() > timeout
    }
}

/// The events for one page, until it is closed.
pub(crate) struct Subscription {
    id: u64,
    events: Receiver<String>,
    pages: Arc<Mutex<Pages>>,
}

impl Stream for Subscription {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.events.poll_recv(context);
        next.map(|event| event.map(|event| Ok(Event::default().data(event))))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut pages = lock(&self.pages);
        pages.open.retain(|(id, _)| *id != self.id);
        pages.empty_since = Instant::now();
    }
}

/// Poisoning is harmless: the list is changed in one step.
fn lock(pages: &Mutex<Pages>) -> std::sync::MutexGuard<'_, Pages> {
    pages.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A page that has missed an event must not wait for the next one to find out.
    #[test]
    fn a_page_that_is_too_far_behind_is_disconnected() {
        let hub = Hub::new(crate::ServerOptions::default().idle_timeouts);
        let mut behind = hub.subscribe();
        for _ in 0..=MAX_WAITING {
            hub.send(&json!({ "event": "changed" }));
        }
        let mut other = hub.subscribe();
        hub.send(&json!({ "event": "changed" }));
        let count =
            |page: &mut Subscription| std::iter::from_fn(|| page.events.try_recv().ok()).count();
        assert_eq!((count(&mut behind), count(&mut other)), (MAX_WAITING, 1));
        assert!(behind.events.is_closed() && !other.events.is_closed());
    }
}
