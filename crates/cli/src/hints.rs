//! Error messages with advice.
//!
//! The library's errors name fields and values. This module turns fields into flags, and adds advice.

pub(crate) mod encode;
mod groups;
mod report;
mod session;
mod stats;
mod usage;

pub(crate) use session::{exceeded_hint, explain as session_error};
pub(crate) use usage::explain as usage;

use std::io::ErrorKind;
use veilpath::split::SplitError;
use veilpath::synth::SynthError;
use veilpath::units::first_of;
use veilpath::{
    Capability, Error, GroupQuestion, JobError, MergeError, MetricError, MetricField,
    MetricOptionsError, NoEffectReason, OtherFile, OutputConflict, PeersError, PolicyRefusal,
    PolicyRule, ProtocolError, RiskySetting, Unsupported,
};

/// The error's text, with flags for fields, and advice.
pub(crate) fn explain(error: &Error) -> String {
    match error {
        Error::Read(error) => encode::read_error(error),
        Error::MetricOptions(error) => metric_options(error),
        Error::Metric(MetricError::Line { .. }) => format!("--line: {error}"),
        Error::Metric(MetricError::Classes) => {
            format!("{error}\n  use a coarser --fixation-grid, or fewer --duration-classes")
        }
        Error::Metric(MetricError::DurationOrder) => format!("--duration-classes: {error}"),
        Error::Metric(MetricError::Window { .. }) => format!("--window: {error}"),
        Error::Output { conflict, .. } => format!("{error}\n  {}", output(conflict)),
        Error::CreateFolder { .. } | Error::Write { .. } => {
            format!("{error}\n  choose another place with -o")
        }
        Error::Spec(_) => format!(
            "{error}\n  encode both with the same settings and the same version of veilpath"
        ),
        Error::NotACohort { file, found } => match found {
            OtherFile::Gaze(_) => {
                format!(
                    "{error}\n  turn it into a cohort first: veilpath encode {file} -o cohort.csv (with --screen WIDTHxHEIGHT, if the file does not contain it)"
                )
            }
            _ => format!("{error}\n  name the file that `veilpath encode` wrote"),
        },
        Error::NoSuchTiles { requested, .. } => format!("--tiles {requested}: {error}"),
        Error::NoFixations { .. } => {
            format!("{error}\n  encode the gaze files again with --keep-fixations")
        }
        Error::EmptyScanpaths { .. } => format!(
            "{error}\n  remove those rows (veilpath encode --drop-empty leaves them out), or use another --metric"
        ),
        Error::OtherAlphabet { own, agreed, .. } if own.notation() != agreed.notation() => format!(
            "{error}\n  if that is how to read this file, add --notation {}; in a session, what the partner declares does not decide it",
            agreed.notation().name()
        ),
        Error::OtherAlphabet { agreed, .. } => format!(
            "{error}\n  if both mean the same grid cells, add --letters {} (or the partner's --grid); a session never checks whether the letters fit, because that would reveal them",
            agreed.size()
        ),
        Error::LongerThanPadding { longest, .. } => format!(
            "{error}\n  agree with the partner on --pad-to {longest} or more, or remove those rows"
        ),
        Error::RiskySettings { settings } => {
            let names: Vec<&str> = settings.iter().map(|setting| setting.name()).collect();
            let rounding = match settings.contains(&RiskySetting::FineTable) {
                true => {
                    "\n  three decimals are usually enough: --scale 1000 rounds the costs to them"
                }
                false => "",
            };
            format!(
                "{error}{rounding}\n  if you trust the partner with that, allow it with --allow {}",
                names.join(",")
            )
        }
        Error::ShortForPadding { .. } => format!(
            "{error}\n  choose a smaller --pad-to, remove those rows, or set a limit with --limit-per-scanpath"
        ),
        Error::NothingToCompare { files, stimuli } => format!(
            "{error}{}\n  rename the stimuli in one file, or use --pairs all to compare all scanpaths whatever the stimulus",
            stimuli_of(files, stimuli)
        ),
        Error::NothingToCompareWithin { .. } => {
            format!("{error}\n  pairs of all stimuli can be compared instead (--pairs all)")
        }
        Error::NoGroups { .. } => format!("{error}\n  {}", groups::ADD_GROUPS),
        Error::SameCohort { .. } => format!(
            "{error}\n  compare it with --reveal score, and use `veilpath stats` on the result"
        ),
        Error::NoUseForCoins => {
            format!(
                "{error}\n  --coins goes with --engine plain and --reveal test:groups or test:sites"
            )
        }
        Error::Protocol(error) => protocol(error),
        Error::TooManyPairs { .. } => {
            format!(
                "{error}\n  compare in parts with --tile 1/8 and so on, and combine them with `veilpath merge`"
            )
        }
        Error::Merge { error: problem, .. } => match merge(problem) {
            Some(hint) => format!("{error}\n  {hint}"),
            None => error.to_string(),
        },
        Error::UnmergedTile { .. } => {
            format!("{error}\n  `veilpath merge` combines all tiles")
        }
        Error::KeyExists { .. } => {
            format!("{error}\n  choose another name, or move the existing key")
        }
        Error::Session(error) | Error::Loopback(error) => session::explain(error),
        Error::Open { path, .. } if path.is_dir() => {
            format!("{}: this is a folder\n  name a file in it", path.display())
        }
        Error::Open { path, source } if source.kind() == ErrorKind::NotFound => {
            format!("{}: there is no such file", path.display())
        }
        Error::ResultFile { error: cause, .. } => report::result_file(error, cause),
        Error::NoSuchStimulus { known, .. } => report::stimuli(error, known),
        Error::NoSuchMeasure { known, .. } => report::measures(error, known),
        Error::NoHeatMap { .. } => format!("{error}\n  choose fewer pairs with --stimulus"),
        Error::Drawing(error) => report::drawing(error),
        Error::Interrupted {
            error,
            counts_again,
        } => {
            let missing = match counts_again {
                true => {
                    "unfinished pairs start again, and each start counts as a comparison (this engine runs many pairs at once)"
                }
                false => "they continue with the missing pairs",
            };
            let error = session::explain(error);
            format!("{error}\n  run both commands again: {missing}")
        }
        Error::LetterCountConflict { found, .. } => {
            format!("{error}\n  leave --letters out, or set it to {found}")
        }
        Error::MaybeTooFewLetters { error, letters } => format!(
            "{error}\n  --letters {letters} may be too small: give the number of letters that can occur, on both sides"
        ),
        Error::WithPeer(error) => explain(error),
        Error::OwnFingerprint { .. } => format!(
            "{error}\n  --peer takes the fingerprint that `veilpath identity` prints at the partner's institution"
        ),
        Error::Peers(PeersError::TooMany { .. }) => {
            format!("{error}\n  start another host, on another port, for the others")
        }
        Error::Forbidden(refusal) => format!("{refusal}\n  {}", policy(refusal)),
        Error::Synth(error) => synth(error),
        Error::Split(error) => split(*error),
        Error::Stats(error) => stats::explain(error),
        _ => error.to_string(),
    }
}

