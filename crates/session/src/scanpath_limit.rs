//! How often one scanpath may be compared with one peer.

use veilpath_metrics::{Cohort, MetricError};
use veilpath_protocol::{DefaultLimit, Engine, Role, Spec};

/// The most comparisons of one scanpath of this side with one peer, in all sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScanpathLimit {
    /// What the plan and the length of the scanpath suggest ([`DefaultLimit`]). The engine `plain` hides nothing, and has no
    /// limit.
    #[default]
    Default,
    /// The same for every scanpath.
    Count(u64),
    /// As many as the peer likes.
    Unlimited,
}

/// The limit of a session and what it is used for, for this side's user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitSummary {
    /// The smallest and the largest limit of this side's scanpaths; `None` without a limit.
    pub limits: Option<(u64, u64)>,
    /// Whether it is the default.
    pub is_default: bool,
    /// The smallest and the largest default limit of this plan; `None` if the plan has none.
    pub defaults: Option<(u64, u64)>,
    /// How many letters the default assumes, where no alphabet is declared.
    pub assumed_letters: Option<u32>,
    /// Whether the comparisons of all scanpaths of this side count together.
    pub of_all: bool,
    /// The most comparisons of one scanpath of this side, or of all where these count together, with those of earlier sessions.
    pub needed: u64,
}

/// The limit of each scanpath of a cohort.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// The one that the user has set, if it is not the default.
    pub(crate) chosen: Option<Vec<u64>>,
    /// The default of the plan.
    pub(crate) default: Vec<u64>,
    /// How many letters the default assumes, where no alphabet is declared.
    pub(crate) assumed_letters: Option<u32>,
    /// Whether a comparison of this plan counts for every scanpath, under the default.
    pub(crate) of_all: bool,
}

impl ScanpathLimit {
    /// The limits under this plan.
    pub(crate) fn of(
        self,
        spec: &Spec,
        role: Role,
        cohort: &Cohort,
    ) -> Result<Limits, MetricError> {
        let entries = cohort.entries.iter();
        let default = match spec.engine {
            Engine::Plain => None,
            _ => Some(DefaultLimit::new(spec)?),
        };
        let all = |limit: u64| Some(vec![limit; cohort.entries.len()]);
        Ok(Limits {
            chosen: match self {
                ScanpathLimit::Default => None,
                ScanpathLimit::Count(count) => all(count),
                ScanpathLimit::Unlimited => all(u64::MAX),
            },
            default: entries
                .map(|entry| match &default {
                    None => u64::MAX,
                    Some(limit) => limit.comparisons(entry.scanpath.len() as u64),
                })
                .collect(),
            assumed_letters: default.and_then(|limit| limit.assumed_letters()),
            of_all: spec.engine.answers_concern_all(role),
        })
    }

    /// The limits that apply, for this side's user.
    pub(crate) fn summary(self, limits: &[u64], plan: &Limits, needed: u64) -> LimitSummary {
        LimitSummary {
            limits: range(limits),
            is_default: self == ScanpathLimit::Default,
            of_all: plan.of_all && self == ScanpathLimit::Default,
            defaults: range(&plan.default),
            assumed_letters: plan.assumed_letters,
            needed,
        }
    }
}

/// The smallest and the largest limit.
fn range(limits: &[u64]) -> Option<(u64, u64)> {
    let limited = limits.iter().copied().filter(|&limit| limit < u64::MAX);
    limited.clone().min().zip(limited.max())
}
