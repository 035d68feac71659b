//! Means by stimulus and by group, and histograms.

use super::StatsError;
use super::bootstrap::{Bootstrap, Strata};
use super::layout::Matrix;
use super::sample::{Grouping, Sample};
use veilpath_metrics::MeasureKind;
use veilpath_protocol::{
    Bins, GroupAnswer, GroupMeans, Interval, ScoreHistogram, StimulusMean, StimulusMeans,
};
use veilpath_statistics::{
    DrawCounts, MeanSum, group_sums, histogram as count_bins, histogram_edges, mean, means_by_key,
};

/// The mean over all pairs of scanpaths, and over those of each stimulus if there are several.
pub(super) fn of_stimuli(
    sample: &Sample<'_>,
    bootstrap: &Bootstrap,
) -> Result<GroupAnswer, StatsError> {
    sample.check_mean()?;
    let (values, unit) = sample.values(1.0)?;
    let keys: Vec<usize> = sample.pairs.iter().map(|pair| pair.stimulus).collect();
    let stimuli = sample.stimuli.len();
    let sums = means_by_key(&values, &keys, stimuli)?;
    let strata = Strata::new(sample, None);
    let intervals = bootstrap.intervals(&strata, stimuli + 1, |drawn| {
        drawn_means(sample, &values, unit, drawn)
    })?;
    let all = (None, mean(&values)?);
    let names = sample.stimuli.iter().cloned();
    let names = names.map(|name| name.or_else(|| Some(StimulusMean::UNNAMED.into())));
    let each = names.zip(sums);
    let each = each.filter(|_| stimuli > 1);
    let means = std::iter::once(all).chain(each).zip(intervals);
    Ok(GroupAnswer::StimulusMeans(StimulusMeans {
        measure: sample.measure.name.clone(),
        means: means
            .map(|((stimulus, sum), interval)| StimulusMean {
                stimulus,
                mean: sum.mean(unit),
                pairs: sum.count,
                // A single pair has no spread to compute an interval from.
                interval: interval.filter(|_| sum.count > 1),
            })
            .collect(),
    }))
}

/// The mean over all drawn pairs, and over those of each stimulus.
#[allow(clippy::cast_precision_loss)] // means are floating-point numbers
fn drawn_means(
    sample: &Sample<'_>,
    values: &[i64],
    unit: f64,
    [rows, columns]: [&DrawCounts; 2],
) -> Vec<Option<f64>> {
    let mut sums = vec![(0_i128, 0_u64); sample.stimuli.len() + 1];
    for (pair, &value) in sample.pairs.iter().zip(values) {
        let [a, b] = sample.participants_of(pair);
        let times = u64::from(rows.times()[a]) * u64::from(columns.times()[b]);
        for index in [0, pair.stimulus + 1] {
            sums[index].0 += i128::from(value) * i128::from(times);
            sums[index].1 += times;
        }
    }
    let mean = |&(sum, times): &(i128, u64)| (times > 0).then(|| sum as f64 / times as f64 * unit);
    sums.iter().map(mean).collect()
}

