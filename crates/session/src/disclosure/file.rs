//! The disclosure ledger on disk.

use crate::identity::hex;
use crate::locked_file::{EXTENSION, LockedFile, Stored};
use crate::policy::AnswerKind;
use crate::{Fingerprint, StateDir};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const VERSION: u32 = 3;

/// How an answer is divided into cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Cells {
    /// One for everything.
    #[serde(rename = "one")]
    Single,
    /// One for each stimulus.
    Stimuli,
    /// One for each group.
    Groups,
    /// One for everything, counted by score ranges: a histogram.
    Ranges,
    /// One for each pair: a session about scores or thresholds.
    Pairs,
}

/// What has equal weight in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Weights {
    /// Every scanpath.
    Scanpaths,
    /// Every participant.
    Participants,
}

impl Cells {
    pub(super) fn of(kind: AnswerKind, overall: bool) -> Self {
        match kind {
            AnswerKind::Score | AnswerKind::Threshold => Cells::Pairs,
            AnswerKind::Mean if !overall => Cells::Stimuli,
            AnswerKind::Groups
            | AnswerKind::TestGroups
            | AnswerKind::PublishedGroups
            | AnswerKind::PublishedTestGroups
            | AnswerKind::Nearest => Cells::Groups,
            AnswerKind::Histogram => Cells::Ranges,
            AnswerKind::Mean | AnswerKind::TestSites => Cells::Single,
        }
    }
}

impl Weights {
    pub(super) fn of(kind: AnswerKind) -> Self {
        match kind {
            AnswerKind::Groups
            | AnswerKind::TestSites
            | AnswerKind::TestGroups
            | AnswerKind::PublishedGroups
            | AnswerKind::PublishedTestGroups => Weights::Participants,
            _ => Weights::Scanpaths,
        }
    }
}

/// A participant in an answer, with tags instead of names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Member {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) group: Option<String>,
    /// For each stimulus, the different scanpaths, and how often each occurs.
    pub(super) scanpaths: BTreeMap<String, BTreeMap<String, u32>>,
    /// The number of scanpaths of each stimulus, empty ones included, on which the weight of each depends where participants
    /// have equal weights.
    pub(super) weight: BTreeMap<String, u32>,
}

/// An answer, and who was in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) agreement: String,
    pub(super) cells: Cells,
    pub(super) weights: Weights,
    pub(super) by_stimulus: bool,
    pub(super) counts_as: u32,
    pub(super) cohort: BTreeMap<String, Member>,
}

/// An answer in the file: answers about the same participants share the list of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredAnswer {
    agreement: String,
    cells: Cells,
    weights: Weights,
    by_stimulus: bool,
    counts_as: u32,
    cohort: String,
}

/// What was disclosed to one partner.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Disclosures {
    version: u32,
    answers: Vec<StoredAnswer>,
    cohorts: BTreeMap<String, BTreeMap<String, Member>>,
    pub(super) withdrawn: BTreeSet<String>,
}

impl Disclosures {
    /// The cost of all group answers, in units of the budget.
    pub(super) fn cost(&self) -> u32 {
        let about_groups = self.answers.iter().filter(|it| it.cells != Cells::Pairs);
        about_groups.fold(0, |sum: u32, it| sum.saturating_add(it.counts_as))
    }

    pub(super) fn has(&self, agreement: &str) -> bool {
        self.answers.iter().any(|it| it.agreement == agreement)
    }

    /// Whether a participant was in any answer.
    pub(super) fn contains_participant(&self, participant: &str) -> bool {
        let mut cohorts = self.cohorts.values();
        cohorts.any(|cohort| cohort.contains_key(participant))
    }

    pub(super) fn answers(&self) -> Vec<Answer> {
        let stored = self.answers.iter();
        stored
            .map(|answer| Answer {
                agreement: answer.agreement.clone(),
                cells: answer.cells,
                weights: answer.weights,
                by_stimulus: answer.by_stimulus,
                counts_as: answer.counts_as,
                cohort: self
                    .cohorts
                    .get(&answer.cohort)
                    .cloned()
                    .unwrap_or_default(),
            })
            .collect()
    }

    pub(super) fn push(&mut self, answer: Answer) {
        // The text of a map with sorted keys is always the same.
        let text = serde_json::to_vec(&answer.cohort).unwrap_or_default();
        let cohort = hex(&digest(&SHA256, &text).as_ref()[..16]);
        self.cohorts.insert(cohort.clone(), answer.cohort);
        self.answers.push(StoredAnswer {
            agreement: answer.agreement,
            cells: answer.cells,
            weights: answer.weights,
            by_stimulus: answer.by_stimulus,
            counts_as: answer.counts_as,
            cohort,
        });
    }
}

impl Stored for Disclosures {
    fn parse(text: &[u8]) -> Option<Self> {
        let parsed: Self = serde_json::from_slice(text).ok()?;
        let mut answers = parsed.answers.iter();
        let complete = answers.all(|it| parsed.cohorts.contains_key(&it.cohort));
        (parsed.version == VERSION && complete).then_some(parsed)
    }

    fn set_version(&mut self) {
        self.version = VERSION;
    }
}

/// The name of an agreement in the ledger.
pub(super) fn key(agreement: &[u8; 32]) -> String {
    hex(&agreement[..16])
}

/// The ledger of one partner; without a folder, nothing is stored.
pub(super) type DisclosuresFile = LockedFile<Disclosures>;

impl DisclosuresFile {
    pub(super) fn of(folder: Option<&Path>, partner: Fingerprint) -> Self {
        Self::at(folder.map(|folder| folder.join(format!("{}.{EXTENSION}", partner.plain()))))
    }
}

impl StateDir {
    pub(crate) fn disclosures(&self) -> PathBuf {
        self.folder().join("disclosures")
    }
}
