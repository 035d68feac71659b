//! Metric options: a name and a few parameters, most of which have defaults.
//!
//! The alphabet is known only after the cohorts have been read, so [`MetricOptions`] become a [`Metric`] late. An
//! option that would have no effect is an error, because the user expects it to do something.

mod fields;
mod names;
mod non_alignment;

pub use names::{MetricName, SubstitutionChoice, UnknownName};
pub use non_alignment::{DivideBy, NonAlignmentOptions, PositionsChoice, UnknownChoice};

use crate::Error;
use std::path::{Path, PathBuf};
use veilpath_metrics::{
    Alphabet, Distance, Frechet, Grid, Hausdorff, LetterError, LocalScoring, Metric, MetricError,
    Notation, Screen, Substitution, Table, TableError, TableKind,
};

/// What to compute. `None` means the metric's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetricOptions {
    /// The metric.
    pub name: MetricName,
    /// How to determine the cost of a replacement.
    pub substitution: Option<SubstitutionChoice>,
    /// The cost of a letter that only the second scanpath has.
    pub insert: Option<f64>,
    /// The cost of a letter that only the first scanpath has.
    pub delete: Option<f64>,
    /// Sets both `insert` and `delete`; for ScanMatch, the score that a gap adds.
    pub gap: Option<f64>,
    /// The reward of equal letters. It turns Needleman–Wunsch into a score to maximise.
    pub reward: Option<f64>,
    /// The cost of different letters.
    pub mismatch: Option<f64>,
    /// ScanMatch's threshold, in grid cells.
    pub threshold: Option<f64>,
    /// The grid of the letters; `None` uses the one that the cohorts declare.
    pub grid: Option<Grid>,
    /// Whether the left and right edges of the grid are joined.
    pub wrap: bool,
    /// The fixed-point scale of all numbers. It must be an integer, except for ScanMatch.
    pub scale: Option<f64>,
    /// For ScanMatch in integers: an upper bound on the error of every score. The scale is chosen to meet it.
    pub precision: Option<f64>,
    /// The parameters of metrics other than alignments.
    pub non_alignment: NonAlignmentOptions,
}

/// A field of [`MetricOptions`], as named in errors.
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
    /// `precision`
    Precision,
    /// `non_alignment.positions`
    Positions,
    /// `non_alignment.fixation_grid`
    FixationGrid,
    /// `non_alignment.duration_classes`
    DurationClasses,
    /// `non_alignment.measures`
    Measures,
    /// `non_alignment.radius`
    Radius,
    /// `non_alignment.line`
    Line,
    /// `non_alignment.undefined`
    Undefined,
    /// `non_alignment.round_results`
    RoundResults,
    /// `non_alignment.divide_by`
    DivideBy,
    /// `non_alignment.window`
    Window,
    /// `non_alignment.modulator`
    Modulator,
    /// `non_alignment.simplification`
    Simplification,
}

