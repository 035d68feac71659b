//! Event labels: tables that list saccades and blinks next to fixations, such as those of REMoDNaV.
//!
//! A column has labels when its name may mean that and its first values are words for eye movements. A column `type` with
//! other words in it stays what it was: a column that plays no role.

use super::columns::squeezed;
use crate::{EventChoice, Row, Rows, is_missing};

/// The column of event labels and the events to take.
pub(super) struct EventLabels {
    column: usize,
    choice: EventChoice,
}

/// What a label says about a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Fixation,
    /// Another movement of the eye.
    Movement,
    /// A word that also has other uses.
    Vague,
}

impl EventLabels {
    /// The labels of a column that the user names.
    pub(super) fn named(column: usize, choice: EventChoice) -> Self {
        Self { column, choice }
    }

    /// The first of the candidate columns whose values are labels. `specific` says whether a candidate's name can hardly
    /// mean anything else.
    pub(super) fn find(
        candidates: &[(usize, bool)],
        mut first_rows: Rows,
        choice: EventChoice,
    ) -> Result<Option<Self>, crate::ReadError> {
        let mut counts = vec![Counts::default(); candidates.len()];
        while let Some(row) = first_rows.next_row()? {
            for ((column, _), counts) in candidates.iter().zip(&mut counts) {
                counts.add(row.text(*column));
            }
        }
        let found = candidates
            .iter()
            .zip(&counts)
            .find(|((_, specific), counts)| {
                counts.movements > 0 && (*specific || counts.known * 10 >= counts.values * 8)
            });
        Ok(found.map(|((column, _), _)| Self {
            column: *column,
            choice,
        }))
    }

    /// Where the labels are.
    pub(super) fn column(&self) -> usize {
        self.column
    }

    /// The label under which a row is left out; `None` for a row to take.
    ///
    /// Only words for eye movements are given back as they are written: nothing else of the file is to be quoted.
    pub(super) fn leaves_out<'a>(&self, row: &Row<'a>) -> Option<&'a str> {
        let label = row.text(self.column);
        let taken = match &self.choice {
            EventChoice::All => true,
            EventChoice::Fixations => meaning(label) == Some(Meaning::Fixation),
            EventChoice::Labels(labels) => labels
                .iter()
                .any(|wanted| wanted.trim().eq_ignore_ascii_case(label)),
        };
        match meaning(label) {
            _ if taken => None,
            Some(_) => Some(label),
            None if is_missing(label) => Some("(no label)"),
            None => Some("(other)"),
        }
    }
}

#[derive(Clone, Default)]
struct Counts {
    values: usize,
    known: usize,
    movements: usize,
}

impl Counts {
    fn add(&mut self, value: &str) {
        if is_missing(value) {
            return;
        }
        let meaning = meaning(value);
        self.values += 1;
        self.known += usize::from(meaning.is_some());
        self.movements += usize::from(meaning.is_some_and(|meaning| meaning != Meaning::Vague));
    }
}

fn meaning(label: &str) -> Option<Meaning> {
    match squeezed(label).as_str() {
        "fixation" | "fixations" | "fix" | "fixa" | "efix" => Some(Meaning::Fixation),
        "saccade"
        | "saccades"
        | "sacc"
        | "sac"
        | "esacc"
        | "isac"
        | "microsaccade"
        | "pursuit"
        | "purs"
        | "smoothpursuit"
        | "hpso"
        | "ihps"
        | "lpso"
        | "ilps"
        | "pso"
        | "glissade"
        | "postsaccadicoscillation"
        | "blink"
        | "blinks"
        | "blnk"
        | "eblink"
        | "eyesnotfound"
        | "unknowneyemovement"
        | "vor" => Some(Meaning::Movement),
        "unclassified" | "unknown" | "undefined" | "noise" | "gap" | "lost" | "missing"
        | "trackloss" | "artifact" | "artefact" | "drift" | "outlier" | "other" => {
            Some(Meaning::Vague)
        }
        _ => None,
    }
}
