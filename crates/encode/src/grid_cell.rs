//! Maps points to grid cells.
//!
//! The stimulus is cut into `columns × rows` equal cells, numbered row by row from the top left. A cell owns its left
//! and upper edges; the right and lower edges of the stimulus belong to the last cells, so that `x = width` is on the
//! stimulus and not beyond it. [`Space`] knows which way y points.
//!
//! On a screen, a whole pixel lies in one cell: the one that owns its upper left corner. So on 1024 pixels in 7
//! columns, where the second edge falls within pixel 292, all of x = 292…292.99 is in the second column. ScanMatch's
//! pixel mask does the same, and its published example has such a point. Fractions and degrees have no pixels and are
//! placed exactly.

use crate::{Outside, Space, SpaceKind};
use veilpath_metrics::Grid;

/// The cell under a point, or `None` if the point lies beyond the edge and must be dropped.
///
/// `x` and `y` must be finite and the space must have an area (see [`has_area`]).
pub(crate) fn cell_at(grid: &Grid, space: &Space, outside: Outside, x: f64, y: f64) -> Option<u16> {
    let (x, y) = space.project(x, y);
    let pixels = space.kind == SpaceKind::Pixels;
    let part = |value, start, end, parts| part(value, start, end, parts, pixels, outside);
    let column = part(
        wrap_longitude(space, x),
        space.left,
        space.right,
        grid.columns(),
    )?;
    let row = part(y, space.top, space.bottom, grid.rows())?;
    u16::try_from(row * grid.columns() + column).ok()
}

/// On a globe, moves a longitude between the edges: 190 becomes −170, and −10 becomes 350 where longitudes run from 0
/// to 360. Trackers and unwrapped head movements write both. A value more than a full turn beyond an edge is not a
/// longitude and stays as it is.
fn wrap_longitude(space: &Space, x: f64) -> f64 {
    let turn = (space.right - space.left).abs();
    let (min, max) = (space.left.min(space.right), space.left.max(space.right));
    match x {
        _ if space.kind != SpaceKind::Globe => x,
        x if x < min && x >= min - turn => x + turn,
        x if x > max && x <= max + turn => x - turn,
        x => x,
    }
}

/// Width divided by height of all spaces, if it is known and the same.
pub(crate) fn common_aspect<'a>(spaces: impl Iterator<Item = &'a Option<Space>>) -> Option<f64> {
    let mut aspects = spaces.map(|space| space.as_ref().and_then(Space::aspect));
    let first = aspects.next()??;
    let same = |other: Option<f64>| other.is_some_and(|other| (other - first).abs() < 1e-6);
    aspects.all(same).then_some(first)
}

/// Whether the screen size and viewing distance that visual angles need are known.
pub(crate) fn is_measured(space: &Space) -> bool {
    match space.kind {
        SpaceKind::VisualAngle { distance_cm } => distance_cm > 0.0 && has_area(space),
        _ => true,
    }
}

/// Whether points can be placed in this space.
pub(crate) fn has_area(space: &Space) -> bool {
    let width = space.right - space.left;
    let height = space.bottom - space.top;
    width.is_finite() && height.is_finite() && width != 0.0 && height != 0.0
}

/// The relative error of a few operations on doubles; no file is that precise.
const ROUNDING: f64 = 1e-13;

