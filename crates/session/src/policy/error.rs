//! What can be wrong with a policy, and what it forbids.

use crate::disclosure::DisclosureRefusal;
use crate::{Fingerprint, FingerprintError};
use std::io;
use std::path::PathBuf;

/// A policy that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}{}{}: {problem}", path.display(), in_line(*line), of_key(key.as_deref()))]
pub struct PolicyError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1, where there is one.
    pub line: Option<usize>,
    /// The key, where there is one.
    pub key: Option<String>,
    /// What is wrong.
    pub problem: PolicyProblem,
}

/// What is wrong with a policy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyProblem {
    /// The operating system reported an error.
    #[error(transparent)]
    Io(io::Error),
    /// The file is too large, or not text.
    #[error("this is not a policy: it is too large, or not text in UTF-8")]
    NotText,
    /// It is not TOML.
    #[error("{0}")]
    Syntax(String),
    /// An unknown key.
    #[error("this key is unknown; the keys are {}", known.join(", "))]
    UnknownKey {
        /// The valid keys.
        known: &'static [&'static str],
    },
    /// A required key is missing.
    #[error("this key is missing")]
    MissingKey,
    /// A value of another type.
    #[error("this must be {expected}")]
    WrongType {
        /// What it must be.
        expected: &'static str,
    },
    /// A name that does not exist.
    #[error("{value:?} is unknown; the possible values are {}", known.join(", "))]
    UnknownName {
        /// The name.
        value: String,
        /// The valid names.
        known: Vec<&'static str>,
    },
    /// A number that is too small or too large.
    #[error("this must be between {min} and {max}")]
    OutOfRange {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// An empty list.
    #[error("this list is empty, so nothing would be allowed")]
    Empty,
    /// A fingerprint that is not one.
    #[error(transparent)]
    Fingerprint(FingerprintError),
    /// The same partner twice.
    #[error("this partner is listed twice")]
    Repeated,
    /// A text with control characters.
    #[error("this text has control characters, or characters that change the writing direction")]
    Unprintable,
}

/// A plan that a policy does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the policy does not allow this{}", list(path, forbidden))]
pub struct PolicyRefusal {
    /// The policy.
    pub path: PathBuf,
    /// What it forbids, and where.
    pub forbidden: Vec<Forbidden>,
}

/// A line of a policy that forbids a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    /// The line, from 1; `None` if a default forbids it.
    pub line: Option<usize>,
    /// What it forbids.
    pub rule: PolicyRule,
}

/// What a policy forbids.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyRule {
    /// The policy has expired.
    #[error("it expired on {expires}")]
    Expired {
        /// The last day.
        expires: String,
    },
    /// A partner that is not listed.
    #[error("{partner} is not among the partners")]
    Partner {
        /// The partner's key.
        partner: Fingerprint,
    },
    /// A metric that is not listed.
    #[error("{metric} is not among the metrics")]
    Metric {
        /// The metric.
        metric: String,
    },
    /// An answer that is not listed.
    #[error("{answer} is not among the answers")]
    Answer {
        /// The answer.
        answer: String,
    },
    /// An engine that is not listed.
    #[error("{engine} is not among the engines")]
    Engine {
        /// The engine.
        engine: &'static str,
    },
    /// A group answer that says too much.
    #[error(transparent)]
    Disclosure(DisclosureRefusal),
    /// Too many comparisons of a scanpath.
    #[error("{} comparisons of a scanpath are more than {limit}", number(*.asked))]
    Comparisons {
        /// How many the plan needs, or its user allows.
        asked: u64,
        /// The limit in the policy.
        limit: u64,
    },
}

impl PolicyRule {
    /// The key of the policy.
    pub fn key(&self) -> &'static str {
        match self {
            PolicyRule::Expired { .. } => "expires",
            PolicyRule::Partner { .. } => "partners",
            PolicyRule::Metric { .. } => "metrics",
            PolicyRule::Answer { .. } => "answers",
            PolicyRule::Engine { .. } => "engines",
            PolicyRule::Disclosure(DisclosureRefusal::Budget { .. }) => "answers_per_partner",
            PolicyRule::Disclosure(_) => "minimum_group",
            PolicyRule::Comparisons { .. } => "comparisons_per_scanpath",
        }
    }
}

fn number(count: u64) -> String {
    match count {
        u64::MAX => "unlimited".into(),
        count => count.to_string(),
    }
}

fn in_line(line: Option<usize>) -> String {
    line.map(|line| format!(", line {line}"))
        .unwrap_or_default()
}

fn of_key(key: Option<&str>) -> String {
    key.map(|key| format!(", {key}")).unwrap_or_default()
}

fn list(path: &std::path::Path, forbidden: &[Forbidden]) -> String {
    let lines = forbidden.iter().map(|Forbidden { line, rule }| {
        format!(
            "\n  {}{}, {}: {rule}",
            path.display(),
            in_line(*line),
            rule.key()
        )
    });
    lines.collect()
}
