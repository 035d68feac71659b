//! The disclosure ledger on disk.

use super::tag::Tag;
use crate::identity::hex;
use crate::locked_file::{EXTENSION, LockedFile, Stored};
use crate::policy::AnswerKind;
use crate::{Fingerprint, StateDir};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const VERSION: u32 = 7;

/// How an answer is divided into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Parts {
    /// One for everything.
    Single,
    /// One for each stimulus.
    Stimuli,
    /// One for each group.
    Groups,
    /// One for everything, counted by score ranges: a histogram.
    Ranges,
    /// One for everything, but with a result for each scanpath: the groups of the nearest.
    Named,
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

impl Parts {
    pub(super) fn of(kind: AnswerKind, overall: bool) -> Self {
        match kind {
            AnswerKind::Score | AnswerKind::Threshold => Parts::Pairs,
            AnswerKind::Mean if !overall => Parts::Stimuli,
            AnswerKind::Groups
            | AnswerKind::TestGroups
            | AnswerKind::PublishedGroups
            | AnswerKind::PublishedTestGroups
            | AnswerKind::Nearest => Parts::Groups,
            AnswerKind::Histogram => Parts::Ranges,
            AnswerKind::Mean | AnswerKind::TestSites => Parts::Single,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Member {
    pub(super) participant: Tag,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) group: Option<Tag>,
    /// The different scanpaths, in ascending order.
    pub(super) scanpaths: Vec<CountedScanpath>,
    /// How many scanpaths the participant has of each stimulus, including empty ones, in ascending order. Where participants
    /// have equal weights, the weight of each scanpath follows from these.
    pub(super) scanpaths_per_stimulus: Vec<(Tag, u32)>,
}

/// A scanpath of a participant, and how often it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CountedScanpath {
    pub(super) stimulus: Tag,
    pub(super) content: Tag,
    pub(super) count: u32,
}

/// An array in the file, which has many of them.
impl Serialize for CountedScanpath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.stimulus, self.content, self.count).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CountedScanpath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (stimulus, content, count) = Deserialize::deserialize(deserializer)?;
        Ok(Self {
            stimulus,
            content,
            count,
        })
    }
}

/// An answer, and who was in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) agreement: String,
    pub(super) parts: Parts,
    pub(super) weights: Weights,
    pub(super) by_stimulus: bool,
    pub(super) counts_as: u32,
    /// How the scanpaths were made.
    pub(super) encoding: Option<Tag>,
    /// In the order of their tags.
    pub(super) cohort: Vec<Member>,
}

/// What an answer was about. Answers about the same participants share the list of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerView<'a> {
    pub(super) parts: Parts,
    pub(super) weights: Weights,
    pub(super) by_stimulus: bool,
    pub(super) encoding: Option<Tag>,
    pub(super) cohort: &'a [Member],
}

impl Answer {
    pub(super) fn view(&self) -> AnswerView<'_> {
        AnswerView {
            parts: self.parts,
            weights: self.weights,
            by_stimulus: self.by_stimulus,
            encoding: self.encoding,
            cohort: &self.cohort,
        }
    }
}

/// An answer in the file: answers about the same participants share the list of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredAnswer {
    agreement: String,
    parts: Parts,
    weights: Weights,
    by_stimulus: bool,
    counts_as: u32,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    encoding: Option<Tag>,
    cohort: String,
}

/// What was disclosed to one partner.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Disclosures {
    version: u32,
    answers: Vec<StoredAnswer>,
    cohorts: BTreeMap<String, Vec<Member>>,
    pub(super) withdrawn: BTreeSet<Tag>,
}

impl Disclosures {
    /// What all group answers count as together.
    pub(super) fn cost(&self) -> u32 {
        let about_groups = self.answers.iter().filter(|it| it.parts != Parts::Pairs);
        about_groups.fold(0, |sum: u32, it| sum.saturating_add(it.counts_as))
    }

    pub(super) fn has(&self, agreement: &str) -> bool {
        self.answers.iter().any(|it| it.agreement == agreement)
    }

    /// Whether a participant was in any answer.
    pub(super) fn contains_participant(&self, participant: Tag) -> bool {
        let mut cohorts = self.cohorts.values();
        cohorts.any(|cohort| contains(cohort, participant))
    }

    pub(super) fn answers(&self) -> impl Iterator<Item = AnswerView<'_>> {
        let cohort = |answer: &StoredAnswer| self.cohorts.get(&answer.cohort);
        self.answers.iter().map(move |answer| AnswerView {
            parts: answer.parts,
            weights: answer.weights,
            by_stimulus: answer.by_stimulus,
            encoding: answer.encoding,
            cohort: cohort(answer).map_or(&[], Vec::as_slice),
        })
    }

    pub(super) fn push(&mut self, answer: Answer) {
        // Members are sorted, so the text of a cohort is always the same.
        let text = serde_json::to_vec(&answer.cohort).unwrap_or_default();
        let cohort = hex(&digest(&SHA256, &text).as_ref()[..16]);
        self.cohorts.insert(cohort.clone(), answer.cohort);
        self.answers.push(StoredAnswer {
            agreement: answer.agreement,
            parts: answer.parts,
            weights: answer.weights,
            by_stimulus: answer.by_stimulus,
            counts_as: answer.counts_as,
            encoding: answer.encoding,
            cohort,
        });
    }
}

impl Stored for Disclosures {
    fn parse(text: &[u8]) -> Option<Self> {
        let parsed: Self = serde_json::from_slice(text).ok()?;
        let mut answers = parsed.answers.iter();
        let complete = answers.all(|it| parsed.cohorts.contains_key(&it.cohort));
        let sorted = parsed.cohorts.values().all(|cohort| {
            let members_sorted = cohort.is_sorted_by(|a, b| a.participant < b.participant);
            members_sorted && cohort.iter().all(Member::is_sorted)
        });
        (parsed.version == VERSION && complete && sorted).then_some(parsed)
    }

    fn set_version(&mut self) {
        self.version = VERSION;
    }
}

impl Member {
    fn is_sorted(&self) -> bool {
        let content = |it: &CountedScanpath| (it.stimulus, it.content);
        self.scanpaths.is_sorted_by(|a, b| content(a) < content(b))
            && self.scanpaths_per_stimulus.is_sorted_by(|a, b| a.0 < b.0)
    }
}

/// A participant in a cohort.
pub(super) fn find(cohort: &[Member], participant: Tag) -> Option<&Member> {
    let found = cohort.binary_search_by_key(&participant, |it| it.participant);
    cohort.get(found.ok()?)
}

/// Whether a participant is in a cohort.
pub(super) fn contains(cohort: &[Member], participant: Tag) -> bool {
    find(cohort, participant).is_some()
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
