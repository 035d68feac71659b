//! One comparison on the matrix owner's side: the part of the encrypted alignment matrix M that is still needed.

use super::order::{CellPosition, Staircase};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use veilpath_paillier::Ciphertext;

/// The matrix of one pair. A value is kept until the three cells that depend on it have used it, so memory grows with
/// the sum of the lengths, not with their product.
pub(super) struct Matrix {
    /// The key holder's scanpath.
    pub(super) host: usize,
    rows: u32,
    columns: u32,
    stairs: Staircase,
    values: HashMap<CellPosition, Stored>,
    cells_left: u64,
    /// In a local alignment, the search for the minimum of all values.
    search: Option<MinimumSearch>,
}

struct Stored {
    value: Ciphertext,
    uses: u8,
}

/// The search for the least value of all cells. It takes a few values per round, and does not reveal which cells they
/// are.
struct MinimumSearch {
    /// The number of values in a round.
    width: usize,
    waiting: Vec<Ciphertext>,
    rounds_out: u64,
}

/// The consequences of a new value.
#[derive(Default)]
pub(super) struct Progress {
    /// Cells that became ready.
    pub(super) cells: Vec<CellPosition>,
    /// A round of the search that is ready. A short round is filled up with values that represent score 0.
    pub(super) round: Option<Vec<Ciphertext>>,
    /// The result of the comparison.
    pub(super) result: Option<Ciphertext>,
}

impl Matrix {
    /// Initialization ii: a matrix of which only the border is known. `round_width` is the number of values in a round
    /// of the minimum search.
    pub(super) fn new(
        host: usize,
        (rows, columns): (u32, u32),
        round_width: Option<usize>,
    ) -> Self {
        Self {
            host,
            rows,
            columns,
            stairs: Staircase::new(rows, columns),
            values: HashMap::new(),
            cells_left: u64::from(rows) * u64::from(columns),
            search: round_width.map(|width| MinimumSearch {
                width,
                waiting: Vec::new(),
                rounds_out: 0,
            }),
        }
    }

    /// Takes the value of a cell for one of the cells that depend on it; `None` on the border.
    pub(super) fn take(&mut self, cell: CellPosition) -> Option<Ciphertext> {
        let Entry::Occupied(mut entry) = self.values.entry(cell) else {
            return None;
        };
        entry.get_mut().uses -= 1;
        if entry.get().uses == 0 {
            return Some(entry.remove().value);
        }
        Some(entry.get().value.clone())
    }

    /// Records the value M(i, j).
    pub(super) fn fill(&mut self, cell: CellPosition, value: Ciphertext) -> Progress {
        let (row, column) = cell;
        self.cells_left -= 1;
        let mut progress = Progress {
            cells: self.stairs.fill(cell).collect(),
            ..Progress::default()
        };
        let (below, right) = (row < self.rows, column < self.columns);
        let uses = u8::from(below) + u8::from(right) + u8::from(below && right);
        match &mut self.search {
            None if uses == 0 => {
                progress.result = Some(value);
                return progress;
            }
            None => {}
            Some(search) => search.enter(value.clone(), self.cells_left, &mut progress),
        }
        if uses > 0 {
            self.values.insert(cell, Stored { value, uses });
        }
        progress
    }

    /// Records the least value of a round.
    pub(super) fn finish_round(&mut self, minimum: Ciphertext) -> Progress {
        let mut progress = Progress::default();
        if let Some(search) = &mut self.search {
            search.rounds_out -= 1;
            search.enter(minimum, self.cells_left, &mut progress);
        }
        progress
    }
}

impl MinimumSearch {
    fn enter(&mut self, value: Ciphertext, cells_left: u64, progress: &mut Progress) {
        self.waiting.push(value);
        let last = cells_left == 0 && self.rounds_out == 0;
        if last && self.waiting.len() == 1 {
            progress.result = self.waiting.pop();
        } else if last || self.waiting.len() >= self.width {
            self.rounds_out += 1;
            progress.round = Some(std::mem::take(&mut self.waiting));
        }
    }
}
