//! The grid whose cells are the letters, and distances between its cells.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A grid of `columns` × `rows` cells, numbered row by row from the top left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    columns: u32,
    rows: u32,
    wrap: bool,
}

/// A distance between two grid cells, in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// The column difference plus the row difference.
    Manhattan,
    /// The straight-line distance.
    Euclidean,
    /// The larger of the column and row differences.
    Chebyshev,
}

impl Distance {
    /// The name used in options.
    pub fn name(self) -> &'static str {
        match self {
            Distance::Manhattan => "manhattan",
            Distance::Euclidean => "euclidean",
            Distance::Chebyshev => "chebyshev",
        }
    }
}

/// A string that is not a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a grid is written COLUMNSxROWS, as in 7x7, with 1 to 65536 cells")]
pub struct GridError;

impl Grid {
    /// A grid of 1 to 65,536 cells.
    pub fn new(columns: u32, rows: u32) -> Option<Self> {
        let cells = columns.checked_mul(rows)?;
        (1..=1 << 16).contains(&cells).then_some(Self {
            columns,
            rows,
            wrap: false,
        })
    }

    /// The same grid with its left and right edges joined, as in a 360° picture.
    pub fn with_wrap(self, wrap: bool) -> Self {
        Self { wrap, ..self }
    }

    /// The number of columns.
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// The number of rows.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Whether the left and right edges are joined.
    pub fn wrap(&self) -> bool {
        self.wrap
    }

    /// Columns times rows.
    pub fn cells(&self) -> u32 {
        self.columns * self.rows
    }

    /// The number of columns and rows between two cells.
    pub(crate) fn offset(&self, a: u16, b: u16) -> (u32, u32) {
        let (a, b) = (u32::from(a), u32::from(b));
        let across = (a % self.columns).abs_diff(b % self.columns);
        let down = (a / self.columns).abs_diff(b / self.columns);
        (self.column_distance(across), down)
    }

    /// The distance in columns between cells whose column numbers differ by `columns`.
    pub(crate) fn column_distance(&self, columns: u32) -> u32 {
        if self.wrap {
            columns.min(self.columns - columns)
        } else {
            columns
        }
    }

    /// The distance between two cells.
    pub fn distance(&self, distance: Distance, a: u16, b: u16) -> f64 {
        let (across, down) = self.offset(a, b);
        match distance {
            Distance::Manhattan => f64::from(across + down),
            // Everything before the square root is exact, and the root is correctly rounded. So, unlike `hypot`, the
            // result is the same on every machine.
            Distance::Euclidean => {
                let (across, down) = (f64::from(across), f64::from(down));
                (across * across + down * down).sqrt()
            }
            Distance::Chebyshev => f64::from(across.max(down)),
        }
    }
}

/// 7×7, the grid of the paper.
impl Default for Grid {
    fn default() -> Self {
        Self {
            columns: 7,
            rows: 7,
            wrap: false,
        }
    }
}

/// `7x7`, columns first.
impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.columns, self.rows)
    }
}

/// Reads `COLUMNSxROWS`.
impl std::str::FromStr for Grid {
    type Err = GridError;

    fn from_str(text: &str) -> Result<Self, GridError> {
        text.split_once(['x', 'X', '×'])
            .and_then(|(columns, rows)| {
                Grid::new(columns.trim().parse().ok()?, rows.trim().parse().ok()?)
            })
            .ok_or(GridError)
    }
}

impl Serialize for Grid {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Grid {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_cells_and_wrap_around() {
        let grid: Grid = "12x8".parse().unwrap();
        assert_eq!(grid.distance(Distance::Manhattan, 0, 95), 18.0);
        assert_eq!(grid.distance(Distance::Chebyshev, 0, 95), 11.0);
        assert_eq!(grid.distance(Distance::Euclidean, 0, 4 * 12 + 3), 5.0);
        let round = grid.with_wrap(true);
        assert_eq!(round.distance(Distance::Manhattan, 0, 11), 1.0);
        assert_eq!(round.distance(Distance::Manhattan, 0, 6), 6.0);
    }

    #[test]
    fn sizes_are_checked() {
        for bad in [
            "0x5",
            "7",
            "7x",
            "x7",
            "70000x1",
            "65536x2",
            "-1x3",
            "4294967295x4294967295",
        ] {
            assert!(bad.parse::<Grid>().is_err(), "{bad}");
        }
        assert_eq!("65536x1".parse::<Grid>().unwrap().cells(), 65536);
    }
}
