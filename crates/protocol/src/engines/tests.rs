//! Common tests for every engine and metric: the answers of both roles follow from the plain comparison of each pair.

mod cases;
mod keys;
mod non_alignment;
mod non_alignment_vectors;
mod possible_results;
mod recording_rng;
mod thresholds;
mod traffic;
mod vectors;

pub(crate) use cases::Cases;
pub(crate) use non_alignment::{non_alignment_metrics, rounded_fixations};
pub(crate) use recording_rng::RecordingRng;
pub(crate) use traffic::{documented_alphabet, scanmatch};

use crate::{
    Engine, Job, Link, PaillierOptions, PairRule, ProtocolError, Role, Spec, Value, Workload,
    compare_locally,
};
use proptest::prelude::*;
use veilpath_channel::{Channel, memory_pair};
use veilpath_metrics::{
    Alphabet, Cohort, Comparison, Distance, Encoding, Entry, Grid, LocalScoring, Metric, Notation,
    PairScore, Scanpath, Substitution, Table,
};
use veilpath_paillier::KeySize;

pub(crate) const LETTERS: u32 = 12;

/// Every engine with all its options. Keys are short, because only the time depends on their length.
fn engines() -> Vec<Engine> {
    let short = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    vec![
        Engine::Plain,
        Engine::Paillier(short),
        Engine::Paillier(short.with_batch(7).unwrap().with_packing(false)),
        Engine::Paillier(short.with_batch(1).unwrap().with_packing(false)),
        Engine::Paillier(short.with_hardening(true)),
        Engine::Paillier(
            short
                .with_hardening(true)
                .with_batch(1)
                .unwrap()
                .with_packing(false),
        ),
        Engine::Garbled,
        Engine::Shares,
    ]
}

/// Every engine, with both kinds of masks.
fn few_engines() -> [Engine; 5] {
    let [plain, packed, _, _, _, hardened, garbled, shares] = *engines() else {
        unreachable!("eight engines")
    };
    [plain, packed, hardened, garbled, shares]
}

pub(crate) fn metrics() -> Vec<Metric> {
    let grid = Grid::new(4, 3).unwrap();
    let table = Table::new(
        LETTERS,
        (0..LETTERS * LETTERS)
            .map(|i| f64::from(i * 7 % 11))
            .collect(),
    )
    .unwrap();
    let signed = Table::new(
        LETTERS,
        (0..LETTERS * LETTERS)
            .map(|i| f64::from(i * 5 % 9) - 4.0)
            .collect(),
    )
    .unwrap();
    let needleman_wunsch = |substitution, insert, delete| Metric::NeedlemanWunsch {
        substitution,
        insert,
        delete,
        scale: None,
    };
    vec![
        Metric::Levenshtein,
        needleman_wunsch(Substitution::Unit { mismatch: 3.0 }, 1.0, 2.0),
        needleman_wunsch(Substitution::Index, 5.0, 5.0),
        needleman_wunsch(
            Substitution::on_grid(grid.with_wrap(true), Distance::Manhattan),
            2.0,
            2.0,
        ),
        needleman_wunsch(Substitution::on_grid(grid, Distance::Euclidean), 1.5, 1.25),
        needleman_wunsch(Substitution::Table { table }, 0.0, 4.0),
        Metric::NeedlemanWunschScore {
            reward: 2.0,
            mismatch: 1.0,
            gap: 1.0,
            scale: None,
        },
        Metric::SmithWaterman {
            scoring: LocalScoring::Unit {
                reward: 2.0,
                mismatch: 1.0,
            },
            gap: 1.0,
            scale: None,
        },
        Metric::SmithWaterman {
            scoring: LocalScoring::Table { table: signed },
            gap: 1.5,
            scale: None,
        },
        Metric::ScanMatch {
            grid,
            wrap: false,
            threshold: 3.5,
            gap: 0.0,
            scale: Some(1000.0),
        },
        Metric::ScanMatch {
            grid,
            wrap: true,
            threshold: 1.0,
            gap: -0.5,
            scale: None,
        },
    ]
}

pub(super) fn cohort(scanpaths: &[Vec<u16>]) -> Cohort {
    Cohort {
        alphabet: Alphabet::letters(LETTERS).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries: scanpaths
            .iter()
            .enumerate()
            .map(|(index, letters)| Entry {
                participant: format!("p{index}"),
                group: None,
                stimulus: None,
                scanpath: Scanpath::new(letters.clone()),
                fixations: None,
            })
            .collect(),
    }
}

/// The score that an engine must give for a pair.
fn expected(engine: Engine, comparison: &Comparison, x: &Scanpath, y: &Scanpath) -> PairScore {
    // Without a scale, ScanMatch is computed in double precision in the clear, and in integers everywhere else.
    if engine == Engine::Plain {
        comparison.compare(x, y).unwrap()
    } else {
        let raw = comparison.raw(x, y).unwrap();
        comparison.read(raw, x.len(), y.len()).unwrap()
    }
}

