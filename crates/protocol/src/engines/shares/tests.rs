//! Scores and bits against the integers of the plain comparison, and the shapes of messages.

use super::schedule::{PortionLimits, Schedule};
use crate::engines::alignment::private_metric::{MaxLengths, PrivateMetric};
use crate::engines::tests::{Cases, LETTERS, cohort, metrics};
use crate::{
    Answer, Engine, Job, Link, Observer, PairRule, ProtocolError, Reveal, RevealTo, Role, Spec,
    TreeLevels, Workload, count_pairs, pairs_of,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::sync::Mutex;
use veilpath_channel::{Channel, Counted, Traffic, memory_pair};
use veilpath_metrics::{Cohort, Comparison, Metric, Scanpath, Threshold};

pub(super) fn random_cohort(count: usize, lengths: std::ops::Range<usize>, seed: u64) -> Cohort {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let letters = u16::try_from(LETTERS).unwrap();
    let mut scanpath = || {
        let length = rng.random_range(lengths.clone());
        (0..length).map(|_| rng.random_range(0..letters)).collect()
    };
    cohort(&(0..count).map(|_| scanpath()).collect::<Vec<Vec<u16>>>())
}

pub(super) fn spec(metric: &Metric, a: &Cohort, b: &Cohort) -> Spec {
    Spec::new(Engine::Shares, metric.clone(), PairRule::All, a, b).unwrap()
}

pub(super) fn expected(metric: &Metric, a: &Cohort, b: &Cohort) -> Vec<Answer> {
    let comparison = Comparison::new(metric.clone(), a.alphabet).unwrap();
    let answer = |&(i, j): &(usize, usize)| {
        let (x, y) = (&a.entries[i].scanpath, &b.entries[j].scanpath);
        let raw = comparison.raw(x, y).unwrap();
        Answer::Score(comparison.read(raw, x.len(), y.len()).unwrap())
    };
    pairs_of(PairRule::All, a, b).iter().map(answer).collect()
}

#[derive(Default)]
struct Cells(Mutex<u64>);

impl Observer for Cells {
    fn cells(&self, finished: u64) {
        *self.0.lock().unwrap() += finished;
    }
}

pub(super) type BothResults = [Result<Vec<Answer>, ProtocolError>; 2];

/// Runs both sides. Also returns the host's traffic and the cells that it counted.
pub(super) fn run(spec: &Spec, a: &Cohort, b: &Cohort) -> (BothResults, Traffic, u64) {
    run_with(spec, a, b, TreeLevels::default())
}

/// The same with seed trees of this depth.
pub(super) fn run_with(
    spec: &Spec,
    a: &Cohort,
    b: &Cohort,
    levels: TreeLevels,
) -> (BothResults, Traffic, u64) {
    let pairs = pairs_of(spec.pair_rule, a, b);
    let scanpaths = |cohort: &'_ Cohort| -> Vec<Scanpath> {
        let entries = cohort.entries.iter();
        entries.map(|entry| entry.scanpath.clone()).collect()
    };
    let (first, second) = (scanpaths(a), scanpaths(b));
    let (host_end, mut join_end) = memory_pair();
    let mut host_end = Counted::new(host_end);
    let cells = Cells::default();
    let side = |role: Role, channel: &mut dyn Channel, observer: &dyn Observer| {
        let (own, theirs) = match role {
            Role::Host => (&first, second.len()),
            Role::Join => (&second, first.len()),
        };
        let own: Vec<&Scanpath> = own.iter().collect();
        let job = Job::new(spec, role, &own, theirs, &pairs).unwrap();
        let job = job.with_tree_levels(levels);
        Engine::Shares.run(&job, channel, observer)
    };
    let ends = std::thread::scope(|scope| {
        let join = scope.spawn(|| side(Role::Join, &mut join_end, &()));
        [
            side(Role::Host, &mut host_end, &cells),
            join.join().unwrap(),
        ]
    });
    (ends, host_end.traffic(), cells.0.into_inner().unwrap())
}

