//! Policies and the plans they allow.

use crate::{Error, MetricName};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;
use veilpath_protocol::{EngineChoice, Reveal};
use veilpath_session::{
    AgreedPlan, Fingerprint, Identity, MAX_WORKER_KEY_TIME, POLICY_EXAMPLE, Policy, PolicyRequest,
    ScanpathLimit, SessionError, StateDir, TileRange, UsageError, WorkOrder, WorkerKeyProblem, now,
};

/// The policy in effect: the named one, or the one in the state folder, if there is one.
pub fn find_policy(named: Option<&Path>, state_dir: &StateDir) -> Result<Option<Policy>, Error> {
    let default = state_dir.policy();
    match named {
        Some(path) => Ok(Some(Policy::read(path)?)),
        None => match default.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            // Also a policy that cannot be reached, or a broken link: without the error, nothing would be forbidden.
            _ => Ok(Some(Policy::read(&default)?)),
        },
    }
}

/// Checks a plan against a policy without connecting to a partner.
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

/// Makes a work order (a worker key and this side's scanpaths) for some tiles of an agreement, if the policy allows the plan
/// now and until the key expires. A key for the longest time expires a minute earlier, so that it is not found to be valid
/// for too long.
pub fn work_order(
    (identity, state_dir): (&Identity, &StateDir),
    plan: &AgreedPlan,
    tiles: TileRange,
    valid_for: Duration,
    policy: Option<&Policy>,
) -> Result<WorkOrder, Error> {
    if tiles.last() > plan.tile_count() {
        return Err(Error::NoSuchTiles {
            requested: tiles,
            count: plan.tile_count(),
        });
    }
    if valid_for > MAX_WORKER_KEY_TIME {
        return Err(SessionError::from(UsageError::WorkerKey(WorkerKeyProblem::Time)).into());
    }
    let expires = now() + valid_for.min(MAX_WORKER_KEY_TIME - Duration::from_secs(60));
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

/// Writes a commented example policy to a new file.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may fail

    use super::*;

    #[test]
    fn only_a_missing_policy_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let state_dir = StateDir::at(folder.path().join("new"));
        assert!(find_policy(None, &state_dir).unwrap().is_none());
        write_policy_example(&state_dir.policy()).unwrap();
        assert!(find_policy(None, &state_dir).unwrap().is_some());
    }

    /// Otherwise a problem with the file would allow everything.
    #[cfg(unix)]
    #[test]
    fn a_policy_that_cannot_be_reached_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let broken = StateDir::at(folder.path());
        std::os::unix::fs::symlink("nowhere", broken.policy()).unwrap();
        // The state folder of this one is a file.
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        for state_dir in [broken, StateDir::at(file)] {
            let found = find_policy(None, &state_dir);
            assert!(matches!(found, Err(Error::Policy(_))), "{found:?}");
        }
    }
}