/// The text of a protocol error, and advice.
pub(crate) fn protocol(error: &ProtocolError) -> String {
    match error {
        ProtocolError::Unsupported(unsupported) => {
            format!("{error}\n  {}", without_capability(unsupported))
        }
        ProtocolError::Job(JobError::WeakKey { minimum, .. }) => {
            format!(
                "{error}\n  use --key-bits {minimum} or more, or allow it with --allow-weak-key"
            )
        }
        ProtocolError::DoesNotFit { .. } => {
            format!("{error}\n  choose a larger --key-bits, or a smaller --scale")
        }
        ProtocolError::Job(job) => with(error, groups::job(job)),
        ProtocolError::Statistics(cause) => with(error, groups::statistics(cause)),
        _ => error.to_string(),
    }
}

/// An error, and advice where there is any.
fn with(error: &ProtocolError, advice: Option<&str>) -> String {
    match advice {
        Some(advice) => format!("{error}\n  {advice}"),
        None => error.to_string(),
    }
}

fn without_capability(unsupported: &Unsupported) -> String {
    let flag = match unsupported.capability {
        Capability::PlainEngineOnly("subsmatch") => {
            return "compare two cohorts on one machine with --engine plain, or use --metric sequence-score or crqa".into();
        }
        Capability::PlainEngineOnly(_) => {
            return "compare two cohorts on one machine with --engine plain, or use --metric scasim, dtw, frechet, hausdorff or crqa with --fixation-grid".into();
        }
        Capability::LineStatistics => {
            return "choose other measures of crqa, such as rec and det; or compare two cohorts on one machine with --engine plain".into();
        }
        Capability::UnroundedFixations("scasim") => {
            return "add a grid and durations, as in --fixation-grid 16x9 --duration-classes 100,200,300,500,800; or compare two cohorts on one machine with --engine plain".into();
        }
        Capability::UnroundedFixations(_) => {
            return "add a grid, as in --fixation-grid 32x18; or compare two cohorts on one machine with --engine plain".into();
        }
        Capability::DividedByDurations => "--divide-by durations",
        Capability::Metric(_) => {
            return match unsupported.instead.first() {
                None => "use another --metric".into(),
                Some(engine) => format!("use --engine {engine}, or another --metric"),
            };
        }
        Capability::OneSidedResults => "--reveal-to",
        Capability::GroupAnswer(
            question @ (GroupQuestion::Groups { .. } | GroupQuestion::TestGroups { .. }),
        ) => {
            return format!(
                "use --engine {}, or --reveal {question},published on both sides, which tells each side who is in which group of the other",
                unsupported.instead.first().unwrap_or(&"garbled")
            );
        }
        Capability::Threshold | Capability::GroupAnswer(_) => "--reveal",
        Capability::HiddenLengths(_) => "--pad-to",
    };
    // The first one is the most private.
    match unsupported.instead.first() {
        None => format!("leave {flag} out"),
        Some(engine) => format!("use --engine {engine}, or leave {flag} out"),
    }
}

