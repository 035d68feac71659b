//! The public parts of a question: who is compared with whom, edges, precision, and what is rounded.

use super::answer_schema::NumberKind;
use super::nearest::bits_for;
use super::prepared::PreparedGroupAnswer;
use super::rounding::{PRECISION_BITS, shift};
use super::values::{ValueKind, ValueUse};
use crate::{GroupQuestion, ProtocolError};
use veilpath_metrics::Metric;
use veilpath_statistics::{StatisticsError, check_sum, histogram_edges};

impl PreparedGroupAnswer<'_> {
    /// How many low bits of each number are not opened.
    #[allow(clippy::cast_precision_loss)] // counts of pairs
    pub(super) fn shifts(&self) -> Result<Vec<u32>, ProtocolError> {
        let smallest_step = 1u64 << self.value_bits.saturating_sub(PRECISION_BITS);
        let resolution = smallest_step as f64 * self.value_unit;
        let mean_shift = |count: u64| shift(resolution, self.unit / count.max(1) as f64);
        Ok(match &self.schema().kind {
            NumberKind::StimulusMeans { stimuli } => {
                stimuli.iter().map(|it| mean_shift(it.1)).collect()
            }
            NumberKind::GroupMeans { rows, columns } => {
                let count = |row: &(String, u32), column: &(String, u32)| {
                    u64::from(row.1) * u64::from(column.1)
                };
                let cells = rows
                    .iter()
                    .flat_map(|row| columns.iter().map(move |it| (row, it)));
                cells
                    .map(|(row, column)| mean_shift(count(row, column)))
                    .collect()
            }
            NumberKind::Test { .. } => {
                let statistic_unit = self.contrast()?.difference(1, self.schema().unit);
                vec![shift(resolution, statistic_unit), 0]
            }
            NumberKind::Nearest { .. }
            | NumberKind::NearestRate { .. }
            | NumberKind::Histogram { .. } => vec![0; self.schema().count()],
        })
    }

    /// How many bits each number has; see [`AnswerSchema::bits`](super::AnswerSchema::bits).
    pub(super) fn bits(&self) -> Result<Vec<u32>, ProtocolError> {
        let value_bits = u32::try_from(self.value_bits).unwrap_or(u32::MAX);
        // Values lie between −2^value_bits and 2^value_bits, and a sum has a sign.
        let sum_bits = |terms: u64| {
            let terms = u64::BITS - terms.leading_zeros();
            value_bits.saturating_add(terms).saturating_add(1).min(64)
        };
        // The bits of a number up to this one.
        let up_to = |largest: u64| (u64::BITS - largest.leading_zeros()).max(1);
        let pairs = self.pairs.len() as u64;
        Ok(match &self.schema().kind {
            NumberKind::StimulusMeans { stimuli } => {
                stimuli.iter().map(|it| sum_bits(it.1)).collect()
            }
            NumberKind::GroupMeans { rows, columns } => {
                let max_count = self.layout.max_count().into();
                let cells = rows
                    .iter()
                    .flat_map(|row| columns.iter().map(move |it| [row.1, it.1].map(u64::from)));
                cells
                    .map(|[row, column]| row.saturating_mul(column).saturating_mul(max_count))
                    .map(|terms| sum_bits(terms.min(self.terms)))
                    .collect()
            }
            NumberKind::Test { question, .. } => {
                let [same, different] = self.contrast()?.coefficients();
                let terms = self.terms.saturating_mul(same.max(different));
                let permutations = question.permutations().unwrap_or(0);
                vec![sum_bits(terms), up_to(permutations.into())]
            }
            NumberKind::Nearest {
                groups, scanpaths, ..
            } => vec![up_to(groups.len().saturating_sub(1) as u64); scanpaths.len()],
            NumberKind::NearestRate { scanpaths, .. } => vec![up_to(*scanpaths)],
            NumberKind::Histogram { edges, .. } => {
                let bins = edges.len().saturating_sub(1);
                [vec![1; bins], vec![up_to(pairs); bins]].concat()
            }
        })
    }

    /// For each of the host's scanpaths that is in a pair, its pairs in the order of the joining side's scanpaths.
    pub(super) fn queries(&self, k: usize) -> Result<Vec<Vec<usize>>, ProtocolError> {
        let mut queries: Vec<Vec<usize>> = Vec::new();
        let mut last = None;
        // Pairs are sorted by the host's scanpath, and then by the joining side's.
        for (pair, (host, _)) in self.job.pairs.iter().enumerate() {
            if last.replace(host) != Some(host) {
                queries.push(Vec::new());
            }
            if let Some(query) = queries.last_mut() {
                query.push(pair);
            }
        }
        match queries.iter().position(|pairs| pairs.len() < k) {
            None => Ok(queries),
            Some(query) => Err(StatisticsError::TooFewReferences {
                query,
                found: queries[query].len(),
                k,
            }
            .into()),
        }
    }

    /// The edges of a histogram: from 0 to 1 for similarities, else from 0 to a power of two that no value exceeds.
    pub(super) fn edges(&self) -> Result<Vec<i64>, ProtocolError> {
        let GroupQuestion::Histogram { bins } = self.question else {
            return Err(ProtocolError::Internal("this question has no edges"));
        };
        #[allow(clippy::cast_possible_truncation)] // values were checked to fit
        let one = (1.0 / self.unit).round() as i64;
        let is_scanmatch = matches!(self.job.comparison.metric(), Metric::ScanMatch { .. });
        let is_fraction = self.value_kind() == ValueKind::Similarity || is_scanmatch;
        let high = match is_fraction {
            true => one,
            false => 1 << (self.value_bits - 1),
        };
        Ok(histogram_edges(0, high, bins as usize)?)
    }

    /// The edges that values are compared with. They are a little lower, because rounding may put a value that is on an
    /// edge below it.
    pub(super) fn compared_edges(&self) -> Result<Vec<i64>, ProtocolError> {
        let error = self.value_error.cast_signed();
        let edges = self.edges()?;
        Ok(edges
            .into_iter()
            .map(|edge| edge.saturating_sub(error))
            .collect())
    }

    /// The advantage of a reference over the next one, so that the earlier of two equal values is nearer.
    pub(super) fn tie_step(&self) -> u64 {
        self.value_error.saturating_mul(4)
    }

    /// How many low bits are dropped from observed sums so that they can be multiplied by the coefficients of the contrast: 0
    /// with few pairs.
    pub(super) fn statistic_shift(&self) -> u32 {
        let Some(contrast) = self.contrast else {
            return 0;
        };
        let [same, different] = contrast.coefficients();
        let fits = |shift: &u32| {
            let largest = 1u64 << (self.value_bits as u32).saturating_sub(*shift).min(62);
            check_sum(self.terms, largest, same.max(different)).is_ok()
        };
        (0..62).find(fits).unwrap_or(62)
    }

    /// How far apart two sums that represent the same number may be. A permutation counts if it reaches the observed
    /// sum up to this tolerance.
    pub(super) fn tolerance(&self) -> u64 {
        let each = self.value_error.saturating_mul(2);
        self.terms.saturating_mul(each).min(1 << 60)
    }
}

/// How a question uses its values.
pub(super) fn value_use(question: GroupQuestion, pairs: &[(usize, usize)], terms: u64) -> ValueUse {
    match question {
        // Earlier references get an advantage over later ones, in total less than the usual precision.
        GroupQuestion::Nearest { .. } => {
            let pairs_per_query = pairs.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len);
            let references = pairs_per_query.max().unwrap_or(0) as u64;
            ValueUse {
                terms: 1,
                more_bits: u32::try_from(bits_for(references)).unwrap_or(u64::BITS) + 2,
            }
        }
        _ => ValueUse {
            terms,
            more_bits: 0,
        },
    }
}
