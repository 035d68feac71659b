//! Columns of 0 and 1 that say whether a row is a fixation, a saccade or a blink, or whether it is valid.

use super::columns::{Layout, normalised_name};
use crate::{Columns, is_missing};

/// The meaning of a 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indicator {
    Fixation,
    Saccade,
    Blink,
    Valid,
}

/// Why a column excludes a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exclusion {
    /// It is of another event.
    OtherEvent,
    /// The eye was lost.
    Lost,
    /// The tracker marks it as invalid.
    Invalid,
}

/// The columns whose names suggest an indicator, apart from those that have another role.
pub(super) fn indicators(columns: &Columns, layout: &Layout) -> Vec<(usize, Indicator)> {
    let named = |(column, name): (usize, &String)| {
        let indicator = match normalised_name(name).as_str() {
            "fixation" | "isfixation" | "infixation" => Indicator::Fixation,
            "saccade" | "issaccade" | "insaccade" => Indicator::Saccade,
            "blink" | "isblink" | "inblink" => Indicator::Blink,
            // Not "validity": some trackers code it as 0 for the best samples.
            "valid" | "isvalid" | "gazevalid" => Indicator::Valid,
            _ => return None,
        };
        (!layout.uses(column)).then_some((column, indicator))
    };
    columns
        .names()
        .iter()
        .enumerate()
        .filter_map(named)
        .collect()
}

impl Indicator {
    /// The role in the summary.
    pub(super) fn name(self) -> &'static str {
        match self {
            Indicator::Fixation => "fixation",
            Indicator::Saccade => "saccade",
            Indicator::Blink => "blink",
            Indicator::Valid => "valid",
        }
    }

    /// Whether it marks lost gaze samples, even if the user does not choose events.
    pub(super) fn is_loss(self) -> bool {
        matches!(self, Indicator::Blink | Indicator::Valid)
    }

    /// The value of a field; `None` for one that is neither 0 nor 1.
    pub(super) fn is_set(self, text: &str) -> Option<bool> {
        match text.to_ascii_lowercase().as_str() {
            "1" | "1.0" | "true" | "t" | "yes" => Some(true),
            "0" | "0.0" | "false" | "f" | "no" => Some(false),
            _ => None,
        }
    }

    /// Why a field excludes its row. With `by_event`, rows of events other than fixations are left out.
    pub(super) fn judge(self, text: &str, by_event: bool) -> Option<Exclusion> {
        // A value that the first rows did not have, such as the number of a fixation, counts as set.
        let set = !is_missing(text) && self.is_set(text) != Some(false);
        match self {
            Indicator::Fixation if by_event && !set => Some(Exclusion::OtherEvent),
            Indicator::Saccade | Indicator::Blink if by_event && set => Some(Exclusion::OtherEvent),
            Indicator::Blink if set => Some(Exclusion::Lost),
            Indicator::Valid if self.is_set(text) == Some(false) => Some(Exclusion::Invalid),
            _ => None,
        }
    }

    /// The label of the rows that a column of this name excludes as other events.
    pub(super) fn label(self, column: &str) -> String {
        let excluded = u8::from(self != Indicator::Fixation);
        format!("{column}={excluded}")
    }

    /// Describes the rule for the summary.
    pub(super) fn rule(self, column: &str, fixations: bool) -> String {
        match self {
            Indicator::Fixation => {
                format!(
                    "rows are fixations where the column \"{column}\" is 1; others were left out"
                )
            }
            Indicator::Saccade | Indicator::Blink if fixations => {
                format!(
                    "rows where the column \"{column}\" is 1 are not fixations and were left out"
                )
            }
            Indicator::Saccade => {
                format!("samples where the column \"{column}\" is 1 were left out")
            }
            Indicator::Blink => format!("samples where the column \"{column}\" is 1 count as lost"),
            Indicator::Valid if fixations => {
                format!("rows where the column \"{column}\" is 0 are invalid")
            }
            Indicator::Valid => format!("samples where the column \"{column}\" is 0 count as lost"),
        }
    }
}
