//! Determines the unit of a generic table's coordinates: from the user, else from the columns' names, else from the first rows,
//! which is reported as an assumption.

use super::columns::{CoordinateHint, Layout, unit_in_name};
use super::labels::{EventFilter, Verdict};
use super::likely::LikelyUnit;
use super::point;
use crate::readers::common::space_in;
use crate::readers::oriented;
use crate::{Columns, CoordinateUnit, EncodeField, ReadError, ReadOptions, Rows, Sink, Space};

/// With fewer points than this, their range says too little.
const MIN_POINTS: usize = 20;

/// How many of the first rows are looked at.
const SURVEYED_ROWS: usize = 1000;

/// Statistics of the first rows.
#[derive(Default)]
pub(super) struct Survey {
    points: Vec<(f64, f64)>,
    pub(super) durations: Vec<f64>,
    /// The steps from one row's time to the next.
    pub(super) steps: Vec<f64>,
}

impl Survey {
    /// Looks at the first rows.
    pub(super) fn of(
        mut first_rows: Rows,
        layout: &Layout,
        events: &mut EventFilter,
    ) -> Result<Self, ReadError> {
        let mut survey = Self::default();
        let width = first_rows.columns().names().len();
        let mut last_start = None;
        for _ in 0..SURVEYED_ROWS {
            let Some(row) = first_rows.next_row()? else {
                break;
            };
            super::check_width(&row, width)?;
            if events.judge(&row) != Verdict::Take {
                continue;
            }
            let number = |column: Option<usize>| match column {
                Some(column) => super::number(&row, column),
                None => Ok(None),
            };
            survey.points.extend(point(&row, layout)?);
            let start = number(layout.start)?;
            let duration = match layout.duration {
                Some(column) => number(Some(column))?,
                None => start
                    .zip(number(layout.end)?)
                    .map(|(start, end)| end - start),
            };
            survey
                .durations
                .extend(duration.filter(|&duration| duration > 0.0));
            let step = start
                .zip(last_start)
                .map(|(start, last): (f64, f64)| start - last);
            survey.steps.extend(step.filter(|&step| step > 0.0));
            last_start = start;
        }
        Ok(survey)
    }

    /// Whether nearly all points lie in a range, and not all coordinates are whole numbers.
    fn nearly_all_within(&self, min: f64, max: f64) -> bool {
        let inside = |number: f64| (min..=max).contains(&number);
        let count = self.points.iter().filter(|&&(x, y)| inside(x) && inside(y));
        count.count() * 10 > self.points.len() * 9
            && self
                .points
                .iter()
                .any(|(x, y)| x.fract() != 0.0 || y.fract() != 0.0)
    }

    /// Whether more points are left of or above the origin than a tracker's noise explains.
    fn many_below_zero(&self) -> bool {
        let below = self.points.iter().filter(|&&(x, y)| x < 0.0 || y < 0.0);
        below.count() * 10 > self.points.len()
    }

    /// Whether points look like fractions of a screen.
    fn looks_like_fractions(&self) -> bool {
        self.nearly_all_within(-0.2, 1.2) && !self.many_below_zero()
    }

    /// Whether points look as if they were measured from the centre of the screen, up to 1 or less.
    fn looks_centred(&self) -> bool {
        self.nearly_all_within(-1.2, 1.2) && self.many_below_zero()
    }

    /// Distinguishes −1 to 1 from screen heights, which end at a half. A few points may lie off the screen.
    fn goes_beyond_half(&self) -> bool {
        let beyond = self.points.iter().filter(|(_, y)| y.abs() > 0.55);
        beyond.count() * 10 > self.points.len()
    }

    /// The likely unit of coordinates that are neither fractions nor clearly pixels from the top left.
    fn likely_unit(&self) -> Option<LikelyUnit> {
        let within = |max_x: f64, max_y: f64| {
            let inside = |&&(x, y): &&(f64, f64)| x.abs() <= max_x && y.abs() <= max_y;
            self.points.iter().filter(inside).count() * 20 > self.points.len() * 19
        };
        match self.many_below_zero() {
            true if within(60.0, 60.0) => Some(LikelyUnit::VisualAngle),
            true if within(180.0, 90.0) => Some(LikelyUnit::LonLatOrPixels),
            true => Some(LikelyUnit::CentredPixels),
            false if self.spreads_over_percent() => Some(LikelyUnit::Percent),
            false => None,
        }
    }

