//! Decides which rows of a table are fixations, by event labels, such as those of REMoDNaV, and by columns of 0 and 1.
//!
//! A column contains labels if its name suggests so and its first values are words for eye movements, or if these have
//! both a word for a fixation and one for another movement. Unknown words are not guessed: their rows are used unless
//! other rows are labelled as fixations, and a note or an assumption lists the words.

use super::columns::{Layout, normalised_name};
use super::indicators::{Exclusion, Indicator, indicators};
use super::label_columns::{Candidate, Counts, LISTED_LABELS, LabelColumn, NameHint};
use super::words::{LabelMeaning, is_loss, meaning};
use crate::{
    Columns, EncodeField, EncodeNote, EventChoice, LabelDoubt, NoEffect, ReadError, ReadOptions,
    Row, Rows, Sink, is_missing,
};
use std::collections::BTreeSet;

/// The verdict of the event columns on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict<'a> {
    /// The row is used.
    Take,
    /// The row is another event, with this label.
    LeaveOut(&'a str),
    /// The eye was lost: a blink.
    Lost,
    /// The tracker marks the row as invalid.
    Invalid,
}

/// The columns about events and the events to take.
pub(super) struct EventFilter {
    labels: Option<LabelColumn>,
    indicators: Vec<(usize, Indicator)>,
    /// The label of the rows that each of the indicators excludes.
    excluded: Vec<String>,
    /// `None` for gaze samples unless the user chooses events: labels then only mark lost samples.
    choice: Option<EventChoice>,
    fixations: bool,
    /// Whether each of the labels that the user asks for has occurred.
    occurred: Vec<bool>,
}

