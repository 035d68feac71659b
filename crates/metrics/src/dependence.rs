//! What a metric depends on, and so what its scores can reveal: all letters of a scanpath in order, or less.

use crate::{CrqaMeasure, Model};
use std::collections::{BTreeMap, HashMap};
use std::f64::consts::LN_2;

/// What the scores of a scanpath depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependence {
    /// All letters, in order.
    Letters,
    /// The letters in order, without repetitions.
    WithoutRepetitions,
    /// How often each letter occurs, and a little about where.
    Counts(Counts),
    /// Which letters occur.
    Set,
}

/// What cross-recurrence counts, apart from how often each letter occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many occurrences of each letter are in runs of at least this many.
    pub runs: Option<u32>,
    /// The sum of the positions of each letter.
    pub positions: bool,
    /// The letters in order, if there are at least this many: shorter scanpaths have no diagonal lines.
    pub diagonals: Option<u32>,
}

/// Only this many letters of an alphabet are compared with each other. A larger alphabet counts as no more.
const MAX_COMPARED: u32 = 256;

impl Model {
    /// What the scores depend on.
    pub fn dependence(&self) -> Dependence {
        match self {
            // Repeating a letter does not change the largest distance.
            Model::Bottleneck(_) => Dependence::WithoutRepetitions,
            Model::Hausdorff(_) => Dependence::Set,
            Model::Recurrence(model) => Dependence::of_measures(&model.measures, model.line),
            _ => Dependence::Letters,
        }
    }

    /// How many of the first `letters` letters the scores tell apart, with scanpaths over all letters of the alphabet.
    pub fn distinct_letters(&self, letters: u32, alphabet: u32) -> u32 {
        let first = self.first_alike(alphabet);
        let own = (0..letters).zip(&first);
        let distinct = own.filter(|(at, first)| *at == u32::from(**first)).count();
        u32::try_from(distinct).unwrap_or(letters)
    }

    /// For each letter of the alphabet, the first one that every comparison treats alike. The list has at most
    /// [`MAX_COMPARED`] letters.
    pub fn first_alike(&self, letters: u32) -> Vec<u16> {
        let letters = u16::try_from(letters.min(MAX_COMPARED)).unwrap_or(u16::MAX);
        let mut seen = HashMap::new();
        (0..letters)
            .map(|letter| {
                let values: Vec<[i64; 2]> = (0..letters)
                    .map(|other| [self.value(letter, other), self.value(other, letter)])
                    .collect();
                *seen.entry(values).or_insert(letter)
            })
            .collect()
    }

    /// What two letters contribute to a result when they meet.
    fn value(&self, a: u16, b: u16) -> i64 {
        match self {
            // No alignment replaces a letter if deleting it and inserting the other is better.
            Model::Global(model) => {
                let gaps = i64::from(model.insert) + i64::from(model.delete);
                i64::from(model.costs.cost(a, b)).min(gaps)
            }
            Model::Local(model) => {
                let gaps = 2 * i64::from(model.gap);
                i64::from(model.scores.score(a, b)).max(-gaps)
            }
            Model::Warping(model) => model.distance(a, b).into(),
            Model::Bottleneck(model) | Model::Hausdorff(model) => model.ranks.rank(a, b).into(),
            Model::Recurrence(model) => model.letters.recur(a, b).into(),
            Model::Reward(model) => model.reward(a, b).into(),
            Model::Clear => (a == b).into(),
        }
    }
}

impl Dependence {
    fn of_measures(measures: &[CrqaMeasure], line: u32) -> Self {
        let has = |measure| measures.contains(&measure);
        if measures.iter().any(|measure| measure.is_of_lines()) {
            return Dependence::Letters;
        }
        // For one side, `lam-rows` depends on counts only, and for the other, `lam-columns` does. What one side's runs add
        // to its own counts is left out, so that the limit is the same for both.
        let runs =
            has(CrqaMeasure::Lam) || has(CrqaMeasure::LamRows) && has(CrqaMeasure::LamColumns);
        Dependence::Counts(Counts {
            runs: runs.then_some(line),
            positions: has(CrqaMeasure::Corm),
            diagonals: has(CrqaMeasure::Det).then_some(line),
        })
    }

