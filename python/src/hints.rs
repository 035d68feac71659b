//! Messages for errors and notes: the library's text, with the names of arguments, and advice.

mod session;

use std::io::ErrorKind;
use veilpath::encode::{EncodeField, EncodeNote, Summary};
use veilpath::report::ResultFileError;
use veilpath::stats::StatsError;
use veilpath::{
    Capability, CohortNote, Error, Event, JobError, MetricOptionsError, Note, OtherFile,
    OutputConflict, ProtocolError, ReadError,
};

/// Where an error is, for the attributes of the exception.
#[derive(Default)]
pub(crate) struct ErrorLocation {
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u64>,
    pub(crate) row: Option<u64>,
    pub(crate) column: Option<String>,
}

impl ErrorLocation {
    pub(crate) fn of(error: &Error) -> Self {
        match error {
            Error::Read(error) => Self::read(error),
            Error::MaybeTooFewLetters { error, .. } => Self::read(error),
            Error::WithPeer(error) => Self::of(error),
            Error::ResultFile { file, error } => {
                let (line, column) = match error {
                    ResultFileError::Content { line, column, .. }
                    | ResultFileError::Syntax { line, column, .. } => {
                        (Some(*line), Some(column.to_string()))
                    }
                    _ => (None, None),
                };
                Self {
                    file: Some(file.clone()),
                    line,
                    row: None,
                    column,
                }
            }
            Error::MetricOptions(MetricOptionsError::Table { path, error }) => Self {
                file: Some(path.display().to_string()),
                line: Some(error.line as u64),
                row: None,
                column: Some(error.column.to_string()),
            },
            Error::NotACohort { file, .. }
            | Error::RepeatedIds { file, .. }
            | Error::NoFixations { file, .. }
            | Error::EmptyScanpaths { file, .. }
            | Error::NoGroups { file, .. } => Self::file(file.clone()),
            Error::Open { path, .. }
            | Error::Output { path, .. }
            | Error::Write { path, .. }
            | Error::KeyFile { path, .. } => Self::file(path.display().to_string()),
            _ => Self::default(),
        }
    }

    fn file(file: String) -> Self {
        Self {
            file: Some(file),
            ..Self::default()
        }
    }

    fn read(error: &ReadError) -> Self {
        let column = error.column.as_deref();
        Self {
            file: Some(error.file.clone()),
            line: error.line,
            row: error.row,
            column: column.map(|(number, name)| match name.is_empty() {
                true => number.to_string(),
                false => name.clone(),
            }),
        }
    }
}

