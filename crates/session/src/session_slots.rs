//! Slots for sessions, for a host with more peers than it serves at a time.
//!
//! A session acquires a slot before anything is agreed on. Slots are given first come, first served; a peer that reconnects goes
//! to the end of the queue. A waiting peer is told how many are ahead of it, as often as its idle timeout requires, so that it
//! can tell a busy host from a dead one.

use crate::control::{self, Tag, Wait};
use crate::error::NetworkError;
use crate::{Session, SessionError};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a waiting session checks whether its peer is still connected.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A fair semaphore for sessions. Clones share it.
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

/// Permission to run a session, until it is dropped.
#[derive(Debug)]
pub struct SessionSlot(Arc<Inner>);

/// A position in the queue, until it is dropped.
struct Waiter<'a> {
    number: u64,
    slots: &'a Arc<Inner>,
}

impl SessionSlots {
    /// Slots for this many sessions at a time.
    pub fn new(count: usize) -> Self {
        Self(Arc::new(Inner {
            state: Mutex::new(State {
                free: count,
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
    /// Poisoning is harmless: every change is one step.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiter<'_> {
    /// A slot, if one is free within this time; otherwise the number of sessions ahead.
    fn wait(&self, timeout: Duration) -> Result<SessionSlot, u64> {
        let deadline = Instant::now() + timeout;
        let mut state = self.slots.state();
        loop {
            if state.free > 0 && state.waiting.front() == Some(&self.number) {
                state.free -= 1;
                // The waiter leaves the queue when it is dropped, and wakes the next one.
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
    /// Waits for a slot, as a host, and keeps the peer informed. `on_queued` is called once if the peer has to wait, with the
    /// number of sessions ahead of it. Fails when the peer disconnects. From now on the deadline for its first messages does not apply.
    pub fn acquire_slot(
        &mut self,
        slots: &SessionSlots,
        on_queued: &mut dyn FnMut(u64),
    ) -> Result<SessionSlot, SessionError> {
        self.connection.clear_deadline();
        let waiter = slots.waiter();
        let mut ahead = match waiter.wait(Duration::ZERO) {
            Ok(slot) => return Ok(slot),
            Err(ahead) => ahead,
        };
        on_queued(ahead);
        loop {
            control::send(&mut self.channel, Tag::Wait, &Wait { ahead })
                .map_err(|error| self.explain(error))?;
            let next = Instant::now() + self.keep_alive;
            while Instant::now() < next {
                match waiter.wait(POLL_INTERVAL.min(self.keep_alive)) {
                    Ok(slot) => return Ok(slot),
                    Err(_) if self.connection.is_closed() => {
                        return Err(NetworkError::LeftQueue.into());
                    }
                    Err(now) => ahead = now,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_given_in_order_and_returned() {
        let slots = SessionSlots::new(2);
        let waiters = [(); 4].map(|()| slots.waiter());
        let [first, second, third, fourth] = waiters;
        let now = Duration::ZERO;
        // The first one comes first.
        assert_eq!(second.wait(now).unwrap_err(), 1);
        let one = first.wait(now).unwrap();
        drop(first);
        let two = second.wait(now).unwrap();
        drop(second);
        assert_eq!(third.wait(now).unwrap_err(), 1);
        assert_eq!(fourth.wait(now).unwrap_err(), 2);
        drop(one);
        assert_eq!(fourth.wait(now).unwrap_err(), 1);
        // A waiter that has left the queue is ahead of nobody.
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
