//! Group answers, for two cohorts in one process.

use super::run_roles;
use crate::outcome::scanpath_ids;
use crate::statistics::{ValueKind, numbers_in_the_clear};
use crate::{
    Answer, Cost, Engine, GroupInputs, GroupQuestion, GroupSizes, Job, JobError, Observer, Outcome,
    PairStore, PreparedGroupAnswer, ProtocolError, Refused, Results, Role, Spec, TreeLevels,
};
use std::sync::{Mutex, PoisonError};
use veilpath_channel::{Channel, Traffic};
use veilpath_metrics::{Cohort, Scanpath};
use veilpath_statistics::Coins;

/// The seed of permutations to which no other side contributes; also the default of the façade's statistics.
const SEED: u64 = 1;

/// The coins of a test that specifies none.
pub(super) fn default_coins() -> Coins {
    Coins::of_number(SEED, 0)
}

/// Keeps halves in memory.
struct HalvesInMemory(Mutex<Vec<u64>>);

impl PairStore for HalvesInMemory {
    fn store_halves(&self, pairs: &[usize], halves: &[u64]) -> Result<(), Refused> {
        let mut stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (&pair, &half) in pairs.iter().zip(halves) {
            *stored.get_mut(pair).ok_or(Refused)? = half;
        }
        Ok(())
    }
}

/// One side of a local comparison.
struct Side<'a> {
    spec: &'a Spec,
    role: Role,
    own: &'a [&'a Scanpath],
    pairs: &'a [(usize, usize)],
    peer_lengths: Vec<usize>,
    inputs: GroupInputs<'a>,
}

impl Side<'_> {
    fn job(&self) -> Result<Job<'_>, ProtocolError> {
        let peers = self.peer_lengths.len();
        Job::new(self.spec, self.role, self.own, peers, self.pairs)?
            .with_peer_lengths(&self.peer_lengths)
    }

    /// Computes this side's shares of the answer's numbers.
    fn run(
        &self,
        channel: &mut dyn Channel,
        observer: &dyn Observer,
    ) -> Result<Vec<u64>, ProtocolError> {
        let job = self.job()?;
        let prepared = PreparedGroupAnswer::new(&job, self.inputs.clone())?;
        let halves = HalvesInMemory(Mutex::new(vec![0; self.pairs.len()]));
        let job = self.job()?.with_store(&halves);
        self.spec.engine.run(&job, channel, observer)?;
        let halves = halves
            .0
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        Ok(prepared
            .run(&halves, TreeLevels::default(), channel)?
            .to_vec())
    }
}

/// Runs both roles and returns the answer.
pub(super) fn answer(
    spec: &Spec,
    (question, coins): (GroupQuestion, [u8; 32]),
    [a, b]: [(&Cohort, &Vec<&Scanpath>); 2],
    pairs: &[(usize, usize)],
    observer: &dyn Observer,
) -> Result<Outcome, ProtocolError> {
    let ids = [scanpath_ids(a.0), scanpath_ids(b.0)];
    let groups = [groups(a.0), groups(b.0)];
    let sizes =
        [0, 1].map(|side| GroupSizes::of(&ids[side], groups[side].as_deref().unwrap_or_default()));
    let needed = question.sides_with_groups();
    if (0..2).any(|side| needed[side] && groups[side].is_none()) {
        return Err(JobError::NoGroups.into());
    }
    let lengths = |scanpaths: &[&Scanpath]| -> Vec<usize> {
        let length = |scanpath: &&Scanpath| spec.pad_to.map_or(scanpath.len(), |it| it as usize);
        scanpaths.iter().map(length).collect()
    };
    let side = |role: Role| {
        let (own, theirs, groups, peer_groups) = match role {
            Role::Host => (a.1, b.1, &groups[0], &groups[1]),
            Role::Join => (b.1, a.1, &groups[1], &groups[0]),
        };
        let peer_groups = peer_groups.as_deref();
        Side {
            spec,
            role,
            own,
            pairs,
            peer_lengths: lengths(theirs),
            inputs: GroupInputs {
                question,
                engine: spec.engine,
                rule: spec.pair_rule,
                ids: [&ids[0], &ids[1]],
                own_groups: groups.as_deref(),
                peer_groups: peer_groups.filter(|_| question.publishes_groups()),
                sizes: sizes.clone(),
                // Nothing leaves this machine.
                minimum: 0,
                coins,
            },
        }
    };
    let sides = [side(Role::Host), side(Role::Join)];
    let (numbers, traffic) = match spec.engine.supports_secret_shared_results() {
        true => on_shares(&sides, observer)?,
        false => in_the_clear(&sides, observer)?,
    };
    let job = sides[0].job()?;
    let answer = PreparedGroupAnswer::new(&job, sides[0].inputs.clone())?
        .schema()
        .answer(&numbers)?;
    let cells = spec.cells(&crate::count_pairs(spec.pair_rule, a.0, b.0));
    let [a, b] = ids.clone();
    Ok(Outcome {
        revealed: spec.engine.revealed(spec),
        names: Outcome::UNNAMED.map(String::from),
        one_cohort: false,
        a,
        b,
        pairs: pairs.len() as u64,
        tile: None,
        results: Results::new(spec.measures()),
        answers: vec![answer],
        error_bound: spec.error_bound(),
        cost: Cost::of(traffic, cells),
        spec: spec.clone(),
    })
}

fn on_shares(
    [host, join]: &[Side<'_>; 2],
    observer: &dyn Observer,
) -> Result<(Vec<i64>, Traffic), ProtocolError> {
    let (host, join, traffic) = run_roles(
        |channel| host.run(channel, observer),
        |channel| join.run(channel, &()),
    )?;
    let numbers = host.iter().zip(join);
    let numbers = numbers.map(|(ours, theirs)| ours.wrapping_add(theirs).cast_signed());
    Ok((numbers.collect(), traffic))
}

/// Computes the answer from the scores, which the `plain` engine reveals.
fn in_the_clear(
    [host, join]: &[Side<'_>; 2],
    observer: &dyn Observer,
) -> Result<(Vec<i64>, Traffic), ProtocolError> {
    let spec = host.spec;
    if spec.engine != Engine::Plain {
        return Err(ProtocolError::Internal("this engine has no group answers"));
    }
    let jobs = [host.job()?, join.job()?];
    let (answers, _, traffic) = run_roles(
        |channel| spec.engine.run(&jobs[0], channel, observer),
        |channel| spec.engine.run(&jobs[1], channel, &()),
    )?;
    let plans = [
        PreparedGroupAnswer::new(&jobs[0], host.inputs.clone())?,
        PreparedGroupAnswer::new(&jobs[1], join.inputs.clone())?,
    ];
    let is_similarity = plans[0].value_kind() == ValueKind::Similarity;
    let value = |(pair, answer): (usize, Answer)| {
        let score = answer.pair_score();
        let score = score.ok_or(ProtocolError::Internal("a pair has no score"))?;
        let number = score.similarity().filter(|_| is_similarity);
        Ok(plans[0].value_of_number(pair, number.unwrap_or(score.score())))
    };
    let values = answers.into_iter().enumerate().map(value);
    let values = values.collect::<Result<Vec<i64>, ProtocolError>>()?;
    let numbers = numbers_in_the_clear(&plans[0], &plans[1], &values)?;
    Ok((numbers, traffic))
}

/// The group of every scanpath, if the cohort has groups.
fn groups(cohort: &Cohort) -> Option<Vec<String>> {
    cohort
        .entries
        .iter()
        .map(|entry| entry.group.clone())
        .collect()
}
