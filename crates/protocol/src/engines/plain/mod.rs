//! The engine without protection: the reference for the others, and a fast tool for an institution that has both
//! cohorts.
//!
//! ```text
//! join                               host
//!  │── its scanpaths, in the clear ──▶│
//!  │                                  │ computes some pairs
//!  │◀───── their answers ─────────────│ … until all are done
//! ```
//!
//! - The host learns everything. The joining side learns the answers, which are scores or, with a threshold, bits. If
//!   the answers are for the host only, the host does not send them. If they are for the joining side only, or if only bits
//!   are revealed, the host does not report what it knows, although it could.
//! - Assumption: one party may see both cohorts.
//! - Cost: two bytes per letter in one direction, 9 bytes per number or one per bit in the other; one round.

mod messages;

use crate::estimate::JobCosts;
use crate::{
    Answer, Job, Observer, ProtocolError, Reveal, RevealTo, Revealed, Role, Spec, Workload,
};
use messages::{receive_answers, receive_scanpaths, send_answers, send_scanpaths};
use veilpath_channel::Channel;
use veilpath_metrics::{Comparison, Scanpath};

/// The number of pairs to compute before revealing their answers: few enough that an interruption costs little, many
/// enough to keep all cores busy.
const PAIRS_AT_A_TIME: usize = 2048;

/// Seconds per cell: a pessimistic constant. Unlike those of the other engines, it was not measured on the reference machine,
/// although [`Link::speed`](crate::Link::speed) scales it, too.
const SECONDS_PER_CELL: f64 = 2e-9;

/// Receives the other side's scanpaths, compares them, and sends the answers.
pub(crate) fn host(
    job: &Job<'_>,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
) -> Result<Vec<Answer>, ProtocolError> {
    let theirs = receive_scanpaths(channel, job)?;
    start_all(job)?;
    let theirs: Vec<&Scanpath> = theirs.iter().collect();
    let mut learned = Vec::new();
    let cancel = observer.cancel_token();
    for (chunk, pairs) in job.pairs.chunks(PAIRS_AT_A_TIME).enumerate() {
        if cancel.is_cancelled() {
            return Err(ProtocolError::Cancelled);
        }
        let pair_scores = job
            .comparison
            .compare_pairs(job.own, &theirs, pairs, &|cells| observer.cells(cells))?;
        let answers: Vec<Answer> = pair_scores
            .into_iter()
            .map(|pair_score| job.answer(pair_score))
            .collect();
        if job.reveal_to.includes(Role::Join) {
            send_answers(channel, &answers)?;
        }
        if job.reveal_to.includes(Role::Host) {
            for (index, answer) in answers.iter().enumerate() {
                observer.scored(chunk * PAIRS_AT_A_TIME + index, *answer);
            }
            learned.extend(answers);
        }
    }
    Ok(learned)
}

/// Sends its scanpaths and receives the answers.
pub(crate) fn join(
    job: &Job<'_>,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
) -> Result<Vec<Answer>, ProtocolError> {
    start_all(job)?;
    send_scanpaths(channel, job.own)?;
    if !job.reveal_to.includes(Role::Join) {
        return Ok(Vec::new());
    }
    receive_answers(channel, job, observer)
}

/// Starts all pairs at once, because the joining side sends all of its scanpaths.
fn start_all(job: &Job<'_>) -> Result<(), ProtocolError> {
    let all: Vec<usize> = (0..job.pairs.len()).collect();
    Ok(job.store.start(&all)?)
}

pub(crate) fn revealed(spec: &Spec) -> Vec<Revealed> {
    let learned = |to: RevealTo, what: &str| Revealed {
        to,
        what: what.to_string(),
    };
    let mut all = vec![learned(
        RevealTo::Host,
        "every scanpath of the joining side: this engine does not protect anything",
    )];
    if matches!(spec.reveal, Reveal::Threshold(_)) {
        let what = "and therefore every score, although only bits are reported";
        all.push(learned(RevealTo::Host, what));
    }
    for role in [Role::Host, Role::Join] {
        if spec.reveal_to.includes(role) {
            all.push(learned(role.into(), &spec.reveal.describe(&spec.metric)));
        }
    }
    all
}

/// The estimated costs of a job.
#[allow(clippy::cast_precision_loss)] // an estimate
pub(crate) fn costs(comparison: &Comparison, work: &Workload) -> JobCosts {
    let numbers = comparison.metric().measures().len() as u64;
    JobCosts {
        bytes_to_host: 8 * work.join_scanpaths + 2 * work.join_letters,
        bytes_to_join: messages::answer_bytes(work.reveal, numbers) * work.pairs,
        waits: 1,
        computing: work.cells as f64 * SECONDS_PER_CELL,
        ..JobCosts::default()
    }
}
