//! A metric as numbers for the search: raw results of candidates, and of all letters at one position at a time.

use super::letter;
use veilpath_metrics::{Comparison, CrqaMeasure, Model, RATIO_ONE, Scanpath};

/// Larger than every raw result, and far from overflow.
const FAR: i64 = 1 << 50;

/// Costs or scores of letter pairs; the attacker's letter is the row.
#[derive(Clone, Debug)]
pub(super) struct Scorer {
    pub(super) letters: usize,
    /// A metric that is not an alignment: every result is computed from scratch.
    other: Option<Comparison>,
    /// Costs or negated scores, to be minimised.
    pairs: Vec<i64>,
    /// The costs of a letter that only the attacker's scanpath has, and of one that only the secret has.
    own_gap: i64,
    secret_gap: i64,
    local: bool,
    /// How much one letter can change a raw result.
    pub(super) largest_change: i64,
}

impl Scorer {
    pub(super) fn new(comparison: &Comparison) -> Self {
        let letters = comparison.alphabet().size() as usize;
        let all = || (0..letters).flat_map(|a| (0..letters).map(move |b| (letter(a), letter(b))));
        match comparison.model() {
            Model::Global(model) => {
                let pairs = all().map(|(a, b)| model.costs.cost(a, b).into());
                let gaps = i64::from(model.insert) + i64::from(model.delete);
                let largest = i64::from(model.costs.largest(comparison.alphabet().size()));
                Self {
                    letters,
                    other: None,
                    pairs: pairs.collect(),
                    own_gap: model.delete.into(),
                    secret_gap: model.insert.into(),
                    local: false,
                    largest_change: largest.min(gaps).max(1),
                }
            }
            Model::Local(model) => {
                let pairs = all().map(|(a, b)| -i64::from(model.scores.score(a, b)));
                Self {
                    letters,
                    other: None,
                    pairs: pairs.collect(),
                    own_gap: model.gap.into(),
                    secret_gap: model.gap.into(),
                    local: true,
                    largest_change: i64::from(model.scores.largest()).max(1),
                }
            }
            model => Self {
                letters,
                other: Some(comparison.clone()),
                pairs: Vec::new(),
                own_gap: 0,
                secret_gap: 0,
                local: false,
                largest_change: largest_change(model, letters),
            },
        }
    }

    /// Whether a larger result means more similar, so that its negative is minimised.
    pub(super) fn is_maximised(&self) -> bool {
        let other = self.other.as_ref();
        self.local || other.is_some_and(|it| matches!(it.model(), Model::Recurrence(_)))
    }

    fn row(&self, own: u16) -> &[i64] {
        &self.pairs[usize::from(own) * self.letters..][..self.letters]
    }

    /// The raw result of a query and a candidate, as something to minimise.
    pub(super) fn raw(&self, query: &[u16], candidate: &[u16]) -> i64 {
        if let Some(comparison) = &self.other {
            let [query, candidate] = [query, candidate].map(|it| Scanpath::new(it.to_vec()));
            let raw = comparison.raw(&query, &candidate).unwrap_or(FAR);
            return if self.is_maximised() { -raw } else { raw };
        }
        let mut column = self.first(query);
        let mut best = if self.local { 0 } else { FAR };
        for &letter in candidate {
            let mut diagonal = column[0];
            column[0] = self.start(column[0]);
            for (j, &own) in query.iter().enumerate() {
                let replaced = diagonal + self.row(own)[usize::from(letter)];
                diagonal = column[j + 1];
                let value = replaced
                    .min(diagonal + self.secret_gap)
                    .min(column[j] + self.own_gap);
                column[j + 1] = if self.local { value.min(0) } else { value };
                best = best.min(column[j + 1]);
            }
        }
        if self.local {
            best
        } else {
            column[query.len()]
        }
    }

    fn first(&self, query: &[u16]) -> Vec<i64> {
        let step = if self.local { 0 } else { self.own_gap };
        (0i64..).map(|j| j * step).take(query.len() + 1).collect()
    }

    fn start(&self, above: i64) -> i64 {
        if self.local {
            0
        } else {
            above + self.secret_gap
        }
    }

    /// The state of a candidate's alignment with a query: the partial results of the letters before and after each
    /// position.
    pub(super) fn alignment(&self, query: &[u16], candidate: &[u16]) -> Alignment {
        let width = query.len() + 1;
        let mut alignment = Alignment {
            width,
            before: vec![0; width * (candidate.len() + 1)],
            after: vec![0; width * (candidate.len() + 1)],
            best_before: vec![0; candidate.len() + 1],
            best_after: vec![0; candidate.len() + 1],
            candidate: candidate.to_vec(),
        };
        alignment.before[..width].copy_from_slice(&self.first(query));
        self.back(query, candidate, &mut alignment);
        alignment
    }

