//! The outcome of a comparison: results, their cost, and what was revealed to whom.

use crate::{GroupAnswer, PairResult, PlanTile, Results, RevealTo, Spec, Value};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use veilpath_channel::Traffic;
use veilpath_metrics::{Cohort, Symmetry};

/// The outcome of a comparison or of one tile of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The plan.
    pub spec: Spec,
    /// The names of the two cohorts, the first side's first.
    pub names: [String; 2],
    /// Whether both sides are the same cohort. Then every pair occurs in both directions, and every scanpath is also
    /// compared with itself.
    pub one_cohort: bool,
    /// The ids of the first side's scanpaths.
    pub a: Vec<ScanpathId>,
    /// The ids of the second side's scanpaths.
    pub b: Vec<ScanpathId>,
    /// How many pairs the comparison has, even if this side does not get their results.
    pub pairs: u64,
    /// Which part of a plan this is; `None` for the whole plan. [`merge`](crate::merge()) joins the parts.
    pub tile: Option<PlanTile>,
    /// The numbers of every pair; empty if they are for the other side only, and incomplete if a session was interrupted.
    pub results: Results,
    /// The group answers.
    pub answers: Vec<GroupAnswer>,
    /// The largest difference between a score and its double-precision value, if scores are computed with rounded numbers
    /// ([`Spec::error_bound`]).
    pub error_bound: Option<f64>,
    /// The cost.
    pub cost: Cost,
    /// What each side learned.
    pub revealed: Vec<Revealed>,
}

/// The id of a scanpath: its participant and stimulus.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScanpathId {
    /// The participant.
    pub participant: String,
    /// The stimulus.
    pub stimulus: Option<String>,
}

/// What a comparison cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Wall-clock time.
    pub seconds: f64,
    /// Bytes that the side that wrote this outcome sent (the host's side if both ran on this machine).
    pub bytes_sent: u64,
    /// Bytes that this side received.
    pub bytes_received: u64,
    /// How often this side waited for an answer.
    pub rounds: u64,
    /// Matrix cells of all pairs, for lengths as the other side sees them.
    pub cells: u64,
    /// Pairs whose answers were known from an earlier run. The other fields do not count them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pairs_from_journal: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// One thing that one side learned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revealed {
    /// The sides that learned it.
    pub to: RevealTo,
    /// What it learned.
    pub what: String,
}

/// One row of a result file.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultRow<'a> {
    /// The first side's participant.
    pub a: &'a str,
    /// The second side's participant.
    pub b: &'a str,
    /// The stimulus of both; `x|y` if the two differ.
    pub stimulus: Option<Cow<'a, str>>,
    /// One value for each measure.
    pub values: &'a [Value],
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
    /// Default names of the cohorts, as they read in a sentence.
    pub const UNNAMED: [&'static str; 2] = ["the first cohort", "the second cohort"];

    /// The same outcome with other names for the cohorts.
    #[must_use]
    pub fn with_names(self, names: [String; 2]) -> Self {
        Self { names, ..self }
    }

    /// Whether pairs were compared, but the results are for the other side only.
    pub fn is_withheld(&self) -> bool {
        self.pairs > 0 && self.results.is_empty() && self.answers.is_empty()
    }

    /// Whether this contains statistics of an earlier result, and not the results of a comparison.
    pub fn is_statistics(&self) -> bool {
        let asked = self.spec.reveal.group_question().is_some();
        !asked && self.results.is_empty() && !self.answers.is_empty()
    }

    /// Whether the results of some pairs are missing, because a session did not finish.
    pub fn is_incomplete(&self) -> bool {
        !self.results.is_empty() && (self.results.len() as u64) < self.pairs
    }

    /// What happens to a column's number when the two scanpaths of a pair are swapped. A bit is that of the metric's
    /// score, and swapping sets or clears it.
    pub fn symmetry(&self, column: usize) -> Symmetry {
        let measures = self.spec.metric.measures();
        let shown = self.results.measures().get(column);
        let named = measures
            .iter()
            .find(|known| shown.is_some_and(|shown| shown.name == known.name));
        match named.or(measures.first()).map(|known| known.symmetry) {
            Some(Symmetry::Antisymmetric) if named.is_none() => Symmetry::Asymmetric,
            symmetry => symmetry.unwrap_or(Symmetry::Symmetric),
        }
    }

    /// Whether a cohort is compared with itself by a measure that depends on the order of a pair. Then both orders
    /// count.
    pub fn counts_both_orders(&self, column: usize) -> bool {
        self.one_cohort && self.symmetry(column).depends_on_order()
    }

    /// The results as rows with ids.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = ResultRow<'_>> {
        self.results.iter().map(|pair| self.row(pair))
    }

    pub(crate) fn row<'a>(&'a self, pair: PairResult<'a>) -> ResultRow<'a> {
        let (a, b) = (&self.a[pair.a], &self.b[pair.b]);
        ResultRow {
            a: &a.participant,
            b: &b.participant,
            stimulus: joint_stimulus(a, b),
            values: pair.values,
        }
    }
}

/// The stimulus of two scanpaths; `x|y` if the two differ.
pub(crate) fn joint_stimulus<'a>(a: &'a ScanpathId, b: &'a ScanpathId) -> Option<Cow<'a, str>> {
    match (a.stimulus.as_deref(), b.stimulus.as_deref()) {
        (Some(x), Some(y)) if x != y => Some(Cow::Owned(format!("{x}|{y}"))),
        (x, y) => x.or(y).map(Cow::Borrowed),
    }
}

/// The ids of a cohort.
pub(crate) fn scanpath_ids(cohort: &Cohort) -> Vec<ScanpathId> {
    cohort
        .entries
        .iter()
        .map(|entry| ScanpathId {
            participant: entry.participant.clone(),
            stimulus: entry.stimulus.clone(),
        })
        .collect()
}
