//! In which portions many alignments are run. Both sides make the same plan from the shapes.

use crate::error::GarbleError;
use crate::ot::lookup::MAX_STRIPS;
use crate::transport::UNREAD_BYTES;
use crate::wavefront::{Geometry, STRIP_ROWS, Shape};
use std::ops::Range;

/// Slabs that columns and transfers are ahead of tables.
pub const LOOKAHEAD: usize = 2;

/// Input wires of a slab, about: its transfers are one chunk.
const SLAB_WIRES: usize = crate::ot::correlated::CHUNK;

/// Rows that are swept in lockstep, about: the wires of a group stay in the second-fastest cache.
const GROUP_ROWS: usize = 2048;

// What the evaluator sends ahead – four bytes per transfer – must be on its way without the garbler reading.
const _: () = assert!(LOOKAHEAD * SLAB_WIRES * 4 <= UNREAD_BYTES);

/// Some anti-diagonals of a group.
pub(super) struct Slab {
    pub(super) strip: usize,
    pub(super) steps: Range<usize>,
    pub(super) cells: usize,
}

/// The slabs of a group, in order.
pub(super) fn slabs(geometry: &Geometry, width: usize) -> Vec<Slab> {
    let mut slabs = Vec::new();
    for strip in 0..geometry.strips() {
        let (mut first, mut cells) = (0, 0);
        for step in 0..geometry.steps(strip) {
            let more = geometry.cells_in_step(strip, step);
            if cells > 0 && (cells + more) * width > SLAB_WIRES {
                slabs.push(Slab {
                    strip,
                    steps: first..step,
                    cells,
                });
                (first, cells) = (step, 0);
            }
            cells += more;
        }
        slabs.push(Slab {
            strip,
            steps: first..geometry.steps(strip),
            cells,
        });
    }
    slabs
}

/// Comparisons that go in lockstep, as ranges of their numbers.
pub(super) fn groups(shapes: &[Shape], width: usize) -> Vec<Range<usize>> {
    let most = GROUP_ROWS.min(SLAB_WIRES / width.max(1));
    let mut groups = Vec::new();
    let (mut first, mut rows) = (0, 0);
    for (at, shape) in shapes.iter().enumerate() {
        let more = shape.rows.min(STRIP_ROWS);
        if at > first && rows + more > most {
            groups.push(first..at);
            (first, rows) = (at, 0);
        }
        // Even an empty matrix takes a place.
        rows += more.max(1);
    }
    if first < shapes.len() {
        groups.push(first..shapes.len());
    }
    groups
}

/// Refuses what would not fit the numbering of pads.
pub(super) fn check(shapes: &[Shape], done: u32, width: usize) -> Result<(), GarbleError> {
    let strips = shapes
        .iter()
        .map(|shape| shape.rows.div_ceil(STRIP_ROWS))
        .max();
    if strips.unwrap_or(0) > MAX_STRIPS as usize {
        return Err(GarbleError::Misuse("a string is too long"));
    }
    if width > 64 {
        return Err(GarbleError::Misuse("costs are too large"));
    }
    let count = u32::try_from(shapes.len()).ok();
    match count.and_then(|count| done.checked_add(count)) {
        Some(_) => Ok(()),
        None => Err(GarbleError::Misuse("too many comparisons for one session")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_cover_all_steps_and_stay_small() {
        let shapes = [(300, 500), (20, 20), (0, 3), (128, 900)];
        let shapes = shapes.map(|(rows, columns)| Shape { rows, columns });
        let geometry = Geometry::new(shapes.to_vec());
        for width in [1, 9] {
            let slabs = slabs(&geometry, width);
            let cells: usize = slabs.iter().map(|slab| slab.cells).sum();
            assert_eq!(cells, 300 * 500 + 20 * 20 + 128 * 900);
            for pair in slabs.windows(2) {
                let goes_on =
                    pair[0].strip == pair[1].strip && pair[0].steps.end == pair[1].steps.start;
                let next = pair[0].strip + 1 == pair[1].strip && pair[1].steps.start == 0;
                assert!(goes_on || next);
            }
            assert!(slabs.iter().all(|slab| slab.cells * width <= SLAB_WIRES));
        }
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
        let groups = groups(&shapes, 1);
        assert_eq!(groups.iter().map(Range::len).sum::<usize>(), 1000);
        assert!(groups.iter().all(|group| group.len() <= GROUP_ROWS / 24));
        assert!(super::groups(&[], 1).is_empty());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let shape = Shape {
            rows: 1,
            columns: 1,
        };
        assert!(check(&[shape], 0, 9).is_ok());
        assert!(check(&[shape], u32::MAX, 9).is_err());
        assert!(check(&[shape], 0, 65).is_err());
        let shape = Shape {
            rows: usize::MAX,
            columns: 1,
        };
        assert!(check(&[shape], 0, 9).is_err());
    }
}