/// The error's text, with arguments for fields, and advice.
pub(crate) fn explain(error: &Error) -> String {
    let advice = match error {
        Error::Read(error) => return read_error(error),
        Error::RepeatedIds { .. } => {
            "give every viewing its own stimulus (a column trial does that), join the rows, or pass allow_repeats=True"
        }
        Error::MetricOptions(error) => return metric_options(error),
        Error::Output { conflict, .. } => match conflict {
            OutputConflict::OtherContents(_) => {
                "choose another name, or replace it with force=True"
            }
            OutputConflict::TableExtension(_) => "choose a name that ends in .csv or .txt",
            OutputConflict::NoFolder(_) => "create the folder first, or choose another place",
            _ => "choose another name",
        },
        Error::Spec(_) => "encode both with the same settings and the same version of veilpath",
        Error::NotACohort { found, .. } => match found {
            OtherFile::Gaze(_) => "turn it into a cohort first, with veilpath.encode",
            _ => "name a cohort file: Cohort.save and `veilpath encode` write them",
        },
        Error::NoFixations { .. } => "encode the gaze again with keep_fixations=True",
        Error::EmptyScanpaths { .. } => {
            "leave them out (encode with drop_empty=True does that), or use another metric"
        }
        Error::OtherAlphabet { own, agreed, .. } if own.notation() != agreed.notation() => {
            return format!(
                "{error}\n  if that is how to read this file, pass notation={:?}; in a session, what the partner declares does not decide it",
                agreed.notation().name()
            );
        }
        Error::OtherAlphabet { agreed, .. } => {
            return format!(
                "{error}\n  if both mean the same grid cells, pass letters={} (or the partner's grid)",
                agreed.size()
            );
        }
        Error::LongerThanPadding { longest, .. } => {
            return format!("{error}\n  agree with the partner on pad_to={longest} or more");
        }
        Error::RiskySettings { settings } => {
            let names: Vec<String> = settings
                .iter()
                .map(|setting| format!("{:?}", setting.name()))
                .collect();
            return format!(
                "{error}\n  if you trust the partner with that, pass allow=[{}]",
                names.join(", ")
            );
        }
        Error::ShortForPadding { .. } => {
            "choose a smaller pad_to, leave these scanpaths out, or set limit_per_scanpath"
        }
        Error::NothingToCompare { files, stimuli } => {
            let listed: String = files
                .iter()
                .zip(stimuli)
                .filter(|(_, stimuli)| !stimuli.is_empty())
                .map(|(file, stimuli)| format!("\n  stimuli of {file}: {stimuli:?}"))
                .collect();
            return format!(
                "{error}{listed}\n  rename the stimuli of one cohort, or pass pairs=\"all\" to compare all scanpaths whatever the stimulus"
            );
        }
        Error::NothingToCompareWithin { .. } => {
            "pass pairs=\"all\" to compare pairs of all stimuli instead"
        }
        Error::NoGroups { .. } => "pass groups to encode, or add a column group",
        Error::SameCohort { .. } => {
            "compare it with reveal=\"score\", and pass the result to veilpath.stats"
        }
        Error::NoUseForCoins => {
            "coins go with engine=\"plain\" and reveal=\"test:groups\" or \"test:sites\""
        }
        Error::TooManyPairs { .. } => {
            "compare parts of the cohorts, for example stimulus by stimulus"
        }
        Error::Protocol(error) => return protocol(error),
        Error::Session(error) | Error::Loopback(error) => return session::explain(error),
        Error::Interrupted { error, .. } => {
            return format!(
                "{}\n  run both sides again: they continue with the missing pairs",
                session::explain(error)
            );
        }
        Error::Open { path, source } if source.kind() == ErrorKind::NotFound => {
            return format!("{}: there is no such file", path.display());
        }
        Error::NoSuchStimulus { known, .. } => {
            return format!("{error}\n  available stimuli: {known:?}");
        }
        Error::NoSuchMeasure { known, .. } => {
            return format!("{error}\n  available measures: {known:?}");
        }
        Error::LetterCountConflict { found, .. } => {
            return format!("{error}\n  leave letters out, or set it to {found}");
        }
        Error::MaybeTooFewLetters { letters, .. } => {
            return format!(
                "{error}\n  letters={letters} may be too small: give the number of letters that can occur, on both sides"
            );
        }
        Error::WithPeer(error) => return explain(error),
        Error::OwnFingerprint { .. } => {
            "peer is the fingerprint that veilpath.identity() gives at the other institution"
        }
        Error::Forbidden(_) => {
            "choose another plan, or ask whoever is responsible for the policy to change it"
        }
        Error::Stats(error) => stats(error),
        _ => return error.to_string(),
    };
    match advice.is_empty() {
        true => error.to_string(),
        false => format!("{error}\n  {advice}"),
    }
}

fn read_error(error: &ReadError) -> String {
    let arguments: Vec<String> = error
        .fields
        .iter()
        .map(|field| match (field, &error.coordinate_columns) {
            (EncodeField::CoordinateColumns, Some(columns)) => {
                format!("columns={{\"x\": {:?}, \"y\": {:?}}}", columns.0, columns.1)
            }
            (field, _) => argument(*field).to_string(),
        })
        .collect();
    match arguments.is_empty() {
        true => error.to_string(),
        false => format!("{error} ({})", arguments.join(", ")),
    }
}

