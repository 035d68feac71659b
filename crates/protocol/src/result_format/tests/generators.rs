//! Random plans and outcomes.

use crate::{
    Bins, Cost, Engine, GroupAnswer, GroupMeans, GroupTest, Interval, KeySize, MeasureColumn,
    NearestLabel, NearestLabels, NearestRate, Outcome, PaillierOptions, PairRule, PlanTile,
    Results, Reveal, RevealTo, Revealed, ScanpathId, ScoreHistogram, Spec, StimulusMean,
    StimulusMeans, Tile, Value,
};
use proptest::prelude::*;
use veilpath_metrics::{
    Alphabet, Distance, Grid, LocalScoring, MeasureKind, Metric, Notation, Substitution, Table,
    Threshold,
};

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-1e6..1e6f64),
        (-1000..1000i32).prop_map(f64::from),
        Just(0.1 + 0.2),
        Just(-0.0),
        Just(5e-324),
        Just(9.007_199_254_740_993e15),
    ]
}

fn grid() -> impl Strategy<Value = Grid> {
    (1..200u32, 1..200u32).prop_map(|(columns, rows)| Grid::new(columns, rows).unwrap())
}

fn table() -> impl Strategy<Value = Table> {
    let values = |size: u32| proptest::collection::vec(number(), (size * size) as usize);
    (1..6u32)
        .prop_flat_map(move |size| (Just(size), values(size)))
        .prop_map(|(size, values)| Table::new(size, values).unwrap())
}

fn substitution() -> impl Strategy<Value = Substitution> {
    let distance = prop_oneof![
        Just(Distance::Manhattan),
        Just(Distance::Euclidean),
        Just(Distance::Chebyshev)
    ];
    prop_oneof![
        number().prop_map(|mismatch| Substitution::Unit { mismatch }),
        Just(Substitution::Index),
        (grid(), any::<bool>(), distance).prop_map(|(grid, wrap, distance)| Substitution::on_grid(
            grid.with_wrap(wrap),
            distance
        )),
        table().prop_map(|table| Substitution::Table { table }),
    ]
}

fn metric() -> impl Strategy<Value = Metric> {
    let scale = || proptest::option::of(1..100_000u32);
    let scoring = prop_oneof![
        (number(), number()).prop_map(|(reward, mismatch)| LocalScoring::Unit { reward, mismatch }),
        table().prop_map(|table| LocalScoring::Table { table }),
    ];
    prop_oneof![
        Just(Metric::Levenshtein),
        (substitution(), number(), number(), scale()).prop_map(
            |(substitution, insert, delete, scale)| Metric::NeedlemanWunsch {
                substitution,
                insert,
                delete,
                scale
            }
        ),
        (number(), number(), number(), scale()).prop_map(|(reward, mismatch, gap, scale)| {
            Metric::NeedlemanWunschScore {
                reward,
                mismatch,
                gap,
                scale,
            }
        }),
        (scoring, number(), scale()).prop_map(|(scoring, gap, scale)| Metric::SmithWaterman {
            scoring,
            gap,
            scale
        }),
        (grid(), any::<bool>(), number(), number(), scale()).prop_map(
            |(grid, wrap, threshold, gap, scale)| Metric::ScanMatch {
                grid,
                wrap,
                threshold,
                gap,
                scale: scale.map(f64::from)
            }
        ),
    ]
}

fn engine() -> impl Strategy<Value = Engine> {
    let size = proptest::sample::select(KeySize::ALL.to_vec());
    prop_oneof![
        Just(Engine::Plain),
        Just(Engine::Garbled),
        (size, 1..4096u32, any::<bool>(), any::<bool>()).prop_map(
            |(size, batch, packing, hardened)| {
                let options = PaillierOptions::new(size, true).unwrap();
                let options = options.with_batch(batch).unwrap().with_packing(packing);
                Engine::Paillier(options.with_hardening(hardened))
            }
        ),
    ]
}

fn spec() -> impl Strategy<Value = Spec> {
    let alphabet = (proptest::sample::select(Notation::ALL.to_vec()), 1..4u32)
        .prop_map(|(notation, size)| Alphabet::new(notation, size).unwrap());
    let reveal = prop_oneof![
        Just(Reveal::Score),
        number().prop_map(|value| Reveal::Threshold(Threshold::new(value).unwrap())),
    ];
    let reveal_to = prop_oneof![
        Just(RevealTo::Both),
        Just(RevealTo::Host),
        Just(RevealTo::Join)
    ];
    let pair_rule = prop_oneof![Just(PairRule::All), Just(PairRule::SameStimulus)];
    let encoding = proptest::collection::btree_map("[a-z-]{1,8}", ".{0,9}", 0..4);
    let pad_to = proptest::option::of(1..100_000u32);
    let parts = (
        engine(),
        metric(),
        alphabet,
        encoding,
        pair_rule,
        reveal,
        reveal_to,
        pad_to,
    );
    parts.prop_map(
        |(engine, metric, alphabet, encoding, pair_rule, reveal, reveal_to, pad_to)| Spec {
            engine,
            metric,
            alphabet,
            encoding,
            pair_rule,
            reveal,
            reveal_to,
            pad_to,
        },
    )
}

fn scanpath_ids() -> impl Strategy<Value = Vec<ScanpathId>> {
    let id = (".{0,5}", proptest::option::of("[a-c|]{0,3}"));
    let id = id.prop_map(|(participant, stimulus)| ScanpathId {
        participant,
        stimulus,
    });
    proptest::collection::vec(id, 1..5)
}

