//! For unit costs: finds how often each letter occurs, and then where.

use super::{Oracle, letter};
use crate::AuditError;
use veilpath_metrics::{Costs, Model};

struct Unit {
    length: usize,
    delete: i64,
    insert: i64,
    /// The cost of an unmatched letter.
    miss: i64,
}

pub(super) fn attack(oracle: &mut Oracle<'_>) -> Result<Vec<u16>, AuditError> {
    let length = oracle.length()?;
    let unit = match oracle.comparison.model() {
        Model::Global(model) => match model.costs {
            Costs::Unit { mismatch } => {
                let (insert, delete) = (i64::from(model.insert), i64::from(model.delete));
                Unit {
                    length,
                    delete,
                    insert,
                    miss: i64::from(mismatch).min(insert + delete),
                }
            }
            _ => return Err(AuditError::Internal("this attack needs unit costs")),
        },
        _ => return Err(AuditError::LocalAlignment),
    };
    let letters: Vec<u16> = (0..oracle.letters()).map(letter).collect();
    let mut counts = Vec::new();
    unit.count(oracle, &letters, length, &mut counts)?;
    // The most frequent letter comes first and needs no query: copies of one letter have only one order.
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let mut recovered: Vec<u16> = Vec::with_capacity(length);
    for (x, count) in counts {
        recovered = unit.insert(oracle, &recovered, x, count)?;
    }
    Ok(recovered)
}

impl Unit {
    /// How often each of these letters occurs, if all of them together occur `total` times.
    ///
    /// A scanpath that repeats a set of letters `n` times matches every letter of the set, in any order.
    fn count(
        &self,
        oracle: &mut Oracle<'_>,
        set: &[u16],
        total: usize,
        counts: &mut Vec<(u16, usize)>,
    ) -> Result<(), AuditError> {
        match *set {
            _ if total == 0 => return Ok(()),
            [] => return Err(AuditError::Internal("letters were lost")),
            [x] => {
                counts.push((x, total));
                return Ok(());
            }
            _ => {}
        }
        let (left, right) = set.split_at(set.len() / 2);
        let query = left.repeat(self.length);
        let raw = oracle.raw(&query)?;
        let spare = i64::try_from(query.len() - self.length).unwrap_or(i64::MAX);
        let missing = usize::try_from((raw - spare * self.delete) / self.miss).unwrap_or(0);
        let in_left = self.length.saturating_sub(missing).min(total);
        self.count(oracle, left, in_left, counts)?;
        self.count(oracle, right, total - in_left, counts)
    }

    /// The order of the known letters together with all `count` letters `x`, from the last to the first.
    fn insert(
        &self,
        oracle: &mut Oracle<'_>,
        recovered: &[u16],
        x: u16,
        count: usize,
    ) -> Result<Vec<u16>, AuditError> {
        let mut gaps = Vec::with_capacity(count);
        let mut high = recovered.len();
        for after in 1..=count {
            let mut low = 0;
            while low < high {
                let middle = (low + high).div_ceil(2);
                let mut query = recovered[..middle].to_vec();
                query.extend(std::iter::repeat_n(x, after));
                if self.is_subsequence(oracle, &query)? {
                    low = middle;
                } else {
                    high = middle - 1;
                }
            }
            gaps.push(high);
        }
        let mut merged = Vec::with_capacity(recovered.len() + count);
        for gap in 0..=recovered.len() {
            let here = gaps.iter().filter(|&&it| it == gap).count();
            merged.extend(std::iter::repeat_n(x, here));
            merged.extend(recovered.get(gap));
        }
        Ok(merged)
    }

    /// Whether the query is a subsequence of the secret. If so, only the other letters are inserted.
    fn is_subsequence(&self, oracle: &mut Oracle<'_>, query: &[u16]) -> Result<bool, AuditError> {
        let others = self.length.saturating_sub(query.len());
        Ok(query.len() <= self.length
            && oracle.raw(query)? == i64::try_from(others).unwrap_or(i64::MAX) * self.insert)
    }
}
