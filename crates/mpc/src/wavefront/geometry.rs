//! The order of the cells.

/// Rows that are swept at a time: enough to fill bundles, few enough that the wires along rows stay in the L1 cache.
pub const STRIP_ROWS: usize = 128;

/// The size of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Letters of the garbler.
    pub rows: usize,
    /// Letters of the evaluator.
    pub columns: usize,
}

/// A cell of the current strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellAt {
    /// Which matrix.
    pub comparison: usize,
    /// The row within the strip.
    pub row: usize,
    /// The column.
    pub column: usize,
}

/// Several matrices that are swept in lockstep.
#[derive(Clone, Debug)]
pub struct Geometry {
    shapes: Vec<Shape>,
}

impl Geometry {
    /// Matrices that are swept together.
    pub fn new(shapes: Vec<Shape>) -> Self {
        Self { shapes }
    }

    /// The matrices.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// Strips of the tallest matrix.
    pub fn strips(&self) -> usize {
        let highest = self.shapes.iter().map(|shape| shape.rows).max();
        highest.unwrap_or(0).div_ceil(STRIP_ROWS)
    }

    /// Rows of a matrix in a strip.
    pub fn rows(&self, strip: usize, comparison: usize) -> usize {
        self.shapes[comparison]
            .rows
            .saturating_sub(strip * STRIP_ROWS)
            .min(STRIP_ROWS)
    }

    /// Steps of a strip: anti-diagonals of the matrix with the most.
    pub fn steps(&self, strip: usize) -> usize {
        (0..self.shapes.len())
            .map(|comparison| {
                let (rows, columns) = (
                    self.rows(strip, comparison),
                    self.shapes[comparison].columns,
                );
                if rows == 0 || columns == 0 {
                    0
                } else {
                    rows + columns - 1
                }
            })
            .max()
            .unwrap_or(0)
    }

    /// The rows of a matrix that have a cell on anti-diagonal `step`: that of row i is in column `step` − i.
    pub(super) fn rows_of_step(
        &self,
        strip: usize,
        step: usize,
        comparison: usize,
    ) -> std::ops::Range<usize> {
        let rows = self.rows(strip, comparison);
        let columns = self.shapes[comparison].columns;
        if columns == 0 {
            return 0..0;
        }
        let end = rows.min(step + 1);
        (step + 1).saturating_sub(columns).min(end)..end
    }

    /// The number of cells in a step.
    pub fn cells_in_step(&self, strip: usize, step: usize) -> usize {
        (0..self.shapes.len())
            .map(|comparison| self.rows_of_step(strip, step, comparison).len())
            .sum()
    }

    /// The cells of a step in the order in which both sides run them.
    pub fn cells(&self, strip: usize, step: usize) -> impl Iterator<Item = CellAt> + '_ {
        (0..self.shapes.len()).flat_map(move |comparison| {
            self.rows_of_step(strip, step, comparison)
                .map(move |row| CellAt {
                    comparison,
                    row,
                    column: step - row,
                })
        })
    }

    /// The matrices in which a new column begins in a step. The column's number is that of the step.
    pub fn entering(&self, strip: usize, step: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.shapes.len()).filter(move |&comparison| {
            self.rows(strip, comparison) > 0 && step < self.shapes[comparison].columns
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_cell_is_run_once_and_after_its_neighbours() {
        let sizes = [
            (0, 5),
            (5, 0),
            (1, 1),
            (3, 7),
            (300, 2),
            (2, 300),
            (129, 128),
        ];
        let shapes = sizes.map(|(rows, columns)| Shape { rows, columns });
        let geometry = Geometry::new(shapes.to_vec());
        assert_eq!(geometry.strips(), 3);
        let mut seen = BTreeSet::new();
        let mut columns = BTreeSet::new();
        for strip in 0..geometry.strips() {
            for step in 0..geometry.steps(strip) {
                for comparison in geometry.entering(strip, step) {
                    assert!(columns.insert((comparison, strip, step)));
                }
                let cells: Vec<CellAt> = geometry.cells(strip, step).collect();
                assert_eq!(cells.len(), geometry.cells_in_step(strip, step));
                for cell in &cells {
                    let (row, column) = (strip * STRIP_ROWS + cell.row, cell.column);
                    assert!(row == 0 || seen.contains(&(cell.comparison, row - 1, column)));
                    assert!(column == 0 || seen.contains(&(cell.comparison, row, column - 1)));
                    assert!(columns.contains(&(cell.comparison, strip, column)));
                }
                for cell in cells {
                    let row = strip * STRIP_ROWS + cell.row;
                    assert!(seen.insert((cell.comparison, row, cell.column)));
                }
            }
        }
        let all: usize = sizes.iter().map(|(rows, columns)| rows * columns).sum();
        assert_eq!(seen.len(), all);
    }
}
