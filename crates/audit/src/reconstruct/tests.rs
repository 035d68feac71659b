#![allow(clippy::unwrap_used)] // a test may fail

use super::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::collections::BTreeMap;
use veilpath_metrics::{
    Alphabet, Crqa, CrqaMeasure, Distance, Dtw, DurationClasses, DurationDivisor, Frechet, Grid,
    Hausdorff, LocalScoring, Metric, PathDivisor, Positions, RecurrenceRule, ScaSim, Substitution,
    Threshold, Undefined, View,
};
use veilpath_protocol::{DefaultLimit, Engine, PairRule, RevealTo, Spec, risky_settings};

const EFFORT: Effort = Effort {
    members: 10,
    sweeps: 24,
    proposals: 40,
    max_comparisons: 400,
};

pub(super) fn needleman_wunsch(substitution: Substitution, gap: f64) -> Metric {
    Metric::NeedlemanWunsch {
        substitution,
        insert: gap,
        delete: gap,
        scale: None,
    }
}

/// How many comparisons an attack needed to reconstruct each random scanpath; `None` if it got one wrong.
fn counts(
    attack: Attack,
    metric: &Metric,
    reveal: Reveal,
    size: (usize, u32),
    rounds: u64,
) -> Vec<Option<usize>> {
    counts_with(attack, metric, reveal, size, false, rounds)
}

/// The same, where the partner may not see the lengths.
fn counts_with(
    attack: Attack,
    metric: &Metric,
    reveal: Reveal,
    (length, letters): (usize, u32),
    hidden: bool,
    rounds: u64,
) -> Vec<Option<usize>> {
    let alphabet = Alphabet::letters(letters).unwrap();
    let comparison = Comparison::new(metric.clone(), alphabet).unwrap();
    assert!(attack.applies_to(&comparison, reveal));
    let round = |seed| {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let last = u16::try_from(letters - 1).unwrap();
        let secret = (0..length).map(|_| rng.random_range(0..=last)).collect();
        let secret = Scanpath::new(secret);
        let mut oracle = Oracle::new(&comparison, reveal, &secret);
        if hidden {
            oracle = oracle.with_hidden_length();
        }
        asked_by(attack, &mut oracle, &mut rng)
    };
    (0..rounds).map(round).collect()
}

/// How many comparisons an attack needed; `None` if its guess was wrong.
fn asked_by(attack: Attack, oracle: &mut Oracle<'_>, rng: &mut ChaCha20Rng) -> Option<usize> {
    let guess = attack.run(oracle, rng).unwrap();
    let right = guess.is_some_and(|guess| oracle.is_right(&guess));
    right.then_some(oracle.asked())
}

fn max_count(counts: &[Option<usize>]) -> usize {
    let counts: Option<Vec<usize>> = counts.iter().copied().collect();
    counts
        .expect("not reconstructed")
        .into_iter()
        .max()
        .unwrap()
}

/// The attacks must not need more comparisons than other attacks did.
#[test]
fn twenty_letters_of_twenty_six_are_reconstructed() {
    let size = (20, 26);
    let count =
        |attack, metric: &Metric| max_count(&counts(attack, metric, Reveal::Score, size, 20));
    let levenshtein = Metric::Levenshtein;
    assert_eq!(count(Attack::LetterByLetter, &levenshtein), 501);
    assert!(count(Attack::Insertion, &levenshtein) <= 104);
    let index = needleman_wunsch(Substitution::Index, 1000.0);
    assert!(count(Attack::Positions, &index) <= 21);
    let digits = digit_table(26).unwrap();
    assert!(count(Attack::Digits, &digits) <= 4);
}