    /// What these letters leave, as numbers: equal if no score can tell two scanpaths of equal length apart.
    pub fn reduce(self, letters: &[u16]) -> Vec<u64> {
        let mut letters = letters.to_vec();
        match self {
            Dependence::Counts(counts) => return counts.reduce(&letters),
            Dependence::Letters => {}
            Dependence::WithoutRepetitions => letters.dedup(),
            Dependence::Set => {
                letters.sort_unstable();
                letters.dedup();
            }
        }
        letters.into_iter().map(u64::from).collect()
    }

    /// The binary logarithm of how many different values [`Self::reduce`] has for scanpaths of this length over this many
    /// letters; with runs and positions, an upper bound.
    #[allow(clippy::cast_precision_loss)] // lengths are below 2³²
    pub fn bits(self, length: u64, letters: u32) -> f64 {
        let (n, k) = (length as f64, f64::from(letters));
        match self {
            _ if length == 0 || letters < 2 => 0.0,
            Dependence::Letters => n * k.log2(),
            // The sum of k·(k − 1)^(m − 1) for m from 1 to n.
            Dependence::WithoutRepetitions if letters == 2 => (2.0 * n).log2(),
            Dependence::WithoutRepetitions => {
                let next = k - 1.0;
                n * next.log2() + (k / (k - 2.0)).log2() + (1.0 - next.powf(-n)).log2()
            }
            Dependence::Counts(counts) => counts.bits(length, letters).min(n * k.log2()),
            // The sum of C(k, i) for i from 1 to n; for all i, it is 2ᵏ − 1.
            Dependence::Set if length >= u64::from(letters) => k + (1.0 - (-k).exp2()).log2(),
            Dependence::Set => {
                let (mut sum, mut sets) = (0.0, 1.0);
                for i in 1..=length {
                    sets *= (k + 1.0 - i as f64) / i as f64;
                    sum += sets;
                }
                f64::log2(sum)
            }
        }
    }
}

impl Counts {
    /// Whether scanpaths of this length can have diagonal lines.
    fn has_diagonals(self, length: u64) -> bool {
        self.diagonals.is_some_and(|line| length >= line.into())
    }

    fn reduce(self, letters: &[u16]) -> Vec<u64> {
        if self.has_diagonals(letters.len() as u64) {
            return letters.iter().map(|letter| (*letter).into()).collect();
        }
        let mut of_letters: BTreeMap<u16, [u64; 3]> = BTreeMap::new();
        let mut position = 0;
        for run in letters.chunk_by(|a, b| a == b) {
            let length = run.len() as u64;
            let [count, in_runs, positions] = of_letters.entry(run[0]).or_default();
            *count += length;
            if self.runs.is_some_and(|line| length >= line.into()) {
                *in_runs += length;
            }
            if self.positions {
                *positions += (position..position + length).sum::<u64>();
            }
            position += length;
        }
        let numbers = of_letters.into_iter();
        numbers
            .flat_map(|(letter, [count, in_runs, positions])| {
                [letter.into(), count, in_runs, positions]
            })
            .collect()
    }

    #[allow(clippy::cast_precision_loss)] // lengths are below 2³²
    fn bits(self, length: u64, letters: u32) -> f64 {
        if self.has_diagonals(length) {
            return f64::INFINITY;
        }
        let (n, k) = (length as f64, f64::from(letters));
        let counts = match self.runs {
            None => log2_choices(n, letters - 1),
            // `j` of the letters have runs: C(k, j)·C(n − j·line + k + j − 1, k + j − 1).
            Some(line) => {
                let with_runs = |runs: u32| {
                    let left = n - f64::from(runs) * f64::from(line);
                    let places = log2_choices(f64::from(letters - runs), runs);
                    (left >= 0.0).then(|| places + log2_choices(left, letters + runs - 1))
                };
                let terms: Vec<f64> = (0..=letters).map_while(with_runs).collect();
                let largest = terms.iter().copied().fold(0.0, f64::max);
                largest
                    + terms
                        .iter()
                        .map(|term| (term - largest).exp2())
                        .sum::<f64>()
                        .log2()
            }
        };
        // `c` occurrences have at most c·(n − c) + 1 sums of positions, a product that is largest if all letters occur equally
        // often. The sum of the last letter follows from the others.
        let sums = match self.positions {
            true => (k - 1.0) * (n * n / k * (1.0 - 1.0 / k)).ln_1p() / LN_2,
            false => 0.0,
        };
        counts + sums
    }
}

