#![allow(clippy::unwrap_used)] // a test may fail
//! A cheating evaluator adds bits of its choice to the looked-up inputs of matrix cells, and gets the score of that
//! alignment. The scanpaths are short, so that all scanpaths that explain the answers can be counted.

use super::tests::{limit, needleman_wunsch};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::collections::{BTreeMap, HashMap};
use veilpath_metrics::{Alphabet, Comparison, Costs, Grid, Metric, Model, Substitution};
use veilpath_protocol::{Engine, PairRule, Reveal, RevealTo, Spec};

const LENGTH: usize = 4;
const LETTERS: u32 = 6;
/// The number of queries to choose the next one from.
const PROPOSALS: usize = 80;
/// The number of scanpaths on which queries are tried.
const SAMPLE: usize = 300;

/// The inputs of cells: how much a substitution saves compared with a deletion and an insertion, in units of the common
/// divisor.
struct Inputs {
    saved: Vec<Vec<u64>>,
    bits: u32,
    /// What every substitution saves. If all substitutions cost 0 or 1 and gaps 1, the input says only whether letters
    /// are equal, and the cost of a mismatch is not an input.
    always_saved: u64,
}

impl Inputs {
    fn of(metric: &Metric) -> Self {
        let alphabet = Alphabet::letters(LETTERS).unwrap();
        let comparison = Comparison::new(metric.clone(), alphabet).unwrap();
        let Model::Global(model) = comparison.model() else {
            panic!("a global alignment");
        };
        let gaps = u64::from(model.insert) + u64::from(model.delete);
        let letters = u16::try_from(LETTERS).unwrap();
        let cost = |a, b| u64::from(model.costs.cost(a, b)).min(gaps);
        let all = (0..letters).flat_map(|a| (0..letters).map(move |b| (a, b)));
        let unit = all.fold(
            gcd(model.insert.into(), model.delete.into()),
            |unit, (a, b)| gcd(unit, cost(a, b)),
        );
        let is_unit = matches!(model.costs, Costs::Unit { .. }) && gaps == 2 * unit;
        let always_saved = u64::from(is_unit);
        let row = |a| {
            let saved = |b| (gaps - cost(a, b)) / unit - always_saved;
            (0..letters).map(saved).collect()
        };
        let largest = gaps / unit - always_saved;
        Self {
            saved: (0..letters).map(row).collect(),
            bits: u64::BITS - largest.leading_zeros(),
            always_saved,
        }
    }

    /// The score of a scanpath, as the total that is saved.
    fn score(&self, scanpath: &[usize], query: &Query) -> u64 {
        let columns = query.letters.len();
        let mut best = vec![0; columns + 1];
        for (letter, masks) in scanpath.iter().zip(query.masks.chunks(columns)) {
            let mut diagonal = 0;
            for (j, (column, mask)) in query.letters.iter().zip(masks).enumerate() {
                let input = self.always_saved + (self.saved[*letter][*column] ^ mask);
                let value = (diagonal + input).max(best[j]).max(best[j + 1]);
                diagonal = std::mem::replace(&mut best[j + 1], value);
            }
        }
        best[columns]
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The letters of a scanpath, and what is added to the inputs of each row.
struct Query {
    letters: Vec<usize>,
    masks: Vec<u64>,
}

/// How many scores identify a random scanpath, if each query is the one that best tells the remaining scanpaths apart.
fn count(inputs: &Inputs, cheats: bool, seed: u64) -> usize {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let letters = LETTERS as usize;
    let mut left: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..LENGTH {
        let longer = |start: Vec<usize>| (0..letters).map(move |x| [&start[..], &[x]].concat());
        left = left.into_iter().flat_map(longer).collect();
    }
    let secret = left[rng.random_range(0..left.len())].clone();
    let mut asked = 0;
    while left.len() > 1 {
        let mut best: Option<(f64, Query)> = None;
        for _ in 0..PROPOSALS {
            let columns = rng.random_range(1..=2 * LENGTH + 2);
            let mut query = Query {
                letters: (0..columns).map(|_| rng.random_range(0..letters)).collect(),
                masks: vec![0; LENGTH * columns],
            };
            if rng.random() {
                let like = &left[rng.random_range(0..left.len())];
                for (letter, other) in query.letters.iter_mut().zip(like) {
                    *letter = *other;
                }
            }
            if cheats {
                for mask in &mut query.masks {
                    *mask = rng.random_range(0..1 << inputs.bits);
                }
            }
            let step = left.len().div_ceil(SAMPLE);
            let mut counts: HashMap<u64, f64> = HashMap::new();
            for scanpath in left.iter().step_by(step) {
                *counts.entry(inputs.score(scanpath, &query)).or_default() += 1.0;
            }
            let all: f64 = counts.values().sum();
            let entropy = counts
                .values()
                .map(|it| -it / all * (it / all).log2())
                .sum();
            if best.as_ref().is_none_or(|(largest, _)| entropy > *largest) {
                best = Some((entropy, query));
            }
        }
        let (_, query) = best.unwrap();
        let answer = inputs.score(&secret, &query);
        left.retain(|scanpath| inputs.score(scanpath, &query) == answer);
        asked += 1;
    }
    asked
}

#[test]
fn a_cheating_evaluator_needs_twice_the_default_limit() {
    let grid = Grid::new(3, 2).unwrap();
    let metrics = [
        Metric::Levenshtein,
        needleman_wunsch(Substitution::Unit { mismatch: 1.0 }, 2.0),
        needleman_wunsch(Substitution::Index, 3.0),
        Metric::ScanMatch {
            grid,
            wrap: false,
            threshold: 3.5,
            gap: 0.0,
            scale: None,
        },
    ];
    for metric in metrics {
        let spec = Spec {
            engine: Engine::Garbled,
            metric: metric.clone(),
            alphabet: Alphabet::letters(LETTERS).unwrap(),
            encoding: BTreeMap::new(),
            pair_rule: PairRule::All,
            reveal: Reveal::Score,
            reveal_to: RevealTo::Both,
            pad_to: None,
        };
        let limit = limit(&spec, LENGTH as u64);
        let inputs = Inputs::of(&metric);
        let counts = |cheats| (0..10).map(|seed| count(&inputs, cheats, seed)).collect();
        let [honest, cheating]: [Vec<usize>; 2] = [false, true].map(counts);
        println!("{metric:?}: limit {limit}, honest {honest:?}, cheating {cheating:?}");
        let fewest = cheating.iter().chain(&honest).min().unwrap();
        assert!(2 * limit <= *fewest as u64, "{metric:?}");
    }
}
