//! The metric flags that every comparing command shares.

use crate::numbers::decimal;
use clap::{Args, ValueEnum};
use std::path::Path;
use veilpath::{Costs, Distance, Grid, MetricOptions};

/// A metric's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MetricName {
    /// Fewest insertions, deletions and replacements
    #[value(alias = "wagner-fischer")]
    Levenshtein,
    /// Least cost of an alignment (with --match: greatest score)
    NeedlemanWunsch,
    /// Greatest score of an alignment of parts
    SmithWaterman,
    /// ScanMatch by Cristino and others
    #[value(name = "scanmatch")]
    ScanMatch,
}

/// The arguments about the metric.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Metric")]
pub(crate) struct MetricArgs {
    /// What to compute
    #[arg(long, value_enum, value_name = "METRIC", default_value = "levenshtein")]
    pub(crate) metric: MetricName,

    /// Cost of replacing a letter: unit, index, manhattan, euclidean, chebyshev, or a CSV file with a table
    /// (for smith-waterman a table of scores, which may be negative) [default: unit]
    #[arg(long, value_name = "COST", value_parser = costs)]
    pub(crate) substitution: Option<Costs>,

    /// Cost of a letter that only the second scanpath has [default: 1]
    #[arg(long, value_name = "COST", allow_negative_numbers = true, value_parser = decimal)]
    pub(crate) insert: Option<f64>,

    /// Cost of a letter that only the first scanpath has [default: 1]
    #[arg(long, value_name = "COST", allow_negative_numbers = true, value_parser = decimal)]
    pub(crate) delete: Option<f64>,

    /// Both at once; for smith-waterman and with --match a penalty; for scanmatch the score that a gap adds,
    /// mostly 0 or less and at most half the threshold [default: 1; scanmatch: 0]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = decimal)]
    pub(crate) gap: Option<f64>,

    /// Reward of equal letters; it turns needleman-wunsch into a score to maximise [default for smith-waterman: 2]
    #[arg(long = "match", value_name = "REWARD", allow_negative_numbers = true, value_parser = decimal)]
    pub(crate) reward: Option<f64>,

    /// Cost (with --match: penalty) of different letters [default: 1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = decimal)]
    pub(crate) mismatch: Option<f64>,

    /// ScanMatch's threshold: the distance, in cells, at which two cells stop being similar [default: 3.5]
    #[arg(long, value_name = "CELLS", allow_negative_numbers = true, value_parser = decimal)]
    pub(crate) threshold: Option<f64>,

    /// The grid of the letters, COLUMNSxROWS [default: as the cohorts say]
    #[arg(long, value_name = "GRID")]
    pub(crate) grid: Option<Grid>,

    /// Join the left and right edges of the grid, as in a 360° picture
    #[arg(long)]
    pub(crate) wrap: bool,

    /// Compute with costs times K, rounded to whole numbers, as the secure engines do
    /// [default: the smallest power of ten that makes all costs whole, or 10000]
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub(crate) scale: Option<u32>,
}

impl From<MetricName> for veilpath::MetricName {
    fn from(name: MetricName) -> Self {
        match name {
            MetricName::Levenshtein => Self::Levenshtein,
            MetricName::NeedlemanWunsch => Self::NeedlemanWunsch,
            MetricName::SmithWaterman => Self::SmithWaterman,
            MetricName::ScanMatch => Self::ScanMatch,
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
        }
    }
}

/// The name of a cost, or a file.
fn costs(text: &str) -> Result<Costs, String> {
    Ok(match text {
        "unit" => Costs::Unit,
        "index" => Costs::Index,
        "manhattan" => Costs::Distance(Distance::Manhattan),
        "euclidean" => Costs::Distance(Distance::Euclidean),
        "chebyshev" => Costs::Distance(Distance::Chebyshev),
        path if Path::new(path).is_file() => Costs::File(path.into()),
        _ => {
            return Err(
                "neither a known cost nor a file; use unit, index, manhattan, euclidean, chebyshev, or a CSV file with a table"
                    .into(),
            );
        }
    })
}
