//! A metric as a user asks for it: a name and a few numbers, of which most have defaults.
//!
//! Which letters the metric is about is known only when the cohorts have been read, so [`MetricOptions`] become a
//! [`Metric`] late. An option that would have no effect is an error: the user meant something by it.

use crate::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use veilpath_metrics::{
    Alphabet, Distance, Grid, LetterError, LocalScoring, Metric, Notation, Substitution, Table,
    TableError, TableOf,
};

/// The metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetricName {
    /// Fewest insertions, deletions and replacements.
    #[default]
    Levenshtein,
    /// Least cost (or greatest score) of an alignment.
    NeedlemanWunsch,
    /// Greatest score of an alignment of parts.
    SmithWaterman,
    /// ScanMatch by Cristino and others.
    ScanMatch,
}

/// What replacing one letter by another costs or scores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Costs {
    /// One cost for all letters that differ.
    #[default]
    Unit,
    /// The difference of the letters' numbers.
    Index,
    /// The distance between grid cells.
    Distance(Distance),
    /// A table in a CSV file.
    File(PathBuf),
}

/// What to compute. `None` stands for the metric's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetricOptions {
    /// Which metric.
    pub name: MetricName,
    /// What a replacement costs.
    pub substitution: Option<Costs>,
    /// What a letter costs that only the second scanpath has.
    pub insert: Option<f64>,
    /// What a letter costs that only the first scanpath has.
    pub delete: Option<f64>,
    /// Both at once; for ScanMatch the score that a gap adds.
    pub gap: Option<f64>,
    /// What equal letters score; makes Needleman–Wunsch a score to maximise.
    pub reward: Option<f64>,
    /// What different letters cost.
    pub mismatch: Option<f64>,
    /// ScanMatch's threshold, in grid cells.
    pub threshold: Option<f64>,
    /// The grid of the letters; `None` for the one that the cohorts declare.
    pub grid: Option<Grid>,
    /// Whether the left and right edges of the grid touch.
    pub wrap: bool,
    /// The fixed-point scale of all numbers.
    pub scale: Option<u32>,
}

/// One field of [`MetricOptions`], as errors name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricField {
    /// `substitution`
    Substitution,
    /// `insert`
    Insert,
    /// `delete`
    Delete,
    /// `gap`
    Gap,
    /// `reward`
    Reward,
    /// `mismatch`
    Mismatch,
    /// `threshold`
    Threshold,
    /// `wrap`
    Wrap,
    /// `scale`
    Scale,
}

/// Metric options that do not go together, or not with the cohorts.
#[derive(Debug, thiserror::Error)]
pub enum MetricOptionsError {
    /// A field that would have no effect.
    #[error("{field} does not apply: {reason}")]
    NoEffect {
        /// The field.
        field: MetricField,
        /// Why it has none.
        reason: NoEffect,
    },
    /// Distances on a grid, without a grid.
    #[error("distances between grid cells need the grid, and the cohort files do not name one")]
    GridMissing,
    /// Another grid than the cohorts were encoded on.
    #[error("the grid {requested} is not the one of the cohorts, which were encoded on {declared}")]
    GridDiffers {
        /// The grid in the options.
        requested: Grid,
        /// The grid in the cohort files.
        declared: Grid,
    },
    /// Smith–Waterman with distances.
    #[error("smith-waterman needs scores that can be positive and negative, not distances")]
    LocalDistances,
    /// ScanMatch on DNA.
    #[error("scanmatch compares cells of a grid, not DNA")]
    DnaGrid,
    /// More or fewer letters than the notation has.
    #[error("{}", .0.problem)]
    Letters(LetterError),
    /// A table that cannot be read.
    #[error("{path}, line {line}{column}: {problem}",
        path = path.display(), line = error.line, problem = error.problem,
        column = if error.column == 0 { String::new() } else { format!(", column {}", error.column) })]
    Table {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        error: TableError,
    },
}

/// Why a field has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEffect {
    /// Levenshtein has fixed costs.
    FixedCosts,
    /// `gap` stands for `insert` and `delete`, and both are given.
    GapAndBothCosts,
    /// `mismatch` is the cost of a unit substitution, and another substitution is given.
    OtherSubstitution,
    /// With a reward, Needleman–Wunsch has a mismatch and a gap penalty only.
    Maximised,
    /// Smith–Waterman takes a gap and either two numbers or a table.
    LocalScores,
    /// The table says what letters score.
    TableGiven,
    /// ScanMatch's distances are Euclidean, and it has a gap and a threshold only.
    ScanMatchNumbers,
    /// Only ScanMatch has a threshold between grid cells.
    OnlyScanMatch,
    /// The metric measures no distances on a grid.
    NoGridDistance,
}

