//! How to say that a pair meets a threshold.

use veilpath_protocol::Outcome;

/// The scores for which a pair's bit is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThresholdSide {
    /// Scores up to the threshold: those of a distance.
    AtMost,
    /// Scores from the threshold up: those of a similarity.
    AtLeast,
    /// The file does not say, because it is a CSV file.
    Unknown,
}

impl ThresholdSide {
    /// The side of a result; `None` is that of a CSV file.
    pub(crate) fn of(outcome: Option<&Outcome>) -> Self {
        match outcome {
            Some(outcome) if outcome.spec.metric.is_distance() => ThresholdSide::AtMost,
            Some(_) => ThresholdSide::AtLeast,
            None => ThresholdSide::Unknown,
        }
    }

    /// Completes "pairs …".
    pub(crate) fn name(self) -> &'static str {
        match self {
            ThresholdSide::AtMost => "within the threshold",
            ThresholdSide::AtLeast => "reaching the threshold",
            ThresholdSide::Unknown => "marked yes",
        }
    }

    /// Completes "a pair …".
    pub(crate) fn verb(self) -> &'static str {
        match self {
            ThresholdSide::AtMost => "is within the threshold",
            ThresholdSide::AtLeast => "reaches the threshold",
            ThresholdSide::Unknown => "is marked yes",
        }
    }

    /// Completes "some pairs …".
    pub(crate) fn verb_for(self, pairs: usize) -> &'static str {
        match (self, pairs) {
            (_, 1) => self.verb(),
            (ThresholdSide::AtMost, _) => "are within the threshold",
            (ThresholdSide::AtLeast, _) => "reach the threshold",
            (ThresholdSide::Unknown, _) => "are marked yes",
        }
    }

    /// Completes "a pair whose bit is not set …".
    pub(crate) fn negated_verb(self) -> &'static str {
        match self {
            ThresholdSide::AtMost => "is not within the threshold",
            ThresholdSide::AtLeast => "does not reach the threshold",
            ThresholdSide::Unknown => "is marked no",
        }
    }

    /// A column or legend heading.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            ThresholdSide::AtMost => "within",
            ThresholdSide::AtLeast => "reached",
            ThresholdSide::Unknown => "yes",
        }
    }
}
