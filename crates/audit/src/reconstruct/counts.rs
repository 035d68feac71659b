//! Recurrence rates count equal letters. If a query repeats the letters as often as the powers of a base, the digits of
//! the count say how often each of them occurs. Laminarity along the query is a share of such a count.

use super::{Oracle, letter};
use crate::AuditError;
use veilpath_metrics::{CrqaMeasure, Model, RecurrentLetters};

/// The longest query, in letters. A partner could send longer ones, which take more time.
const MAX_QUERY: usize = 1 << 18;

/// Whether a count of equal letters is all that is revealed, or the share of them that the query's runs meet.
pub(super) fn applies_to(model: &Model) -> bool {
    matches!(model, Model::Recurrence(model)
        if matches!(model.measures[..], [CrqaMeasure::Rec | CrqaMeasure::LamColumns])
            && model.letters == RecurrentLetters::Same)
}

pub(super) fn attack(oracle: &mut Oracle<'_>) -> Result<Option<Vec<u16>>, AuditError> {
    match oracle.comparison.model() {
        Model::Recurrence(model) if model.measures == [CrqaMeasure::LamColumns] => {
            shares(oracle, model.line)
        }
        _ => digits(oracle).map(Some),
    }
}

/// Each query has a run of one letter and each other letter once. With `c` of `length` letters, the share is
/// `line·c / (length + (line − 1)·c)`.
fn shares(oracle: &mut Oracle<'_>, line: u32) -> Result<Option<Vec<u16>>, AuditError> {
    let length = oracle.length()?;
    let letters = oracle.letters();
    let run = line as usize;
    let mut found = Vec::with_capacity(length);
    for asked in 0..letters - 1 {
        let others = (0..letters).filter(|other| *other != asked);
        let query: Vec<u16> = std::iter::repeat_n(asked, run)
            .chain(others)
            .map(letter)
            .collect();
        let share = oracle.raw(&query)?;
        let has_share = |count: &usize| {
            let all = length + (run - 1) * count;
            let rounded = (2 * 10_000 * run * count + all) / (2 * all);
            i64::try_from(rounded) == Ok(share)
        };
        let mut counts = (0..=length - found.len()).filter(has_share);
        let (Some(count), None) = (counts.next(), counts.next()) else {
            return Ok(None);
        };
        found.extend(std::iter::repeat_n(letter(asked), count));
    }
    found.resize(length, letter(letters - 1));
    Ok(Some(found))
}

fn digits(oracle: &mut Oracle<'_>) -> Result<Vec<u16>, AuditError> {
    let length = oracle.length()?;
    let base = length + 1;
    let mut powers = vec![1];
    while let Some(next) = powers.last().map(|last: &usize| last.saturating_mul(base))
        && powers.iter().sum::<usize>().saturating_add(next) <= MAX_QUERY
    {
        powers.push(next);
    }
    // How often the last letter occurs follows from the length.
    let asked: Vec<u16> = (0..oracle.letters() - 1).map(letter).collect();
    let mut found = Vec::with_capacity(length);
    for letters in asked.chunks(powers.len()) {
        let query: Vec<u16> = (letters.iter().zip(&powers))
            .flat_map(|(letter, power)| std::iter::repeat_n(*letter, *power))
            .collect();
        let mut rest = usize::try_from(oracle.raw(&query)?).map_err(|_| AuditError::Length)?;
        for letter in letters {
            found.extend(std::iter::repeat_n(*letter, rest % base));
            rest /= base;
        }
    }
    found.resize(length, letter(oracle.letters() - 1));
    Ok(found)
}
