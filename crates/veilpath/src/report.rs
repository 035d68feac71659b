//! An HTML page with figures from a result file, and its heat map as a separate picture.

mod pairs;

use crate::cohort::{decode_cohort, read_cohort_from};
use crate::{Error, Event, EventSink, Input, Note};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use veilpath_encode::{RawCohort, explain_binary};
use veilpath_metrics::{Cohort, Entry, Grid};
use veilpath_report::html::{MAX_IMAGE_BYTES, Options, OwnCohort, OwnPair};

pub use pairs::PairOptions;
pub use veilpath_report::html::{
    Image, ImageError, NoHeatMap, NoSuchMeasure, NotInFile, Report, STYLE,
};
pub use veilpath_report::result_file::{ResultFile, ResultFileError, ResultFormat};

/// How to present a result.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions {
    /// The name of the result file, for the page's footer and for errors.
    pub source: String,
    /// The stimuli to show; all if empty.
    pub stimuli: Vec<String>,
    /// The measures to show; all if empty.
    pub measures: Vec<String>,
    /// The heading of the page.
    pub title: Option<String>,
    /// The names of the two cohorts; `None` for those in the result file.
    pub names: Option<[String; 2]>,
}

/// How to draw a cohort's scanpaths.
#[derive(Clone, Debug, Default)]
pub struct DrawingOptions {
    /// The grid of the letters, if the file does not declare it.
    pub grid: Option<Grid>,
    /// The aspect ratio of the stimuli; `None` uses the one in the cohort file. If the file declares none, a panorama
    /// is twice as wide as high, and other stimuli have square grid cells.
    pub aspect: Option<Aspect>,
    /// Pictures of the stimuli, by name; `None` for scanpaths without a stimulus.
    pub images: Vec<(Option<String>, PathBuf)>,
}

/// An aspect ratio: width divided by height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aspect(f64);

/// An aspect ratio that is not a number from 1:10 to 10:1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected width and height, as in 16:9, at most 10 to 1")]
pub struct AspectError;

impl Aspect {
    /// The aspect ratio of this width and height.
    pub fn new(width: f64, height: f64) -> Result<Self, AspectError> {
        let ratio = width / height;
        match (0.1..=10.0).contains(&ratio) {
            true => Ok(Self(ratio)),
            false => Err(AspectError),
        }
    }
}

impl FromStr for Aspect {
    type Err = AspectError;

    /// Reads `16:9`, `16x9`, or a number.
    fn from_str(text: &str) -> Result<Self, AspectError> {
        let (width, height) = text.split_once([':', 'x', '×']).unwrap_or((text, "1"));
        let number = |text: &str| text.trim().parse().map_err(|_| AspectError);
        Self::new(number(width)?, number(height)?)
    }
}

/// Why a cohort's scanpaths cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DrawingError {
    /// The grid of the letters is unknown.
    #[error("{file}: the file does not declare the grid of its letters")]
    NoGrid {
        /// The cohort file.
        file: String,
    },
    /// The file declares another grid.
    #[error("{file}: the cohort was encoded on a grid of {declared}, not {requested}")]
    GridDiffers {
        /// The cohort file.
        file: String,
        /// The grid in the file.
        declared: Grid,
        /// The grid in the options.
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
    /// A pair with a participant that the cohort does not have.
    #[error("{file}: there is no participant {participant:?}")]
    NoSuchParticipant {
        /// The cohort file.
        file: String,
        /// The participant of the pair.
        participant: String,
    },
    /// A pair of participants with no stimulus in common, or none among those to show.
    #[error("{:?} and {:?} have no scanpaths of the same stimulus to show", participants[0], participants[1])]
    NoCommonStimulus {
        /// The pair.
        participants: [String; 2],
    },
    /// A picture for a stimulus that no scanpath has.
    #[error("{file}: {}", no_such_stimulus(stimulus.as_deref()))]
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
        /// The cause.
        error: ImageError,
    },
}

