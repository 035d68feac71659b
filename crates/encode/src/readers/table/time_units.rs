//! Determines the unit of a generic table's times: from the user, else from the column's name, else from the first rows.

use super::columns::{Layout, unit_in_name};
use super::units::Survey;
use crate::{Columns, EncodeField, EncodeNote, NoEffect, ReadError, ReadOptions, Sink, TimeUnit};

/// The longest usual step between gaze samples; see [`unit_of_steps`].
const MAX_STEP_MS: f64 = 200.0;

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
    let median_step = median(&survey.steps).filter(|_| !fixations);
    let check_steps = |unit: TimeUnit, sink: &mut dyn Sink| {
        let step_ms = median_step.map(|step| step * unit.in_ms());
        if let Some(step_ms) = step_ms.filter(|&step_ms| step_ms > MAX_STEP_MS) {
            sink.note(EncodeNote::LongSteps { step_ms });
        }
    };
    let (None, Some(column)) = (options.time_unit, column) else {
        let unit = options.time_unit.unwrap_or(TimeUnit::Milliseconds);
        check_steps(unit, sink);
        return Ok(unit);
    };
    let name = columns.names().get(column).map_or("", String::as_str);
    if let Some(written) = unit_in_name(name) {
        let unit = TimeUnit::parse(&written).ok_or_else(|| {
            columns
                .error("the unit of time in this column's name is not known")
                .at_column(column, name)
                .with_remedy(
                    "known are s, ms, us and ns; you can give the unit in place of the name",
                )
                .with_fields(&[EncodeField::TimeUnit])
        })?;
        check_steps(unit, sink);
        return Ok(unit);
    }
    let (what, unit) = if fixations {
        ("durations", unit_of_durations(median(&survey.durations)))
    } else {
        ("times", unit_of_steps(median_step))
    };
    if fixations && !sink.needs_durations() {
        return Ok(unit);
    }
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

fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}