fn equals_plain_comparison(engine: Engine, metric: &Metric, a: &Cohort, b: &Cohort) {
    let spec = Spec::new(engine, metric.clone(), PairRule::All, a, b).unwrap();
    let outcome = compare_locally(spec, a, b, &()).unwrap();
    let comparison = Comparison::new(metric.clone(), a.alphabet).unwrap();
    assert_eq!(outcome.results.len(), a.entries.len() * b.entries.len());
    for pair in outcome.results.iter() {
        let (x, y) = (&a.entries[pair.a].scanpath, &b.entries[pair.b].scanpath);
        let expected = expected(engine, &comparison, x, y);
        let numbers = expected.numbers();
        let values = numbers.map(|number| number.map_or(Value::Missing, Value::Number));
        let values: Vec<Value> = values.collect();
        assert_eq!(pair.values, values, "{engine:?} {metric:?}");
    }
}

#[test]
fn rounds_are_as_estimated() {
    // The shapes are distributed over the `paillier` options, and the largest is slow.
    rounds_equal_the_estimate(|engine, shape| {
        shape != 2 && (engine > 5 || usize::from(engine % 3 == 1) == shape)
    });
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn rounds_of_all_shapes_are_as_estimated() {
    rounds_equal_the_estimate(|_, _| true);
}

/// The estimated number of rounds is right within a factor of 2. `is_taken` chooses the engines and shapes.
fn rounds_equal_the_estimate(is_taken: impl Fn(usize, usize) -> bool) {
    let equal = |count: usize, length: usize, step: usize| {
        let letters = |index: usize| {
            let letters = (0..length).map(|at| ((index + at * step) % 12) as u16);
            letters.collect()
        };
        cohort(&(0..count).map(letters).collect::<Vec<_>>())
    };
    let scanmatch = Metric::NeedlemanWunsch {
        substitution: Substitution::Index,
        insert: 100.0,
        delete: 120.0,
        scale: None,
    };
    for (at, engine) in engines().into_iter().enumerate() {
        for (shape, (count, length, metric)) in [
            (1, 20, Metric::Levenshtein),
            (3, 15, Metric::Levenshtein),
            (8, 60, Metric::Levenshtein),
            (3, 40, scanmatch.clone()),
        ]
        .into_iter()
        .enumerate()
        {
            // The paper's pattern is slow.
            let is_slow = !matches!(engine, Engine::Garbled | Engine::Shares);
            if !is_taken(at, shape) || is_slow && length > 20 {
                continue;
            }
            let (a, b) = (equal(count, length, 5), equal(count, length, 7));
            let spec = Spec::new(engine, metric, PairRule::All, &a, &b).unwrap();
            let (count, length) = (count as u64, length as u64);
            let work = Workload {
                pairs: count * count,
                cells: count * count * length * length,
                host_scanpaths: count,
                join_scanpaths: count,
                host_letters: count * length,
                join_letters: count * length,
                alphabet: LETTERS.into(),
                ..Workload::default()
            };
            let estimated = spec.estimate(&work, &Link::local()).rounds;
            let made = compare_locally(spec, &a, &b, &()).unwrap().cost.rounds;
            println!("{engine:?}, {count} of {length}: {estimated} rounds estimated, {made} made");
            assert!(
                estimated <= 2 * made && made <= 2 * estimated,
                "{engine:?}, {count} of {length}: {estimated} and not {made}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn the_plain_engine_gives_the_plain_score(a in scanpaths(70), b in scanpaths(70)) {
        for metric in metrics().into_iter().chain(non_alignment_metrics()) {
            equals_plain_comparison(Engine::Plain, &metric, &cohort(&a), &cohort(&b));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1))]
    #[test]
    fn every_engine_gives_the_plain_score(a in scanpaths(9), b in scanpaths(9)) {
        for (at, engine) in engines().into_iter().enumerate() {
            for (number, metric) in metrics().into_iter().chain(non_alignment_metrics()).enumerate() {
                // The metrics are distributed over the engines and options.
                if engine.can_compute(&metric) && (number + at) % 2 == 0 {
                    equals_plain_comparison(engine, &metric, &cohort(&a), &cohort(&b));
                }
            }
        }
    }
}

/// A few scanpaths of length 1, of any length, and of this length.
fn scanpaths(longest: usize) -> impl Strategy<Value = Vec<Vec<u16>>> {
    let length = prop_oneof![Just(1usize), 1..longest.min(20), Just(longest)];
    let letter = 0..u16::try_from(LETTERS).unwrap();
    let scanpath =
        length.prop_flat_map(move |length| prop::collection::vec(letter.clone(), length));
    prop::collection::vec(scanpath, 1..4)
}

#[test]
fn extreme_costs_and_lengths_give_the_plain_score() {
    let greatest = f64::from(veilpath_metrics::MAX_COST);
    let unit = |mismatch, insert, delete| Metric::NeedlemanWunsch {
        substitution: Substitution::Unit { mismatch },
        insert,
        delete,
        scale: Some(1),
    };
    let local = |reward, mismatch, gap| Metric::SmithWaterman {
        scoring: LocalScoring::Unit { reward, mismatch },
        gap,
        scale: Some(1),
    };
    let metrics = [
        unit(greatest, greatest, greatest),
        unit(greatest, 0.0, greatest),
        unit(0.0, 0.0, 0.0),
        unit(greatest, 1.0, 1.0),
        local(greatest, greatest, greatest),
        local(0.0, greatest, 0.0),
        local(greatest, 0.0, 0.0),
    ];
    let shapes = [
        (vec![vec![1; 17]], vec![vec![1], vec![2], vec![1; 17]]),
        (
            vec![vec![3]],
            vec![vec![3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9]],
        ),
        (
            vec![vec![0, 1], vec![], vec![11; 3]],
            vec![vec![11; 4], vec![]],
        ),
    ];
    for (at, engine) in few_engines().into_iter().enumerate() {
        for (number, metric) in metrics.iter().enumerate() {
            let cases = [Cases::InTurn, Cases::All][usize::from(engine == Engine::Plain)];
            for (a, b) in cases.of(number + at, &shapes) {
                equals_plain_comparison(engine, metric, &cohort(a), &cohort(b));
            }
        }
    }
}

/// The smallest useful alphabet, of four bases, and the usual scores for them.
#[test]
fn dna_gives_the_plain_score() {
    let alphabet = Alphabet::full(Notation::Dna);
    let dna = |texts: &[&str]| Cohort {
        alphabet,
        entries: texts
            .iter()
            .map(|text| Entry {
                participant: text.to_string(),
                group: None,
                stimulus: None,
                scanpath: alphabet.parse(text).unwrap(),
                fixations: None,
            })
            .collect(),
        ..cohort(&[])
    };
    let a = dna(&["GATTACA", "CCCGGGAAATTT"]);
    let b = dna(&["GCATGCT", "T", "ACGTACGTACGTA"]);
    let metrics = [
        Metric::Levenshtein,
        Metric::NeedlemanWunsch {
            substitution: Substitution::Unit { mismatch: 1.0 },
            insert: 2.0,
            delete: 2.0,
            scale: None,
        },
        Metric::SmithWaterman {
            scoring: LocalScoring::Unit {
                reward: 3.0,
                mismatch: 3.0,
            },
            gap: 2.0,
            scale: None,
        },
    ];
    for engine in few_engines() {
        for metric in &metrics {
            equals_plain_comparison(engine, metric, &a, &b);
        }
    }
}

#[test]
fn empty_scanpaths_are_allowed_except_for_scanmatch() {
    let (empty, some) = (cohort(&[vec![]]), cohort(&[vec![], vec![3, 3, 4]]));
    for engine in engines() {
        for metric in metrics() {
            if matches!(metric, Metric::ScanMatch { .. }) {
                let spec = Spec::new(engine, metric, PairRule::All, &empty, &some).unwrap();
                assert!(compare_locally(spec, &empty, &some, &()).is_err());
            } else {
                equals_plain_comparison(engine, &metric, &empty, &some);
                equals_plain_comparison(engine, &metric, &some, &empty);
            }
        }
    }
}

/// Runs the host against chosen bytes.
fn host_against(engine: Engine, bytes: &[u8]) -> ProtocolError {
    let own = Scanpath::new(vec![1, 2]);
    let own = [&own];
    let a = cohort(&[vec![1, 2]]);
    let spec = Spec::new(engine, Metric::Levenshtein, PairRule::All, &a, &a).unwrap();
    let job = Job::new(&spec, Role::Host, &own, 1, &[(0, 0)]).unwrap();
    let (mut host, mut peer) = memory_pair();
    peer.send(bytes).unwrap();
    peer.flush().unwrap();
    drop(peer);
    engine.run(&job, &mut host, &()).unwrap_err()
}

#[test]
fn a_broken_peer_is_a_typed_error() {
    let mut invalid_letter = 1u64.to_le_bytes().to_vec();
    invalid_letter.extend([LETTERS as u8, 0]);
    assert!(matches!(
        host_against(Engine::Plain, &invalid_letter),
        ProtocolError::PeerMisbehaved(_)
    ));
    for engine in engines() {
        assert!(matches!(
            host_against(engine, &[]),
            ProtocolError::Channel(_)
        ));
        assert!(matches!(
            host_against(engine, &[255; 64]),
            ProtocolError::PeerMisbehaved(_)
        ));
        // A length that is only claimed must not allocate gigabytes; it may be rejected at once.
        assert!(matches!(
            host_against(engine, &(1u64 << 31).to_le_bytes()),
            ProtocolError::Channel(_) | ProtocolError::PeerMisbehaved(_)
        ));
    }
}

#[test]
fn pairs_outside_the_cohorts_are_refused() {
    let a = cohort(&[vec![1]]);
    let own = [&a.entries[0].scanpath];
    let spec = Spec::new(Engine::Plain, Metric::Levenshtein, PairRule::All, &a, &a).unwrap();
    assert!(Job::new(&spec, Role::Join, &own, 1, &[(1, 0)]).is_err());
    assert!(Job::new(&spec, Role::Host, &own, 1, &[(0, 1)]).is_err());
}
