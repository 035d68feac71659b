//! Option fields, and why they have no effect, in words.

use super::{MetricField, NoEffectReason};
use std::fmt;

/// The names of the options in the Python package, where they are public. Two differ from those of the fields.
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
            MetricField::Precision => "precision",
            MetricField::Positions => "positions",
            MetricField::FixationGrid => "fixation_grid",
            MetricField::DurationClasses => "duration_classes",
            MetricField::Measures => "measures",
            MetricField::Radius => "radius",
            MetricField::Line => "line",
            MetricField::Undefined => "undefined",
            MetricField::RoundResults => "rounded",
            MetricField::DivideBy => "divide_by",
            MetricField::Window => "window",
            MetricField::Modulator => "modulator",
            MetricField::Simplification => "simplification",
        })
    }
}

impl fmt::Display for NoEffectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoEffectReason::FixedCosts => "the costs of levenshtein are fixed; those of needleman-wunsch can be set",
            NoEffectReason::GapAndBothCosts => {
                "it sets both insert and delete, which are already given"
            }
            NoEffectReason::OtherSubstitution => {
                "it is the cost of a unit substitution, and another substitution is given"
            }
            NoEffectReason::RewardGiven => {
                "with a reward, needleman-wunsch has only a mismatch penalty and a gap penalty"
            }
            NoEffectReason::SmithWatermanFields => {
                "smith-waterman takes a reward, a mismatch and a gap, or a table and a gap"
            }
            NoEffectReason::TableGiven => "the table defines the scores of equal and different letters",
            NoEffectReason::ScanMatchFields => {
                "scanmatch takes a grid, a threshold, a gap and a scale or a precision; its distances are Euclidean"
            }
            NoEffectReason::OnlyScanMatch => "it is a distance between grid cells, and only scanmatch has it",
            NoEffectReason::NoGridDistance => {
                "it joins the edges of the grid, and this metric does not use distances on a grid"
            }
            NoEffectReason::OnlyScanMatchPrecision => {
                "only scanmatch has the same error bound at all lengths; set a scale instead"
            }
            NoEffectReason::ScaleGiven => "the scale is given",
            NoEffectReason::LettersCompared => "letters are compared, not fixations",
            NoEffectReason::NotRounded => {
                "fixations are compared without rounding, and only rounded ones have a scale"
            }
            NoEffectReason::OnlyByLengths => "this metric can be divided by lengths, but not by durations",
            NoEffectReason::OtherMetric => "this metric does not have it",
            NoEffectReason::NotAnAlignment => "this metric is not an alignment",
        })
    }
}
