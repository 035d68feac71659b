//! Divides many alignments into groups and spans. Both sides compute the same schedule from the shapes.

use crate::error::MpcError;
use crate::ot::correlated::MAX_BATCH;
use crate::ot::lookup::MAX_STRIPS;
use crate::wavefront::{Geometry, STRIP_ROWS, Shape};
use crate::worker_thread::COMPARISONS;
use std::ops::Range;
use veilpath_channel::UNREAD_BYTES;

/// How many spans the columns and transfers are ahead of the tables.
pub const LOOKAHEAD: usize = 2;

/// Approximate number of input wires of a span.
const SPAN_WIRES: usize = crate::ot::correlated::CHUNK;

/// Approximate number of rows that are swept in lockstep, so that the wires of a group stay in the L2 cache.
const GROUP_ROWS: usize = 2048;

// The evaluator must not block on what it sends ahead while the garbler is not reading. It sends one bit per transfer
// and at most one batch of transfers, because all spans ahead fit into one. (A proof and its mask take less than 1 kB.)
const _: () = assert!(LOOKAHEAD * SPAN_WIRES <= MAX_BATCH);
const _: () = assert!(LOOKAHEAD * SPAN_WIRES / 8 + MAX_BATCH * 4 + (1 << 10) <= UNREAD_BYTES);

/// Approximate limit on the table blocks of a group per strip: 16 MiB, which only huge alphabets reach.
const GROUP_TABLE_BLOCKS: usize = 1 << 20;

/// Comparisons that run in lockstep.
pub(super) struct Group {
    /// The index of the first one.
    pub(super) first: usize,
    pub(super) geometry: Geometry,
}

impl Group {
    /// The number of comparisons.
    pub(super) fn len(&self) -> usize {
        self.geometry.shapes().len()
    }
}

/// A run of anti-diagonals of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DiagonalSpan {
    pub(super) strip: usize,
    pub(super) steps: Range<usize>,
    pub(super) cells: usize,
}

/// The spans of a group, in order. They are not stored, because a long string has millions.
pub(super) fn spans(geometry: &Geometry, width: usize) -> impl Iterator<Item = DiagonalSpan> + '_ {
    let mut next = (0, 0);
    std::iter::from_fn(move || {
        let (strip, first) = next;
        if strip == geometry.strips() {
            return None;
        }
        let (mut end, mut cells) = (first, 0);
        while end < geometry.steps(strip) {
            let more = geometry.cells_in_step(strip, end);
            if cells > 0 && (cells + more) * width > SPAN_WIRES {
                break;
            }
            cells += more;
            end += 1;
        }
        next = if end < geometry.steps(strip) {
            (strip, end)
        } else {
            (strip + 1, 0)
        };
        Some(DiagonalSpan {
            strip,
            steps: first..end,
            cells,
        })
    })
}

/// The spans of all groups, in order.
pub(super) fn all_spans(
    groups: &[Group],
    width: usize,
) -> impl Iterator<Item = (&Group, DiagonalSpan)> + '_ {
    groups
        .iter()
        .flat_map(move |group| spans(&group.geometry, width).map(move |span| (group, span)))
}

/// The number of spans for `count` alignments of one shape, which is how often the garbler waits for transfers. The
/// running time does not depend on `count`.
pub fn span_count(count: u64, shape: Shape, width: usize, alphabet: usize) -> u64 {
    let strip_rows = shape.rows.min(STRIP_ROWS);
    if strip_rows == 0 || shape.columns == 0 {
        return 0;
    }
    let width = width.max(1);
    let blocks = ((strip_rows * width).div_ceil(128) * alphabet).max(1);
    let max_rows = rows_in_lockstep(width);
    let in_group = (max_rows / strip_rows).min(GROUP_TABLE_BLOCKS / blocks);
    let in_group = in_group.max(1) as u64;
    let of_group = |comparisons: u64| {
        let (whole, rest) = (shape.rows / STRIP_ROWS, shape.rows % STRIP_ROWS);
        let strip = |rows| spans_of_strip(comparisons, rows, shape.columns, width);
        strip(STRIP_ROWS) * whole as u64 + strip(rest)
    };
    let (whole, rest) = (count / in_group, count % in_group);
    whole
        .saturating_mul(of_group(in_group))
        .saturating_add(of_group(rest))
}

/// The number of spans in a strip of equal matrices.
fn spans_of_strip(comparisons: u64, rows: usize, columns: usize, width: usize) -> u64 {
    if comparisons == 0 || rows == 0 {
        return 0;
    }
    let max_cells = (SPAN_WIRES / width).max(1) as u64;
    let (mut spans, mut cells) = (1, 0);
    let mut add = |more: u64| {
        if cells > 0 && cells + more > max_cells {
            (spans, cells) = (spans + 1, 0);
        }
        cells += more;
    };
    let (shorter, longer) = (rows.min(columns) as u64, rows.max(columns) as u64);
    // Anti-diagonals grow, then stay the same, then shrink.
    (1..shorter).for_each(|length| add(length * comparisons));
    let longest = shorter * comparisons;
    let steps = longer - shorter + 1;
    // From the second span of longest anti-diagonals on, all spans have the same number of steps.
    let in_span = (max_cells / longest).max(1);
    let skipped = steps.saturating_sub(2 * in_span) / in_span;
    (0..steps - skipped * in_span).for_each(|_| add(longest));
    (1..shorter)
        .rev()
        .for_each(|length| add(length * comparisons));
    spans + skipped
}

/// Input wires of all cells.
pub(super) fn wires(groups: &[Group], width: usize) -> usize {
    let shapes = groups.iter().flat_map(|group| group.geometry.shapes());
    shapes.fold(0, |sum, shape| {
        let cells = shape.rows.saturating_mul(shape.columns);
        cells.saturating_mul(width).saturating_add(sum)
    })
}

