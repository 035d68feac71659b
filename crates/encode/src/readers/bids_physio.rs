//! BIDS eye tracking (BEP020): gaze samples in `*_physio.tsv.gz` without a header line, described by JSON files.
//!
//! Column names, units and the rate are in the sidecar of the same name; the screen is in the run's `*_events.json`.
//! Both may lie in a parent folder and apply to many files. `*_eyetrack.tsv` files of older drafts are read as well;
//! they may have a header line and contain both eyes.

use super::bids_sidecar::{BidsName, Sidecar, has_preferred_eye, recorded_eye};
use super::common::{report_given_size, sampling_rate, space_in};
use super::{Format, SupportedOptions, names_of, oriented};
use crate::{
    Columns, CoordinateUnit, Dropped, EncodeField, Eye, Head, Input, Kind, NamesInFile, ReadError,
    ReadOptions, Recording, RowChoice, Rows, Sample, Sink, Space, TimeUnit, is_missing,
    parse_number,
};

/// BIDS eye tracking.
#[derive(Debug)]
pub(super) struct BidsPhysio;

impl Format for BidsPhysio {
    fn name(&self) -> &'static str {
        "bids-physio"
    }

    fn title(&self) -> &'static str {
        "BIDS eye tracking (BEP020 *_physio.tsv.gz with its JSON files)"
    }

    fn accepts(&self) -> SupportedOptions {
        SupportedOptions {
            eye: true,
            ..SupportedOptions::default()
        }
    }

    fn recognises(&self, head: &Head) -> bool {
        let file = head.name.to_ascii_lowercase();
        let file = file.strip_suffix(".gz").unwrap_or(&file);
        ["_physio.tsv", "_eyetrack.tsv", "_physioevents.tsv"]
            .iter()
            .any(|ending| file.ends_with(ending))
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        let name = BidsName::parse(input.name());
        refuse_without_gaze(&input, name.as_ref(), options)?;
        let sidecar = metadata(&input, name.as_ref(), None)?;
        let events = metadata(&input, name.as_ref(), Some("events"))?;
        let (participant, stimulus) = names(&input, name.as_ref(), options, sink)?;
        let other_eye = is_other_eye(&input, name.as_ref(), &sidecar, options, sink);

        let mut rows = open_rows(input, &sidecar)?;
        if other_eye {
            // Start no recording: it would be a second, empty one with the same names as that of the
            // other eye.
            while rows.next_row()?.is_some() {
                sink.dropped(Dropped::OtherEye);
            }
            return Ok(());
        }
        let columns = find_columns(&rows, &sidecar, options, sink)?;
        let space = space(rows.name(), &sidecar, &events, &columns, options, sink)?;
        let recording = sink.recording(&Recording {
            participant: &participant,
            stimulus: stimulus.as_deref(),
            kind: Kind::Gaze {
                rate_hz: columns.rate_hz,
            },
            space,
        })?;
        while let Some(row) = rows.next_row()? {
            let time_ms = match columns.time {
                Some((column, in_ms)) => row.number_or_missing(column)?.map(|time| time * in_ms),
                None => None,
            };
            let point = row
                .number_or_missing(columns.x)?
                .zip(row.number_or_missing(columns.y)?);
            sink.sample(
                recording,
                Sample {
                    time_ms,
                    point,
                    aoi: None,
                },
            );
        }
        Ok(())
    }
}

/// The columns of a row, and their units.
struct ColumnIndices {
    x: usize,
    y: usize,
    /// The column, and its unit in milliseconds.
    time: Option<(usize, f64)>,
    rate_hz: Option<f64>,
    /// The unit of x and y as the sidecar writes it.
    unit: Option<String>,
}

fn refuse_without_gaze(
    input: &Input,
    name: Option<&BidsName>,
    options: &ReadOptions,
) -> Result<(), ReadError> {
    let error = |problem: &str| ReadError::new(input.name(), problem);
    if name.is_some_and(|name| name.suffix == "physioevents") {
        return Err(error(
            "a BIDS physioevents file says when fixations, saccades and blinks happened, but not where",
        )
        .with_remedy(
            "give the recording instead: the file of the same name that ends in _physio.tsv.gz",
        ));
    }
    let head = input.head();
    if head.is_blank() {
        return Err(error("the file is empty").with_remedy(
            "published BIDS datasets often contain empty placeholders; fetch the content, for example with `datalad get FILE`",
        ));
    }
    if head.first_line().contains("annex/objects/") {
        return Err(error("this is a git-annex placeholder, not the recording")
            .with_remedy("fetch the content with `datalad get FILE` or `git annex get FILE`"));
    }
    if options.rows == RowChoice::Fixations {
        return Err(error("BIDS recordings have gaze samples, not fixations")
            .with_remedy("do not ask for fixations")
            .with_fields(&[EncodeField::Rows]));
    }
    Ok(())
}