/// Metric options that conflict with each other or with the cohorts.
#[derive(Debug, thiserror::Error)]
pub enum MetricOptionsError {
    /// A field that would have no effect.
    #[error("{field} does not apply: {reason}")]
    NoEffect {
        /// The field.
        field: MetricField,
        /// The reason.
        reason: NoEffectReason,
    },
    /// Distances on a grid, without a grid.
    #[error("distances between grid cells need a grid, but none is declared")]
    GridMissing,
    /// The cohorts were encoded on another grid.
    #[error("the gaze was encoded on a grid of {declared}, not {requested}")]
    GridDiffers {
        /// The grid in the options.
        requested: Grid,
        /// The grid in the cohort files.
        declared: Grid,
    },
    /// Smith–Waterman with distances.
    #[error("smith-waterman needs scores that can be positive and negative, not distances")]
    LocalDistances,
    /// A metric on grid cells, used on DNA.
    #[error("this metric compares grid cells, not DNA")]
    DnaGrid,
    /// ScaSim without the size and distance of the screen.
    #[error(
        "scasim needs visual angles, but the cohort files do not say how large and how far away the screen was"
    )]
    ViewMissing,
    /// ScaSim with a fixation grid but no duration classes, or the other way round.
    #[error(
        "scasim compares positions and durations, and rounds both or none: it needs a grid for fixations and classes of durations"
    )]
    RoundingIncomplete,
    /// ScaSim on rounded fixations, divided by durations.
    #[error("scasim of rounded fixations cannot be divided by durations, only by lengths")]
    RoundedByDurations,
    /// Recurrence of fixations without a radius.
    #[error("fixations recur if they are near each other, but no radius is given")]
    RadiusMissing,
    /// A measure that the metric does not have.
    #[error("there is no measure {name:?}; this metric has {}", .known.join(", "))]
    UnknownMeasure {
        /// The name.
        name: String,
        /// The measures that it has.
        known: Vec<&'static str>,
    },
    /// A number of letters that the notation cannot have.
    #[error("{}", .0.problem)]
    Letters(LetterError),
    /// A table that cannot be read.
    #[error("{path}, line {line}{column}: {problem}",
        path = path.display(), line = error.line, problem = error.problem,
        column = if error.column == 0 { String::new() } else { format!(", column {}", error.column) })]
    Table {
        /// The file.
        path: PathBuf,
        /// The problem and its position.
        error: TableError,
    },
}

/// Why a field has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEffectReason {
    /// Levenshtein has fixed costs.
    FixedCosts,
    /// `gap` is short for `insert` and `delete`, but both are given.
    GapAndBothCosts,
    /// `mismatch` is the cost of a unit substitution, but another substitution is given.
    OtherSubstitution,
    /// With a reward, Needleman–Wunsch has only a mismatch and a gap penalty.
    RewardGiven,
    /// Smith–Waterman takes a gap and either two numbers or a table.
    SmithWatermanFields,
    /// The table defines the scores of letter pairs.
    TableGiven,
    /// ScanMatch's distances are Euclidean, and it has only a gap and a threshold.
    ScanMatchFields,
    /// Only ScanMatch has a threshold between grid cells.
    OnlyScanMatch,
    /// The metric does not use distances on a grid.
    NoGridDistance,
    /// Only ScanMatch's scale can be chosen by the error of its scores.
    OnlyScanMatchPrecision,
    /// The scale is given.
    ScaleGiven,
    /// Letters are compared, not fixations.
    LettersCompared,
    /// Fixations that are not rounded have no fixed-point scale.
    NotRounded,
    /// The metric can be divided by lengths, but not by durations.
    OnlyByLengths,
    /// It is a parameter of other metrics.
    OtherMetric,
    /// It is a parameter of alignments.
    NotAnAlignment,
}

impl MetricOptions {
    /// The metric for cohorts in this alphabet. `declared` and `screen` are the grid and the screen that the cohort
    /// files declare.
    pub fn metric(
        &self,
        alphabet: &Alphabet,
        declared: Option<Grid>,
        screen: Option<&Screen>,
    ) -> Result<Metric, Error> {
        if self.wrap && !self.needs_grid() {
            return no_effect(MetricField::Wrap, NoEffectReason::NoGridDistance);
        }
        self.reject_fields_of_other_metrics()?;
        if self.threshold.is_some() && self.name != MetricName::ScanMatch {
            return no_effect(MetricField::Threshold, NoEffectReason::OnlyScanMatch);
        }
        if self.name != MetricName::ScanMatch {
            self.reject_fields(
                NoEffectReason::OnlyScanMatchPrecision,
                &[MetricField::Precision],
            )?;
        }
        let grid = self.grid.or(declared);
        let positions = || self.positions(alphabet, grid, screen);
        match (self.name, self.reward) {
            (MetricName::Levenshtein, _) => self.levenshtein(),
            (MetricName::NeedlemanWunsch, None) => self.needleman_wunsch(alphabet, grid),
            (MetricName::NeedlemanWunsch, Some(reward)) => self.maximised(reward),
            (MetricName::SmithWaterman, _) => self.smith_waterman(alphabet),
            (MetricName::ScanMatch, _) => self.scanmatch(alphabet, grid),
            (MetricName::SequenceScore, _) => Ok(Metric::SequenceScore),
            (MetricName::Dtw, _) => self.dtw(positions()?).map(Metric::Dtw),
            (MetricName::Frechet, _) => Ok(Metric::Frechet(Frechet {
                positions: positions()?,
            })),
            (MetricName::Hausdorff, _) => Ok(Metric::Hausdorff(Hausdorff {
                positions: positions()?,
            })),
            (MetricName::Crqa, _) => self.crqa(positions).map(Metric::Crqa),
            (MetricName::ScaSim, _) => self.scasim(screen).map(Metric::ScaSim),
            (MetricName::MultiMatch, _) => self.multimatch().map(Metric::MultiMatch),
            (MetricName::SubsMatch, _) => Ok(Metric::SubsMatch(self.subsmatch())),
        }
    }

