//! Records what a semi-honest key holder sees, to measure what it learns (feature `watch`).
//!
//! [`watch_key_holder`] runs both sides in one process, over a channel in memory, for audits on synthetic scanpaths. No release
//! build has this feature, and the engine has no other way to record.

use super::hardened::HardenedParameters;
use super::matrix_owner::Limits;
use super::order::CellPosition;
use super::run_parameters::RunParameters;
use super::tap::Tap;
use super::{PaillierOptions, key_holder, matrix_owner};
use crate::{Engine, Job, JobError, Misbehaviour, ProtocolError, Role, Spec};
use crypto_bigint::BoxedUint;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use veilpath_channel::memory_pair;
use veilpath_metrics::{PairScore, Scanpath};
use veilpath_paillier::SecretKey;
use zeroize::Zeroizing;

/// Everything that the key holder sees in a run, and the ground truth that it does not see.
#[derive(Default)]
pub struct Watched {
    /// The key holder's view, message by message.
    pub messages: Vec<SeenMessage>,
    /// The ground truth about each candidate set, in the order of sending: the pair (an index into the agreed list) and the
    /// matrix cell; `None` if the set belongs to a round of a local alignment.
    pub order: Vec<(usize, Option<(u32, u32)>)>,
    /// The encrypted substitution costs that the key holder sent, row by row.
    pub substitutions: Vec<u8>,
    /// The results.
    pub pair_scores: Vec<PairScore>,
}

/// One request of the matrix owner, decrypted.
pub struct SeenMessage {
    /// The key holder's view of each candidate set: its slots in the order received.
    pub sets: Vec<Vec<BoxedUint>>,
    /// The ciphertexts as received.
    pub ciphertexts: Vec<u8>,
    /// The ranges of the masks in the hardened variant; its slots are the differences, then the padded candidates.
    pub hardened: Option<HardenedMaskRanges>,
}

/// The public ranges of the hardened variant's masks, in bits. The masks themselves are secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HardenedMaskRanges {
    /// Multipliers are at least two to this power.
    pub floor_bits: u32,
    /// Multipliers are below two to this power.
    pub factor_bits: u32,
    /// Two to this power is added to a difference.
    pub bias_bits: u32,
}

/// Records what both sides send.
#[derive(Default)]
struct Recorder {
    messages: Mutex<Vec<SeenMessage>>,
    substitutions: Mutex<Vec<u8>>,
    order: Mutex<Vec<(usize, Option<CellPosition>)>>,
}

impl Tap for Recorder {
    fn request(
        &self,
        agreed: &RunParameters,
        key: &SecretKey,
        masked: &[u8],
        sets: usize,
    ) -> Result<(), ProtocolError> {
        if sets == 0 {
            return Ok(());
        }
        let layout = &agreed.layout;
        let bytes = layout.ciphertexts * agreed.key_size().ciphertext_bytes();
        let groups: Vec<&[u8]> = masked.chunks(bytes).collect();
        let (values, _) = key_holder::open_groups(agreed, key, &groups)?;
        let set = |set: &[Zeroizing<BoxedUint>]| set.iter().map(|v| (**v).clone()).collect();
        lock(&self.messages).push(SeenMessage {
            sets: values.chunks(layout.width()).take(sets).map(set).collect(),
            ciphertexts: masked.to_vec(),
            hardened: agreed
                .hardened
                .as_ref()
                .map(HardenedParameters::mask_ranges),
        });
        Ok(())
    }

    fn substitutions(&self, bytes: &[u8]) {
        lock(&self.substitutions).extend_from_slice(bytes);
    }

    fn target(&self, pair: usize, cell: Option<CellPosition>) {
        lock(&self.order).push((pair, cell));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs both sides of the `paillier` engine in memory with this key, all pairs in this order, and records what the key holder decrypts.
pub fn watch_key_holder(
    spec: &Spec,
    key_holder: &[&Scanpath],
    matrix_owner: &[&Scanpath],
    pairs: &[(usize, usize)],
    key: &Arc<SecretKey>,
) -> Result<Watched, ProtocolError> {
    watch_window(spec, key_holder, matrix_owner, pairs, key, None)
}

/// Like [`watch_key_holder`], with exactly this many comparisons in flight.
pub fn watch_window(
    spec: &Spec,
    key_holder: &[&Scanpath],
    matrix_owner: &[&Scanpath],
    pairs: &[(usize, usize)],
    key: &Arc<SecretKey>,
    in_flight: Option<usize>,
) -> Result<Watched, ProtocolError> {
    let Engine::Paillier(options) = spec.engine else {
        return Err(ProtocolError::Job(JobError::NoMasks));
    };
    let host = Job::new(spec, Role::Host, key_holder, matrix_owner.len(), pairs)?;
    let host = host.with_key(Arc::clone(key));
    let join = Job::new(spec, Role::Join, matrix_owner, key_holder.len(), pairs)?;
    let recorder = Recorder::default();
    let limits = Limits {
        in_flight,
        ..Limits::default()
    };
    let pair_scores = run_both(&host, &join, options, (&recorder, limits))?;
    Ok(Watched {
        messages: inner(recorder.messages),
        order: inner(recorder.order),
        substitutions: inner(recorder.substitutions),
        pair_scores,
    })
}

fn run_both(
    host: &Job<'_>,
    join: &Job<'_>,
    options: PaillierOptions,
    (tap, limits): (&dyn Tap, Limits),
) -> Result<Vec<PairScore>, ProtocolError> {
    let (mut host_end, mut join_end) = memory_pair();
    std::thread::scope(|scope| {
        let matrix_owner = scope.spawn(move || {
            let mut rng = veilpath_paillier::system_rng()?;
            let watch = (tap, limits);
            matrix_owner::join_tapped(join, options, &mut join_end, &(), &mut rng, watch)
        });
        let pair_scores = key_holder::host_tapped(host, options, &mut host_end, &(), tap);
        drop(host_end);
        let others = match matrix_owner.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let pair_scores = pair_scores?;
        if others? != pair_scores {
            return Err(Misbehaviour::ResultsDiffer.into());
        }
        Ok(pair_scores)
    })
}

fn inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