    /// Recomputes the partial results of the letters after each position.
    pub(super) fn back(&self, query: &[u16], candidate: &[u16], alignment: &mut Alignment) {
        if self.other.is_some() {
            alignment.candidate.copy_from_slice(candidate);
            return;
        }
        let (width, n) = (alignment.width, candidate.len());
        let last = &mut alignment.after[n * width..];
        for (value, rest) in last.iter_mut().rev().zip(0i64..) {
            *value = if self.local { 0 } else { rest * self.own_gap };
        }
        alignment.best_after[n] = 0;
        for p in (0..n).rev() {
            let (rows, below) = alignment.after.split_at_mut((p + 1) * width);
            let row = &mut rows[p * width..];
            let letter = usize::from(candidate[p]);
            row[width - 1] = if self.local {
                0
            } else {
                below[width - 1] + self.secret_gap
            };
            let mut best = alignment.best_after[p + 1];
            for j in (0..width - 1).rev() {
                let value = (below[j + 1] + self.row(query[j])[letter])
                    .min(below[j] + self.secret_gap)
                    .min(row[j + 1] + self.own_gap);
                row[j] = if self.local { value.min(0) } else { value };
                best = best.min(row[j]);
            }
            alignment.best_after[p] = best;
        }
    }

    /// The raw result for every letter at this position, with the others unchanged.
    pub(super) fn each_letter(
        &self,
        query: &[u16],
        alignment: &Alignment,
        position: usize,
        scratch: &mut Vec<i64>,
        results: &mut [i64],
    ) {
        if self.other.is_some() {
            let mut changed = alignment.candidate.clone();
            for (number, result) in results.iter_mut().enumerate() {
                changed[position] = letter(number);
                *result = self.raw(query, &changed);
            }
            return;
        }
        let (width, k) = (alignment.width, self.letters);
        let before = &alignment.before[position * width..][..width];
        let after = &alignment.after[(position + 1) * width..][..width];
        scratch.clear();
        scratch.resize(k, self.start(before[0]));
        let kept = alignment.best_before[position].min(alignment.best_after[position + 1]);
        for (result, above) in results.iter_mut().zip(&*scratch) {
            *result = if self.local { kept } else { above + after[0] };
        }
        for (j, &own) in query.iter().enumerate() {
            let (diagonal, left, rest) = (before[j], before[j + 1] + self.secret_gap, after[j + 1]);
            let floor = if self.local { 0 } else { FAR };
            let costs = &self.row(own)[..k];
            let (scratch, results) = (&mut scratch[..k], &mut results[..k]);
            for x in 0..k {
                let value = (diagonal + costs[x])
                    .min(left)
                    .min(scratch[x] + self.own_gap)
                    .min(floor);
                scratch[x] = value;
                results[x] = results[x].min(value + rest);
            }
        }
    }

    /// Fixes the letter at a position, and moves on to the next position.
    pub(super) fn advance(
        &self,
        query: &[u16],
        alignment: &mut Alignment,
        position: usize,
        letter: u16,
    ) {
        alignment.candidate[position] = letter;
        if self.other.is_some() {
            return;
        }
        let width = alignment.width;
        let (rows, next) = alignment.before.split_at_mut((position + 1) * width);
        let row = &rows[position * width..];
        let mut best = alignment.best_before[position];
        next[0] = self.start(row[0]);
        for (j, &own) in query.iter().enumerate() {
            let value = (row[j] + self.row(own)[usize::from(letter)])
                .min(row[j + 1] + self.secret_gap)
                .min(next[j] + self.own_gap);
            next[j + 1] = if self.local { value.min(0) } else { value };
            best = best.min(next[j + 1]);
        }
        alignment.best_before[position + 1] = best;
    }
}

/// A candidate's alignment with a query, from both ends.
#[derive(Clone, Debug)]
pub(super) struct Alignment {
    width: usize,
    before: Vec<i64>,
    after: Vec<i64>,
    best_before: Vec<i64>,
    best_after: Vec<i64>,
    candidate: Vec<u16>,
}

/// How much one letter can change the raw result of a metric that is not an alignment.
fn largest_change(model: &Model, letters: usize) -> i64 {
    let all = || (0..letters).flat_map(|a| (0..letters).map(move |b| (letter(a), letter(b))));
    match model {
        Model::Recurrence(model) if model.measures == [CrqaMeasure::Rec] => 1,
        Model::Recurrence(_) => i64::try_from(RATIO_ONE / 8).unwrap_or(1),
        model => all()
            .map(|(a, b)| model.entry(a, b))
            .max()
            .unwrap_or(1)
            .max(1),
    }
}
