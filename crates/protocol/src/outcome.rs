//! What a comparison gives: answers, what they cost, and what was revealed to whom.

use crate::{Answer, Spec, Traffic};
use serde::Serialize;
use std::borrow::Cow;
use veilpath_metrics::Cohort;

/// The result of a whole comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What was computed, and how.
    pub spec: Spec,
    /// The ids of the first side.
    pub a: Vec<Label>,
    /// The ids of the second side.
    pub b: Vec<Label>,
    /// The answers, in the order of the pairs.
    pub results: Vec<Scored>,
    /// What it cost.
    pub cost: Cost,
    /// What each side learned.
    pub revealed: Vec<Revealed>,
}

/// A scanpath's ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Who looked.
    pub participant: String,
    /// At what.
    pub stimulus: Option<String>,
}

/// One pair's answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    /// Index into the first side's ids.
    pub a: usize,
    /// Index into the second side's ids.
    pub b: usize,
    /// The score, or the bit.
    pub answer: Answer,
}

/// What a comparison cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, serde::Deserialize)]
pub struct Cost {
    /// Time on the clock.
    pub seconds: f64,
    /// Bytes that the first side (here: the host) sent.
    pub bytes_sent: u64,
    /// Bytes that it received.
    pub bytes_received: u64,
    /// How often it waited for an answer.
    pub rounds: u64,
    /// Matrix cells of all pairs, as long as the two sides see them.
    pub cells: u64,
    /// Pairs whose answers were known from an earlier run: nothing here is about those.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pairs_from_journal: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// One thing that one side learned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Revealed {
    /// Who learned it.
    pub to: String,
    /// What.
    pub what: String,
}

/// One row of a result file.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultRow<'a> {
    /// The first side's participant.
    pub a: &'a str,
    /// The second side's participant.
    pub b: &'a str,
    /// What both looked at; `x|y` where they looked at different things.
    pub stimulus: Option<Cow<'a, str>>,
    /// The score, or the bit.
    pub answer: Answer,
}

impl Cost {
    /// The cost without its time, which the caller measures.
    pub fn of(traffic: Traffic, cells: u64) -> Self {
        Self {
            seconds: 0.0,
            bytes_sent: traffic.sent,
            bytes_received: traffic.received,
            rounds: traffic.rounds,
            cells,
            pairs_from_journal: 0,
        }
    }
}

impl Outcome {
    /// The results as rows with ids.
    pub fn rows(&self) -> impl Iterator<Item = ResultRow<'_>> {
        self.results.iter().map(|scored| {
            let (a, b) = (&self.a[scored.a], &self.b[scored.b]);
            let stimulus = match (a.stimulus.as_deref(), b.stimulus.as_deref()) {
                (Some(x), Some(y)) if x != y => Some(Cow::Owned(format!("{x}|{y}"))),
                (x, y) => x.or(y).map(Cow::Borrowed),
            };
            ResultRow {
                a: &a.participant,
                b: &b.participant,
                stimulus,
                answer: scored.answer,
            }
        })
    }
}

/// The ids of a cohort.
pub(crate) fn labels(cohort: &Cohort) -> Vec<Label> {
    cohort
        .entries
        .iter()
        .map(|entry| Label {
            participant: entry.participant.clone(),
            stimulus: entry.stimulus.clone(),
        })
        .collect()
}
