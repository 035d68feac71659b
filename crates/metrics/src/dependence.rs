//! What a metric depends on, and so what its scores can reveal: all letters of a scanpath in order, or less.

mod counts;
mod rank;
#[cfg(test)]
mod tests;

pub(crate) use counts::Counts;

use crate::non_alignment::RecurrentLetters;
use crate::{CrqaMeasure, Metric, Model};
use std::collections::{HashMap, HashSet};

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

/// Only this many letters of an alphabet are compared with each other. A larger alphabet counts as no more.
const MAX_COMPARED: u32 = 256;

fn compared(letters: u32) -> u16 {
    u16::try_from(letters.min(MAX_COMPARED)).unwrap_or(u16::MAX)
}

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

    /// How many of the first `letters` letters count as different: no more than the scores of either side tell apart, with
    /// scanpaths over all letters of the alphabet.
    pub fn distinct_letters(&self, letters: u32, alphabet: u32) -> u32 {
        let all = compared(alphabet);
        let own = all.min(compared(letters));
        if let Model::Recurrence(model) = self
            && model.letters != RecurrentLetters::Same
        {
            // A count of recurrent points is a linear function of the counts of letters.
            let row = |letter| (0..all).map(move |other| self.value(letter, other) != 0);
            return rank::of_bits((0..own).map(|letter| row(letter).collect()));
        }
        let rows: HashSet<Vec<i64>> = (0..own)
            .map(|letter| self.values(all, |other| self.value(letter, other)))
            .collect();
        let columns: HashSet<Vec<i64>> = (0..own)
            .map(|letter| self.values(all, |other| self.value(other, letter)))
            .collect();
        u32::try_from(rows.len().min(columns.len())).unwrap_or(letters)
    }

    /// What a letter contributes with each letter. Those that no letter is similar to only interrupt a local alignment, so all
    /// of them count as one.
    fn values(&self, letters: u16, value: impl Fn(u16) -> i64) -> Vec<i64> {
        let values: Vec<i64> = (0..letters).map(value).collect();
        let is_similar = values.iter().any(|value| *value > 0);
        match self {
            Model::Local(_) if !is_similar => Vec::new(),
            _ => values,
        }
    }

    /// For each letter of the alphabet, the first one that every comparison treats alike. The list has at most 256 letters.
    pub fn first_alike(&self, letters: u32) -> Vec<u16> {
        let letters = compared(letters);
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

impl Metric {
    /// Whether the score of a scanpath of this length can depend on its letters. An empty scanpath has none; and where only
    /// lines count, one that is shorter than a line has the same score whatever its letters. (For one of the two sides, `lam-rows`
    /// and `lam-columns` depend on the letters even then. The answer is the same for both.)
    pub fn depends_on_letters(&self, length: usize) -> bool {
        let of_lines = |measure: &CrqaMeasure| {
            matches!(
                measure,
                CrqaMeasure::Det | CrqaMeasure::LamRows | CrqaMeasure::LamColumns
            )
        };
        match self {
            _ if length == 0 => false,
            Metric::Crqa(crqa) if crqa.measures.iter().all(of_lines) => {
                length as u64 >= crqa.line.into()
            }
            _ => true,
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

    /// How many bits [`Self::reduce`] leaves of scanpaths of this length over this many letters: the binary logarithm of the number
    /// of values; for [`Dependence::Counts`], a lower bound of the entropy of a random scanpath.
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
            Dependence::Counts(counts) => counts.bits(length, letters),
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
