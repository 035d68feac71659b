//! A small matrix with named rows and columns, drawn as tiles with numbers in them.

use crate::html::cut::fit;
use crate::html::heat_map::n;
use crate::html::scale::{Scale, hex};
use crate::html::text_width::{BOLD, NAME_ROOM, text_width};
use maud::{Markup, html};

/// A matrix with more rows or columns is shown as a table only.
const MAX_ROWS_OR_COLUMNS: usize = 24;
/// More columns than this do not fit on a phone, so the drawing scrolls.
const MANY_COLUMNS: usize = 5;
const TILE: [f64; 2] = [76.0, 50.0];
/// The width for a row or column name, and its font size.
const NAME: f64 = 130.0;
const FONT: f64 = 13.0;
/// Wider column names are slanted.
const LEVEL_NAME: f64 = 74.0;
/// The font size of the axis names.
const AXIS_FONT: f64 = 12.0;

/// A matrix to draw.
pub(super) struct HeatMap<'a> {
    pub(super) title: String,
    /// The names of the row axis and the column axis.
    pub(super) axes: [String; 2],
    pub(super) rows: &'a [String],
    pub(super) columns: &'a [String],
    pub(super) scale: Scale,
    /// The tile at a row and a column; `None` if there is no number.
    pub(super) tile: &'a dyn Fn(usize, usize) -> Option<HeatMapTile>,
}

/// One number.
pub(super) struct HeatMapTile {
    /// The number that determines the colour.
    pub(super) value: f64,
    /// The number as shown in the tile.
    pub(super) shown: String,
    /// A smaller line of text below the number.
    pub(super) below: String,
}

impl HeatMap<'_> {
    /// The drawing; empty if there are too many tiles to read.
    pub(super) fn drawing(&self, id: &str) -> Markup {
        let (rows, columns) = (self.rows.len(), self.columns.len());
        if rows == 0 || columns == 0 || rows.max(columns) > MAX_ROWS_OR_COLUMNS {
            return html! {};
        }
        let name = |name: &String| fit(name, NAME / FONT);
        let widest = |names: &[String]| {
            let widths = names.iter().map(|one| text_width(&name(one)) * FONT);
            widths.fold(0.0, f64::max)
        };
        let slanted = widest(self.columns) > LEVEL_NAME;
        let left = widest(self.rows) + 14.0;
        let top = 48.0
            + if slanted {
                widest(self.columns) * 0.65 + 8.0
            } else {
                18.0
            };
        // A slanted name extends beyond the last column.
        let beyond = if slanted {
            widest(self.columns) * 0.8
        } else {
            4.0
        };
        let axes = [
            format!("Rows: {}", fit(&self.axes[0], NAME_ROOM)),
            format!("Columns: {}", fit(&self.axes[1], NAME_ROOM)),
        ];
        let width = axes
            .iter()
            .map(|axis| text_width(axis) * AXIS_FONT * BOLD + 4.0)
            .fold(left + TILE[0] * columns as f64 + beyond, f64::max)
            .max(250.0);
        let height = top + TILE[1] * rows as f64 + 4.0;
        let corner = |row: usize, column: usize| {
            [left + TILE[0] * column as f64, top + TILE[1] * row as f64]
        };
        let class = match columns > MANY_COLUMNS {
            true => "scroll matrix large",
            false => "scroll matrix",
        };
        html! {
            div class=(class) tabindex="0" role="region" aria-label=(self.title) {
                svg viewBox=(format!("0 0 {width:.0} {height:.0}")) width=(format!("{width:.0}")) height=(format!("{height:.0}")) role="img" aria-labelledby=(format!("{id}-title")) {
                    title id=(format!("{id}-title")) { (self.title) ": the table below has the same numbers" }
                    g fill="currentColor" font-size="12" font-weight="600" {
                        text x="2" y="14" { (axes[0]) }
                        text x="2" y="31" { (axes[1]) }
                    }
                    g fill="currentColor" font-size="13" {
                        @for (column, one) in self.columns.iter().enumerate() {
                            @let x = corner(0, column)[0] + TILE[0] / 2.0;
                            @if slanted {
                                text transform=(format!("translate({} {}) rotate(-40)", n(x), n(top - 8.0))) { (name(one)) }
                            } @else {
                                text x=(n(x)) y=(n(top - 8.0)) text-anchor="middle" { (name(one)) }
                            }
                        }
                        @for (row, one) in self.rows.iter().enumerate() {
                            text x=(n(left - 8.0)) y=(n(corner(row, 0)[1] + TILE[1] / 2.0)) text-anchor="end" dominant-baseline="central" { (name(one)) }
                        }
                    }
                    @for (row, row_name) in self.rows.iter().enumerate() {
                        @for (column, column_name) in self.columns.iter().enumerate() {
                            (self.one(corner(row, column), (self.tile)(row, column).as_ref(), [row_name, column_name]))
                        }
                    }
                }
            }
        }
    }

    fn one(
        &self,
        [x, y]: [f64; 2],
        tile: Option<&HeatMapTile>,
        [row, column]: [&String; 2],
    ) -> Markup {
        let middle = n(x + TILE[0] / 2.0);
        html! {
            g {
                title {
                    (row) " × " (column) ": "
                    @match tile {
                        Some(tile) => { (tile.shown) " (" (tile.below) ")" }
                        None => "no number",
                    }
                }
                rect x=(n(x + 1.0)) y=(n(y + 1.0)) width=(n(TILE[0] - 2.0)) height=(n(TILE[1] - 2.0)) rx="4"
                    fill=(tile.map_or_else(|| "#8884".to_string(), |tile| hex(self.scale.color(tile.value)))) {}
                @match tile {
                    Some(tile) => {
                        g fill=(self.scale.ink(tile.value)) text-anchor="middle" {
                            text x=(middle) y=(n(y + 23.0)) font-size="15" font-weight="600" { (tile.shown) }
                            text x=(middle) y=(n(y + 40.0)) font-size="12" { (tile.below) }
                        }
                    }
                    None => text x=(middle) y=(n(y + 30.0)) font-size="15" text-anchor="middle" fill="currentColor" { "–" },
                }
            }
        }
    }
}
