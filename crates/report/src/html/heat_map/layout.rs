//! The layout of a heat map drawing: wide for screens and paper, narrow for phones.

use super::super::cut::{fit, fit_apart};
use super::super::numbers;
use super::super::text_width::{BOLD, NAME_ROOM, text_width};
use super::HeatMap;

/// The positions of the parts, in drawing units, and the text next to them.
pub(crate) struct Layout {
    pub(crate) left: f64,
    pub(crate) top: f64,
    /// Width and height of a tile.
    pub(crate) tile: [f64; 2],
    /// Width and height of all tiles together.
    pub(crate) tiles: [f64; 2],
    /// The ids of the rows and of the columns. `None` if the tiles are too small for ids.
    pub(crate) labels: [Option<Labels>; 2],
    /// The names of the two cohorts, with words or arrows that say which one is down and which is across.
    pub(crate) axes: [String; 2],
    pub(crate) legend_name: String,
    pub(crate) legend: Legend,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// The ids of the rows or of the columns in drawing order, cut to fit.
pub(crate) struct Labels {
    pub(crate) ids: Vec<String>,
    pub(crate) font: f64,
    /// The angle of column ids, in degrees.
    pub(crate) angle: f64,
}

/// The position of the scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Legend {
    /// To the right of the ids, at this x. The dendrograms are on the left and above.
    Right(f64),
    /// Below everything, at this y. There are no dendrograms, and the row ids are on the left.
    Below(f64),
}

/// Where the numbers of a vertical scale start, to the right of its left edge.
pub(crate) const TICK: f64 = 23.0;

const ROOM: f64 = 600.0;
const MAX_TILE: f64 = 72.0;

/// The depth of a dendrogram.
pub(crate) const TREE: f64 = 64.0;

/// The minimum width of the scale and its numbers.
const LEGEND: f64 = 74.0;

/// The font size of the cohort names and the legend.
const NAME_FONT: f64 = 12.0;

/// The smallest tile that an id fits next to.
const LABEL_TILE: f64 = 9.0;

/// Slanted ids are easier to read, but need wider tiles.
const SLANT_TILE: f64 = 24.0;
const SLANT: f64 = 40.0;

/// The width for ids in the wide drawing, and their largest font size. The tables show ids in full.
const WIDE_IDS: f64 = 168.0;
const WIDE_FONT: f64 = 12.5;

/// The width of the narrow drawing: a phone screen without margins.
const NARROW: f64 = 340.0;

/// The width for row ids in the narrow drawing, with the space between them and the tiles, and their largest font size.
const NARROW_IDS: f64 = 96.0;
const NARROW_FONT: f64 = 11.0;

/// The space between ids and tiles.
const GAP: f64 = 8.0;

/// The minimum row height in the narrow drawing, so that rows have room for their ids. It applies up to this many rows.
const NARROW_ROW: f64 = 13.0;
const NARROW_ROWS: usize = 100;

impl Layout {
    pub(crate) fn wide(map: &HeatMap<'_>) -> Self {
        let [rows, columns] = [map.matrix.rows(), map.matrix.columns()];
        let size = |count: usize| (ROOM / count.max(1) as f64).min(MAX_TILE);
        let (wide, high) = (size(columns), size(rows));
        // Limits the aspect ratio of tiles if there are few rows or columns.
        let wide = wide.min((4.0 * high).max(16.0));
        let high = high.min((4.0 * wide).max(16.0));
        let tiles = [wide * columns as f64, high * rows as f64];
        let labels = Labels::of(map, [wide, high], WIDE_FONT, WIDE_IDS);
        let [first, second] = map.names.each_ref().map(|name| fit(name, NAME_ROOM));
        let axes = [format!("{first} ↓"), format!("← {second}")];
        let names = axes.iter().map(|name| bold_width(name));
        let right = names.fold(widest(&labels[0]), f64::max) + 16.0;
        let below = match &labels[1] {
            Some(ids) => ids.depth() + 22.0,
            None => 24.0,
        };
        let slanted = labels[1]
            .as_ref()
            .map_or(0.0, |ids| ids.left_of_tiles(wide));
        let (left, top) = (slanted.max(TREE + 12.0), TREE + 8.0);
        let legend = left + tiles[0] + right + 18.0;
        let legend_name = fit(&map.legend_name(), NAME_ROOM);
        let ticks = map.scale.ticks.iter();
        let ticks = ticks.map(|&tick| TICK + NAME_FONT * text_width(&numbers::short(tick)));
        let legend_width = ticks.fold(bold_width(&legend_name), f64::max);
        Self {
            left,
            top,
            tile: [wide, high],
            tiles,
            labels,
            axes,
            legend_name,
            legend: Legend::Right(legend),
            width: legend + LEGEND.max(legend_width + 2.0),
            height: top + tiles[1].max(100.0) + below,
        }
    }

