//! Options of the metrics other than alignments.

use super::{
    MetricField, MetricName, MetricOptions, MetricOptionsError, NoEffectReason, no_effect,
};
use crate::Error;
use std::str::FromStr;
use veilpath_metrics::{
    Alphabet, Crqa, CrqaMeasure, Dtw, DurationClasses, DurationDivisor, Grid, MultiMatch,
    MultiMatchMeasure, Notation, PathDivisor, Positions, RecurrenceRule, ScaSim, Screen,
    Simplification, SubsMatch, Undefined, View,
};

/// The parameters of metrics other than alignments. `None` means the metric's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NonAlignmentOptions {
    /// The positions to compare.
    pub positions: PositionsChoice,
    /// The measures to compute; empty for the default ones.
    pub measures: Vec<String>,
    /// Fixations within this distance recur. With `None`, fixations with the same letter recur.
    pub radius: Option<f64>,
    /// The minimum number of points in a line.
    pub line: Option<u32>,
    /// How undefined numbers are reported.
    pub undefined: Undefined,
    /// Whether results in the clear are rounded as in a private engine.
    pub round_results: bool,
    /// The divisor of the result.
    pub divide_by: Option<DivideBy>,
    /// The number of letters in a sequence.
    pub window: Option<u32>,
    /// The grid over the screen to whose cells fixations are rounded. `None` compares fixations without rounding, in
    /// the clear only.
    pub fixation_grid: Option<Grid>,
    /// The durations in milliseconds to which fixation durations are rounded, in ascending order.
    pub duration_classes: Vec<f64>,
    /// The factor by which the reward of two fixations shrinks with each degree.
    pub modulator: Option<f64>,
    /// When to merge saccades.
    pub simplification: Option<Simplification>,
}

/// The positions that a metric compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PositionsChoice {
    /// The grid cells of the letters.
    #[default]
    Letters,
    /// The fixations with their original coordinates.
    Fixations,
}

/// The divisor of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DivideBy {
    /// The sum of both lengths.
    Lengths,
    /// The sum of all durations.
    Durations,
}

/// Text that is not one of these choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {0}")]
pub struct UnknownChoice(&'static str);

impl FromStr for PositionsChoice {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, UnknownChoice> {
        match text {
            "letters" => Ok(Self::Letters),
            "fixations" => Ok(Self::Fixations),
            _ => Err(UnknownChoice("letters or fixations")),
        }
    }
}

impl FromStr for DivideBy {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, UnknownChoice> {
        match text {
            "lengths" => Ok(Self::Lengths),
            "durations" => Ok(Self::Durations),
            _ => Err(UnknownChoice("lengths or durations")),
        }
    }
}

/// All fields of [`NonAlignmentOptions`].
const FIELDS: [MetricField; 12] = [
    MetricField::Positions,
    MetricField::FixationGrid,
    MetricField::DurationClasses,
    MetricField::Measures,
    MetricField::Radius,
    MetricField::Line,
    MetricField::Undefined,
    MetricField::RoundResults,
    MetricField::DivideBy,
    MetricField::Window,
    MetricField::Modulator,
    MetricField::Simplification,
];

/// The fields that only alignments have.
const ALIGNMENT_FIELDS: [MetricField; 8] = [
    MetricField::Substitution,
    MetricField::Insert,
    MetricField::Delete,
    MetricField::Gap,
    MetricField::Reward,
    MetricField::Mismatch,
    MetricField::Threshold,
    MetricField::Precision,
];

impl NonAlignmentOptions {
    pub(super) fn is_given(&self, field: MetricField) -> bool {
        match field {
            MetricField::Positions => self.positions != PositionsChoice::Letters,
            MetricField::FixationGrid => self.fixation_grid.is_some(),
            MetricField::DurationClasses => !self.duration_classes.is_empty(),
            MetricField::Measures => !self.measures.is_empty(),
            MetricField::Radius => self.radius.is_some(),
            MetricField::Line => self.line.is_some(),
            MetricField::Undefined => self.undefined != Undefined::Missing,
            MetricField::RoundResults => self.round_results,
            MetricField::DivideBy => self.divide_by.is_some(),
            MetricField::Window => self.window.is_some(),
            MetricField::Modulator => self.modulator.is_some(),
            MetricField::Simplification => self.simplification.is_some(),
            _ => false,
        }
    }
}

impl MetricName {
    /// The fields of [`NonAlignmentOptions`] that apply to this metric.
    fn non_alignment_fields(self) -> &'static [MetricField] {
        match self {
            Self::Dtw => &[
                MetricField::Positions,
                MetricField::FixationGrid,
                MetricField::DivideBy,
            ],
            Self::Frechet | Self::Hausdorff => &[MetricField::Positions, MetricField::FixationGrid],
            Self::Crqa => &[
                MetricField::Positions,
                MetricField::FixationGrid,
                MetricField::Measures,
                MetricField::Radius,
                MetricField::Line,
                MetricField::Undefined,
                MetricField::RoundResults,
            ],
            Self::ScaSim => &[
                MetricField::FixationGrid,
                MetricField::DurationClasses,
                MetricField::DivideBy,
                MetricField::Modulator,
            ],
            Self::MultiMatch => &[MetricField::Measures, MetricField::Simplification],
            Self::SubsMatch => &[MetricField::Window],
            _ => &[],
        }
    }

    /// Whether all different letters have the same cost or score by default.
    pub(super) fn has_unit_substitution(self) -> bool {
        self.is_alignment() && self != Self::ScanMatch
    }

    /// Whether the metric is an alignment with a score and a similarity.
    pub(super) fn is_alignment(self) -> bool {
        matches!(
            self,
            Self::Levenshtein | Self::NeedlemanWunsch | Self::SmithWaterman | Self::ScanMatch
        )
    }
}

