//! What the numbers of a generic table mean: from what the user says, else from the columns' names, else from the first
//! rows, and then it is reported as an assumption.

use super::columns::{Layout, Place, unit_in_name};
use crate::readers::oriented;
use crate::{Columns, CoordinateUnit, ReadError, ReadOptions, Rows, Sink, Space, TimeUnit};

/// How many of the first rows are looked at.
const SURVEYED_ROWS: usize = 1000;

/// What the first rows look like.
#[derive(Default)]
pub(super) struct Survey {
    points: Vec<(f64, f64)>,
    durations: Vec<f64>,
    /// From one row's time to the next.
    steps: Vec<f64>,
}

impl Survey {
    /// Looks at the first rows.
    pub(super) fn of(mut first_rows: Rows, layout: &Layout) -> Result<Self, ReadError> {
        let mut survey = Self::default();
        let mut last_start = None;
        for _ in 0..SURVEYED_ROWS {
            let Some(row) = first_rows.next_row()? else {
                break;
            };
            let number = |column: Option<usize>| match column {
                Some(column) => row.number_or_missing(column),
                None => Ok(None),
            };
            let point = number(Some(layout.x))?.zip(number(Some(layout.y))?);
            survey.points.extend(point);
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

    /// Fractions of a screen lie nearly all between 0 and 1, and not all on whole numbers.
    fn looks_like_fractions(&self) -> bool {
        let near = |number: f64| (-0.2..=1.2).contains(&number);
        let inside = self.points.iter().filter(|&&(x, y)| near(x) && near(y));
        inside.count() * 10 > self.points.len() * 9
            && self
                .points
                .iter()
                .any(|(x, y)| x.fract() != 0.0 || y.fract() != 0.0)
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
    let unit = match options.units {
        Some(unit) => unit,
        None => match unit_by_name(columns, layout)? {
            Some(unit) => unit,
            None => unit_by_survey(layout, survey, sink),
        },
    };
    let space = match unit {
        CoordinateUnit::Pixels => options
            .screen
            .map(|(width, height)| Space::pixels(width, height)),
        CoordinateUnit::Fraction if layout.place == Place::PupilNorm => {
            sink.assumed("y of norm_pos points up, as in Pupil Labs' files (--flip-y)");
            Some(Space::unit().flipped())
        }
        CoordinateUnit::Fraction => Some(Space::unit()),
        CoordinateUnit::Degrees if survey.has_longitudes_above_180() => {
            sink.assumed("longitudes run from 0 to 360, as some of the first rows are above 180");
            Some(Space {
                left: 0.0,
                right: 360.0,
                ..Space::degrees()
            })
        }
        CoordinateUnit::Degrees => Some(Space::degrees()),
    };
    Ok(space.map(|space| oriented(space, options)))
}

/// The unit of durations, or of times where there are no durations.
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
    let (None, Some(column)) = (options.time_unit, column) else {
        return Ok(options.time_unit.unwrap_or(TimeUnit::Milliseconds));
    };
    let name = columns.names().get(column).map_or("", String::as_str);
    if let Some(written) = unit_in_name(name) {
        return TimeUnit::parse(&written).ok_or_else(|| {
            columns
                .error("the unit of time in this column's name is not known")
                .at_column(column, name)
                .with_remedy("known are s, ms, us and ns; --time-unit says it in place of the name")
        });
    }
    let (what, unit) = if fixations {
        ("durations", unit_of_durations(median(&survey.durations)))
    } else {
        ("times", unit_of_steps(median(&survey.steps)))
    };
    sink.assumed(&format!(
        "{what} are in {}, judged by the first rows (--time-unit)",
        unit.abbreviation()
    ));
    Ok(unit)
}

/// The unit of the starts of fixations where it stands in the column's name, and the user says nothing.
pub(super) fn start_unit(
    columns: &Columns,
    layout: &Layout,
    options: &ReadOptions,
) -> Option<TimeUnit> {
    let name = columns.names().get(layout.start?)?;
    let written = unit_in_name(name).filter(|_| options.time_unit.is_none())?;
    TimeUnit::parse(&written)
}

/// Fixations last for some tenths of a second: between a few milliseconds and some seconds in any unit.
fn unit_of_durations(median: Option<f64>) -> TimeUnit {
    match median {
        Some(median) if median < 10.0 => TimeUnit::Seconds,
        Some(median) if median > 10_000_000.0 => TimeUnit::Nanoseconds,
        Some(median) if median > 10_000.0 => TimeUnit::Microseconds,
        _ => TimeUnit::Milliseconds,
    }
}

/// Trackers take 5 to 5000 samples per second, so that their steps in different units do not overlap.
fn unit_of_steps(median: Option<f64>) -> TimeUnit {
    match median {
        Some(median) if median < 0.2 => TimeUnit::Seconds,
        Some(median) if median >= 200_000.0 => TimeUnit::Nanoseconds,
        Some(median) if median >= 200.0 => TimeUnit::Microseconds,
        _ => TimeUnit::Milliseconds,
    }
}

fn unit_by_name(columns: &Columns, layout: &Layout) -> Result<Option<CoordinateUnit>, ReadError> {
    let mut found = None;
    for column in [layout.x, layout.y] {
        let name = columns.names().get(column).map_or("", String::as_str);
        let Some(written) = unit_in_name(name) else {
            continue;
        };
        let unit = written.split([' ', '/']).find_map(|word| match word {
            "px" | "pix" | "pixel" | "pixels" => Some(CoordinateUnit::Pixels),
            "norm" | "normalized" | "normalised" | "fraction" | "ratio" | "0-1" | "0..1" => {
                Some(CoordinateUnit::Fraction)
            }
            "deg" | "degree" | "degrees" | "°" => Some(CoordinateUnit::Degrees),
            _ => None,
        });
        let error = |problem: &str| columns.error(problem).at_column(column, name);
        match (unit, found) {
            (None, _) => {
                return Err(
                    error("the unit in this column's name is not known").with_remedy(
                        "known are px, norm and deg; --units says it in place of the name",
                    ),
                );
            }
            (Some(unit), Some(other)) if unit != other => {
                return Err(error("the coordinates have different units")
                    .with_remedy("--units says the unit of both in place of the names"));
            }
            _ => found = unit,
        }
    }
    Ok(found)
}

fn unit_by_survey(layout: &Layout, survey: &Survey, sink: &mut dyn Sink) -> CoordinateUnit {
    match layout.place {
        Place::PupilNorm => CoordinateUnit::Fraction,
        _ if survey.looks_like_fractions() => {
            sink.assumed(
                "coordinates run from 0 to 1 from the top left, as those of the first rows lie there (--units)",
            );
            CoordinateUnit::Fraction
        }
        Place::Globe => {
            sink.assumed("longitude and latitude are in degrees (--units)");
            CoordinateUnit::Degrees
        }
        Place::Plain => {
            sink.assumed("coordinates are in pixels from the top left (--units)");
            CoordinateUnit::Pixels
        }
    }
}

fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}
