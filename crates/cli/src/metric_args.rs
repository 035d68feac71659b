//! The metric flags of all commands that compare.

use crate::inputs::NOT_STANDARD;
use crate::numbers::decimal;
use clap::{Args, ValueEnum};
use veilpath::{
    DivideBy, Grid, MetricOptions, NonAlignmentOptions, PositionsChoice, Simplification,
    SubstitutionChoice, Undefined, UnknownName,
};

/// A metric's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MetricName {
    /// Number of edits: insertions, deletions and replacements
    #[value(alias = "wagner-fischer")]
    Levenshtein,
    /// Lowest cost of a global alignment (with --match: highest score)
    NeedlemanWunsch,
    /// Highest score of a local alignment
    SmithWaterman,
    /// ScanMatch (Cristino et al. 2010)
    #[value(name = "scanmatch")]
    ScanMatch,
    /// Longest common subsequence, divided by the longer length
    SequenceScore,
    /// Dynamic time warping
    Dtw,
    /// Discrete Fréchet distance
    Frechet,
    /// Hausdorff distance
    Hausdorff,
    /// Cross-recurrence: rec, det, lam, lam-rows, lam-columns, corm
    Crqa,
    /// ScaSim (von der Malsburg and Vasishth 2011), from fixations
    #[value(name = "scasim")]
    ScaSim,
    /// MultiMatch (Dewhurst et al. 2012), from fixations: shape, direction, length, position, duration (only with the plain engine)
    #[value(name = "multimatch")]
    MultiMatch,
    /// SubsMatch (Kübler et al. 2014): frequencies of short sequences (only with the plain engine)
    #[value(name = "subsmatch")]
    SubsMatch,
}

/// The arguments about the metric.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Metric")]
pub(crate) struct MetricArgs {
    /// The metric. The default is a number of edits; scanmatch is the usual choice for scanpaths on a grid
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        value_name = "METRIC",
        default_value = "levenshtein"
    )]
    pub(crate) metric: MetricName,

    /// Cost of replacing a letter: unit, index, manhattan, euclidean, chebyshev, or a CSV file with a table
    /// (for smith-waterman, a table of scores, which may be negative) [default: unit]
    #[arg(long, value_name = "COST", value_parser = substitution)]
    pub(crate) substitution: Option<SubstitutionChoice>,

    /// Cost of a letter that only the second scanpath has [default: 1]
    #[arg(long, value_name = "COST", allow_negative_numbers = true, value_parser = decimal)]
    pub(crate) insert: Option<f64>,

    /// Cost of a letter that only the first scanpath has [default: 1]
    #[arg(long, value_name = "COST", allow_negative_numbers = true, value_parser = decimal)]
    pub(crate) delete: Option<f64>,

    /// Cost of a gap, which is a letter that only one scanpath has. For needleman-wunsch and smith-waterman a positive
    /// number, as in 2 (for needleman-wunsch without --match it replaces --insert and --delete). For scanmatch a score that is
    /// added: usually 0 or less, as in -0.5, and at most half of --threshold [default: 1; scanmatch: 0]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = decimal)]
    pub(crate) gap: Option<f64>,

    /// Reward for equal letters; turns needleman-wunsch into a score to maximise [default for smith-waterman: 2]
    #[arg(long = "match", value_name = "REWARD", allow_negative_numbers = true, value_parser = decimal)]
    pub(crate) reward: Option<f64>,

    /// Cost (with --match: penalty) of different letters [default: 1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = decimal)]
    pub(crate) mismatch: Option<f64>,

    /// ScanMatch's distance threshold, in grid cells; not related to --reveal threshold:T. The nearer two cells are,
    /// the more similar; cells this far apart or further are not similar [default: 3.5]
    #[arg(long, value_name = "CELLS", allow_negative_numbers = true, value_parser = decimal)]
    pub(crate) threshold: Option<f64>,

    /// The grid of the letters, COLUMNSxROWS [default: the grid in the cohort files]
    #[arg(long, value_name = "GRID")]
    pub(crate) grid: Option<Grid>,

    /// Join the left and right edges of the grid, as in a 360° panorama
    #[arg(long)]
    pub(crate) wrap: bool,

    /// Multiply costs by K and round them to integers, as the private engines do
    /// [default: the smallest power of ten that makes all costs integers, or 10000; scanmatch: see --precision]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = decimal)]
    pub(crate) scale: Option<f64>,

    /// Compute ScanMatch in integers, as the private engines do, precisely enough that no score is off by more
    /// than this [default: 0.001; with --engine plain: double precision]
    #[arg(long, value_name = "ERROR", allow_negative_numbers = true, value_parser = decimal)]
    pub(crate) precision: Option<f64>,

    /// Which positions dtw, frechet, hausdorff and crqa compare: centres of the grid cells of the letters, or fixations, in
    /// their own unit (private engines need --fixation-grid for fixations)
    #[arg(long, value_name = "POSITIONS", default_value = "letters")]
    pub(crate) positions: PositionsChoice,

    /// Round fixations to the cells of this grid over the screen, COLUMNSxROWS, up to 1024 cells. Private engines need it for
    /// scasim and --positions fixations [default: compare fixations as they are]
    #[arg(long, value_name = "GRID")]
    pub(crate) fixation_grid: Option<Grid>,

    /// For scasim with --fixation-grid: round durations to the nearest of these, in ms, as in 100,200,300,500,800
    #[arg(long, value_name = "DURATIONS", value_delimiter = ',', value_parser = decimal)]
    pub(crate) duration_classes: Vec<f64>,

    /// Which measures of crqa or multimatch to compute, separated by commas; with --engine plain, crqa also has lines, longest,
    /// mean-line, entropy, trapping-rows, trapping-columns, longest-row and longest-column
    /// [default: rec,det,lam,corm; multimatch: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) measures: Vec<String>,

    /// For crqa: the largest distance between two fixations that recur, in grid cells or, with --positions fixations, in the
    /// unit of the fixations [default: fixations with the same letter recur]
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true, value_parser = decimal)]
    pub(crate) radius: Option<f64>,

    /// For crqa: the minimum length, in points, of a line in the recurrence plot [default: 2]
    #[arg(long, value_name = "POINTS")]
    pub(crate) line: Option<u32>,

    /// For crqa: write 0 if a number is undefined because nothing recurs [default: leave it empty]
    #[arg(long)]
    pub(crate) undefined_as_zero: bool,

    /// For crqa: round percentages to 0.01, as the private engines do
    #[arg(long)]
    pub(crate) rounded: bool,

    /// Divide the score by "lengths" (the sum of both, for dtw and scasim) or "durations" (for scasim)
    #[arg(long, value_name = "WHAT")]
    pub(crate) divide_by: Option<DivideBy>,

    /// For subsmatch: the number of letters in a sequence [default: 3]
    #[arg(long, value_name = "LETTERS")]
    pub(crate) window: Option<u32>,

    /// For scasim: the factor by which the reward for two aligned fixations shrinks with each degree between them [default: 0.83]
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true, value_parser = decimal)]
    pub(crate) modulator: Option<f64>,

    /// For multimatch: first merge consecutive saccades around a fixation shorter than MILLISECONDS, if their directions differ by
    /// less than DEGREES or the first one is shorter than LENGTH (in the unit of the fixations)
    #[arg(long, value_name = "DEGREES,LENGTH,MILLISECONDS", value_parser = simplification)]
    pub(crate) simplify: Option<Simplification>,
}

