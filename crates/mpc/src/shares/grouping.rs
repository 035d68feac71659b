//! How many matrices advance together, and how many groups of them are active.

use super::group::Matrix;
use super::lookup::{MAX_ALPHABET_SIZE, MAX_POSITIONS, SEGMENT, segment_bytes};
use super::matrix_recurrence::MatrixRecurrence;
use crate::error::MpcError;
use std::ops::Range;
use veilpath_channel::UNREAD_BYTES;

/// Cells of an anti-diagonal that advance together: enough for large messages, few enough for the processor's caches.
const GROUP_CELLS: usize = 2048;

/// The most tasks that are active at the same time.
const GROUPS: usize = 64;

/// Bytes that all active tasks may have sent before the other side receives them. The rest is for transfers.
pub(crate) const MAX_UNREAD: usize = UNREAD_BYTES / 4;

/// How many tasks may be active if their messages have at most this many bytes.
pub(crate) fn max_active(bytes: usize) -> usize {
    (MAX_UNREAD / bytes.max(1)).clamp(1, GROUPS)
}

/// An upper bound on the bytes of a matrix in any message of its group, including look-ups of this many streams.
pub(crate) fn message_bytes(matrix: &Matrix, cell: MatrixRecurrence, streams: usize) -> usize {
    let (lines, positions) = (matrix.lines.len(), matrix.positions.len());
    let cells = lines.min(positions);
    let segments = match streams {
        0 => 0,
        _ => cells / SEGMENT + 1,
    };
    let width = cell.width();
    // One side sends the comparison tables of about half of the blocks.
    let tables = 5 * width / 2 + 14;
    // Costs are converted to numbers while a comparison sends its choices.
    let numbers = width * width / 4 + 2 * width;
    let result = cell.result_bits(lines.max(positions), lines.max(positions)) + SLACK_BITS;
    let (of_cell, of_position) = match cell {
        MatrixRecurrence::Unit => (5, 2 * result),
        MatrixRecurrence::Difference { .. }
        | MatrixRecurrence::Warping { .. }
        | MatrixRecurrence::Frechet { .. } => (tables.max(numbers), result),
        // The maxima of the previous step are updated at the same time; at the end, half of the positions are compared.
        MatrixRecurrence::Local { .. } => ((2 * tables).max(numbers + width), tables / 2 + width),
    };
    let bits = (cells * (of_cell + SLACK_BITS)).max(positions * of_position);
    segments * segment_bytes(streams, positions.min(SEGMENT)) + bits.div_ceil(8)
}

/// Extra bits for a term of hidden lengths, and for lists that end at whole bytes.
const SLACK_BITS: usize = 8;

/// The most bytes in the messages of a group, unless it is a single matrix.
pub(super) const GROUP_BYTES: usize = MAX_UNREAD / 32;

/// The message bytes of a matrix with this shape.
fn message_bytes_of(rows: usize, columns: usize, cell: MatrixRecurrence, streams: usize) -> usize {
    let matrix = Matrix {
        rows_are_lines: true,
        own_lines: true,
        lines: 0..rows.min(columns),
        positions: 0..rows.max(columns),
        number: 0,
    };
    message_bytes(&matrix, cell, streams).max(1)
}

/// Whether a matrix of this shape can be compared: look-ups support the alphabet, and messages fit the buffers of a
/// channel.
pub fn matrix_fits(rows: usize, columns: usize, cell: MatrixRecurrence, alphabet: usize) -> bool {
    (1..=MAX_ALPHABET_SIZE).contains(&alphabet)
        && rows.max(columns) <= MAX_POSITIONS
        && message_bytes_of(rows, columns, cell, alphabet - 1) <= MAX_UNREAD
}

/// Estimates how many groups matrices of this shape form, and how many of these are active at the same time.
pub(crate) fn group_count(
    matrices: u64,
    rows: usize,
    columns: usize,
    cell: MatrixRecurrence,
    streams: usize,
) -> [u64; 2] {
    let own = message_bytes_of(rows, columns, cell, streams);
    let by_cells = GROUP_CELLS / rows.min(columns).max(1);
    let in_group = (GROUP_BYTES / own).min(by_cells).max(1);
    let groups = matrices.div_ceil(in_group as u64);
    [
        groups,
        groups.min(max_active(own.saturating_mul(in_group)) as u64),
    ]
}

/// Matrices that advance together: enough for large messages, few enough for the channel's buffers.
pub(crate) fn groups(
    matrices: &[Matrix],
    cell: MatrixRecurrence,
    streams: usize,
) -> Result<Vec<Range<usize>>, MpcError> {
    let mut groups = Vec::new();
    let (mut first, mut cells, mut bytes) = (0, 0, 0);
    for (at, matrix) in matrices.iter().enumerate() {
        let own = message_bytes(matrix, cell, streams);
        if own > MAX_UNREAD {
            return Err(MpcError::Misuse(
                "a matrix is too large for a channel's buffers",
            ));
        }
        let more = matrix.lines.len().min(matrix.positions.len());
        if first < at && (cells + more > GROUP_CELLS || bytes + own > GROUP_BYTES) {
            groups.push(first..at);
            (first, cells, bytes) = (at, 0, 0);
        }
        cells += more;
        bytes += own;
    }
    if first < matrices.len() {
        groups.push(first..matrices.len());
    }
    Ok(groups)
}
