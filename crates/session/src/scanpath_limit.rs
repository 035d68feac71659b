//! How often one scanpath may be compared with one peer.

use crate::error::{ExceededLimit, LimitOrigin};
use crate::ledger::{LimitsInForce, Totals};
use serde::{Deserialize, Serialize};
use veilpath_metrics::{Cohort, MetricError};
use veilpath_protocol::{DefaultLimit, Engine, Role, Spec};

/// The most comparisons of one scanpath of this side with one peer, in all sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScanpathLimit {
    /// The default for the plan and the length of the scanpath ([`DefaultLimit`]). The engine `plain` hides nothing, and has no
    /// limit.
    #[default]
    Default,
    /// The default, but at most this many, as the policy requires.
    DefaultUpTo(u64),
    /// This many for every scanpath.
    Count(u64),
    /// No limit.
    Unlimited,
}

/// The limit of a session and how much of it is used, for this side's user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSummary {
    /// The smallest and the largest limit of this side's scanpaths; `None` without a limit.
    pub limits: Option<(u64, u64)>,
    /// Where they come from.
    pub origin: LimitOrigin,
    /// The smallest and the largest limit by default; `None` if there is none.
    pub defaults: Option<(u64, u64)>,
    /// Whether the default counts the comparisons of all scanpaths of this side together.
    pub default_counts_together: bool,
    /// How many letters the default assumes, where this side declares none.
    pub assumed_letters: Option<u32>,
    /// The most comparisons so far of one scanpath of this side, or of all where these count together.
    pub before: u64,
    /// The same after this plan; possibly of another scanpath.
    pub after: u64,
    /// The most that this plan adds to one scanpath, or to all where these count together.
    pub added: u64,
    /// The limit that this plan exceeds. A session that only estimates continues anyway.
    pub exceeded: Option<ExceededLimit>,
}

impl LimitSummary {
    /// Whether it is the default.
    pub fn is_default(&self) -> bool {
        !matches!(self.origin, LimitOrigin::Chosen | LimitOrigin::Policy)
    }

    /// Whether the comparisons of all scanpaths of this side count together.
    pub fn counts_together(&self) -> bool {
        self.default_counts_together && self.origin != LimitOrigin::Chosen
    }

    pub(crate) fn new(in_force: &LimitsInForce, plan: &Limits, totals: Totals) -> Self {
        Self {
            limits: range(&in_force.limits),
            origin: in_force.origin,
            defaults: range(&in_force.defaults),
            default_counts_together: plan.about_any,
            assumed_letters: plan.assumed_letters,
            before: totals.before,
            after: totals.after,
            added: totals.added,
            exceeded: totals.exceeded,
        }
    }
}

/// The limit of each scanpath of a cohort.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    /// The limit that the user has set, if it is not the default.
    pub(crate) chosen: Option<Vec<u64>>,
    /// The default of the plan.
    pub(crate) default: Vec<u64>,
    /// The most that the policy allows.
    pub(crate) policy: Option<u64>,
    /// How many letters the default assumes, where this side declares none.
    pub(crate) assumed_letters: Option<u32>,
    /// Whether answers of this plan may be about any scanpath. Under the default, every comparison then counts for all.
    pub(crate) about_any: bool,
    /// The length that all scanpaths are padded to.
    pub(crate) pad_to: Option<u32>,
}

impl ScanpathLimit {
    /// The smallest and the largest limit under this plan, before anything is known about the peer; `None` without a limit. An
    /// earlier plan with the same peer may have left a smaller one.
    pub fn range(
        self,
        spec: &Spec,
        role: Role,
        cohort: &Cohort,
        declared_letters: Option<u32>,
    ) -> Result<Option<(u64, u64)>, MetricError> {
        let limits = self.of(spec, role, cohort, declared_letters)?;
        let policy_limit = limits.policy.unwrap_or(u64::MAX);
        let default = limits
            .default
            .into_iter()
            .map(|limit| limit.min(policy_limit));
        Ok(range(&limits.chosen.unwrap_or(default.collect())))
    }

    /// The limits under this plan, on a side that declares this many letters.
    pub(crate) fn of(
        self,
        spec: &Spec,
        role: Role,
        cohort: &Cohort,
        declared_letters: Option<u32>,
    ) -> Result<Limits, MetricError> {
        let lengths = cohort.entries.iter();
        let lengths = lengths.map(|entry| entry.scanpath.len() as u64);
        let about_any = spec.engine.exposes_any_scanpath(role);
        let longest = lengths.clone().max().filter(|_| about_any).unwrap_or(0);
        let default = match spec.engine {
            Engine::Plain => None,
            _ => Some(DefaultLimit::new(spec, declared_letters)?.for_any_scanpath_up_to(longest)),
        };
        let all = |limit: u64| Some(vec![limit; cohort.entries.len()]);
        Ok(Limits {
            chosen: match self {
                ScanpathLimit::Default | ScanpathLimit::DefaultUpTo(_) => None,
                ScanpathLimit::Count(count) => all(count),
                ScanpathLimit::Unlimited => all(u64::MAX),
            },
            default: lengths
                .map(|length| match &default {
                    None => u64::MAX,
                    Some(limit) => limit.comparisons(length),
                })
                .collect(),
            policy: match self {
                ScanpathLimit::DefaultUpTo(limit) => Some(limit),
                _ => None,
            },
            assumed_letters: default.and_then(|limit| limit.assumed_letters()),
            about_any,
            pad_to: spec.pad_to,
        })
    }
}

/// The smallest and the largest limit.
fn range(limits: &[u64]) -> Option<(u64, u64)> {
    let limited = limits.iter().copied().filter(|&limit| limit < u64::MAX);
    limited.clone().min().zip(limited.max())
}
