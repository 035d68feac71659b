//! Columns that may contain event labels, by their names and first values.

use super::words::{LabelMeaning, meaning};
use crate::notes::first_of;
use crate::{LabelDoubt, is_missing};
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
        let unknown = self.quotable.iter().filter(|it| meaning(it).is_none());
        let unknown: Vec<&String> = unknown.collect();
        match unknown.is_empty() {
            true => String::new(),
            false => format!(" ({})", first_of(&unknown, LISTED_LABELS)),
        }
    }
}

impl Candidate {
    pub(super) fn has_eye_movements(&self) -> bool {
        let counts = &self.counts;
        let has_both = counts.fixations > 0 && counts.other_movements > 0;
        let has_any = counts.fixations > 0 || counts.other_movements > 0;
        let all_known = counts.recognised == counts.values;
        match self.name {
            NameHint::Events => has_any,
            // A fixation alone may be that of a cross at the start of a trial.
            NameHint::MaybeEvents => {
                counts.other_movements > 0 || has_any && counts.recognised * 10 >= counts.values * 8
            }
            NameHint::Nothing => {
                has_both || counts.fixations > 0 && all_known && counts.labels.len() > 1
            }
        }
    }

    pub(super) fn has_labels(&self) -> bool {
        self.may_have_labels() && (2..=MAX_LABELS).contains(&self.counts.labels.len())
    }

    /// The values for a note if they seem to be labels: all of them, or only a known word if there are too many.
    pub(super) fn labels_for_note(&self) -> Option<BTreeSet<String>> {
        let counts = &self.counts;
        let only_word = || counts.known_word.clone().map(|word| [word].into());
        match counts.labels.len() {
            0 => None,
            1 if counts.fixations > 0 && counts.missing > 0 => only_word(),
            1 => None,
            2..=MAX_LABELS => self.may_have_labels().then(|| counts.labels.clone()),
            _ => only_word(),
        }
    }

    /// Why the labels in the note are not used.
    pub(super) fn doubt(&self) -> LabelDoubt {
        let counts = &self.counts;
        match (&counts.unknown, counts.labels.len()) {
            _ if counts.fixations == 0 => LabelDoubt::NoFixation,
            (Some(word), 2..=MAX_LABELS) => LabelDoubt::UnknownLabel(word.clone()),
            (Some(_), _) => LabelDoubt::ManyValues,
            (None, _) => LabelDoubt::RowsWithoutLabel,
        }
    }

    /// Whether the name or the values suggest labels.
    pub(super) fn may_have_labels(&self) -> bool {
        self.name != NameHint::Nothing
            || self.counts.fixations > 0
            || self.counts.other_movements > 0
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
    missing: usize,
    /// The first word for a movement or a fixation.
    known_word: Option<String>,
    /// The first value that is not a known word.
    unknown: Option<String>,
    /// At most one more than `MAX_LABELS`.
    pub(super) labels: BTreeSet<String>,
}

impl Counts {
    pub(super) fn add(&mut self, value: &str) {
        // As an event label, "none" is a word.
        if is_missing(value) && !value.eq_ignore_ascii_case("none") {
            self.missing += 1;
            return;
        }
        let meaning = meaning(value);
        self.values += 1;
        self.recognised += usize::from(meaning.is_some());
        self.fixations += usize::from(meaning == Some(LabelMeaning::Fixation));
        self.other_movements += usize::from(meaning == Some(LabelMeaning::Movement));
        match meaning {
            Some(LabelMeaning::Fixation | LabelMeaning::Movement) if self.known_word.is_none() => {
                self.known_word = Some(value.to_string())
            }
            None if self.unknown.is_none() => self.unknown = Some(value.to_string()),
            _ => {}
        }
        if self.labels.len() <= MAX_LABELS && !self.labels.contains(value) {
            self.labels.insert(value.to_string());
        }
    }
}
