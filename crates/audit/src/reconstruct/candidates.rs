//! If a metric depends on little, all that it may depend on can be listed. Each query is chosen to leave few of them.

use super::{Oracle, letter};
use crate::AuditError;
use rand::{Rng, RngExt};
use std::collections::BTreeMap;
use veilpath_metrics::{Comparison, Dependence, Scanpath};

/// The most letters of which all sets are listed.
const MAX_LETTERS: u32 = 10;

/// The number of candidates from which the next query is chosen.
const PROPOSALS: usize = 100;

pub(super) fn applies_to(comparison: &Comparison) -> bool {
    let letters = comparison.alphabet().size();
    match comparison.model().dependence() {
        Dependence::Set => letters <= MAX_LETTERS,
        Dependence::WithoutRepetitions => letters == 2,
        Dependence::Letters | Dependence::Counts => false,
    }
}

pub(super) fn attack(
    oracle: &mut Oracle<'_>,
    rng: &mut impl Rng,
) -> Result<Option<Vec<u16>>, AuditError> {
    let length = oracle.length()?;
    let comparison = oracle.comparison;
    let all: Vec<Scanpath> = match comparison.model().dependence() {
        Dependence::Set => sets(oracle.letters(), length),
        _ => alternations(length),
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
