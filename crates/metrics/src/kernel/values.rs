//! The value of each letter pair, precomputed so that lookups need no distance arithmetic.

use crate::{Costs, Distance, Grid, Scores};

/// Up to this size, an alphabet gets a full square of values: 65,536 values fit the second-level cache.
const SQUARE_LETTERS: u32 = 256;

/// A value for each pair of letters of an alphabet.
pub(crate) enum Values<T> {
    /// Stored row by row. The row is the first side's letter.
    Square { size: usize, values: Vec<T> },
    /// One value for equal letters, another for different ones.
    Equal { same: T, other: T },
    /// Values that depend only on how many columns and rows apart two grid cells are. There are far fewer of these than
    /// pairs of cells.
    Offsets {
        columns: usize,
        positions: Vec<(u16, u16)>,
        values: Vec<T>,
    },
}

impl<T: Copy> Values<T> {
    /// The value of `a` (first side) and `b` (second side).
    #[inline]
    pub(crate) fn get(&self, a: u16, b: u16) -> T {
        let (a, b) = (usize::from(a), usize::from(b));
        match self {
            Values::Square { size, values } => values[a * size + b],
            Values::Equal { same, other } => {
                if a == b {
                    *same
                } else {
                    *other
                }
            }
            Values::Offsets {
                columns,
                positions,
                values,
            } => {
                let (a, b) = (positions[a], positions[b]);
                values[usize::from(a.1.abs_diff(b.1)) * columns + usize::from(a.0.abs_diff(b.0))]
            }
        }
    }

    /// Visits every value that a letter pair can have, possibly more than once.
    pub(crate) fn visit(&self, visitor: impl FnMut(T)) {
        match self {
            Values::Square { values, .. } | Values::Offsets { values, .. } => {
                values.iter().copied().for_each(visitor);
            }
            Values::Equal { same, other } => [*same, *other].into_iter().for_each(visitor),
        }
    }

    /// Replaces each value.
    pub(crate) fn map<U>(&self, change: impl Fn(T) -> U) -> Values<U> {
        match self {
            Values::Square { size, values } => Values::Square {
                size: *size,
                values: values.iter().map(|&value| change(value)).collect(),
            },
            Values::Equal { same, other } => Values::Equal {
                same: change(*same),
                other: change(*other),
            },
            Values::Offsets {
                columns,
                positions,
                values,
            } => Values::Offsets {
                columns: *columns,
                positions: positions.clone(),
                values: values.iter().map(|&value| change(value)).collect(),
            },
        }
    }

    /// Expands to a full square if the alphabet is small enough: one lookup per pair is the least work.
    pub(crate) fn squared(self, letters: u32) -> Self {
        if letters > SQUARE_LETTERS || matches!(self, Values::Square { .. }) {
            return self;
        }
        let all = 0..u16::try_from(letters).unwrap_or(u16::MAX);
        let values = all
            .clone()
            .flat_map(|a| all.clone().map(move |b| (a, b)))
            .map(|(a, b)| self.get(a, b))
            .collect();
        Values::Square {
            size: letters as usize,
            values,
        }
    }

    /// Values by the offset between grid cells.
    fn on_grid(grid: &Grid, letters: u32, value: impl Fn(u16) -> T) -> Self {
        let columns = grid.columns();
        let rows = (letters.max(1) - 1) / columns + 1;
        let cells = |count: u32| (0..count).map(|cell| u16::try_from(cell).unwrap_or(u16::MAX));
        let position = |cell: u16| {
            let short = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
            let cell = u32::from(cell);
            (short(cell % columns), short(cell / columns))
        };
        Values::Offsets {
            columns: columns as usize,
            positions: cells(letters).map(position).collect(),
            // The cell at this offset from the first cell represents all pairs with that offset. This holds for joined
            // edges too.
            values: cells(rows * columns).map(value).collect(),
        }
    }
}

impl Values<u32> {
    /// Replacement costs over an alphabet of `letters` letters.
    pub(crate) fn of_costs(costs: &Costs, letters: u32) -> Self {
        match costs {
            Costs::Unit { mismatch } => Values::Equal {
                same: 0,
                other: *mismatch,
            },
            Costs::Index { .. } => Values::Offsets {
                columns: letters as usize,
                positions: (0..letters)
                    .map(|letter| (u16::try_from(letter).unwrap_or(u16::MAX), 0))
                    .collect(),
                values: (0..letters)
                    .map(|letter| costs.cost(0, u16::try_from(letter).unwrap_or(u16::MAX)))
                    .collect(),
            },
            Costs::Grid { grid, .. } => Values::on_grid(grid, letters, |cell| costs.cost(0, cell)),
            Costs::Table { size, costs } => Values::Square {
                size: *size as usize,
                values: costs.clone(),
            },
        }
    }
}

impl Values<i32> {
    /// Scores of letter pairs.
    pub(crate) fn of_scores(scores: &Scores) -> Self {
        match scores {
            Scores::Unit { .. } => Values::Equal {
                same: scores.score(0, 0),
                other: scores.score(0, 1),
            },
            Scores::Table { size, scores } => Values::Square {
                size: *size as usize,
                values: scores.clone(),
            },
        }
    }
}

impl Values<f64> {
    /// ScanMatch's `T − d`.
    pub(crate) fn of_scanmatch(grid: &Grid, threshold: f64, letters: u32) -> Self {
        Values::on_grid(grid, letters, |cell| {
            threshold - grid.distance(Distance::Euclidean, 0, cell)
        })
    }
}

/// The greatest common divisor. The gcd of 0 and a number is the number.
pub(crate) fn common_divisor(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