/// Why no scanpath belongs to a picture. A picture without a name is for scanpaths without a stimulus.
fn no_such_stimulus(stimulus: Option<&str>) -> String {
    match stimulus {
        Some(stimulus) => format!("no scanpath has the stimulus {stimulus}"),
        None => "every scanpath has a stimulus, so a picture needs a name".into(),
    }
}

/// Reads a result file.
pub fn read_result(path: &Path) -> Result<ResultFile, Error> {
    if path.is_dir() {
        return Err(unreadable(path, io::ErrorKind::IsADirectory.into()));
    }
    let file = File::open(path).map_err(|error| unreadable(path, error))?;
    read_result_from(&path.display().to_string(), file)
}

/// Reads a result file from any reader. `name` appears in errors.
pub fn read_result_from(name: &str, input: impl Read) -> Result<ResultFile, Error> {
    let input = not_binary(name, input)?;
    let file = ResultFile::read(input).map_err(|error| Error::ResultFile {
        file: name.to_string(),
        error,
    })?;
    match file.outcome().and_then(|outcome| outcome.tile.as_ref()) {
        None => Ok(file),
        // A tile's figures and statistics could be mistaken for those of the whole plan.
        Some(tile) => Err(Error::UnmergedTile {
            file: name.to_string(),
            tile: tile.tile,
        }),
    }
}

/// Passes the input on unless its start is that of a spreadsheet or another known binary file, which no reader of
/// result files could explain.
pub(crate) fn not_binary<R: Read>(name: &str, mut input: R) -> Result<impl Read + use<R>, Error> {
    const START_BYTES: u64 = 64 << 10;
    let mut start = Vec::new();
    let read = input.by_ref().take(START_BYTES).read_to_end(&mut start);
    read.map_err(|error| Error::ResultFile {
        file: name.to_string(),
        error: error.into(),
    })?;
    let head = Input::from_bytes(name, start.clone()).map(|input| input.head());
    match head.ok().as_ref().and_then(explain_binary) {
        Some(error) => Err(error.into()),
        None => Ok(io::Cursor::new(start).chain(input)),
    }
}

/// A cohort to draw, with the pictures of its stimuli. A page that shows it must stay within the institution.
#[derive(Clone, Debug)]
pub struct DrawnCohort {
    file: RawCohort,
    cohort: Cohort,
    grid: Option<Grid>,
    aspect: Option<f64>,
    images: Vec<(Option<String>, Image)>,
    pairs: Vec<OwnPair>,
}

impl DrawnCohort {
    /// Reads a cohort file and the pictures of its stimuli.
    pub fn read(
        input: Input,
        options: &DrawingOptions,
        events: &dyn EventSink,
    ) -> Result<Self, Error> {
        let raw = read_cohort_from(input)?;
        let file = raw.name().to_string();
        let cohort = decode_cohort(&raw, events)?;
        let grid = match (raw.declared_grid(), options.grid) {
            (Some(declared), Some(requested)) if declared != requested => {
                return Err(DrawingError::GridDiffers {
                    file,
                    declared,
                    requested,
                }
                .into());
            }
            (declared, requested) => declared.or(requested),
        };
        let Some(grid) = grid else {
            if !options.images.is_empty() {
                return Err(DrawingError::NoGrid { file }.into());
            }
            events.event(Event::Note(Note::NoGrid { file }));
            return Ok(Self {
                file: raw,
                cohort,
                grid: None,
                aspect: None,
                images: Vec::new(),
                pairs: Vec::new(),
            });
        };
        let entries = cohort.entries.iter();
        let letters = entries.flat_map(|entry| entry.scanpath.letters());
        if letters
            .max()
            .is_some_and(|&last| u32::from(last) >= grid.cells())
        {
            return Err(DrawingError::BeyondGrid { file, grid }.into());
        }
        let mut images = Vec::with_capacity(options.images.len());
        for (stimulus, path) in &options.images {
            if !cohort
                .entries
                .iter()
                .any(|entry| &entry.stimulus == stimulus)
            {
                let stimulus = stimulus.clone();
                return Err(DrawingError::NoSuchStimulus { file, stimulus }.into());
            }
            images.push((stimulus.clone(), read_image(path)?));
        }
        Ok(Self {
            cohort,
            grid: Some(grid),
            aspect: options.aspect.map(|Aspect(aspect)| aspect).or(raw.aspect()),
            images,
            pairs: Vec::new(),
            file: raw,
        })
    }
}

