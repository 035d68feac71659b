//! What a metric depends on, and so what its scores can reveal: all letters of a scanpath in order, or less.

mod counts;
mod entropy;
mod rank;
#[cfg(test)]
mod tests;

pub(crate) use counts::Counts;

use crate::non_alignment::RecurrentLetters;
use crate::{Costs, CrqaMeasure, Metric, Model, Scores};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

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
    /// Perhaps much less than the letters: a table was chosen that can make scores depend on any of the above, or less. With costs
    /// `f(a) + f(b)` for `a` and `b`, for example, only how often each letter occurs matters.
    Unknown,
}

/// The most letters that are compared with each other, even in a larger alphabet.
const MAX_COMPARED: u32 = 1024;

/// All letters, or [`MAX_COMPARED`] evenly spaced ones.
fn sampled_letters(letters: u32) -> impl Iterator<Item = u16> + Clone {
    let count = letters.min(MAX_COMPARED);
    let letter = move |at: u32| u64::from(at) * u64::from(letters) / u64::from(count);
    (0..count).map(move |at| u16::try_from(letter(at)).unwrap_or(u16::MAX))
}

impl Model {
    /// What the scores depend on.
    pub fn dependence(&self) -> Dependence {
        match self {
            // Repeating a letter does not change the largest distance.
            Model::Bottleneck(_) => Dependence::WithoutRepetitions,
            Model::Hausdorff(_) => Dependence::Set,
            Model::Recurrence(model) => Dependence::of_measures(&model.measures, model.line),
            Model::Global(model) if matches!(model.costs, Costs::Table { .. }) => {
                Dependence::Unknown
            }
            Model::Local(model) if matches!(model.scores, Scores::Table { .. }) => {
                Dependence::Unknown
            }
            _ => Dependence::Letters,
        }
    }

    /// The number of equally likely letters with the same entropy as one letter drawn from the first `letters`, when letters that no
    /// score distinguishes count as one. Without a table, this is the same for both sides.
    pub fn effective_letters(&self, letters: u32, alphabet: u32) -> f64 {
        let own = sampled_letters(letters.min(alphabet));
        let others = sampled_letters(alphabet);
        let row = |own: u16| others.clone().map(move |other| self.value(own, other));
        let effective = effective_classes(own.clone().map(|own| hash(row(own))));
        match self {
            // With two places, repetitions hardly matter: only how much it costs to leave runs out.
            Model::Warping(_) if effective < 3.0 => 1.0,
            Model::Recurrence(model) if model.letters != RecurrentLetters::Same => {
                // A count of recurrent points is a linear function of the counts of letters.
                let bits = own.map(|own| row(own).map(|it| it != 0).collect());
                effective.min(rank::of_bits(bits).into())
            }
            _ => effective,
        }
    }

    /// For each letter of the alphabet, the first one that every comparison treats alike. The list has at most 256 letters.
    pub fn first_equivalent(&self, letters: u32) -> Vec<u16> {
        let letters = u16::try_from(letters.min(256)).unwrap_or(u16::MAX);
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
        let [rows, columns] = [CrqaMeasure::LamRows, CrqaMeasure::LamColumns].map(has);
        let runs = has(CrqaMeasure::Lam) || rows && columns;
        // Alone, `lam-rows` is 0 for a joining side without runs, and `lam-columns` for such a host, whatever the counts.
        let affect_both_sides = has(CrqaMeasure::Rec) || has(CrqaMeasure::Corm) || runs;
        Dependence::Counts(Counts {
            affect_both_sides,
            runs: runs.then_some(line),
            positions: has(CrqaMeasure::Corm),
            diagonals: has(CrqaMeasure::Det).then_some(line),
        })
    }

    /// What scores of these letters depend on, as numbers: equal if no score can tell two scanpaths of equal length apart.
    pub fn relevant_features(self, letters: &[u16]) -> Vec<u64> {
        let mut letters = letters.to_vec();
        match self {
            Dependence::Counts(counts) => return counts.relevant_features(&letters),
            Dependence::Letters | Dependence::Unknown => {}
            Dependence::WithoutRepetitions => letters.dedup(),
            Dependence::Set => {
                letters.sort_unstable();
                letters.dedup();
            }
        }
        letters.into_iter().map(u64::from).collect()
    }

    /// The entropy of the [relevant features](Self::relevant_features) of a random scanpath of this length over this many letters;
    /// for [`Dependence::Counts`], and for a fractional number of letters, a lower bound.
    #[allow(clippy::cast_precision_loss)] // lengths are below 2³²
    pub fn bits(self, length: u64, letters: f64) -> f64 {
        let whole = letters.floor();
        match self {
            _ if length == 0 || letters <= 1.0 => 0.0,
            Dependence::Unknown => 0.0,
            Dependence::Letters => length as f64 * letters.log2(),
            Dependence::Counts(counts) => counts.bits(length, letters),
            _ if whole < 2.0 => 0.0,
            Dependence::WithoutRepetitions => entropy::without_repetitions(length, whole),
            Dependence::Set => entropy::set(length, whole),
        }
    }
}

fn hash(values: impl Iterator<Item = i64>) -> u64 {
    let mut hasher = DefaultHasher::new();
    values.for_each(|value| value.hash(&mut hasher));
    hasher.finish()
}

/// How many classes of equal size have as much entropy as the classes of equal items.
#[allow(clippy::cast_precision_loss)] // at most a thousand
fn effective_classes(items: impl Iterator<Item = u64>) -> f64 {
    let mut sizes: HashMap<u64, f64> = HashMap::new();
    for item in items {
        *sizes.entry(item).or_default() += 1.0;
    }
    let all: f64 = sizes.values().sum();
    let bits: f64 = sizes
        .values()
        .map(|size| size / all * (all / size).log2())
        .sum();
    // Classes of equal size are a whole number.
    let classes = bits.exp2();
    if (classes - classes.round()).abs() < 1e-9 {
        classes.round()
    } else {
        classes
    }
}
