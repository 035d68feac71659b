//! One side's options for a session.

use super::SessionControl;
use crate::{Error, LocalCohort};
use std::time::Duration;
use veilpath_protocol::RiskySetting;
use veilpath_session::limits::DEFAULT_MEMORY;
use veilpath_session::{
    DEFAULT_MINIMUM_GROUP, DisclosureLimits, Identity, MIN_GROUP_SIZE, Policy, ScanpathLimit,
    StateDir,
};

/// One side's options for a session.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// This side's cohort and plan.
    pub cohort: LocalCohort,
    /// This side's identity.
    pub identity: Identity,
    /// The folder for journals and ledgers.
    pub state_dir: StateDir,
    /// Whether this side's ids and stimuli are hidden from the other side.
    pub pseudonyms: bool,
    /// Whether to stop after the estimate.
    pub estimate_only: bool,
    /// Whether to make a new agreement and compute all pairs again. They then count again. Both sides must request it.
    pub fresh: bool,
    /// Agrees on a plan of this many tiles for workers, and computes none.
    pub tile_count: Option<u32>,
    /// The maximum number of comparisons of each of this side's scanpaths with one peer, across all sessions.
    pub limit_per_scanpath: ScanpathLimit,
    /// The risky settings that this side accepts.
    pub allow: Vec<RiskySetting>,
    /// The most memory that this process may use, in bytes. Concurrent sessions share it.
    pub memory: u64,
    /// The smallest number of participants behind any part of a group answer. A policy may require more.
    pub minimum_group: u32,
    /// The names of the host's and the joining side's cohorts in this side's results.
    pub names: [String; 2],
    /// This institution's disclosure policy, if it has one.
    pub policy: Option<Policy>,
    /// Stops the session, and can make it wait for its user before it computes.
    pub control: SessionControl,
    /// Whether the address is a relay's, to which both sides connect, instead of the host's.
    pub via_relay: bool,
    /// How long to wait while nothing arrives from the other side, not even a keep-alive.
    pub idle_timeout: Duration,
    /// How long to wait for the other side to connect, or to keep trying to reach it.
    pub wait: Duration,
}

impl SessionOptions {
    /// The defaults: a direct connection, real ids, only missing pairs, the default limit, no risky settings, no
    /// policy, the default minimum group, 256 MiB of memory, an idle timeout of one minute, and ten seconds to connect.
    pub fn new(cohort: LocalCohort, identity: Identity, state_dir: StateDir) -> Self {
        Self {
            cohort,
            identity,
            state_dir,
            pseudonyms: false,
            estimate_only: false,
            fresh: false,
            tile_count: None,
            limit_per_scanpath: ScanpathLimit::Default,
            allow: Vec::new(),
            memory: DEFAULT_MEMORY,
            minimum_group: DEFAULT_MINIMUM_GROUP,
            names: ["host", "join"].map(String::from),
            policy: None,
            control: SessionControl::default(),
            via_relay: false,
            idle_timeout: Duration::from_secs(60),
            wait: Duration::from_secs(10),
        }
    }

    /// Rejects a minimum so small that a group answer would be about a single person.
    pub(super) fn check_minimum_group(&self) -> Result<(), Error> {
        match self.minimum_group < MIN_GROUP_SIZE {
            true => Err(Error::PlanField {
                field: "minimum_group",
                problem: format!("a group answer needs at least {MIN_GROUP_SIZE} participants"),
            }),
            false => Ok(()),
        }
    }

    /// The limits on group answers.
    pub(super) fn disclosure_limits(&self) -> DisclosureLimits {
        let default = DisclosureLimits {
            allow_changed_encoding: self.allow.contains(&RiskySetting::ChangedEncoding),
            ..DisclosureLimits::default()
        };
        match &self.policy {
            None => DisclosureLimits {
                minimum_group: self.minimum_group,
                ..default
            },
            Some(policy) => DisclosureLimits {
                minimum_group: policy.minimum_group().max(self.minimum_group),
                answers_per_partner: policy.answers_per_partner(),
                ..default
            },
        }
    }
}