/// The mean of each group of the first side with each group of the second.
pub(super) fn of_groups(
    sample: &Sample<'_>,
    groups: &Grouping,
    bootstrap: &Bootstrap,
) -> Result<GroupAnswer, StatsError> {
    sample.check_mean()?;
    let scores = sample.scores(1.0)?;
    let count = groups.names.len();
    let sums = match &scores.matrix {
        Matrix::Cross(matrix) => group_sums(
            matrix,
            [&groups.by_participant[0], &groups.by_participant[1]],
            [count, count],
        )?,
        Matrix::Within(matrix) => {
            let mut sums = vec![vec![MeanSum::default(); count]; count];
            for (a, b, value) in matrix.pairs() {
                let (a, b) = (groups.by_participant[0][a], groups.by_participant[0][b]);
                let mut add = |row: usize, column: usize| {
                    sums[row][column].sum += value;
                    sums[row][column].count += 1;
                };
                add(a, b);
                if a != b {
                    add(b, a);
                }
            }
            sums
        }
    };
    let present = |side: usize| -> Vec<usize> {
        (0..count)
            .filter(|group| groups.by_participant[side].contains(group))
            .collect()
    };
    let [rows, columns] = [present(0), present(1)];
    let cells: Vec<(usize, usize)> = rows
        .iter()
        .flat_map(|&row| columns.iter().map(move |&column| (row, column)))
        .collect();
    let strata = Strata::new(sample, Some(groups));
    let intervals = bootstrap.intervals(&strata, cells.len(), |drawn| {
        let mean = |&(row, column): &(usize, usize)| {
            scores.matrix.drawn_mean(drawn, scores.unit, |a, b| {
                let (a, b) = (groups.by_participant[0][a], groups.by_participant[1][b]);
                (a, b) == (row, column) || sample.is_one_cohort() && (b, a) == (row, column)
            })
        };
        cells.iter().map(mean).collect()
    })?;
    let has_interval = |&(row, column): &(usize, usize)| {
        groups.has_several(0, row) && groups.has_several(1, column)
    };
    let intervals: Vec<Option<Interval>> = cells
        .iter()
        .zip(intervals)
        .map(|(cell, interval)| interval.filter(|_| has_interval(cell)))
        .collect();
    let names = |of: &[usize]| {
        of.iter()
            .map(|&group| groups.names[group].clone())
            .collect()
    };
    let by_row = |row: &usize| columns.iter().map(|&column| sums[*row][column]).collect();
    let sums: Vec<Vec<MeanSum>> = rows.iter().map(by_row).collect();
    Ok(GroupAnswer::GroupMeans(GroupMeans {
        measure: sample.measure.name.clone(),
        stimulus: None,
        rows: names(&rows),
        columns: names(&columns),
        means: sums
            .iter()
            .map(|row| row.iter().map(|sum| sum.mean(scores.unit)).collect())
            .collect(),
        counts: sums
            .iter()
            .map(|row| row.iter().map(|sum| sum.count).collect())
            .collect(),
        intervals: intervals.chunks(columns.len()).map(<[_]>::to_vec).collect(),
    }))
}

/// The distribution of the pairs of scanpaths.
pub(super) fn histogram(sample: &Sample<'_>, bins: u32) -> Result<GroupAnswer, StatsError> {
    let (values, unit) = sample.values_in_each_order()?;
    let bins = bins as usize;
    let (low, high) = match sample.measure.kind {
        // Units are powers of two, so this is exact.
        MeasureKind::Fraction | MeasureKind::Bit => (0, rounded(1.0 / unit)),
        _ => {
            let smallest = values.iter().copied().min().unwrap_or_default();
            let largest = values.iter().copied().max().unwrap_or_default();
            // A bin must have a positive width.
            let narrowest = i64::try_from(bins).unwrap_or(i64::MAX);
            (smallest, largest.max(smallest.saturating_add(narrowest)))
        }
    };
    let edges = histogram_edges(low, high, bins)?;
    let counts = count_bins(values, &edges)?;
    Ok(GroupAnswer::Histogram(ScoreHistogram {
        measure: sample.measure.name.clone(),
        stimulus: None,
        bins: Bins {
            edges: evenly_spaced(number(low, unit), number(high, unit), bins),
            counts: counts.into_iter().map(Some).collect(),
        },
        minimum: 0,
    }))
}

/// The edges that the user expects. Those in integers differ from them by less than a unit.
#[allow(clippy::cast_precision_loss)] // a handful of bins
fn evenly_spaced(low: f64, high: f64, bins: usize) -> Vec<f64> {
    let edge = |at: usize| low + (high - low) * (at as f64 / bins as f64);
    (0..=bins).map(edge).collect()
}

#[allow(clippy::cast_possible_truncation)] // a power of two below 2⁴¹
fn rounded(number: f64) -> i64 {
    number.round() as i64
}

#[allow(clippy::cast_precision_loss)] // the result is a floating-point number
fn number(value: i64, unit: f64) -> f64 {
    value as f64 * unit
}
