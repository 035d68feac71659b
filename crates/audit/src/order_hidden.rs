//! The attack on the paper's order. Neither the matrix cell that a clue belongs to nor the matrix owner's letters are
//! known, and the attack guesses both together.
//!
//! Clues are processed in order of arrival. A hypothesis consists of the filled part of the matrix and the letters of
//! the matrix owner's first columns. Each clue extends it by one of the cells that are ready, weighted by how well the
//! clue fits. Equal hypotheses are merged, and the best few thousand are kept. Their final distribution of each letter
//! is the key holder's belief. Because only some are kept, this is a lower bound on what can be learned.

use crate::clue::{Clue, Feature};
use crate::score_only;
use crate::view::{KeyHolderView, LetterProbabilities, MAX_LENGTH};
use rand::Rng;
use std::collections::HashMap;

/// A message as the attack sees it: the clues that arrived together.
pub type Batch = Vec<Clue>;

/// The settings of an attack.
#[derive(Clone, Copy, Debug)]
pub struct AttackSettings {
    /// The features that it uses.
    pub feature: Feature,
    /// The number of hypotheses to keep.
    pub hypotheses: usize,
    /// Whether clues of other comparisons are mixed in.
    pub mixed: bool,
}

/// Means that the hypothesis has no new letter.
const NO_NEW_LETTER: usize = usize::MAX;

/// Rows filled so far, a byte each.
type FilledRows = u128;

/// A hypothesis: a path of letters, the rows filled when this message was sent, and the rows filled now.
type State = (u32, FilledRows, FilledRows);

/// A path of letters and its last column.
struct Node {
    parent: u32,
    class: usize,
    column: Vec<i64>,
}

struct Search<'a> {
    view: &'a KeyHolderView,
    weights: Vec<Vec<f64>>,
    nodes: Vec<Node>,
    children: HashMap<(u32, usize), u32>,
}

/// The key holder's belief after these messages, where `prior` is its belief before. `background` gives the
/// likelihood of a clue of some other comparison.
pub fn attack(
    view: &KeyHolderView,
    prior: &LetterProbabilities,
    batches: &[Batch],
    settings: AttackSettings,
    background: &dyn Fn(&Clue) -> f64,
) -> LetterProbabilities {
    let mut search = Search {
        view,
        weights: class_weights(view, prior),
        nodes: vec![Node {
            parent: 0,
            class: 0,
            column: view.border(),
        }],
        children: HashMap::new(),
    };
    let mut states: Vec<(State, f64)> = vec![((0, 0, 0), 1.0)];
    for batch in batches {
        for (state, _) in &mut states {
            state.1 = state.2;
        }
        merge(&mut states);
        for clue in batch {
            let others = if settings.mixed {
                Some((1.5 * batch.len() as f64, background(clue)))
            } else {
                None
            };
            let next = search.step(&states, clue, settings, others);
            if next.is_empty() {
                return search.belief(&states, prior);
            }
            states = next;
        }
    }
    search.finish(&mut states);
    search.belief(&states, prior)
}

/// The number of random scanpaths from which the typical differences between candidates are estimated.
const DIFFERENCE_SAMPLES: usize = 400;

/// The same if the messages mix several comparisons: the likelihood of a clue of another comparison is estimated from
/// random scanpaths.
pub fn attack_mixed<R: Rng + ?Sized>(
    view: &KeyHolderView,
    prior: &LetterProbabilities,
    batches: &[Batch],
    settings: AttackSettings,
    rng: &mut R,
) -> LetterProbabilities {
    let typical = score_only::typical_differences(view, DIFFERENCE_SAMPLES, rng);
    let background = |clue: &Clue| {
        typical
            .iter()
            .map(|&(low, high, share)| share * clue.of_differences(settings.feature, low, high))
            .sum()
    };
    attack(view, prior, batches, settings, &background)
}