/// The binary logarithm of C(n + k, k).
fn log2_choices(n: f64, k: u32) -> f64 {
    (1..=k).map(|i| (n / f64::from(i)).ln_1p()).sum::<f64>() / LN_2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Alphabet, Comparison, Crqa, Frechet, Grid, Hausdorff, LocalScoring, Metric, Positions,
        RecurrenceRule, Scanpath, Substitution, Table, Undefined,
    };
    use std::collections::HashSet;

    fn comparison(metric: Metric, letters: u32) -> Comparison {
        Comparison::new(metric, Alphabet::letters(letters).unwrap()).unwrap()
    }

    fn recurrence(rule: RecurrenceRule, measures: &[CrqaMeasure]) -> Metric {
        Metric::Crqa(Crqa {
            rule,
            line: 2,
            measures: measures.to_vec(),
            undefined: Undefined::Missing,
            rounded: true,
        })
    }

    fn positions() -> Positions {
        let grid = Grid::new(2, 2).unwrap();
        Positions::Grid { grid, wrap: false }
    }

    /// All scanpaths of this length.
    fn scanpaths(length: u32, letters: u16) -> Vec<Vec<u16>> {
        (0..u32::from(letters).pow(length))
            .map(|number| {
                let digit = |at| number / u32::from(letters).pow(at) % u32::from(letters);
                (0..length)
                    .map(|at| u16::try_from(digit(at)).unwrap())
                    .collect()
            })
            .collect()
    }

    const NO_MORE: Counts = Counts {
        runs: None,
        positions: false,
        diagonals: None,
    };

    #[test]
    fn bits_count_what_is_left_of_all_scanpaths() {
        let counts = |counts| (Dependence::Counts(counts), matches!(counts, NO_MORE));
        let runs = |line| Counts {
            runs: Some(line),
            ..NO_MORE
        };
        let all = [
            (Dependence::Letters, true),
            (Dependence::WithoutRepetitions, true),
            (Dependence::Set, true),
            counts(NO_MORE),
            counts(runs(2)),
            counts(runs(4)),
            counts(Counts {
                positions: true,
                ..runs(2)
            }),
            counts(Counts {
                diagonals: Some(4),
                ..NO_MORE
            }),
        ];
        for (dependence, is_exact) in all {
            for (length, letters) in [(1, 1), (4, 1), (6, 2), (2, 4), (5, 4), (3, 5)] {
                let left: HashSet<_> = scanpaths(length, letters)
                    .iter()
                    .map(|it| dependence.reduce(it))
                    .collect();
                let bits = dependence.bits(length.into(), letters.into());
                let counted = f64::log2(f64::from(u32::try_from(left.len()).unwrap()));
                let more = bits - counted;
                assert!(
                    more > -1e-9 && more < if is_exact { 1e-9 } else { 4.0 },
                    "{dependence:?} {length} {letters}: {bits}, {counted}"
                );
            }
            assert!(dependence.bits(1 << 24, 64).is_finite());
        }
    }

    /// If no runs are long enough, they add nothing.
    #[test]
    fn long_lines_leave_counts_only() {
        let counts = Dependence::Counts(NO_MORE).bits(20, 9);
        let with = |line| {
            Dependence::Counts(Counts {
                runs: Some(line),
                diagonals: Some(line),
                positions: false,
            })
        };
        assert!((with(21).bits(20, 9) - counts).abs() < 1e-9);
        assert!((with(2).bits(20, 9) - 20.0 * 9f64.log2()).abs() < 1e-9);
    }

    /// Scanpaths of equal length have the same scores with every other scanpath exactly if the same is left of them.
    #[test]
    fn scores_depend_on_what_is_left() {
        use CrqaMeasure::{Corm, Det, Lam, LamColumns, LamRows, Rec};
        let of = |measures| recurrence(RecurrenceRule::SameLetter, measures);
        // The second side's runs are on rows, so this is checked for the first side.
        let for_one_side = [of(&[LamRows]), of(&[LamRows, Rec])];
        let for_both = [
            Metric::Levenshtein,
            Metric::Frechet(Frechet {
                positions: positions(),
            }),
            Metric::Hausdorff(Hausdorff {
                positions: positions(),
            }),
            of(&[Rec]),
            of(&[Lam]),
            of(&[Rec, LamRows, LamColumns]),
            of(&[Corm]),
            of(&[Rec, Corm]),
            of(&[Corm, Lam]),
            of(&[Rec, Det]),
        ];
        let both = for_both.into_iter().map(|metric| (metric, true));
        let one = for_one_side.into_iter().map(|metric| (metric, false));
        for (metric, is_second) in both.chain(one) {
            let has_positions = matches!(metric, Metric::Frechet(_) | Metric::Hausdorff(_));
            let (length, letters) = if has_positions { (4, 4) } else { (5, 3) };
            let all = scanpaths(length, letters);
            let comparison = comparison(metric, letters.into());
            let scores = |letters: &Vec<u16>| -> Vec<i64> {
                let path = Scanpath::new(letters.clone());
                let score = |other: &Vec<u16>| {
                    let other = Scanpath::new(other.clone());
                    let (a, b) = if is_second {
                        (&other, &path)
                    } else {
                        (&path, &other)
                    };
                    comparison.raw(a, b).unwrap()
                };
                all.iter().map(score).collect()
            };
            let pairs: HashSet<_> = all
                .iter()
                .map(|it| (scores(it), comparison.model().dependence().reduce(it)))
                .collect();
            let scores: HashSet<_> = pairs.iter().map(|(scores, _)| scores).collect();
            let left: HashSet<_> = pairs.iter().map(|(_, left)| left).collect();
            assert_eq!(
                (scores.len(), left.len()),
                (pairs.len(), pairs.len()),
                "{:?}",
                comparison.metric()
            );
        }
    }

    #[test]
    fn letters_that_a_table_or_radius_treats_alike_count_once() {
        // Letters 0 and 2 differ from 1 and 3 only.
        let values: Vec<f64> = (0..16).map(|at| f64::from((at / 4 + at % 4) % 2)).collect();
        let table = Table::new(4, values.clone()).unwrap();
        let global = Metric::NeedlemanWunsch {
            substitution: Substitution::Table {
                table: table.clone(),
            },
            insert: 1.0,
            delete: 1.0,
            scale: None,
        };
        // No alignment has a cost above 2 or a score below −2.
        let raised: Vec<f64> = (values.iter().enumerate())
            .map(|(at, value)| value * (3 + at % 5) as f64)
            .collect();
        let clipped = Metric::NeedlemanWunsch {
            substitution: Substitution::Table {
                table: Table::new(4, raised.clone()).unwrap(),
            },
            insert: 1.0,
            delete: 1.0,
            scale: None,
        };
        let lowered = raised.iter().map(|value| 1.0 - value).collect();
        let clipped_scores = Metric::SmithWaterman {
            scoring: LocalScoring::Table {
                table: Table::new(4, lowered).unwrap(),
            },
            gap: 1.0,
            scale: None,
        };
        let local = Metric::SmithWaterman {
            scoring: LocalScoring::Table { table },
            gap: 1.0,
            scale: None,
        };
        let within = |radius| {
            let positions = positions();
            recurrence(
                RecurrenceRule::Within { positions, radius },
                &[CrqaMeasure::Det],
            )
        };
        for (metric, distinct) in [
            (global, 2),
            (local, 2),
            (clipped, 2),
            (clipped_scores, 2),
            (within(9.0), 1),
            (within(1.0), 4),
            (Metric::Levenshtein, 4),
        ] {
            let comparison = comparison(metric, 4);
            assert_eq!(
                comparison.model().distinct_letters(4, 4),
                distinct,
                "{:?}",
                comparison.metric()
            );
        }
    }
}
