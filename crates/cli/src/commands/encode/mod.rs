//! `veilpath encode`: turns gaze and fixation files into a cohort.

mod gaze;
mod names;
mod summary;

use crate::commands::compare::NotationName;
use crate::destination::Destination;
use crate::failure::Failure;
use crate::inputs::{self, is_dash};
use crate::numbers::decimal;
use crate::{messages, progress};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use gaze::GazeArgs;
use names::{EyeName, OutsideName, RowsName, TimeName, UnitName};
use std::path::{Path, PathBuf};
use veilpath::encode::{
    Areas, EncodeOptions, Encoded, EventChoice, Eye, Groups, LetterMap, LetterOptions, NamePattern,
    ReadOptions, RowChoice, Source, encode, formats,
};
use veilpath::{Contents, Grid, Notation, write_cohort};

const EXAMPLES: &str = "\
Examples:
  veilpath encode fixations.csv --screen 1280x720 -o cohort.csv
  veilpath encode p01.asc p02.asc --grid 12x8 -o cohort.csv
  veilpath encode dog_p01.csv --name-pattern '{stimulus}_p{participant}' --screen 1280x720
  veilpath encode fixations.csv --screen 1280x720 --bin 50 --summary json
  veilpath encode gaze.csv --units deg --screen-cm 52x29 --distance 60 -o cohort.csv
  veilpath encode fixations.csv --screen 1280x720 --keep-fixations -o cohort.csv
  veilpath encode gaze.csv --screen 1280x720 --detect idt --dispersion 40px -o cohort.csv

The format of each file is recognised from its content. The summary on standard error says what was recognised, assumed, used \
and dropped, and why.";

/// The arguments of `encode`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EncodeArgs {
    /// Gaze or fixation files, - for standard input (gzip, UTF-8, UTF-16 and old Windows code pages can be read)
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    /// Write the cohort to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace the output file even if it is not a cohort
    #[arg(long)]
    force: bool,

    /// The format of the summary on standard error
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        value_name = "FORMAT",
        default_value = "text"
    )]
    summary: SummaryFormat,

    #[command(flatten)]
    file: FileArgs,

    #[command(flatten)]
    letters: LetterArgs,

    #[command(flatten)]
    gaze: GazeArgs,
}

/// What the files do not specify.
#[derive(Debug, Args)]
#[command(next_help_heading = "About the files")]
struct FileArgs {
    /// The format of the files [default: recognised from the content]
    #[arg(long, value_name = "NAME", value_parser = format_names())]
    input_format: Option<String>,

    /// Size in pixels of what the coordinates refer to, WIDTHxHEIGHT: usually the screen, with 0,0 at its top left
    #[arg(long, value_name = "SIZE", value_parser = size)]
    screen: Option<(f64, f64)>,

    /// Size of the screen in centimetres, WIDTHxHEIGHT, for degrees of visual angle
    #[arg(long, value_name = "SIZE", value_parser = size)]
    screen_cm: Option<(f64, f64)>,

    /// Distance from the eye to the screen in centimetres, for degrees of visual angle
    #[arg(long, value_name = "CM", value_parser = decimal, allow_negative_numbers = true)]
    distance: Option<f64>,

    /// Unit of coordinates, if the format does not define it
    #[arg(long, value_enum, value_name = "UNIT")]
    units: Option<UnitName>,

    /// Unit of times, if the format does not define it
    #[arg(long, value_enum, value_name = "UNIT")]
    time_unit: Option<TimeName>,

    /// Samples per second, if there are no timestamps
    #[arg(long, value_name = "HZ", value_parser = decimal, allow_negative_numbers = true)]
    rate: Option<f64>,

    /// Flip the vertical axis
    #[arg(long)]
    flip_y: bool,

    /// The eye to use in a binocular file [default: the left eye, if it was recorded]
    #[arg(long, value_enum, value_name = "EYE")]
    eye: Option<EyeName>,

