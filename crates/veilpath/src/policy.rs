//! A policy, and the plans that it allows.

use crate::{Error, MetricName};
use std::path::Path;
use std::time::SystemTime;
use veilpath_protocol::{EngineChoice, Reveal};
use veilpath_session::{
    AgreedPlan, Fingerprint, Identity, POLICY_EXAMPLE, Policy, PolicyRequest, ScanpathLimit,
    StateDir, TileRange, WorkOrder, now,
};

/// The policy that applies: the named one, or that of the state directory, if there is one.
pub fn find_policy(named: Option<&Path>, state_dir: &StateDir) -> Result<Option<Policy>, Error> {
    let default = state_dir.policy();
    match named {
        Some(path) => Ok(Some(Policy::read(path)?)),
        None if default.exists() => Ok(Some(Policy::read(&default)?)),
        None => Ok(None),
    }
}

/// Checks a plan against a policy, without a partner.
pub fn check_policy(
    policy: &Policy,
    partners: &[Fingerprint],
    engine: EngineChoice,
    metric: MetricName,
    reveal: Reveal,
    limit: ScanpathLimit,
) -> Result<(), Error> {
    let request = PolicyRequest {
        partners,
        engine,
        metric: metric.name(),
        reveal,
        limit,
        time: now(),
    };
    Ok(policy.check(&request)?)
}

/// Makes a worker key for some tiles of an agreement, if a policy allows the plan now and until the key expires.
pub fn work_order(
    (identity, state_dir): (&Identity, &StateDir),
    plan: &AgreedPlan,
    tiles: TileRange,
    expires: SystemTime,
    policy: Option<&Policy>,
) -> Result<WorkOrder, Error> {
    state_dir.check_withdrawn(plan, tiles)?;
    let spec = plan.spec();
    for time in [now(), expires] {
        let request = PolicyRequest {
            partners: &[plan.peer()],
            engine: spec.engine.into(),
            metric: spec.metric.name(),
            reveal: spec.reveal,
            limit: plan.limit(),
            time,
        };
        policy.map_or(Ok(()), |policy| policy.check(&request))?;
    }
    Ok(WorkOrder::new(identity, plan, tiles, expires)?)
}

/// Writes a commented policy to start from, to a file that does not exist yet.
pub fn write_policy_example(path: &Path) -> Result<(), Error> {
    let failed = |source| Error::Write {
        path: path.to_path_buf(),
        source,
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = std::fs::File::create_new(path).map_err(failed)?;
    std::io::Write::write_all(&mut file, POLICY_EXAMPLE.as_bytes()).map_err(failed)
}
