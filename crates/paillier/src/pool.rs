//! Randomisers, prepared while the caller waits for the network or the peer.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::error::{Error, Result};
use crate::randomizer::{Randomizer, RandomizerSource};
use crate::rng::system_rng;

/// Randomisers that are made at a time: several batches of the wide kernel, which share each table while it is in the
/// cache.
const BATCH: usize = 32;

/// A stock of randomisers that a background thread keeps filled. The thread ends when the pool is dropped.
pub struct RandomizerPool {
    shared: Arc<Shared>,
    filler: Option<JoinHandle<()>>,
}

struct Shared {
    source: Arc<dyn RandomizerSource>,
    capacity: usize,
    state: Mutex<State>,
    refill: Condvar,
}

struct State {
    stock: Vec<Randomizer>,
    closed: bool,
}

impl RandomizerPool {
    /// Starts filling a pool of this many randomisers.
    pub fn start(source: Arc<dyn RandomizerSource>, capacity: usize) -> Result<Self> {
        let mut rng = system_rng()?;
        let state = Mutex::new(State {
            stock: Vec::new(),
            closed: false,
        });
        let shared = Arc::new(Shared {
            source,
            capacity,
            state,
            refill: Condvar::new(),
        });
        let worker = Arc::clone(&shared);
        let filler = std::thread::Builder::new()
            .name("randomizer-pool".into())
            .spawn(move || {
                while worker.wait_for_room() {
                    let batch = worker.source.draw(BATCH, &mut rng);
                    worker.lock().stock.extend(batch);
                }
            })
            .map_err(|_| Error::NoThread)?;
        Ok(Self {
            shared,
            filler: Some(filler),
        })
    }

    /// Takes `count` randomisers: those in stock, and the rest computed at once.
    pub fn take(&self, count: usize) -> Result<Vec<Randomizer>> {
        let mut taken = {
            let mut state = self.shared.lock();
            let left = state.stock.len().saturating_sub(count);
            state.stock.split_off(left)
        };
        self.shared.refill.notify_one();
        if taken.len() < count {
            taken.extend(
                self.shared
                    .source
                    .draw(count - taken.len(), &mut system_rng()?),
            );
        }
        Ok(taken)
    }

    /// Randomisers in stock.
    pub fn available(&self) -> usize {
        self.shared.lock().stock.len()
    }
}

impl Drop for RandomizerPool {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.refill.notify_one();
        if let Some(filler) = self.filler.take() {
            // A panic in the filler does not matter here, because the pool is being dropped.
            let _ = filler.join();
        }
    }
}

impl Shared {
    /// Waits until another batch is needed. Returns `false` when the pool is closed.
    fn wait_for_room(&self) -> bool {
        let mut state = self.lock();
        while !state.closed && state.stock.len() >= self.capacity {
            state = self
                .refill
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        !state.closed
    }

    /// The stock stays valid even if a thread panics with the lock: it is only extended and split.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
