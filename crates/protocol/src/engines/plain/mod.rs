//! The engine without protection: the oracle of the others, and a fast tool for one institution with both cohorts.
//!
//! ```text
//! join                               host
//!  │── its scanpaths, in the clear ──▶│
//!  │                                  │ computes every pair
//!  │◀───────── scores ────────────────│
//! ```
//!
//! - Learned by the host: everything. Learned by the joining side: the scores.
//! - Assumption: both cohorts may be seen by one party.
//! - Cost: two bytes per letter one way, 17 bytes per pair the other; one round.

mod messages;

use crate::{Channel, Job, Observer, ProtocolError, Revealed};
use messages::{receive_readings, receive_scanpaths, send_readings, send_scanpaths};
use veilpath_metrics::{Reading, Scanpath};

/// Receives the other side's scanpaths, compares, and sends the scores.
pub(crate) fn host(
    job: &Job<'_>,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
) -> Result<Vec<Reading>, ProtocolError> {
    let theirs = receive_scanpaths(channel, job.peer_count, job.comparison.alphabet())?;
    let theirs: Vec<&Scanpath> = theirs.iter().collect();
    let readings = job
        .comparison
        .compare_pairs(job.own, &theirs, job.pairs, &|cells| observer.cells(cells))?;
    for (pair, reading) in readings.iter().enumerate() {
        observer.scored(pair, *reading);
    }
    send_readings(channel, &readings)?;
    Ok(readings)
}

/// Sends its scanpaths and receives the scores.
pub(crate) fn join(
    job: &Job<'_>,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
) -> Result<Vec<Reading>, ProtocolError> {
    send_scanpaths(channel, job.own)?;
    receive_readings(channel, job.pairs.len(), observer)
}

pub(crate) fn revealed() -> Vec<Revealed> {
    let learned = |to: &str, what: &str| Revealed {
        to: to.to_string(),
        what: what.to_string(),
    };
    vec![
        learned(
            "host",
            "every scanpath of the joining side: this engine does not protect anything",
        ),
        learned("host", "the score of every pair"),
        learned("join", "the score of every pair"),
    ]
}
