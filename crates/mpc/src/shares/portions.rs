//! How many matrices advance together, and how many groups of them are under way.

use super::group::Matrix;
use super::lookup::{TILE, tile_bytes};
use crate::error::MpcError;
use std::ops::Range;
use veilpath_channel::UNREAD_BYTES;

/// Cells of an anti-diagonal that advance together: enough for large messages, few enough for the processor's caches.
const GROUP_CELLS: usize = 2048;

/// Programs that are active at the same time, at most.
pub const GROUPS: usize = 64;

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

/// How many groups matrices of this shape form, for estimates.
pub fn group_count(matrices: u64, rows: usize, columns: usize, alphabet: usize) -> u64 {
    let matrix = Matrix {
        rows_are_lines: true,
        own_lines: true,
        lines: 0..rows,
        positions: 0..columns,
        number: 0,
    };
    let own = weight(&[matrix], alphabet.saturating_sub(1)).max(1);
    let by_bytes = UNREAD / own;
    let in_group = by_bytes.min(GROUP_CELLS / rows.min(columns).max(1)).max(1);
    matrices.div_ceil(in_group as u64)
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
        if first < at && (cells + more > GROUP_CELLS || bytes + own > UNREAD / 32) {
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