/// These settings are refused unless they are allowed by name. If they are, the default limit still is at most half of
/// what the attacks above need.
#[test]
fn the_limit_of_an_allowed_risky_setting_is_at_most_half_of_its_attack() {
    let index = needleman_wunsch(Substitution::Index, 1000.0);
    let digits = digit_table(26).unwrap();
    for (metric, needed, bound) in [(index, 21, "5.9"), (digits, 4, "0.0")] {
        let alphabet = Alphabet::letters(26).unwrap();
        assert!(!risky_settings(&metric, alphabet).unwrap().is_empty());
        let spec = Spec {
            alphabet,
            ..spec(&metric, Reveal::Score)
        };
        let limit = limit(&spec, 20);
        assert!(2 * limit <= needed, "{metric:?}: {limit} of {needed}");
        let of_documents = DefaultLimit::new(&spec, Some(26)).unwrap().bound(20);
        assert_eq!(format!("{of_documents:.1}"), bound);
    }
}

#[test]
fn a_hidden_length_costs_one_comparison() {
    let alphabet = Alphabet::letters(26).unwrap();
    let comparison = Comparison::new(Metric::Levenshtein, alphabet).unwrap();
    let secret = alphabet.parse("LOOKATTHAT").unwrap();
    let asked = |hidden: bool| {
        let mut oracle = Oracle::new(&comparison, Reveal::Score, &secret);
        if hidden {
            oracle = oracle.with_hidden_length();
        }
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let guess = Attack::Insertion.run(&mut oracle, &mut rng).unwrap();
        assert_eq!(guess.unwrap(), secret.letters());
        oracle.asked()
    };
    assert_eq!(asked(true), asked(false) + 1);
}

#[test]
fn attacks_on_unit_costs_work_for_any_gap() {
    for gap in [0.75, 1.0, 2.0, 50.0] {
        let metric = needleman_wunsch(Substitution::Unit { mismatch: 1.0 }, gap);
        let found = counts(Attack::Insertion, &metric, Reveal::Score, (15, 12), 5);
        assert!(max_count(&found) <= 15 * 5, "{gap}: {found:?}");
    }
}

