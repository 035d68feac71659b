//! Every stage has its own offsets.

use super::run_with;
use super::schedule::Schedule;
use super::tests::{expected, random_cohort, spec};
use crate::engines::alignment::private_metric::PrivateMetric;
use crate::engines::tests::RecordingRng;
use crate::{Job, Role, pairs_of};
use veilpath_channel::memory_pair;
use veilpath_metrics::{Alphabet, Cohort, Metric, Scanpath};

/// The largest alphabet, whose trees leave room for few letters in a stage.
const LETTERS: u32 = 1024;

fn cohort(count: usize, length: usize, seed: u64) -> Cohort {
    let mut cohort = random_cohort(count, length..length + 1, seed);
    cohort.alphabet = Alphabet::for_cells(LETTERS).unwrap();
    cohort
}

#[test]
fn every_stage_draws_offsets() {
    let (a, b) = (cohort(3, 700, 1), cohort(1, 1, 2));
    let spec = spec(&Metric::Levenshtein, &a, &b);
    let pairs = pairs_of(spec.pair_rule, &a, &b);
    let [first, second] = [&a, &b].map(|cohort| -> Vec<&Scanpath> {
        cohort.entries.iter().map(|entry| &entry.scanpath).collect()
    });
    let host_job = Job::new(&spec, Role::Host, &first, second.len(), &pairs).unwrap();
    let join_job = Job::new(&spec, Role::Join, &second, first.len(), &pairs).unwrap();
    let scoring = PrivateMetric::of(&host_job);
    let schedule = Schedule::new(&host_job, &scoring, vec![700; 3], vec![1]);
    let stages = schedule.stages.len();
    assert!(stages > 2, "{stages}");
    let (mut host_end, mut join_end) = memory_pair();
    let (mut host_rng, mut join_rng) = (RecordingRng::new(3), RecordingRng::new(4));
    let results = std::thread::scope(|scope| {
        let join = scope.spawn(|| run_with(&join_job, &mut join_end, &(), &mut join_rng));
        let host = run_with(&host_job, &mut host_end, &(), &mut host_rng);
        [host, join.join().unwrap()]
    });
    for result in results {
        assert_eq!(result.unwrap(), expected(&spec.metric, &a, &b));
    }
    // Both sides have an offset, as both send transfers.
    host_rng.assert_offsets(stages);
    join_rng.assert_offsets(stages);
}
