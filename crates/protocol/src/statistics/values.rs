//! Turns a pair's number, which is secret-shared between the sides, into its value: a score or similarity in fixed point, with
//! the same unit for all pairs.
//!
//! The score is a linear function of the number, and its coefficients follow from the lengths, which both sides know. So the value
//! is `constant + factor·number` modulo 2⁶⁴, and shares of the number become shares of the value without a message.

use crate::ProtocolError;
use crate::engines::alignment::private_metric::{PrivateMetric, UNITS};
use veilpath_metrics::{Comparison, Metric};
use veilpath_statistics::{StatisticsError, check_sum};

/// Precision bits: the error of a similarity is at most 2⁻²⁴.
const ERROR_BITS: u32 = 24;

/// The fewest precision bits of scores, which can be large: the error is at most 2⁻¹⁰.
const MIN_ERROR_BITS_OF_SCORES: u32 = 10;

/// Which of a pair's numbers a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// The similarity, from 0 to 1; it is 1 for equal scanpaths.
    Similarity,
    /// The metric's first number. Used with hidden lengths, for ScanMatch, whose score is its similarity before clipping,
    /// and for metrics without a similarity.
    Score,
}

impl ValueKind {
    pub(crate) fn of(metric: &Metric, hidden_lengths: bool) -> Self {
        let is_score = matches!(metric, Metric::ScanMatch { .. }) || !metric.is_alignment();
        match hidden_lengths || is_score {
            true => Self::Score,
            false => Self::Similarity,
        }
    }

    /// The name of the measure.
    fn name(self, metric: &Metric) -> &'static str {
        match self {
            Self::Similarity => "similarity",
            Self::Score => metric
                .measures()
                .first()
                .map_or("score", |measure| measure.name),
        }
    }
}

/// The value of one pair: `constant + factor·number`, modulo 2⁶⁴.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PairValue {
    constant: u64,
    factor: u64,
}

impl PairValue {
    /// This side's share of the value, given its share of the number. The host adds `constant`.
    pub(crate) fn share(&self, number: u64, is_host: bool) -> u64 {
        let product = self.factor.wrapping_mul(number);
        match is_host {
            true => product.wrapping_add(self.constant),
            false => product,
        }
    }
}

/// What both sides know about a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PairShape {
    pub(crate) rows: u32,
    pub(crate) columns: u32,
    /// The value is divided by this.
    pub(crate) divisor: u32,
}

/// How values are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValueUse {
    /// The largest number of values that are summed.
    pub(crate) terms: u64,
    /// Additional precision bits.
    pub(crate) more_bits: u32,
}

/// How the numbers of all pairs become values.
pub(crate) struct Values<'a> {
    comparison: &'a Comparison,
    scoring: &'a PrivateMetric,
    kind: ValueKind,
    hidden_lengths: bool,
    /// Whether signs are reversed, so that larger values mean more similar.
    negate: bool,
    /// Integer bits of the largest score or similarity.
    whole_bits: u32,
    fraction_bits: u32,
    /// Bits of the numbers that become values.
    pub(crate) number_bits: usize,
    /// The largest error of a value: a factor is rounded, and multiplied by the raw result.
    pub(crate) error: u64,
    /// Whether halves are additive shares of raw results modulo 2⁶⁴, not XOR shares of numbers.
    of_raw_results: bool,
}

impl<'a> Values<'a> {
    /// The values for pairs of these shapes.
    pub(crate) fn new(
        comparison: &'a Comparison,
        scoring: &'a PrivateMetric,
        [hidden_lengths, of_raw_results]: [bool; 2],
        shapes: &[PairShape],
        ValueUse { terms, more_bits }: ValueUse,
    ) -> Result<Self, ProtocolError> {
        let mut values = Self {
            comparison,
            scoring,
            kind: ValueKind::of(comparison.metric(), hidden_lengths),
            hidden_lengths,
            negate: false,
            whole_bits: 1,
            fraction_bits: 0,
            number_bits: 1,
            error: 1,
            of_raw_results,
        };
        let (mut largest_raw, mut largest) = (1_u64, 1.0_f64);
        for shape in shapes {
            let [low, high] = match scoring.follows_from_lengths(shape.rows, shape.columns) {
                true => [scoring.empty_matrix_result(shape.rows, shape.columns)?; 2],
                false => {
                    let bits = scoring.full_bits(shape.rows, shape.columns).clamp(1, 62);
                    values.number_bits = values.number_bits.max(bits);
                    let [constant, factor] = scoring.linear(shape.rows, shape.columns)?;
                    let span = factor.saturating_mul((1 << bits) - 1);
                    [constant, constant.saturating_add(span)]
                }
            };
            // Extrapolates the linear function with which values are computed: not every integer of this many bits is a
            // score.
            let (start, next) = (values.number_of(0, shape)?, values.number_of(1, shape)?);
            for raw in [low, high] {
                largest_raw = raw.unsigned_abs().max(largest_raw);
                #[allow(clippy::cast_precision_loss)] // a bound
                let number = start + (next - start) * raw as f64;
                largest = number.abs().max(largest);
            }
        }
        let raw_bits = u64::BITS - largest_raw.leading_zeros();
        values.error = largest_raw;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a small number
        let whole_bits = largest.log2().ceil() as u32 + 1;
        values.whole_bits = whole_bits;
        let fits = |bits: &u32| {
            let largest = 1u64.checked_shl(bits + whole_bits);
            check_sum(terms, largest.unwrap_or(u64::MAX), 1).is_ok()
        };
        // The rounding error of a factor, half a unit, is multiplied by the raw result.
        let max_bits = raw_bits + ERROR_BITS + more_bits;
        let min_bits = match values.has_similarities()? {
            false => max_bits - (ERROR_BITS - MIN_ERROR_BITS_OF_SCORES),
            true => max_bits,
        };
        let bits = (min_bits..=max_bits).rev().find(fits);
        values.fraction_bits = bits.ok_or(StatisticsError::TooManyPairs {
            terms,
            largest: 1u64.checked_shl(min_bits + whole_bits).unwrap_or(u64::MAX),
        })?;
        Ok(values)
    }

