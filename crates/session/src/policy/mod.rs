//! What may leave this institution, written down once in `policy.toml`.
//!
//! A policy lists the partners, metrics and answers that are allowed, until a given day. Any other plan is refused
//! before anything is sent, and the error names the line that forbids it.

mod error;
mod parse;

pub use error::{Forbidden, PolicyError, PolicyProblem, PolicyRefusal, PolicyRule};

use crate::disclosure::DisclosureRefusal;
use crate::{Fingerprint, ScanpathLimit, StateDir, date};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use veilpath_protocol::{EngineChoice, GroupQuestion, Reveal};

/// The default minimum size of a group.
pub const DEFAULT_MINIMUM_GROUP: u32 = 5;

/// The smallest group that may be allowed: an answer about two tells each of them about the other.
pub const MIN_GROUP_SIZE: u32 = 3;

/// The default number of group answers for one partner.
pub const DEFAULT_ANSWERS_PER_PARTNER: u32 = 20;

/// The metrics by name.
const METRICS: [&str; 11] = [
    "levenshtein",
    "needleman-wunsch",
    "smith-waterman",
    "scanmatch",
    "sequence-score",
    "dtw",
    "frechet",
    "hausdorff",
    "crqa",
    "scasim",
    "subsmatch",
];

/// The engines by name.
const ENGINES: [&str; 4] = ["garbled", "shares", "paillier", "plain"];

/// The engines that a policy allows if it names none: those that are proven.
const DEFAULT_ENGINES: [&str; 2] = ["garbled", "shares"];

/// A commented policy to start from.
pub const POLICY_EXAMPLE: &str = include_str!("example.toml");

/// A kind of answer, as in a plan but without its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnswerKind {
    /// The score of every pair.
    Score,
    /// One bit of every pair.
    Threshold,
    /// A mean per stimulus, or over all.
    Mean,
    /// A mean for each pair of groups.
    Groups,
    /// A test whether the two sites differ.
    TestSites,
    /// A test whether groups differ.
    TestGroups,
    /// A mean for each pair of groups, with published groups.
    PublishedGroups,
    /// A test whether groups differ, with published groups.
    PublishedTestGroups,
    /// The majority group of the nearest scanpaths.
    Nearest,
    /// How many pairs have scores in each range.
    Histogram,
}

impl AnswerKind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Score,
        Self::Threshold,
        Self::Mean,
        Self::Groups,
        Self::TestSites,
        Self::TestGroups,
        Self::PublishedGroups,
        Self::PublishedTestGroups,
        Self::Nearest,
        Self::Histogram,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::Threshold => "threshold",
            Self::Mean => "mean",
            Self::Groups => "groups",
            Self::TestSites => "test:sites",
            Self::TestGroups => "test:groups",
            Self::PublishedGroups => "groups,published",
            Self::PublishedTestGroups => "test:groups,published",
            Self::Nearest => "nearest",
            Self::Histogram => "histogram",
        }
    }

    /// Whether it is a group answer, and not about single pairs.
    pub fn is_group_answer(self) -> bool {
        !matches!(self, Self::Score | Self::Threshold)
    }

    /// The kind of an answer.
    pub fn of(reveal: Reveal) -> Self {
        let question = match reveal {
            Reveal::Score => return Self::Score,
            Reveal::Threshold(_) => return Self::Threshold,
            Reveal::Group(question) => question,
        };
        match (question, question.publishes_groups()) {
            (GroupQuestion::Mean { .. }, _) => Self::Mean,
            (GroupQuestion::Groups { .. }, false) => Self::Groups,
            (GroupQuestion::Groups { .. }, true) => Self::PublishedGroups,
            (GroupQuestion::TestSites { .. }, _) => Self::TestSites,
            (GroupQuestion::TestGroups { .. }, false) => Self::TestGroups,
            (GroupQuestion::TestGroups { .. }, true) => Self::PublishedTestGroups,
            (GroupQuestion::Nearest { .. }, _) => Self::Nearest,
            (GroupQuestion::Histogram { .. }, _) => Self::Histogram,
        }
    }
}

/// A value, and the line of the policy that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WithLine<T> {
    line: usize,
    value: T,
}