/// An argument, with an example value if that helps.
fn argument(field: EncodeField) -> &'static str {
    match field {
        EncodeField::Format => "input_format",
        EncodeField::Screen => "screen=(1920, 1080)",
        EncodeField::ScreenCm => "screen_cm=(52, 29)",
        EncodeField::Distance => "distance=60",
        EncodeField::Units => "units",
        EncodeField::CentredPixels => "units=\"px-centre\"",
        EncodeField::VisualAngle => "units=\"deg\", screen_cm=(52, 29), distance=60",
        EncodeField::CentredFractions => "units=\"norm\"",
        EncodeField::ScreenHeights => "units=\"height\", screen=(1920, 1080)",
        EncodeField::LonLat => "units=\"lonlat\"",
        EncodeField::Percent => "units=\"percent\"",
        EncodeField::TimeUnit => "time_unit",
        EncodeField::Rate => "rate=120",
        EncodeField::FlipY => "flip_y",
        EncodeField::Eye => "eye",
        EncodeField::Rows => "rows",
        EncodeField::FixationRows => "rows=\"fixations\"",
        EncodeField::SampleRows => "rows=\"samples\"",
        EncodeField::Events => "events",
        EncodeField::EventColumn => "columns={\"event\": NAME}",
        EncodeField::ParticipantColumn => "columns={\"participant\": NAME}",
        EncodeField::StimulusColumn => "columns={\"stimulus\": NAME}",
        EncodeField::CoordinateColumns => "columns={\"x\": NAME, \"y\": NAME}",
        EncodeField::TrialColumn => "columns={\"trial\": NAME}",
        EncodeField::GroupColumn => "columns={\"group\": NAME}",
        EncodeField::Groups => "groups",
        EncodeField::Participant => "participant",
        EncodeField::Stimulus => "stimulus",
        EncodeField::NamePattern => "name_pattern=\"video{stimulus}_p{participant}\"",
        EncodeField::Columns => "columns={\"x\": NAME, \"y\": NAME, \"duration\": NAME}",
        EncodeField::Grid => "grid=(7, 7)",
        EncodeField::AoiFile => "aoi",
        EncodeField::AoiColumn => "aoi_column",
        EncodeField::Notation => "notation",
        EncodeField::Bin => "bin=50",
        EncodeField::MatlabCompat => "matlab_compat",
        EncodeField::DropEmpty => "drop_empty",
        EncodeField::MinDwell => "min_dwell=100",
        EncodeField::Downsize => "downsize",
        EncodeField::Merge => "merge",
        EncodeField::MaxRepeats => "max_repeats=3",
        EncodeField::MaxGap => "max_gap=75",
        EncodeField::Runs => "runs",
        EncodeField::Detect => "detect=\"ivt\"",
        EncodeField::Velocity => "velocity=\"20deg\"",
        EncodeField::VelocityMethod => "velocity_method=\"fivepoint\"",
        EncodeField::Dispersion => "dispersion=\"1deg\"",
        EncodeField::MinDuration => "min_duration=100",
        EncodeField::KeepFixations => "keep_fixations",
    }
}

fn metric_options(error: &MetricOptionsError) -> String {
    let advice = match error {
        MetricOptionsError::GridMissing => "pass one, as in grid=(7, 7) (columns, rows)",
        MetricOptionsError::GridDiffers { .. } => "leave grid out, or encode the gaze again",
        MetricOptionsError::LocalDistances => {
            "use match and mismatch, or pass substitution=\"table.csv\" with a table of scores"
        }
        MetricOptionsError::ViewMissing => {
            "encode the gaze again with screen_cm, distance and keep_fixations=True"
        }
        MetricOptionsError::RoundingIncomplete => {
            "pass both, as in fixation_grid=(16, 9), duration_classes=[100, 200, 300, 500, 800]"
        }
        MetricOptionsError::RoundedByDurations => "pass divide_by=\"lengths\", or leave it out",
        MetricOptionsError::RadiusMissing => "pass radius, in the unit of the coordinates",
        _ => return error.to_string().replace("reward", "match"),
    };
    format!("{error}\n  {advice}")
}

