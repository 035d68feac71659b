//! Matrices over pairs of participants.

use crate::StatisticsError;

/// A value for each pair of a participant of one side (row) and a participant of the other (column).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossMatrix {
    rows: usize,
    columns: usize,
    values: Vec<i64>,
}

/// A value for each unordered pair of participants in one set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairMatrix {
    size: usize,
    /// The values above the diagonal, row by row.
    values: Vec<i64>,
}

impl CrossMatrix {
    /// A matrix, row by row.
    pub fn new(rows: usize, columns: usize, values: Vec<i64>) -> Result<Self, StatisticsError> {
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(StatisticsError::Length {
                what: "values of a matrix",
                found: values.len(),
                expected: rows.saturating_mul(columns),
            });
        }
        Ok(Self {
            rows,
            columns,
            values,
        })
    }

    /// The number of participants of the first side.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of participants of the second side.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All values, row by row.
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// The value of a pair.
    ///
    /// # Panics
    ///
    /// If there is no such row or column.
    pub fn get(&self, row: usize, column: usize) -> i64 {
        assert!(row < self.rows && column < self.columns);
        self.values[row * self.columns + column]
    }
}

impl PairMatrix {
    /// A matrix from the values above its diagonal, row by row: (0, 1), (0, 2), …, (1, 2), …
    pub fn new(size: usize, values: Vec<i64>) -> Result<Self, StatisticsError> {
        let expected = pairs_of(size);
        if values.len() != expected {
            return Err(StatisticsError::Length {
                what: "values of a matrix",
                found: values.len(),
                expected,
            });
        }
        Ok(Self { size, values })
    }

    /// Joins two sites into one set, the first site's participants first, from the pairs within each site and between
    /// them.
    pub fn of_sites(
        first: &PairMatrix,
        second: &PairMatrix,
        between: &CrossMatrix,
    ) -> Result<Self, StatisticsError> {
        let (a, b) = (first.size, second.size);
        for (what, found, expected) in [
            ("rows of the matrix between sites", between.rows, a),
            ("columns of the matrix between sites", between.columns, b),
        ] {
            if found != expected {
                return Err(StatisticsError::Length {
                    what,
                    found,
                    expected,
                });
            }
        }
        let mut values = Vec::with_capacity(pairs_of(a + b));
        for row in 0..a {
            values.extend(first.row(row));
            values.extend(&between.values[row * b..(row + 1) * b]);
        }
        values.extend(&second.values);
        Self::new(a + b, values)
    }

    /// The number of participants.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The values above the diagonal, row by row.
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// All pairs with their values: the smaller index, the larger index, the value.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize, i64)> {
        let rows = 0..self.size;
        let pairs = rows.flat_map(|row| (row + 1..self.size).map(move |column| (row, column)));
        let pairs = pairs.zip(&self.values);
        pairs.map(|((row, column), &value)| (row, column, value))
    }

    fn row(&self, row: usize) -> &[i64] {
        let start = place_above(self.size, row, row + 1);
        &self.values[start..start + self.size - row - 1]
    }
}

/// The index of (row, column) among the values above the diagonal. Each row has one value fewer than the row before it.
pub(crate) fn place_above(size: usize, row: usize, column: usize) -> usize {
    pairs_of(size) - pairs_of(size - row) + column - row - 1
}

/// The number of pairs of two different participants.
pub(crate) fn pairs_of(size: usize) -> usize {
    match size % 2 {
        0 => (size / 2).saturating_mul(size.saturating_sub(1)),
        _ => size.saturating_mul(size / 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sites_become_one_matrix() {
        let first = PairMatrix::new(3, vec![1, 2, 3]).unwrap();
        let second = PairMatrix::new(2, vec![9]).unwrap();
        let between = CrossMatrix::new(3, 2, vec![10, 11, 20, 21, 30, 31]).unwrap();
        let all = PairMatrix::of_sites(&first, &second, &between).unwrap();
        let found: Vec<_> = all.pairs().collect();
        assert_eq!(found.len(), 10);
        for expected in [
            (0, 1, 1),
            (0, 2, 2),
            (1, 2, 3),
            (0, 3, 10),
            (1, 4, 21),
            (2, 3, 30),
            (3, 4, 9),
        ] {
            assert!(found.contains(&expected), "{expected:?}");
        }
        assert!(PairMatrix::of_sites(&second, &first, &between).is_err());
        assert!(PairMatrix::new(3, vec![1]).is_err());
        assert_eq!(PairMatrix::new(0, vec![]).unwrap().pairs().count(), 0);
    }
}