/// A few stimuli of each file, a line for each.
fn stimuli_of(files: &[String; 2], stimuli: &[Vec<String>; 2]) -> String {
    let lines = files.iter().zip(stimuli);
    let lines = lines.filter(|(_, stimuli)| !stimuli.is_empty());
    lines
        .map(|(file, stimuli)| format!("\n  stimuli of {file}: {}", listed(stimuli, 3)))
        .collect()
}

/// Names in quotes, the first `shown` of them, and whether there are more. Control characters are escaped.
fn listed(names: &[String], shown: usize) -> String {
    first_of(names.iter().map(|it| format!("{it:?}")), shown)
}

fn synth(error: &SynthError) -> String {
    match error {
        SynthError::Letters(error) => format!("--letters: {}", error.problem),
        SynthError::EmptyRange { .. } => format!("--length: {error}"),
        SynthError::TooManyLetters { .. } => {
            format!("{error}\n  choose a smaller --count or --length")
        }
        SynthError::ViewingTime { .. } => format!("--seconds: {error}"),
        SynthError::Difference { .. } => format!("--difference: {error}, as in 0.5"),
        SynthError::Groups { .. } => format!("--groups: {error}"),
        SynthError::TooLong { .. } => {
            format!("{error}\n  choose fewer participants or --stimuli, or fewer --seconds")
        }
    }
}

fn split(error: SplitError) -> String {
    match error {
        SplitError::Fraction { .. } => format!("--fraction: {error}, as in 0.5"),
        SplitError::EmptyCohort => {
            format!("{error}\n  choose another --fraction, or a cohort with more participants")
        }
    }
}

fn policy(refusal: &PolicyRefusal) -> &'static str {
    let mut rules = refusal.forbidden.iter().map(|it| &it.rule);
    match rules.any(|rule| matches!(rule, PolicyRule::Expired { .. })) {
        true => "ask whoever is responsible for the policy to renew it",
        false => "choose another plan, or ask whoever is responsible for the policy to change it",
    }
}

fn output(conflict: &OutputConflict) -> &'static str {
    match conflict {
        OutputConflict::Folder => "name a file in it",
        OutputConflict::Input => "choose another name for the result",
        OutputConflict::ReadOnly => "choose another name, or remove the write protection",
        OutputConflict::NoFolder(_) => "create the folder first, or choose another place",
        OutputConflict::SameOutput => "give each its own file",
        OutputConflict::TableExtension(_) => "choose a name that ends in .csv or .txt",
        OutputConflict::OtherContents(_) => "choose another name, or replace it with --force",
    }
}

fn metric_options(error: &MetricOptionsError) -> String {
    match error {
        MetricOptionsError::NoEffect { field, reason } => {
            format!(
                "{} does not apply: {}",
                metric_flag(*field),
                no_effect(*reason)
            )
        }
        MetricOptionsError::GridMissing => {
            format!("{error}\n  add one, as in --grid 7x7 (columns x rows)")
        }
        MetricOptionsError::GridDiffers {
            requested,
            declared,
        } => format!(
            "--grid {requested}: the gaze was encoded on a grid of {declared}\n  \
             leave --grid out, or encode the gaze files again with --grid {requested}"
        ),
        MetricOptionsError::LocalDistances => format!(
            "{error}\n  use --match and --mismatch, or give a table of scores with --substitution FILE.csv"
        ),
        MetricOptionsError::ViewMissing => format!(
            "{error}\n  encode the gaze files again with both and --keep-fixations, as in --screen-cm 52x29 --distance 60 --keep-fixations"
        ),
        MetricOptionsError::RoundingIncomplete => format!(
            "{error}\n  give both, as in --fixation-grid 16x9 --duration-classes 100,200,300,500,800"
        ),
        MetricOptionsError::RoundedByDurations => {
            format!("{error}\n  use --divide-by lengths, or leave --divide-by out")
        }
        MetricOptionsError::RadiusMissing => {
            format!("{error}\n  add --radius, in the unit of the coordinates")
        }
        MetricOptionsError::UnknownMeasure { .. } => format!("--measures: {error}"),
        MetricOptionsError::DnaGrid
        | MetricOptionsError::Letters(_)
        | MetricOptionsError::Table { .. } => error.to_string(),
    }
}