    /// Whether points look like percent: pixels of a large screen would hardly stay in such a corner.
    fn looks_like_percent(&self, screen: Option<(f64, f64)>) -> bool {
        screen.is_some_and(|(width, height)| width >= 300.0 && height >= 300.0)
            && self.spreads_over_percent()
    }

    /// Whether nearly all points lie within 0 to 100 and spread over it in both directions, as percent do.
    fn spreads_over_percent(&self) -> bool {
        let is_inside = |number: f64| (-5.0..=105.0).contains(&number);
        let inside = || {
            let points = self.points.iter();
            points.filter(|&&(x, y)| is_inside(x) && is_inside(y))
        };
        let spread = |of: fn(&(f64, f64)) -> f64| {
            let numbers = inside().map(of);
            let (min, max) = (
                numbers.clone().fold(f64::INFINITY, f64::min),
                numbers.fold(f64::NEG_INFINITY, f64::max),
            );
            max - min >= 50.0
        };
        self.points.len() >= MIN_POINTS
            && inside().count() * 10 > self.points.len() * 9
            && spread(|point| point.0)
            && spread(|point| point.1)
    }

    fn has_longitudes_above_180(&self) -> bool {
        self.points.iter().any(|&(x, _)| x > 180.0) && self.points.iter().all(|&(x, _)| x >= 0.0)
    }
}

