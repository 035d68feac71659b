//! Garbled circuits, for every metric that [`Engine::can_compute`](crate::Engine::can_compute) allows.
//!
//! The host is the garbler, the joining side the evaluator. The evaluator's letters enter by oblivious transfer. The
//! cryptography is in the crate `veilpath-mpc`; this module decides what is computed, and in which pieces.
//!
//! ```text
//! evaluator.rs (join)                                          garbler.rs (host)
//!  │── lengths of its scanpaths (unless hidden), threads ────────▶│
//!  │◀──────── lengths of its scanpaths (unless hidden), threads ──│
//!  ╎ for some of the evaluator's scanpaths at a time (a stage):   ╎
//!  │◀──────────────────────── base transfers ────────────────────▶│ 128, and seed trees, for a new offset
//!  │── transfers for the bits of their letters ──────────────────▶│ keys, for all comparisons with them
//!  ╎ for some pairs at a time (a portion), on several threads:    ╎
//!  │◀────────── columns of substitution costs, masked ────────────│ the look-up: no gates
//!  │── transfers for its shares of the costs ────────────────────▶│
//!  │◀───────────────────── tables of cells ───────────────────────│ 32 bytes per AND gate
//!  │◀────────────── tables of the sum or the maximum ─────────────│
//!  │◀── labels of garbler lengths; transfers for evaluator lengths ▶│ if lengths are hidden
//!  │◀───────────── tables of a sum, of a comparison ──────────────│ if lengths are hidden, or for a threshold
//!  │◀────────────── halves of the outputs are stored ────────────▶│ see `../opening.rs`
//!  │── halves of the outputs (colours) ──────────────────────────▶│ if the results are for the garbler
//!  │◀───────────── halves of the outputs (colours) ───────────────│ if they are for the evaluator
//!  ╎ … until all pairs are done                                   ╎
//! ```
//!
//! # What each side learns
//! **Both:** how many scanpaths there are and how long they are (with hidden lengths: only that none is longer than the
//! padding). **The side or sides named by `reveal_to`:** the score of every pair or, with a threshold, one bit.
//! **Nothing else:** everything that a side sees can be simulated from these numbers and its own input, up to
//! computational indistinguishability. A side that is not named gets no message that depends on a score.
//!
//! Scores accumulate, and no engine can change that: a party that chooses its own scanpaths learns what the scores say
//! about the other side's.
//!
//! # Assumption
//! Both parties follow the protocol and keep what they see (semi-honest). AES-128 is an ideal cipher as far as half gates need
//! it (`veilpath_mpc::hash` gives the concrete bound), SHA-256 and SHA-512 are random oracles for transfers and letter keys, and
//! the gap Diffie–Hellman problem is hard in Ristretto255. Transfers are secure against malicious parties too
//! (`veilpath_mpc::ot`). But a malicious garbler could garble another circuit, and a malicious evaluator could change looked-up
//! costs and outputs (`veilpath_mpc::alignment`).
//!
//! # Circuits
//! | costs, after division by their common divisor | AND gates per matrix cell | bits looked up |
//! |---|---|---|
//! | gaps of 1, substitutions of 0 or 1 (Levenshtein) | 3 | 1 |
//! | gaps of 1, substitutions of 0, 1 or 2; Levenshtein with hidden lengths | 5 | 2 |
//! | all other global alignments, ScanMatch among them: an insertion and a deletion together cost C, w = ⌈log₂(C + 1)⌉ | 6·w − 2 for w < 5, else 5·w + 2 | w |
//! | local alignments with w bits for the largest score and two gaps | at most 10·w − 2 | at most w |
//!
//! | metrics other than alignments | AND gates per matrix cell | bits looked up |
//! |---|---|---|
//! | sequence score: gaps of 1, substitutions of 0 or 2 | 5 | 2 |
//! | ScaSim: an alignment with free gaps and rewards of up to w bits; durations are added inside the circuit | 6·w − 2 for w < 5, else 5·w + 2 | w |
//! | dynamic time warping: the longer length times the largest distance has w bits | 5·w − 1; 6·w − 1 with hidden lengths | those of a distance; one more with hidden lengths |
//! | discrete Fréchet distance: w bits for the rank of a distance | 6·w | w |
//! | Hausdorff distance: w bits for the rank of a distance | 4·w, and 2·w for each row and column | w |
//! | recurrence: points; and for each direction of lines of at least L points | 1; and 3 for L = 2, ⌈log₂ L⌉ + 3 for longer lines | 1 |
//!
//! A recurrence plot outputs only the agreed numbers, packed into one output: counts stay inside the circuit, and fractions of
//! points are computed and rounded there (`veilpath_mpc::circuit::recurrence`). A Fréchet or Hausdorff distance is output as a rank,
//! which has fewer bits than a distance. In group answers, the circuit turns it into a distance, because ranks cannot be added.
//!
//! The raw result is an integer, exactly that of the plain comparison. A circuit outputs that integer (or a number that
//! gives it together with the public lengths), an adjusted number to which hidden lengths were added inside the
//! circuit, or a threshold bit. A threshold's integer bound is public, so comparing with it inside the circuit gives
//! the same bit as the score (`veilpath_metrics::Comparison::bound`).
//!
//! ScanMatch's own score divides by the longer length. With hidden lengths, the circuit would have to divide secrets
//! and round, so this combination is refused ([`crate::Unsupported`]).
//!
//! # Cost
//! For m·n matrix cells with g gates and w bits looked up over an alphabet of N letters (one more with hidden
//! lengths, and m = n = the padding):
//!
//! - to the evaluator: m·n·(32·g + N·w/8) bytes; to the garbler: 4·w·m·n + 4·n·⌈log₂ N⌉ bytes, the latter once for
//!   all of the garbler's scanpaths, and 544 bytes for every 32,640 of these bits; 12 kB to start a stage;
//! - Levenshtein with 52 letters: 107 bytes per matrix cell;
//! - rounds: one for each span of about 8,192/w matrix cells. Columns and transfers run ahead of the tables, so only
//!   every third span takes a round trip; a portion (64 megabytes of tables) takes two more (`costs.rs`);
//! - memory: O(m + n) for the comparisons that run together, and keys for 2¹⁸ of the evaluator's letters at a time, or
//!   for one longer scanpath; `memory.rs` has the formula. A job that needs more than two gigabytes for one pair is
//!   always refused.
//!
//! # Cores
//! Comparisons run on up to eight worker threads of each side (`threads/`); the smaller offer counts. A side
//! offers half of its cores: encrypting or decrypting their traffic is about a third of the work and is done by
//! the thread that owns the channel, and both sides may run on one machine. So with two cores, that thread is also
//! the only worker thread. A job of less than about 262,000 gates, or of one pair, has one worker thread.
//!
#![doc = include_str!("messages.md")]

