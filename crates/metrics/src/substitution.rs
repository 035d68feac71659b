//! The cost of replacing one letter by another.

use crate::{Distance, Grid, Table};
use serde::{Deserialize, Serialize};

/// Substitution costs as the user names them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Substitution {
    /// 0 for equal letters, `mismatch` for others.
    Unit {
        /// The cost of any difference.
        mismatch: f64,
    },
    /// |a − b| of the numbers of the grid cells.
    Index,
    /// A distance on the grid, in grid cells.
    Grid {
        /// The grid; whether it wraps is in the next field, so that a result file shows it.
        grid: Grid,
        /// Whether left and right are joined.
        wrap: bool,
        /// How distance is measured.
        distance: Distance,
    },
    /// A table of the user.
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