impl EventFilter {
    /// Finds the columns about events and reports how they are used.
    pub(super) fn find(
        columns: &Columns,
        layout: &Layout,
        first_rows: Rows,
        fixations: bool,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<Self, ReadError> {
        let choice = match &options.events {
            None => fixations.then_some(EventChoice::Fixations),
            chosen => chosen.clone(),
        };
        let flags = match choice {
            Some(EventChoice::All | EventChoice::Labels(_)) => Vec::new(),
            _ => indicators(columns, layout),
        };
        let found = LabelValues::read(columns, layout, &flags, first_rows)?;
        let labels = match &choice {
            Some(EventChoice::Labels(wanted)) => Some(found.with_labels(columns, layout, wanted)?),
            _ => found.known_labels(layout),
        };
        let indicators = found.indicators(&flags);
        let excluded = indicators.iter();
        let excluded = excluded.map(|(column, it)| it.label(&columns.names()[*column]));
        let filter = Self {
            excluded: excluded.collect(),
            occurred: match &choice {
                Some(EventChoice::Labels(wanted)) => vec![false; wanted.len()],
                _ => Vec::new(),
            },
            indicators,
            labels,
            choice,
            fixations,
        };
        if filter.labels.is_none()
            && filter.indicators.is_empty()
            && options.events == Some(EventChoice::Fixations)
        {
            return Err(no_labels(columns, "fixations were chosen"));
        }
        if filter.labels.is_none() && options.events == Some(EventChoice::All) {
            sink.note(EncodeNote::NoEffect {
                field: EncodeField::Events,
                reason: NoEffect::NoEventColumn,
            });
        }
        filter.report(columns, &found, sink);
        Ok(filter)
    }

    /// The columns in use, for the summary.
    pub(super) fn columns(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let labels = self.labels.iter().map(|labels| ("event", labels.column));
        let flags = self.indicators.iter();
        labels.chain(flags.map(|(column, indicator)| (indicator.name(), *column)))
    }

    fn report(&self, columns: &Columns, found: &LabelValues, sink: &mut dyn Sink) {
        let name = |column: usize| columns.names()[column].as_str();
        let events = &[EncodeField::Events];
        if let Some(labels) = &self.labels {
            let column = name(labels.column);
            match &self.choice {
                Some(EventChoice::Fixations) if labels.takes_unknown => sink.assumed(
                    &format!(
                        "the column \"{column}\" has event labels, but none is a known word for a fixation; rows of other eye movements were left out, and those with unknown labels{} were used",
                        labels.listed_unknown()
                    ),
                    events,
                ),
                Some(EventChoice::Fixations) => sink.assumed(
                    &format!("the column \"{column}\" has event labels; only fixations were used"),
                    events,
                ),
                Some(_) => sink.assumed(
                    &format!("the column \"{column}\" has event labels; the requested ones were used"),
                    events,
                ),
                None if labels.quotable.iter().any(|label| is_loss(label)) => sink.assumed(
                    &format!("samples that the column \"{column}\" labels as blinks or losses count as lost; those of all other events were used"),
                    events,
                ),
                None => sink.assumed(
                    &format!("the column \"{column}\" has event labels; samples of all events were used"),
                    events,
                ),
            }
        } else if !matches!(self.choice, Some(EventChoice::All))
            && self.indicators.iter().all(|(_, flag)| flag.is_loss())
        {
            for (column, labels, doubt) in found.other_labels() {
                sink.note(EncodeNote::LabelsNotUsed {
                    column: name(column).to_string(),
                    labels: labels.iter().take(LISTED_LABELS).cloned().collect(),
                    more: labels.len().saturating_sub(LISTED_LABELS),
                    doubt,
                });
            }
        }
        for &(column, indicator) in &self.indicators {
            let column = name(column);
            let text = match self.choice.is_some() || indicator.is_loss() {
                true => indicator.rule(column, self.fixations),
                false => {
                    format!("the column \"{column}\" was not used to leave out samples")
                }
            };
            sink.assumed(&text, events);
        }
    }

    /// Whether a row is used.
    pub(super) fn judge<'a>(&'a mut self, row: &Row<'a>) -> Verdict<'a> {
        for (&(column, indicator), label) in self.indicators.iter().zip(&self.excluded) {
            if let Some(why) = indicator.judge(row.text(column), self.choice.is_some()) {
                return match why {
                    Exclusion::OtherEvent => Verdict::LeaveOut(label),
                    // A sample must keep its place in time, so it counts as lost.
                    Exclusion::Invalid if self.fixations => Verdict::Invalid,
                    Exclusion::Invalid | Exclusion::Lost => Verdict::Lost,
                };
            }
        }
        let Some(labels) = &self.labels else {
            return Verdict::Take;
        };
        let label = row.text(labels.column);
        let taken = match &self.choice {
            None if is_loss(label) => return Verdict::Lost,
            None | Some(EventChoice::All) => true,
            Some(EventChoice::Fixations) => match meaning(label) {
                None => labels.takes_unknown && !is_missing(label),
                known => known == Some(LabelMeaning::Fixation),
            },
            Some(EventChoice::Labels(wanted)) => {
                let position = wanted.iter().position(|wanted| is_label(wanted, label));
                if let Some(occurred) = position.and_then(|at| self.occurred.get_mut(at)) {
                    *occurred = true;
                }
                position.is_some()
            }
        };
        match taken {
            true => Verdict::Take,
            false if is_missing(label) => Verdict::LeaveOut("(no label)"),
            // The values of a column with other contents must not fill the summary.
            false if labels.quotable.contains(label) || meaning(label).is_some() => {
                Verdict::LeaveOut(label)
            }
            false => Verdict::LeaveOut("(other)"),
        }
    }

    /// Checks the requested labels after the last row: those that do not occur were mistyped, or are in another column.
    pub(super) fn check(&self, columns: &Columns, sink: &mut dyn Sink) -> Result<(), ReadError> {
        let (Some(EventChoice::Labels(wanted)), Some(labels)) = (&self.choice, &self.labels) else {
            return Ok(());
        };
        let missing: Vec<String> = wanted
            .iter()
            .zip(&self.occurred)
            .filter(|(_, occurred)| !**occurred)
            .map(|(label, _)| label.clone())
            .collect();
        if missing.len() == wanted.len() {
            return Err(no_such_label(columns, labels, &missing));
        }
        if !missing.is_empty() {
            sink.note(EncodeNote::LabelsMissing { labels: missing });
        }
        Ok(())
    }
}

/// The values of possible event columns in the first rows.
struct LabelValues {
    candidates: Vec<Candidate>,
    flags: Vec<bool>,
}

impl LabelValues {
    fn read(
        columns: &Columns,
        layout: &Layout,
        flags: &[(usize, Indicator)],
        mut first_rows: Rows,
    ) -> Result<Self, ReadError> {
        let named = layout.event.map(|column| (column, NameHint::Events));
        let suggested = layout.event_candidates.iter();
        let suggested = suggested.map(|&(column, specific)| match specific {
            true => (column, NameHint::Events),
            false => (column, NameHint::MaybeEvents),
        });
        let others = (0..columns.names().len()).filter(|&column| !layout.uses(column));
        let others = others.map(|column| (column, NameHint::Nothing));
        let mut candidates: Vec<Candidate> = Vec::new();
        for (column, name) in named.into_iter().chain(suggested).chain(others) {
            if !candidates.iter().any(|one| one.column == column) {
                let counts = Counts::default();
                candidates.push(Candidate {
                    column,
                    name,
                    counts,
                });
            }
        }
        let mut seen = vec![(false, true); flags.len()];
        while let Some(row) = first_rows.next_row()? {
            for candidate in &mut candidates {
                candidate.counts.add(row.text(candidate.column));
            }
            for ((column, indicator), (any, all)) in flags.iter().zip(&mut seen) {
                let text = row.text(*column);
                *any |= indicator.is_set(text) == Some(true);
                *all &= is_missing(text) || indicator.is_set(text).is_some();
            }
        }
        // A column of zeros says nothing: some trackers code valid samples as 0.
        let flags = seen.into_iter().map(|(any, all)| any && all).collect();
        Ok(Self { candidates, flags })
    }

