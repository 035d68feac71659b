//! Every answer, with every engine and metric, equals the answer in the clear exactly.

use super::numbers_in_the_clear;
use crate::engines::tests::{Cases, LETTERS, metrics, non_alignment_metrics};
use crate::outcome::scanpath_ids;
use crate::{
    AnswerSchema, Engine, GroupAnswer, GroupInputs, GroupSizes, GroupWorkload, Job, JobError,
    KeySize, Link, NumberKind, PaillierOptions, PairRule, PreparedGroupAnswer, ProtocolError, Role,
    Spec, TreeLevels, Workload, compare_locally, pairs_of,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use veilpath_metrics::{Alphabet, Cohort, Comparison, Encoding, Entry, Metric, Scanpath};
use veilpath_statistics::Coins;

mod every_answer;
mod made_up_scanpaths;
mod offsets;
mod precision;
mod refusals;

const QUESTIONS: [&str; 11] = [
    "mean",
    "mean:overall",
    "groups",
    "groups,published",
    "test:sites,50",
    "test:groups,50",
    "test:groups,50,published",
    "nearest:2",
    "nearest:3,rate",
    "histogram:4",
    "histogram:1",
];

/// Participants of two groups, with two stimuli; the first participants of a side may lack one of them.
fn cohort(
    participants: usize,
    lengths: std::ops::Range<usize>,
    missing: usize,
    seed: u64,
) -> Cohort {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let letters = u16::try_from(LETTERS).unwrap();
    let mut entries = Vec::new();
    for participant in 0..participants {
        for stimulus in ["x", "y"] {
            if stimulus == "y" && participant < missing {
                continue;
            }
            let length = rng.random_range(lengths.clone());
            let scanpath = (0..length).map(|_| rng.random_range(0..letters)).collect();
            entries.push(Entry {
                participant: format!("p{participant}"),
                group: Some(["control", "patient"][participant % 2].into()),
                stimulus: Some(stimulus.into()),
                scanpath: Scanpath::new(scanpath),
                fixations: None,
            });
        }
    }
    Cohort {
        alphabet: Alphabet::letters(LETTERS).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries,
    }
}

fn spec(engine: Engine, metric: &Metric, question: &str, a: &Cohort, b: &Cohort) -> Spec {
    let mut spec = Spec::new(engine, metric.clone(), PairRule::SameStimulus, a, b).unwrap();
    spec.reveal = question.parse().unwrap();
    spec
}

/// The answer from integers in the clear.
fn expected(spec: &Spec, a: &Cohort, b: &Cohort) -> Result<GroupAnswer, ProtocolError> {
    let question = spec.reveal.group_question().unwrap();
    let pairs = pairs_of(spec.pair_rule, a, b);
    let names = [scanpath_ids(a), scanpath_ids(b)];
    let groups = [a, b].map(|cohort| -> Vec<String> {
        let groups = cohort.entries.iter().map(|entry| entry.group.clone());
        groups.map(Option::unwrap).collect()
    });
    let sizes = [0, 1].map(|side: usize| GroupSizes::of(&names[side], &groups[side]));
    let scanpaths = [a, b].map(|cohort| -> Vec<&Scanpath> {
        cohort.entries.iter().map(|entry| &entry.scanpath).collect()
    });
    let lengths = [0, 1].map(|side: usize| -> Vec<usize> {
        let length = |it: &&Scanpath| spec.pad_to.map_or(it.len(), |padding| padding as usize);
        scanpaths[side].iter().map(length).collect()
    });
    let job = |role: Role, own: usize, other: usize| {
        let job = Job::new(spec, role, &scanpaths[own], lengths[other].len(), &pairs).unwrap();
        job.with_peer_lengths(&lengths[other]).unwrap()
    };
    let inputs = |side: usize| GroupInputs {
        question,
        engine: spec.engine,
        rule: spec.pair_rule,
        ids: [&names[0], &names[1]],
        own_groups: Some(&groups[side]),
        peer_groups: question.publishes_groups().then_some(&groups[1 - side][..]),
        sizes: sizes.clone(),
        minimum: 0,
        coins: *Coins::of_number(1, 0).bytes(),
    };
    let jobs = [job(Role::Host, 0, 1), job(Role::Join, 1, 0)];
    let host = PreparedGroupAnswer::new(&jobs[0], inputs(0))?;
    let join = PreparedGroupAnswer::new(&jobs[1], inputs(1))?;
    assert_eq!(host.schema(), join.schema());
    check_bits(host.schema());
    let mut values = Vec::new();
    for (pair, &(i, j)) in pairs.iter().enumerate() {
        let raw = host.raw(scanpaths[0][i], scanpaths[1][j])?;
        values.push(host.value_of_raw(pair, raw)?);
    }
    host.schema()
        .answer(&numbers_in_the_clear(&host, &join, &values)?)
}

/// If a modified peer opens something else instead of a number, it has no more bits than these.
fn check_bits(schema: &AnswerSchema) {
    let (count, max_bits) = match schema.kind {
        NumberKind::StimulusMeans { .. }
        | NumberKind::GroupMeans { .. }
        | NumberKind::Test { .. } => (schema.count(), 20),
        NumberKind::Nearest { .. } => (schema.count(), 1),
        NumberKind::NearestRate { .. } | NumberKind::Histogram { .. } => (schema.count(), 6),
    };
    assert_eq!(schema.bits.len(), count);
    for (bits, shift) in schema.bits.iter().zip(&schema.shifts) {
        assert!(
            bits - shift <= max_bits,
            "{} bits: {schema:?}",
            bits - shift
        );
    }
}

fn found(spec: &Spec, a: &Cohort, b: &Cohort) -> Result<GroupAnswer, ProtocolError> {
    let outcome = compare_locally(spec.clone(), a, b, &())?;
    assert!(outcome.results.is_empty());
    Ok(outcome.answers.into_iter().next().unwrap())
}

#[test]
fn participants_may_have_different_numbers_of_stimuli() {
    let (a, b) = (cohort(4, 1..9, 2, 3), cohort(4, 1..9, 1, 4));
    let metric = Metric::Levenshtein;
    for question in QUESTIONS {
        // There are fewer references for one stimulus.
        let question = question.replace("nearest:3", "nearest:2");
        let spec = spec(Engine::Shares, &metric, &question, &a, &b);
        let expected = expected(&spec, &a, &b).unwrap();
        assert_eq!(found(&spec, &a, &b).unwrap(), expected, "{question}");
    }
}

#[test]
fn lengths_may_be_hidden() {
    let (a, b) = (cohort(3, 0..7, 0, 5), cohort(3, 0..7, 0, 6));
    let questions = ["mean:overall", "test:sites,20", "nearest:2"];
    let engines = [Engine::Garbled, Engine::Shares];
    let mut cases = Vec::new();
    for (number, metric) in metrics().iter().enumerate() {
        // Takes questions and engines in turn.
        for (question, engine) in [(number, number / 2), (number + 1, number / 2 + 1)] {
            let (question, engine) = (questions[question % 3], engines[engine % 2]);
            let mut spec = spec(engine, metric, question, &a, &b);
            spec.pad_to = Some(8);
            if spec.check().is_err() {
                continue;
            }
            let case = format!("{question} by {engine:?} and {metric:?}");
            let expected = expected(&spec, &a, &b).unwrap_or_else(|e| panic!("{case}: {e}"));
            assert_eq!(found(&spec, &a, &b).unwrap(), expected, "{case}");
            cases.push((question, engine));
        }
    }
    assert!(
        questions
            .iter()
            .all(|it| cases.iter().any(|case| case.0 == *it))
    );
    assert!(
        engines
            .iter()
            .all(|it| cases.iter().any(|case| case.1 == *it))
    );
}

#[test]
fn double_precision_gives_nearly_the_same_means() {
    let (a, b) = (cohort(4, 1..9, 0, 7), cohort(3, 1..9, 0, 8));
    for metric in metrics() {
        let answers = [Engine::Plain, Engine::Shares]
            .map(|engine| found(&spec(engine, &metric, "groups", &a, &b), &a, &b).unwrap());
        let [
            GroupAnswer::GroupMeans(plain),
            GroupAnswer::GroupMeans(private),
        ] = &answers
        else {
            panic!("not means");
        };
        let error = spec(Engine::Shares, &metric, "groups", &a, &b).error_bound();
        let both = plain
            .means
            .iter()
            .flatten()
            .zip(private.means.iter().flatten());
        for (plain, private) in both {
            let (plain, private) = (plain.unwrap(), private.unwrap());
            assert!(
                (plain - private).abs() <= error.unwrap_or(0.0) + 1e-6,
                "{metric:?}"
            );
        }
    }
}

/// Answers about a metric equal those in the clear exactly, and match the means of plain scores. Lengths are hidden if possible.
#[test]
fn answers_about_non_alignment_metrics_equal_those_in_the_clear() {
    assert!(compare_non_alignment_metrics(Cases::InTurn) >= 8);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn all_answers_about_non_alignment_metrics_equal_those_in_the_clear() {
    assert!(compare_non_alignment_metrics(Cases::All) >= 20);
}

/// Returns the number of cases.
fn compare_non_alignment_metrics(cases_of_a_metric: Cases) -> usize {
    let (a, b) = (cohort(4, 1..9, 0, 11), cohort(3, 1..9, 0, 12));
    let mut cases = 0;
    for (number, metric) in non_alignment_metrics().iter().enumerate() {
        for (turn, engine) in [Engine::Garbled, Engine::Shares].into_iter().enumerate() {
            let question = ["test:sites,20", "nearest:2", "histogram:4"][number / 3 % 3];
            let all = [("groups", None), (question, None), ("groups", Some(8))];
            for (question, pad_to) in cases_of_a_metric.of(number + turn, all) {
                let mut spec = spec(engine, metric, question, &a, &b);
                spec.pad_to = pad_to;
                if spec.check().is_err() {
                    continue;
                }
                let case = format!("{question} by {engine:?} and {metric:?}");
                let expected = expected(&spec, &a, &b).unwrap_or_else(|e| panic!("{case}: {e}"));
                let found = found(&spec, &a, &b).unwrap_or_else(|e| panic!("{case}: {e}"));
                assert_eq!(found, expected, "{case}");
                cases += 1;
                if question == "groups" {
                    let error = match metric {
                        Metric::Dtw(dtw) => dtw.error_bound(9, 9),
                        _ => 0.0,
                    };
                    assert_means(metric, &found, error, &a, &b);
                }
            }
        }
    }
    cases
}

/// Compares means of groups with those of the plain scores.
fn assert_means(metric: &Metric, found: &GroupAnswer, error: f64, a: &Cohort, b: &Cohort) {
    let plain = self::found(&spec(Engine::Plain, metric, "groups", a, b), a, b).unwrap();
    let (GroupAnswer::GroupMeans(plain), GroupAnswer::GroupMeans(private)) = (&plain, found) else {
        panic!("not means");
    };
    let both = plain.means.iter().flatten();
    for (plain, private) in both.zip(private.means.iter().flatten()) {
        let (plain, private) = (plain.unwrap(), private.unwrap());
        assert!((plain - private).abs() <= error + 1e-4, "{metric:?}");
    }
}

/// Bytes and rounds that a question adds to the scores, estimated and measured.
#[test]
fn costs_are_as_estimated() {
    let (a, b) = (cohort(8, 12..13, 0, 1), cohort(8, 12..13, 0, 2));
    let metric = &metrics()[9];
    let pairs = 8 * 8 * 2;
    let work = Workload {
        pairs,
        cells: pairs * 144,
        host_scanpaths: 16,
        join_scanpaths: 16,
        host_letters: 16 * 12,
        join_letters: 16 * 12,
        host_longest: 12,
        join_longest: 12,
        alphabet: LETTERS.into(),
        newly_paired: 16,
        group: Some(GroupWorkload {
            participants: [8, 8],
            groups: 4,
            pairs,
            queries: 16,
        }),
        ..Workload::default()
    };
    for question in [
        "mean",
        "groups",
        "groups,published",
        "test:sites,300",
        "test:groups,300",
        "test:groups,300,published",
        "nearest:3,rate",
        "histogram:8",
    ] {
        let spec = spec(Engine::Shares, metric, question, &a, &b);
        let estimated = spec.estimate_with(&work, &Link::local(), TreeLevels::default());
        let measured = compare_locally(spec.clone(), &a, &b, &()).unwrap().cost;
        for (what, estimated, measured) in [
            ("bytes", estimated.bytes_to_host, measured.bytes_received),
            ("rounds", estimated.rounds, measured.rounds),
        ] {
            println!("{question}: {estimated} {what} estimated, {measured} measured");
            assert!(
                estimated <= 2 * measured && measured <= 2 * estimated,
                "{question}: {estimated} {what}, not {measured}"
            );
        }
    }
}

/// Similarities are fractions of small numbers, so many lie on an edge.
#[test]
fn values_on_an_edge_are_in_the_bin_above() {
    let (a, b) = (cohort(6, 1..9, 0, 13), cohort(6, 1..9, 0, 14));
    for bins in [3, 6, 7] {
        let question = format!("histogram:{bins}");
        let spec = spec(Engine::Shares, &Metric::Levenshtein, &question, &a, &b);
        let comparison = Comparison::new(Metric::Levenshtein, a.alphabet).unwrap();
        let mut expected = vec![0; bins];
        for (i, j) in pairs_of(spec.pair_rule, &a, &b) {
            let (x, y) = (&a.entries[i].scanpath, &b.entries[j].scanpath);
            let distance = usize::try_from(comparison.raw(x, y).unwrap()).unwrap();
            let longer = x.len().max(y.len());
            expected[((longer - distance) * bins / longer).min(bins - 1)] += 1;
        }
        let GroupAnswer::Histogram(found) = found(&spec, &a, &b).unwrap() else {
            panic!("not a histogram");
        };
        let expected: Vec<Option<u64>> = expected.into_iter().map(Some).collect();
        assert_eq!(found.bins.counts, expected, "{bins} bins");
    }
}

/// An exact sum could be solved for the results of single pairs.
#[test]
fn means_are_rounded_before_they_are_opened() {
    let (a, b) = (cohort(5, 20..60, 0, 11), cohort(5, 20..60, 0, 12));
    let spec = spec(Engine::Shares, &Metric::Levenshtein, "mean:overall", &a, &b);
    let comparison = Comparison::new(Metric::Levenshtein, a.alphabet).unwrap();
    let pairs = pairs_of(spec.pair_rule, &a, &b);
    let similarity = |&(i, j): &(usize, usize)| {
        let (x, y) = (&a.entries[i].scanpath, &b.entries[j].scanpath);
        comparison.compare(x, y).unwrap().similarity().unwrap()
    };
    let exact = pairs.iter().map(similarity).sum::<f64>() / pairs.len() as f64;
    let GroupAnswer::StimulusMeans(means) = found(&spec, &a, &b).unwrap() else {
        panic!("not means");
    };
    let error = (means.means[0].mean.unwrap() - exact).abs();
    assert!(error <= 1.0 / 8192.0, "{error}");
    // Beyond its 14 bits, a mean is the middle of the possible range.
    let steps = means.means[0].mean.unwrap() * 50.0 * 65536.0;
    assert!((steps - steps.round()).abs() < 1e-6, "{steps}");
}

#[test]
fn questions_without_an_answer_are_refused() {
    let metric = Metric::Levenshtein;
    let (a, mut b) = (cohort(4, 1..9, 0, 1), cohort(3, 1..9, 0, 2));
    let error = |question: &str, b: &Cohort| {
        found(&spec(Engine::Shares, &metric, question, &a, b), &a, b).unwrap_err()
    };
    assert!(matches!(
        error("nearest:4", &b),
        ProtocolError::Statistics(_)
    ));
    b.entries.iter_mut().for_each(|entry| entry.group = None);
    assert_eq!(error("groups", &b), ProtocolError::Job(JobError::NoGroups));
    // A participant whose only stimulus nobody else has.
    b.entries[0].stimulus = Some("z".into());
    b.entries.remove(1);
    assert!(matches!(
        error("test:sites", &b),
        ProtocolError::Statistics(_)
    ));
}

/// With `paillier` the host sees masked numbers of every matrix cell.
#[test]
fn engines_that_reveal_more_do_not_claim_to_reveal_nothing() {
    let (a, b) = (cohort(2, 1..3, 0, 1), cohort(2, 1..3, 0, 2));
    let paillier = Engine::Paillier(PaillierOptions::DEFAULT);
    for (engine, promises) in [
        (Engine::Garbled, true),
        (Engine::Shares, true),
        (paillier, false),
    ] {
        let spec = spec(engine, &Metric::Levenshtein, "mean", &a, &b);
        let claim = "nothing about single pairs";
        assert_eq!(spec.describe_answer().contains(claim), promises);
        let learned = engine.revealed(&spec);
        assert_eq!(learned.iter().any(|it| it.what.contains(claim)), promises);
    }
}