/// The default limit is at most half of the comparisons that the strongest attack needs.
#[test]
fn the_default_limit_is_at_most_half_of_the_strongest_attack() {
    let grid = Grid::new(5, 5).unwrap();
    let positions = Positions::Grid { grid, wrap: false };
    let metrics = [
        Metric::Levenshtein,
        needleman_wunsch(Substitution::Unit { mismatch: 1.0 }, 2.0),
        needleman_wunsch(Substitution::Index, 1.0),
        needleman_wunsch(Substitution::Index, 1000.0),
        needleman_wunsch(Substitution::on_grid(grid, Distance::Euclidean), 1.0),
        needleman_wunsch(Substitution::on_grid(grid, Distance::Manhattan), 2.0),
        Metric::NeedlemanWunschScore {
            reward: 1.0,
            mismatch: 1.0,
            gap: 1.0,
            scale: None,
        },
        Metric::ScanMatch {
            grid,
            wrap: false,
            threshold: 3.5,
            gap: 0.0,
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
        digit_table(25).unwrap(),
    ];
    for metric in metrics {
        for length in [3, 6] {
            check(&metric, Reveal::Score, length);
        }
    }
    // For these metrics, results are computed from scratch for every letter that is tried.
    let metrics = [
        Metric::SequenceScore,
        Metric::Frechet(Frechet { positions }),
        Metric::Hausdorff(Hausdorff { positions }),
        Metric::Dtw(Dtw {
            positions,
            divisor: PathDivisor::None,
            scale: None,
        }),
        Metric::Crqa(Crqa {
            rule: RecurrenceRule::SameLetter,
            line: 2,
            measures: vec![CrqaMeasure::Rec],
            undefined: Undefined::Missing,
            rounded: true,
        }),
        // Rounded fixations: 25 cells, and 5 cells with 5 durations.
        Metric::Dtw(Dtw {
            positions: Positions::Cells {
                grid,
                width: 384.0,
                height: 216.0,
            },
            divisor: PathDivisor::None,
            scale: None,
        }),
        Metric::ScaSim(ScaSim {
            view: View {
                center: [960.0, 540.0],
                pixel: [0.0276, 0.0278],
                distance: 60.0,
            },
            modulator: 0.83,
            divisor: DurationDivisor::None,
            classes: Some(DurationClasses {
                grid: Grid::new(5, 1).unwrap(),
                screen: [1920.0, 1080.0],
                durations: vec![100.0, 200.0, 300.0, 450.0, 700.0],
                scale: 1,
            }),
        }),
    ];
    for metric in metrics {
        check(&metric, Reveal::Score, 3);
    }
    let bit = Reveal::Threshold(Threshold::new(2.0).unwrap());
    check(&Metric::Levenshtein, bit, 4);
    for length in [20, 50] {
        let spec = spec(&Metric::Levenshtein, Reveal::Score);
        let limit = limit(&spec, length);
        let size = (usize::try_from(length).unwrap(), 25);
        let found = counts(Attack::Insertion, &spec.metric, Reveal::Score, size, 3);
        let fewest = found.iter().flatten().min().unwrap();
        assert!(2 * limit <= *fewest as u64, "{length}: {limit} of {fewest}");
    }
}

/// These metrics depend on less than the letters, so fewer answers than for all letters are enough.
#[test]
fn the_default_limit_of_metrics_that_depend_on_less_is_at_most_half_of_the_attack() {
    let crqa = |measures: &[CrqaMeasure]| {
        Metric::Crqa(Crqa {
            rule: RecurrenceRule::SameLetter,
            line: 2,
            measures: measures.to_vec(),
            undefined: Undefined::Missing,
            rounded: true,
        })
    };
    let [rec, lam_columns, lam, corm] = [
        CrqaMeasure::Rec,
        CrqaMeasure::LamColumns,
        CrqaMeasure::Lam,
        CrqaMeasure::Corm,
    ]
    .map(|measure| crqa(&[measure]));
    let lam_and_corm = crqa(&[CrqaMeasure::Lam, CrqaMeasure::Corm]);
    let positions = |columns, rows| Positions::Grid {
        grid: Grid::new(columns, rows).unwrap(),
        wrap: false,
    };
    let hausdorff = Metric::Hausdorff(Hausdorff {
        positions: positions(3, 3),
    });
    let frechet = Metric::Frechet(Frechet {
        positions: positions(2, 1),
    });
    let cases = [
        (&rec, Attack::Counts, (200, 49), 16),
        (&rec, Attack::Counts, (500, 49), 16),
        (&lam_columns, Attack::Counts, (100, 9), 8),
        (&lam_columns, Attack::Candidates, (10, 3), 3),
        (&lam, Attack::Candidates, (10, 3), 4),
        (&corm, Attack::Candidates, (10, 3), 4),
        (&lam_and_corm, Attack::Candidates, (10, 3), 4),
        (&hausdorff, Attack::Candidates, (20, 9), 8),
        (&hausdorff, Attack::Candidates, (50, 9), 8),
        (&frechet, Attack::Candidates, (10, 2), 12),
    ];
    for (metric, attack, (length, letters), known) in cases {
        let spec = Spec {
            alphabet: Alphabet::letters(letters).unwrap(),
            ..spec(metric, Reveal::Score)
        };
        let comparison = Comparison::new(metric.clone(), spec.alphabet).unwrap();
        let found = (0..5).map(|seed| {
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let secret = uneven_scanpath(length, letters, &mut rng);
            let mut oracle = Oracle::new(&comparison, Reveal::Score, &secret);
            asked_by(attack, &mut oracle, &mut rng).expect("not reconstructed")
        });
        let found: Vec<usize> = found.collect();
        // The bound is about the average.
        let all: usize = found.iter().sum();
        assert!(all <= known * found.len(), "{metric:?} {length}: {found:?}");
        let limit = limit(&spec, length as u64);
        println!("{metric:?} {length}: limit {limit}, {found:?}");
        assert!(
            2 * limit * found.len() as u64 <= all as u64,
            "{metric:?} {length}: {limit} of {found:?}"
        );
    }
}

/// A scanpath over some of the letters that stays at letters: with random ones, nearly all letters occur.
fn uneven_scanpath(length: usize, letters: u32, rng: &mut ChaCha20Rng) -> Scanpath {
    let mut visited: Vec<u16> = (0..letters)
        .filter(|_| rng.random())
        .map(|letter| u16::try_from(letter).unwrap())
        .collect();
    if visited.len() < 2 {
        visited = vec![0, 1];
    }
    let stay: f64 = rng.random();
    let mut path: Vec<u16> = Vec::new();
    while path.len() < length {
        let next = visited[rng.random_range(0..visited.len())];
        path.push(match path.last() {
            Some(&last) if rng.random_bool(stay) => last,
            _ => next,
        });
    }
    Scanpath::new(path)
}

fn spec(metric: &Metric, reveal: Reveal) -> Spec {
    Spec {
        engine: Engine::Garbled,
        metric: metric.clone(),
        alphabet: Alphabet::letters(25).unwrap(),
        encoding: BTreeMap::new(),
        pair_rule: PairRule::All,
        reveal,
        reveal_to: RevealTo::Both,
        pad_to: None,
    }
}

pub(super) fn limit(spec: &Spec, length: u64) -> u64 {
    let letters = Some(spec.alphabet.size());
    let limit = DefaultLimit::new(spec, letters).unwrap();
    limit.comparisons(length)
}

/// One bit per pair, hidden lengths, and an alphabet that this side does not declare.
#[test]
fn the_default_limit_of_other_answers_is_at_most_half_of_the_strongest_attack() {
    let bit = |threshold| Reveal::Threshold(Threshold::new(threshold).unwrap());
    let scan_match = Metric::ScanMatch {
        grid: Grid::new(5, 5).unwrap(),
        wrap: false,
        threshold: 3.5,
        gap: 0.0,
        scale: None,
    };
    check(&scan_match, bit(0.6), 3);
    for (gap, threshold) in [(5.0, 8.0), (1.0, 4.0)] {
        let index = needleman_wunsch(Substitution::Index, gap);
        check(&index, bit(threshold), 3);
    }
    let index = needleman_wunsch(Substitution::Index, 3.0);
    for metric in [&Metric::Levenshtein, &index, &scan_match] {
        let score = Reveal::Score;
        // The limit is that of the shortest scanpaths that it protects, of three letters.
        let padded = Spec {
            pad_to: Some(12),
            ..spec(metric, score)
        };
        check_spec(&padded, Some(25), (3, 25));
    }
    // The partner knows that only four letters occur.
    for metric in [&Metric::Levenshtein, &index] {
        check_spec(&spec(metric, Reveal::Score), None, (6, 4));
    }
}

fn check(metric: &Metric, reveal: Reveal, length: usize) {
    check_spec(&spec(metric, reveal), Some(25), (length, 25));
}

/// Checks the limit of this spec, on a side that declares this many letters, against attacks on scanpaths of this
/// length over the first letters.
fn check_spec(spec: &Spec, declared: Option<u32>, (length, letters): (usize, u32)) {
    let limit = DefaultLimit::new(spec, declared).unwrap();
    let limit = limit.comparisons(length as u64);
    let (metric, reveal, hidden) = (&spec.metric, spec.reveal, spec.pad_to.is_some());
    let alphabet = Alphabet::letters(letters).unwrap();
    let comparison = Comparison::new(metric.clone(), alphabet).unwrap();
    let attacks = [
        Attack::LetterByLetter,
        Attack::Insertion,
        Attack::Positions,
        Attack::Digits,
        Attack::Counts,
        Attack::Candidates,
        Attack::Search(EFFORT),
    ];
    let found: Vec<usize> = attacks
        .into_iter()
        .filter(|attack| attack.applies_to(&comparison, reveal))
        .flat_map(|attack| counts_with(attack, metric, reveal, (length, letters), hidden, 2))
        .flatten()
        .collect();
    let fewest = found.iter().min().expect("no attack reconstructs it");
    println!("{metric:?} {reveal} {length}: limit {limit}, strongest {fewest}");
    assert!(
        2 * limit <= *fewest as u64,
        "{metric:?} {length}: {limit} of {fewest}"
    );
}
