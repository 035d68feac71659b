//! The attack if the order of the matrix cells is public: every clue has its place. It is an upper bound of what the
//! order hides.

use crate::AuditError;
use crate::clue::{Clue, Feature};
use crate::known::{Known, LetterProbabilities};
use crate::order_hidden::{Batch, class_weights};

/// The key holder's belief from the clues of all cells, `clues[j][i]` that of row i and column j.
pub fn attack(
    known: &Known,
    prior: &LetterProbabilities,
    clues: &[Vec<Clue>],
    feature: Feature,
    hypotheses: usize,
) -> LetterProbabilities {
    let weights = class_weights(known, prior);
    // Letters so far, the last column, and the likelihood.
    let mut states: Vec<(Vec<usize>, Vec<i64>, f64)> = vec![(Vec::new(), known.border(), 1.0)];
    for (place, clues) in clues.iter().enumerate() {
        let mut next = Vec::new();
        for (letters, before, weight) in &states {
            for (number, class) in known.classes.iter().enumerate() {
                let mut fit = weight * weights[place][number];
                let column = known.column(before, place + 1, class, |row, candidates| {
                    if fit > 0.0 {
                        fit *= clues[row - 1].likelihood(feature, candidates);
                    }
                });
                if fit > 0.0 {
                    let mut letters = letters.clone();
                    letters.push(number);
                    next.push((letters, column, fit));
                }
            }
        }
        if next.is_empty() {
            break;
        }
        next.sort_unstable_by(|a, b| b.2.total_cmp(&a.2));
        next.truncate(hypotheses);
        let total: f64 = next.iter().map(|(.., weight)| weight).sum();
        next.iter_mut().for_each(|(.., weight)| *weight /= total);
        states = next;
    }
    let right = |(letters, column, _): &(Vec<usize>, Vec<i64>, f64)| {
        letters.len() == known.theirs && column.last() == Some(&known.score)
    };
    if states.iter().any(right) {
        states.retain(right);
    }
    belief(known, prior, &weights, &states)
}

/// The clues of one comparison by the matrix cells that they belong to, as input of [`attack`].
pub fn in_place(
    known: &Known,
    batches: &[Batch],
    order: &[(usize, Option<(u32, u32)>)],
) -> Result<Vec<Vec<Clue>>, AuditError> {
    let mut clues = vec![vec![None; known.own.len()]; known.theirs];
    for (clue, (_, cell)) in batches.iter().flatten().zip(order) {
        let (row, column) = cell.ok_or(AuditError::LocalAlignment)?;
        clues[column as usize - 1][row as usize - 1] = Some(clue.clone());
    }
    let columns = clues.into_iter();
    Ok(columns
        .map(|column| column.into_iter().flatten().collect())
        .collect())
}

fn belief(
    known: &Known,
    prior: &LetterProbabilities,
    weights: &[Vec<f64>],
    states: &[(Vec<usize>, Vec<i64>, f64)],
) -> LetterProbabilities {
    let total: f64 = states.iter().map(|(.., weight)| weight).sum();
    let mut belief = vec![vec![0.0; known.letters]; known.theirs];
    for (letters, _, weight) in states {
        for place in 0..known.theirs {
            let Some(&class) = letters.get(place) else {
                for (to, from) in belief[place].iter_mut().zip(&prior[place]) {
                    *to += from * weight / total;
                }
                continue;
            };
            for &letter in &known.classes[class].members {
                let letter = usize::from(letter);
                let share = prior[place][letter] / weights[place][class];
                belief[place][letter] += weight / total * share;
            }
        }
    }
    belief
}
