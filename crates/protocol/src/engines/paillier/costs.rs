//! Estimates a job's cost, by the formula at the top of the engine.

use super::PaillierOptions;
use super::matrix_owner::{MAX_OUTSTANDING, WINDOW_BYTES};
use crate::Workload;
use crate::estimate::JobCosts;
use veilpath_paillier::KeySize;

/// Rounds of a single comparison per letter of the longer scanpath: a request takes two thirds of the cells that are
/// ready.
const ROUNDS_PER_LETTER: u64 = 5;

/// Costs that depend on the size of the key.
struct KeySizeCosts {
    /// Cells per ciphertext with the paper's masks.
    cells: u64,
    /// The same with the hardened masks.
    hardened_cells: u64,
    /// Seconds per cell with both sides on two cores with AVX-512 IFMA, as `veilpath bench cell` measures them.
    cell: f64,
    /// Seconds to generate a key and both sides' tables.
    start: f64,
}

fn by_size(size: KeySize) -> KeySizeCosts {
    let (cells, hardened_cells, microseconds, milliseconds) = match size {
        // A hardened cell takes two ciphertexts at this size.
        KeySize::Bits512 => (1, 1, 50.0, 20.0),
        KeySize::Bits1024 => (2, 1, 200.0, 60.0),
        KeySize::Bits2048 => (4, 2, 1_000.0, 400.0),
        KeySize::Bits3072 => (7, 3, 3_000.0, 1_500.0),
        KeySize::Bits4096 => (9, 4, 7_500.0, 4_000.0),
    };
    KeySizeCosts {
        cells,
        hardened_cells,
        cell: microseconds * 1e-6,
        start: milliseconds * 1e-3,
    }
}

/// The time to encrypt and check an entry of D, in units of a cell's time.
const CELLS_PER_ENTRY: f64 = 0.06;

/// Rounds at the start: the matrix owner waits for lengths and the key.
const START_WAITS: u64 = 2;

/// The estimated costs of a job between sides with this many cores.
#[allow(clippy::cast_precision_loss)] // an estimate
pub(crate) fn costs(options: PaillierOptions, work: &Workload, cores: u32) -> JobCosts {
    let size = by_size(options.key_size);
    let ciphertext = options.key_size.ciphertext_bytes() as u64;
    let masked = match (options.hardened, options.packing, options.key_size) {
        (false, true, _) => work.cells.div_ceil(size.cells),
        (false, false, _) => work.cells.saturating_mul(3),
        (true, true, KeySize::Bits512) => work.cells.saturating_mul(2),
        (true, true, _) => work.cells.div_ceil(size.hardened_cells),
        (true, false, _) => work.cells.saturating_mul(4),
    };
    let reply_ciphertexts = if options.hardened { 3 } else { 1 };
    let entries = work.host_letters.saturating_mul(work.alphabet);
    // A full request, and the rows of D that fit into a reply next to its minima.
    let window = WINDOW_BYTES as u64;
    let full = window / MAX_OUTSTANDING as u64 / (reply_ciphertexts * ciphertext);
    let full = full.clamp(1, options.batch.into());
    let rows = (window / 2 / (work.alphabet * ciphertext).max(1)).max(1);
    let (first, second) = work.mean_matrix();
    let longer = first.max(second);
    let one_by_one = options.batch == 1;
    let chain = match one_by_one {
        true => work.cells,
        false => ROUNDS_PER_LETTER * longer,
    };
    let requests = work.cells.div_ceil(full);
    let after_first = work.host_letters.saturating_sub(first).div_ceil(rows);
    let cells = work.cells as f64 + CELLS_PER_ENTRY * entries as f64;
    JobCosts {
        bytes_to_host: masked.saturating_add(work.pairs).saturating_mul(ciphertext),
        bytes_to_join: entries
            .saturating_add(work.cells.saturating_mul(reply_ciphertexts))
            .saturating_mul(ciphertext),
        waits: START_WAITS,
        exchanges: requests.max(chain).max(after_first),
        one_way: false,
        // Only full requests overlap, and only if enough cells are ready.
        in_flight: match one_by_one {
            true => 1.0,
            false => (requests as f64 / chain.max(1) as f64).clamp(1.0, MAX_OUTSTANDING as f64),
        },
        setup: size.start,
        computing: cells * size.cell * 2.0 / f64::from(cores.max(1)),
    }
}
