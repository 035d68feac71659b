//! Who works now and who waits, where a host has more peers than it works with at a time.
//!
//! A peer that has greeted takes a turn before anything is agreed on. SessionSlots are given in the order in which peers came, and a
//! peer that comes again stands at the end. While it waits it is told so, and how many are before it, as often as its
//! patience asks for: it can tell a busy host from a dead one, and its user can go home.

use crate::control::{self, Tag, Wait};
use crate::{Session, SessionError};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a host looks after a peer that waits.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// So many turns at a time.
#[derive(Clone, Debug)]
pub struct SessionSlots(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    free: usize,
    waiting: VecDeque<u64>,
    next: u64,
}

/// The right to work, until it is dropped.
#[derive(Debug)]
pub struct SessionSlot(Arc<Inner>);

/// A place in the queue, until it is dropped.
struct Waiter<'a> {
    number: u64,
    slots: &'a Arc<Inner>,
}

impl SessionSlots {
    /// At most so many at a time.
    pub fn new(most: usize) -> Self {
        Self(Arc::new(Inner {
            state: Mutex::new(State {
                free: most,
                waiting: VecDeque::new(),
                next: 0,
            }),
            changed: Condvar::new(),
        }))
    }

    fn waiter(&self) -> Waiter<'_> {
        let mut state = self.0.state();
        let number = state.next;
        state.next += 1;
        state.waiting.push_back(number);
        Waiter {
            number,
            slots: &self.0,
        }
    }
}

impl Inner {
    /// A thread that panicked would have left it as it was: every change is one step.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiter<'_> {
    /// The turn, where it comes within this time; else how many are before this ticket.
    fn wait(&self, longest: Duration) -> Result<SessionSlot, u64> {
        let deadline = Instant::now() + longest;
        let mut state = self.slots.state();
        loop {
            if state.free > 0 && state.waiting.front() == Some(&self.number) {
                state.free -= 1;
                // The ticket leaves the queue when it is dropped, and the next looks again then.
                return Ok(SessionSlot(Arc::clone(self.slots)));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let ahead = state.waiting.iter().take_while(|it| **it != self.number);
                return Err(ahead.count() as u64 + u64::from(state.free == 0));
            }
            let waited = self.slots.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let mut state = self.slots.state();
        state.waiting.retain(|number| *number != self.number);
        drop(state);
        self.slots.changed.notify_all();
    }
}

impl Drop for SessionSlot {
    fn drop(&mut self) {
        self.0.state().free += 1;
        self.0.changed.notify_all();
    }
}

impl Session {
    /// Waits, as a host, until it is this peer's turn, and keeps the peer informed. `told` hears once that it has to wait, and
    /// how many are before it. Fails when the peer leaves.
    pub fn acquire_slot(
        &mut self,
        slots: &SessionSlots,
        told: &mut dyn FnMut(u64),
    ) -> Result<SessionSlot, SessionError> {
        let waiter = slots.waiter();
        let mut ahead = match waiter.wait(Duration::ZERO) {
            Ok(turn) => return Ok(turn),
            Err(ahead) => ahead,
        };
        told(ahead);
        loop {
            control::send(&mut self.channel, Tag::Wait, &Wait { ahead })
                .map_err(|error| self.explain(error))?;
            let next = Instant::now() + self.keep_alive;
            while Instant::now() < next {
                match waiter.wait(POLL_INTERVAL.min(self.keep_alive)) {
                    Ok(turn) => return Ok(turn),
                    Err(_) if self.connection.is_over() => {
                        return Err(SessionError::Network(
                            "the other side left while it waited for its turn".into(),
                        ));
                    }
                    Err(now) => ahead = now,
                }
            }
        }
    }

    /// Calls this, on the joining side, whenever the host says that it works with others first, with the number of those.
    pub fn on_wait(&mut self, call: impl FnMut(u64) + Send + 'static) {
        self.wait_callback = WaitCallback(Box::new(call));
    }
}

/// What the joining side does when the host works with others first.
pub(crate) struct WaitCallback(pub(crate) Box<dyn FnMut(u64) + Send>);

impl Default for WaitCallback {
    fn default() -> Self {
        Self(Box::new(|_| ()))
    }
}

impl fmt::Debug for WaitCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WaitCallback")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_given_in_order_and_come_back() {
        let slots = SessionSlots::new(2);
        let waiters = [(); 4].map(|()| slots.waiter());
        let [first, second, third, fourth] = waiters;
        let now = Duration::ZERO;
        // Not before those who came before.
        assert_eq!(second.wait(now).unwrap_err(), 1);
        let one = first.wait(now).unwrap();
        drop(first);
        let two = second.wait(now).unwrap();
        drop(second);
        assert_eq!(third.wait(now).unwrap_err(), 1);
        assert_eq!(fourth.wait(now).unwrap_err(), 2);
        drop(one);
        assert_eq!(fourth.wait(now).unwrap_err(), 1);
        // Whoever leaves the queue is before nobody.
        drop(third);
        let _fourth = fourth.wait(now).unwrap();
        drop(fourth);
        let last = slots.waiter();
        assert!(last.wait(now).is_err());
        std::thread::scope(|scope| {
            scope.spawn(|| last.wait(Duration::from_secs(10)).unwrap());
            drop(two);
        });
    }
}
