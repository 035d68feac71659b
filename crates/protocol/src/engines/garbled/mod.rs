//! Garbled circuits.

mod evaluator;
mod garbler;
mod line;
mod plan;
mod scoring;

pub(crate) use evaluator::join;
pub(crate) use garbler::host;

use crate::{Estimate, RevealTo, Revealed, Role, Work};
use scoring::Scoring;
use veilpath_metrics::Comparison;

/// What each side learns, for the users.
pub(crate) fn revealed(to: RevealTo) -> Vec<Revealed> {
    let learned = |to: &str, what: &str| Revealed {
        to: to.to_string(),
        what: what.to_string(),
    };
    let mut all = Vec::new();
    for (role, name, other) in [
        (Role::Host, "host", "the joining side"),
        (Role::Join, "join", "the host"),
    ] {
        all.push(learned(
            name,
            &format!("the length of every scanpath of {other}"),
        ));
        if to.includes(role) {
            all.push(learned(name, "the score of every pair"));
        }
    }
    all.push(learned(
        "both",
        "no more, if both follow the protocol and AES, SHA-256 and Curve25519 are as strong as believed",
    ));
    all
}

/// Bytes of the base transfers and their seed trees, each way.
const START_BYTES: u64 = 8 << 10;

/// Tables that two cores make, encrypt, carry and use up in a second, in AND gates.
const GATES_PER_SECOND: f64 = 18e6;

/// What a job will cost, by the formula at the top.
#[allow(clippy::cast_precision_loss)] // an estimate
pub(crate) fn estimate(comparison: &Comparison, work: &Work) -> Estimate {
    let scoring = Scoring::new(comparison.model(), comparison.alphabet().size());
    let mean = |letters: u64, scanpaths: u64| letters.div_ceil(scanpaths.max(1));
    let shorter = mean(work.host_letters, work.host_scanpaths)
        .min(mean(work.join_letters, work.join_scanpaths));
    let circuit = scoring.circuit(u32::try_from(shorter).unwrap_or(u32::MAX));
    let gates = work.cells.saturating_mul(circuit.and_gates());
    let wires = work.cells.saturating_mul(circuit.input_wires());
    let letters = scoring.letters() as u64;
    let bits_per_letter = u64::from(u64::BITS - letters.saturating_sub(1).leading_zeros());
    Estimate {
        bytes_to_host: START_BYTES + 4 * (wires + work.join_letters * bits_per_letter),
        bytes_to_join: START_BYTES + 32 * gates + wires.saturating_mul(letters) / 8,
        rounds: 4 + (gates >> 20),
        seconds: gates as f64 / GATES_PER_SECOND,
    }
}
