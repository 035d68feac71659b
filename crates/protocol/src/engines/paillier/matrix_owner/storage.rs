//! What the matrix owner stores, and what starts while there is room for it.
//!
//! A comparison needs all rows of D of its host scanpath. Pairs are sorted by host scanpaths, so the rows of one are in use at
//! a time, and those of the next one are requested ahead if there is room for them. If there is none, they are requested
//! when all comparisons in flight have ended, and their rows are dropped.

use super::super::matrix::Matrix;
use super::super::run_parameters::RunParameters;
use super::{MatrixOwner, ReadyTask};
use crate::ProtocolError;
use rand::CryptoRng;
use veilpath_paillier::KeySize;

/// Bytes that the matrix values and substitution costs of comparisons in flight may take. One comparison is always
/// allowed.
pub(super) const MAX_STORED_BYTES: u64 = 96 << 20;

/// Bytes of a stored ciphertext beyond those of its number: its header, and what rounding and the allocator add.
const BYTES_PER_CIPHERTEXT: u64 = 128;

/// Bytes of a row of D beyond those of its ciphertexts, in a list that may be half empty.
const BYTES_PER_ROW: u64 = 96;

/// Bytes of a matrix value besides its ciphertext: a place in a hash table that may be half empty, or that is copied to a
/// larger one, and in the list of ready cells.
const BYTES_PER_VALUE: u64 = 192;

/// The size of a row of D.
fn row_bytes(key_size: KeySize, alphabet_size: u32) -> u64 {
    u64::from(alphabet_size)
        .saturating_mul(ciphertext_bytes(key_size))
        .saturating_add(BYTES_PER_ROW)
}

/// The size of the values of a matrix with this many rows and columns, which are those of its boundary. A search for the least
/// value keeps as many again.
fn matrix_bytes(key_size: KeySize, edge: u64, searches: bool) -> u64 {
    let values = edge.saturating_mul(if searches { 2 } else { 1 });
    values.saturating_mul(ciphertext_bytes(key_size) + BYTES_PER_VALUE)
}

fn ciphertext_bytes(key_size: KeySize) -> u64 {
    key_size.ciphertext_bytes() as u64 + BYTES_PER_CIPHERTEXT
}

/// An upper bound on what is stored at a time, for the longest scanpaths of the host and of the joining side.
pub(crate) fn largest_storage(
    key_size: KeySize,
    alphabet_size: u32,
    [host, join]: [u64; 2],
    searches: bool,
) -> u64 {
    let rows = host.saturating_mul(row_bytes(key_size, alphabet_size));
    let matrix = matrix_bytes(key_size, host.saturating_add(join), searches);
    rows.saturating_add(matrix).max(MAX_STORED_BYTES)
}

impl RunParameters {
    /// The size of a row of D.
    pub(super) fn row_bytes(&self) -> u64 {
        row_bytes(self.key_size(), self.alphabet_size)
    }

    /// The size of the values of a matrix.
    pub(super) fn matrix_bytes(&self, (rows, columns): (u32, u32)) -> u64 {
        let edge = u64::from(rows) + u64::from(columns);
        matrix_bytes(self.key_size(), edge, self.recurrence.zero().is_some())
    }
}

impl<R: CryptoRng> MatrixOwner<'_, R> {
    /// Starts comparisons whose substitution costs have arrived, as long as the window has room. Charges them now, and not
    /// when their first cells are chosen: that would take time, and the choice is secret.
    pub(super) fn start_pairs(&mut self) -> Result<(), ProtocolError> {
        let alone = self.agreed.batch() == 1;
        let mut started = Vec::new();
        while let Some(&pair) = self.waiting.front() {
            let host = self.job.pairs[pair].0;
            let (rows, columns) = self.agreed.lengths(self.job, pair);
            let bytes = self.agreed.matrix_bytes((rows, columns));
            let stored = self.stored_bytes().saturating_add(bytes);
            let choice = self.ready.len() + self.outstanding_sets();
            // One at a time, as in the paper.
            let has_room = !alone
                && stored <= self.max_stored_bytes
                && self.window.has_room(choice, self.full_request());
            if !self.substitutions.complete(host) || !(has_room || self.window.is_empty()) {
                break;
            }
            self.waiting.pop_front();
            let recurrence = &self.agreed.recurrence;
            let round_width = recurrence.zero().map(|_| recurrence.width());
            let matrix = Matrix::new(host, (rows, columns), round_width);
            self.matrices.insert(pair, matrix);
            self.matrix_bytes += bytes;
            self.window.start(u64::from(rows) * u64::from(columns));
            self.ready.push(ReadyTask::Cell(pair, (1, 1)));
            started.push(pair);
        }
        if !started.is_empty() {
            self.job.store.start(&started)?;
        }
        Ok(())
    }
}

impl<R> MatrixOwner<'_, R> {
    /// What is stored, or has been requested to be stored.
    fn stored_bytes(&self) -> u64 {
        let rows = self.substitutions.rows() as u64;
        let rows = rows.saturating_mul(self.agreed.row_bytes());
        self.matrix_bytes.saturating_add(rows)
    }

    /// The number of rows of D for which there is room besides the comparisons in flight.
    pub(super) fn rows_with_room(&self) -> u32 {
        let free = self.max_stored_bytes.saturating_sub(self.stored_bytes());
        u32::try_from(free / self.agreed.row_bytes()).unwrap_or(u32::MAX)
    }
}
