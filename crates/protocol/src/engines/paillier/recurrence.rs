//! The recurrence of the matrix. For all metrics, each cell is the least of several candidates.
//!
//! A global alignment already has this form. A local one maximises scores `s ≥ 0`. With `X` no smaller than any score,
//! the values `X − s` are minimised and never negative, and the fourth candidate, score 0, is the constant `X`.

use crate::{JobError, ProtocolError};
use crypto_bigint::{Choice, CtEq, CtSelect};
use std::ops::RangeInclusive;
use veilpath_metrics::{Comparison, Costs, GlobalModel, LocalModel, Model, Scores};

/// The recurrence of a run. It depends only on the agreed metric and on the longest pair, so both sides compute the
/// same.
#[derive(Clone, Debug)]
pub(super) struct Recurrence {
    model: Model,
    /// `X`: the value that represents score 0; `None` in a global alignment.
    zero: Option<u64>,
    /// An upper bound on all candidates.
    bound: u64,
    /// The largest cost of a substitution in a global alignment, or its largest reward in a local one.
    largest: u64,
}

impl Recurrence {
    /// The recurrence for pairs up to these lengths over an alphabet of `letters` letters.
    pub(super) fn new(
        model: &Model,
        lengths: impl Iterator<Item = (u32, u32)>,
        letters: u32,
    ) -> Result<Self, ProtocolError> {
        let lengths: Vec<_> = lengths
            .map(|(m, n)| (u128::from(m), u128::from(n)))
            .collect();
        let max_over_pairs = |of: &dyn Fn(u128, u128) -> u128| {
            lengths.iter().map(|&(m, n)| of(m, n)).max().unwrap_or(0)
        };
        let (zero, bound, largest) = match model {
            Model::Global(model) => {
                let (insert, delete) = (u128::from(model.insert), u128::from(model.delete));
                let largest = u128::from(model.costs.largest(letters));
                // The largest matrix value: everything is replaced, or deleted and inserted.
                let entry = max_over_pairs(&|m, n| {
                    let both = m.min(n);
                    let replacing = [
                        m * delete,
                        n * insert,
                        both * largest + (m - both) * delete,
                        both * largest + (n - both) * insert,
                    ];
                    let gaps = m * delete + n * insert;
                    replacing.into_iter().max().unwrap_or(gaps).min(gaps)
                });
                (None, entry + largest.max(insert).max(delete), largest)
            }
            Model::Local(model) => {
                let best = u128::from(model.scores.largest().max(0).unsigned_abs());
                let zero = max_over_pairs(&|m, n| m.min(n) * best);
                let worst = u128::from(lowest(&model.scores).min(0).unsigned_abs());
                (Some(zero), zero + worst.max(u128::from(model.gap)), best)
            }
            _ => return Err(ProtocolError::Internal(UNSUPPORTED_MODEL)),
        };
        let narrow = |value: u128| {
            u64::try_from(value)
                .ok()
                .filter(|&value| i64::try_from(value).is_ok())
                .ok_or(ProtocolError::Job(JobError::CostsTooLarge))
        };
        Ok(Self {
            model: model.clone(),
            zero: zero.map(narrow).transpose()?,
            bound: narrow(bound)?,
            largest: narrow(largest)?,
        })
    }

    /// No candidate is larger than this, and none is negative.
    pub(super) fn bound(&self) -> u64 {
        self.bound
    }

    /// Candidates of a cell: substitution, insertion, deletion, and in a local alignment a new start.
    pub(super) fn width(&self) -> usize {
        if self.zero.is_some() { 4 } else { 3 }
    }

    /// The value of a new start, if the alignment is local.
    pub(super) fn zero(&self) -> Option<u64> {
        self.zero
    }

    /// S(a, b): what a substitution adds, where `a` is the key holder's letter. Does not branch on whether the letters
    /// are equal, which is secret.
    pub(super) fn substitution(&self, a: u16, b: u16) -> i64 {
        let equal = a.ct_eq(&b);
        let only = |value: u32, choice: Choice| i64::from(u32::ct_select(&0, &value, choice));
        match &self.model {
            Model::Global(GlobalModel {
                costs: Costs::Unit { mismatch },
                ..
            }) => only(*mismatch, !equal),
            Model::Local(LocalModel {
                scores: Scores::Unit { reward, mismatch },
                ..
            }) => only(*mismatch, !equal) - only(*reward, equal),
            Model::Global(model) => model.costs.cost(a, b).into(),
            Model::Local(model) => -i64::from(model.scores.score(a, b)),
            // Such models are rejected when a recurrence is created.
            _ => 0,
        }
    }