fn protocol(error: &ProtocolError) -> String {
    let unsupported = match error {
        ProtocolError::Unsupported(unsupported) => unsupported,
        ProtocolError::DoesNotFit { .. } => {
            return format!("{error}\n  pass a larger key_bits, or a smaller scale");
        }
        ProtocolError::Job(JobError::GroupAnswerOfFixations { .. }) => {
            return format!(
                "{error}\n  pass reveal=\"score\" and use the statistics of the result, or pass fixation_grid"
            );
        }
        _ => return error.to_string(),
    };
    let argument = match unsupported.capability {
        Capability::Metric(_) | Capability::PlainEngineOnly(_) => "metric",
        Capability::LineStatistics => "numbers",
        Capability::UnroundedFixations("scasim") => {
            return format!(
                "{error}\n  pass both, as in fixation_grid=(16, 9), duration_classes=[100, 200, 300, 500, 800]"
            );
        }
        Capability::UnroundedFixations(_) => {
            return format!("{error}\n  pass a grid, as in fixation_grid=(32, 18)");
        }
        Capability::DividedByDurations => "divide_by",
        Capability::OneSidedResults => "reveal_to",
        Capability::Threshold | Capability::GroupAnswer(_) => "reveal",
        Capability::HiddenLengths(_) => "pad_to",
    };
    // The first engine is the most private.
    match unsupported.instead.first() {
        None => format!("{error}\n  choose another {argument}"),
        Some(engine) => format!("{error}\n  use engine=\"{engine}\", or choose another {argument}"),
    }
}

fn stats(error: &StatsError) -> &'static str {
    match error {
        StatsError::NumbersOnly { .. } => "use a result of compare, or one that was saved as .json",
        StatsError::NumberOfResults { .. } | StatsError::SitesNeedThreeResults => {
            "for test:sites, pass the results of pairwise for each cohort, and that of compare for both"
        }
        StatsError::Sites(_) => {
            "use pairwise for each cohort and compare for both, with the same options and names"
        }
        StatsError::NoDirection { .. }
        | StatsError::NoMean { .. }
        | StatsError::NoSuchMeasure { .. } => "choose another measure",
        StatsError::NoGroups { .. } | StatsError::WithoutGroup { .. } => {
            "pass groups: a frame, a dictionary or a file with a group for every participant"
        }
        StatsError::TooFewNeighbours { .. } => "choose a smaller number, as in \"nearest:1,rate\"",
        StatsError::Level { .. } => "set confidence to a number such as 0.95",
        _ => "",
    }
}

/// What a user should know about an event, if it is a note.
pub(crate) fn note(event: &Event) -> Option<String> {
    match event {
        Event::CohortNote { file, note } => cohort_note(file, note),
        Event::Note(note) => Some(match note {
            Note::Unpaired { .. } | Note::WithoutStimulus { .. } => {
                format!("{note} (pairs=\"all\" compares all pairs)")
            }
            Note::NoGrid { .. } => format!("{note} (grid=(7, 7) names it)"),
            Note::NoGroups => format!("{note} (the argument groups gives them)"),
            Note::OneMeasure { .. } => format!("{note} (measure chooses one)"),
            note => note.to_string(),
        }),
        _ => None,
    }
}

fn cohort_note(file: &str, note: &CohortNote) -> Option<String> {
    match note {
        // Users have to allow repeated ids themselves, and they see that participants without names are numbered.
        CohortNote::RepeatedIds(_) | CohortNote::ParticipantsNumbered => None,
        note => Some(format!("{file}: {note}")),
    }
}

/// What a user should know about how gaze was encoded.
pub(crate) fn encode_notes(summary: &Summary, from_experiment: &[String]) -> Vec<String> {
    let with_arguments = |note: &EncodeNote| {
        if let EncodeNote::NoEffect { field, .. } = note {
            let name = argument(*field).split('=').next().unwrap_or_default();
            let is_given = from_experiment.iter().all(|it| it != name);
            return is_given.then(|| format!("{name} {note}"));
        }
        let fields = summary.fields_of(note);
        let arguments: Vec<&str> = fields.into_iter().map(argument).collect();
        Some(match arguments.is_empty() {
            true => note.to_string(),
            false => format!("{note} ({})", arguments.join(", ")),
        })
    };
    summary.notes.iter().filter_map(with_arguments).collect()
}