/// A partner that a policy allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyPartner {
    /// Its name.
    pub name: String,
    /// Its key.
    pub fingerprint: Fingerprint,
}

/// Texts for the document about a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyTexts {
    /// This institution.
    pub institution: Option<String>,
    /// What the comparison is for.
    pub purpose: Option<String>,
    /// The legal basis.
    pub legal_basis: Option<String>,
    /// Whom participants can ask.
    pub contact: Option<String>,
    /// How long results and the files of sessions are kept.
    pub retention: Option<String>,
}

/// What may leave this institution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    path: PathBuf,
    /// The last day, as in 2027-06-30.
    expires: WithLine<String>,
    metrics: WithLine<Vec<String>>,
    answers: WithLine<Vec<AnswerKind>>,
    partners: WithLine<Vec<PolicyPartner>>,
    engines: Option<WithLine<Vec<String>>>,
    minimum_group: Option<WithLine<u32>>,
    comparisons_per_scanpath: Option<WithLine<u64>>,
    answers_per_partner: Option<WithLine<u32>>,
    texts: PolicyTexts,
}

/// What a policy is asked about.
#[derive(Clone, Debug)]
pub struct PolicyRequest<'a> {
    /// The partners.
    pub partners: &'a [Fingerprint],
    /// How it is computed.
    pub engine: EngineChoice,
    /// The name of the metric.
    pub metric: &'a str,
    /// What is revealed.
    pub reveal: Reveal,
    /// The most comparisons of a scanpath that this side's user allows.
    pub limit: ScanpathLimit,
    /// Now.
    pub time: SystemTime,
}

impl Policy {
    /// Reads a policy.
    pub fn read(path: &Path) -> Result<Self, PolicyError> {
        parse::read(path, || std::fs::File::open(path))
    }

    /// Reads a policy from any reader. `name` appears in errors.
    pub fn read_from(name: &Path, reader: impl Read) -> Result<Self, PolicyError> {
        parse::read(name, || Ok(reader))
    }