/// The metadata of the recording, or of its events. Files in memory have only the metadata that were given with them.
fn metadata(
    input: &Input,
    name: Option<&BidsName>,
    suffix: Option<&str>,
) -> Result<Sidecar, ReadError> {
    let Some(name) = name else {
        return Ok(Sidecar::default());
    };
    let suffix = suffix.unwrap_or(&name.suffix);
    match input.path() {
        Some(path) => Sidecar::find(path, name, suffix),
        None => Sidecar::among(input.companions(), name, suffix),
    }
}

fn names(
    input: &Input,
    name: Option<&BidsName>,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<(String, Option<String>), ReadError> {
    // The user's pattern takes precedence over BIDS' own rule for file names.
    let in_bids = match (name, &options.name_pattern) {
        (Some(name), None) => NamesInFile {
            participant: name.participant(),
            stimulus: name.stimulus(),
        },
        _ => NamesInFile::default(),
    };
    names_of(input, options, in_bids, sink)
}

/// Whether the file is of the eye that is not wanted. BIDS keeps each eye in its own file, and taking both would mix
/// two recordings of the same viewing.
fn is_other_eye(
    input: &Input,
    name: Option<&BidsName>,
    sidecar: &Sidecar,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> bool {
    let recorded = recorded_eye(sidecar);
    let recorded = recorded.as_deref();
    let wanted = match options.eye {
        Eye::Left => "left",
        Eye::Right => "right",
        Eye::Any => {
            let Some(name) = name else {
                return false;
            };
            let other = has_preferred_eye(input, name, recorded);
            if other {
                sink.assumed("each eye has its own file; the left one (or the one with the lower label) was used", &[EncodeField::Eye]);
            }
            return other;
        }
    };
    matches!(recorded, Some(eye @ ("left" | "right" | "cyclopean")) if eye != wanted)
}

/// The rows, with names from the sidecar or from a header line.
fn open_rows(input: Input, sidecar: &Sidecar) -> Result<Rows, ReadError> {
    let head = input.head();
    let first = head.first_line();
    let is_header = first
        .split('\t')
        .map(str::trim)
        .all(|field| !is_missing(field) && parse_number(field, true).is_none());
    if is_header {
        return Rows::open(input);
    }
    let Some(names) = sidecar.columns() else {
        let error = ReadError::new(
            input.name(),
            "there is no header line, and no JSON file says what the columns are",
        );
        return Err(error.with_remedy(match sidecar.files.last() {
            Some(file) => format!("\"Columns\" is missing in {file}"),
            None => "provide the recording's JSON file (same name, extension .json) together with it, for example in the same folder; BIDS requires it".to_string(),
        }));
    };
    Ok(Rows::with_names(input.into_lines(), names, b'\t'))
}

fn find_columns(
    rows: &Rows,
    sidecar: &Sidecar,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<ColumnIndices, ReadError> {
    let columns = rows.columns();
    let (x, y) = coordinates(columns, options, sink)?;
    let name_of = |column: usize| columns.names().get(column).map_or("", String::as_str);
    let unit = sidecar
        .unit(name_of(x))
        .or_else(|| sidecar.text("SampleCoordinateUnits"))
        .map(str::to_string);
    let rate_hz = sampling_rate(sidecar.positive("SamplingFrequency"), options, sink);
    let timestamp = columns.find(&["timestamp", "eye_timestamp", "onset", "time"]);
    let time = match timestamp {
        None => None,
        Some(column) => {
            let stated = sidecar.unit(name_of(column));
            match options.time_unit.or_else(|| TimeUnit::parse(stated?)) {
                Some(unit) => Some((column, unit.in_ms())),
                None if rate_hz.is_some() => {
                    sink.assumed("the unit of the timestamps is not known, so time was counted by the sampling frequency", &[]);
                    None
                }
                None => {
                    return Err(ReadError::new(rows.name(), "neither the unit of the timestamps nor a sampling frequency is known")
                        .with_remedy("add \"SamplingFrequency\" to the recording's JSON file, or give the unit of times or the sampling rate")
                        .with_fields(&[EncodeField::TimeUnit, EncodeField::Rate]));
                }
            }
        }
    };
    if timestamp.is_none() && rate_hz.is_none() {
        return Err(ReadError::new(
            rows.name(),
            "there is no timestamp column, and no sampling frequency is known",
        )
        .with_remedy(
            "add \"SamplingFrequency\" to the recording's JSON file, or give the sampling rate",
        )
        .with_fields(&[EncodeField::Rate]));
    }
    Ok(ColumnIndices {
        x,
        y,
        time,
        rate_hz,
        unit,
    })
}

/// The columns of x and y; older drafts had both eyes in one file.
fn coordinates(
    columns: &Columns,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<(usize, usize), ReadError> {
    if let (Some(x), Some(y)) = (
        columns.find(&["x_coordinate"]),
        columns.find(&["y_coordinate"]),
    ) {
        return Ok((x, y));
    }
    let second = options.eye == Eye::Right && columns.find(&["eye2_x_coordinate"]).is_some();
    let pair = if second {
        ["eye2_x_coordinate", "eye2_y_coordinate"]
    } else {
        ["eye1_x_coordinate", "eye1_y_coordinate"]
    };
    if let (Some(x), Some(y)) = (columns.find(&pair[..1]), columns.find(&pair[1..])) {
        if columns.find(&["eye2_x_coordinate"]).is_some() {
            let used = if second { "right" } else { "left" };
            let text = format!(
                "eye1 is assumed to be the left eye and eye2 the right; the {used} one was used"
            );
            sink.assumed(&text, &[EncodeField::Eye]);
        }
        return Ok((x, y));
    }
    // Recordings of heartbeat and breathing are the same kind of file, but have no coordinates.
    columns.require(&["x_coordinate"])?;
    let y = columns.require(&["y_coordinate"])?;
    Ok((columns.require(&["x_coordinate"])?, y))
}

/// Where the screen lies in the file's coordinates.
fn space(
    file: &str,
    sidecar: &Sidecar,
    events: &Sidecar,
    columns: &ColumnIndices,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<Option<Space>, ReadError> {
    let unit = coordinate_unit(file, sidecar, columns, options, sink)?;
    let stated = events.screen().or_else(|| sidecar.screen());
    let in_unit = ReadOptions {
        units: Some(unit),
        ..options.clone()
    };
    report_given_size(stated, &in_unit, sink);
    let (width, height) = match unit {
        CoordinateUnit::Fraction => (1.0, 1.0),
        CoordinateUnit::Percent => (100.0, 100.0),
        CoordinateUnit::Pixels => {
            let Some(size) = options.screen.or(stated) else {
                return Ok(None);
            };
            size
        }
        // These units define their own origin.
        other => return Ok(space_in(other, stated, options)),
    };
    let words = events.origin().or_else(|| sidecar.origin());
    let has = |word: &str| words.iter().flatten().any(|known| known == word);
    let mut space = Space::pixels(width, height);
    if has("center") || has("centre") {
        sink.assumed(
            "the coordinates start in the centre of the screen; y is assumed to point up",
            &[EncodeField::FlipY],
        );
        space = Space {
            kind: space.kind,
            ..Space::centred(width, height)
        };
    } else if has("bottom") {
        space = space.flipped();
    } else if !has("top") {
        sink.assumed(
            "the coordinates start at the top left (the JSON files do not say)",
            &[],
        );
    }
    if has("right") {
        (space.left, space.right) = (space.right, space.left);
    }
    Ok(Some(oriented(space, options)))
}

fn coordinate_unit(
    file: &str,
    sidecar: &Sidecar,
    columns: &ColumnIndices,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<CoordinateUnit, ReadError> {
    if let Some(unit) = options.units {
        return Ok(unit);
    }
    if let Some(system @ ("gaze-in-world" | "eye-in-head")) = sidecar.text("SampleCoordinateSystem")
    {
        return Err(ReadError::new(file, format!("the coordinates are \"{system}\", not positions on a screen"))
            .with_remedy("map the gaze to the screen or stimulus first; if the JSON file is wrong, give the unit yourself")
            .with_fields(&[EncodeField::Units]));
    }
    let Some(unit) = &columns.unit else {
        sink.assumed(
            "the coordinates are pixels (the JSON file does not say)",
            &[],
        );
        return Ok(CoordinateUnit::Pixels);
    };
    match unit.trim().to_lowercase().as_str() {
        "pixel" | "pixels" | "px" => Ok(CoordinateUnit::Pixels),
        "normalized" | "normalised" | "fraction" | "ratio" => Ok(CoordinateUnit::Fraction),
        "%" | "percent" => Ok(CoordinateUnit::Percent),
        "deg" | "degree" | "degrees" | "dva" => {
            sink.assumed(
                "degrees are visual angles from the centre of the screen, with y pointing up",
                &[EncodeField::Units, EncodeField::FlipY],
            );
            Ok(CoordinateUnit::VisualAngle)
        }
        _ => Err(ReadError::new(
            file,
            format!("the coordinates are in {unit:?}, which is not a known unit"),
        )
        .with_remedy("convert them to pixels; if the JSON file is wrong, give the unit yourself")
        .with_fields(&[EncodeField::Units])),
    }
}

#[cfg(test)]
mod tests;
