//! How many matrices advance together, and how many groups of them are under way.

use super::group::Matrix;
use super::lookup::{MAX_LETTERS, TILE, tile_bytes};
use crate::error::MpcError;
use std::ops::Range;
use veilpath_channel::UNREAD_BYTES;

/// Cells of an anti-diagonal that advance together: enough for large messages, few enough for the processor's caches.
const GROUP_CELLS: usize = 2048;

/// Programs that are active at the same time, at most.
const GROUPS: usize = 64;

/// Bytes that all active programs may have sent and the other side not received. Transfers need the rest.
const UNREAD: usize = UNREAD_BYTES / 4;

/// How many programs may be active whose messages have at most this many bytes.
pub(crate) fn at_once(bytes: usize) -> usize {
    (UNREAD / bytes.max(1)).clamp(1, GROUPS)
}

/// An upper bound of the bytes of a group's messages, with look-ups of this many streams on the way.
pub(crate) fn weight(matrices: &[Matrix], streams: usize) -> usize {
    let weight = |matrix: &Matrix| {
        let cells = matrix.lines.len().min(matrix.positions.len());
        let tiles = match streams {
            0 => 0,
            _ => cells / TILE + 1,
        };
        tiles * tile_bytes(streams, matrix.positions.len().min(TILE)) + cells * 4
    };
    matrices.iter().map(weight).sum()
}

/// Bytes of the messages of a group, at most, unless it is a single matrix.
const GROUP_BYTES: usize = UNREAD / 32;

/// The bytes of messages of a matrix with this shape.
fn weight_of(rows: usize, columns: usize, streams: usize) -> usize {
    let matrix = Matrix {
        rows_are_lines: true,
        own_lines: true,
        lines: 0..rows,
        positions: 0..columns,
        number: 0,
    };
    weight(&[matrix], streams).max(1)
}

/// Whether a matrix of this shape can be compared: the alphabet can be looked up, and messages fit the buffers of a channel.
pub fn fits(rows: usize, columns: usize, alphabet: usize) -> bool {
    (1..=MAX_LETTERS).contains(&alphabet) && weight_of(rows, columns, alphabet - 1) <= UNREAD
}

/// How many groups matrices of this shape form, and how many of these are active at the same time, for estimates.
pub(crate) fn group_count(matrices: u64, rows: usize, columns: usize, streams: usize) -> [u64; 2] {
    let own = weight_of(rows, columns, streams);
    let by_cells = GROUP_CELLS / rows.min(columns).max(1);
    let in_group = (GROUP_BYTES / own).min(by_cells).max(1);
    let groups = matrices.div_ceil(in_group as u64);
    [
        groups,
        groups.min(at_once(own.saturating_mul(in_group)) as u64),
    ]
}

/// Matrices that advance together: enough for large messages, few enough for the channel's buffers.
pub(crate) fn groups(matrices: &[Matrix], streams: usize) -> Result<Vec<Range<usize>>, MpcError> {
    let mut groups = Vec::new();
    let (mut first, mut cells, mut bytes) = (0, 0, 0);
    for (at, matrix) in matrices.iter().enumerate() {
        let own = weight(std::slice::from_ref(matrix), streams);
        if own > UNREAD {
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