impl fmt::Display for MetricField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MetricField::Substitution => "substitution",
            MetricField::Insert => "insert",
            MetricField::Delete => "delete",
            MetricField::Gap => "gap",
            MetricField::Reward => "reward",
            MetricField::Mismatch => "mismatch",
            MetricField::Threshold => "threshold",
            MetricField::Wrap => "wrap",
            MetricField::Scale => "scale",
        })
    }
}

impl fmt::Display for NoEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoEffect::FixedCosts => "levenshtein has no costs to set; needleman-wunsch has",
            NoEffect::GapAndBothCosts => {
                "it is short for insert and delete, and both of these are given"
            }
            NoEffect::OtherSubstitution => {
                "it is the cost of a unit substitution, and another substitution is given"
            }
            NoEffect::Maximised => {
                "with a reward, needleman-wunsch has a mismatch penalty and a gap penalty, and nothing else"
            }
            NoEffect::LocalScores => {
                "smith-waterman takes a reward, a mismatch and a gap, or a table and a gap"
            }
            NoEffect::TableGiven => "the table says what equal and different letters score",
            NoEffect::ScanMatchNumbers => {
                "scanmatch takes a grid, a threshold, a gap and a scale; its distances are Euclidean"
            }
            NoEffect::OnlyScanMatch => "it is a distance between grid cells that only scanmatch has",
            NoEffect::NoGridDistance => {
                "it joins the edges of the grid, and this metric measures no distances on a grid"
            }
        })
    }
}

impl MetricOptions {
    /// The metric for cohorts in this alphabet. `declared` is the grid that the cohort files name.
    pub fn metric(&self, alphabet: &Alphabet, declared: Option<Grid>) -> Result<Metric, Error> {
        if self.wrap && !self.needs_grid() {
            return no_effect(MetricField::Wrap, NoEffect::NoGridDistance);
        }
        if self.threshold.is_some() && self.name != MetricName::ScanMatch {
            return no_effect(MetricField::Threshold, NoEffect::OnlyScanMatch);
        }
        let grid = self.grid.or(declared);
        match (self.name, self.reward) {
            (MetricName::Levenshtein, _) => self.levenshtein(),
            (MetricName::NeedlemanWunsch, None) => self.needleman_wunsch(alphabet, grid),
            (MetricName::NeedlemanWunsch, Some(reward)) => self.maximised(reward),
            (MetricName::SmithWaterman, _) => self.smith_waterman(alphabet),
            (MetricName::ScanMatch, _) => self.scanmatch(alphabet, grid),
        }
    }

    /// Whether the metric measures distances between grid cells.
    pub fn needs_grid(&self) -> bool {
        let distance = matches!(self.substitution, Some(Costs::Distance(_)));
        self.name == MetricName::ScanMatch || distance
    }

    /// The file of the substitution table, where there is one.
    pub fn table_file(&self) -> Option<&Path> {
        match &self.substitution {
            Some(Costs::File(path)) => Some(path),
            _ => None,
        }
    }

    fn levenshtein(&self) -> Result<Metric, Error> {
        use MetricField::{Delete, Gap, Insert, Mismatch, Reward, Scale, Substitution};
        self.refuse(
            NoEffect::FixedCosts,
            &[Insert, Delete, Gap, Reward, Mismatch, Scale, Substitution],
        )?;
        Ok(Metric::Levenshtein)
    }

