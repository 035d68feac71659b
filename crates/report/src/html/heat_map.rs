//! The heat map as SVG: tiles, ids, dendrograms and the scale.
//!
//! The tiles are a single image within the drawing, because a browser could not handle a quarter of a million
//! rectangles. The lines and text around it are SVG. Phones get a second, narrow drawing with the same image.

mod dendrogram;
mod layout;

use super::clustering::{self, Tree};
use super::cut::cut;
use super::encoded::base64;
use super::matrix::Matrix;
use super::measure::ShownMeasure;
use super::numbers;
use super::picture;
use super::scale::{Scale, color, hex};
use super::text_width::text_width;
use layout::{Labels, Layout, Legend, TICK};
use maud::{Markup, html};
use std::fmt::Write as _;
use std::io::{self, Write};

/// A matrix in drawing order.
pub(crate) struct HeatMap<'a> {
    pub(crate) matrix: &'a Matrix,
    pub(crate) rows: Tree,
    pub(crate) columns: Tree,
    pub(crate) measure: ShownMeasure<'a>,
    pub(crate) scale: &'a Scale,
    /// The names of the two cohorts.
    pub(crate) names: &'a [String; 2],
}

impl<'a> HeatMap<'a> {
    /// Clusters both sides.
    pub(crate) fn new(
        matrix: &'a Matrix,
        measure: ShownMeasure<'a>,
        scale: &'a Scale,
        names: &'a [String; 2],
    ) -> Self {
        let square = matrix.within_one_cohort(measure).ok();
        let columns = match &square {
            // One cohort compared with itself: both sides use the same order, so that the diagonal compares each member
            // with itself.
            Some(_) => None,
            None => Some(clustering::rows(&matrix.transposed(), None)),
        };
        let rows = clustering::rows(matrix, square);
        Self {
            matrix,
            columns: columns.unwrap_or_else(|| rows.renamed(&matrix.a, &matrix.b)),
            rows,
            measure,
            scale,
            names,
        }
    }

    /// Whether either side has too many rows or columns to cluster.
    pub(crate) fn is_by_means(&self) -> bool {
        self.rows.is_by_means() || self.columns.is_by_means()
    }

    /// Whether the scale does not reach a number, such as that of a scanpath with itself.
    pub(crate) fn exceeds_scale(&self) -> bool {
        self.matrix.numbers().any(|value| !self.scale.covers(value))
    }

    /// Writes the tiles only.
    pub(crate) fn write_png(&self, out: &mut dyn Write) -> io::Result<()> {
        picture::write(self.matrix, [&self.rows, &self.columns], self.scale, out)
    }

    /// The wide drawing. `ids` distinguishes the parts of several drawings on one page.
    pub(crate) fn svg(&self, ids: &str, title: &str) -> io::Result<Markup> {
        let layout = Layout::wide(self);
        let mut picture = Vec::new();
        self.write_png(&mut picture)?;
        let picture = format!("data:image/png;base64,{}", base64(&picture));
        let [wide, high] = layout.tiles;
        let smooth = self.matrix.rows().max(self.matrix.columns()) > 300;
        let tiles = html! {
            image class="tiles" id=(format!("{ids}-tiles")) x=(n(layout.left)) y=(n(layout.top)) width=(n(wide)) height=(n(high))
                preserveAspectRatio="none" image-rendering=(if smooth { "auto" } else { "pixelated" }) href=(picture) {}
        };
        Ok(self.drawing(&layout, ids, title, &tiles))
    }

    /// The narrow drawing. It is on the same page as the wide one and shows its tiles.
    pub(crate) fn narrow_svg(&self, ids: &str, title: &str) -> Markup {
        let (wide, layout) = (Layout::wide(self), Layout::narrow(self));
        let scale = [0, 1].map(|axis| layout.tiles[axis] / wide.tiles[axis].max(f64::MIN_POSITIVE));
        let transform = format!(
            "translate({} {}) scale({:.5} {:.5}) translate({} {})",
            n(layout.left),
            n(layout.top),
            scale[0],
            scale[1],
            n(-wide.left),
            n(-wide.top)
        );
        let tiles =
            html! { use class="tiles" href=(format!("#{ids}-tiles")) transform=(transform) {} };
        self.drawing(&layout, &format!("{ids}-narrow"), title, &tiles)
    }