    /// Whether values lie between 0 and 1, up to clipping, rather than being scores of any size.
    fn has_similarities(&self) -> Result<bool, ProtocolError> {
        if self.hidden_lengths || self.scoring.distances().is_some() {
            return Ok(false);
        }
        let is_scanmatch = matches!(self.comparison.metric(), Metric::ScanMatch { .. });
        Ok(is_scanmatch || self.comparison.read(0, 1, 1)?.similarity().is_some())
    }

    /// Makes larger values mean more similar.
    pub(crate) fn into_similarities(mut self) -> Self {
        self.negate = self.kind == ValueKind::Score && self.comparison.metric().is_distance();
        self
    }

    /// The score or similarity for a raw result, or for the distance of a rank.
    #[allow(clippy::cast_precision_loss)] // a distance on a grid
    fn number_of(&self, raw: i64, shape: &PairShape) -> Result<f64, ProtocolError> {
        if self.scoring.distances().is_some() {
            return Ok(raw as f64 / UNITS);
        }
        let read = match self.hidden_lengths {
            true => self.comparison.model().read_without_lengths(raw)?,
            false => {
                let (rows, columns) = (shape.rows as usize, shape.columns as usize);
                self.comparison.read(raw, rows, columns)?
            }
        };
        Ok(match self.kind {
            ValueKind::Similarity => read.similarity().unwrap_or(read.score()),
            ValueKind::Score => read.score(),
        })
    }

    /// The size of one unit of a value; negative if signs are reversed.
    pub(crate) fn unit(&self) -> f64 {
        let unit = f64::from(self.fraction_bits).exp2().recip();
        if self.negate { -unit } else { unit }
    }

    /// Values lie between −2^bits and 2^bits.
    pub(crate) fn bits(&self) -> usize {
        (self.fraction_bits + self.whole_bits) as usize
    }

    /// The name of the measure.
    pub(crate) fn name(&self) -> &'static str {
        self.kind.name(self.comparison.metric())
    }

    /// The value as a linear function of the raw result: its value at 0, and what each unit adds.
    pub(crate) fn linear(&self, shape: &PairShape) -> Result<[i64; 2], ProtocolError> {
        let (start, next) = (self.number_of(0, shape)?, self.number_of(1, shape)?);
        let scale = self.unit() * f64::from(shape.divisor.max(1));
        #[allow(clippy::cast_possible_truncation)] // checked when these values were made
        let fixed = |number: f64| (number / scale).round() as i64;
        Ok([fixed(start), fixed(next - start)])
    }

    /// The value of a raw result in the clear.
    pub(crate) fn of_raw(&self, raw: i64, shape: &PairShape) -> Result<i64, ProtocolError> {
        let [start, slope] = self.linear(shape)?;
        Ok(start.wrapping_add(slope.wrapping_mul(raw)))
    }

    /// The value of a pair whose number is secret-shared. For a pair with an empty scanpath, the value may follow from the
    /// lengths.
    pub(crate) fn of_pair(&self, shape: &PairShape) -> Result<PairValue, ProtocolError> {
        if self.scoring.follows_from_lengths(shape.rows, shape.columns) {
            let raw = self
                .scoring
                .empty_matrix_result(shape.rows, shape.columns)?;
            return Ok(PairValue {
                constant: self.of_raw(raw, shape)?.cast_unsigned(),
                factor: 0,
            });
        }
        let [start, slope] = self.linear(shape)?;
        let [offset, factor] = match self.of_raw_results {
            true => [0, 1],
            false => self.scoring.linear(shape.rows, shape.columns)?,
        };
        let constant = start.wrapping_add(slope.wrapping_mul(offset));
        Ok(PairValue {
            constant: constant.cast_unsigned(),
            factor: slope.wrapping_mul(factor).cast_unsigned(),
        })
    }
}
