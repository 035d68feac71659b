//! What this side proposes to its partner, and whether its own limits allow it.

use crate::problem::Problem;
use crate::workspace::Workspace;
use serde_json::{Value, json};
use std::time::Duration;
use veilpath::{
    DEFAULT_MINIMUM_GROUP, Fingerprint, LimitPreview, LocalCohort, NamedPlan, Policy, Role,
    ScanpathLimit, SessionControl, SessionOptions, check_policy, find_policy, state_dir,
};

/// How long a host waits for its partner, and how long a joining side tries to reach the host.
const WAIT: [Duration; 2] = [Duration::from_secs(24 * 3600), Duration::from_secs(600)];

/// Answers that the page offers instead of one that is refused.
const ANSWERS: [&str; 8] = [
    "mean",
    "mean:overall",
    "groups",
    "test:groups",
    "test:sites",
    "nearest:5,rate",
    "histogram:20",
    "score",
];

impl Workspace {
    /// The limit of comparisons per scanpath.
    pub(crate) fn limit(&self) -> Result<ScanpathLimit, Problem> {
        let limit = self.partner.limit.trim();
        let wrong = |_| {
            Problem::new(
                "the maximum number of comparisons must be a whole number",
                "",
            )
        };
        match limit.is_empty() {
            true => Ok(ScanpathLimit::Default),
            false => limit.parse().map(ScanpathLimit::Count).map_err(wrong),
        }
    }

    /// The fewest participants that a part of an answer about groups may be about, if the user has chosen a number.
    pub(crate) fn chosen_minimum(&self) -> Result<Option<u32>, Problem> {
        let wrong = |_| {
            Problem::new(
                "the minimum number of participants must be a whole number",
                "",
            )
        };
        match self.partner.minimum_group.trim() {
            "" => Ok(None),
            number => number.parse().map(Some).map_err(wrong),
        }
    }

    /// The same with its default. The policy may ask for more.
    fn minimum_group(&self) -> Result<u32, Problem> {
        Ok(self.chosen_minimum()?.unwrap_or(DEFAULT_MINIMUM_GROUP))
    }

    /// This side's cohort with a plan.
    fn local_cohort(&self, plan: &NamedPlan) -> Result<LocalCohort, Problem> {
        let cohort = self.cohorts[0].as_ref().ok_or_else(|| {
            Problem::new(
                "there is no cohort to compare yet",
                "Drop recordings or a cohort file under Data, on the first side.",
            )
        })?;
        Ok(LocalCohort::new(cohort.raw()?, plan.options()?)?)
    }

    /// Compares the plan with this side's limits before anybody connects. If it does not fit, or was refused, `others` are answers
    /// that fit.
    pub(crate) fn preview_limits(&self, policy: Option<&Policy>) -> Result<Value, Problem> {
        let plan = &self.partner.plan;
        let mut preview = self.preview(plan, policy)?;
        if preview["fits"] == false || self.session.has_failed() {
            let fits = |reveal: &str| {
                let plan = NamedPlan {
                    reveal: reveal.into(),
                    ..plan.clone()
                };
                let is_allowed = |policy| self.check_policy(policy, &plan).is_ok();
                reveal != self.partner.plan.reveal
                    && policy.is_none_or(is_allowed)
                    && self
                        .preview(&plan, policy)
                        .is_ok_and(|it| it["fits"] == true)
            };
            // Scores say more about each person: they are no way round a limit that protects persons.
            let is_about_groups = preview["kind"] == "groups";
            let others = ANSWERS.into_iter().filter(|it| fits(it));
            let others: Vec<&str> = others
                .filter(|it| *it != "score" || !is_about_groups)
                .collect();
            preview["others"] = json!(others);
        }
        Ok(preview)
    }

    fn preview(&self, plan: &NamedPlan, policy: Option<&Policy>) -> Result<Value, Problem> {
        let role = match self.partner.role.as_str() {
            "join" => Role::Join,
            _ => Role::Host,
        };
        let (mut limit, mut minimum) = (self.limit()?, self.minimum_group()?);
        if let Some(policy) = policy {
            limit = policy.limit(limit);
            minimum = minimum.max(policy.minimum_group());
        }
        let local = self.local_cohort(plan)?;
        let preview = local.preview_limits(role, limit, minimum)?;
        Ok(match preview {
            LimitPreview::Pairs {
                limit,
                with_equal_partner,
            } => json!({
                "kind": "pairs",
                "limit": limit,
                "needed": with_equal_partner,
                "fits": limit.is_none_or(|limit| with_equal_partner <= limit),
            }),
            LimitPreview::Groups { smallest, minimum } => json!({
                "kind": "groups",
                "smallest": smallest,
                "minimum": minimum,
                "fits": smallest >= minimum.into(),
            }),
            LimitPreview::NoGroups => json!({"kind": "no-groups", "fits": false}),
        })
    }

    /// Whether the institution's policy allows a plan.
    pub(crate) fn check_policy(&self, policy: &Policy, plan: &NamedPlan) -> Result<(), Problem> {
        let options = plan.options()?;
        let partners: Vec<Fingerprint> = self.partner.fingerprint().into_iter().collect();
        let (engine, metric) = (options.engine, options.metric.name);
        let limit = self.limit()?;
        check_policy(policy, &partners, engine, metric, options.reveal, limit)?;
        Ok(())
    }

    /// Everything that a session needs.
    pub(crate) fn session_options(
        &self,
        control: SessionControl,
    ) -> Result<SessionOptions, Problem> {
        let form = &self.partner;
        let local = self.local_cohort(&form.plan)?;
        let state_dir = state_dir(self.identity.as_deref())?;
        let policy = find_policy(None, &state_dir)?;
        let mut options = SessionOptions::new(local, self.identity()?, state_dir);
        options.policy = policy;
        options.pseudonyms = form.pseudonyms;
        options.limit_per_scanpath = self.limit()?;
        options.control = control;
        options.via_relay = form.via_relay;
        options.wait = WAIT[usize::from(form.role == "join")];
        options.minimum_group = self.minimum_group()?;
        options.names = form.names();
        Ok(options)
    }
}
