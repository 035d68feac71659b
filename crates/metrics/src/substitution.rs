//! The cost of replacing one letter by another.

use crate::{Distance, Grid, Table};
use serde::{Deserialize, Serialize};

/// Substitution costs, as the user specifies them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Substitution {
    /// 0 for equal letters, `mismatch` for others.
    Unit {
        /// The cost of any two different letters.
        mismatch: f64,
    },
    /// |a − b| of the grid cell numbers.
    Index,
    /// A distance on the grid, in grid cells.
    Grid {
        /// The grid. Wrapping is a separate field so that a result file shows it.
        grid: Grid,
        /// Whether the left and right edges are joined.
        wrap: bool,
        /// How distance is measured.
        distance: Distance,
    },
    /// A user-supplied table.
    Table {
        /// The costs.
        table: Table,
    },
}

impl Substitution {
    /// A distance on a grid.
    pub fn on_grid(grid: Grid, distance: Distance) -> Self {
        Substitution::Grid {
            grid: grid.with_wrap(false),
            wrap: grid.wrap(),
            distance,
        }
    }
}