#[test]
fn random_pairs_match_the_plain_scores() {
    assert!(random_pairs(18) > 3_000);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn thirty_thousand_random_pairs_match_the_plain_scores() {
    assert!(random_pairs(55) > 30_000);
}

/// Compares all pairs of this many scanpaths for each metric, with both tree depths. Returns the number of pairs.
fn random_pairs(count: usize) -> usize {
    let mut pairs = 0;
    for (seed, metric) in metrics().iter().enumerate() {
        let shortest = usize::from(matches!(metric, Metric::ScanMatch { .. }));
        let a = random_cohort(count, shortest..12, seed as u64);
        let b = random_cohort(count, shortest..14, 50 + seed as u64);
        let scores = expected(metric, &a, &b);
        pairs += scores.len();
        let levels = TreeLevels::ALL[seed % 2];
        let ([host, join], _, cells) = run_with(&spec(metric, &a, &b), &a, &b, levels);
        assert_eq!(host.as_ref(), Ok(&scores), "{metric:?}");
        assert_eq!(join.as_ref(), Ok(&scores), "{metric:?}");
        let lengths = |cohort: &Cohort| -> u64 {
            let entries = cohort.entries.iter();
            entries.map(|entry| entry.scanpath.len() as u64).sum()
        };
        assert_eq!(cells, lengths(&a) * lengths(&b));
    }
    pairs
}

#[test]
fn long_and_short_scanpaths_share_groups() {
    share_groups(2, 200);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn longer_and_short_scanpaths_share_groups() {
    share_groups(3, 400);
}

fn share_groups(count: usize, longest: usize) {
    for metric in [&metrics()[0], &metrics()[2], &metrics()[7]] {
        let a = random_cohort(count, 130..longest, 1);
        let mut b = random_cohort(5, 1..longest * 3 / 4, 2);
        b.entries[2].scanpath = Scanpath::new(vec![3]);
        let scores = expected(metric, &a, &b);
        let ([host, join], ..) = run(&spec(metric, &a, &b), &a, &b);
        assert_eq!(host, Ok(scores.clone()), "{metric:?}");
        assert_eq!(join, Ok(scores), "{metric:?}");
    }
}

/// One letter against thousands: few cells in flight, and many letters.
#[test]
fn portions_of_lopsided_pairs_are_bounded() {
    for metric in [&metrics()[0], &metrics()[2], &metrics()[7]] {
        let a = random_cohort(1, 1..2, 1);
        let b = random_cohort(1, 1..2, 2);
        let spec = spec(metric, &a, &b);
        let own = [&a.entries[0].scanpath];
        let pairs: Vec<(usize, usize)> = (0..4000).map(|join| (0, join)).collect();
        let job = Job::new(&spec, Role::Host, &own, pairs.len(), &pairs).unwrap();
        let scoring = PrivateMetric::of(&job);
        let schedule = Schedule::new(&job, &scoring, vec![1], vec![4000; pairs.len()]);
        let limits = PortionLimits::new(
            scoring.on_shares(MaxLengths::of(1, 1)).cell.as_ref(),
            scoring.alphabet_size(),
            TreeLevels::Four,
        );
        let mut compared = 0;
        for stage in &schedule.stages {
            let letters = stage
                .join_scanpaths
                .last()
                .map_or(0, |(_, range)| range.end) as u64;
            assert!(letters < limits.letters, "{metric:?}: {letters} letters");
            for portion in &stage.portions {
                assert!(portion.len() as u64 * 4001 <= limits.edges, "{metric:?}");
                compared += portion.len();
            }
        }
        assert_eq!(compared, pairs.len());
    }
}

/// There are enough comparisons for letters to share trees.
#[test]
fn letters_that_share_trees_give_the_plain_score() {
    let metric = &metrics()[0];
    let a = random_cohort(40, 10..30, 1);
    let b = random_cohort(40, 12..32, 2);
    let scores = expected(metric, &a, &b);
    let ([host, join], ..) = run(&spec(metric, &a, &b), &a, &b);
    assert_eq!(host, Ok(scores.clone()));
    assert_eq!(join, Ok(scores));
}

#[test]
fn thresholds_hidden_lengths_and_one_sided_results_match_the_plain_score() {
    assert!(options_match_the_plain_score(Cases::InTurn) > 8);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn all_thresholds_and_hidden_lengths_match_the_plain_score() {
    assert!(options_match_the_plain_score(Cases::All) > 40);
}

/// Returns the number of runs with a threshold.
fn options_match_the_plain_score(cases: Cases) -> usize {
    let mut runs = 0;
    for (seed, metric) in metrics().iter().enumerate() {
        let is_scanmatch = matches!(metric, Metric::ScanMatch { .. });
        let paddings = &[false, true][..if is_scanmatch { 1 } else { 2 }];
        for &padded in cases.of(seed, paddings) {
            let a = random_cohort(5, usize::from(is_scanmatch)..14, seed as u64);
            let b = random_cohort(4, usize::from(is_scanmatch)..15, 20 + seed as u64);
            let mut spec = spec(metric, &a, &b);
            let mut scores = expected(metric, &a, &b);
            if padded {
                spec.pad_to = Some(16);
                for answer in &mut scores {
                    if let Answer::Score(pair_score) = answer {
                        *pair_score = pair_score.without_similarity();
                    }
                }
            }
            let ([host, _], ..) = run(&spec, &a, &b);
            assert_eq!(host.as_ref(), Ok(&scores), "{metric:?} {padded}");
            let middle = scores[scores.len() / 2].pair_score().unwrap().score();
            let beside = [middle.next_down(), middle.next_up()][seed % 2];
            for value in cases.of(seed / 2, [middle, beside, [1e6, -1e6][seed % 2]]) {
                let threshold = Threshold::new(value).unwrap();
                spec.reveal = Reveal::Threshold(threshold);
                if spec.check().is_err() {
                    continue;
                }
                spec.reveal_to = [RevealTo::Both, RevealTo::Host, RevealTo::Join][runs % 3];
                runs += 1;
                let bits = scores.iter().map(|answer| {
                    Answer::Within(threshold.admits(metric, &answer.pair_score().unwrap()))
                });
                let bits: Vec<Answer> = bits.collect();
                let (ends, ..) = run(&spec, &a, &b);
                for (role, end) in [Role::Host, Role::Join].into_iter().zip(ends) {
                    match spec.reveal_to.includes(role) {
                        true => assert_eq!(end, Ok(bits.clone()), "{metric:?} {value}"),
                        false => assert_eq!(end, Ok(Vec::new())),
                    }
                }
            }
        }
    }
    runs
}

/// Message sizes depend neither on hidden lengths nor on letters.
#[test]
fn traffic_depends_on_shapes_only() {
    for metric in metrics()
        .iter()
        .filter(|m| !matches!(m, Metric::ScanMatch { .. }))
    {
        let traffic = [(0, 14, 1), (14, 0, 2), (7, 8, 3), (1, 1, 4)].map(|(m, n, seed)| {
            let (a, b) = (
                random_cohort(2, m..m + 1, seed),
                random_cohort(2, n..n + 1, seed),
            );
            let mut spec = spec(metric, &a, &b);
            spec.pad_to = Some(14);
            run(&spec, &a, &b).1
        });
        for other in &traffic[1..] {
            assert_eq!(other, &traffic[0], "{metric:?}");
        }
    }
}

/// The size of a job that compares all of `a` with all of `b`.
pub(super) fn work(a: &Cohort, b: &Cohort) -> Workload {
    let count = count_pairs(PairRule::All, a, b);
    fn lengths(cohort: &Cohort) -> impl Iterator<Item = u64> {
        let entries = cohort.entries.iter();
        entries.map(|entry| entry.scanpath.len() as u64)
    }
    Workload {
        pairs: count.pairs,
        cells: count.cells,
        newly_paired: count.newly_paired,
        host_scanpaths: a.entries.len() as u64,
        join_scanpaths: b.entries.len() as u64,
        host_letters: lengths(a).sum(),
        join_letters: lengths(b).sum(),
        host_longest: lengths(a).max().unwrap_or(0),
        join_longest: lengths(b).max().unwrap_or(0),
        alphabet: LETTERS.into(),
        ..Workload::default()
    }
}

/// Cohorts of one letter per scanpath, with these stimuli.
fn with_stimuli(stimuli: &[usize], length: usize) -> Cohort {
    let mut cohort = random_cohort(stimuli.len(), length..length + 1, 1);
    for (entry, stimulus) in cohort.entries.iter_mut().zip(stimuli) {
        entry.stimulus = Some(stimulus.to_string());
    }
    cohort
}

/// The estimated number of stages does not depend on the order of scanpaths, and is right for all usual orders.
#[test]
fn stages_are_as_estimated() {
    let by_stimulus: Vec<usize> = (0..1600).map(|at| at / 40).collect();
    let by_participant: Vec<usize> = (0..1600).map(|at| at % 40).collect();
    let metrics = metrics();
    for metric in [&metrics[0], &metrics[9]] {
        for (stimuli, rule) in [
            (&by_stimulus, PairRule::SameStimulus),
            (&by_participant, PairRule::SameStimulus),
            (&by_stimulus[..300].to_vec(), PairRule::All),
        ] {
            let (a, b) = (with_stimuli(stimuli, 90), with_stimuli(stimuli, 90));
            let mut spec = spec(metric, &a, &b);
            spec.pair_rule = rule;
            let pairs = pairs_of(rule, &a, &b);
            let own: Vec<&Scanpath> = a.entries.iter().map(|entry| &entry.scanpath).collect();
            let job = Job::new(&spec, Role::Host, &own, own.len(), &pairs).unwrap();
            let lengths = vec![90; own.len()];
            let measured = Schedule::new(&job, &PrivateMetric::of(&job), lengths.clone(), lengths);
            let work = Workload {
                newly_paired: count_pairs(rule, &a, &b).newly_paired,
                pairs: pairs.len() as u64,
                cells: pairs.len() as u64 * 8100,
                ..work(&a, &b)
            };
            let estimated = super::costs::stages(&job.comparison, &work, job.tree_levels);
            let measured = measured.stages.len() as u64;
            assert!(
                estimated <= measured + measured.div_ceil(4)
                    && measured <= estimated + estimated.div_ceil(4),
                "{}, {rule:?}: {estimated} and not {measured}",
                metric.name()
            );
        }
    }
}

/// Estimates match the counted rounds and bytes.
#[test]
fn rounds_and_bytes_are_as_estimated() {
    let [unit, wide, local] = [0, 9, 7].map(|at| metrics().swap_remove(at));
    rounds_and_bytes(&[
        (&unit, 1, 20..21),
        (&unit, 4, 60..61),
        (&unit, 20, 30..31),
        (&wide, 1, 20..21),
        (&wide, 6, 20..60),
        (&local, 10, 30..31),
    ]);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn rounds_and_bytes_of_more_cells_are_as_estimated() {
    let [unit, wide] = [0, 9].map(|at| metrics().swap_remove(at));
    rounds_and_bytes(&[
        (&unit, 7, 130..131),
        (&unit, 30, 20..60),
        (&wide, 12, 40..41),
        (&wide, 15, 20..60),
    ]);
}

fn rounds_and_bytes(cases: &[(&Metric, usize, std::ops::Range<usize>)]) {
    let mut wrong = Vec::new();
    let all = TreeLevels::ALL.into_iter().cycle();
    for (&(metric, count, ref lengths), levels) in cases.iter().zip(all) {
        let a = random_cohort(count, lengths.clone(), 1);
        let b = random_cohort(count, lengths.clone(), 2);
        let spec = spec(metric, &a, &b);
        let (ends, traffic, _) = run_with(&spec, &a, &b, levels);
        assert!(ends.iter().all(Result::is_ok));
        let estimated = spec.estimate_with(&work(&a, &b), &Link::local(), levels);
        let case = format!("{}, {count} of {lengths:?}, {levels:?}", metric.name());
        for (what, estimated, counted, tolerance) in [
            // Messages that arrive while a side sends nothing count as one round.
            ("rounds", estimated.rounds, traffic.rounds, 0.3),
            (
                "bytes to host",
                estimated.bytes_to_host,
                traffic.received,
                0.15,
            ),
            ("bytes to join", estimated.bytes_to_join, traffic.sent, 0.15),
        ] {
            let ratio = estimated as f64 / counted as f64;
            println!("{case}: {estimated} {what} estimated, {counted} counted, {ratio:.2}");
            if (ratio - 1.0).abs() > tolerance {
                wrong.push(format!("{case}: {estimated} {what} and not {counted}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