mod costs;
mod evaluator;
mod garbler;
mod hello;
mod memory;
mod outputs;
mod schedule;
#[cfg(test)]
mod tests;
mod threads;

pub(crate) use super::alignment::answers::decode_all;
pub(crate) use costs::costs;
pub(crate) use evaluator::join;
pub(crate) use garbler::host;
pub(crate) use memory::memory;

use super::alignment::private_metric::{MaxLengths, PrivateMetric};
use crate::limit::AnswerSize;
use crate::{JobError, JobSize, RevealTo, Revealed, Role, Spec};
use schedule::PortionLimits;
use veilpath_metrics::Comparison;

/// How a run is partitioned. Scores do not depend on it.
#[derive(Clone, Copy, Debug)]
struct Partitioning {
    /// Worker threads that this side offers.
    threads: usize,
    limits: PortionLimits,
}

impl Partitioning {
    fn of_this_machine() -> Self {
        Self {
            threads: hello::threads_of_this_machine(),
            limits: PortionLimits::default(),
        }
    }
}

/// What each side learns, in words for users.
pub(crate) fn revealed(spec: &Spec) -> Vec<Revealed> {
    let learned = |to: RevealTo, what: &str| Revealed {
        to,
        what: what.to_string(),
    };
    let mut all = Vec::new();
    for (role, other) in [(Role::Host, "the joining side"), (Role::Join, "the host")] {
        let lengths = match spec.pad_to {
            None => format!("the length of every scanpath of {other}"),
            Some(max_length) => {
                format!("that no scanpath of {other} has more than {max_length} letters")
            }
        };
        all.push(learned(role.into(), &lengths));
        if spec.reveal_to.includes(role) {
            all.push(learned(role.into(), &spec.reveal.describe(&spec.metric)));
        }
    }
    all.push(learned(
        RevealTo::Both,
        "nothing else, if both follow the protocol and AES, SHA-2 and Curve25519 are secure",
    ));
    all
}

/// AND gates of one matrix cell of two scanpaths of this length (only local alignments and dynamic time warping depend on it).
pub fn and_gates_per_cell(comparison: &Comparison, length: usize) -> u64 {
    let scoring = PrivateMetric::new(comparison.model(), comparison.alphabet().size(), None);
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    scoring.circuit(MaxLengths::of(length, length)).and_gates()
}

/// How many bits a pair's output has if scores are revealed. No party can learn more about the pair, even if it cheats.
pub(crate) fn answer_size(comparison: &Comparison, pad_to: Option<u32>) -> AnswerSize {
    PrivateMetric::new(comparison.model(), comparison.alphabet().size(), pad_to).answer_size()
}

/// Checks that the numbers of the longest possible pair fit an output.
pub(crate) fn check_outputs(spec: &Spec, size: &JobSize) -> Result<(), JobError> {
    // A job without a comparison is rejected elsewhere.
    let Ok(comparison) = Comparison::new(spec.metric.clone(), spec.alphabet) else {
        return Ok(());
    };
    let letters = comparison.alphabet().size();
    let [host, join] = [size.host.longest, size.join.longest]
        .map(|longest| u32::try_from(longest).unwrap_or(u32::MAX));
    PrivateMetric::new(comparison.model(), letters, spec.pad_to).check_output(host, join)
}