    /// The rows to use in a file with both fixations and samples [default: fixations]
    #[arg(long, value_enum, value_name = "KIND")]
    rows: Option<RowsName>,

    /// The events to use in a table with event labels: fixations, all, or labels such as FIXA,PURS [default: fixations;
    /// gaze samples: all but blinks]
    #[arg(long, value_name = "EVENTS")]
    events: Option<EventChoice>,

    /// The participant of files that do not name one
    #[arg(long, value_name = "NAME")]
    participant: Option<String>,

    /// The stimulus of files that do not name one
    #[arg(long, value_name = "NAME")]
    stimulus: Option<String>,

    /// A pattern to find participant and stimulus in file names, as in 'video{stimulus}_p{participant}'
    #[arg(long, value_name = "PATTERN", value_parser = NamePattern::parse)]
    name_pattern: Option<NamePattern>,

    /// The groups of participants: a table with the columns participant and group [default: a column in the files, if any]
    #[arg(long, value_name = "FILE")]
    groups: Option<PathBuf>,

    /// Names of columns in a generic table, as in x=gaze_x,y=gaze_y,group=diagnosis
    #[arg(long, value_name = "NAME=COLUMN", value_parser = column, value_delimiter = ',')]
    columns: Vec<(String, String)>,
}

/// How points become letters.
#[derive(Debug, Args)]
#[command(next_help_heading = "From points to letters")]
struct LetterArgs {
    /// The grid on the stimulus, COLUMNSxROWS; each cell is a letter
    #[arg(long, value_name = "GRID", default_value = "7x7")]
    grid: Grid,

    /// Areas of interest instead of a grid: a CSV file with name,shape,coordinates
    #[arg(long, value_name = "FILE", conflicts_with = "grid")]
    aoi: Option<PathBuf>,

    /// Areas of interest from a column in the files; NAMES sets their order [default: all, sorted]
    #[arg(long, value_name = "NAMES", conflicts_with_all = ["grid", "aoi"], num_args = 0..=1, require_equals = true, default_missing_value = "", value_delimiter = ',')]
    aoi_column: Option<Vec<String>>,

    /// What to do with points outside the stimulus
    #[arg(long, value_enum, value_name = "RULE", default_value = "drop", conflicts_with_all = ["aoi", "aoi_column"])]
    outside: OutsideName,

    /// The notation of the letters [default: the shortest one with enough letters]
    #[arg(long, value_enum, value_name = "NOTATION")]
    notation: Option<NotationName>,

    /// ScanMatch's temporal binning: repeat a fixation's letter once per MS milliseconds of its duration, rounded
    #[arg(long, value_name = "MS", allow_negative_numbers = true, value_parser = decimal)]
    bin: Option<f64>,

    /// With --bin, leave out each recording's first fixation, as the ScanMatch toolbox does
    #[arg(long, requires = "bin")]
    matlab_compat: bool,

    /// Leave out recordings without any letters instead of writing empty scanpaths
    #[arg(long)]
    drop_empty: bool,

