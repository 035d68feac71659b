//! What this side proposes to its partner, and whether its own limits allow it.

use crate::cohorts::CohortState;
use crate::partner::PartnerForm;
use crate::problem::Problem;
use crate::workspace::Workspace;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use veilpath::{
    DEFAULT_MINIMUM_GROUP, Fingerprint, LimitPreview, LocalCohort, NamedPlan, Policy, Role,
    ScanpathLimit, SessionControl, SessionOptions, check_policy, find_policy, state_dir,
};

/// How long a host waits for its partner, and how long a joining side tries to reach the host.
const WAIT: [Duration; 2] = [Duration::from_secs(24 * 3600), Duration::from_secs(600)];

/// Answers that the page offers instead of one that is refused, if no part of an answer may be about fewer participants than
/// `minimum`.
fn answers(minimum: u32) -> [String; 8] {
    let nearest = format!("nearest:{},rate", minimum.max(NEAREST));
    [
        "mean",
        "mean:overall",
        "groups",
        "test:groups",
        "test:sites",
        &nearest,
        "histogram:20",
        "score",
    ]
    .map(String::from)
}

/// The usual number of nearest neighbours.
const NEAREST: u32 = 5;

impl PartnerForm {
    /// The limit on comparisons per scanpath.
    fn limit(&self) -> Result<ScanpathLimit, Problem> {
        let limit = self.limit.trim();
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

    /// The minimum number of participants behind each part of a group answer, if the user has chosen one.
    pub(crate) fn chosen_minimum(&self) -> Result<Option<u32>, Problem> {
        let wrong = |_| {
            Problem::new(
                "the minimum number of participants must be a whole number",
                "",
            )
        };
        match self.minimum_group.trim() {
            "" => Ok(None),
            number => number.parse().map(Some).map_err(wrong),
        }
    }

    /// The chosen minimum, or the default. The policy may require more.
    fn minimum_group(&self) -> Result<u32, Problem> {
        Ok(self.chosen_minimum()?.unwrap_or(DEFAULT_MINIMUM_GROUP))
    }
}

/// The form and the cohort, apart from the workspace: checking them takes a while, and must not block the page.
pub(crate) struct Proposal {
    form: PartnerForm,
    cohort: Option<Arc<CohortState>>,
    /// Whether the last session failed.
    has_failed: bool,
}

impl Proposal {
    /// This side's cohort with a plan.
    fn local_cohort(&self, plan: &NamedPlan) -> Result<LocalCohort, Problem> {
        let cohort = self.cohort.as_ref().ok_or_else(|| {
            Problem::new(
                "there is no cohort to compare yet",
                "Drop recordings or a cohort file under Data, on the first side.",
            )
        })?;
        Ok(LocalCohort::new(cohort.raw()?, plan.options()?)?)
    }

    /// Checks the plan against this side's limits before anybody connects. If it does not fit, or was refused, `others` lists
    /// answers that fit.
    pub(crate) fn preview_limits(&self, policy: Option<&Policy>) -> Result<Value, Problem> {
        let plan = &self.form.plan;
        let mut preview = self.preview(plan, policy)?;
        if preview["fits"] == false || self.has_failed {
            let fits = |reveal: &str| {
                let plan = NamedPlan {
                    reveal: reveal.into(),
                    ..plan.clone()
                };
                let is_allowed = |policy| self.check_policy(policy, &plan).is_ok();
                reveal != self.form.plan.reveal
                    && policy.is_none_or(is_allowed)
                    && self
                        .preview(&plan, policy)
                        .is_ok_and(|it| it["fits"] == true)
            };
            // Scores reveal more about each person, so they are not offered as a way around a limit that protects people.
            let is_group_answer = preview["kind"] == "groups";
            let answers = answers(self.minimum_group(policy)?);
            let others = answers.iter().filter(|it| fits(it));
            let others: Vec<&String> = others
                .filter(|it| *it != "score" || !is_group_answer)
                .collect();
            preview["others"] = json!(others);
        }
        Ok(preview)
    }

    fn preview(&self, plan: &NamedPlan, policy: Option<&Policy>) -> Result<Value, Problem> {
        let role = match self.form.role.as_str() {
            "join" => Role::Join,
            _ => Role::Host,
        };
        let limit = self.form.limit()?;
        let limit = policy.map_or(limit, |policy| policy.limit(limit));
        let minimum = self.minimum_group(policy)?;
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
            LimitPreview::Groups {
                smallest,
                minimum,
                too_few_nearest,
            } => json!({
                "kind": "groups",
                "smallest": smallest,
                "minimum": minimum,
                "few_nearest": too_few_nearest,
                "fits": smallest >= minimum.into(),
            }),
            LimitPreview::NoGroups => json!({"kind": "no-groups", "fits": false}),
        })
    }

    /// The minimum number of participants that applies on this side.
    fn minimum_group(&self, policy: Option<&Policy>) -> Result<u32, Problem> {
        let required = policy.map_or(0, Policy::minimum_group);
        Ok(self.form.minimum_group()?.max(required))
    }

    /// Whether the institution's policy allows a plan.
    fn check_policy(&self, policy: &Policy, plan: &NamedPlan) -> Result<(), Problem> {
        let options = plan.options()?;
        let partners: Vec<Fingerprint> = self.form.fingerprint().into_iter().collect();
        let (engine, metric) = (options.engine, options.metric.name);
        let limit = self.form.limit()?;
        check_policy(policy, &partners, engine, metric, options.reveal, limit)?;
        Ok(())
    }

    /// Whether the policy allows the plan of the form.
    pub(crate) fn check_own_plan(&self, policy: &Policy) -> Result<(), Problem> {
        self.check_policy(policy, &self.form.plan)
    }
}

impl Workspace {
    /// What to propose to the partner.
    pub(crate) fn proposal(&self) -> Proposal {
        Proposal {
            form: self.partner.clone(),
            cohort: self.cohorts[0].clone(),
            has_failed: self.session.has_failed(),
        }
    }

    /// Everything that a session needs.
    pub(crate) fn session_options(
        &self,
        control: SessionControl,
    ) -> Result<SessionOptions, Problem> {
        let form = &self.partner;
        let local = self.proposal().local_cohort(&form.plan)?;
        let state_dir = state_dir(self.identity.as_deref())?;
        let policy = find_policy(None, &state_dir)?;
        let mut options = SessionOptions::new(local, self.identity()?, state_dir);
        options.policy = policy;
        options.pseudonyms = form.pseudonyms;
        options.limit_per_scanpath = form.limit()?;
        options.control = control;
        options.via_relay = form.via_relay;
        options.wait = WAIT[usize::from(form.role == "join")];
        options.minimum_group = form.minimum_group()?;
        options.names = form.names();
        Ok(options)
    }
}
