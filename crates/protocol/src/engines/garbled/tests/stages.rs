//! Every stage has its own offset.

use super::*;
use crate::JobError;
use crate::engines::tests::{RecordingRng, non_alignment_metrics};

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

/// With ScaSim, the durations of a scanpath count even if the other one is empty. Such a matrix has no cells, but columns.
#[test]
fn matrices_without_cells_end_a_portion() {
    let long = random_cohort(1, 5000..5001, 1);
    let empty = random_cohort(1000, 0..1, 2);
    let scasim = non_alignment_metrics()
        .into_iter()
        .find(|metric| matches!(metric, Metric::ScaSim(_)));
    let spec = spec(&scasim.unwrap(), &empty, &long);
    let pairs = pairs_of(spec.pair_rule, &empty, &long);
    let own = scanpaths(&empty);
    let job = Job::new(&spec, Role::Host, &own, 1, &pairs).unwrap();
    let limits = PortionLimits::default();
    let schedule = Schedule::new(&job, vec![0; 1000], vec![5000], 1, limits).unwrap();
    let portions = &schedule.stages[0].portions;
    assert!(portions.len() > 20, "{}", portions.len());
}

/// Results of rows take memory on both sides, so the limit for a pair covers them.
#[test]
fn a_pair_with_too_many_rows_is_refused() {
    let (own, short) = (random_cohort(1, 2..3, 1), random_cohort(1, 2..3, 2));
    let hausdorff = non_alignment_metrics()
        .into_iter()
        .find(|metric| matches!(metric, Metric::Hausdorff(_)));
    for (metric, is_refused) in [(hausdorff.unwrap(), true), (Metric::Levenshtein, false)] {
        let spec = spec(&metric, &short, &own);
        let pairs = pairs_of(spec.pair_rule, &short, &own);
        let own = scanpaths(&own);
        let job = Job::new(&spec, Role::Join, &own, 1, &pairs).unwrap();
        let limits = PortionLimits::default();
        let schedule = Schedule::new(&job, vec![2], vec![16_000_000], 1, limits);
        let refused = matches!(
            schedule.err(),
            Some(ProtocolError::Job(JobError::TooMuchMemory))
        );
        assert_eq!(refused, is_refused, "{metric:?}");
    }
}
