//! The metric flags that every comparing command shares, and what they mean together.

use crate::failure::Failure;
use crate::numbers::decimal;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use veilpath_metrics::{
    Alphabet, Distance, Grid, LocalScoring, Metric, Substitution, Table, TableOf,
};

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
    #[arg(long, value_name = "COST")]
    pub(crate) substitution: Option<String>,

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

/// What the flags ask for, before the letters are known.
#[derive(Clone, Debug)]
enum Costs {
    Unit,
    Index,
    Distance(Distance),
    File(PathBuf),
}

impl MetricArgs {
    /// The metric for cohorts in this notation. `declared` is the grid that the cohort files name.
    pub(crate) fn metric(
        &self,
        alphabet: &Alphabet,
        declared: Option<Grid>,
    ) -> Result<Metric, Failure> {
        let costs = self.costs()?;
        let measures = matches!(costs, Costs::Distance(_)) || self.metric == MetricName::ScanMatch;
        self.refuse(
            "it joins the edges of the grid, and this metric measures no distances on a grid",
            &[("--wrap", self.wrap && !measures)],
        )?;
        let of_another = self.threshold.is_some() && self.metric != MetricName::ScanMatch;
        self.refuse(
            "it is a distance between cells, and belongs to --metric scanmatch; for one bit of each pair there is --reveal threshold:T",
            &[("--threshold", of_another)],
        )?;
        let grid = self.grid.or(declared);
        match (self.metric, self.reward) {
            (MetricName::Levenshtein, _) => self.levenshtein(&costs),
            (MetricName::NeedlemanWunsch, None) => self.needleman_wunsch(&costs, alphabet, grid),
            (MetricName::NeedlemanWunsch, Some(reward)) => self.maximised(&costs, reward),
            (MetricName::SmithWaterman, _) => self.smith_waterman(&costs, alphabet),
            (MetricName::ScanMatch, _) => self.scanmatch(alphabet, grid),
        }
    }

    /// Whether the metric is about cells of a grid.
    pub(crate) fn needs_grid(&self) -> bool {
        let distance = matches!(self.costs(), Ok(Costs::Distance(_)));
        self.metric == MetricName::ScanMatch || distance
    }

    fn levenshtein(&self, costs: &Costs) -> Result<Metric, Failure> {
        self.refuse(
            "levenshtein has no costs to set; use --metric needleman-wunsch for that",
            &[
                ("--insert", self.insert.is_some()),
                ("--delete", self.delete.is_some()),
                ("--gap", self.gap.is_some()),
                ("--match", self.reward.is_some()),
                ("--mismatch", self.mismatch.is_some()),
                ("--scale", self.scale.is_some()),
                ("--substitution", !matches!(costs, Costs::Unit)),
            ],
        )?;
        Ok(Metric::Levenshtein)
    }

    fn needleman_wunsch(
        &self,
        costs: &Costs,
        alphabet: &Alphabet,
        grid: Option<Grid>,
    ) -> Result<Metric, Failure> {
        let both = self.insert.is_some() && self.delete.is_some();
        self.refuse(
            "it stands for --insert and --delete, and both are given",
            &[("--gap", self.gap.is_some() && both)],
        )?;
        if !matches!(costs, Costs::Unit) {
            self.refuse(
                "it is the cost of a unit substitution, and another --substitution is given",
                &[("--mismatch", self.mismatch.is_some())],
            )?;
        }
        let substitution = match costs {
            Costs::Unit => Substitution::Unit {
                mismatch: self.mismatch.unwrap_or(1.0),
            },
            Costs::Index => Substitution::Index,
            Costs::Distance(distance) => {
                let grid = grid.ok_or_else(no_grid)?;
                Substitution::on_grid(grid.with_wrap(self.wrap), *distance)
            }
            Costs::File(path) => Substitution::Table {
                table: read_table(path, TableOf::Costs, alphabet)?,
            },
        };
        let gap = self.gap.unwrap_or(1.0);
        Ok(Metric::NeedlemanWunsch {
            substitution,
            insert: self.insert.unwrap_or(gap),
            delete: self.delete.unwrap_or(gap),
            scale: self.scale,
        })
    }

    fn maximised(&self, costs: &Costs, reward: f64) -> Result<Metric, Failure> {
        self.refuse(
            "with --match, needleman-wunsch has one reward and two penalties: --match, --mismatch and --gap",
            &[
                ("--insert", self.insert.is_some()),
                ("--delete", self.delete.is_some()),
                ("--substitution", !matches!(costs, Costs::Unit)),
            ],
        )?;
        Ok(Metric::NeedlemanWunschScore {
            reward,
            mismatch: self.mismatch.unwrap_or(1.0),
            gap: self.gap.unwrap_or(1.0),
            scale: self.scale,
        })
    }

