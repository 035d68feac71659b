//! A queue between two threads, bounded by bytes rather than by items.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Creates a queue. Sending blocks while it holds `limit` bytes or more.
pub fn byte_queue<T>(limit: usize) -> (QueueSender<T>, QueueReceiver<T>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            items: VecDeque::new(),
            bytes: 0,
            open: true,
        }),
        changed: Condvar::new(),
        limit,
    });
    (
        QueueSender(Arc::clone(&shared)),
        QueueReceiver(Arc::clone(&shared)),
    )
}

/// The sending end.
#[derive(Debug)]
pub struct QueueSender<T>(Arc<Shared<T>>);

/// The receiving end.
#[derive(Debug)]
pub struct QueueReceiver<T>(Arc<Shared<T>>);

/// The other end was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disconnected;

/// Why nothing was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveError {
    /// The other end was dropped, and the queue is empty.
    Disconnected,
    /// The timeout expired.
    TimedOut,
}

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    limit: usize,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<(T, usize)>,
    bytes: usize,
    open: bool,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        self.lock().open = false;
        self.changed.notify_all();
    }
}

impl<T> QueueSender<T> {
    /// Appends an item of this many bytes.
    pub fn send(&self, item: T, bytes: usize) -> Result<(), Disconnected> {
        self.send_or_merge(item, bytes, |_, item| Some(item))
    }

    /// Appends an item of this many bytes, or merges it into the last one, which saves the overhead of many small
    /// items. `merge` gets the last item and this one, and returns this one if it must be appended.
    pub fn send_or_merge(
        &self,
        item: T,
        bytes: usize,
        merge: impl FnOnce(&mut T, T) -> Option<T>,
    ) -> Result<(), Disconnected> {
        let mut state = self.0.lock();
        while state.open && state.bytes >= self.0.limit {
            state = self
                .0
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if !state.open {
            return Err(Disconnected);
        }
        let rest = match state.items.back_mut() {
            Some((last, last_bytes)) => {
                let rest = merge(last, item);
                if rest.is_none() {
                    *last_bytes += bytes;
                }
                rest
            }
            None => Some(item),
        };
        if let Some(item) = rest {
            state.items.push_back((item, bytes));
        }
        state.bytes += bytes;
        drop(state);
        self.0.changed.notify_all();
        Ok(())
    }
}

impl<T> QueueReceiver<T> {
    /// Takes the next item. Waits at most `timeout`, or forever if there is none.
    pub fn receive(&self, timeout: Option<Duration>) -> Result<T, ReceiveError> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut state = self.0.lock();
        loop {
            if let Some((item, bytes)) = state.items.pop_front() {
                state.bytes -= bytes;
                drop(state);
                self.0.changed.notify_all();
                return Ok(item);
            }
            if !state.open {
                return Err(ReceiveError::Disconnected);
            }
            let changed = &self.0.changed;
            state = match deadline {
                None => changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(ReceiveError::TimedOut);
                    }
                    let waited = changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

impl<T> Drop for QueueSender<T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<T> Drop for QueueReceiver<T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_blocks_until_the_receiver_takes_an_item() {
        let (sender, receiver) = byte_queue(10);
        for number in 0..10 {
            sender.send(number, 1).unwrap();
        }
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| sender.send(10, 100));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!waiting.is_finished());
            for number in 0..=10 {
                assert_eq!(receiver.receive(None), Ok(number));
            }
            assert_eq!(waiting.join().unwrap(), Ok(()));
        });
        let short = Some(Duration::from_millis(1));
        assert_eq!(receiver.receive(short), Err(ReceiveError::TimedOut));
    }

    #[test]
    fn small_items_are_merged() {
        let (sender, receiver) = byte_queue(1 << 20);
        let merge = |last: &mut Vec<u8>, mut item: Vec<u8>| {
            if last.len() + item.len() > 3 {
                return Some(item);
            }
            last.append(&mut item);
            None
        };
        for byte in 0..5 {
            sender.send_or_merge(vec![byte], 1, merge).unwrap();
        }
        assert_eq!(receiver.receive(None), Ok(vec![0, 1, 2]));
        sender.send_or_merge(vec![5, 6], 2, merge).unwrap();
        assert_eq!(receiver.receive(None), Ok(vec![3, 4]));
        assert_eq!(receiver.receive(None), Ok(vec![5, 6]));
    }

    #[test]
    fn sent_bytes_arrive_after_the_sender_is_dropped() {
        let (sender, receiver) = byte_queue(10);
        sender.send("last", 4).unwrap();
        drop(sender);
        assert_eq!(receiver.receive(None), Ok("last"));
        assert_eq!(receiver.receive(None), Err(ReceiveError::Disconnected));
    }

    #[test]
    fn a_blocked_sender_fails_when_the_receiver_is_dropped() {
        let (sender, receiver) = byte_queue(1);
        sender.send((), 1).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| sender.send((), 1));
            std::thread::sleep(Duration::from_millis(20));
            drop(receiver);
            assert_eq!(waiting.join().unwrap(), Err(Disconnected));
        });
    }
}