    /// Whether the metric uses distances between grid cells.
    pub fn needs_grid(&self) -> bool {
        let distance = matches!(self.substitution, Some(SubstitutionChoice::Distance(_)));
        self.name == MetricName::ScanMatch || distance || self.uses_grid_distances()
    }

    /// The file of the substitution table, if there is one.
    pub fn table_file(&self) -> Option<&Path> {
        match &self.substitution {
            Some(SubstitutionChoice::File(path)) => Some(path),
            _ => None,
        }
    }

    fn levenshtein(&self) -> Result<Metric, Error> {
        use MetricField::{Delete, Gap, Insert, Mismatch, Reward, Scale, Substitution};
        self.reject_fields(
            NoEffectReason::FixedCosts,
            &[Insert, Delete, Gap, Reward, Mismatch, Scale, Substitution],
        )?;
        Ok(Metric::Levenshtein)
    }

    fn needleman_wunsch(&self, alphabet: &Alphabet, grid: Option<Grid>) -> Result<Metric, Error> {
        if self.insert.is_some() && self.delete.is_some() {
            self.reject_fields(NoEffectReason::GapAndBothCosts, &[MetricField::Gap])?;
        }
        if self.is_given(MetricField::Substitution) {
            self.reject_fields(NoEffectReason::OtherSubstitution, &[MetricField::Mismatch])?;
        }
        let substitution = match self.substitution_choice() {
            SubstitutionChoice::Unit => Substitution::Unit {
                mismatch: self.mismatch.unwrap_or(1.0),
            },
            SubstitutionChoice::Index => Substitution::Index,
            SubstitutionChoice::Distance(distance) => {
                let grid = grid.ok_or(MetricOptionsError::GridMissing)?;
                Substitution::on_grid(grid.with_wrap(self.wrap), distance)
            }
            SubstitutionChoice::File(path) => Substitution::Table {
                table: read_table(&path, TableKind::Costs, alphabet)?,
            },
        };
        let gap = self.gap.unwrap_or(1.0);
        Ok(Metric::NeedlemanWunsch {
            substitution,
            insert: self.insert.unwrap_or(gap),
            delete: self.delete.unwrap_or(gap),
            scale: self.whole_scale()?,
        })
    }

    fn maximised(&self, reward: f64) -> Result<Metric, Error> {
        use MetricField::{Delete, Insert, Substitution};
        self.reject_fields(NoEffectReason::RewardGiven, &[Insert, Delete, Substitution])?;
        Ok(Metric::NeedlemanWunschScore {
            reward,
            mismatch: self.mismatch.unwrap_or(1.0),
            gap: self.gap.unwrap_or(1.0),
            scale: self.whole_scale()?,
        })
    }

    fn smith_waterman(&self, alphabet: &Alphabet) -> Result<Metric, Error> {
        use MetricField::{Delete, Insert, Mismatch, Reward};
        self.reject_fields(NoEffectReason::SmithWatermanFields, &[Insert, Delete])?;
        let scoring = match self.substitution_choice() {
            SubstitutionChoice::Unit => LocalScoring::Unit {
                reward: self.reward.unwrap_or(2.0),
                mismatch: self.mismatch.unwrap_or(1.0),
            },
            SubstitutionChoice::File(path) => {
                self.reject_fields(NoEffectReason::TableGiven, &[Reward, Mismatch])?;
                LocalScoring::Table {
                    table: read_table(&path, TableKind::Scores, alphabet)?,
                }
            }
            SubstitutionChoice::Index | SubstitutionChoice::Distance(_) => {
                return Err(MetricOptionsError::LocalDistances.into());
            }
        };
        Ok(Metric::SmithWaterman {
            scoring,
            gap: self.gap.unwrap_or(1.0),
            scale: self.whole_scale()?,
        })
    }