fn answers() -> impl Strategy<Value = Vec<GroupAnswer>> {
    let means = (1..4usize, 0..4usize, number(), any::<u32>()).prop_map(|(rows, columns, x, n)| {
        GroupAnswer::GroupMeans(GroupMeans {
            measure: "score".into(),
            stimulus: None,
            rows: vec!["experts".into(); rows],
            columns: vec!["novices".into(); columns],
            means: vec![vec![(n % 3 > 0).then_some(x); columns]; rows],
            counts: vec![vec![n.into(); columns]; rows],
            intervals: Vec::new(),
        })
    });
    let test = (number(), 0.0..=1.0, any::<Option<u64>>()).prop_map(|(value, p_value, seed)| {
        GroupAnswer::Test(GroupTest {
            question: "Do the groups differ?".into(),
            method: "permutation test".into(),
            measure: "score".into(),
            stimulus: Some("cows".into()),
            groups: vec!["experts".into(), "novices".into()],
            statistic: "difference of means".into(),
            value,
            interval: None,
            p_value,
            permutations: seed.map(|_| 9999),
            seed,
            coins: None,
            null_distribution: None,
        })
    });
    let nearest = (any::<u32>(), any::<u32>(), 0.0..=1.0).prop_map(|(correct, wrong, chance)| {
        GroupAnswer::NearestRate(NearestRate {
            measure: "score".into(),
            k: 5,
            correct: correct.into(),
            scanpaths: u64::from(correct) + u64::from(wrong),
            chance,
            interval: None,
            p_value: Some(chance),
            permutations: Some(9999),
            seed: Some(correct.into()),
            groups: vec!["experts".into(), "novices".into()],
            confusion: vec![vec![correct.into(), wrong.into()], vec![0, 0]],
        })
    });
    let labels = scanpath_ids().prop_map(|ids| {
        let labels = ids.into_iter().map(|scanpath| NearestLabel {
            group: scanpath.stimulus.clone(),
            scanpath,
            majority: "experts".into(),
        });
        GroupAnswer::NearestLabels(NearestLabels {
            measure: "score".into(),
            k: 5,
            groups: vec!["experts".into()],
            labels: labels.collect(),
        })
    });
    let histogram = (number(), any::<Option<u64>>()).prop_map(|(edge, count)| {
        GroupAnswer::Histogram(ScoreHistogram {
            measure: "score".into(),
            stimulus: None,
            bins: Bins {
                edges: vec![edge, edge.next_up()],
                counts: vec![count],
            },
            minimum: 5,
        })
    });
    let stimuli = (number(), 0.0..=1.0, any::<u64>()).prop_map(|(mean, level, pairs)| {
        GroupAnswer::StimulusMeans(StimulusMeans {
            measure: "score".into(),
            means: vec![StimulusMean {
                stimulus: None,
                mean: Some(mean),
                pairs,
                interval: Some(Interval {
                    level,
                    low: mean,
                    high: mean,
                    resamples: pairs,
                    seed: None,
                }),
            }],
        })
    });
    let answer = prop_oneof![means, test, nearest, labels, histogram, stimuli];
    proptest::collection::vec(answer, 0..3)
}

pub(super) fn outcome() -> impl Strategy<Value = Outcome> {
    let several = vec![
        MeasureColumn::new("shape", MeasureKind::Fraction),
        MeasureColumn::new("direction", MeasureKind::Fraction),
        MeasureColumn::new("duration", MeasureKind::Number),
    ];
    let values = proptest::collection::vec(number(), 1..20);
    let parts = (
        spec(),
        scanpath_ids(),
        scanpath_ids(),
        values,
        answers(),
        any::<[bool; 2]>(),
        number(),
    );
    parts.prop_map(
        move |(spec, a, b, numbers, answers, [one_cohort, more], seconds)| {
            let measures = if more {
                several.clone()
            } else {
                spec.measures()
            };
            let mut results = Results::new(measures.clone());
            for (index, &number) in numbers.iter().enumerate() {
                let values = measures.iter().map(|measure| match measure.kind {
                    _ if index % 4 == 3 => Value::Missing,
                    MeasureKind::Bit => Value::Bit(number > 0.0),
                    MeasureKind::Fraction => Value::Number((number.abs() / 7.3).fract()),
                    _ => Value::Number(number),
                });
                let values: Vec<Value> = values.collect();
                results.push(index % a.len(), index % b.len(), &values);
            }
            Outcome {
                pairs: results.len() as u64,
                tile: more.then(|| PlanTile {
                    tile: Tile::new(2, 3).unwrap(),
                    agreement: "5d".repeat(32),
                    pairs: results.len() as u64 + 7,
                }),
                spec,
                names: ["Clinic \"A\"".into(), "Université".into()],
                one_cohort,
                a,
                b,
                results,
                answers,
                error_bound: more.then(|| seconds.abs()),
                cost: Cost {
                    seconds: seconds.abs(),
                    bytes_sent: 3,
                    bytes_received: u64::MAX,
                    rounds: 2,
                    cells: 1,
                    pairs_from_journal: usize::from(more),
                },
                revealed: vec![Revealed {
                    to: RevealTo::Host,
                    what: "every score".into(),
                }],
            }
        },
    )
}