    fn drawing(&self, layout: &Layout, ids: &str, title: &str, tiles: &Markup) -> Markup {
        let [wide, high] = layout.tiles;
        let (left, top) = (layout.left, layout.top);
        let has_trees = matches!(layout.legend, Legend::Right(_));
        html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {:.0} {:.0}", layout.width, layout.height))
                width=(format!("{:.0}", layout.width)) height=(format!("{:.0}", layout.height))
                data-left=(n(left)) data-top=(n(top)) data-wide=(n(layout.tile[0])) data-high=(n(layout.tile[1]))
                role="img" aria-labelledby=(format!("{ids}-title {ids}-desc")) font-family="system-ui, sans-serif" {
                title id=(format!("{ids}-title")) { (title) }
                desc id=(format!("{ids}-desc")) { (self.description()) }
                defs {
                    pattern id=(format!("{ids}-none")) width="6" height="6" patternUnits="userSpaceOnUse" {
                        rect width="6" height="6" fill="#8884" {}
                        path d="M0 6L6 0" stroke="#888" stroke-width="1" {}
                    }
                    (self.ramp(layout, ids))
                }
                @if self.matrix.missing > 0 {
                    rect x=(n(left)) y=(n(top)) width=(n(wide)) height=(n(high)) fill=(format!("url(#{ids}-none)")) {}
                }
                (tiles)
                rect x=(n(left)) y=(n(top)) width=(n(wide)) height=(n(high)) fill="none" stroke="currentColor" stroke-opacity="0.4" {}
                (self.gaps(layout))
                (self.numbers(layout))
                @if has_trees {
                    path class="tree" fill="none" stroke="currentColor" stroke-opacity="0.65" stroke-width=(n((layout.tile[0].min(layout.tile[1]) * 0.4).clamp(0.3, 1.0))) d=(dendrogram::path([&self.rows, &self.columns], layout)) {}
                }
                (self.labels(layout))
                (self.legend(layout, ids))
            }
        }
    }

    fn description(&self) -> String {
        let (rows, columns) = (self.matrix.rows(), self.matrix.columns());
        let range = self
            .matrix
            .range()
            .map_or_else(String::new, |(smallest, largest)| {
                let (smallest, largest) = (numbers::short(smallest), numbers::short(largest));
                format!(", from {smallest} to {largest}")
            });
        let order = if self.is_by_means() {
            "by their means"
        } else {
            "by average-linkage clustering"
        };
        format!(
            "Heat map of {}: {rows} rows of {} by {columns} columns of {}{range}. Rows and columns are ordered {order}. A table with the same numbers follows.",
            self.measure.name,
            cut(&self.names[0]),
            cut(&self.names[1])
        )
    }

    /// The colours of the scale, from its smallest to its largest number.
    fn ramp(&self, layout: &Layout, ids: &str) -> Markup {
        let ticks = &self.scale.ticks;
        let (smallest, largest) = match (ticks.first(), ticks.last()) {
            (Some(smallest), Some(largest)) => (*smallest, *largest),
            _ => (0.0, 1.0),
        };
        let color = |step: u8| {
            let part = f64::from(step) / 16.0;
            hex(self.scale.color(smallest * (1.0 - part) + largest * part))
        };
        // Upwards, or to the right.
        let end = match layout.legend {
            Legend::Right(_) => ["0", "1", "0", "0"],
            Legend::Below(_) => ["0", "0", "1", "0"],
        };
        html! {
            linearGradient id=(format!("{ids}-ramp")) x1=(end[0]) y1=(end[1]) x2=(end[2]) y2=(end[3]) {
                @for step in 0..=16_u8 {
                    stop offset=(format!("{}%", f64::from(step) * 6.25)) stop-color=(color(step)) {}
                }
            }
        }
    }

    /// Fine lines between tiles, if they are large enough.
    fn gaps(&self, layout: &Layout) -> Markup {
        let [tile_wide, tile_high] = layout.tile;
        let [wide, high] = layout.tiles;
        let mut path = String::new();
        if tile_wide.min(tile_high) >= 12.0 {
            for column in 1..self.matrix.columns() {
                let _ = write!(
                    path,
                    "M{} {}v{}",
                    n(layout.left + tile_wide * column as f64),
                    n(layout.top),
                    n(high)
                );
            }
            for row in 1..self.matrix.rows() {
                let _ = write!(
                    path,
                    "M{} {}h{}",
                    n(layout.left),
                    n(layout.top + tile_high * row as f64),
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

    /// The numbers themselves, if the tiles have room for them.
    fn numbers(&self, layout: &Layout) -> Markup {
        let [wide, high] = layout.tile;
        let fits = wide >= 32.0 && high >= 16.0 && !self.measure.is_bit();
        let decimals = numbers::decimals(self.matrix.numbers()).min(2);
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
        let [wide, high] = layout.tile;
        let [rows, columns] = &layout.labels;
        let below = layout.top + layout.tiles[1] + 8.0;
        let (row_x, anchor) = match layout.legend {
            Legend::Right(_) => (layout.left + layout.tiles[0] + 8.0, "start"),
            Legend::Below(_) => (layout.left - 6.0, "end"),
        };
        html! {
            g fill="currentColor" {
                @if let Some(Labels { ids, font, .. }) = rows {
                    g class="rows" font-size=(n(*font)) text-anchor=(anchor) {
                        @for (down, id) in ids.iter().enumerate() {
                            text x=(n(row_x)) y=(n(layout.top + high * (down as f64 + 0.5))) dominant-baseline="central" { (id) }
                        }
                    }
                }
                @if let Some(Labels { ids, font, angle }) = columns {
                    g class="columns" font-size=(n(*font)) text-anchor="end" {
                        @for (across, id) in ids.iter().enumerate() {
                            @let x = layout.left + wide * (across as f64 + 0.5);
                            text transform=(format!("translate({} {}) rotate(-{angle})", n(x), n(below + 2.0))) dominant-baseline="central" { (id) }
                        }
                    }
                }
                g class="axes" font-size="12" font-weight="600" {
                    @match layout.legend {
                        Legend::Right(_) => {
                            text x=(n(row_x)) y=(n(layout.top - 10.0)) { (layout.axes[0]) }
                            text x=(n(row_x)) y=(n(below + 12.0)) { (layout.axes[1]) }
                        }
                        Legend::Below(_) => {
                            text x="2" y="14" { (layout.axes[0]) }
                            text x="2" y="31" { (layout.axes[1]) }
                        }
                    }
                }
            }
        }
    }

    /// Whether every tile is yes or no. A mean over stimuli of yes and no lies between the two.
    pub(crate) fn is_yes_or_no(&self) -> bool {
        let mut numbers = self.matrix.numbers();
        self.measure.is_bit() && numbers.all(|value| value == 0.0 || value == 1.0)
    }

    fn legend_name(&self) -> String {
        match self.measure.is_bit() {
            true => self.measure.threshold.heading().to_string(),
            false => self.measure.label(),
        }
    }

    /// What the legend says next to the name.
    fn legend_note(&self) -> &'static str {
        match self.measure.score_kind() {
            Some(_) if !self.is_yes_or_no() => "bright: alike",
            _ => "",
        }
    }

    fn legend(&self, layout: &Layout, ids: &str) -> Markup {
        let bits = self.is_yes_or_no();
        let note = self.legend_note();
        html! {
            g class="legend" fill="currentColor" font-size="12" {
                @match layout.legend {
                    Legend::Right(left) => {
                        text x=(n(left)) y=(n(layout.top - 24.0)) font-weight="600" { (layout.legend_name) }
                        @if !note.is_empty() {
                            text x=(n(left)) y=(n(layout.top - 10.0)) font-size="10.5" { (note) }
                        }
                        @if bits { (bit_legend(self.scale, [left, layout.top], [0.0, 24.0])) }
                        @else { (self.vertical(left, layout, ids)) }
                    }
                    Legend::Below(top) => {
                        text x=(n(layout.left)) y=(n(top)) {
                            tspan font-weight="600" { (layout.legend_name) }
                            @if !note.is_empty() { tspan font-size="11" { "  " (note) } }
                        }
                        @if bits { (bit_legend(self.scale, [layout.left, top + 12.0], [70.0, 0.0])) }
                        @else { (self.horizontal(top + 10.0, layout, ids)) }
                    }
                }
            }
        }
    }

    /// The scale from bottom to top.
    fn vertical(&self, left: f64, layout: &Layout, ids: &str) -> Markup {
        let (top, high) = (layout.top, layout.tiles[1].clamp(90.0, 220.0));
        html! {
            rect x=(n(left)) y=(n(top)) width="14" height=(n(high)) fill=(format!("url(#{ids}-ramp)")) {}
            @for &tick in &self.scale.ticks {
                @let y = top + high * (1.0 - self.scale.position(tick));
                path d=(format!("M{} {}h5", n(left + 14.0), n(y))) stroke="currentColor" {}
                text x=(n(left + TICK)) y=(n(y)) dominant-baseline="central" { (numbers::short(tick)) }
            }
        }
    }

    /// The scale from left to right.
    fn horizontal(&self, top: f64, layout: &Layout, ids: &str) -> Markup {
        let (left, wide) = (layout.left, layout.width - layout.left - 16.0);
        html! {
            rect x=(n(left)) y=(n(top)) width=(n(wide)) height="12" fill=(format!("url(#{ids}-ramp)")) {}
            @for &tick in &self.scale.ticks {
                @let x = left + wide * self.scale.position(tick);
                @let text = numbers::short(tick);
                path d=(format!("M{} {}v5", n(x), n(top + 12.0))) stroke="currentColor" {}
                text x=(n(x.min(layout.width - text_width(&text) * 6.0))) y=(n(top + 30.0)) text-anchor="middle" { (text) }
            }
        }
    }
}

/// The colours of yes and no, each one step from the one before.
fn bit_legend(scale: &Scale, [x, y]: [f64; 2], [right, down]: [f64; 2]) -> Markup {
    html! {
        @for (at, (value, word)) in [(1.0, "yes"), (0.0, "no")].into_iter().enumerate() {
            @let (x, y) = (x + right * at as f64, y + down * at as f64);
            rect x=(n(x)) y=(n(y)) width="14" height="14" fill=(hex(scale.color(value))) {}
            text x=(n(x + 22.0)) y=(n(y + 11.5)) { (word) }
        }
    }
}

/// Formats a coordinate. Two decimals are finer than any screen.
pub(crate) fn n(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A colour of the ramp, for figures that do not show a number.
pub(crate) fn accent(part: f64) -> String {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped
    let level = (part.clamp(0.0, 1.0) * 254.0) as u8;
    hex(color(level))
}