/// How many rows are swept in lockstep at most, of matrices with this many input wires per cell. An empty matrix counts
/// as one row, and each matrix as its [`STRIP_ROWS`] at most.
pub fn rows_in_lockstep(width: usize) -> usize {
    GROUP_ROWS.min(SPAN_WIRES / width.max(1))
}

/// Comparisons that run in lockstep.
pub(super) fn groups(shapes: Vec<Shape>, width: usize, alphabet: usize) -> Vec<Group> {
    let max_rows = rows_in_lockstep(width);
    let mut groups = Vec::new();
    let (mut first, mut rows, mut blocks) = (0, 0, 0);
    for (at, shape) in shapes.iter().enumerate() {
        let strip_rows = shape.rows.min(STRIP_ROWS);
        // An empty matrix counts as one row.
        let more_rows = strip_rows.max(1);
        let more_blocks = (strip_rows * width).div_ceil(128) * alphabet;
        if at > first && (rows + more_rows > max_rows || blocks + more_blocks > GROUP_TABLE_BLOCKS)
        {
            groups.push(first..at);
            (first, rows, blocks) = (at, 0, 0);
        }
        rows += more_rows;
        blocks += more_blocks;
    }
    if first < shapes.len() {
        groups.push(first..shapes.len());
    }
    let group = |range: Range<usize>| Group {
        first: range.start,
        geometry: Geometry::new(shapes[range].to_vec()),
    };
    groups.into_iter().map(group).collect()
}

/// Rejects work that would exhaust the pad numbering.
pub(super) fn check(shapes: &[Shape], done: u32, width: usize) -> Result<(), MpcError> {
    let strips = shapes
        .iter()
        .map(|shape| shape.rows.div_ceil(STRIP_ROWS))
        .max();
    if strips.unwrap_or(0) > MAX_STRIPS as usize {
        return Err(MpcError::Misuse("a string is too long"));
    }
    if width > 64 {
        return Err(MpcError::Misuse("costs are too large"));
    }
    // The numbers of a worker thread end where those of the next begin.
    let left = COMPARISONS - done % COMPARISONS;
    match u32::try_from(shapes.len()) {
        // The last number stays unused, so that a thread with no numbers left differs from one that has used none.
        Ok(count) if count < left => Ok(()),
        _ => Err(MpcError::Misuse("too many comparisons for one session")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_cover_all_steps_and_stay_small() {
        let shapes = [(300, 500), (20, 20), (0, 3), (128, 900)];
        let shapes = shapes.map(|(rows, columns)| Shape { rows, columns });
        let geometry = Geometry::new(shapes.to_vec());
        for width in [1, 9] {
            let spans: Vec<DiagonalSpan> = spans(&geometry, width).collect();
            let cells: usize = spans.iter().map(|span| span.cells).sum();
            assert_eq!(cells, 300 * 500 + 20 * 20 + 128 * 900);
            for pair in spans.windows(2) {
                let same_strip =
                    pair[0].strip == pair[1].strip && pair[0].steps.end == pair[1].steps.start;
                let next = pair[0].strip + 1 == pair[1].strip && pair[1].steps.start == 0;
                assert!(same_strip || next);
            }
            assert!(spans.iter().all(|span| span.cells * width <= SPAN_WIRES));
        }
    }

    #[test]
    fn spans_are_counted_without_listing_them() {
        for (rows, columns, count) in [
            (20, 20, 1),
            (100, 100, 50),
            (1, 1, 3000),
            (300, 40, 7),
            (40, 9000, 3),
            (256, 1, 20),
            (0, 5, 2),
        ] {
            for width in [1, 2, 9, 16] {
                let shape = Shape { rows, columns };
                let groups = groups(vec![shape; count], width, 52);
                let listed = all_spans(&groups, width).filter(|(_, span)| span.cells > 0);
                assert_eq!(
                    span_count(count as u64, shape, width, 52),
                    listed.count() as u64,
                    "{shape:?}, {count}, {width}"
                );
            }
        }
    }

    #[test]
    fn the_number_of_spans_saturates() {
        let (rows, columns) = (300, 9000);
        let shape = Shape { rows, columns };
        assert_eq!(span_count(u64::MAX, shape, 9, 52), u64::MAX);
    }

    #[test]
    fn groups_cover_all_comparisons() {
        let shapes = vec![
            Shape {
                rows: 24,
                columns: 24
            };
            1000
        ];
        let all = |alphabet| {
            let groups = groups(shapes.clone(), 1, alphabet);
            let mut next = 0;
            for group in &groups {
                assert_eq!(group.first, next);
                next += group.len();
            }
            assert_eq!(next, 1000);
            groups.iter().map(Group::len).max()
        };
        assert_eq!(all(52), Some(GROUP_ROWS / 24));
        assert_eq!(all(1 << 16), Some(GROUP_TABLE_BLOCKS >> 16));
        assert!(groups(Vec::new(), 1, 52).is_empty());
    }

    #[test]
    fn too_large_jobs_are_refused() {
        let shape = Shape {
            rows: 1,
            columns: 1,
        };
        assert!(check(&[shape], 0, 9).is_ok());
        assert!(check(&[shape], u32::MAX, 9).is_err());
        assert!(check(&[shape], COMPARISONS - 1, 9).is_err());
        assert!(check(&[shape], COMPARISONS, 9).is_ok());
        assert!(check(&[shape], 0, 65).is_err());
        let shape = Shape {
            rows: usize::MAX,
            columns: 1,
        };
        assert!(check(&[shape], 0, 9).is_err());
    }
}
