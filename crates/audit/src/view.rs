//! What the key holder knows before it sees a message, and the matrices that follow from it.

use crate::AuditError;
use veilpath_metrics::{Comparison, GlobalModel, Model};

/// The longest scanpath of the key holder that an attack supports: the filled part of a matrix is stored in 16 bytes.
pub const MAX_LENGTH: usize = 16;

/// The key holder's side of one comparison: its own letters, the costs, the length of the matrix owner's scanpath and
/// the score.
#[derive(Clone, Debug)]
pub struct KeyHolderView {
    pub(crate) own: Vec<u16>,
    pub(crate) theirs: usize,
    pub(crate) letters: usize,
    pub(crate) score: i64,
    pub(crate) insert: i64,
    pub(crate) delete: i64,
    /// Letters of the matrix owner that the key holder cannot distinguish, because they have the same cost with each of
    /// its own letters.
    pub(crate) classes: Vec<Class>,
}

/// Letters with the same costs.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub(crate) members: Vec<u16>,
    /// The cost with each letter of the key holder.
    pub(crate) costs: Vec<i64>,
}

/// The probability of each letter at each position of the matrix owner's scanpath.
pub type LetterProbabilities = Vec<Vec<f64>>;

impl KeyHolderView {
    /// `score` is the raw result that the engine computes.
    pub fn new(
        comparison: &Comparison,
        own: &[u16],
        theirs: usize,
        score: i64,
    ) -> Result<Self, AuditError> {
        let Model::Global(model) = comparison.model() else {
            return Err(AuditError::LocalAlignment);
        };
        if own.is_empty() || theirs == 0 || own.len() > MAX_LENGTH || theirs > MAX_LENGTH {
            return Err(AuditError::Length);
        }
        let letters = comparison.alphabet().size() as usize;
        Ok(Self {
            own: own.to_vec(),
            theirs,
            letters,
            score,
            insert: model.insert.into(),
            delete: model.delete.into(),
            classes: classes(model, own, letters),
        })
    }

    /// The belief of a party that knows only the alphabet.
    pub fn uniform_probabilities(&self) -> LetterProbabilities {
        vec![vec![1.0 / self.letters as f64; self.letters]; self.theirs]
    }

    /// The column before the first, M(i, 0).
    pub(crate) fn border(&self) -> Vec<i64> {
        (0i64..)
            .map(|row| row * self.delete)
            .take(self.own.len() + 1)
            .collect()
    }

    /// M(0, j).
    pub(crate) fn top(&self, column: usize) -> i64 {
        i64::try_from(column).unwrap_or(i64::MAX) * self.insert
    }

    /// The candidates of the matrix cell in this row (from 1), given the previous column and the cell above.
    pub(crate) fn candidates(&self, before: &[i64], row: usize, above: i64, cost: i64) -> [i64; 3] {
        [
            before[row - 1] + cost,
            before[row] + self.insert,
            above + self.delete,
        ]
    }

    /// The column of a letter, given the previous column, and each cell's candidates.
    pub(crate) fn column(
        &self,
        before: &[i64],
        column: usize,
        class: &Class,
        mut each: impl FnMut(usize, [i64; 3]),
    ) -> Vec<i64> {
        let mut values = Vec::with_capacity(before.len());
        values.push(self.top(column));
        for row in 1..before.len() {
            let candidates = self.candidates(before, row, values[row - 1], class.costs[row - 1]);
            each(row, candidates);
            values.push(candidates.into_iter().min().unwrap_or(0));
        }
        values
    }

    pub(crate) fn class_of_letters(&self) -> Vec<usize> {
        let mut of = vec![0; self.letters];
        for (number, class) in self.classes.iter().enumerate() {
            for &letter in &class.members {
                of[usize::from(letter)] = number;
            }
        }
        of
    }
}

fn classes(model: &GlobalModel, own: &[u16], letters: usize) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    for letter in (0..letters).filter_map(|letter| u16::try_from(letter).ok()) {
        let cost = |&a: &u16| i64::from(model.costs.cost(a, letter));
        let costs: Vec<i64> = own.iter().map(cost).collect();
        match classes.iter_mut().find(|class| class.costs == costs) {
            Some(class) => class.members.push(letter),
            None => classes.push(Class {
                members: vec![letter],
                costs,
            }),
        }
    }
    classes
}

/// The belief mixed with a small part of the uniform one, so that the next comparison can correct it.
pub fn smoothed(belief: &LetterProbabilities) -> LetterProbabilities {
    let smooth = |letters: &Vec<f64>| {
        let uniform = 1.0 / letters.len() as f64;
        letters.iter().map(|p| 0.95 * p + 0.05 * uniform).collect()
    };
    belief.iter().map(smooth).collect()
}

/// How many letters the best guess gets right; the average if several guesses are equally good.
pub fn correct_letters(belief: &LetterProbabilities, truth: &[u16]) -> f64 {
    let expected = |(letters, &truth): (&Vec<f64>, &u16)| {
        let best = letters.iter().copied().fold(0.0, f64::max) * 0.999_999;
        let as_good = letters.iter().filter(|&&p| p >= best).count();
        let of_truth = letters.get(usize::from(truth)).copied().unwrap_or(0.0);
        if of_truth >= best {
            1.0 / as_good as f64
        } else {
            0.0
        }
    };
    belief.iter().zip(truth).map(expected).sum()
}
