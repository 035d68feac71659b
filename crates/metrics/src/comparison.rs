//! A metric prepared for an alphabet: compares one pair, or many on all cores.

mod kernels;

use crate::batch::{Batch, shorter_first};
use crate::kernel::Row;
use crate::{Alphabet, Metric, MetricError, Model, PairScore, Scanpath};
use kernels::Kernels;
use std::fmt;
use std::sync::Arc;

/// A metric with the alphabet it is computed over. Clones share their tables.
#[derive(Clone)]
pub struct Comparison {
    metric: Metric,
    alphabet: Alphabet,
    model: Arc<Model>,
    kernels: Arc<Kernels>,
}

impl Comparison {
    /// Fails if the metric's parameters are invalid or do not fit the alphabet.
    pub fn new(metric: Metric, alphabet: Alphabet) -> Result<Self, MetricError> {
        let model = metric.model(&alphabet)?;
        let kernels = Kernels::new(&metric, &model, alphabet.size());
        Ok(Self {
            metric,
            alphabet,
            model: Arc::new(model),
            kernels: Arc::new(kernels),
        })
    }

    /// The metric.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    /// The alphabet.
    pub fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// The metric in integers.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Compares two scanpaths.
    pub fn compare(&self, a: &Scanpath, b: &Scanpath) -> Result<PairScore, MetricError> {
        self.check(a, b)?;
        self.model.check_score(a.len(), b.len())?;
        let mut score = Err(MetricError::NoIntegers);
        self.single(a, b, |row| {
            self.kernels.scores(self, row, |_, pair| score = pair);
        });
        score
    }

    /// The raw integer result, which every secure engine must reproduce exactly.
    pub fn raw(&self, a: &Scanpath, b: &Scanpath) -> Result<i64, MetricError> {
        self.check(a, b)?;
        let mut result = Err(MetricError::NoIntegers);
        self.single(a, b, |row| self.kernels.raw(row, |_, raw| result = raw));
        result
    }

    /// Converts a raw result to the user's numbers.
    pub fn read(&self, raw: i64, m: usize, n: usize) -> Result<PairScore, MetricError> {
        self.model
            .read_with_largest(raw, m, n, self.kernels.largest())
    }

    /// The largest cost or score of a pair of letters; 0 if all scores are negative.
    pub(crate) fn largest(&self) -> u32 {
        u32::try_from(self.kernels.largest()).unwrap_or(0)
    }

    /// Compares many pairs on all cores. Results are in the order of `pairs`. `progress` is called from several threads
    /// with the number of finished matrix cells.
    ///
    /// Each pair is an index into `a` and one into `b`. If any pair cannot be compared, returns the error of the first
    /// such pair and computes nothing.
    pub fn compare_pairs(
        &self,
        a: &[&Scanpath],
        b: &[&Scanpath],
        pairs: &[(usize, usize)],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<PairScore>, MetricError> {
        self.check_pairs(a, b, pairs)?;
        let batch = Batch {
            first: a,
            second: b,
            pairs,
            letters: self.alphabet.size(),
            progress,
        };
        let scores = batch.run(|row, finished| self.kernels.scores(self, row, finished));
        scores.into_iter().collect()
    }

    fn single(&self, a: &Scanpath, b: &Scanpath, compute: impl FnOnce(Row<'_>)) {
        let (shared_is_first, shared, other) = shorter_first(a.letters(), b.letters());
        compute(Row {
            shared,
            others: &[other],
            shared_is_first,
            letters: self.alphabet.size(),
            progress: &|_| (),
        });
    }

    fn check(&self, a: &Scanpath, b: &Scanpath) -> Result<(), MetricError> {
        self.model.check_lengths(a.len(), b.len())?;
        for scanpath in [a, b] {
            self.alphabet
                .check(scanpath)
                .map_err(|position| self.outside(position))?;
        }
        Ok(())
    }

    /// Returns the error that [`Comparison::compare`] gives for the first pair it rejects. Each scanpath is checked
    /// once.
    fn check_pairs(
        &self,
        a: &[&Scanpath],
        b: &[&Scanpath],
        pairs: &[(usize, usize)],
    ) -> Result<(), MetricError> {
        let mut checked = [vec![false; a.len()], vec![false; b.len()]];
        for &(i, j) in pairs {
            let [checked_a, checked_b] = &mut checked;
            let (first, first_checked) = get(a, checked_a, i)?;
            let (second, second_checked) = get(b, checked_b, j)?;
            self.model.check_lengths(first.len(), second.len())?;
            for (scanpath, checked) in [(first, first_checked), (second, second_checked)] {
                if !*checked {
                    self.alphabet
                        .check(scanpath)
                        .map_err(|position| self.outside(position))?;
                    *checked = true;
                }
            }
            self.model.check_score(first.len(), second.len())?;
        }
        Ok(())
    }

    fn outside(&self, position: usize) -> MetricError {
        MetricError::OutsideAlphabet {
            position: position + 1,
            alphabet: self.alphabet.in_words(),
        }
    }
}

/// Metric and alphabet determine everything else.
impl PartialEq for Comparison {
    fn eq(&self, other: &Self) -> bool {
        self.metric == other.metric && self.alphabet == other.alphabet
    }
}

impl fmt::Debug for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Comparison")
            .field("metric", &self.metric)
            .field("alphabet", &self.alphabet)
            .finish_non_exhaustive()
    }
}

fn get<'a, 'k>(
    scanpaths: &[&'a Scanpath],
    checked: &'k mut [bool],
    index: usize,
) -> Result<(&'a Scanpath, &'k mut bool), MetricError> {
    match (scanpaths.get(index), checked.get_mut(index)) {
        (Some(scanpath), Some(checked)) => Ok((scanpath, checked)),
        _ => Err(MetricError::NoSuchScanpath {
            index,
            count: scanpaths.len(),
        }),
    }
}
