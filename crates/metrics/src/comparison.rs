//! A metric made ready for an alphabet: compare one pair, or many on all cores.

use crate::{Alphabet, Metric, MetricError, Model, Scanpath, global, local, model, scanmatch};
use rayon::prelude::*;

/// What the user gets for a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The metric's own number.
    pub score: f64,
    /// How alike, from 0 to 1, where the metric defines it.
    pub similarity: Option<f64>,
}

impl Reading {
    /// ScanMatch's score is its similarity; scores below 0 (dear gaps) mean not alike at all.
    pub(crate) fn of_scanmatch(score: f64) -> Self {
        Self {
            score,
            similarity: Some(score.clamp(0.0, 1.0)),
        }
    }
}

/// A metric with the alphabet it is computed over.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    metric: Metric,
    alphabet: Alphabet,
    model: Model,
}

impl Comparison {
    /// Checks that the metric's numbers make sense and fit the alphabet.
    pub fn new(metric: Metric, alphabet: Alphabet) -> Result<Self, MetricError> {
        let model = metric.model(&alphabet)?;
        Ok(Self {
            metric,
            alphabet,
            model,
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

    /// The same in integers.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Compares two scanpaths.
    pub fn compare(&self, a: &Scanpath, b: &Scanpath) -> Result<Reading, MetricError> {
        if let Metric::ScanMatch {
            grid,
            wrap,
            threshold,
            gap,
            scale: None,
        } = &self.metric
        {
            self.check(a, b)?;
            return scanmatch::score(&grid.with_wrap(*wrap), *threshold, *gap, a, b);
        }
        let raw = self.raw(a, b)?;
        self.read(raw, a.len(), b.len())
    }

    /// The raw integer result, which every secure engine must reproduce exactly.
    pub fn raw(&self, a: &Scanpath, b: &Scanpath) -> Result<i64, MetricError> {
        self.check(a, b)?;
        Ok(match &self.model {
            Model::Global(model) => global::least_cost(model, a, b),
            Model::Local(model) => local::greatest_score(model, a, b),
        })
    }

    /// The user's numbers for a raw result.
    pub fn read(&self, raw: i64, m: usize, n: usize) -> Result<Reading, MetricError> {
        self.model.read(raw, m, n, self.alphabet.size())
    }

    /// Compares many pairs on all cores, in the order given. `progress` is told the cells of each finished pair; it is
    /// called from several threads.
    ///
    /// A pair names an index into `a` and one into `b`.
    pub fn compare_pairs(
        &self,
        a: &[&Scanpath],
        b: &[&Scanpath],
        pairs: &[(usize, usize)],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<Reading>, MetricError> {
        pairs
            .par_iter()
            .map(|&(i, j)| {
                let reading = self.compare(a[i], b[j])?;
                progress(a[i].len() as u64 * b[j].len() as u64);
                Ok(reading)
            })
            .collect()
    }

    fn check(&self, a: &Scanpath, b: &Scanpath) -> Result<(), MetricError> {
        model::check_lengths(a.len(), b.len())?;
        for scanpath in [a, b] {
            self.alphabet
                .check(scanpath)
                .map_err(|position| MetricError::OutsideAlphabet {
                    position: position + 1,
                    alphabet: self.alphabet.to_string(),
                })?;
        }
        Ok(())
    }
}
