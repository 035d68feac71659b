//! If a metric depends on little, all that it may depend on can be listed. Each query is chosen to leave few of them.

use super::{Oracle, letter};
use crate::AuditError;
use rand::{Rng, RngExt};
use std::collections::{BTreeMap, BTreeSet};
use veilpath_metrics::{Comparison, Dependence, Scanpath};

/// The most letters of which all sets are listed.
const MAX_LETTERS: u32 = 10;

/// The most scanpaths that are listed.
const MAX_SCANPATHS: usize = 1 << 16;

/// The number of candidates from which the next query is chosen.
const PROPOSALS: usize = 100;

pub(super) fn applies_to(comparison: &Comparison) -> bool {
    let letters = comparison.alphabet().size();
    match comparison.model().dependence() {
        Dependence::Set => letters <= MAX_LETTERS,
        Dependence::WithoutRepetitions => letters == 2,
        Dependence::Counts(_) => letters <= 3,
        Dependence::Letters | Dependence::Unknown => false,
    }
}

pub(super) fn attack(
    oracle: &mut Oracle<'_>,
    rng: &mut impl Rng,
) -> Result<Option<Vec<u16>>, AuditError> {
    let length = oracle.length()?;
    let comparison = oracle.comparison;
    let dependence = comparison.model().dependence();
    let all: Vec<Scanpath> = match dependence {
        Dependence::Set => sets(oracle.letters(), length),
        Dependence::WithoutRepetitions => alternations(length),
        _ => match scanpaths(oracle.letters(), length) {
            Some(all) => one_of_each(all, dependence),
            None => return Ok(None),
        },
    };
    let mut left: Vec<&Scanpath> = all.iter().collect();
    while left.len() > 1 {
        let mut best: Option<(usize, &Scanpath)> = None;
        for _ in 0..PROPOSALS {
            let query = &all[rng.random_range(0..all.len())];
            let mut answers: BTreeMap<i64, usize> = BTreeMap::new();
            for candidate in &left {
                *answers
                    .entry(comparison.raw(query, candidate)?)
                    .or_default() += 1;
            }
            // As many as are expected to be left, times their present number.
            let expected = answers.values().map(|count| count * count).sum();
            if best.is_none_or(|(fewest, _)| expected < fewest) {
                best = Some((expected, query));
            }
        }
        let Some((_, query)) = best else { break };
        let answer = oracle.raw(query.letters())?;
        let mut explaining = Vec::new();
        for candidate in left {
            if comparison.raw(query, candidate)? == answer {
                explaining.push(candidate);
            }
        }
        left = explaining;
    }
    Ok(left.first().map(|it| it.letters().to_vec()))
}

/// All sets of at most `length` letters.
fn sets(letters: usize, length: usize) -> Vec<Scanpath> {
    (1u32..1 << letters)
        .filter(|bits| bits.count_ones() as usize <= length)
        .map(|bits| {
            (0..letters)
                .filter(move |at| bits >> at & 1 == 1)
                .map(letter)
        })
        .map(|set| Scanpath::new(set.collect()))
        .collect()
}

/// All scanpaths of two letters without repetitions.
fn alternations(length: usize) -> Vec<Scanpath> {
    (1..=length)
        .flat_map(|length| [0, 1].map(|first| (first..first + length).map(|at| letter(at % 2))))
        .map(|path| Scanpath::new(path.collect()))
        .collect()
}

/// All scanpaths of this length, unless there are too many.
fn scanpaths(letters: usize, length: usize) -> Option<impl Iterator<Item = Scanpath>> {
    let all = letters.checked_pow(u32::try_from(length).ok()?)?;
    let scanpath = move |mut number: usize| {
        let next = |_| {
            let next = letter(number % letters);
            number /= letters;
            next
        };
        Scanpath::new((0..length).map(next).collect())
    };
    (all <= MAX_SCANPATHS).then(|| (0..all).map(scanpath))
}

/// The first of all scanpaths that the metric cannot tell apart.
fn one_of_each(all: impl Iterator<Item = Scanpath>, dependence: Dependence) -> Vec<Scanpath> {
    let mut seen = BTreeSet::new();
    all.filter(|it| seen.insert(dependence.relevant_features(it.letters())))
        .collect()
}
