//! Estimates a job's cost, by the formula at the top of the engine.

use super::hello::threads_of;
use super::schedule::PortionLimits;
use crate::Workload;
use crate::engines::alignment::private_metric::{MaxLengths, PrivateMetric};
use crate::estimate::JobCosts;
use veilpath_metrics::Comparison;
use veilpath_mpc::alignment::{LOOKAHEAD, span_count};
use veilpath_mpc::ot::correlated::MAX_BATCH;
use veilpath_mpc::wavefront::Shape;

/// Bytes to the garbler at the start of a stage: a point, and the seed trees with their check.
const START_TO_HOST: u64 = 32 + 32 * 8 * 16 + 32;

/// Bytes to the evaluator at the start of a stage: the points of the base transfers, and the first tweak.
const START_TO_JOIN: u64 = 128 * 64 + 16;

/// Bytes to the garbler for transfers: four each, plus a proof for each batch.
fn transfer_bytes(transfers: u64) -> u64 {
    let batches = transfers.div_ceil(MAX_BATCH as u64);
    transfers
        .saturating_mul(4)
        .saturating_add(batches.saturating_mul(544))
}

/// AND gates per second that one worker thread on each side can garble, encrypt, send and evaluate, with both sides on the two
/// cores of one machine with AES instructions. Measured; it varies by half with the circuit and the processor.
const GATES_PER_SECOND: f64 = 18e6;

/// The same with any number of worker threads, limited by the one thread per side that owns the connection.
const MAX_GATES_PER_SECOND: f64 = 36e6;

/// Seconds for the base transfers of a stage, on such a machine.
const STAGE_SECONDS: f64 = 0.03;

/// Rounds of a stage that overlap with nothing: base transfers, their check and the letters.
const STAGE_WAITS: u64 = 2;

/// Rounds of a portion that overlap with nothing: its first columns, and its opening.
const PORTION_WAITS: u64 = 2;

/// The estimated costs of a job between sides with this many cores. All comparisons count as the mean one.
#[allow(clippy::cast_precision_loss)] // an estimate
pub(crate) fn costs(comparison: &Comparison, work: &Workload, cores: u32) -> JobCosts {
    let (rows, columns) = work.mean_matrix();
    let [height, width] = [rows, columns].map(|it| u32::try_from(it).unwrap_or(u32::MAX));
    let padding = work.padded.then_some(height.max(width));
    let scoring = PrivateMetric::new(comparison.model(), comparison.alphabet().size(), padding);
    let circuit = scoring.circuit(MaxLengths::of(height, width));
    let gates_per_pair = scoring.gates_per_pair(height, width);
    let gates = work.cells.saturating_mul(circuit.and_gates());
    let gates = gates.saturating_add(work.pairs.saturating_mul(gates_per_pair));
    let wires = work.cells.saturating_mul(circuit.input_wires());
    let letters = scoring.alphabet_size() as u64;
    let bits_per_letter = u64::from(u64::BITS - letters.saturating_sub(1).leading_zeros());
    if gates == 0 {
        return JobCosts {
            waits: 1,
            ..JobCosts::default()
        };
    }
    let limits = PortionLimits::default();
    let each = rows
        .saturating_mul(columns)
        .saturating_mul(circuit.and_gates());
    let pairs_in_portion = limits.portion_gates.div_ceil(each.max(1));
    let pairs_in_portion = pairs_in_portion.clamp(1, limits.portion_pairs as u64);
    let shape = Shape {
        rows: usize::try_from(rows).unwrap_or(usize::MAX),
        columns: usize::try_from(columns).unwrap_or(usize::MAX),
    };
    let spans = |pairs: u64| {
        let width = usize::try_from(circuit.input_wires()).unwrap_or(usize::MAX);
        span_count(pairs, shape, width, scoring.alphabet_size())
    };
    let (whole, rest) = (work.pairs / pairs_in_portion, work.pairs % pairs_in_portion);
    let portions = whole + u64::from(rest > 0);
    let exchanges = whole.saturating_mul(spans(pairs_in_portion)) + spans(rest);
    // If the keys of all letters do not fit, they are transferred again for each of the host's scanpaths.
    let transferred = match work.join_letters <= limits.letters {
        true => work.join_letters,
        false => work.pairs.saturating_mul(columns),
    };
    let stages = transferred.div_ceil(limits.letters).max(1);
    let threads = threads_of(cores as usize).min(usize::try_from(portions).unwrap_or(usize::MAX));
    let rate = (GATES_PER_SECOND * threads as f64).min(MAX_GATES_PER_SECOND);
    JobCosts {
        bytes_to_host: transfer_bytes(
            transferred
                .saturating_mul(bits_per_letter)
                .saturating_add(wires),
        )
        .saturating_add(START_TO_HOST.saturating_mul(stages)),
        bytes_to_join: gates
            .saturating_mul(32)
            .saturating_add(wires.saturating_mul(letters) / 8)
            .saturating_add(START_TO_JOIN.saturating_mul(stages)),
        waits: 1 + stages * STAGE_WAITS + portions.div_ceil(threads as u64) * PORTION_WAITS,
        exchanges,
        one_way: false,
        // Several threads request the bytes they wait for, so they do not run ahead.
        in_flight: match threads {
            1 => (LOOKAHEAD + 1) as f64,
            threads => threads as f64,
        },
        setup: stages as f64 * STAGE_SECONDS,
        computing: gates as f64 / rate,
    }
}
