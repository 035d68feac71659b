//! A page with figures from a result file, and its heat map by itself.

use crate::cohort::{cohort_of, read_cohort_from};
use crate::{Error, Event, EventSink, Input, Note};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use veilpath_metrics::{Cohort, Entry, Grid, Metric, Substitution};
use veilpath_protocol::Outcome;
use veilpath_report::html::{MAX_IMAGE_BYTES, Options, Own};
use veilpath_report::{csv, json, table};

pub use veilpath_report::html::{Image, ImageError, NoHeatMap, NoSuchStimulus, Report};
pub use veilpath_report::result_file::{ResultFile, ResultFileError, ResultFormat};

/// What a report shows of a result, besides the result itself.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions {
    /// The name of the result file, for the foot of the page.
    pub source: String,
    /// The stimuli that are shown; all where none is named.
    pub stimuli: Vec<String>,
    /// The heading of the page.
    pub title: Option<String>,
    /// What the two cohorts are called; `None` takes the names of the result file.
    pub names: Option<[String; 2]>,
}

/// How the scanpaths of one's own cohort are drawn.
#[derive(Clone, Debug, Default)]
pub struct OwnOptions {
    /// The grid whose cells are the letters, where the file does not declare it.
    pub grid: Option<Grid>,
    /// Width by height of what was looked at; `None` takes what the cohort file says. Where that says nothing, a panorama
    /// is twice as wide as high, and grid cells are square.
    pub aspect: Option<Aspect>,
    /// Pictures of the stimuli; `None` is for scanpaths without a stimulus.
    pub images: Vec<(Option<String>, PathBuf)>,
}

/// Width by height of what was looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aspect(f64);

impl FromStr for Aspect {
    type Err = String;

    /// Reads `16:9`, `16x9`, or a number.
    fn from_str(text: &str) -> Result<Self, String> {
        let (wide, high) = text.split_once([':', 'x', '×']).unwrap_or((text, "1"));
        let number = |text: &str| text.trim().parse::<f64>().ok();
        number(wide)
            .zip(number(high))
            .map(|(wide, high)| wide / high)
            .filter(|aspect| (0.1..=10.0).contains(aspect))
            .map(Self)
            .ok_or_else(|| "expected width and height, as in 16:9, at most 10 to 1".into())
    }
}

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeFormat {
    /// An aligned table for people, with rounded numbers.
    Table,
    /// One row per pair, with exact numbers.
    Csv,
    /// Everything; the only format that is read back whole.
    Json,
}

/// Why one's own scanpaths cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OwnError {
    /// The grid is not known.
    #[error("{file}: the file does not say which grid its letters are cells of")]
    NoGrid {
        /// The cohort file.
        file: String,
    },
    /// The file declares another grid than the user.
    #[error("{file}: the cohort was encoded on a grid of {declared}, not {requested}")]
    GridDiffers {
        /// The cohort file.
        file: String,
        /// What it declares.
        declared: Grid,
        /// What the user says.
        requested: Grid,
    },
    /// Letters beyond the last cell of the grid.
    #[error("{file}: the cohort has letters beyond the {} cells of a grid of {grid}", grid.cells())]
    BeyondGrid {
        /// The cohort file.
        file: String,
        /// The grid.
        grid: Grid,
    },
    /// A picture of a stimulus that no scanpath has.
    #[error("{file}: no scanpath has the stimulus {}", stimulus.as_deref().unwrap_or("(none)"))]
    NoSuchStimulus {
        /// The cohort file.
        file: String,
        /// The stimulus of the picture.
        stimulus: Option<String>,
    },
    /// A file that is not a picture.
    #[error("{file}: {error}")]
    Image {
        /// The file.
        file: String,
        /// Why.
        error: ImageError,
    },
}

/// Reads a result file.
pub fn read_result(path: &Path) -> Result<ResultFile, Error> {
    if path.is_dir() {
        return Err(unreadable(path, io::ErrorKind::IsADirectory.into()));
    }
    let file = File::open(path).map_err(|error| unreadable(path, error))?;
    read_result_from(&path.display().to_string(), file)
}

/// Reads a result file that is open; `name` is for errors.
pub fn read_result_from(name: &str, input: impl Read) -> Result<ResultFile, Error> {
    ResultFile::read(input).map_err(|error| Error::Result {
        file: name.to_string(),
        error,
    })
}

/// Writes an outcome.
pub fn write_outcome(
    outcome: &Outcome,
    format: OutcomeFormat,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        OutcomeFormat::Table => table::write(outcome, out),
        OutcomeFormat::Csv => csv::write(outcome, out),
        OutcomeFormat::Json => json::write(outcome, out),
    }
}

