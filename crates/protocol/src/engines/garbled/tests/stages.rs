//! Every stage has its own offset.

use super::*;
use crate::engines::tests::RecordingRng;

#[test]
fn every_stage_draws_an_offset() {
    let (a, b) = (random_cohort(4, 20..21, 1), random_cohort(21, 20..21, 2));
    let spec = spec(&Metric::Levenshtein, &a, &b);
    let pairs = pairs_of(spec.pair_rule, &a, &b);
    let (first, second) = (scanpaths(&a), scanpaths(&b));
    let host_job = Job::new(&spec, Role::Host, &first, second.len(), &pairs).unwrap();
    let join_job = Job::new(&spec, Role::Join, &second, first.len(), &pairs).unwrap();
    let (mut host_end, mut join_end) = memory_pair();
    let mut rng = RecordingRng::new(3);
    let negotiated = Schedule::new(&host_job, vec![20; 4], vec![20; 21], 1, in_pieces(1).limits);
    let stages = negotiated.unwrap().stages.len();
    assert!(stages > 2, "{stages}");
    std::thread::scope(|scope| {
        let join = scope.spawn(move || {
            let mut rng = ChaCha20Rng::seed_from_u64(4);
            let watch = ProgressRecorder::default();
            join_with(&join_job, &mut join_end, &watch, in_pieces(1), &mut rng)
        });
        let watch = ProgressRecorder::default();
        let host = host_with(&host_job, &mut host_end, &watch, in_pieces(1), &mut rng);
        assert_eq!(host, join.join().unwrap());
        assert_eq!(host.unwrap(), expected(&spec.metric, &a, &b));
    });
    rng.assert_offsets(stages);
}