/// Advice for tiles that cannot be merged.
fn merge(error: &MergeError) -> Option<&'static str> {
    match error {
        MergeError::Missing { .. } => {
            Some("run the commands of these tiles, and name their files, too")
        }
        MergeError::Incomplete { .. } => {
            Some("run the commands of this tile again: they continue where it stopped")
        }
        MergeError::TileCountMismatch { .. } | MergeError::PlanMismatch { .. } => {
            Some("all tiles need the same files and options, and the same K in --tile I/K")
        }
        MergeError::Conflict { .. } => Some("find out which of the two is right"),
        _ => None,
    }
}

fn metric_flag(field: MetricField) -> &'static str {
    match field {
        MetricField::Substitution => "--substitution",
        MetricField::Insert => "--insert",
        MetricField::Delete => "--delete",
        MetricField::Gap => "--gap",
        MetricField::Reward => "--match",
        MetricField::Mismatch => "--mismatch",
        MetricField::Threshold => "--threshold",
        MetricField::Wrap => "--wrap",
        MetricField::Scale => "--scale",
        MetricField::Precision => "--precision",
        MetricField::Positions => "--positions",
        MetricField::FixationGrid => "--fixation-grid",
        MetricField::DurationClasses => "--duration-classes",
        MetricField::Measures => "--measures",
        MetricField::Radius => "--radius",
        MetricField::Line => "--line",
        MetricField::Undefined => "--undefined-as-zero",
        MetricField::RoundResults => "--rounded",
        MetricField::DivideBy => "--divide-by",
        MetricField::Window => "--window",
        MetricField::Modulator => "--modulator",
        MetricField::Simplification => "--simplify",
    }
}

fn no_effect(reason: NoEffectReason) -> String {
    match reason {
        NoEffectReason::FixedCosts => {
            "the costs of levenshtein are fixed; use --metric needleman-wunsch to set them".into()
        }
        NoEffectReason::GapAndBothCosts => "it sets both --insert and --delete, which are already given".into(),
        NoEffectReason::OtherSubstitution => {
            "it is the cost of a unit substitution, and another --substitution is given".into()
        }
        NoEffectReason::RewardGiven => {
            "with --match, needleman-wunsch takes only --mismatch and --gap".into()
        }
        NoEffectReason::SmithWatermanFields => {
            "smith-waterman takes --match, --mismatch and --gap, or --substitution FILE and --gap".into()
        }
        NoEffectReason::TableGiven => {
            "the table of --substitution defines the scores of equal and different letters".into()
        }
        NoEffectReason::ScanMatchFields => {
            "scanmatch takes --grid, --threshold, --gap and --scale or --precision; its distances are Euclidean".into()
        }
        NoEffectReason::OnlyScanMatch => {
            "it is a distance between grid cells, for --metric scanmatch; to reveal only a yes or no for each pair, use --reveal threshold:T".into()
        }
        NoEffectReason::OnlyScanMatchPrecision => {
            "it is for --metric scanmatch; for other metrics use --scale".into()
        }
        NoEffectReason::LettersCompared => {
            "letters are compared; use --positions fixations to compare fixations".into()
        }
        NoEffectReason::OtherMetric => "this --metric does not use it".into(),
        NoEffectReason::NotAnAlignment => "it is for alignments, and this --metric is not one".into(),
        NoEffectReason::ScaleGiven => "--scale is given".into(),
        NoEffectReason::NotRounded => {
            "fixations are compared without rounding; use --fixation-grid to round them".into()
        }
        NoEffectReason::NoGridDistance | NoEffectReason::OnlyByLengths => reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath::{NetworkError, SessionError};

    #[test]
    fn the_interruption_message_says_whether_pairs_count_again() {
        let text = |counts_again| {
            let error = SessionError::from(NetworkError::LeftQueue);
            explain(&Error::Interrupted {
                error,
                counts_again,
            })
        };
        assert!(text(true).contains("counts"));
        assert!(text(false).contains("continue") && !text(false).contains("counts"));
    }
}