/// Which of `parts` equal parts from `start` to `end` the value lies in; with `pixels`, the whole pixel.
///
/// This is `floor(fraction · parts)` of [`Space::fraction`], but multiplied before it is divided. A pixel on the edge
/// of a cell (300 of 700 in 7 parts) then gives a whole number, not one that rounding has put just below it.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // within 0..=parts after the check
fn part(
    value: f64,
    start: f64,
    end: f64,
    parts: u32,
    pixels: bool,
    outside: Outside,
) -> Option<u32> {
    let length = (end - start).abs();
    let distance = if end > start {
        value - start
    } else {
        start - value
    };
    if !(0.0..=length).contains(&distance) && outside == Outside::Drop {
        return None;
    }
    let distance = if pixels { distance.floor() } else { distance };
    let position = distance * f64::from(parts) / length;
    // Rounding must not move a point on an edge into the cell before it: in doubles, 0.29 · 100 is less than 29, and 1
    // − 0.8 is less than 0.2.
    let edge = position.round();
    let position = if (position - edge).abs() < f64::from(parts) * ROUNDING {
        edge
    } else {
        position
    };
    Some((position.max(0.0) as u32).min(parts - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cell(grid: &str, space: &Space, x: f64, y: f64) -> Option<u16> {
        cell_at(&grid.parse().unwrap(), space, Outside::Drop, x, y)
    }

    #[test]
    fn edges_belong_to_the_stimulus_and_what_is_beyond_does_not() {
        let screen = Space::pixels(700.0, 350.0);
        for (x, y, expected) in [
            (0.0, 0.0, Some(0)),
            (99.999, 0.0, Some(0)),
            (100.0, 0.0, Some(1)),
            (300.0, 0.0, Some(3)),
            (600.0, 49.9, Some(6)),
            (700.0, 0.0, Some(6)),
            (0.0, 50.0, Some(7)),
            (700.0, 350.0, Some(48)),
            (-0.0, 0.0, Some(0)),
            (-0.001, 0.0, None),
            (700.001, 0.0, None),
            (0.0, 350.001, None),
        ] {
            assert_eq!(cell("7x7", &screen, x, y), expected, "({x}, {y})");
        }
    }

    #[test]
    fn every_pixel_lies_in_exactly_one_cell() {
        let screen = Space::pixels(1024.0, 768.0);
        for (x, column) in [(291.9, 1), (292.0, 1), (292.9, 1), (293.0, 2), (1023.9, 6)] {
            assert_eq!(cell("7x7", &screen, x, 0.0), Some(column), "{x}");
        }
        // It is the same pixel when counted from the bottom.
        let upwards = screen.flipped();
        for (y, row) in [(768.0 - 109.0, 0), (768.0 - 109.9, 0), (768.0 - 110.0, 1)] {
            assert_eq!(cell("7x7", &upwards, 0.0, y), Some(row * 7), "{y}");
        }
        // Only screens are rounded, and points beyond the edge stay outside.
        assert_eq!(cell("7x7", &Space::unit(), 292.9 / 1024.0, 0.0), Some(2));
        assert_eq!(cell("400x1", &Space::globe(), -179.05, 0.0), Some(1));
        assert_eq!(cell("7x7", &screen, 1024.5, 0.0), None);
        assert_eq!(cell("7x7", &screen, -0.5, 0.0), None);
    }

    #[test]
    fn columns_come_first_and_y_may_point_up() {
        let degrees = Space::globe();
        assert_eq!(cell("12x8", &degrees, -180.0, 90.0), Some(0));
        assert_eq!(cell("12x8", &degrees, 180.0, 90.0), Some(11));
        assert_eq!(cell("12x8", &degrees, -180.0, -90.0), Some(84));
        assert_eq!(cell("12x8", &degrees, 0.0, 0.0), Some(4 * 12 + 6));
        assert_eq!(cell("12x8", &degrees, 0.0, 90.1), None);
        // Both ways to write a longitude, in one file or in two.
        let to_360 = Space {
            left: 0.0,
            right: 360.0,
            ..degrees
        };
        for (beyond, same) in [
            (190.0, -170.0),
            (-190.0, 170.0),
            (359.0, -1.0),
            (540.0, 180.0),
        ] {
            let expected = cell("12x8", &degrees, same, 0.0);
            assert!(expected.is_some());
            assert_eq!(cell("12x8", &degrees, beyond, 0.0), expected, "{beyond}");
        }
        let expected = cell("12x8", &to_360, 350.0, 0.0);
        assert_eq!(cell("12x8", &to_360, -10.0, 0.0), expected);
        assert_eq!(cell("12x8", &degrees, 541.0, 0.0), None);
        assert_eq!(cell("12x8", &degrees, -541.0, 0.0), None);
        assert_eq!(cell("7x7", &Space::unit(), 1.1, 0.0), None);
        assert_eq!(cell("2x2", &Space::unit().flipped(), 0.2, 0.2), Some(2));
        assert_eq!(cell("256x256", &Space::unit(), 1.0, 1.0), Some(u16::MAX));
    }

    /// On a screen at 60 cm, 20 cm to the side is 18.4°. Grid edges are equally spaced on the screen, not in degrees.
    #[test]
    fn visual_angles_are_projected_onto_the_screen() {
        let screen = Space::visual_angle((40.0, 30.0), 60.0);
        let degrees = |cm: f64| (cm / 60.0).atan().to_degrees();
        for (x, y, expected) in [
            (0.0, 0.0, Some(10)),
            (degrees(-19.9), degrees(14.9), Some(0)),
            (degrees(10.1), degrees(-7.6), Some(15)),
            (degrees(9.9), degrees(-7.4), Some(10)),
            (degrees(20.1), 0.0, None),
            (95.0, 0.0, None),
        ] {
            assert_eq!(cell("4x4", &screen, x, y - 1e-9), expected, "({x}, {y})");
        }
        let clamped = |x| cell_at(&Grid::new(4, 1).unwrap(), &screen, Outside::Clamp, x, 0.0);
        assert_eq!((clamped(-120.0), clamped(120.0)), (Some(0), Some(3)));
    }

    #[test]
    fn rounding_does_not_move_an_edge_to_the_previous_cell() {
        for parts in 1..=200u16 {
            let grid = Grid::new(1, parts.into()).unwrap();
            for edge in 1..parts {
                // With few digits, as in a file. If that is not the edge itself, there is nothing to test.
                let written = format!("{:.6}", f64::from(edge) / f64::from(parts));
                let millionths: u64 = written.replace('.', "").parse().unwrap();
                if millionths * u64::from(parts) != 1_000_000 * u64::from(edge) {
                    continue;
                }
                let y: f64 = written.parse().unwrap();
                let cell = |space| cell_at(&grid, &space, Outside::Drop, 0.5, y);
                assert_eq!(cell(Space::unit()), Some(edge), "{y} of {parts}");
                let flipped = cell(Space::unit().flipped());
                assert_eq!(flipped, Some(parts - edge), "{y} of {parts} from below");
            }
        }
    }

    #[test]
    fn clamping_takes_the_nearest_cell() {
        let screen = Space::pixels(700.0, 700.0);
        let clamped = |x, y| cell_at(&Grid::default(), &screen, Outside::Clamp, x, y);
        assert_eq!(clamped(-1e300, 350.0), Some(21));
        assert_eq!(clamped(1e300, 1e300), Some(48));
        assert_eq!(clamped(150.0, -1.0), Some(1));
    }

    #[test]
    fn a_space_without_area_is_detected() {
        assert!(has_area(&Space::globe()));
        for (width, height) in [
            (0.0, 1.0),
            (1.0, 0.0),
            (f64::NAN, 1.0),
            (1.0, f64::INFINITY),
        ] {
            assert!(!has_area(&Space::pixels(width, height)));
        }
    }

    proptest! {
        #[test]
        fn every_letter_is_a_cell(
            columns in 1u32..40, rows in 1u32..40, width in 1e-3f64..1e6, height in 1e-3f64..1e6,
            u in -0.2f64..1.2, v in -0.2f64..1.2, flip: bool, clamp: bool,
        ) {
            let grid = Grid::new(columns, rows).unwrap();
            let space = Space::pixels(width, height);
            let space = if flip { space.flipped() } else { space };
            let outside = if clamp { Outside::Clamp } else { Outside::Drop };
            let (x, y) = (u * width, v * height);
            let (across, down) = space.fraction(x, y);
            let inside = |part: f64| (1e-9..1.0 - 1e-9).contains(&part);
            match cell_at(&grid, &space, outside, x, y) {
                Some(letter) => prop_assert!(u32::from(letter) < grid.cells()),
                None => {
                    prop_assert!(!clamp, "clamping keeps every point");
                    prop_assert!(!inside(across) || !inside(down));
                },
            }
        }
    }
}
