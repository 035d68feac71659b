//! What a metric depends on, and so what its scores can reveal: all letters of a scanpath in order, or less.

use crate::{CrqaMeasure, Model};
use std::collections::HashMap;

/// What the scores of a scanpath depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependence {
    /// All letters, in order.
    Letters,
    /// The letters in order, without repetitions.
    WithoutRepetitions,
    /// How often each letter occurs.
    Counts,
    /// Which letters occur.
    Set,
}

/// Of a larger alphabet, only this many letters are compared with each other. The others count as distinct, and two letters
/// that only they tell apart as one.
const MAX_COMPARED: u32 = 256;

impl Model {
    /// What the scores depend on.
    pub fn dependence(&self) -> Dependence {
        match self {
            // Repeating a letter does not change the largest distance.
            Model::Bottleneck(_) => Dependence::WithoutRepetitions,
            Model::Hausdorff(_) => Dependence::Set,
            Model::Recurrence(model) if model.measures == [CrqaMeasure::Rec] => Dependence::Counts,
            _ => Dependence::Letters,
        }
    }

    /// How many of the first `letters` letters the scores tell apart, with scanpaths over all letters of the alphabet.
    pub fn distinct_letters(&self, letters: u32, alphabet: u32) -> u32 {
        let first = self.first_alike(alphabet);
        let own = (0..letters).zip(&first);
        let alike = own.filter(|(at, first)| *at != u32::from(**first)).count();
        letters - u32::try_from(alike).unwrap_or(letters)
    }

    /// For each letter of the alphabet, the first one that every comparison treats alike; letters beyond the list are their own.
    pub fn first_alike(&self, letters: u32) -> Vec<u16> {
        let letters = u16::try_from(letters.min(MAX_COMPARED)).unwrap_or(u16::MAX);
        let value = |a: u16, b: u16| match self {
            Model::Global(model) => i64::from(model.costs.cost(a, b)),
            Model::Local(model) => i64::from(model.scores.score(a, b)),
            Model::Recurrence(model) => i64::from(model.letters.recur(a, b)),
            _ => i64::from(a == b),
        };
        let mut seen = HashMap::new();
        (0..letters)
            .map(|letter| {
                let values: Vec<[i64; 2]> = (0..letters)
                    .map(|other| [value(letter, other), value(other, letter)])
                    .collect();
                *seen.entry(values).or_insert(letter)
            })
            .collect()
    }
}

impl Dependence {
    /// What is left of these letters without what no score depends on.
    pub fn reduce(self, letters: &[u16]) -> Vec<u16> {
        let mut letters = letters.to_vec();
        match self {
            Dependence::Letters => {}
            Dependence::WithoutRepetitions => letters.dedup(),
            Dependence::Counts => letters.sort_unstable(),
            Dependence::Set => {
                letters.sort_unstable();
                letters.dedup();
            }
        }
        letters
    }

    /// The binary logarithm of how many different values [`Self::reduce`] has for scanpaths of this length over this many
    /// letters.
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
            // C(n + k − 1, k − 1).
            Dependence::Counts => {
                (1..letters)
                    .map(|i| (n / f64::from(i)).ln_1p())
                    .sum::<f64>()
                    / 2f64.ln()
            }
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

    #[test]
    fn bits_count_what_is_left_of_all_scanpaths() {
        let all = [
            Dependence::Letters,
            Dependence::WithoutRepetitions,
            Dependence::Counts,
            Dependence::Set,
        ];
        for dependence in all {
            for (length, letters) in [(1, 1), (4, 1), (6, 2), (2, 4), (5, 4), (3, 5)] {
                let left: HashSet<_> = scanpaths(length, letters)
                    .iter()
                    .map(|it| dependence.reduce(it))
                    .collect();
                let bits = dependence.bits(length.into(), letters.into());
                let counted = f64::log2(f64::from(u32::try_from(left.len()).unwrap()));
                assert!(
                    (bits - counted).abs() < 1e-9,
                    "{dependence:?} {length} {letters}: {bits}, {counted}"
                );
            }
            assert!(dependence.bits(1 << 24, 64).is_finite());
        }
    }

    /// Scanpaths of equal length have the same scores with every other scanpath exactly if the same is left of them.
    #[test]
    fn scores_depend_on_what_is_left() {
        let metrics = [
            Metric::Levenshtein,
            Metric::Frechet(Frechet {
                positions: positions(),
            }),
            Metric::Hausdorff(Hausdorff {
                positions: positions(),
            }),
            recurrence(RecurrenceRule::SameLetter, &[CrqaMeasure::Rec]),
            recurrence(
                RecurrenceRule::SameLetter,
                &[CrqaMeasure::Rec, CrqaMeasure::Corm],
            ),
        ];
        let all = scanpaths(3, 4);
        for metric in metrics {
            let comparison = comparison(metric, 4);
            let scores = |letters: &Vec<u16>| -> Vec<i64> {
                let path = Scanpath::new(letters.clone());
                let score = |other: &Vec<u16>| {
                    comparison
                        .raw(&Scanpath::new(other.clone()), &path)
                        .unwrap()
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