impl From<MetricName> for veilpath::MetricName {
    fn from(name: MetricName) -> Self {
        match name {
            MetricName::Levenshtein => Self::Levenshtein,
            MetricName::NeedlemanWunsch => Self::NeedlemanWunsch,
            MetricName::SmithWaterman => Self::SmithWaterman,
            MetricName::ScanMatch => Self::ScanMatch,
            MetricName::SequenceScore => Self::SequenceScore,
            MetricName::Dtw => Self::Dtw,
            MetricName::Frechet => Self::Frechet,
            MetricName::Hausdorff => Self::Hausdorff,
            MetricName::Crqa => Self::Crqa,
            MetricName::ScaSim => Self::ScaSim,
            MetricName::MultiMatch => Self::MultiMatch,
            MetricName::SubsMatch => Self::SubsMatch,
        }
    }
}

impl From<&MetricArgs> for MetricOptions {
    fn from(args: &MetricArgs) -> Self {
        Self {
            name: args.metric.into(),
            substitution: args.substitution.clone(),
            insert: args.insert,
            delete: args.delete,
            gap: args.gap,
            reward: args.reward,
            mismatch: args.mismatch,
            threshold: args.threshold,
            grid: args.grid,
            wrap: args.wrap,
            scale: args.scale,
            precision: args.precision,
            non_alignment: NonAlignmentOptions {
                positions: args.positions,
                fixation_grid: args.fixation_grid,
                duration_classes: args.duration_classes.clone(),
                measures: args.measures.clone(),
                radius: args.radius,
                line: args.line,
                undefined: match args.undefined_as_zero {
                    true => Undefined::Zero,
                    false => Undefined::Missing,
                },
                round_results: args.rounded,
                divide_by: args.divide_by,
                window: args.window,
                modulator: args.modulator,
                simplification: args.simplify,
            },
        }
    }
}

/// Parses the three numbers of a simplification.
fn simplification(text: &str) -> Result<Simplification, String> {
    let numbers: Vec<f64> = text.split(',').map(decimal).collect::<Result<_, _>>()?;
    match numbers[..] {
        [direction, length, duration] => Ok(Simplification {
            direction,
            length,
            duration,
        }),
        _ => Err("expected three numbers, as in 45,100,300".into()),
    }
}

/// Parses the name of a substitution cost, or a file name.
fn substitution(text: &str) -> Result<SubstitutionChoice, String> {
    if text == "-" {
        return Err(NOT_STANDARD.into());
    }
    text.parse().map_err(|error: UnknownName| {
        let names = error.known.join(", ");
        format!("not a known cost or an existing file; use {names}, or a CSV file with a table")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metric_names_match_the_library() {
        for name in MetricName::value_variants() {
            let value = name.to_possible_value();
            let text = value.as_ref().map(|value| value.get_name());
            assert_eq!(text, Some(veilpath::MetricName::from(*name).name()));
        }
    }
}
