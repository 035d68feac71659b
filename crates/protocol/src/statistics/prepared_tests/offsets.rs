//! The session of an answer has its own offsets.

use super::*;
use crate::engines::tests::RecordingRng;
use veilpath_channel::memory_pair;

#[test]
fn every_answer_draws_offsets() {
    let (a, b) = (cohort(2, 3..4, 0, 1), cohort(2, 3..4, 0, 2));
    let spec = spec(Engine::Shares, &Metric::Levenshtein, "mean:overall", &a, &b);
    let question = spec.reveal.group_question().unwrap();
    let pairs = pairs_of(spec.pair_rule, &a, &b);
    let ids = [scanpath_ids(&a), scanpath_ids(&b)];
    let [first, second] = [&a, &b].map(|cohort| -> Vec<&Scanpath> {
        cohort.entries.iter().map(|entry| &entry.scanpath).collect()
    });
    let lengths = vec![3; 4];
    let jobs = [(Role::Host, &first), (Role::Join, &second)].map(|(role, own)| {
        let job = Job::new(&spec, role, own, 4, &pairs).unwrap();
        job.with_peer_lengths(&lengths).unwrap()
    });
    let plans = jobs.each_ref().map(|job| {
        let inputs = GroupInputs {
            question,
            engine: spec.engine,
            rule: spec.pair_rule,
            ids: [&ids[0], &ids[1]],
            own_groups: None,
            peer_groups: None,
            sizes: [GroupSizes::default(), GroupSizes::default()],
            minimum: 0,
            coins: *Coins::of_number(1, 0).bytes(),
        };
        PreparedGroupAnswer::new(job, inputs).unwrap()
    });
    let halves = vec![5; pairs.len()];
    let mut rngs = [RecordingRng::new(3), RecordingRng::new(4)];
    const ANSWERS: usize = 2;
    for _ in 0..ANSWERS {
        let (mut host_end, mut join_end) = memory_pair();
        let [host_rng, join_rng] = &mut rngs;
        std::thread::scope(|scope| {
            let (plans, halves) = (&plans, &halves);
            let levels = TreeLevels::default();
            let join = scope.spawn(move || {
                plans[1]
                    .run_with(halves, levels, &mut join_end, join_rng)
                    .unwrap();
            });
            plans[0]
                .run_with(halves, levels, &mut host_end, host_rng)
                .unwrap();
            join.join().unwrap();
        });
    }
    for rng in rngs {
        rng.assert_offsets(ANSWERS);
    }
}
