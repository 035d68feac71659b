//! Draws the map of one cohort.

use super::cut::{cut, fit_apart};
use super::matrix::{Matrix, NotSquare};
use super::mds::{self, Map};
use super::measure::ShownMeasure;
use super::numbers;
use super::table::{Column, Field, folded, table};
use super::text_width::{NAME_ROOM, text_width};
use crate::plan;
use maud::{Markup, html};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 440.0;
const MARGIN: f64 = 40.0;

/// The font size of names.
const FONT: f64 = 12.0;

/// With more points than this, the drawing has no names.
const MAX_NAMES: usize = 120;

/// The map, or the reason there is none.
pub(crate) fn figure(
    matrix: &Matrix,
    measure: ShownMeasure<'_>,
    names: &[String; 2],
    id: &str,
) -> Markup {
    let why = match matrix.within_one_cohort(measure) {
        Ok(far) => match mds::map(&far) {
            Some(map) => return drawn(&matrix.a, &map, id),
            None if far.size > mds::MAX_POINTS => "there are too many points",
            None => "a map needs three scanpaths that differ",
        },
        Err(NotSquare::DifferentIds) => {
            let [first, second] = plan::cohorts(names);
            return html! {
                p class="note" {
                    "There is no map: it would need the distances within a cohort, and here only " (cut(&first))
                    " was compared with " (cut(&second)) ". A cohort that is compared with itself has one."
                }
            };
        }
        Err(NotSquare::Missing) if matrix.has_undefined() => "some pairs have no number",
        Err(NotSquare::Missing) => "some pairs are missing",
        Err(NotSquare::Bits) => "yes and no are not distances",
        Err(NotSquare::UnknownDirection) if !measure.is_from_csv => {
            "this measure does not say which of two pairs is more alike"
        }
        Err(NotSquare::NotMostSimilarToSelf) => {
            "on a map every scanpath must be most similar to itself, but by this measure one is more similar to another"
        }
        Err(NotSquare::UnknownDirection) => {
            "the file does not say whether small or large scores mean similar scanpaths; a result file in JSON does"
        }
        Err(NotSquare::NotSymmetric) => {
            "both sides have the same ids, but the scores of a pair and of its reverse differ: these are different people \
             with equal ids, or a metric that has a direction"
        }
    };
    html! { p class="note" { "There is no map: " (why) "." } }
}

fn drawn(names: &[String], map: &Map, id: &str) -> Markup {
    let positions = positions(&map.points);
    let labels = if names.len() <= MAX_NAMES {
        labels(names, &positions)
    } else {
        Vec::new()
    };
    let rows: Vec<Vec<Field>> = names
        .iter()
        .zip(&map.points)
        .map(|(name, [x, y])| {
            let number = |value: f64| Field::number(numbers::fixed(value, 3), value);
            vec![Field::words(name), number(*x), number(*y)]
        })
        .collect();
    let columns = [
        Column::Words("id"),
        Column::Numbers("x"),
        Column::Numbers("y"),
    ];
    html! {
        figure class="map" {
            p {
                "Points close to each other are alike (classical multidimensional scaling). The axes have no meaning of their own."
                @if let Some(fit) = map.fit {
                    " Distances on the map and dissimilarities correlate with r = " (numbers::fixed(fit, 2)) "."
                }
            }
            div class="scroll" tabindex="0" role="region" aria-label="Map" {
                svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) width=(WIDTH) height=(HEIGHT) role="img" aria-labelledby=(format!("{id}-title")) {
                    title id=(format!("{id}-title")) { "Map of one cohort: the table below has the same points" }
                    rect class="frame" x="0.5" y="0.5" width=(WIDTH - 1.0) height=(HEIGHT - 1.0) rx="8" {}
                    @for (name, (x, y)) in names.iter().zip(&positions) {
                        circle class="point" cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="5" {
                            title { (name) }
                        }
                    }
                    g class="axis" {
                        @for (label, x, y, anchor) in &labels {
                            text x=(format!("{x:.1}")) y=(format!("{y:.1}")) text-anchor=(anchor) dominant-baseline="central" { (label) }
                        }
                    }
                }
            }
            (folded("Map as a table", &table("Places on the map", &columns, &rows)))
        }
    }
}

/// Fits the points into the frame, with the same scale on both axes.
fn positions(points: &[[f64; 2]]) -> Vec<(f64, f64)> {
    let side = |axis: usize| {
        super::matrix::range(points.iter().map(move |point| point[axis])).unwrap_or((0.0, 0.0))
    };
    let ((left, right), (low, high)) = (side(0), side(1));
    let room = |size: f64| size - 2.0 * MARGIN;
    let scale = (room(WIDTH) / (right - left).max(f64::MIN_POSITIVE))
        .min(room(HEIGHT) / (high - low).max(f64::MIN_POSITIVE));
    let (x, y) = (f64::midpoint(left, right), f64::midpoint(low, high));
    points
        .iter()
        .map(|point| {
            (
                WIDTH / 2.0 + (point[0] - x) * scale,
                HEIGHT / 2.0 - (point[1] - y) * scale,
            )
        })
        .collect()
}

type Label = (String, f64, f64, &'static str);

/// Puts each name on the first side of its point where it covers no other name. A name without such a side is omitted.
fn labels(names: &[String], positions: &[(f64, f64)]) -> Vec<Label> {
    let mut taken: Vec<[f64; 4]> = positions
        .iter()
        .map(|&(x, y)| [x - 5.0, y - 5.0, x + 5.0, y + 5.0])
        .collect();
    let mut labels = Vec::new();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (label, &(x, y)) in fit_apart(&names, NAME_ROOM).into_iter().zip(positions) {
        let wide = text_width(&label) * FONT;
        let sides = [
            (x + 9.0, y, "start", x + 8.0),
            (x - 9.0, y, "end", x - 8.0 - wide),
            (x, y - 13.0, "middle", x - wide / 2.0),
            (x, y + 14.0, "middle", x - wide / 2.0),
        ];
        let free = sides.into_iter().find(|&(_, middle, _, left)| {
            let own = [left, middle - 6.0, left + wide, middle + 6.0];
            let inside = own[0] > 0.0 && own[2] < WIDTH;
            inside
                && !taken.iter().any(|other| {
                    own[0] < other[2] && other[0] < own[2] && own[1] < other[3] && other[1] < own[3]
                })
        });
        if let Some((at, middle, anchor, left)) = free {
            taken.push([left, middle - 6.0, left + wide, middle + 6.0]);
            labels.push((label, at, middle, anchor));
        }
    }
    labels
}
