//! Determines the units of a generic table: from the user, else from the columns' names, else from the first rows,
//! which is reported as an assumption.

use super::columns::{CoordinateHint, Layout, unit_in_name};
use super::labels::{EventFilter, Verdict};
use super::likely::LikelyUnit;
use super::point;
use crate::readers::common::space_in;
use crate::readers::oriented;
use crate::{
    Columns, CoordinateUnit, EncodeField, EncodeNote, NoEffect, ReadError, ReadOptions, Rows, Sink,
    Space, TimeUnit,
};

/// With fewer points than this, their range says too little.
const MIN_POINTS: usize = 20;

/// How many of the first rows are looked at.
const SURVEYED_ROWS: usize = 1000;

/// Statistics of the first rows.
#[derive(Default)]
pub(super) struct Survey {
    points: Vec<(f64, f64)>,
    durations: Vec<f64>,
    /// The steps from one row's time to the next.
    steps: Vec<f64>,
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

    /// Distinguishes −1 to 1 from screen heights, which end at a half.
    fn goes_beyond_half(&self) -> bool {
        self.points.iter().any(|&(_, y)| y.abs() > 0.55)
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

    /// Whether points spread over 0 to 100 in both directions, as percent do.
    fn spreads_over_percent(&self) -> bool {
        let spread = |of: fn(&(f64, f64)) -> f64| {
            let numbers = self.points.iter().map(of);
            let (min, max) = (
                numbers.clone().fold(f64::INFINITY, f64::min),
                numbers.fold(f64::NEG_INFINITY, f64::max),
            );
            min >= -5.0 && max <= 105.0 && max - min >= 50.0
        };
        self.points.len() >= MIN_POINTS && spread(|point| point.0) && spread(|point| point.1)
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
        None => unit_by_name(columns, layout, survey, sink)?,
    };
    let inferred = stated.is_none();
    let unit = match stated {
        Some(unit) => unit,
        None => unit_by_survey(columns, layout, survey, options, sink)?,
    };
    let special = match unit {
        CoordinateUnit::Fraction if layout.hint == CoordinateHint::PupilNorm => {
            sink.assumed(
                "y of norm_pos points up, as in Pupil Labs' files",
                &[EncodeField::FlipY],
            );
            Some(Space::unit().flipped())
        }
        CoordinateUnit::LonLat if survey.has_longitudes_above_180() => {
            sink.assumed(
                "longitudes run from 0 to 360, as some of the first rows are above 180",
                &[],
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

/// The unit of durations, or of times if there are no durations.
pub(super) fn time_unit(
    columns: &Columns,
    layout: &Layout,
    survey: &Survey,
    fixations: bool,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<TimeUnit, ReadError> {
    let column = match layout.duration {
        Some(duration) if fixations => Some(duration),
        _ => layout.start,
    };
    if options.time_unit.is_some() && column.is_none() {
        sink.note(EncodeNote::NoEffect {
            field: EncodeField::TimeUnit,
            reason: NoEffect::NoTimes,
        });
    }
    let (None, Some(column)) = (options.time_unit, column) else {
        return Ok(options.time_unit.unwrap_or(TimeUnit::Milliseconds));
    };
    let name = columns.names().get(column).map_or("", String::as_str);
    if let Some(written) = unit_in_name(name) {
        return TimeUnit::parse(&written).ok_or_else(|| {
            columns
                .error("the unit of time in this column's name is not known")
                .at_column(column, name)
                .with_remedy(
                    "known are s, ms, us and ns; you can give the unit in place of the name",
                )
                .with_fields(&[EncodeField::TimeUnit])
        });
    }
    let (what, unit) = if fixations {
        ("durations", unit_of_durations(median(&survey.durations)))
    } else {
        ("times", unit_of_steps(median(&survey.steps)))
    };
    sink.assumed(
        &format!(
            "{what} are in {}, judging by the first rows",
            unit.abbreviation()
        ),
        &[EncodeField::TimeUnit],
    );
    Ok(unit)
}

/// The unit of the starts of fixations, if the column's name states it and the user gives none.
pub(super) fn start_unit(
    columns: &Columns,
    layout: &Layout,
    options: &ReadOptions,
) -> Option<TimeUnit> {
    let name = columns.names().get(layout.start?)?;
    let written = unit_in_name(name).filter(|_| options.time_unit.is_none())?;
    TimeUnit::parse(&written)
}

/// Fixations last a few tenths of a second. Each unit covers medians from 10 ms to 10 s.
fn unit_of_durations(median: Option<f64>) -> TimeUnit {
    match median {
        Some(median) if median < 10.0 => TimeUnit::Seconds,
        Some(median) if median > 10_000_000.0 => TimeUnit::Nanoseconds,
        Some(median) if median > 10_000.0 => TimeUnit::Microseconds,
        _ => TimeUnit::Milliseconds,
    }
}

/// Trackers take 5 to 5000 samples per second, so their steps in different units do not overlap.
fn unit_of_steps(median: Option<f64>) -> TimeUnit {
    match median {
        Some(median) if median < 0.2 => TimeUnit::Seconds,
        Some(median) if median >= 200_000.0 => TimeUnit::Nanoseconds,
        Some(median) if median >= 200.0 => TimeUnit::Microseconds,
        _ => TimeUnit::Milliseconds,
    }
}

fn unit_by_name(
    columns: &Columns,
    layout: &Layout,
    survey: &Survey,
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
        sink.assumed(
            "coordinates start in the centre of the screen, and y points up",
            &[EncodeField::Units, EncodeField::FlipY],
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
            (
                "coordinates run from -1 to 1 from the centre of the screen, as those of the first rows do, and y points up",
                CoordinateUnit::Centred,
            )
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
    sink.assumed(text, changed_by);
    Ok(unit)
}

fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}
