//! Sums over pairs of groups.

use crate::fixed_point::check_values;
use crate::{CrossMatrix, MeanSum, StatisticsError};

/// For each group of the first side (rows) and of the second (columns), the sum over their pairs of participants.
/// `groups` says which group each participant belongs to, and `counts` how many groups each side has.
pub fn group_sums(
    values: &CrossMatrix,
    groups: [&[usize]; 2],
    counts: [usize; 2],
) -> Result<Vec<Vec<MeanSum>>, StatisticsError> {
    check_values(values.values())?;
    for (groups, (expected, count)) in groups
        .into_iter()
        .zip([values.rows(), values.columns()].into_iter().zip(counts))
    {
        if groups.len() != expected {
            return Err(StatisticsError::Length {
                what: "groups of participants",
                found: groups.len(),
                expected,
            });
        }
        if let Some(&index) = groups.iter().find(|&&group| group >= count) {
            return Err(StatisticsError::Index {
                what: "group",
                index,
            });
        }
    }
    let mut cells = vec![vec![MeanSum::default(); counts[1]]; counts[0]];
    for (row, &a) in groups[0].iter().enumerate() {
        for (column, &b) in groups[1].iter().enumerate() {
            let cell = &mut cells[a][b];
            cell.sum += values.get(row, column);
            cell.count += 1;
        }
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_added_up_by_group() {
        let values = CrossMatrix::new(2, 3, vec![1, 2, 4, 8, 16, 32]).unwrap();
        let cells = group_sums(&values, [&[1, 0], &[0, 0, 1]], [2, 3]).unwrap();
        let sums: Vec<Vec<(i64, u64)>> = cells
            .iter()
            .map(|row| row.iter().map(|cell| (cell.sum, cell.count)).collect())
            .collect();
        assert_eq!(sums, [[(24, 2), (32, 1), (0, 0)], [(3, 2), (4, 1), (0, 0)]]);
        assert!(group_sums(&values, [&[1, 0], &[0, 0, 3]], [2, 3]).is_err());
        assert!(group_sums(&values, [&[1], &[0, 0, 1]], [2, 3]).is_err());
    }
}
