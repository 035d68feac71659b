//! Recurrence rates count equal letters. If a query repeats the letters as often as the powers of a base, the digits of
//! the count say how often each of them occurs.

use super::{Oracle, letter};
use crate::AuditError;
use veilpath_metrics::{CrqaMeasure, Model, RecurrentLetters};

/// The longest query, in letters. A partner could send longer ones, which take more time.
const MAX_QUERY: usize = 1 << 18;

/// Whether the count of equal letters is all that is revealed.
pub(super) fn applies_to(model: &Model) -> bool {
    matches!(model, Model::Recurrence(model)
        if model.measures == [CrqaMeasure::Rec] && model.letters == RecurrentLetters::Same)
}

pub(super) fn attack(oracle: &mut Oracle<'_>) -> Result<Vec<u16>, AuditError> {
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