    fn scanmatch(&self, alphabet: &Alphabet, grid: Option<Grid>) -> Result<Metric, Error> {
        use MetricField::{Delete, Insert, Mismatch, Reward, Substitution};
        self.reject_fields(
            NoEffectReason::ScanMatchFields,
            &[Insert, Delete, Reward, Mismatch],
        )?;
        // Naming ScanMatch's own distance explicitly is allowed.
        if self.substitution_choice() != SubstitutionChoice::Distance(Distance::Euclidean) {
            self.reject_fields(NoEffectReason::ScanMatchFields, &[Substitution])?;
        }
        let grid = grid.ok_or(MetricOptionsError::GridMissing)?;
        if alphabet.notation() == Notation::Dna {
            return Err(MetricOptionsError::DnaGrid.into());
        }
        let metric = Metric::ScanMatch {
            grid,
            wrap: self.wrap,
            threshold: self.threshold.unwrap_or(3.5),
            gap: self.gap.unwrap_or(0.0),
            scale: self.scale,
        };
        let Some(precision) = self.precision else {
            return Ok(metric);
        };
        if self.scale.is_some() {
            return no_effect(MetricField::Precision, NoEffectReason::ScaleGiven);
        }
        Ok(metric.with_automatic_scale(precision)?)
    }

    /// The scale of a metric whose costs are multiplied by an integer.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked
    fn whole_scale(&self) -> Result<Option<u32>, Error> {
        match self.scale {
            Some(scale)
                if scale.fract() != 0.0 || !(0.0..=f64::from(u32::MAX)).contains(&scale) =>
            {
                Err(MetricError::Scale { scale }.into())
            }
            scale => Ok(scale.map(|scale| scale as u32)),
        }
    }

    fn substitution_choice(&self) -> SubstitutionChoice {
        self.substitution.clone().unwrap_or_default()
    }

    fn reject_fields(&self, reason: NoEffectReason, fields: &[MetricField]) -> Result<(), Error> {
        match fields.iter().find(|&&field| self.is_given(field)) {
            Some(&field) => no_effect(field, reason),
            None => Ok(()),
        }
    }

    fn is_given(&self, field: MetricField) -> bool {
        match field {
            MetricField::Substitution => match &self.substitution {
                // Naming the default explicitly changes nothing.
                Some(SubstitutionChoice::Unit) => !self.name.has_unit_substitution(),
                choice => choice.is_some(),
            },
            MetricField::Insert => self.insert.is_some(),
            MetricField::Delete => self.delete.is_some(),
            MetricField::Gap => self.gap.is_some(),
            MetricField::Reward => self.reward.is_some(),
            MetricField::Mismatch => self.mismatch.is_some(),
            MetricField::Threshold => self.threshold.is_some(),
            MetricField::Wrap => self.wrap,
            MetricField::Scale => self.scale.is_some(),
            MetricField::Precision => self.precision.is_some(),
            field => self.non_alignment.is_given(field),
        }
    }
}

fn no_effect<T>(field: MetricField, reason: NoEffectReason) -> Result<T, Error> {
    Err(MetricOptionsError::NoEffect { field, reason }.into())
}

fn read_table(path: &Path, kind: TableKind, alphabet: &Alphabet) -> Result<Table, Error> {
    let text = veilpath_encode::Input::open(path)?.read_text()?;
    // Labels may name any letter that can be written. The table itself determines how many there are.
    Table::parse(&text, kind, &alphabet.widened()).map_err(|error| {
        let path = path.to_path_buf();
        MetricOptionsError::Table { path, error }.into()
    })
}
