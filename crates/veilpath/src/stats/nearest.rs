//! Classification by the nearest scanpaths of other participants.

use super::bootstrap::{Bootstrap, Strata};
use super::permutation::Permutations;
use super::sample::{Grouping, Sample};
use super::{SEED_NEAREST, StatsError};
use veilpath_protocol::{GroupAnswer, NearestLabel, NearestLabels, NearestRate};
use veilpath_statistics::{Coins, Confusion, DrawCounts, majority, nearest, p_value};

/// A scanpath of the first side, and the participants of its nearest scanpaths.
struct Query {
    scanpath: usize,
    participant: usize,
    nearest: Vec<usize>,
}

/// For each scanpath of the first side, the most frequent group among its nearest scanpaths.
pub(super) fn labels(
    sample: &Sample<'_>,
    groups: &Grouping,
    k: u32,
) -> Result<GroupAnswer, StatsError> {
    let labels = queries(sample, k)?.into_iter().map(|query| {
        let [own, predicted] = classified(
            &query,
            [&groups.by_participant[0], &groups.by_participant[1]],
            groups.names.len(),
        );
        NearestLabel {
            scanpath: sample.scanpaths[0][query.scanpath].clone(),
            majority: groups.names[predicted].clone(),
            group: Some(groups.names[own].clone()),
        }
    });
    Ok(GroupAnswer::NearestLabels(NearestLabels {
        measure: sample.measure.name.clone(),
        k,
        groups: groups.names.clone(),
        labels: labels.collect(),
    }))
}

/// How often the most frequent group among the nearest scanpaths is the scanpath's own.
pub(super) fn rate(
    sample: &Sample<'_>,
    groups: &Grouping,
    k: u32,
    permutations: Permutations,
    bootstrap: &Bootstrap,
) -> Result<GroupAnswer, StatsError> {
    let queries = queries(sample, k)?;
    let count = groups.names.len();
    let grouping = [&groups.by_participant[0][..], &groups.by_participant[1][..]];
    let pairs: Vec<[usize; 2]> = queries
        .iter()
        .map(|query| classified(query, grouping, count))
        .collect();
    let confusion = Confusion::new(
        count,
        pairs.iter().map(|&[own, predicted]| (own, predicted)),
    )?;
    let correct = |grouping: [&[usize]; 2]| {
        let correct = queries.iter().filter(|query| {
            let [own, predicted] = classified(query, grouping, count);
            own == predicted
        });
        correct.count() as u64
    };
    let coins = Coins::of_number(permutations.seed, SEED_NEAREST);
    let extreme = (0..permutations.count).filter(|&index| {
        let permuted = permuted(&coins, index, sample.is_one_cohort(), grouping);
        correct([&permuted[0], &permuted[1]]) >= confusion.correct()
    });
    let p = p_value(extreme.count() as u64, permutations.count);
    let strata = Strata::new(sample, Some(groups));
    let mut intervals = bootstrap.intervals(&strata, 1, |[drawn, _]| {
        vec![drawn_rate(&queries, &pairs, drawn)]
    })?;
    Ok(GroupAnswer::NearestRate(NearestRate {
        measure: sample.measure.name.clone(),
        k,
        correct: confusion.correct(),
        scanpaths: confusion.total(),
        chance: share(confusion.most_frequent(), confusion.total()),
        interval: intervals.pop().flatten(),
        p_value: Some(p),
        permutations: Some(permutations.count),
        seed: Some(permutations.seed),
        groups: groups.names.clone(),
        confusion: confusion.counts().to_vec(),
    }))
}

/// A scanpath's own group, and the most frequent one among its nearest scanpaths.
fn classified(query: &Query, [own, others]: [&[usize]; 2], groups: usize) -> [usize; 2] {
    let votes = query.nearest.iter().map(|&participant| others[participant]);
    [own[query.participant], majority(votes, groups)]
}

/// Groups permuted over participants; between two cohorts, within each of them.
fn permuted(
    coins: &Coins,
    index: u64,
    is_one_cohort: bool,
    grouping: [&[usize]; 2],
) -> [Vec<usize>; 2] {
    let arranged = |groups: &[usize], order: &[usize]| -> Vec<usize> {
        order.iter().map(|&from| groups[from]).collect()
    };
    if is_one_cohort {
        let all = arranged(grouping[0], &coins.permutation(index, grouping[0].len()));
        return [all.clone(), all];
    }
    let [first, second] = coins.permutations(index, [grouping[0].len(), grouping[1].len()]);
    [
        arranged(grouping[0], &first),
        arranged(grouping[1], &second),
    ]
}

/// The rate among the scanpaths of drawn participants.
fn drawn_rate(queries: &[Query], pairs: &[[usize; 2]], drawn: &DrawCounts) -> Option<f64> {
    let (mut correct, mut total) = (0, 0);
    for (query, [own, predicted]) in queries.iter().zip(pairs) {
        let times = u64::from(drawn.times()[query.participant]);
        total += times;
        correct += times * u64::from(own == predicted);
    }
    (total > 0).then(|| share(correct, total))
}

#[allow(clippy::cast_precision_loss)] // counts are far below 2⁵³
fn share(part: u64, total: u64) -> f64 {
    part as f64 / total.max(1) as f64
}

/// The first side's scanpaths, each with the nearest of the other participants' scanpaths that it was compared with.
fn queries(sample: &Sample<'_>, k: u32) -> Result<Vec<Query>, StatsError> {
    let (values, _) = sample.values(sample.direction()?)?;
    let mut references: Vec<Vec<(usize, i64)>> = vec![Vec::new(); sample.scanpaths[0].len()];
    for (pair, &value) in sample.pairs.iter().zip(&values) {
        references[pair.a].push((pair.b, value));
        if sample.is_one_cohort() {
            references[pair.b].push((pair.a, value));
        }
    }
    let k = usize::try_from(k).unwrap_or(usize::MAX);
    let query = |(scanpath, mut references): (usize, Vec<(usize, i64)>)| {
        references.sort_unstable();
        let values: Vec<i64> = references.iter().map(|&(_, value)| value).collect();
        let nearest = nearest(scanpath, &values, k)?.into_iter();
        let participants = sample.participants[1].of_scanpaths();
        Ok(Query {
            scanpath,
            participant: sample.participants[0].of_scanpaths()[scanpath],
            nearest: nearest.map(|at| participants[references[at].0]).collect(),
        })
    };
    references.into_iter().enumerate().map(query).collect()
}
