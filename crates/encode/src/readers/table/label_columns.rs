//! Columns that may contain event labels, by their names and first values.

use super::words::{LabelMeaning, meaning};
use crate::is_missing;
use std::collections::BTreeSet;

/// A column with more distinct values than this in its first rows does not contain event labels.
const MAX_LABELS: usize = 12;

/// The maximum number of labels that a note lists.
pub(super) const LISTED_LABELS: usize = 5;

/// A column of labels.
pub(super) struct LabelColumn {
    pub(super) column: usize,
    /// Those of its values that messages may quote.
    pub(super) quotable: BTreeSet<String>,
    /// Whether rows with unknown labels count as fixations, because no label is known to mean one.
    pub(super) takes_unknown: bool,
}

/// A column that may contain event labels.
pub(super) struct Candidate {
    pub(super) column: usize,
    pub(super) name: NameHint,
    pub(super) counts: Counts,
}

/// What the name of a column says about its values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NameHint {
    /// They are event labels.
    Events,
    /// They may be event labels.
    MaybeEvents,
    /// Nothing.
    Nothing,
}

impl LabelColumn {
    /// The unknown labels in parentheses, or nothing if there are too many to quote.
    pub(super) fn listed_unknown(&self) -> String {
        let unknown = || {
            self.quotable
                .iter()
                .filter(|label| meaning(label).is_none())
        };
        let listed: Vec<&str> = unknown().take(LISTED_LABELS).map(String::as_str).collect();
        match unknown().count() - listed.len() {
            _ if listed.is_empty() => String::new(),
            0 => format!(" ({})", listed.join(", ")),
            more => format!(" ({} and {more} more)", listed.join(", ")),
        }
    }
}

impl Candidate {
    pub(super) fn has_eye_movements(&self) -> bool {
        let counts = &self.counts;
        let has_both = counts.fixations > 0 && counts.other_movements > 0;
        let has_any = counts.fixations > 0 || counts.other_movements > 0;
        match self.name {
            NameHint::Events => has_any,
            // A fixation alone may be that of a cross at the start of a trial.
            NameHint::MaybeEvents => {
                counts.other_movements > 0 || has_any && counts.recognised * 10 >= counts.values * 8
            }
            NameHint::Nothing => has_both,
        }
    }

    pub(super) fn has_labels(&self) -> bool {
        self.may_have_labels() && (2..=MAX_LABELS).contains(&self.counts.labels.len())
    }

    /// The values for a note if they seem to be labels: all of them, or only a known word if there are too many.
    pub(super) fn labels_for_note(&self) -> Option<BTreeSet<String>> {
        match self.has_labels() {
            true => Some(self.counts.labels.clone()),
            false if self.counts.labels.len() < 2 => None,
            false => self.counts.movement.clone().map(|word| [word].into()),
        }
    }

    /// Whether the name or the values suggest labels.
    pub(super) fn may_have_labels(&self) -> bool {
        self.name != NameHint::Nothing || self.counts.other_movements > 0
    }

    pub(super) fn labels(&self) -> LabelColumn {
        let counts = &self.counts;
        LabelColumn {
            column: self.column,
            quotable: match counts.labels.len() {
                0..=MAX_LABELS => counts.labels.clone(),
                _ => BTreeSet::new(),
            },
            takes_unknown: counts.fixations == 0
                && counts.other_movements > 0
                && counts.recognised < counts.values,
        }
    }
}

#[derive(Default)]
pub(super) struct Counts {
    values: usize,
    recognised: usize,
    fixations: usize,
    other_movements: usize,
    /// The first word for a movement other than a fixation.
    movement: Option<String>,
    /// At most one more than `MAX_LABELS`.
    pub(super) labels: BTreeSet<String>,
}

impl Counts {
    pub(super) fn add(&mut self, value: &str) {
        if is_missing(value) {
            return;
        }
        let meaning = meaning(value);
        self.values += 1;
        self.recognised += usize::from(meaning.is_some());
        self.fixations += usize::from(meaning == Some(LabelMeaning::Fixation));
        if meaning == Some(LabelMeaning::Movement) {
            self.other_movements += 1;
            self.movement.get_or_insert_with(|| value.to_string());
        }
        if self.labels.len() <= MAX_LABELS && !self.labels.contains(value) {
            self.labels.insert(value.to_string());
        }
    }
}