/// Where the stimulus lies in the table's coordinates.
pub(super) fn space(
    columns: &Columns,
    layout: &Layout,
    survey: &Survey,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<Option<Space>, ReadError> {
    let stated = match options.units {
        Some(unit) => Some(unit),
        None => unit_by_name(columns, layout, survey, options, sink)?,
    };
    let inferred = stated.is_none();
    let unit = match stated {
        Some(unit) => unit,
        None => unit_by_survey(columns, layout, survey, options, sink)?,
    };
    let special = match unit {
        CoordinateUnit::Fraction if layout.hint == CoordinateHint::PupilNorm => {
            let text = match options.flip_y {
                true => {
                    "y of norm_pos points down, flipped as requested; in Pupil Labs' files it points up"
                }
                false => "y of norm_pos points up, as in Pupil Labs' files",
            };
            assume_coordinates(text, &[EncodeField::FlipY], options, sink);
            Some(Space::unit().flipped())
        }
        CoordinateUnit::LonLat if survey.has_longitudes_above_180() => {
            assume_coordinates(
                "longitudes run from 0 to 360, as some of the first rows are above 180",
                &[],
                options,
                sink,
            );
            Some(Space {
                left: 0.0,
                right: 360.0,
                ..Space::globe()
            })
        }
        _ => None,
    };
    let space = match special {
        Some(space) => Some(oriented(space, options)),
        None => space_in(unit, None, options),
    };
    match survey.likely_unit() {
        Some(likely) if space.is_none() && inferred && sink.needs_size() => {
            Err(likely.error(columns))
        }
        _ => Ok(space),
    }
}

fn unit_by_name(
    columns: &Columns,
    layout: &Layout,
    survey: &Survey,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<Option<CoordinateUnit>, ReadError> {
    let mut found = None;
    for column in [layout.x, layout.y] {
        let name = columns.names().get(column).map_or("", String::as_str);
        let Some(written) = unit_in_name(name) else {
            continue;
        };
        let unit = written
            .split([' ', '/'])
            .find_map(|word| unit_of_word(word, layout.hint, survey));
        let error = |problem: &str, remedy: &str| {
            Err(columns
                .error(problem)
                .at_column(column, name)
                .with_remedy(remedy)
                .with_fields(&[EncodeField::Units]))
        };
        match (unit, found) {
            (None, _) if matches!(written.as_str(), "cm" | "mm") => {
                return error(
                    "coordinates in centimetres or millimetres are not supported",
                    "divide them by the width and height of the screen, so that they run from 0 to 1 from the top left, and give fractions as the unit; or export pixels",
                );
            }
            (None, _) => {
                return error(
                    "the unit in this column's name is not known",
                    "known are px, norm, percent and deg; you can give the unit in place of the name",
                );
            }
            (Some(unit), Some(other)) if unit != other => {
                return error(
                    "the coordinates have different units",
                    "give the unit of both in place of the names",
                );
            }
            _ => found = unit,
        }
    }
    if let Some(CoordinateUnit::Centred | CoordinateUnit::VisualAngle) = found {
        assume_coordinates(
            &format!(
                "coordinates start in the centre of the screen, {}",
                vertical(options)
            ),
            &[EncodeField::Units, EncodeField::FlipY],
            options,
            sink,
        );
    }
    Ok(found)
}

fn unit_of_word(word: &str, hint: CoordinateHint, survey: &Survey) -> Option<CoordinateUnit> {
    match word {
        "px" | "pix" | "pixel" | "pixels" => Some(CoordinateUnit::Pixels),
        // PsychoPy means -1 to 1 from the centre; everyone else means 0 to 1.
        "norm" | "normalized" | "normalised" if survey.looks_centred() => {
            Some(CoordinateUnit::Centred)
        }
        "norm" | "normalized" | "normalised" | "fraction" | "ratio" | "0-1" | "0..1" => {
            Some(CoordinateUnit::Fraction)
        }
        "%" | "percent" | "perc" | "pct" => Some(CoordinateUnit::Percent),
        "deg" | "degree" | "degrees" | "°" if hint == CoordinateHint::Globe => {
            Some(CoordinateUnit::LonLat)
        }
        "deg" | "degree" | "degrees" | "°" | "dva" => Some(CoordinateUnit::VisualAngle),
        _ => None,
    }
}

fn unit_by_survey(
    columns: &Columns,
    layout: &Layout,
    survey: &Survey,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<CoordinateUnit, ReadError> {
    let centred = format!(
        "coordinates run from -1 to 1 from the centre of the screen, as those of the first rows do, {}",
        vertical(options)
    );
    let (text, unit) = match layout.hint {
        CoordinateHint::PupilNorm => return Ok(CoordinateUnit::Fraction),
        _ if survey.looks_like_fractions() => (
            "coordinates run from 0 to 1 from the top left, as those of the first rows do",
            CoordinateUnit::Fraction,
        ),
        CoordinateHint::Globe => (
            "longitude and latitude are in degrees",
            CoordinateUnit::LonLat,
        ),
        CoordinateHint::Plain if survey.looks_centred() => {
            if !survey.goes_beyond_half() && sink.needs_size() {
                return Err(columns
                    .error("the coordinates are small numbers around zero, and their unit is not clear")
                    .with_remedy("say whether they run from -1 to 1, or are heights of the screen or degrees of visual angle, from its centre")
                    .with_fields(&[
                        EncodeField::CentredFractions,
                        EncodeField::ScreenHeights,
                        EncodeField::VisualAngle,
                    ]));
            }
            (centred.as_str(), CoordinateUnit::Centred)
        }
        CoordinateHint::Plain if survey.looks_like_percent(options.screen) => (
            "coordinates are percent of the screen from its top left, as those of the first rows lie between 0 and 100",
            CoordinateUnit::Percent,
        ),
        CoordinateHint::Plain => (
            "coordinates are in pixels from the top left",
            CoordinateUnit::Pixels,
        ),
    };
    let changed_by: &[EncodeField] = match unit {
        CoordinateUnit::Centred => &[EncodeField::Units, EncodeField::FlipY],
        _ => &[EncodeField::Units],
    };
    assume_coordinates(text, changed_by, options, sink);
    Ok(unit)
}

/// Where y points, if it starts in the centre of the screen.
fn vertical(options: &ReadOptions) -> &'static str {
    match options.flip_y {
        true => "and y points down, flipped as requested",
        false => "and y points up",
    }
}

/// Reports an assumption about coordinates, if they matter, with the options that change it and are not given yet.
fn assume_coordinates(
    text: &str,
    changed_by: &[EncodeField],
    options: &ReadOptions,
    sink: &mut dyn Sink,
) {
    if !sink.needs_size() {
        return;
    }
    let is_open = |field: &&EncodeField| **field != EncodeField::FlipY || !options.flip_y;
    let changed_by: Vec<EncodeField> = changed_by.iter().filter(is_open).copied().collect();
    sink.assumed(text, &changed_by);
}
