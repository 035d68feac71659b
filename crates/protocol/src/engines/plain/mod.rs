//! The engine without protection: the oracle of the others, and a fast tool for one institution with both cohorts.
//!
//! ```text
//! join                               host
//!  │── its scanpaths, in the clear ──▶│
//!  │                                  │ computes some pairs
//!  │◀───── their scores ──────────────│ … until all are done
//! ```
//!
//! - Learned by the host: everything. Learned by the joining side: the scores. Where they are to be revealed to the host
//!   alone, it does not send them; where to the joining side alone, the host does not report them, though it could.
//! - Assumption: both cohorts may be seen by one party.
//! - Cost: two bytes per letter one way, 17 bytes per pair the other; one round.

mod messages;

use crate::{Channel, Estimate, Job, Observer, ProtocolError, RevealTo, Revealed, Role, Work};
use messages::{receive_readings, receive_scanpaths, send_readings, send_scanpaths};
use veilpath_metrics::{Reading, Scanpath};

/// Pairs that are computed before their scores are told: few enough that a cut line costs little, many enough to keep
/// all cores busy.
const PAIRS_AT_A_TIME: usize = 2048;

/// Seconds per cell that any machine of the last ten years can hold; most are faster.
const SECONDS_PER_CELL: f64 = 2e-9;

/// Receives the other side's scanpaths, compares, and sends the scores.
pub(crate) fn host(
    job: &Job<'_>,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
) -> Result<Vec<Reading>, ProtocolError> {
    let theirs = receive_scanpaths(channel, job)?;
    let theirs: Vec<&Scanpath> = theirs.iter().collect();
    let mut known = Vec::new();
    for (chunk, pairs) in job.pairs.chunks(PAIRS_AT_A_TIME).enumerate() {
        let readings = job
            .comparison
            .compare_pairs(job.own, &theirs, pairs, &|cells| observer.cells(cells))?;
        if job.reveal_to.includes(Role::Join) {
            send_readings(channel, &readings)?;
        }
        if job.reveal_to.includes(Role::Host) {
            for (index, reading) in readings.iter().enumerate() {
                observer.scored(chunk * PAIRS_AT_A_TIME + index, *reading);
            }
            known.extend(readings);
        }
    }
    Ok(known)
}

/// Sends its scanpaths and receives the scores.
pub(crate) fn join(
    job: &Job<'_>,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
) -> Result<Vec<Reading>, ProtocolError> {
    send_scanpaths(channel, job.own)?;
    if !job.reveal_to.includes(Role::Join) {
        return Ok(Vec::new());
    }
    receive_readings(channel, job.pairs.len(), observer)
}

pub(crate) fn revealed(to: RevealTo) -> Vec<Revealed> {
    let learned = |to: &str, what: &str| Revealed {
        to: to.to_string(),
        what: what.to_string(),
    };
    let mut all = vec![learned(
        "host",
        "every scanpath of the joining side: this engine does not protect anything",
    )];
    for (role, name) in [(Role::Host, "host"), (Role::Join, "join")] {
        if to.includes(role) {
            all.push(learned(name, "the score of every pair"));
        }
    }
    all
}

#[allow(clippy::cast_precision_loss)] // an estimate
pub(crate) fn estimate(work: &Work) -> Estimate {
    Estimate {
        bytes_to_host: 8 * work.join_scanpaths + 2 * work.join_letters,
        bytes_to_join: 17 * work.pairs,
        rounds: 1,
        seconds: work.cells as f64 * SECONDS_PER_CELL,
    }
}