impl Search<'_> {
    /// The best successors of all hypotheses after one more clue.
    fn step(
        &mut self,
        states: &[(State, f64)],
        clue: &Clue,
        settings: AttackSettings,
        others: Option<(f64, f64)>,
    ) -> Vec<(State, f64)> {
        let mut next: Vec<(State, usize, f64)> = Vec::with_capacity(8 * states.len());
        // How well each letter fits a cell of the first row depends on only two numbers.
        let mut letters: HashMap<(usize, i64), Vec<(usize, f64)>> = HashMap::new();
        for &((node, base, filled), weight) in states {
            let ready = self.ready(base, filled).count() as f64;
            let (all, skipped) = match others {
                None => (ready, 0.0),
                Some((all, likely)) => {
                    let all = all.max(ready + 0.5);
                    (all, likely * (1.0 - ready / all))
                }
            };
            if skipped > 0.0 {
                next.push(((node, base, filled), NO_NEW_LETTER, weight * skipped));
            }
            let weight = weight / all;
            for row in self.ready(base, filled) {
                let column = filled_in(filled, row) + 1;
                let state = (node, base, filled + (1 << (8 * row)));
                if row == 0 {
                    let left = self.nodes[node as usize].column[1];
                    let fits = letters
                        .entry((column, left))
                        .or_insert_with(|| self.fitting_letters(node, column, clue, settings));
                    next.extend(
                        fits.iter()
                            .map(|&(class, fit)| (state, class, weight * fit)),
                    );
                    continue;
                }
                let candidates = self.candidates(node, filled_in(filled, 0), row, column);
                let fit = clue.likelihood(settings.feature, candidates);
                if fit > 0.0 {
                    next.push((state, NO_NEW_LETTER, weight * fit));
                }
            }
        }
        // Unlikely hypotheses are dropped before they are compared with each other.
        best(&mut next, 3 * settings.hypotheses);
        next.sort_unstable_by_key(|&(state, class, _)| (state, class));
        next.dedup_by(|again, first| {
            let same = (again.0, again.1) == (first.0, first.1);
            if same {
                first.2 += again.2;
            }
            same
        });
        best(&mut next, settings.hypotheses);
        let total: f64 = next.iter().map(|(.., weight)| weight).sum();
        next.into_iter()
            .map(|((node, base, filled), class, weight)| {
                let node = if class == NO_NEW_LETTER {
                    node
                } else {
                    self.child(node, class, filled_in(filled, 0))
                };
                ((node, base, filled), weight / total)
            })
            .collect()
    }

    /// The classes that a clue allows in the first row of a new column, and how well each fits.
    fn fitting_letters(
        &self,
        node: u32,
        column: usize,
        clue: &Clue,
        settings: AttackSettings,
    ) -> Vec<(usize, f64)> {
        let before = &self.nodes[node as usize].column;
        let top = self.view.top(column);
        let classes = self.view.classes.iter().enumerate();
        classes
            .map(|(number, class)| {
                let candidates = self.view.candidates(before, 1, top, class.costs[0]);
                let fit = clue.likelihood(settings.feature, candidates);
                (number, fit * self.weights[column - 1][number])
            })
            .filter(|&(_, fit)| fit > 0.0)
            .collect()
    }

    /// Rows whose next cell the matrix owner could have requested, because all of its inputs were known when the
    /// message was sent.
    fn ready(&self, base: FilledRows, filled: FilledRows) -> impl Iterator<Item = usize> + use<> {
        let columns = self.view.theirs;
        (0..self.view.own.len()).filter(move |&row| {
            let done = filled_in(filled, row);
            done < columns
                && filled_in(base, row) == done
                && (row == 0 || filled_in(base, row - 1) > done)
        })
    }

    /// The candidates of a cell in a column that is already open.
    fn candidates(&self, node: u32, depth: usize, row: usize, column: usize) -> [i64; 3] {
        let mut at = &self.nodes[node as usize];
        for _ in column..depth {
            at = &self.nodes[at.parent as usize];
        }
        let before = &self.nodes[at.parent as usize].column;
        let cost = self.view.classes[at.class].costs[row];
        self.view.candidates(before, row + 1, at.column[row], cost)
    }

    fn child(&mut self, parent: u32, class: usize, column: usize) -> u32 {
        let (view, nodes) = (self.view, &mut self.nodes);
        *self.children.entry((parent, class)).or_insert_with(|| {
            let before = &nodes[parent as usize].column;
            let column = view.column(before, column, &view.classes[class], |_, _| ());
            nodes.push(Node {
                parent,
                class,
                column,
            });
            u32::try_from(nodes.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// Keeps the hypotheses that are complete and give the right score, if there are any.
    fn finish(&self, states: &mut Vec<(State, f64)>) {
        let (rows, columns) = (self.view.own.len(), self.view.theirs);
        let complete = |filled: FilledRows| (0..rows).all(|row| filled_in(filled, row) == columns);
        let right = |node: u32| self.nodes[node as usize].column.last() == Some(&self.view.score);
        let matching: Vec<_> = states
            .iter()
            .filter(|((node, _, filled), _)| complete(*filled) && right(*node))
            .copied()
            .collect();
        if !matching.is_empty() {
            *states = matching;
        }
    }

    fn belief(&self, states: &[(State, f64)], prior: &LetterProbabilities) -> LetterProbabilities {
        let total: f64 = states.iter().map(|(_, weight)| weight).sum();
        let mut belief = vec![vec![0.0; self.view.letters]; self.view.theirs];
        for &((node, _, filled), weight) in states {
            let mut node = node;
            let depth = filled_in(filled, 0);
            for position in (0..self.view.theirs).rev() {
                if position >= depth {
                    for (to, from) in belief[position].iter_mut().zip(&prior[position]) {
                        *to += from * weight / total;
                    }
                    continue;
                }
                let at = &self.nodes[node as usize];
                let fraction = weight / total / self.weights[position][at.class];
                for &letter in &self.view.classes[at.class].members {
                    let letter = usize::from(letter);
                    belief[position][letter] += fraction * prior[position][letter];
                }
                node = at.parent;
            }
        }
        belief
    }
}

pub(crate) fn class_weights(view: &KeyHolderView, prior: &LetterProbabilities) -> Vec<Vec<f64>> {
    let weight = |letters: &[f64], members: &[u16]| -> f64 {
        members.iter().map(|&m| letters[usize::from(m)]).sum()
    };
    prior
        .iter()
        .map(|letters| {
            let classes = view.classes.iter();
            classes
                .map(|class| weight(letters, &class.members))
                .collect()
        })
        .collect()
}

/// The `limit` most likely hypotheses for each number of open columns, in no particular order. Opening a column takes a
/// guess that pays off only later, so a hypothesis competes only with those that have opened as many columns.
fn best(states: &mut Vec<(State, usize, f64)>, limit: usize) {
    if states.len() <= limit {
        return;
    }
    let mut by_columns: Vec<Vec<(State, usize, f64)>> = vec![Vec::new(); MAX_LENGTH + 1];
    for state in states.drain(..) {
        by_columns[filled_in(state.0.2, 0)].push(state);
    }
    for mut group in by_columns {
        if group.len() > limit {
            group.select_nth_unstable_by(limit, |a, b| b.2.total_cmp(&a.2));
            group.truncate(limit);
        }
        states.extend(group);
    }
}

/// Merges hypotheses that have become equal, adding their weights.
fn merge(states: &mut Vec<(State, f64)>) {
    let mut merged: HashMap<State, f64> = HashMap::with_capacity(states.len());
    for (state, weight) in states.drain(..) {
        *merged.entry(state).or_default() += weight;
    }
    states.extend(merged);
}

fn filled_in(filled: FilledRows, row: usize) -> usize {
    (filled >> (8 * row)) as usize & 0xff
}