    fn needleman_wunsch(&self, alphabet: &Alphabet, grid: Option<Grid>) -> Result<Metric, Error> {
        if self.insert.is_some() && self.delete.is_some() {
            self.refuse(NoEffect::GapAndBothCosts, &[MetricField::Gap])?;
        }
        if self.is_given(MetricField::Substitution) {
            self.refuse(NoEffect::OtherSubstitution, &[MetricField::Mismatch])?;
        }
        let substitution = match self.costs() {
            Costs::Unit => Substitution::Unit {
                mismatch: self.mismatch.unwrap_or(1.0),
            },
            Costs::Index => Substitution::Index,
            Costs::Distance(distance) => {
                let grid = grid.ok_or(MetricOptionsError::GridMissing)?;
                Substitution::on_grid(grid.with_wrap(self.wrap), distance)
            }
            Costs::File(path) => Substitution::Table {
                table: read_table(&path, TableOf::Costs, alphabet)?,
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

    fn maximised(&self, reward: f64) -> Result<Metric, Error> {
        use MetricField::{Delete, Insert, Substitution};
        self.refuse(NoEffect::Maximised, &[Insert, Delete, Substitution])?;
        Ok(Metric::NeedlemanWunschScore {
            reward,
            mismatch: self.mismatch.unwrap_or(1.0),
            gap: self.gap.unwrap_or(1.0),
            scale: self.scale,
        })
    }

    fn smith_waterman(&self, alphabet: &Alphabet) -> Result<Metric, Error> {
        use MetricField::{Delete, Insert, Mismatch, Reward};
        self.refuse(NoEffect::LocalScores, &[Insert, Delete])?;
        let scoring = match self.costs() {
            Costs::Unit => LocalScoring::Unit {
                reward: self.reward.unwrap_or(2.0),
                mismatch: self.mismatch.unwrap_or(1.0),
            },
            Costs::File(path) => {
                self.refuse(NoEffect::TableGiven, &[Reward, Mismatch])?;
                LocalScoring::Table {
                    table: read_table(&path, TableOf::Scores, alphabet)?,
                }
            }
            Costs::Index | Costs::Distance(_) => {
                return Err(MetricOptionsError::LocalDistances.into());
            }
        };
        Ok(Metric::SmithWaterman {
            scoring,
            gap: self.gap.unwrap_or(1.0),
            scale: self.scale,
        })
    }

    fn scanmatch(&self, alphabet: &Alphabet, grid: Option<Grid>) -> Result<Metric, Error> {
        use MetricField::{Delete, Insert, Mismatch, Reward, Substitution};
        self.refuse(
            NoEffect::ScanMatchNumbers,
            &[Insert, Delete, Reward, Mismatch],
        )?;
        // Its own distance may be named.
        if self.costs() != Costs::Distance(Distance::Euclidean) {
            self.refuse(NoEffect::ScanMatchNumbers, &[Substitution])?;
        }
        let grid = grid.ok_or(MetricOptionsError::GridMissing)?;
        if alphabet.notation() == Notation::Dna {
            return Err(MetricOptionsError::DnaGrid.into());
        }
        Ok(Metric::ScanMatch {
            grid,
            wrap: self.wrap,
            threshold: self.threshold.unwrap_or(3.5),
            gap: self.gap.unwrap_or(0.0),
            scale: self.scale,
        })
    }

    fn costs(&self) -> Costs {
        self.substitution.clone().unwrap_or_default()
    }

    fn refuse(&self, reason: NoEffect, fields: &[MetricField]) -> Result<(), Error> {
        match fields.iter().find(|&&field| self.is_given(field)) {
            Some(&field) => no_effect(field, reason),
            None => Ok(()),
        }
    }

    fn is_given(&self, field: MetricField) -> bool {
        match field {
            // Naming the default changes nothing.
            MetricField::Substitution => self.costs() != Costs::Unit,
            MetricField::Insert => self.insert.is_some(),
            MetricField::Delete => self.delete.is_some(),
            MetricField::Gap => self.gap.is_some(),
            MetricField::Reward => self.reward.is_some(),
            MetricField::Mismatch => self.mismatch.is_some(),
            MetricField::Threshold => self.threshold.is_some(),
            MetricField::Wrap => self.wrap,
            MetricField::Scale => self.scale.is_some(),
        }
    }
}

fn no_effect<T>(field: MetricField, reason: NoEffect) -> Result<T, Error> {
    Err(MetricOptionsError::NoEffect { field, reason }.into())
}

fn read_table(path: &Path, of: TableOf, alphabet: &Alphabet) -> Result<Table, Error> {
    let text = veilpath_encode::Input::open(path)?.read_text()?;
    // Labels may name any letter that can be written; the table itself says how many there are.
    Table::parse(&text, of, &alphabet.widened()).map_err(|error| {
        let path = path.to_path_buf();
        MetricOptionsError::Table { path, error }.into()
    })
}
