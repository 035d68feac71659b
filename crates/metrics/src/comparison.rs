//! A metric prepared for an alphabet: compare one pair, or many on all cores.

use crate::batch::{Batch, shorter_first};
use crate::kernel::double::DoubleKernel;
use crate::kernel::global::GlobalKernel;
use crate::kernel::local::LocalKernel;
use crate::kernel::{Row, levenshtein};
use crate::{Alphabet, Costs, Metric, MetricError, Model, Scanpath, model};
use std::fmt;
use std::sync::Arc;

/// The result of a pair, as the user sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairScore {
    /// The metric's own number.
    pub score: f64,
    /// How similar the two are, from 0 to 1, if the metric defines it.
    pub similarity: Option<f64>,
}

impl PairScore {
    /// ScanMatch's score is its similarity; scores below 0 (large gap costs) mean no similarity at all.
    pub(crate) fn of_scanmatch(score: f64) -> Self {
        Self {
            score,
            similarity: Some(score.clamp(0.0, 1.0)),
        }
    }
}

/// A metric with the alphabet it is computed over. Clones share their tables.
#[derive(Clone)]
pub struct Comparison {
    metric: Metric,
    alphabet: Alphabet,
    model: Arc<Model>,
    kernels: Arc<Kernels>,
}

/// What is prepared once for all pairs.
struct Kernels {
    integer: IntegerKernel,
    /// ScanMatch without a scale is computed as in the original.
    scanmatch: Option<DoubleScanMatch>,
    /// The largest cost or score of a pair of letters.
    largest: i64,
}

enum IntegerKernel {
    /// All edits cost the same.
    Levenshtein {
        cost: i64,
    },
    Global(GlobalKernel),
    Local(LocalKernel),
}

struct DoubleScanMatch {
    threshold: f64,
    kernel: DoubleKernel,
}