    pub(crate) fn narrow(map: &HeatMap<'_>) -> Self {
        let [rows, columns] = [map.matrix.rows(), map.matrix.columns()];
        let room = NARROW - NARROW_IDS - 4.0;
        let wide = (room / columns.max(1) as f64).min(MAX_TILE);
        let few = rows <= NARROW_ROWS;
        let high = match few {
            true => wide.clamp(NARROW_ROW, 44.0),
            false => (6.0 * ROOM / rows as f64).min(wide.max(1.0)),
        };
        let tiles = [wide * columns as f64, high * rows as f64];
        let labels = Labels::of(map, [wide, high], NARROW_FONT, NARROW_IDS - GAP);
        let below = labels[1].as_ref().map_or(8.0, |ids| ids.depth() + 18.0);
        let top = 40.0;
        let legend = top + tiles[1] + below + 14.0;
        let axis = |label: &str, name: &String| {
            let room = (NARROW - 4.0) / (NAME_FONT * BOLD);
            format!("{label}{}", fit(name, room - text_width(label)))
        };
        let legend_room = NARROW - NARROW_IDS - 2.0 - NAME_FONT * text_width(map.legend_note());
        Self {
            left: NARROW_IDS,
            top,
            tile: [wide, high],
            tiles,
            labels,
            axes: [
                axis("Rows: ", &map.names[0]),
                axis("Columns: ", &map.names[1]),
            ],
            legend_name: fit(&map.legend_name(), legend_room / (NAME_FONT * BOLD)),
            legend: Legend::Below(legend),
            width: NARROW,
            height: legend + 58.0,
        }
    }
}

impl Labels {
    /// The labels of the rows and of the columns, for tiles of this width and height.
    fn of(
        map: &HeatMap<'_>,
        [wide, high]: [f64; 2],
        largest_font: f64,
        room: f64,
    ) -> [Option<Self>; 2] {
        let side = |ids: &[String], order: &[usize], tile: f64| {
            let font = (tile * 0.8).clamp(7.5, largest_font);
            let in_order = || order.iter().map(|&at| ids[at].as_str());
            (tile >= LABEL_TILE).then(|| Self {
                ids: fit_apart(&in_order().collect::<Vec<_>>(), room / font),
                font,
                angle: if tile >= SLANT_TILE { SLANT } else { 90.0 },
            })
        };
        [
            side(&map.matrix.a, &map.rows.order, high),
            side(&map.matrix.b, &map.columns.order, wide),
        ]
    }

    fn widths(&self) -> impl Iterator<Item = f64> {
        self.ids.iter().map(|id| text_width(id) * self.font)
    }

    /// How far below its start the end of a column id can be.
    fn depth(&self) -> f64 {
        let (sin, cos) = self.angle.to_radians().sin_cos();
        self.widths().fold(0.0, f64::max) * sin + self.font * cos
    }

    /// How far slanted column ids extend to the left of the first tile: an id ends below its column.
    fn left_of_tiles(&self, tile: f64) -> f64 {
        let (sin, cos) = self.angle.to_radians().sin_cos();
        let left = self.widths().enumerate();
        let left = left.map(|(at, width)| width * cos + self.font * sin - tile * (at as f64 + 0.5));
        left.fold(0.0, f64::max)
    }
}

/// The width of the widest row id.
fn widest(labels: &Option<Labels>) -> f64 {
    let labels = labels.as_ref();
    labels.map_or(14.0, |labels| labels.widths().fold(0.0, f64::max))
}

fn bold_width(text: &str) -> f64 {
    text_width(text) * NAME_FONT * BOLD
}
