//! The heat map as SVG: cells, ids, dendrograms and the scale.
//!
//! The cells are one picture within the drawing, whatever their number; a browser would not survive a quarter of a million
//! rectangles. Lines and words around it are SVG.

use super::clustering::{self, Tree};
use super::encoded::base64;
use super::matrix::{Matrix, Quantity};
use super::numbers;
use super::picture;
use super::scale::{Scale, color, hex};
use maud::{Markup, html};
use std::fmt::Write as _;
use std::io::{self, Write};

/// A matrix in the order in which it is drawn.
pub(crate) struct HeatMap<'a> {
    pub(crate) matrix: &'a Matrix,
    pub(crate) rows: Tree,
    pub(crate) columns: Tree,
    pub(crate) quantity: Quantity,
    pub(crate) scale: &'a Scale,
}

/// Where everything stands in the drawing.
pub(crate) struct Layout {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) cell: [f64; 2],
    cells: [f64; 2],
    label_room: [f64; 2],
    labels: [bool; 2],
    width: f64,
    height: f64,
}

const ROOM: f64 = 600.0;
const MAX_CELL: f64 = 72.0;
const TREE: f64 = 64.0;
const LEGEND: f64 = 92.0;

/// The smallest cell that an id fits beside.
const LABEL_CELL: f64 = 9.0;

/// The most characters of an id in the drawing; the tables have all.
const LABEL_CHARACTERS: usize = 22;

impl<'a> HeatMap<'a> {
    /// Clusters both sides.
    pub(crate) fn new(matrix: &'a Matrix, quantity: Quantity, scale: &'a Scale) -> Self {
        let square = matrix.within_one_cohort(quantity).ok();
        let columns = match &square {
            // One cohort with itself: both sides in the same order, so that the diagonal is one.
            Some(_) => None,
            None => Some(clustering::rows(&matrix.transposed(), None)),
        };
        let rows = clustering::rows(matrix, square);
        Self {
            matrix,
            columns: columns.unwrap_or_else(|| rows.renamed(&matrix.a, &matrix.b)),
            rows,
            quantity,
            scale,
        }
    }

    /// Whether a side has too many lines to cluster.
    pub(crate) fn is_by_means(&self) -> bool {
        self.rows.is_by_means() || self.columns.is_by_means()
    }

    /// The cells alone.
    pub(crate) fn write_png(&self, out: &mut dyn Write) -> io::Result<()> {
        picture::write(self.matrix, [&self.rows, &self.columns], self.scale, out)
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout::new(self.matrix)
    }

