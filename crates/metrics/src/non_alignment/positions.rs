//! The positions of a scanpath's letters, and the distances between them.

use super::MAX_CELLS;
use crate::model::fits_grid;
use crate::{Alphabet, Grid, MetricError};
use serde::{Deserialize, Serialize};

/// The positions that a metric compares.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Positions {
    /// The cells of a grid, at unit spacing.
    Grid {
        /// The grid of the letters.
        grid: Grid,
        /// Whether the left and right edges are joined.
        wrap: bool,
    },
    /// The grid cells to which fixations were rounded, with their size in the unit of coordinates.
    Cells {
        /// A grid over the whole screen.
        grid: Grid,
        /// The width of a cell.
        width: f64,
        /// The height of a cell.
        height: f64,
    },
    /// The fixations' original coordinates, in their unit. Only in the clear.
    Fixations,
}

/// The cells of a grid and their size, in the unit of distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    grid: Grid,
    width: f64,
    height: f64,
}

/// The distances between the cells of a grid, as ranks in the list of all distances that occur.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranks {
    lattice: Lattice,
    /// The rank for each column and row offset between two cells, row by row.
    by_offset: Vec<u32>,
    /// In ascending order.
    distances: Vec<f64>,
}

impl Positions {
    /// The grid; its edges are joined if the positions wrap around.
    pub fn grid(&self) -> Option<Grid> {
        match self {
            Positions::Grid { grid, wrap } => Some(grid.with_wrap(*wrap)),
            Positions::Cells { grid, .. } => Some(*grid),
            Positions::Fixations => None,
        }
    }

    /// The positions of the letters, if the positions are those of letters.
    pub fn lattice(&self) -> Option<Lattice> {
        match self {
            Positions::Grid { grid, wrap } => Some(Lattice {
                grid: grid.with_wrap(*wrap),
                width: 1.0,
                height: 1.0,
            }),
            Positions::Cells {
                grid,
                width,
                height,
            } => Some(Lattice {
                grid: *grid,
                width: *width,
                height: *height,
            }),
            Positions::Fixations => None,
        }
    }

    /// The positions of an alphabet's letters.
    pub(crate) fn of_letters(&self, alphabet: &Alphabet) -> Result<Option<Lattice>, MetricError> {
        let lattice = self.lattice();
        let is_size = |size: f64| size.is_finite() && size > 0.0;
        if let Positions::Cells {
            grid,
            width,
            height,
        } = *self
            && !(is_size(width) && is_size(height) && grid.cells() <= MAX_CELLS)
        {
            return Err(MetricError::Classes);
        }
        if let Some(lattice) = &lattice {
            fits_grid(alphabet, &lattice.grid)?;
        }
        Ok(lattice)
    }
}

impl Lattice {
    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The Euclidean distance between two cells.
    pub fn distance(&self, a: u16, b: u16) -> f64 {
        let (across, down) = self.grid.offset(a, b);
        self.at_offset(across, down)
    }

    /// Everything before the square root is exact, and the root is correctly rounded. So, unlike `hypot`, the result is
    /// the same on every machine.
    fn at_offset(&self, across: u32, down: u32) -> f64 {
        let across = f64::from(across) * self.width;
        let down = f64::from(down) * self.height;
        (across * across + down * down).sqrt()
    }

    /// The largest distance between two of the first `letters` cells.
    pub fn farthest(&self, letters: u32) -> f64 {
        let (across, down) = crate::model::farthest_offset(&self.grid, letters);
        self.at_offset(across, down)
    }
}

impl Ranks {
    /// Ranks all distances on a lattice.
    pub fn new(lattice: Lattice) -> Self {
        let grid = lattice.grid;
        let offsets =
            (0..grid.rows()).flat_map(|down| (0..grid.columns()).map(move |across| (across, down)));
        let by_offset: Vec<f64> = offsets
            .map(|(across, down)| lattice.at_offset(grid.column_distance(across), down))
            .collect();
        let mut distances = by_offset.clone();
        distances.sort_by(f64::total_cmp);
        distances.dedup();
        let rank = |distance: &f64| distances.partition_point(|other| other < distance);
        let by_offset = by_offset.iter().map(rank);
        Self {
            lattice,
            by_offset: by_offset
                .map(|rank| u32::try_from(rank).unwrap_or(u32::MAX))
                .collect(),
            distances,
        }
    }

    /// The rank of the distance between two cells; 0 for a cell and itself.
    pub fn rank(&self, a: u16, b: u16) -> u32 {
        let grid = self.lattice.grid;
        let (across, down) = grid.offset(a, b);
        let index = down as usize * grid.columns() as usize + across as usize;
        self.by_offset.get(index).copied().unwrap_or(u32::MAX)
    }

    /// The distance with this rank.
    pub fn distance(&self, rank: u32) -> Option<f64> {
        self.distances.get(rank as usize).copied()
    }

    /// The largest rank.
    pub fn largest(&self) -> u32 {
        u32::try_from(self.distances.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// The grid of the letters.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distance;

    #[test]
    fn ranks_follow_the_order_of_all_distances() {
        for (grid, count) in [("7x7", 27), ("1x1", 1), ("4x1", 4)] {
            let grid: Grid = grid.parse().unwrap();
            let lattice = Positions::Grid { grid, wrap: false }.lattice().unwrap();
            let ranks = Ranks::new(lattice);
            assert_eq!(ranks.largest(), count - 1);
            for a in 0..grid.cells() as u16 {
                for b in 0..grid.cells() as u16 {
                    let distance = ranks.distance(ranks.rank(a, b));
                    assert_eq!(distance, Some(grid.distance(Distance::Euclidean, a, b)));
                }
            }
        }
        let grid: Grid = "12x8".parse().unwrap();
        let lattice = Positions::Grid { grid, wrap: true }.lattice().unwrap();
        let ranks = Ranks::new(lattice);
        assert_eq!(ranks.distance(ranks.rank(0, 11)), Some(1.0));
        assert_eq!(
            lattice.farthest(96),
            ranks.distances.last().copied().unwrap()
        );
    }
}
