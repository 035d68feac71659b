//! The layout of a heat map drawing: wide for screens and paper, narrow for phones.

use super::super::cut::cut_to;
use super::super::matrix::Matrix;

/// The positions of the parts, in drawing units.
pub(crate) struct Layout {
    pub(crate) left: f64,
    pub(crate) top: f64,
    /// Width and height of a tile.
    pub(crate) tile: [f64; 2],
    /// Width and height of all tiles together.
    pub(crate) tiles: [f64; 2],
    /// Whether rows and columns are labelled with their ids.
    pub(crate) labels: [bool; 2],
    /// The most characters of an id that are shown, and its largest font size.
    pub(crate) characters: usize,
    pub(crate) font: f64,
    pub(crate) legend: Legend,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// The position of the scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Legend {
    /// To the right of the ids, at this x. The dendrograms are on the left and above.
    Right(f64),
    /// Below everything, at this y. There are no dendrograms, and the row ids are on the left.
    Below(f64),
}

const ROOM: f64 = 600.0;
const MAX_TILE: f64 = 72.0;

/// The depth of a dendrogram.
pub(crate) const TREE: f64 = 64.0;

const LEGEND: f64 = 92.0;

/// The smallest tile that an id fits next to.
const LABEL_TILE: f64 = 9.0;

/// Slanted ids are easier to read, but need wider tiles.
pub(crate) const SLANT_TILE: f64 = 24.0;

/// The most characters of an id in the wide drawing. The tables show ids in full.
const CHARACTERS: usize = 22;

/// The width of the narrow drawing: a phone screen without margins.
const NARROW: f64 = 340.0;

/// The width for row ids in the narrow drawing, and the number of characters that fit.
const NARROW_IDS: f64 = 88.0;
const NARROW_CHARACTERS: usize = 13;

/// The minimum row height in the narrow drawing, so that rows have room for their ids. It applies up to this many rows.
const NARROW_ROW: f64 = 13.0;
const NARROW_ROWS: usize = 100;

impl Layout {
    pub(crate) fn wide(matrix: &Matrix, names: &[String; 2]) -> Self {
        let size = |lines: usize| (ROOM / lines.max(1) as f64).min(MAX_TILE);
        let (wide, high) = (size(matrix.columns()), size(matrix.rows()));
        // Limits the aspect ratio of tiles if there are few lines.
        let wide = wide.min((4.0 * high).max(16.0));
        let high = high.min((4.0 * wide).max(16.0));
        let tiles = [wide * matrix.columns() as f64, high * matrix.rows() as f64];
        let labels = [high >= LABEL_TILE, wide >= LABEL_TILE];
        let name = |name: &String| longest(std::slice::from_ref(name), CHARACTERS) * 7.4 + 24.0;
        let right = match labels[0] {
            true => longest(&matrix.a, CHARACTERS) * font_size(high) * 0.6 + 16.0,
            false => 30.0,
        };
        let right = right.max(name(&names[0])).max(name(&names[1]));
        let below = longest(&matrix.b, CHARACTERS) * font_size(wide) * 0.6 + 16.0;
        let below = match labels[1] {
            true if wide >= SLANT_TILE => below * 0.7 + 14.0,
            true => below + 6.0,
            false => 24.0,
        };
        // A slanted id ends below its column, so the first one starts further left.
        let slanted = match labels[1] && wide >= SLANT_TILE {
            true => {
                longest(&matrix.b, CHARACTERS) * font_size(wide) * 0.6 * 0.77 + 8.0 - wide / 2.0
            }
            false => 0.0,
        };
        let (left, top) = (slanted.max(TREE + 12.0), TREE + 8.0);
        let legend = left + tiles[0] + right + 18.0;
        Self {
            left,
            top,
            tile: [wide, high],
            tiles,
            labels,
            characters: CHARACTERS,
            font: 12.5,
            legend: Legend::Right(legend),
            width: legend - 18.0 + LEGEND,
            height: top + tiles[1].max(100.0) + below,
        }
    }

    pub(crate) fn narrow(matrix: &Matrix) -> Self {
        let room = NARROW - NARROW_IDS - 4.0;
        let wide = (room / matrix.columns().max(1) as f64).min(MAX_TILE);
        let few = matrix.rows() <= NARROW_ROWS;
        let high = match few {
            true => wide.clamp(NARROW_ROW, 44.0),
            false => (6.0 * ROOM / matrix.rows() as f64).min(wide.max(1.0)),
        };
        let tiles = [wide * matrix.columns() as f64, high * matrix.rows() as f64];
        let labels = [high >= LABEL_TILE, wide >= LABEL_TILE];
        let below = longest(&matrix.b, NARROW_CHARACTERS) * font_size(wide) * 0.6 + 12.0;
        let below = match labels[1] {
            true if wide >= SLANT_TILE => below * 0.7 + 10.0,
            true => below,
            false => 8.0,
        };
        let top = 40.0;
        let legend = top + tiles[1] + below + 14.0;
        Self {
            left: NARROW_IDS,
            top,
            tile: [wide, high],
            tiles,
            labels,
            characters: NARROW_CHARACTERS,
            font: 11.0,
            legend: Legend::Below(legend),
            width: NARROW,
            height: legend + 58.0,
        }
    }
}

/// The font size of the ids next to tiles of this size.
pub(crate) fn font_size(tile: f64) -> f64 {
    (tile * 0.8).clamp(7.5, 13.0)
}

fn longest(ids: &[String], characters: usize) -> f64 {
    let lengths = ids.iter().map(|id| cut_to(id, characters).chars().count());
    lengths.max().unwrap_or_default() as f64
}