    /// The drawing. `ids` tells the parts of several drawings on one page apart.
    pub(crate) fn svg(&self, ids: &str, title: &str) -> io::Result<Markup> {
        let layout = self.layout();
        let mut picture = Vec::new();
        self.write_png(&mut picture)?;
        let picture = format!("data:image/png;base64,{}", base64(&picture));
        let [wide, high] = layout.cells;
        let (left, top) = (layout.left, layout.top);
        let smooth = self.matrix.rows().max(self.matrix.columns()) > 300;
        Ok(html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {:.0} {:.0}", layout.width, layout.height))
                width=(format!("{:.0}", layout.width)) height=(format!("{:.0}", layout.height))
                role="img" aria-labelledby=(format!("{ids}-title {ids}-desc")) font-family="system-ui, sans-serif" {
                title id=(format!("{ids}-title")) { (title) }
                desc id=(format!("{ids}-desc")) { (self.in_words()) }
                defs {
                    pattern id=(format!("{ids}-none")) width="6" height="6" patternUnits="userSpaceOnUse" {
                        rect width="6" height="6" fill="#8884" {}
                        path d="M0 6L6 0" stroke="#888" stroke-width="1" {}
                    }
                    linearGradient id=(format!("{ids}-ramp")) x1="0" y1="1" x2="0" y2="0" {
                        @for step in 0..=16_u8 {
                            stop offset=(format!("{}%", f64::from(step) * 6.25)) stop-color=(hex(self.scale_color(step))) {}
                        }
                    }
                }
                @if self.matrix.missing > 0 {
                    rect x=(n(left)) y=(n(top)) width=(n(wide)) height=(n(high)) fill=(format!("url(#{ids}-none)")) {}
                }
                image class="cells" x=(n(left)) y=(n(top)) width=(n(wide)) height=(n(high)) preserveAspectRatio="none"
                    image-rendering=(if smooth { "auto" } else { "pixelated" }) href=(picture) {}
                rect x=(n(left)) y=(n(top)) width=(n(wide)) height=(n(high)) fill="none" stroke="currentColor" stroke-opacity="0.4" {}
                (self.gaps(&layout))
                (self.numbers(&layout))
                path class="tree" fill="none" stroke="currentColor" stroke-opacity="0.65" stroke-width=(n((layout.cell[0].min(layout.cell[1]) * 0.4).clamp(0.3, 1.0))) d=(self.trees(&layout)) {}
                (self.labels(&layout))
                (self.legend(&layout, ids))
            }
        })
    }

    fn in_words(&self) -> String {
        let (rows, columns) = (self.matrix.rows(), self.matrix.columns());
        let range = self
            .matrix
            .range()
            .map_or_else(String::new, |(least, greatest)| {
                let (least, greatest) = (numbers::short(least), numbers::short(greatest));
                format!(", from {least} to {greatest}")
            });
        let order = if self.is_by_means() {
            "by their means"
        } else {
            "by average-linkage clustering"
        };
        format!(
            "Heat map of {}: {rows} rows of A by {columns} columns of B{range}. Lines are ordered {order}. A table with the same numbers follows.",
            self.quantity.name()
        )
    }

    fn scale_color(&self, sixteenth: u8) -> [u8; 3] {
        let ticks = &self.scale.ticks;
        let (least, greatest) = match (ticks.first(), ticks.last()) {
            (Some(least), Some(greatest)) => (*least, *greatest),
            _ => (0.0, 1.0),
        };
        let part = f64::from(sixteenth) / 16.0;
        self.scale.color(least * (1.0 - part) + greatest * part)
    }

    /// Fine lines between cells that are large enough.
    fn gaps(&self, layout: &Layout) -> Markup {
        let [cell_wide, cell_high] = layout.cell;
        let [wide, high] = layout.cells;
        let mut path = String::new();
        if cell_wide.min(cell_high) >= 12.0 {
            for column in 1..self.matrix.columns() {
                let _ = write!(
                    path,
                    "M{} {}v{}",
                    n(layout.left + cell_wide * column as f64),
                    n(layout.top),
                    n(high)
                );
            }
            for row in 1..self.matrix.rows() {
                let _ = write!(
                    path,
                    "M{} {}h{}",
                    n(layout.left),
                    n(layout.top + cell_high * row as f64),
                    n(wide)
                );
            }
        }
        html! {
            @if !path.is_empty() {
                path class="gaps" d=(path) stroke="#fff" stroke-width="1.5" fill="none" {}
            }
        }
    }

    /// The numbers themselves, where cells have room for them.
    fn numbers(&self, layout: &Layout) -> Markup {
        let [wide, high] = layout.cell;
        let fits = wide >= 34.0 && high >= 18.0 && self.quantity != Quantity::Within;
        let decimals = numbers::decimals(self.matrix.known()).min(2);
        html! {
            @if fits {
                g class="numbers" text-anchor="middle" font-size=(n((wide / 3.6).min(13.0))) {
                    @for (down, &row) in self.rows.order.iter().enumerate() {
                        @for (across, &column) in self.columns.order.iter().enumerate() {
                            @if let Some(value) = self.matrix.get(row, column) {
                                text x=(n(layout.left + wide * (across as f64 + 0.5)))
                                    y=(n(layout.top + high * (down as f64 + 0.5) + 4.5))
                                    fill=(self.scale.ink(value)) { (numbers::fixed(value, decimals)) }
                            }
                        }
                    }
                }
            }
        }
    }

    fn labels(&self, layout: &Layout) -> Markup {
        let [wide, high] = layout.cell;
        let size = |cell: f64| n((cell * 0.8).clamp(7.5, 13.0));
        let right = layout.left + layout.cells[0] + 8.0;
        let below = layout.top + layout.cells[1] + 8.0;
        // Slanted words are easier to read, but need wider cells.
        let angle = if wide >= 24.0 { -40 } else { -90 };
        html! {
            g fill="currentColor" {
                @if layout.labels[0] {
                    g class="rows" font-size=(size(high)) {
                        @for (down, &row) in self.rows.order.iter().enumerate() {
                            text x=(n(right)) y=(n(layout.top + high * (down as f64 + 0.5))) dominant-baseline="central" { (cut(&self.matrix.a[row])) }
                        }
                    }
                }
                @if layout.labels[1] {
                    g class="columns" font-size=(size(wide)) text-anchor="end" {
                        @for (across, &column) in self.columns.order.iter().enumerate() {
                            @let x = layout.left + wide * (across as f64 + 0.5);
                            text transform=(format!("translate({} {}) rotate({angle})", n(x), n(below + 2.0))) dominant-baseline="central" { (cut(&self.matrix.b[column])) }
                        }
                    }
                }
                g font-size="12" font-weight="600" {
                    text x=(n(right)) y=(n(layout.top - 10.0)) { "A ↓" }
                    text x=(n(right)) y=(n(below + 12.0)) { "← B" }
                }
            }
        }
    }

    fn legend(&self, layout: &Layout, ids: &str) -> Markup {
        let left = layout.left + layout.cells[0] + layout.label_room[0] + 18.0;
        let high = layout.cells[1].clamp(90.0, 220.0);
        let top = layout.top;
        // The mean over stimuli of yes and no has numbers between the two.
        let bits = self.quantity == Quantity::Within
            && self
                .matrix
                .known()
                .all(|value| value == 0.0 || value == 1.0);
        let alike = self.quantity.alike().filter(|_| !bits);
        html! {
            g class="legend" fill="currentColor" font-size="12" {
                @if bits {
                    @for (at, (value, word)) in [(1.0, "yes"), (0.0, "no")].into_iter().enumerate() {
                        @let y = top + 24.0 * at as f64;
                        rect x=(n(left)) y=(n(y)) width="14" height="14" fill=(hex(self.scale.color(value))) {}
                        text x=(n(left + 22.0)) y=(n(y + 11.5)) { (word) }
                    }
                } @else {
                    rect x=(n(left)) y=(n(top)) width="14" height=(n(high)) fill=(format!("url(#{ids}-ramp)")) {}
                    @for &tick in &self.scale.ticks {
                        @let y = top + high * (1.0 - self.scale.place(tick));
                        path d=(format!("M{} {}h5", n(left + 14.0), n(y))) stroke="currentColor" {}
                        text x=(n(left + 23.0)) y=(n(y)) dominant-baseline="central" { (numbers::short(tick)) }
                    }
                }
                text x=(n(left)) y=(n(top - 24.0)) font-weight="600" { (self.quantity.name().split(' ').next().unwrap_or_default()) }
                @if alike.is_some() {
                    text x=(n(left)) y=(n(top - 10.0)) font-size="10.5" { "bright: alike" }
                }
            }
        }
    }

    /// Both dendrograms in one path.
    fn trees(&self, layout: &Layout) -> String {
        let mut path = String::new();
        let [wide, high] = layout.cell;
        branches(&self.rows, |[from, to], [near, far, height]| {
            let x = |height: f64| n(layout.left - 6.0 - height * (TREE - 10.0));
            let y = |at: f64| n(layout.top + (at + 0.5) * high);
            let _ = write!(
                path,
                "M{} {}H{}V{}H{}",
                x(near),
                y(from),
                x(height),
                y(to),
                x(far)
            );
        });
        branches(&self.columns, |[from, to], [near, far, height]| {
            let x = |at: f64| n(layout.left + (at + 0.5) * wide);
            let y = |height: f64| n(layout.top - 6.0 - height * (TREE - 10.0));
            let _ = write!(
                path,
                "M{} {}V{}H{}V{}",
                x(from),
                y(near),
                y(height),
                x(to),
                y(far)
            );
        });
        path
    }
}