    /// c_ins: what a letter that only the matrix owner has adds.
    pub(super) fn insertion(&self) -> u64 {
        match &self.model {
            Model::Global(model) => model.insert.into(),
            Model::Local(model) => model.gap.into(),
            _ => 0,
        }
    }

    /// c_del: what a letter that only the key holder has adds.
    pub(super) fn deletion(&self) -> u64 {
        match &self.model {
            Model::Global(model) => model.delete.into(),
            Model::Local(model) => model.gap.into(),
            _ => 0,
        }
    }

    /// The matrix's first column and first row, M(i, 0) and M(0, j), which are public.
    pub(super) fn border(&self, row: u32, column: u32) -> u64 {
        self.zero.unwrap_or_else(|| {
            u64::from(row) * self.deletion() + u64::from(column) * self.insertion()
        })
    }

    /// The number of candidate sets that the key holder sees for one pair: one per cell and, for a local alignment, the
    /// rounds that find the greatest score of all cells.
    pub(super) fn candidate_sets(&self, rows: u32, columns: u32) -> u64 {
        let cells = u64::from(rows) * u64::from(columns);
        match self.zero {
            None => cells,
            Some(_) => cells + cells.saturating_sub(1).div_ceil(self.width() as u64 - 1),
        }
    }

    /// The raw result of a pair without cells.
    pub(super) fn empty_matrix_result(&self, rows: u32, columns: u32) -> i64 {
        let border = i128::from(self.border(rows, columns));
        self.raw(border, rows, columns).unwrap_or_default()
    }

    /// The raw result for a matrix value; `None` if scanpaths of these lengths cannot have it.
    pub(super) fn raw(&self, value: i128, rows: u32, columns: u32) -> Option<i64> {
        let value = u64::try_from(value).ok()?;
        let raw = match self.zero {
            None => value,
            Some(zero) => zero.checked_sub(value)?,
        };
        let raw = i64::try_from(raw).ok()?;
        self.admits(raw, rows, columns).then_some(raw)
    }

    /// A share of the raw result modulo 2⁶⁴, from a share of the value. The key holder adds the constant.
    pub(super) fn raw_share(&self, value: u64, is_key_holder: bool) -> u64 {
        match self.zero {
            None => value,
            Some(zero) if is_key_holder => zero.wrapping_sub(value),
            Some(_) => value.wrapping_neg(),
        }
    }

    /// Whether scanpaths of these lengths can have this raw result.
    pub(super) fn admits(&self, raw: i64, rows: u32, columns: u32) -> bool {
        u128::try_from(raw).is_ok_and(|raw| self.results(rows, columns).contains(&raw))
    }

    /// The results that scanpaths of these lengths can have. The excess of the longer one must be gaps; at most, the rest
    /// is replaced, or deleted and inserted.
    fn results(&self, rows: u32, columns: u32) -> RangeInclusive<u128> {
        let (m, n) = (u128::from(rows), u128::from(columns));
        let both = m.min(n);
        let replaced = both * u128::from(self.largest);
        if self.zero.is_some() {
            return 0..=replaced;
        }
        let gaps =
            |m: u128, n: u128| m * u128::from(self.deletion()) + n * u128::from(self.insertion());
        let smallest = gaps(m - both, n - both);
        smallest..=(smallest + replaced).min(gaps(m, n))
    }
}

/// The width of the range of results per letter of the shorter scanpath: with `n` letters, the key holder accepts at most `n`
/// times this, plus one, different results.
pub(crate) fn result_range_per_letter(comparison: &Comparison) -> u64 {
    match comparison.model() {
        Model::Global(model) => {
            let largest = u64::from(model.costs.largest(comparison.alphabet().size()));
            largest.min(u64::from(model.insert) + u64::from(model.delete))
        }
        Model::Local(model) => model.scores.largest().max(0).unsigned_abs().into(),
        _ => 0,
    }
}

/// Reported if a model gets past the check of what the engine can compute.
const UNSUPPORTED_MODEL: &str = "the paillier engine computes alignments only";

fn lowest(scores: &Scores) -> i32 {
    match scores {
        Scores::Unit { .. } => scores.score(0, 0).min(scores.score(0, 1)),
        Scores::Table { scores, .. } => scores.iter().copied().min().unwrap_or(0),
    }
}
