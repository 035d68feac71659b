//! `veilpath encode`: gaze and fixation files become a cohort.

use crate::commands::compare::NotationName;
use crate::failure::Failure;
use crate::numbers::decimal;
use crate::output::Destination;
use crate::{dash, messages, progress};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use veilpath_encode::{
    Areas, CoordinateUnit, Downsize, EncodeOptions, Encoded, Eye, Input, NameTemplate, Outside,
    Placing, ReadOptions, RowChoice, RunOptions, RunsBy, TimeUnit, cohort_file, encode_files,
    readers,
};
use veilpath_metrics::{Grid, Notation};

const EXAMPLES: &str = "\
Examples:
  veilpath encode fixations.csv --screen 1280x720 -o cohort.csv
  veilpath encode p01.asc p02.asc --grid 12x8 -o cohort.csv
  veilpath encode dog_p01.csv --file-name '{stimulus}_p{participant}' --screen 1280x720
  veilpath encode fixations.csv --screen 1280x720 --bin 50 --summary json

The format of each file is recognised by its content. The summary on standard error says what was recognised, \
assumed, used and dropped, and why.";

/// The arguments of `encode`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EncodeArgs {
    /// Gaze or fixation files (gzip, UTF-8, UTF-16 and old Windows code pages are all right)
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    /// Where the cohort goes [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// How to write the summary on standard error
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    summary: SummaryForm,

    #[command(flatten)]
    file: FileArgs,

    #[command(flatten)]
    letters: LetterArgs,

    #[command(flatten)]
    gaze: GazeArgs,
}

/// What the files do not say themselves.
#[derive(Debug, Args)]
#[command(next_help_heading = "About the files")]
struct FileArgs {
    /// The format, where the guess is wrong
    #[arg(long, value_name = "NAME", value_parser = format_names())]
    input_format: Option<String>,

    /// Size of the screen or stimulus in pixels, WIDTHxHEIGHT
    #[arg(long, value_name = "SIZE", value_parser = size)]
    screen: Option<(f64, f64)>,

    /// Unit of coordinates, where the format leaves it open
    #[arg(long, value_enum, value_name = "UNIT")]
    units: Option<UnitName>,

    /// Unit of times, where the format leaves it open
    #[arg(long, value_enum, value_name = "UNIT")]
    time_unit: Option<TimeName>,

    /// Samples per second, where there are no timestamps
    #[arg(long, value_name = "HZ", value_parser = rate, allow_negative_numbers = true)]
    rate: Option<f64>,

    /// Turn the vertical axis around
    #[arg(long)]
    flip_y: bool,

    /// Which eye of a binocular file [default: left where there is one]
    #[arg(long, value_enum, value_name = "EYE")]
    eye: Option<EyeName>,

    /// Which rows of a file that has both [default: fixations where there are any]
    #[arg(long, value_enum, value_name = "KIND")]
    rows: Option<RowsName>,

    /// The participant of files that do not name one
    #[arg(long, value_name = "NAME")]
    participant: Option<String>,

    /// The stimulus of files that do not name one
    #[arg(long, value_name = "NAME")]
    stimulus: Option<String>,

    /// Where participant and stimulus stand in file names, as in 'video{stimulus}_p{participant}'
    #[arg(long, value_name = "PATTERN", value_parser = NameTemplate::parse)]
    file_name: Option<NameTemplate>,

    /// Names of columns in a generic table, as in x=gaze_x,y=gaze_y
    #[arg(long, value_name = "OURS=THEIRS", value_parser = column, value_delimiter = ',')]
    columns: Vec<(String, String)>,
}

/// What the letters stand for.
#[derive(Debug, Args)]
#[command(next_help_heading = "From points to letters")]
struct LetterArgs {
    /// Cells of the stimulus, COLUMNSxROWS
    #[arg(long, value_name = "GRID", default_value = "7x7")]
    grid: Grid,

    /// Areas of interest instead of a grid: a CSV file with name,shape,coordinates
    #[arg(long, value_name = "FILE", conflicts_with = "grid")]
    aoi: Option<PathBuf>,

    /// Areas of interest from the tracker's own column; NAMES fix their order [default: all, sorted]
    #[arg(long, value_name = "NAMES", conflicts_with_all = ["grid", "aoi"], num_args = 0..=1, require_equals = true, default_missing_value = "", value_delimiter = ',')]
    aoi_column: Option<Vec<String>>,