impl MetricOptions {
    /// Rejects fields that do not apply to this metric.
    pub(super) fn reject_fields_of_other_metrics(&self) -> Result<(), Error> {
        let allowed = self.name.non_alignment_fields();
        let mut others = FIELDS.iter().filter(|field| !allowed.contains(field));
        if let Some(&field) = others.find(|&&field| self.is_given(field)) {
            return no_effect(field, NoEffectReason::OtherMetric);
        }
        if self.name.is_alignment() {
            return Ok(());
        }
        self.reject_fields(NoEffectReason::NotAnAlignment, &ALIGNMENT_FIELDS)?;
        let rounds = self.non_alignment.fixation_grid.is_some();
        if rounds && !self.compares_fixations() {
            return no_effect(MetricField::FixationGrid, NoEffectReason::LettersCompared);
        }
        let reason = match self.name {
            MetricName::Dtw | MetricName::ScaSim if rounds || !self.compares_fixations() => {
                return Ok(());
            }
            MetricName::Dtw | MetricName::ScaSim => NoEffectReason::NotRounded,
            _ => NoEffectReason::OtherMetric,
        };
        self.reject_fields(reason, &[MetricField::Scale])
    }

    /// Whether the metric compares fixations rather than letters.
    pub fn compares_fixations(&self) -> bool {
        match self.name {
            MetricName::ScaSim | MetricName::MultiMatch => true,
            _ => self.non_alignment.positions == PositionsChoice::Fixations,
        }
    }

    /// Whether the metric uses distances between the grid cells of letters.
    pub(super) fn uses_grid_distances(&self) -> bool {
        let has_distances = match self.name {
            MetricName::Dtw | MetricName::Frechet | MetricName::Hausdorff => true,
            MetricName::Crqa => self.non_alignment.radius.is_some(),
            _ => false,
        };
        has_distances && !self.compares_fixations()
    }

    pub(super) fn dtw(&self, positions: Positions) -> Result<Dtw, Error> {
        let divisor = match self.non_alignment.divide_by {
            None => PathDivisor::None,
            Some(DivideBy::Lengths) => PathDivisor::Lengths,
            Some(DivideBy::Durations) => {
                return no_effect(MetricField::DivideBy, NoEffectReason::OnlyByLengths);
            }
        };
        Ok(Dtw {
            positions,
            divisor,
            scale: self.whole_scale()?,
        })
    }

    pub(super) fn multimatch(&self) -> Result<MultiMatch, Error> {
        let all = MultiMatchMeasure::ALL;
        let measures = chosen(&self.non_alignment.measures, &all, MultiMatchMeasure::name)?;
        Ok(MultiMatch {
            measures: measures.unwrap_or(all.to_vec()),
            simplification: self.non_alignment.simplification,
        })
    }