/// Makes a report of a result. Notes for the user go to `events`.
pub fn report<'a>(
    result: &'a ResultFile,
    drawn: Option<&'a DrawnCohort>,
    options: &'a ReportOptions,
    events: &dyn EventSink,
) -> Result<Report<'a>, Error> {
    let is_panorama = result
        .outcome()
        .is_some_and(|outcome| outcome.spec.metric.wraps());
    let own = drawn.map(|drawn| OwnCohort {
        cohort: &drawn.cohort,
        grid: drawn.grid,
        aspect: drawn.aspect.or(is_panorama.then_some(PANORAMA)),
        images: &drawn.images,
        pairs: &drawn.pairs,
    });
    let report = Report::new(
        result,
        Options {
            source: &options.source,
            stimuli: &options.stimuli,
            measures: &options.measures,
            own,
            title: options.title.as_deref(),
            names: options.names.as_ref(),
        },
    );
    let file = || options.source.clone();
    let report = report.map_err(|error| match error {
        NotInFile::Stimulus(stimulus) => Error::NoSuchStimulus {
            file: file(),
            stimulus,
            known: result.stimuli().to_vec(),
        },
        NotInFile::Measure(NoSuchMeasure(measure)) => Error::NoSuchMeasure {
            file: file(),
            measure,
            known: result
                .measures()
                .iter()
                .map(|measure| measure.name.clone())
                .collect(),
        },
    })?;
    if result.outcome().is_none() {
        let file = options.source.clone();
        events.event(Event::Note(Note::NumbersOnly { file }));
    }
    if let Some(drawn) = drawn {
        let is_in_result = |entry: &Entry| {
            result.a().contains(&entry.participant) || result.b().contains(&entry.participant)
        };
        if !drawn.cohort.entries.iter().any(is_in_result) {
            events.event(Event::Note(Note::NotInResult));
        }
        events.event(Event::Note(Note::PrivatePage));
    }
    Ok(report)
}

/// The aspect ratio of a panorama: 360° wide and 180° high.
const PANORAMA: f64 = 2.0;

fn read_image(path: &Path) -> Result<Image, Error> {
    let file = File::open(path).map_err(|error| unreadable(path, error))?;
    let mut bytes = Vec::new();
    // Read one byte more than allowed, to tell a file that is too large from one that just fits.
    file.take(MAX_IMAGE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(path, error))?;
    Image::new(bytes).map_err(|error| {
        let file = path.display().to_string();
        DrawingError::Image { file, error }.into()
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
    fn a_picture_without_a_scanpath_says_which_name_it_needs() {
        let text = |stimulus: Option<&str>| {
            let (file, stimulus) = ("c.csv".to_string(), stimulus.map(String::from));
            DrawingError::NoSuchStimulus { file, stimulus }.to_string()
        };
        assert_eq!(text(Some("s")), "c.csv: no scanpath has the stimulus s");
        let unnamed = "c.csv: every scanpath has a stimulus, so a picture needs a name";
        assert_eq!(text(None), unnamed);
    }

    #[test]
    fn aspect_ratios_are_parsed() {
        for (text, aspect) in [("16:9", 16.0 / 9.0), ("2", 2.0), ("1920x1080", 16.0 / 9.0)] {
            assert_eq!(text.parse(), Ok(Aspect(aspect)), "{text}");
        }
        for bad in ["", "0:1", "1:0", "x", "100:1", "-2:1", "nan"] {
            assert!(bad.parse::<Aspect>().is_err(), "{bad}");
        }
    }
}