    /// Also write fixations, with positions and times, for metrics that need them
    #[arg(long)]
    keep_fixations: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SummaryFormat {
    /// Human-readable text
    Text,
    /// One JSON object
    Json,
}

/// Encodes the files, and writes the cohort and the summary.
pub(crate) fn run(args: &EncodeArgs) -> Result<(), Failure> {
    let inputs: Vec<&Path> = args
        .files
        .iter()
        .chain(&args.letters.aoi)
        .chain(&args.file.groups)
        .map(PathBuf::as_path)
        .collect();
    inputs::check_single_stdin(&inputs)?;
    let options = EncodeOptions {
        format: args.file.input_format.clone(),
        read: args.file.options(),
        letters: args.letters.options(&args.gaze)?,
        groups: args.file.groups()?,
    };
    let output = args.output.as_deref();
    let destination = Destination::prepare(Contents::Cohort, output, &inputs, args.force)?;
    let sources: Result<Vec<Source>, Failure> =
        args.files.iter().map(|path| source(path)).collect();
    let bar = progress::Bar::bytes();
    let encoded = encode(sources?, &options, &bar);
    bar.finish();
    let Encoded { cohort, summary } = encoded?;
    destination.write_table("cohort.csv", |out| {
        write_cohort(&cohort, summary.aspect, &[], out)
    })?;
    match args.summary {
        SummaryFormat::Text => {
            messages::info(&summary::text(&summary));
            messages::detail(&summary::files(&summary));
        }
        SummaryFormat::Json => {
            let json = serde_json::to_string(&summary).map_err(Failure::json)?;
            if !messages::is_quiet() {
                messages::json_line(&json);
            }
        }
    }
    Ok(())
}

fn source(path: &Path) -> Result<Source, Failure> {
    Ok(if is_dash(path) {
        Source::Open(Box::new(inputs::open(path)?))
    } else {
        Source::File(path.to_path_buf())
    })
}

impl FileArgs {
    fn options(&self) -> ReadOptions {
        ReadOptions {
            screen: self.screen,
            screen_cm: self.screen_cm,
            distance_cm: self.distance,
            units: self.units.map(Into::into),
            time_unit: self.time_unit.map(Into::into),
            flip_y: self.flip_y,
            rate_hz: self.rate,
            eye: self.eye.map_or(Eye::Any, Into::into),
            rows: self.rows.map_or(RowChoice::Any, Into::into),
            events: self.events.clone(),
            participant: self.participant.clone(),
            stimulus: self.stimulus.clone(),
            name_pattern: self.name_pattern.clone(),
            columns: self.columns.iter().cloned().collect(),
        }
    }

    fn groups(&self) -> Result<Option<Groups>, Failure> {
        let path = self.groups.as_deref();
        let read = |path| Ok(Groups::read(inputs::open(path)?)?);
        path.map(read).transpose()
    }
}

impl LetterArgs {
    fn options(&self, gaze: &GazeArgs) -> Result<LetterOptions, Failure> {
        Ok(LetterOptions {
            letter_map: self.letter_map()?,
            outside: self.outside.into(),
            detection: gaze.detection(),
            runs: gaze.options(),
            bin_ms: self.bin,
            matlab_compat: self.matlab_compat,
            drop_empty: self.drop_empty,
            keep_fixations: self.keep_fixations,
            notation: self.notation.map(Notation::from),
            given: gaze.given_fields(),
        })
    }

    fn letter_map(&self) -> Result<LetterMap, Failure> {
        if let Some(path) = &self.aoi {
            return Ok(LetterMap::AoiFile(Areas::read(inputs::open(path)?)?));
        }
        Ok(match &self.aoi_column {
            None => LetterMap::Grid(self.grid),
            Some(names) => {
                let names: Vec<String> = names
                    .iter()
                    .filter(|name| !name.is_empty())
                    .cloned()
                    .collect();
                LetterMap::AoiColumn {
                    names: (!names.is_empty()).then_some(names),
                }
            }
        })
    }
}

fn format_names() -> PossibleValuesParser {
    PossibleValuesParser::new(
        formats()
            .into_iter()
            .map(|format| clap::builder::PossibleValue::new(format.name).help(format.title)),
    )
}

fn size(text: &str) -> Result<(f64, f64), String> {
    text.split_once(['x', 'X', '×'])
        .and_then(|(width, height)| {
            let side = |text: &str| text.trim().parse::<f64>().ok();
            Some((side(width)?, side(height)?))
        })
        .ok_or_else(|| "expected WIDTHxHEIGHT, as in 1280x720".to_string())
}

fn column(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .filter(|(ours, theirs)| !ours.is_empty() && !theirs.is_empty())
        .map(|(ours, theirs)| (ours.trim().to_string(), theirs.trim().to_string()))
        .ok_or_else(|| "expected NAME=COLUMN, as in x=gaze_x".to_string())
}
