//! The attack if the order of the matrix cells is public, so that the cell of every clue is known. It is an upper bound
//! on what the order hides.

use crate::AuditError;
use crate::clue::{Clue, Feature};
use crate::order_hidden::{Batch, class_weights};
use crate::view::{KeyHolderView, LetterProbabilities};

/// The key holder's belief from the clues of all cells; `clues[j][i]` is the clue of row i and column j.
pub fn attack(
    view: &KeyHolderView,
    prior: &LetterProbabilities,
    clues: &[Vec<Clue>],
    feature: Feature,
    hypotheses: usize,
) -> LetterProbabilities {
    let weights = class_weights(view, prior);
    // Letters so far, the last column, and the likelihood.
    let mut states: Vec<(Vec<usize>, Vec<i64>, f64)> = vec![(Vec::new(), view.border(), 1.0)];
    for (position, clues) in clues.iter().enumerate() {
        let mut next = Vec::new();
        for (letters, before, weight) in &states {
            for (number, class) in view.classes.iter().enumerate() {
                let mut fit = weight * weights[position][number];
                let column = view.column(before, position + 1, class, |row, candidates| {
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
        letters.len() == view.theirs && column.last() == Some(&view.score)
    };
    if states.iter().any(right) {
        states.retain(right);
    }
    belief(view, prior, &weights, &states)
}

/// The clues of one comparison, arranged by matrix cell, as input for [`attack`].
pub fn in_place(
    view: &KeyHolderView,
    batches: &[Batch],
    order: &[(usize, Option<(u32, u32)>)],
) -> Result<Vec<Vec<Clue>>, AuditError> {
    let mut clues = vec![vec![None; view.own.len()]; view.theirs];
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
    view: &KeyHolderView,
    prior: &LetterProbabilities,
    weights: &[Vec<f64>],
    states: &[(Vec<usize>, Vec<i64>, f64)],
) -> LetterProbabilities {
    let total: f64 = states.iter().map(|(.., weight)| weight).sum();
    let mut belief = vec![vec![0.0; view.letters]; view.theirs];
    for (letters, _, weight) in states {
        for position in 0..view.theirs {
            let Some(&class) = letters.get(position) else {
                for (to, from) in belief[position].iter_mut().zip(&prior[position]) {
                    *to += from * weight / total;
                }
                continue;
            };
            for &letter in &view.classes[class].members {
                let letter = usize::from(letter);
                let fraction = prior[position][letter] / weights[position][class];
                belief[position][letter] += weight / total * fraction;
            }
        }
    }
    belief
}