    /// The policy in a text; the path is for errors.
    pub fn parse(path: &Path, text: &str) -> Result<Self, PolicyError> {
        parse::parse(path, text)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The last day on which it holds.
    pub fn expires(&self) -> &str {
        &self.expires.value
    }

    /// The metrics that it allows.
    pub fn metrics(&self) -> &[String] {
        &self.metrics.value
    }

    /// The answers that it allows.
    pub fn answers(&self) -> &[AnswerKind] {
        &self.answers.value
    }

    /// The partners that it allows.
    pub fn partners(&self) -> &[PolicyPartner] {
        &self.partners.value
    }

    /// The engines that it allows.
    pub fn engines(&self) -> Vec<&str> {
        match &self.engines {
            Some(engines) => engines.value.iter().map(String::as_str).collect(),
            None => DEFAULT_ENGINES.to_vec(),
        }
    }

    /// The partner with this key.
    pub fn partner(&self, key: Fingerprint) -> Option<&PolicyPartner> {
        self.partners().iter().find(|it| it.fingerprint == key)
    }

    /// The fewest participants that a group answer may be about.
    pub fn minimum_group(&self) -> u32 {
        let set = self.minimum_group.as_ref();
        set.map_or(DEFAULT_MINIMUM_GROUP, |it| it.value)
    }

    /// The most group answers for one partner.
    pub fn answers_per_partner(&self) -> u32 {
        let set = self.answers_per_partner.as_ref();
        set.map_or(DEFAULT_ANSWERS_PER_PARTNER, |it| it.value)
    }

    /// The most comparisons of one scanpath with one partner, where the policy says.
    pub fn comparisons_per_scanpath(&self) -> Option<u64> {
        self.comparisons_per_scanpath.as_ref().map(|it| it.value)
    }

    /// Texts for the document about a plan.
    pub fn texts(&self) -> &PolicyTexts {
        &self.texts
    }

    /// The limit of a scanpath under this policy.
    pub fn limit(&self, limit: ScanpathLimit) -> ScanpathLimit {
        match (limit, self.comparisons_per_scanpath()) {
            (ScanpathLimit::Default, Some(limit)) => ScanpathLimit::DefaultUpTo(limit),
            (limit, _) => limit,
        }
    }

    /// Refuses what the policy does not allow, with every line that forbids it.
    pub fn check(&self, request: &PolicyRequest<'_>) -> Result<(), PolicyRefusal> {
        let mut forbidden = Vec::new();
        let mut forbid = |line: usize, rule: PolicyRule| {
            let line = Some(line);
            forbidden.push(Forbidden { line, rule });
        };
        let today = date::date(request.time);
        if today > self.expires.value {
            let expires = self.expires.value.clone();
            forbid(self.expires.line, PolicyRule::Expired { expires });
        }
        for &partner in request.partners {
            if self.partner(partner).is_none() {
                forbid(self.partners.line, PolicyRule::Partner { partner });
            }
        }
        if !self.metrics().iter().any(|it| it == request.metric) {
            let metric = request.metric.to_string();
            forbid(self.metrics.line, PolicyRule::Metric { metric });
        }
        if !self.answers().contains(&AnswerKind::of(request.reveal)) {
            let answer = request.reveal.to_string();
            forbid(self.answers.line, PolicyRule::Answer { answer });
        }
        let engines = self.engines();
        let not_allowed = match request.engine {
            // Either may be chosen.
            EngineChoice::Auto => DEFAULT_ENGINES.iter().any(|it| !engines.contains(it)),
            other => !engines.contains(&other.representative().name()),
        };
        if not_allowed {
            let engine = match request.engine {
                EngineChoice::Auto => EngineChoice::AUTO,
                other => other.representative().name(),
            };
            forbidden.push(Forbidden {
                line: self.engines.as_ref().map(|it| it.line),
                rule: PolicyRule::Engine { engine },
            });
        }
        if let Some(WithLine { line, value: limit }) = self.comparisons_per_scanpath {
            let asked = match request.limit {
                ScanpathLimit::Count(asked) => Some(asked),
                ScanpathLimit::Unlimited => Some(u64::MAX),
                ScanpathLimit::Default | ScanpathLimit::DefaultUpTo(_) => None,
            };
            if let Some(asked) = asked.filter(|&asked| asked > limit) {
                forbidden.push(Forbidden {
                    line: Some(line),
                    rule: PolicyRule::Comparisons { asked, limit },
                });
            }
        }
        self.refusal(forbidden)
    }

    /// Refuses a plan that turned out to need this many comparisons of a scanpath, if a line of the policy allows fewer.
    pub fn check_comparisons(&self, asked: u64) -> Result<(), PolicyRefusal> {
        let set = self.comparisons_per_scanpath.as_ref();
        let exceeded = set.filter(|set| asked > set.value).map(|set| Forbidden {
            line: Some(set.line),
            rule: PolicyRule::Comparisons {
                asked,
                limit: set.value,
            },
        });
        self.refusal(exceeded.into_iter().collect())
    }

    /// Names the line of the policy because of which a group answer was refused. Returns `Ok` if the reason was the
    /// partner's minimum or a default.
    pub fn check_refused_disclosure(
        &self,
        refusal: &DisclosureRefusal,
    ) -> Result<(), PolicyRefusal> {
        let budget = matches!(refusal, DisclosureRefusal::Budget { .. });
        let set = match refusal.minimum() {
            Some(minimum) => self.minimum_group.as_ref().filter(|it| it.value == minimum),
            None => self.answers_per_partner.as_ref().filter(|_| budget),
        };
        let forbidden = set.map(|set| Forbidden {
            line: Some(set.line),
            rule: PolicyRule::Disclosure(refusal.clone()),
        });
        self.refusal(forbidden.into_iter().collect())
    }

    fn refusal(&self, forbidden: Vec<Forbidden>) -> Result<(), PolicyRefusal> {
        match forbidden.is_empty() {
            true => Ok(()),
            false => Err(PolicyRefusal {
                path: self.path.clone(),
                forbidden,
            }),
        }
    }
}

impl StateDir {
    /// The policy that applies unless the user names another one.
    pub fn policy(&self) -> PathBuf {
        self.folder().join("policy.toml")
    }
}

#[cfg(test)]
mod tests;