/// One's own cohort with what its pictures need. A page with it is for the own institution only.
pub struct OwnScanpaths {
    cohort: Cohort,
    grid: Grid,
    aspect: Option<f64>,
    images: Vec<(Option<String>, Image)>,
}

impl OwnScanpaths {
    /// Reads a cohort file and the pictures of its stimuli.
    pub fn read(input: Input, options: &OwnOptions, events: &dyn EventSink) -> Result<Self, Error> {
        let raw = read_cohort_from(input)?;
        let file = raw.name().to_string();
        let cohort = cohort_of(&raw, events)?;
        let grid = match (raw.declared_grid(), options.grid) {
            (Some(declared), Some(requested)) if declared != requested => {
                return Err(OwnError::GridDiffers {
                    file,
                    declared,
                    requested,
                }
                .into());
            }
            (declared, requested) => declared.or(requested),
        };
        let Some(grid) = grid else {
            return Err(OwnError::NoGrid { file }.into());
        };
        let entries = cohort.entries.iter();
        let letters = entries.flat_map(|entry| entry.scanpath.letters());
        if letters
            .max()
            .is_some_and(|&last| u32::from(last) >= grid.cells())
        {
            return Err(OwnError::BeyondGrid { file, grid }.into());
        }
        let mut images = Vec::with_capacity(options.images.len());
        for (stimulus, path) in &options.images {
            if !cohort
                .entries
                .iter()
                .any(|entry| &entry.stimulus == stimulus)
            {
                let stimulus = stimulus.clone();
                return Err(OwnError::NoSuchStimulus { file, stimulus }.into());
            }
            images.push((stimulus.clone(), read_image(path)?));
        }
        Ok(Self {
            cohort,
            grid,
            aspect: options.aspect.map(|Aspect(aspect)| aspect).or(raw.aspect()),
            images,
        })
    }
}

/// Makes the report of a result. What a user may not expect of it goes to `events`.
pub fn report<'a>(
    result: &'a ResultFile,
    own: Option<&'a OwnScanpaths>,
    options: &'a ReportOptions,
    events: &dyn EventSink,
) -> Result<Report<'a>, Error> {
    let is_panorama = result
        .outcome()
        .is_some_and(|outcome| wraps(&outcome.spec.metric));
    let drawn = own.map(|own| Own {
        cohort: &own.cohort,
        grid: own.grid,
        aspect: own.aspect.or(is_panorama.then_some(PANORAMA)),
        images: &own.images,
    });
    let report = Report::new(
        result,
        Options {
            source: &options.source,
            stimuli: &options.stimuli,
            own: drawn,
            title: options.title.as_deref(),
            names: options.names.as_ref(),
        },
    );
    let report = report.map_err(|NoSuchStimulus(stimulus)| Error::NoSuchStimulus {
        file: options.source.clone(),
        stimulus,
        known: result.stimuli().to_vec(),
    })?;
    if result.outcome().is_none() {
        let file = options.source.clone();
        events.event(Event::Note(Note::NumbersOnly { file }));
    }
    if let Some(own) = own {
        let known = |entry: &Entry| {
            result.a().contains(&entry.participant) || result.b().contains(&entry.participant)
        };
        if !own.cohort.entries.iter().any(known) {
            events.event(Event::Note(Note::NotInResult));
        }
        events.event(Event::Note(Note::PrivatePage));
    }
    Ok(report)
}

/// A panorama is 360° wide and 180° high.
const PANORAMA: f64 = 2.0;

/// Whether the left and right edges of the stimulus are joined, as in a panorama.
fn wraps(metric: &Metric) -> bool {
    match metric {
        Metric::ScanMatch { wrap, .. }
        | Metric::NeedlemanWunsch {
            substitution: Substitution::Grid { wrap, .. },
            ..
        } => *wrap,
        _ => false,
    }
}

fn read_image(path: &Path) -> Result<Image, Error> {
    let file = File::open(path).map_err(|error| unreadable(path, error))?;
    let mut bytes = Vec::new();
    // One more than allowed, so that too large a file is told from one that just fits.
    file.take(MAX_IMAGE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(path, error))?;
    Image::new(bytes).map_err(|error| {
        let file = path.display().to_string();
        OwnError::Image { file, error }.into()
    })
}

fn unreadable(path: &Path, source: io::Error) -> Error {
    Error::Open {
        path: path.to_path_buf(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proportions_are_read() {
        for (text, aspect) in [("16:9", 16.0 / 9.0), ("2", 2.0), ("1920x1080", 16.0 / 9.0)] {
            assert_eq!(text.parse(), Ok(Aspect(aspect)), "{text}");
        }
        for bad in ["", "0:1", "1:0", "x", "100:1", "-2:1", "nan"] {
            assert!(bad.parse::<Aspect>().is_err(), "{bad}");
        }
    }
}