    fn smith_waterman(&self, costs: &Costs, alphabet: &Alphabet) -> Result<Metric, Failure> {
        self.refuse(
            "smith-waterman takes --match, --mismatch and --gap, or --substitution FILE and --gap",
            &[
                ("--insert", self.insert.is_some()),
                ("--delete", self.delete.is_some()),
            ],
        )?;
        let scoring = match costs {
            Costs::Unit => LocalScoring::Unit {
                reward: self.reward.unwrap_or(2.0),
                mismatch: self.mismatch.unwrap_or(1.0),
            },
            Costs::File(path) => {
                self.refuse(
                    "the table of --substitution says what equal and different letters score",
                    &[
                        ("--match", self.reward.is_some()),
                        ("--mismatch", self.mismatch.is_some()),
                    ],
                )?;
                LocalScoring::Table {
                    table: read_table(path, TableOf::Scores, alphabet)?,
                }
            }
            Costs::Index | Costs::Distance(_) => {
                return Err(Failure::input(
                    "smith-waterman needs scores that can be positive and negative, not distances\n  \
                     use --match and --mismatch, or give a table of scores with --substitution FILE.csv",
                ));
            }
        };
        Ok(Metric::SmithWaterman {
            scoring,
            gap: self.gap.unwrap_or(1.0),
            scale: self.scale,
        })
    }

    fn scanmatch(&self, alphabet: &Alphabet, grid: Option<Grid>) -> Result<Metric, Failure> {
        self.refuse(
            "scanmatch takes --grid, --threshold, --gap and --scale; its distances are Euclidean",
            &[
                ("--insert", self.insert.is_some()),
                ("--delete", self.delete.is_some()),
                ("--match", self.reward.is_some()),
                ("--mismatch", self.mismatch.is_some()),
                (
                    "--substitution",
                    self.substitution
                        .as_deref()
                        .is_some_and(|name| name != "euclidean"),
                ),
            ],
        )?;
        let grid = grid.ok_or_else(no_grid)?;
        if alphabet.notation() == veilpath_metrics::Notation::Dna {
            return Err(Failure::input(
                "scanmatch compares cells of a grid, not DNA",
            ));
        }
        Ok(Metric::ScanMatch {
            grid,
            wrap: self.wrap,
            threshold: self.threshold.unwrap_or(3.5),
            gap: self.gap.unwrap_or(0.0),
            scale: self.scale,
        })
    }

    fn costs(&self) -> Result<Costs, Failure> {
        Ok(match self.substitution.as_deref() {
            None | Some("unit") => Costs::Unit,
            Some("index") => Costs::Index,
            Some("manhattan") => Costs::Distance(Distance::Manhattan),
            Some("euclidean") => Costs::Distance(Distance::Euclidean),
            Some("chebyshev") => Costs::Distance(Distance::Chebyshev),
            Some(path) if Path::new(path).is_file() => Costs::File(PathBuf::from(path)),
            Some(other) => {
                return Err(Failure::input(format!(
                    "--substitution {other}: neither a known cost nor a file\n  \
                     it is one of unit, index, manhattan, euclidean, chebyshev, or a CSV file with a table"
                )));
            }
        })
    }

    /// A flag that would be ignored is an error: the user meant something by it.
    fn refuse(&self, reason: &str, flags: &[(&str, bool)]) -> Result<(), Failure> {
        match flags.iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Failure::input(format!("{flag} does not apply: {reason}"))),
            None => Ok(()),
        }
    }
}

fn no_grid() -> Failure {
    Failure::input(
        "distances between cells need the grid, and the cohort files do not name one\n  \
         add it, as in --grid 7x7 (columns x rows)",
    )
}

fn read_table(path: &Path, of: TableOf, alphabet: &Alphabet) -> Result<Table, Failure> {
    let text = veilpath_encode::Input::open(path)?.read_text()?;
    // Labels may name any letter that can be written; the table itself says how many there are.
    Table::parse(&text, of, &Alphabet::full(alphabet.notation())).map_err(|error| {
        let column = match error.column {
            0 => String::new(),
            column => format!(", column {column}"),
        };
        Failure::input(format!(
            "{}, line {}{column}: {}",
            path.display(),
            error.line,
            error.problem
        ))
    })
}