    fn indicators(&self, flags: &[(usize, Indicator)]) -> Vec<(usize, Indicator)> {
        let both = flags.iter().zip(&self.flags);
        both.filter(|(_, good)| **good)
            .map(|(flag, _)| *flag)
            .collect()
    }

    /// The column that the user names, else the first whose values are words for eye movements.
    fn known_labels(&self, layout: &Layout) -> Option<LabelColumn> {
        let found = self.candidates.iter().find(|candidate| {
            Some(candidate.column) == layout.event || candidate.has_eye_movements()
        });
        found.map(Candidate::labels)
    }

    /// The column with one of the labels that the user asks for.
    fn with_labels(
        &self,
        columns: &Columns,
        layout: &Layout,
        wanted: &[String],
    ) -> Result<LabelColumn, ReadError> {
        let has_one = |candidate: &&Candidate| {
            let mut labels = candidate.counts.labels.iter();
            candidate.may_have_labels()
                && labels.any(|label| wanted.iter().any(|wanted| is_label(wanted, label)))
        };
        let named = |candidate: &&Candidate| Some(candidate.column) == layout.event;
        let candidates = || self.candidates.iter();
        candidates()
            .find(named)
            .or_else(|| candidates().find(has_one))
            .or_else(|| candidates().find(|candidate| candidate.has_eye_movements()))
            .or_else(|| candidates().find(|candidate| candidate.has_labels()))
            .map(Candidate::labels)
            .ok_or_else(|| no_labels(columns, "events were chosen by their labels"))
    }

    /// Columns that seem to have labels, but with unknown words.
    fn other_labels(&self) -> impl Iterator<Item = (usize, BTreeSet<String>, LabelDoubt)> {
        self.candidates.iter().filter_map(|candidate| {
            let labels = candidate.labels_for_note()?;
            Some((candidate.column, labels, candidate.doubt()))
        })
    }
}

fn is_label(wanted: &str, label: &str) -> bool {
    wanted.trim().eq_ignore_ascii_case(label) || normalised_name(wanted) == normalised_name(label)
}

/// The error if the user chose events but nothing says which rows they are.
fn no_labels(columns: &Columns, chosen: &str) -> ReadError {
    columns
        .error(format!(
            "{chosen}, but no column is known to have event labels"
        ))
        .with_remedy(format!(
            "leave the choice of events out to use all rows, or say which column has the labels; {}",
            columns.listed()
        ))
        .with_fields(&[EncodeField::Events, EncodeField::EventColumn])
}

fn no_such_label(columns: &Columns, labels: &LabelColumn, missing: &[String]) -> ReadError {
    let listed: Vec<&str> = labels.quotable.iter().map(String::as_str).collect();
    let remedy = match listed.len() {
        0 => format!(
            "this column has no labels, or too many; say which column it is; {}",
            columns.listed()
        ),
        _ => format!("the labels are: {}", listed.join(", ")),
    };
    columns
        .error(format!(
            "no row has the requested label {}",
            missing.join(" or ")
        ))
        .at_column(labels.column, &columns.names()[labels.column])
        .with_remedy(remedy)
        .with_fields(&[EncodeField::Events, EncodeField::EventColumn])
}
