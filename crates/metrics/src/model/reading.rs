//! Converts the raw result of a pair to the user's numbers.

use super::{Costs, GlobalModel, Model, ScoreFormula, check_lengths};
use crate::{MetricError, PairScore};

impl Model {
    /// The user's numbers for a raw result of scanpaths with `m` and `n` letters over an alphabet of `letters` letters.
    pub fn read(
        &self,
        raw: i64,
        m: usize,
        n: usize,
        letters: u32,
    ) -> Result<PairScore, MetricError> {
        self.read_with_largest(raw, m, n, self.largest(letters))
    }

    /// The largest cost or score of a pair of letters.
    pub(crate) fn largest(&self, letters: u32) -> i64 {
        match self {
            Model::Global(model) => model.costs.largest(letters).into(),
            Model::Local(model) => model.scores.largest().into(),
            Model::Warping(model) => model.largest(letters).into(),
            Model::Bottleneck(model) | Model::Hausdorff(model) => model.ranks.largest().into(),
            Model::Recurrence(_) => 1,
            Model::Reward(model) => model.largest().into(),
            Model::Clear => 0,
        }
    }

    /// What a letter pair contributes: a cost, a score, a distance, the rank of a distance, a reward, or 1 if the two
    /// recur.
    pub fn entry(&self, a: u16, b: u16) -> i64 {
        match self {
            Model::Global(model) => model.costs.cost(a, b).into(),
            Model::Local(model) => model.scores.score(a, b).into(),
            Model::Warping(model) => model.distance(a, b).into(),
            Model::Bottleneck(model) | Model::Hausdorff(model) => model.ranks.rank(a, b).into(),
            Model::Recurrence(model) => model.letters.recur(a, b).into(),
            Model::Reward(model) => model.reward(a, b).into(),
            Model::Clear => 0,
        }
    }

    /// Checks that scanpaths of these lengths have numbers for the user.
    pub(crate) fn check_score(&self, m: usize, n: usize) -> Result<(), MetricError> {
        match self {
            Model::Global(model) if m == 0 && n == 0 && model.divides_by_length() => {
                Err(MetricError::EmptyPair)
            }
            _ => self.check_lengths(m, n),
        }
    }

    /// Checks that scanpaths of these lengths have a raw result.
    pub fn check_lengths(&self, m: usize, n: usize) -> Result<(), MetricError> {
        check_lengths(m, n)?;
        let metric = match self {
            Model::Warping(_) => "dtw",
            Model::Bottleneck(_) => "frechet",
            Model::Hausdorff(_) => "hausdorff",
            Model::Recurrence(_) => "crqa",
            Model::Global(_) | Model::Local(_) | Model::Reward(_) | Model::Clear => return Ok(()),
        };
        match m.min(n) {
            0 => Err(MetricError::EmptyScanpath { metric }),
            _ => Ok(()),
        }
    }

    /// [`Model::read`] with a given [largest](Model::largest) number. Finding that number takes a pass over the whole
    /// table, which many pairs should share.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_wrap)] // results beyond 2⁵³ keep 53 significant bits; lengths are checked
    pub(crate) fn read_with_largest(
        &self,
        raw: i64,
        m: usize,
        n: usize,
        largest: i64,
    ) -> Result<PairScore, MetricError> {
        self.check_score(m, n)?;
        let longer = m.max(n) as f64;
        let total = (m + n) as f64;
        match self {
            Model::Local(model) => {
                let best = largest * m.min(n) as i64;
                Ok(PairScore::new(
                    raw as f64 / f64::from(model.scale),
                    (best > 0).then(|| raw as f64 / best as f64),
                ))
            }
            Model::Global(model) => match model.formula {
                ScoreFormula::ScanMatch {
                    threshold,
                    units,
                    cells,
                } => {
                    // A deletion may cost one unit more than an insertion. Halves are exact.
                    let skew = f64::from(model.delete) - f64::from(model.insert);
                    let cost = raw as f64 - skew * (m as f64 - n as f64) / 2.0;
                    let cost = cost / units * cells;
                    let score = (threshold / 2.0 * total - cost) / (threshold * longer);
                    Ok(PairScore::of_scanmatch(score))
                }
                ScoreFormula::CommonSubsequence => {
                    Ok(PairScore::single((total - raw as f64) / 2.0 / longer))
                }
                ScoreFormula::Cost { scale } => Ok(PairScore::new(
                    raw as f64 / f64::from(scale),
                    Some(model.similarity(raw, m, n, largest)),
                )),
                ScoreFormula::Reward { per_letter, scale } => Ok(PairScore::new(
                    (f64::from(per_letter) * total - raw as f64) / (2.0 * f64::from(scale)),
                    Some(model.similarity(raw, m, n, largest)),
                )),
            },
            Model::Warping(model) => Ok(PairScore::single(model.read(raw, m, n))),
            Model::Bottleneck(model) | Model::Hausdorff(model) => model.read(raw),
            Model::Recurrence(model) => model.read(raw, m, n),
            Model::Reward(model) => Ok(model.read(raw, m, n)),
            Model::Clear => Err(MetricError::NoIntegers),
        }
    }
}

impl GlobalModel {
    /// One minus the ratio of the cost to the largest cost that these lengths allow. With unit costs, this is `1 −
    /// distance / max(m, n)`.
    #[allow(clippy::cast_precision_loss)]
    fn similarity(&self, raw: i64, m: usize, n: usize, largest: i64) -> f64 {
        // Unit costs do not depend on the alphabet: even over a single letter, Levenshtein's similarity is 1 − distance
        // / max(m, n).
        let largest = match self.costs {
            Costs::Unit { mismatch } => mismatch.into(),
            _ => largest.unsigned_abs(),
        };
        match self.worst_with_largest(m, n, largest) {
            0 => 1.0,
            worst => 1.0 - raw as f64 / worst as f64,
        }
    }
}
