//! A heat map's tiles as a PNG: a palette of 255 colours, and a transparent one for missing pairs.

use super::clustering::Tree;
use super::matrix::Matrix;
use super::scale::{Scale, color};
use std::io::{self, Write};

/// Pictures are enlarged to about this many pixels, so that programs that blur small pictures do not blur the tiles.
const PIXELS: usize = 900;

/// The largest tile, in pixels.
const MAX_TILE: usize = 64;

/// The palette entry for a tile without a pair.
const NONE: u8 = 255;

/// Writes the tiles in the order of the two trees.
pub(crate) fn write(
    matrix: &Matrix,
    [rows, columns]: [&Tree; 2],
    scale: &Scale,
    out: &mut dyn Write,
) -> io::Result<()> {
    let enlarged = |tiles: usize| (PIXELS / tiles.max(1)).clamp(1, MAX_TILE);
    let (wide, high) = (enlarged(matrix.columns()), enlarged(matrix.rows()));
    let side = |tiles: usize, size: usize| u32::try_from(tiles * size).map_err(io::Error::other);
    let (width, height) = (side(matrix.columns(), wide)?, side(matrix.rows(), high)?);
    let mut encoder = png::Encoder::new(out, width, height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(
        (0..NONE)
            .flat_map(color)
            .chain([255; 3])
            .collect::<Vec<u8>>(),
    );
    encoder.set_trns(
        [255; NONE as usize]
            .into_iter()
            .chain([0])
            .collect::<Vec<u8>>(),
    );
    encoder.set_compression(png::Compression::Balanced);
    // With this filter, a row that equals the one above costs nothing.
    encoder.set_filter(if high > 1 {
        png::Filter::Up
    } else {
        png::Filter::NoFilter
    });
    let mut writer = encoder.write_header()?;
    let mut pixels = Vec::with_capacity(width as usize * height as usize);
    for &row in &rows.order {
        let row_pixels: Vec<u8> = columns
            .order
            .iter()
            .map(|&column| {
                matrix
                    .get(row, column)
                    .map_or(NONE, |value| scale.level(value))
            })
            .flat_map(|level| std::iter::repeat_n(level, wide))
            .collect();
        for _ in 0..high {
            pixels.extend_from_slice(&row_pixels);
        }
    }
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(())
}
