//! Permutation tests over participants.

use super::bootstrap::{Bootstrap, Strata};
use super::layout::{Layout, Matrix};
use super::sample::{Grouping, Sample, fixed_point};
use super::{SEED_PERMUTATION, StatsError};
use veilpath_protocol::{Bins, GroupAnswer, GroupTest, Interval};
use veilpath_statistics::{Coins, CrossTest, LabelTest, PairMatrix, TestResult};

/// The bins of a null distribution.
const NULL_BINS: u32 = 40;

/// The number of permutations, and their seed.
#[derive(Clone, Copy)]
pub(super) struct Permutations {
    pub(super) count: u64,
    pub(super) seed: u64,
}

impl Permutations {
    fn coins(self) -> Coins {
        Coins::of_number(self.seed, SEED_PERMUTATION)
    }
}

/// Tests whether participants of the same group are more similar than participants of different groups. Between two
/// cohorts, groups are permuted within each, so that a difference between cohorts does not count as one between groups.
pub(super) fn of_groups(
    sample: &Sample<'_>,
    groups: &Grouping,
    permutations: Permutations,
    bootstrap: &Bootstrap,
) -> Result<GroupAnswer, StatsError> {
    let scores = sample.scores(sample.direction()?)?;
    let coins = permutations.coins();
    let mut result = match &scores.matrix {
        Matrix::Within(matrix) => LabelTest::new(groups.by_participant[0].clone())?.run(
            matrix,
            &coins,
            permutations.count,
        )?,
        Matrix::Cross(matrix) => CrossTest::new(groups.by_participant.clone())?.run(
            matrix,
            &coins,
            permutations.count,
        )?,
    };
    result.tolerance = tolerance([sample]);
    let strata = Strata::new(sample, Some(groups));
    let same = |a: usize, b: usize| groups.by_participant[0][a] == groups.by_participant[1][b];
    let interval = contrast_interval(bootstrap, &strata, &scores.matrix, scores.unit, same)?;
    Ok(answer(
        sample,
        TestWording {
            question: "Are participants of the same group more alike than participants of different groups?",
            kind: "groups",
            groups: groups.names.clone(),
        },
        &result,
        scores.unit,
        interval,
        permutations,
    ))
}

/// Tests whether participants of the same site are more similar than participants of different sites.
pub(super) fn of_sites(
    between: &Sample<'_>,
    within: [&Sample<'_>; 2],
    permutations: Permutations,
    bootstrap: &Bootstrap,
) -> Result<GroupAnswer, StatsError> {
    let sign = between.direction()?;
    let all = [within[0], within[1], between];
    let layouts = [all[0].layout()?, all[1].layout()?, all[2].layout()?];
    let format = fixed_point(all)?;
    let divisor = layouts[0]
        .uniform_count()
        .filter(|&count| layouts.iter().all(|it| it.uniform_count() == Some(count)));
    let matrix = |at: usize, layout: &Layout| all[at].score_matrix(layout, format, divisor, sign);
    let matrices = [
        matrix(0, &layouts[0])?,
        matrix(1, &layouts[1])?,
        matrix(2, &layouts[2])?,
    ];
    let [
        Matrix::Within(first),
        Matrix::Within(second),
        Matrix::Cross(cross),
    ] = &matrices
    else {
        return Err(StatsError::Sites(super::SitesProblem::Kinds));
    };
    let values = PairMatrix::of_sites(first, second, cross)?;
    let sizes = [first.size(), second.size()];
    let test = LabelTest::of_sites(sizes[0], sizes[1])?;
    let mut result = test.run(&values, &permutations.coins(), permutations.count)?;
    result.tolerance = tolerance(all);
    let unit = format.unit() / divisor.map_or(1.0, f64::from);
    let same = |a: usize, b: usize| (a < sizes[0]) == (b < sizes[0]);
    let strata = Strata::of_sites(sizes);
    let interval = contrast_interval(bootstrap, &strata, &Matrix::Within(values), unit, same)?;
    Ok(answer(
        between,
        TestWording {
            question: "Are participants of the same site more alike than participants of different sites?",
            kind: "sites",
            groups: between.outcome.names.to_vec(),
        },
        &result,
        unit,
        interval,
        permutations,
    ))
}

/// The difference, in units, up to which two sums count as equal: each of their values is rounded by up to half a unit.
fn tolerance<'a>(samples: impl IntoIterator<Item = &'a Sample<'a>>) -> u64 {
    let pairs = samples.into_iter().map(|sample| sample.pairs.len() as u64);
    pairs.sum()
}

/// The confidence interval of the difference of means.
fn contrast_interval(
    bootstrap: &Bootstrap,
    strata: &Strata,
    matrix: &Matrix,
    unit: f64,
    same: impl Fn(usize, usize) -> bool,
) -> Result<Option<Interval>, StatsError> {
    let mut intervals = bootstrap.intervals(strata, 1, |drawn| {
        let within = matrix.drawn_mean(drawn, unit, &same);
        let between = matrix.drawn_mean(drawn, unit, |a, b| !same(a, b));
        vec![
            within
                .zip(between)
                .map(|(within, between)| within - between),
        ]
    })?;
    Ok(intervals.pop().flatten())
}

/// The words for a test in its answer.
struct TestWording {
    question: &'static str,
    /// Within and between what participants are compared: `groups` or `sites`.
    kind: &'static str,
    groups: Vec<String>,
}

fn answer(
    sample: &Sample<'_>,
    words: TestWording,
    result: &TestResult,
    unit: f64,
    interval: Option<Interval>,
    permutations: Permutations,
) -> GroupAnswer {
    let (noun, kind) = (sample.noun(), words.kind);
    let statistic = match sample.direction() {
        Ok(sign) if sign < 0.0 => {
            format!("mean {noun} between {kind} minus the mean {noun} within {kind}")
        }
        _ => format!("mean {noun} within {kind} minus the mean {noun} between {kind}"),
    };
    GroupAnswer::Test(GroupTest {
        question: words.question.into(),
        method: "permutation test over participants, one-sided".into(),
        measure: sample.measure.name.clone(),
        stimulus: None,
        groups: words.groups,
        statistic,
        value: result.difference(unit),
        interval,
        p_value: result.p_value(),
        permutations: Some(permutations.count),
        seed: Some(permutations.seed),
        coins: None,
        null_distribution: null_distribution(
            &result.permuted_differences(unit).collect::<Vec<_>>(),
        ),
    })
}

/// Equal bins from the smallest to the largest number.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a bin
fn null_distribution(numbers: &[f64]) -> Option<Bins> {
    let low = numbers.iter().copied().reduce(f64::min)?;
    let high = numbers.iter().copied().reduce(f64::max)?;
    // Bins must have a positive width.
    let high = high.max(low + low.abs().max(1.0) * 1e-9);
    let width = (high - low) / f64::from(NULL_BINS);
    let edges = (0..=NULL_BINS).map(|bin| low + width * f64::from(bin));
    let mut counts = vec![0_u64; NULL_BINS as usize];
    for number in numbers {
        let bin = ((number - low) / width) as usize;
        counts[bin.min(NULL_BINS as usize - 1)] += 1;
    }
    Some(Bins {
        edges: edges.collect(),
        counts: counts.into_iter().map(Some).collect(),
    })
}
