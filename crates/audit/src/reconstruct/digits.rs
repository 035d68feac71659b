//! A table whose entries are digits, so that several letters can be read from the digits of one score.

use super::{Oracle, letter};
use crate::AuditError;
use veilpath_metrics::{Comparison, Costs, MAX_COST, Metric, Model, Substitution, Table};

/// Needleman–Wunsch with a table of the partner's choice over `letters` letters. Row `j` contains the multiples of
/// `lettersʲ`, as far as costs allow, and the next row is zero. Gaps cost so much that no alignment shifts.
pub fn digit_table(letters: u32) -> Option<Metric> {
    let (width, size) = (width(letters), letters as usize);
    let mut values = vec![0.0; size * size];
    for row in 0..width {
        for column in 0..size {
            let power = f64::from(letters).powi(i32::try_from(row).ok()?);
            values[row * size + column] = column as f64 * power;
        }
    }
    let gap = f64::from(MAX_COST);
    Some(Metric::NeedlemanWunsch {
        substitution: Substitution::Table {
            table: Table::new(letters, values)?,
        },
        insert: gap,
        delete: gap,
        scale: Some(1),
    })
}

/// How many letters one score reveals.
fn width(letters: u32) -> usize {
    let base = u64::from(letters.max(2));
    let mut width = 0;
    let mut power = 1;
    // One row stays zero.
    while power * (base - 1) <= u64::from(MAX_COST) && width + 1 < letters as usize {
        width += 1;
        power *= base;
    }
    width
}

pub(super) fn is_digit_table(comparison: &Comparison) -> bool {
    let letters = comparison.alphabet().size();
    let Model::Global(model) = comparison.model() else {
        return false;
    };
    let metric = digit_table(letters).filter(|_| matches!(model.costs, Costs::Table { .. }));
    metric.is_some_and(|metric| metric == *comparison.metric())
}

pub(super) fn attack(oracle: &mut Oracle<'_>) -> Result<Vec<u16>, AuditError> {
    let length = oracle.length()?;
    let letters = oracle.comparison.alphabet().size();
    let width = width(letters);
    let mut found = Vec::with_capacity(length);
    while found.len() < length {
        let start = found.len();
        let digits = width.min(length - start);
        let mut query = vec![letter(width); length];
        for digit in 0..digits {
            query[start + digit] = letter(digit);
        }
        let mut rest = oracle.raw(&query)?;
        for _ in 0..digits {
            let digit = rest % i64::from(letters);
            found.push(u16::try_from(digit).unwrap_or(0));
            rest /= i64::from(letters);
        }
    }
    Ok(found)
}