    pub(super) fn subsmatch(&self) -> SubsMatch {
        SubsMatch {
            window: self.non_alignment.window.unwrap_or(3),
        }
    }

    pub(super) fn scasim(&self, screen: Option<&Screen>) -> Result<ScaSim, Error> {
        let options = &self.non_alignment;
        let divisor = match options.divide_by {
            None => DurationDivisor::None,
            Some(DivideBy::Lengths) => DurationDivisor::Fixations,
            Some(DivideBy::Durations) => DurationDivisor::Durations,
        };
        let is_rounded = options.fixation_grid.is_some();
        let has_classes = !options.duration_classes.is_empty();
        if is_rounded != has_classes {
            return Err(MetricOptionsError::RoundingIncomplete.into());
        }
        if is_rounded && divisor == DurationDivisor::Durations {
            return Err(MetricOptionsError::RoundedByDurations.into());
        }
        let screen = screen.ok_or(MetricOptionsError::ViewMissing)?;
        let classes = match options.fixation_grid {
            None => None,
            Some(grid) => Some(DurationClasses {
                grid,
                screen: [screen.width(), screen.height()],
                durations: options.duration_classes.clone(),
                scale: self.whole_scale()?.unwrap_or(1),
            }),
        };
        Ok(ScaSim {
            view: View::of_screen(screen).ok_or(MetricOptionsError::ViewMissing)?,
            modulator: options.modulator.unwrap_or(0.83),
            divisor,
            classes,
        })
    }

    pub(super) fn crqa(
        &self,
        positions: impl FnOnce() -> Result<Positions, Error>,
    ) -> Result<Crqa, Error> {
        let options = &self.non_alignment;
        let rule = match options.radius {
            Some(radius) => RecurrenceRule::Within {
                positions: positions()?,
                radius,
            },
            None if self.compares_fixations() => {
                return Err(MetricOptionsError::RadiusMissing.into());
            }
            None => RecurrenceRule::SameLetter,
        };
        const DEFAULT: [CrqaMeasure; 4] = [
            CrqaMeasure::Rec,
            CrqaMeasure::Det,
            CrqaMeasure::Lam,
            CrqaMeasure::Corm,
        ];
        Ok(Crqa {
            rule,
            line: options.line.unwrap_or(2),
            measures: chosen(
                &options.measures,
                &CrqaMeasure::in_the_clear(),
                CrqaMeasure::name,
            )?
            .unwrap_or(DEFAULT.to_vec()),
            undefined: options.undefined,
            rounded: options.round_results,
        })
    }

    pub(super) fn positions(
        &self,
        alphabet: &Alphabet,
        grid: Option<Grid>,
        screen: Option<&Screen>,
    ) -> Result<Positions, Error> {
        if self.compares_fixations() {
            // A file without a screen has no fixations and is rejected for that reason.
            let rounded = self.non_alignment.fixation_grid.zip(screen);
            return Ok(
                rounded.map_or(Positions::Fixations, |(grid, screen)| Positions::Cells {
                    grid,
                    width: screen.width() / f64::from(grid.columns()),
                    height: screen.height() / f64::from(grid.rows()),
                }),
            );
        }
        let grid = grid.ok_or(MetricOptionsError::GridMissing)?;
        if alphabet.notation() == Notation::Dna {
            return Err(MetricOptionsError::DnaGrid.into());
        }
        Ok(Positions::Grid {
            grid,
            wrap: self.wrap,
        })
    }
}

/// The measures with these names; `None` if none is named.
fn chosen<T: Copy>(
    names: &[String],
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<Option<Vec<T>>, Error> {
    let find = |text: &String| {
        let found = all.iter().copied().find(|&measure| name(measure) == text);
        found.ok_or_else(|| MetricOptionsError::UnknownMeasure {
            name: text.clone(),
            known: all.iter().map(|&measure| name(measure)).collect(),
        })
    };
    let found: Vec<T> = names.iter().map(find).collect::<Result<_, _>>()?;
    Ok((!found.is_empty()).then_some(found))
}
