//! `encode`: turns gaze and fixations, in files or frames, into a cohort.

use crate::arguments::Arguments;
use crate::cohort::Cohort;
use crate::errors::{bad_argument, bad_input, to_exception};
use crate::{frames, hints, jobs};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::path::PathBuf;
use veilpath::encode::{
    Areas, DetectionOptions, EncodeField, EncodeOptions, Encoded, EventChoice, Eye, Groups,
    LetterMap, LetterOptions, NamePattern, Outside, ReadOptions, RowChoice, RunOptions, Source,
};
use veilpath::{Grid, Input, check_unique_ids, cohort_in_memory};

/// The names of all formats, with their titles.
#[pyfunction]
pub(crate) fn formats() -> Vec<(&'static str, &'static str)> {
    let all = veilpath::encode::formats().into_iter();
    all.map(|format| (format.name, format.title)).collect()
}

/// Encodes files and frames. `sources` are paths, or pairs of a name and a frame.
#[pyfunction]
pub(crate) fn encode(
    py: Python<'_>,
    sources: Vec<Bound<'_, PyAny>>,
    options: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Cohort> {
    let sources = sources.iter().map(source).collect::<PyResult<Vec<_>>>()?;
    let arguments = Arguments(options);
    let name = arguments
        .value::<String>("name")?
        .unwrap_or_else(|| "cohort".into());
    let repeated: bool = arguments.or_default("allow_repeats")?;
    let from_experiment = arguments.texts("from_experiment")?;
    let options = encode_options(&arguments)?;
    let (cohort, warnings) = jobs::run(py, progress.as_ref(), move |events| {
        let Encoded { cohort, summary } = veilpath::encode::encode(sources, &options, events)?;
        let raw = cohort_in_memory(&name, &cohort, summary.aspect)?;
        if !repeated {
            check_unique_ids(&raw)?;
        }
        let warnings = hints::encode_notes(&summary, &from_experiment);
        let json = serde_json::to_string(&summary).ok();
        Ok((Cohort::new(raw, json)?, warnings))
    })?;
    for warning in warnings {
        crate::errors::warn(py, &warning)?;
    }
    Ok(cohort)
}

fn source(object: &Bound<'_, PyAny>) -> PyResult<Source> {
    if let Ok((name, frame)) = object.extract::<(String, Bound<'_, PyAny>)>() {
        if !frames::is_frame(&frame)? {
            let problem = "this is neither a file nor a data frame that Arrow can read";
            return Err(bad_input(object.py(), &name, problem));
        }
        return Ok(Source::Frame(frames::frame(&name, &frame)?));
    }
    Ok(Source::File(object.extract::<PathBuf>()?))
}

fn encode_options(arguments: &Arguments<'_>) -> PyResult<EncodeOptions> {
    Ok(EncodeOptions {
        format: arguments.value("input_format")?,
        read: read_options(arguments)?,
        letters: letter_options(arguments)?,
        groups: groups(arguments, "groups")?,
    })
}

/// A table of groups: a file, a frame, or a dictionary from participants to groups.
pub(crate) fn groups(arguments: &Arguments<'_>, name: &str) -> PyResult<Option<Groups>> {
    let Some(object) = arguments.object(name)? else {
        return Ok(None);
    };
    let input = match object.cast::<PyDict>() {
        Ok(groups) => Input::from_frame(frames::of_groups(name, groups)?),
        Err(_) if frames::is_frame(&object)? => Input::from_frame(frames::frame(name, &object)?),
        Err(_) => Input::open(&object.extract::<PathBuf>()?),
    };
    input
        .and_then(Groups::read)
        .map(Some)
        .map_err(|error| to_exception(arguments.py(), &error.into()))
}

fn read_options(arguments: &Arguments<'_>) -> PyResult<ReadOptions> {
    let events = match arguments.object("events")? {
        None => None,
        Some(events) => {
            // Commas separate the labels of a text, but not those of a list.
            let chosen = match events.extract::<String>() {
                Ok(text) => text.parse(),
                Err(_) => EventChoice::of(arguments.texts("events")?),
            };
            Some(chosen.map_err(|problem| bad_argument(arguments.py(), "events", problem))?)
        }
    };
    let pattern = arguments.value::<String>("name_pattern")?;
    let pattern = pattern.map(|pattern| {
        NamePattern::parse(&pattern)
            .map_err(|problem| bad_argument(arguments.py(), "name_pattern", problem))
    });
    Ok(ReadOptions {
        screen: arguments.value("screen")?,
        screen_cm: arguments.value("screen_cm")?,
        distance_cm: arguments.value("distance")?,
        units: arguments.choice("units")?,
        time_unit: arguments.choice("time_unit")?,
        flip_y: arguments.or_default("flip_y")?,
        rate_hz: arguments.value("rate")?,
        eye: arguments.choice("eye")?.unwrap_or(Eye::Any),
        rows: arguments.choice("rows")?.unwrap_or(RowChoice::Any),
        events,
        participant: arguments.value("participant")?,
        stimulus: arguments.value("stimulus")?,
        name_pattern: pattern.transpose()?,
        columns: arguments.or_default::<BTreeMap<String, String>>("columns")?,
    })
}

fn letter_options(arguments: &Arguments<'_>) -> PyResult<LetterOptions> {
    let (runs, detection) = (RunOptions::default(), DetectionOptions::default());
    let cap = arguments.value::<u32>("max_repeats")?;
    Ok(LetterOptions {
        letter_map: letter_map(arguments)?,
        outside: arguments.choice("outside")?.unwrap_or(Outside::Drop),
        detection: DetectionOptions {
            detector: arguments.choice("detect")?.unwrap_or(detection.detector),
            velocity: arguments.parsed("velocity")?.unwrap_or(detection.velocity),
            velocity_method: arguments
                .parsed("velocity_method")?
                .unwrap_or(detection.velocity_method),
            dispersion: arguments
                .parsed("dispersion")?
                .unwrap_or(detection.dispersion),
            min_duration_ms: arguments
                .value("min_duration")?
                .unwrap_or(detection.min_duration_ms),
        },
        runs: RunOptions {
            min_dwell_ms: arguments.value("min_dwell")?.unwrap_or(runs.min_dwell_ms),
            downsize: arguments.choice("downsize")?.unwrap_or(runs.downsize),
            merge: arguments.value("merge")?.unwrap_or(runs.merge),
            cap: match cap {
                None => runs.cap,
                Some(cap) => (cap > 0).then_some(cap),
            },
            max_gap_ms: arguments.value("max_gap")?.unwrap_or(runs.max_gap_ms),
            by: arguments.choice("runs")?.unwrap_or(runs.by),
        },
        bin_ms: arguments.value("bin")?,
        matlab_compat: arguments.or_default("matlab_compat")?,
        drop_empty: arguments.or_default("drop_empty")?,
        keep_fixations: arguments.or_default("keep_fixations")?,
        notation: arguments.parsed("notation")?,
        given: given_fields(arguments)?,
    })
}

fn letter_map(arguments: &Arguments<'_>) -> PyResult<LetterMap> {
    let py = arguments.py();
    let grid = arguments.grid("grid")?;
    let (file, column) = (arguments.path("aoi")?, arguments.object("aoi_column")?);
    let several = [grid.is_some(), file.is_some(), column.is_some()];
    if several.iter().filter(|given| **given).count() > 1 {
        let problem = "give one of grid, aoi and aoi_column";
        return Err(bad_argument(py, "grid", problem));
    }
    if let Some(path) = file {
        let areas = Input::open(&path).and_then(Areas::read);
        let areas = areas.map_err(|error| to_exception(py, &error.into()))?;
        return Ok(LetterMap::AoiFile(areas));
    }
    let Some(column) = column else {
        return Ok(LetterMap::Grid(grid.unwrap_or_else(Grid::default)));
    };
    Ok(match column.extract::<bool>() {
        Ok(false) => LetterMap::Grid(Grid::default()),
        Ok(true) => LetterMap::AoiColumn { names: None },
        Err(_) => LetterMap::AoiColumn {
            names: Some(arguments.texts("aoi_column")?),
        },
    })
}

/// The arguments about raw gaze that were given. The library reports those that have no effect.
fn given_fields(arguments: &Arguments<'_>) -> PyResult<Vec<EncodeField>> {
    let fields = [
        ("detect", EncodeField::Detect),
        ("velocity", EncodeField::Velocity),
        ("velocity_method", EncodeField::VelocityMethod),
        ("dispersion", EncodeField::Dispersion),
        ("min_duration", EncodeField::MinDuration),
        ("min_dwell", EncodeField::MinDwell),
        ("downsize", EncodeField::Downsize),
        ("merge", EncodeField::Merge),
        ("max_repeats", EncodeField::MaxRepeats),
        ("max_gap", EncodeField::MaxGap),
        ("runs", EncodeField::Runs),
    ];
    let mut given = Vec::new();
    for (name, field) in fields {
        if arguments.object(name)?.is_some() {
            given.push(field);
        }
    }
    Ok(given)
}