impl Comparison {
    /// Checks that the metric's numbers make sense and fit the alphabet.
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
        let Some(scanmatch) = &self.kernels.scanmatch else {
            let raw = self.raw(a, b)?;
            return self.read(raw, a.len(), b.len());
        };
        self.check(a, b)?;
        let mut reading = Err(MetricError::EmptyScanMatch);
        self.single(a, b, |row| {
            scanmatch.kernel.row(row, |_, sum| {
                reading = scanmatch.read(sum, a.len(), b.len());
            });
        });
        reading
    }

    /// The raw integer result, which every secure engine must reproduce exactly.
    pub fn raw(&self, a: &Scanpath, b: &Scanpath) -> Result<i64, MetricError> {
        self.check(a, b)?;
        let mut result = 0;
        self.single(a, b, |row| {
            self.kernels.integer.row(row, |_, raw| result = raw);
        });
        Ok(result)
    }

    /// The user's numbers for a raw result.
    pub fn read(&self, raw: i64, m: usize, n: usize) -> Result<PairScore, MetricError> {
        self.model.read_given(raw, m, n, self.kernels.largest)
    }

    /// The largest cost or score of a pair of letters; 0 if all scores are negative.
    pub(crate) fn largest(&self) -> u32 {
        u32::try_from(self.kernels.largest).unwrap_or(0)
    }

    /// Compares many pairs on all cores, in the order given. `progress` is called with the number of finished matrix
    /// cells, from several threads.
    ///
    /// A pair has an index into `a` and one into `b`. If pairs cannot be compared, the error is that of the first
    /// such pair, and nothing is computed.
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
        let readings = batch.run(|row, finished| {
            let lengths = |index: usize| {
                let (lane, other) = (row.lane.len(), row.others[index].len());
                if row.lane_is_first {
                    (lane, other)
                } else {
                    (other, lane)
                }
            };
            match &self.kernels.scanmatch {
                Some(scanmatch) => scanmatch.kernel.row(row, |index, sum| {
                    let (m, n) = lengths(index);
                    finished(index, scanmatch.read(sum, m, n));
                }),
                None => self.kernels.integer.row(row, |index, raw| {
                    let (m, n) = lengths(index);
                    finished(index, self.read(raw, m, n));
                }),
            }
        });
        readings.into_iter().collect()
    }

    fn single(&self, a: &Scanpath, b: &Scanpath, compute: impl FnOnce(Row<'_>)) {
        let (lane_is_first, lane, other) = shorter_first(a.letters(), b.letters());
        compute(Row {
            lane,
            others: &[other],
            lane_is_first,
            letters: self.alphabet.size(),
            progress: &|_| (),
        });
    }

    fn check(&self, a: &Scanpath, b: &Scanpath) -> Result<(), MetricError> {
        model::check_lengths(a.len(), b.len())?;
        for scanpath in [a, b] {
            self.alphabet
                .check(scanpath)
                .map_err(|position| self.outside(position))?;
        }
        Ok(())
    }

    /// The error of [`Comparison::compare`] for the first pair that it refuses. Each scanpath is checked once.
    fn check_pairs(
        &self,
        a: &[&Scanpath],
        b: &[&Scanpath],
        pairs: &[(usize, usize)],
    ) -> Result<(), MetricError> {
        let mut known = [vec![false; a.len()], vec![false; b.len()]];
        let divides_by_length =
            matches!(&*self.model, Model::Global(model) if model.divides_by_length());
        for &(i, j) in pairs {
            let [known_a, known_b] = &mut known;
            let (first, known_first) = get(a, known_a, i)?;
            let (second, known_second) = get(b, known_b, j)?;
            model::check_lengths(first.len(), second.len())?;
            for (scanpath, known) in [(first, known_first), (second, known_second)] {
                if !*known {
                    self.alphabet
                        .check(scanpath)
                        .map_err(|position| self.outside(position))?;
                    *known = true;
                }
            }
            if divides_by_length && first.is_empty() && second.is_empty() {
                return Err(MetricError::EmptyScanMatch);
            }
        }
        Ok(())
    }

    fn outside(&self, position: usize) -> MetricError {
        MetricError::OutsideAlphabet {
            position: position + 1,
            alphabet: self.alphabet.to_string(),
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

impl Kernels {
    fn new(metric: &Metric, model: &Model, letters: u32) -> Self {
        let integer = match model {
            Model::Local(model) => IntegerKernel::Local(LocalKernel::new(model, letters)),
            Model::Global(model) => match model.costs {
                Costs::Unit { mismatch }
                    if mismatch == model.insert && mismatch == model.delete =>
                {
                    IntegerKernel::Levenshtein {
                        cost: i64::from(mismatch),
                    }
                }
                _ => IntegerKernel::Global(GlobalKernel::new(model, letters)),
            },
        };
        let scanmatch = match metric {
            Metric::ScanMatch {
                grid,
                wrap,
                threshold,
                gap,
                scale: None,
            } => Some(DoubleScanMatch {
                threshold: *threshold,
                kernel: DoubleKernel::new(&grid.with_wrap(*wrap), *threshold, *gap, letters),
            }),
            _ => None,
        };
        Self {
            integer,
            scanmatch,
            largest: model.largest(letters),
        }
    }
}

impl IntegerKernel {
    #[allow(clippy::cast_possible_wrap)] // a distance is at most `MAX_LENGTH`
    fn row(&self, row: Row<'_>, mut finished: impl FnMut(usize, i64)) {
        match self {
            IntegerKernel::Levenshtein { cost } => {
                levenshtein::row(row, |index, edits| {
                    (row.progress)(row.cells(index));
                    finished(index, edits as i64 * cost);
                });
            }
            IntegerKernel::Global(kernel) => kernel.row(row, finished),
            IntegerKernel::Local(kernel) => kernel.row(row, finished),
        }
    }
}

impl DoubleScanMatch {
    #[allow(clippy::cast_precision_loss)] // lengths are far below 2⁵³
    fn read(&self, sum: f64, m: usize, n: usize) -> Result<PairScore, MetricError> {
        match m.max(n) {
            0 => Err(MetricError::EmptyScanMatch),
            longer => Ok(PairScore::of_scanmatch(
                sum / (self.threshold * longer as f64),
            )),
        }
    }
}

fn get<'a, 'k>(
    scanpaths: &[&'a Scanpath],
    known: &'k mut [bool],
    index: usize,
) -> Result<(&'a Scanpath, &'k mut bool), MetricError> {
    match (scanpaths.get(index), known.get_mut(index)) {
        (Some(scanpath), Some(known)) => Ok((scanpath, known)),
        _ => Err(MetricError::NoSuchScanpath {
            index,
            count: scanpaths.len(),
        }),
    }
}
