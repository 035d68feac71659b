//! Attacks that change one position of a constant scanpath.

use super::{Oracle, letter};
use crate::AuditError;
use std::collections::BTreeMap;
use veilpath_metrics::{GlobalModel, Model};

/// Tries every letter at every position of a constant scanpath. The one that fits best is the secret's.
///
/// With unit costs this is exact. If the filler occurs `c` times in the secret, an alignment without gaps costs
/// `n − c − 1` for the right letter; one with gaps has at least `n + 1` columns, of which at most `c + 1` match.
pub(super) fn letter_by_letter(oracle: &mut Oracle<'_>) -> Result<Vec<u16>, AuditError> {
    let length = oracle.length()?;
    let constant = vec![0; length];
    let base = oracle.raw(&constant)?;
    let mut found = Vec::with_capacity(length);
    for position in 0..length {
        let mut best = (base, 0);
        let mut query = constant.clone();
        for x in (1..oracle.letters()).map(letter) {
            query[position] = x;
            best = best.min((oracle.raw(&query)?, x));
        }
        found.push(best.1);
    }
    Ok(found)
}

/// As long as no alignment shifts, a score is a sum over positions, so a change at one position shows how the cost of
/// the letter there changes. If several letters fit, another change decides.
pub(super) fn attack(oracle: &mut Oracle<'_>) -> Result<Option<Vec<u16>>, AuditError> {
    let Model::Global(model) = oracle.comparison.model().clone() else {
        return Err(AuditError::LocalAlignment);
    };
    let length = oracle.length()?;
    let letters = oracle.letters();
    let all: Vec<u16> = (0..letters).map(letter).collect();
    // The constant letter for which a change distinguishes the most letters.
    let best = |filler: u16| probe(&model, filler, &all, letters).0;
    let Some(filler) = all.iter().copied().max_by_key(|&filler| best(filler)) else {
        return Ok(None);
    };
    let constant = vec![filler; length];
    let base = oracle.raw(&constant)?;
    let mut found = Vec::with_capacity(length);
    for position in 0..length {
        let mut possible = all.clone();
        while possible.len() > 1 {
            let (classes, with) = probe(&model, filler, &possible, letters);
            if classes < 2 {
                return Ok(None);
            }
            let mut query = constant.clone();
            query[position] = with;
            let seen = oracle.raw(&query)? - base;
            possible.retain(|&x| change(&model, filler, with, x) == seen);
        }
        match possible.first() {
            Some(&x) => found.push(x),
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// How many classes of the possible letters the best change distinguishes, and the letter to change to.
fn probe(model: &GlobalModel, filler: u16, possible: &[u16], letters: usize) -> (usize, u16) {
    let classes = |with: u16| {
        let changes = possible.iter().map(|&x| change(model, filler, with, x));
        changes
            .map(|change| (change, ()))
            .collect::<BTreeMap<_, _>>()
            .len()
    };
    let all = (0..letters).map(letter);
    all.map(|with| (classes(with), with))
        .max()
        .unwrap_or_default()
}

/// How the cost of `x` changes if the opposite letter changes. A letter that fits badly is replaced by a deletion and
/// an insertion.
fn change(model: &GlobalModel, from: u16, to: u16, x: u16) -> i64 {
    let gaps = i64::from(model.insert) + i64::from(model.delete);
    let cost = |own| i64::from(model.costs.cost(own, x)).min(gaps);
    cost(to) - cost(from)
}