    /// Points beyond the edge
    #[arg(long, value_enum, value_name = "RULE", default_value = "drop")]
    outside: OutsideName,

    /// How letters are written [default: the shortest notation that can write all]
    #[arg(long, value_enum, value_name = "NOTATION")]
    alphabet: Option<NotationName>,

    /// ScanMatch's temporal binning: repeat the letter of a fixation once per so many milliseconds
    #[arg(long, value_name = "MS", allow_negative_numbers = true, value_parser = decimal)]
    bin: Option<f64>,

    /// With --bin, leave out each recording's first fixation, as the ScanMatch toolbox does
    #[arg(long, requires = "bin")]
    matlab_compat: bool,

    /// Leave out recordings without a single letter, which are empty scanpaths otherwise
    #[arg(long)]
    drop_empty: bool,
}

/// How raw gaze is reduced.
#[derive(Debug, Args)]
#[command(next_help_heading = "Raw gaze (fixations are not reduced)")]
struct GazeArgs {
    /// Runs of one letter that are shorter disappear; longer ones leave a letter for each such time
    #[arg(
        long,
        value_name = "MS",
        default_value_t = 100.0,
        allow_negative_numbers = true,
        value_parser = decimal
    )]
    min_dwell: f64,

    /// What happens to the rest of a run
    #[arg(long, value_enum, value_name = "RULE", default_value = "floor")]
    downsize: DownsizeName,

    /// Do not merge neighbours that become equal when a short run between them disappears
    #[arg(long)]
    no_merge: bool,

    /// The most letters that one run leaves; 0 for no limit
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 3,
        allow_negative_numbers = true
    )]
    max_repeats: u32,

    /// The longest loss of the eye that a run survives
    #[arg(
        long,
        value_name = "MS",
        default_value_t = 75.0,
        allow_negative_numbers = true,
        value_parser = decimal
    )]
    max_gap: f64,

    /// Measure runs by timestamps, or by counting samples
    #[arg(long, value_enum, value_name = "HOW", default_value = "time")]
    runs: RunsName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SummaryForm {
    /// A few lines for people
    Text,
    /// One JSON object
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum UnitName {
    /// Pixels, origin top left
    #[value(name = "px", alias = "pixels")]
    Pixels,
    /// 0 to 1, origin top left
    #[value(alias = "normalized")]
    Fraction,
    /// Longitude -180 to 180, latitude -90 to 90
    #[value(name = "deg", alias = "degrees")]
    Degrees,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TimeName {
    /// Seconds
    S,
    /// Milliseconds
    Ms,
    /// Microseconds
    Us,
    /// Nanoseconds
    Ns,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EyeName {
    /// The left one
    Left,
    /// The right one
    Right,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RowsName {
    /// Fixations
    Fixations,
    /// Samples
    Samples,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OutsideName {
    /// Drop and count them
    Drop,
    /// Move them to the nearest cell
    Clamp,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DownsizeName {
    /// It is cut off
    Floor,
    /// Half and more counts as a letter
    Round,
    /// It counts as a letter
    Ceil,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RunsName {
    /// By timestamps where there are any
    Time,
    /// By counting samples
    Count,
}

/// Encodes and writes.
pub(crate) fn run(args: &EncodeArgs) -> Result<(), Failure> {
    let read = args.file.options();
    let options = EncodeOptions {
        placing: args.letters.placing()?,
        outside: match args.letters.outside {
            OutsideName::Drop => Outside::Drop,
            OutsideName::Clamp => Outside::Clamp,
        },
        runs: args.gaze.options(),
        bin_ms: args.letters.bin,
        matlab_compat: args.letters.matlab_compat,
        drop_empty: args.letters.drop_empty,
        alphabet: args.letters.alphabet.map(Notation::from),
    };
    let format = args.file.input_format.as_deref();
    let bytes = args
        .files
        .iter()
        .filter_map(|file| std::fs::metadata(file).ok())
        .map(|metadata| metadata.len())
        .sum();
    let inputs: Vec<&Path> = args
        .files
        .iter()
        .chain(&args.letters.aoi)
        .map(PathBuf::as_path)
        .collect();
    for input in &inputs {
        dash::refuse_as_input(input)?;
    }
    let destination = Destination::prepare(args.output.as_deref(), &inputs)?;
    let bar = progress::bar(bytes, progress::Unit::Bytes, messages::is_quiet());
    let encoded = encode_files(&args.files, format, &read, &options, &|done| {
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let Encoded { cohort, summary } = encoded?;
    destination.write(|out| cohort_file::write(&cohort, &[], out))?;
    match args.summary {
        _ if messages::is_quiet() => {}
        SummaryForm::Text => messages::info(&summary.to_string()),
        SummaryForm::Json => {
            let json = serde_json::to_string(&summary).map_err(|error| {
                Failure::input(format!("the summary cannot be written: {error}"))
            })?;
            messages::info(&format!("{json}\n"));
        }
    }
    Ok(())
}

impl FileArgs {
    fn options(&self) -> ReadOptions {
        ReadOptions {
            screen: self.screen,
            units: self.units.map(|unit| match unit {
                UnitName::Pixels => CoordinateUnit::Pixels,
                UnitName::Fraction => CoordinateUnit::Fraction,
                UnitName::Degrees => CoordinateUnit::Degrees,
            }),
            time_unit: self.time_unit.map(|unit| match unit {
                TimeName::S => TimeUnit::Seconds,
                TimeName::Ms => TimeUnit::Milliseconds,
                TimeName::Us => TimeUnit::Microseconds,
                TimeName::Ns => TimeUnit::Nanoseconds,
            }),
            flip_y: self.flip_y,
            rate_hz: self.rate,
            eye: match self.eye {
                None => Eye::Any,
                Some(EyeName::Left) => Eye::Left,
                Some(EyeName::Right) => Eye::Right,
            },
            rows: match self.rows {
                None => RowChoice::Any,
                Some(RowsName::Fixations) => RowChoice::Fixations,
                Some(RowsName::Samples) => RowChoice::Samples,
            },
            participant: self.participant.clone(),
            stimulus: self.stimulus.clone(),
            name_template: self.file_name.clone(),
            columns: self.columns.iter().cloned().collect(),
        }
    }
}

impl LetterArgs {
    fn placing(&self) -> Result<Placing, Failure> {
        if let Some(path) = &self.aoi {
            return Ok(Placing::AoiFile(Areas::read(Input::open(path)?)?));
        }
        Ok(match &self.aoi_column {
            None => Placing::Grid(self.grid),
            Some(names) => {
                let names: Vec<String> = names
                    .iter()
                    .filter(|name| !name.is_empty())
                    .cloned()
                    .collect();
                Placing::AoiColumn {
                    names: (!names.is_empty()).then_some(names),
                }
            }
        })
    }
}

impl GazeArgs {
    fn options(&self) -> RunOptions {
        RunOptions {
            min_dwell_ms: self.min_dwell,
            downsize: match self.downsize {
                DownsizeName::Floor => Downsize::Floor,
                DownsizeName::Round => Downsize::Round,
                DownsizeName::Ceil => Downsize::Ceil,
            },
            merge: !self.no_merge,
            cap: (self.max_repeats > 0).then_some(self.max_repeats),
            max_gap_ms: self.max_gap,
            by: match self.runs {
                RunsName::Time => RunsBy::Time,
                RunsName::Count => RunsBy::Count,
            },
        }
    }
}

fn format_names() -> PossibleValuesParser {
    PossibleValuesParser::new(
        readers::FORMATS
            .iter()
            .map(|format| clap::builder::PossibleValue::new(format.name()).help(format.title())),
    )
}

fn size(text: &str) -> Result<(f64, f64), String> {
    text.split_once(['x', 'X', '×'])
        .and_then(|(width, height)| {
            let side = |text: &str| text.trim().parse::<f64>().ok();
            let (width, height) = (side(width)?, side(height)?);
            let good = |side: f64| side.is_finite() && side > 0.0;
            (good(width) && good(height)).then_some((width, height))
        })
        .ok_or_else(|| "a size is written WIDTHxHEIGHT, as in 1280x720".to_string())
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text
        .parse::<f64>()
        .ok()
        .filter(|rate| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| "a rate is a number of samples per second above 0, as in 120".to_string())
}

fn column(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .filter(|(ours, theirs)| !ours.is_empty() && !theirs.is_empty())
        .map(|(ours, theirs)| (ours.trim().to_string(), theirs.trim().to_string()))
        .ok_or_else(|| "a column is renamed by OURS=THEIRS, as in x=gaze_x".to_string())
}