/// Calls `draw` for each merge: where its two branches stand, and how high the first, the second and itself are, from 0 to 1.
fn branches(tree: &Tree, mut draw: impl FnMut([f64; 2], [f64; 3])) {
    let lines = tree.order.len();
    let top = tree
        .merges
        .iter()
        .fold(0.0_f64, |top, merge| top.max(merge.height));
    let mut places = vec![(0.0, 0.0); lines];
    for (at, &line) in tree.order.iter().enumerate() {
        places[line] = (at as f64, 0.0);
    }
    for merge in &tree.merges {
        let [(from, near), (to, far)] = merge.children.map(|child| places[child]);
        // Where all lines are equal the tree has no height; it is drawn flat.
        let height = if top > 0.0 { merge.height / top } else { 0.0 };
        draw([from, to], [near, far, height]);
        places.push(((from + to) / 2.0, height));
    }
}

impl Layout {
    fn new(matrix: &Matrix) -> Self {
        let size = |lines: usize| (ROOM / lines.max(1) as f64).min(MAX_CELL);
        let (wide, high) = (size(matrix.columns()), size(matrix.rows()));
        // Few long lines are not stretched to ribbons.
        let wide = wide.min((4.0 * high).max(16.0));
        let high = high.min((4.0 * wide).max(16.0));
        let cells = [wide * matrix.columns() as f64, high * matrix.rows() as f64];
        let labels = [high >= LABEL_CELL, wide >= LABEL_CELL];
        let room = |ids: &[String], cell: f64| {
            let longest = ids
                .iter()
                .map(|id| cut(id).chars().count())
                .max()
                .unwrap_or(0);
            longest as f64 * (cell * 0.8).clamp(7.5, 13.0) * 0.6 + 16.0
        };
        let right = if labels[0] {
            room(&matrix.a, high)
        } else {
            30.0
        };
        let below = match labels[1] {
            true if wide >= 24.0 => room(&matrix.b, wide) * 0.7 + 14.0,
            true => room(&matrix.b, wide) + 6.0,
            false => 24.0,
        };
        let (left, top) = (TREE + 12.0, TREE + 8.0);
        Self {
            left,
            top,
            cell: [wide, high],
            cells,
            label_room: [right, below],
            labels,
            width: left + cells[0] + right + LEGEND,
            height: top + cells[1].max(100.0) + below,
        }
    }
}

/// An id as it fits into a drawing.
pub(crate) fn cut(id: &str) -> String {
    let clean = crate::table::printable(id);
    if clean.chars().count() <= LABEL_CHARACTERS {
        return clean;
    }
    let start: String = clean.chars().take(LABEL_CHARACTERS - 1).collect();
    format!("{start}…")
}

/// A coordinate: two decimals are finer than any screen.
fn n(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// One of the ramp's colours, for figures that are not about a number.
pub(crate) fn accent(part: f64) -> String {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped
    let level = (part.clamp(0.0, 1.0) * 254.0) as u8;
    hex(color(level))
}
