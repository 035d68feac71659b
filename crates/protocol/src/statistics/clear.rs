//! Computes the same answers in the clear, for an institution that has both cohorts and as the reference for answers on
//! shares.

use super::nearest::tie_gain;
use super::prepared::PreparedGroupAnswer;
use super::rounding::{shifted, without_low_bits};
use crate::{GroupQuestion, ProtocolError};
use std::collections::BTreeSet;
use veilpath_metrics::Metric;
use veilpath_statistics::{
    CrossTest, LabelTest, PairMatrix, TestResult, bin_of, group_sums, histogram, majority, nearest,
    suppress_small,
};

/// The numbers of an answer, given the plans of both sides and the values of all pairs.
pub(crate) fn numbers_in_the_clear(
    host: &PreparedGroupAnswer<'_>,
    join: &PreparedGroupAnswer<'_>,
    values: &[i64],
) -> Result<Vec<i64>, ProtocolError> {
    let numbers = exact_numbers(host, join, values)?;
    let rounded = numbers.iter().zip(&host.schema().shifts);
    Ok(rounded
        .map(|(number, shift)| without_low_bits(*number, *shift))
        .collect())
}

/// The same, without dropping low bits.
fn exact_numbers(
    host: &PreparedGroupAnswer<'_>,
    join: &PreparedGroupAnswer<'_>,
    values: &[i64],
) -> Result<Vec<i64>, ProtocolError> {
    let layout = &host.layout;
    let matrix = || layout.sums_by_participants(values);
    let permutations = u64::from(host.question.permutations().unwrap_or(0));
    let statistic = |result: &TestResult| {
        let sums = [result.same, result.all - result.same];
        let [same, rest] = sums.map(|sum| shifted(sum, host.statistic_shift()));
        let statistic = result.contrast.statistic(same, same + rest);
        i64::try_from(statistic).map_err(|_| ProtocolError::Internal("a statistic does not fit"))
    };
    Ok(match host.question {
        GroupQuestion::Mean { overall: true } => {
            vec![values.iter().fold(0, |sum, value| sum.wrapping_add(*value))]
        }
        GroupQuestion::Mean { overall: false } => {
            let mut sums = vec![0_i64; layout.stimuli.len()];
            for (value, stimulus) in values.iter().zip(&layout.stimulus_of_pair) {
                sums[*stimulus] = sums[*stimulus].wrapping_add(*value);
            }
            sums
        }
        GroupQuestion::Groups { .. } => {
            let counts = [0, 1].map(|side| host.sizes[side].0.len());
            let labels = [&host.own_labels[..], &join.own_labels[..]];
            let sums = group_sums(&matrix()?, labels, counts)?;
            sums.iter().flatten().map(|mean| mean.sum).collect()
        }
        GroupQuestion::TestSites { .. } => {
            let sizes = [0, 1].map(|side| layout.participants[side].len());
            let test = LabelTest::of_sites(sizes[0], sizes[1])?;
            let all = PairMatrix::of_sites(&host.own_scores()?, &join.own_scores()?, &matrix()?)?;
            let mut result = test.run(&all, &host.coins, permutations)?;
            result.tolerance = host.tolerance();
            vec![statistic(&result)?, result.count().cast_signed()]
        }
        GroupQuestion::TestGroups { .. } => {
            let test = CrossTest::new([host.own_labels.clone(), join.own_labels.clone()])?;
            let mut result = test.run(&matrix()?, &host.coins, permutations)?;
            result.tolerance = host.tolerance();
            vec![statistic(&result)?, result.count().cast_signed()]
        }
        GroupQuestion::Nearest { k, rate_only } => {
            let labels = join.labels_of_references();
            let mut found = Vec::new();
            for (query, pairs) in host.queries(k as usize)?.iter().enumerate() {
                let key = |(rank, pair): (usize, &usize)| {
                    values[*pair] + tie_gain(rank, pairs.len(), host.tie_step())
                };
                let keys: Vec<i64> = pairs.iter().enumerate().map(key).collect();
                let nearest = nearest(query, &keys, k as usize)?;
                let votes = nearest.iter().map(|at| labels[pairs[*at]]);
                found.push(majority(votes, host.names.len()));
            }
            // Without a rate, the host needs no groups.
            let own = match rate_only {
                true => host.query_labels(k as usize)?,
                false => None,
            };
            match own {
                None => found
                    .iter()
                    .map(|label| (*label as u64).cast_signed())
                    .collect(),
                Some(own) => {
                    let both = own.iter().zip(&found);
                    let correct = both.filter(|(own, found)| own == found).count();
                    vec![(correct as u64).cast_signed()]
                }
            }
        }
        GroupQuestion::Histogram { .. } => {
            let counts = histogram(values.iter().copied(), &host.compared_edges()?)?;
            let counts = suppress_small(&counts, &host.bins_with_enough(values, &counts)?);
            let shown = counts.iter().map(|count| i64::from(count.is_some()));
            let counts = counts.iter().map(|count| count.unwrap_or(0).cast_signed());
            shown.chain(counts).collect()
        }
    })
}

impl PreparedGroupAnswer<'_> {
    /// Whether the pairs in each bin come from enough participants of each side.
    fn bins_with_enough(&self, values: &[i64], counts: &[u64]) -> Result<Vec<bool>, ProtocolError> {
        if self.minimum == 0 {
            return Ok(vec![true; counts.len()]);
        }
        let (edges, participants) = (self.compared_edges()?, self.participants_of_pairs());
        let mut found = vec![[const { BTreeSet::new() }; 2]; counts.len()];
        for (pair, value) in values.iter().enumerate() {
            for (side, found) in found[bin_of(*value, &edges)].iter_mut().enumerate() {
                found.insert(participants.by_pair[side][pair]);
            }
        }
        let enough = |found: &BTreeSet<usize>| found.len() as u64 >= self.minimum;
        Ok(found.iter().map(|sides| sides.iter().all(enough)).collect())
    }

    /// The value of a pair's raw result.
    #[cfg(test)]
    pub(crate) fn value_of_raw(&self, pair: usize, raw: i64) -> Result<i64, ProtocolError> {
        let [start, slope] = self.linear[pair];
        Ok(start.wrapping_add(slope.wrapping_mul(raw)))
    }

    /// The value of a pair whose score is known. It is computed from the raw result behind the score, as on shares. Double-precision
    /// ScanMatch has no raw result, so the score is rounded to the nearest value.
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // checked when the answer was prepared
    pub(crate) fn value_of_number(&self, pair: usize, number: f64) -> i64 {
        let divisor = f64::from(self.shapes[pair].divisor.max(1));
        let fixed = number / (self.value_unit * divisor);
        let [start, slope] = self.linear[pair];
        match self.job.comparison.metric() {
            Metric::ScanMatch { scale: None, .. } => fixed.round() as i64,
            // All results have the same value.
            _ if slope == 0 => start,
            _ => {
                let raw = ((fixed - start as f64) / slope as f64).round() as i64;
                start.wrapping_add(slope.wrapping_mul(raw))
            }
        }
    }
}
