//! What an honest-but-curious Alice could write down, for measuring what it tells her.
//!
//! Only [`watch_key_holder`] makes a record, and it runs both sides in one process, over memory, for an audit on made-up
//! scanpaths. The engine as institutions run it has no way to ask for one.

use super::order::Cell;
use super::{PaillierOptions, key_holder, matrix_owner};
use crate::{Engine, Job, ProtocolError, Role, Spec, memory_pair};
use crypto_bigint::BoxedUint;
use std::sync::{Arc, Mutex, PoisonError};
use veilpath_metrics::{Reading, Scanpath};
use veilpath_paillier::SecretKey;

/// All that Alice sees of a run, and beside it the truth that she does not see.
#[derive(Default)]
pub struct Watched {
    /// Her view, message by message.
    pub messages: Vec<SeenMessage>,
    /// The truth about each candidate set, in the order in which they travel: the pair (an index into the agreed list) and
    /// the cell; no cell where a set belongs to a round of a local alignment.
    pub order: Vec<(usize, Option<(u32, u32)>)>,
    /// Her encrypted substitution costs, as she sent them, row by row.
    pub substitutions: Vec<u8>,
    /// The results.
    pub readings: Vec<Reading>,
}

/// One question of Bob's, opened.
pub struct SeenMessage {
    /// What each candidate set looks like to her: its slots in the order in which they came.
    pub sets: Vec<Vec<BoxedUint>>,
    /// The ciphertexts as they came.
    pub ciphertexts: Vec<u8>,
    /// How the masks look where they are those of the hardened variant; its slots are the differences, then the padded
    /// candidates.
    pub hardened: Option<HardenedMasks>,
}

/// Public numbers of the hardened variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HardenedMasks {
    /// Multipliers are at least two to this power.
    pub floor_bits: u32,
    /// Multipliers are below two to this power.
    pub factor_bits: u32,
    /// Two to this power is added to a difference.
    pub bias_bits: u32,
}

/// Where the two sides write while they run.
#[derive(Default)]
pub(super) struct Watch {
    messages: Mutex<Vec<SeenMessage>>,
    substitutions: Mutex<Vec<u8>>,
    order: Mutex<Vec<(usize, Option<Cell>)>>,
}

impl Watch {
    pub(super) fn message(&self, message: SeenMessage) {
        push(&self.messages, message);
    }

    pub(super) fn substitutions(&self, bytes: &[u8]) {
        let mut all = self
            .substitutions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.extend_from_slice(bytes);
    }

    pub(super) fn target(&self, pair: usize, cell: Option<Cell>) {
        push(&self.order, (pair, cell));
    }
}

fn push<T>(list: &Mutex<Vec<T>>, item: T) {
    list.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(item);
}

/// Runs both sides of the engine `paillier` in memory, all pairs in this order, with Alice's key, and keeps what she
/// decrypts.
pub fn watch_key_holder(
    spec: &Spec,
    hers: &[&Scanpath],
    his: &[&Scanpath],
    pairs: &[(usize, usize)],
    key: &Arc<SecretKey>,
) -> Result<Watched, ProtocolError> {
    let Engine::Paillier(options) = spec.engine else {
        return Err(ProtocolError::Job("only the engine paillier has masks"));
    };
    let host = Job::new(spec, Role::Host, hers, his.len(), pairs)?.with_key(Arc::clone(key));
    let join = Job::new(spec, Role::Join, his, hers.len(), pairs)?;
    let watch = Watch::default();
    let readings = both(&host, &join, options, &watch)?;
    Ok(Watched {
        messages: inner(watch.messages),
        order: inner(watch.order),
        substitutions: inner(watch.substitutions),
        readings,
    })
}

fn both(
    host: &Job<'_>,
    join: &Job<'_>,
    options: PaillierOptions,
    watch: &Watch,
) -> Result<Vec<Reading>, ProtocolError> {
    let (mut host_end, mut join_end) = memory_pair();
    std::thread::scope(|scope| {
        let bob = scope.spawn(move || {
            let mut rng = veilpath_paillier::system_rng()?;
            matrix_owner::join_watched(join, options, &mut join_end, &(), &mut rng, Some(watch))
        });
        let readings = key_holder::host_watched(host, options, &mut host_end, &(), Some(watch));
        drop(host_end);
        let his = match bob.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let readings = readings?;
        if his? != readings {
            return Err(ProtocolError::Internal("the two roles differ"));
        }
        Ok(readings)
    })
}

fn inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
