//! Runs both roles in one process without a network, for an institution that compares its own cohorts in the clear, and
//! for tests.

mod fixations;
mod group;

use crate::outcome::scanpath_ids;
use crate::{
    Cost, Engine, Job, JobError, Misbehaviour, Observer, Outcome, PairBlocks, ProtocolError,
    Results, Role, Spec, Tile, tile_lengths,
};
use veilpath_channel::{Channel, Counted, Traffic, memory_pair};
use veilpath_metrics::{Cohort, Scanpath};

/// Runs both roles of the plan's engine over an in-memory channel. The observer sees the host's side. The outcome's
/// time is zero: the caller measures it.
///
/// `compare_on_loopback` of `veilpath-session` runs what two institutions would run, with TLS, on one machine.
pub fn compare_locally(
    spec: Spec,
    a: &Cohort,
    b: &Cohort,
    observer: &dyn Observer,
) -> Result<Outcome, ProtocolError> {
    compare_locally_with_coins(spec, a, b, *group::default_coins().bytes(), observer)
}

/// Like [`compare_locally`], for one tile of the plan. A group answer has no tiles.
pub fn compare_tile_locally(
    spec: Spec,
    a: &Cohort,
    b: &Cohort,
    tile: Tile,
    observer: &dyn Observer,
) -> Result<Outcome, ProtocolError> {
    if spec.reveal.group_question().is_some() {
        return Err(ProtocolError::Job(JobError::TileOfGroupAnswer));
    }
    let lengths = [a, b].map(|cohort| tile_lengths(&spec, cohort));
    let blocks = PairBlocks::of(spec.pair_rule, a, b).tile([&lengths[0], &lengths[1]], tile);
    run(spec, [a, b], &blocks, [0; 32], observer)
}

/// Like [`compare_locally`], with permutations from these coins in a test of groups. The coins of a private test
/// reproduce its p value.
pub fn compare_locally_with_coins(
    spec: Spec,
    a: &Cohort,
    b: &Cohort,
    coins: [u8; 32],
    observer: &dyn Observer,
) -> Result<Outcome, ProtocolError> {
    let blocks = PairBlocks::of(spec.pair_rule, a, b);
    run(spec, [a, b], &blocks, coins, observer)
}

fn run(
    spec: Spec,
    [a, b]: [&Cohort; 2],
    blocks: &PairBlocks,
    coins: [u8; 32],
    observer: &dyn Observer,
) -> Result<Outcome, ProtocolError> {
    if blocks.pairs() > crate::MAX_PAIRS {
        return Err(ProtocolError::Job(JobError::TooManyPairs {
            pairs: blocks.pairs(),
            limit: crate::MAX_PAIRS,
        }));
    }
    spec.check()?;
    let pairs = blocks.list();
    let cells = spec.cells(&blocks.count(a, b));
    if spec.metric.needs_fixations() {
        return fixations::compare(spec, [a, b], &pairs, observer);
    }
    let (first, second) = (scanpaths(a), scanpaths(b));
    let host_job = Job::new(&spec, Role::Host, &first, second.len(), &pairs)?;
    let join_job = Job::new(&spec, Role::Join, &second, first.len(), &pairs)?;
    let engine: Engine = spec.engine;
    if let Some(question) = spec.reveal.group_question() {
        let sides = [(a, &first), (b, &second)];
        return group::answer(&spec, (question, coins), sides, &pairs, observer);
    }
    let (answers, join_answers, traffic) = run_roles(
        |channel| engine.run(&host_job, channel, observer),
        |channel| engine.run(&join_job, channel, &()),
    )?;
    if join_answers != answers {
        return Err(ProtocolError::PeerMisbehaved(Misbehaviour::ResultsDiffer));
    }
    if !answers.iter().all(|answer| spec.allows(answer)) {
        return Err(ProtocolError::Internal(
            "an engine gave the wrong kind of answer",
        ));
    }
    let answers = pairs.iter().zip(answers);
    let answers = answers.map(|(&(a, b), answer)| (a, b, answer));
    Ok(Outcome {
        revealed: engine.revealed(&spec),
        names: Outcome::UNNAMED.map(String::from),
        one_cohort: false,
        a: scanpath_ids(a),
        b: scanpath_ids(b),
        pairs: pairs.len() as u64,
        tile: None,
        results: Results::of_answers(spec.measures(), answers),
        answers: Vec::new(),
        error_bound: spec.error_bound(),
        cost: Cost::of(traffic, cells),
        spec,
    })
}

/// Runs both roles in threads that are connected in memory. Returns both results, and the host's traffic.
fn run_roles<H, J: Send>(
    host: impl FnOnce(&mut dyn Channel) -> Result<H, ProtocolError>,
    join: impl FnOnce(&mut dyn Channel) -> Result<J, ProtocolError> + Send,
) -> Result<(H, J, Traffic), ProtocolError> {
    let (host_end, mut join_end) = memory_pair();
    let mut host_end = Counted::new(host_end);
    let (host, traffic, join) = std::thread::scope(|scope| {
        let join = scope.spawn(move || join(&mut join_end));
        let host = host(&mut host_end);
        let traffic = host_end.traffic();
        // Wakes the joining role if the host failed.
        drop(host_end);
        (host, traffic, join.join())
    });
    let join = join.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok((host?, join?, traffic))
}

fn scanpaths(cohort: &Cohort) -> Vec<&Scanpath> {
    cohort.entries.iter().map(|entry| &entry.scanpath).collect()
}
