//! What it costs to put one letter in another's place.

use crate::{Distance, Grid, Table};
use serde::Serialize;

/// Substitution costs as the user names them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Substitution {
    /// 0 for equal letters, `mismatch` for others.
    Unit {
        /// The cost of any difference.
        mismatch: f64,
    },
    /// |a − b| of the cell numbers.
    Index,
    /// A distance on the grid, in cells.
    Grid {
        /// The grid.
        grid: Grid,
        /// Whether left and right are joined; it stands beside the grid so that a result file shows it.
        wrap: bool,
        /// How distance is measured.
        distance: Distance,
    },
    /// A table of the user's.
    Table {
        /// The costs.
        table: Table,
    },
}

impl Substitution {
    /// A distance on a grid.
    pub fn on_grid(grid: Grid, distance: Distance) -> Self {
        Substitution::Grid {
            grid,
            wrap: grid.wrap(),
            distance,
        }
    }
}
