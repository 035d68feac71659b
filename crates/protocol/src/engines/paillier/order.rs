//! The order of cells: which cells are ready, and a uniform random choice among them.
//!
//! The paper fills the matrix in a random order to hide from Alice which cell she is asked about ("Candidate Vector
//! Construction"). This engine keeps the candidates of all comparisons in flight in one vector, and a batch is a
//! uniform random subset of it in random order. A batch is never the whole vector while there is a choice: that would
//! fill the matrix by anti-diagonals, a public order.
//!
//! # What the batches reveal to the key holder
//! It sees the size of each batch and which batch a cell is in, and no more: within a batch the order is uniform. The
//! sizes of batches follow from the lengths of the scanpaths and from the matrix owner's coins, because which cells are
//! ready never depends on a letter. The batch number says something about where a cell is, as the step number does in
//! the paper. Only about two thirds of the cells that could be requested are outstanding, so a third of them falls
//! behind each time. That leaves the key holder about as uncertain about a cell's anti-diagonal as the paper's one cell
//! at a time (from 2 % less to 10 % more for a single comparison of 20 to 60 letters), and more uncertain the more
//! comparisons are in flight. If all ready cells were sent, it would know. A test measures all three cases, with as
//! many batches outstanding as the matrix owner has.

use super::parallel::LANES;
use crypto_bigint::{CtEq, CtSelect};
use rand::{CryptoRng, Rng, RngExt};
use zeroize::Zeroizing;

/// The cells that can be computed next, the candidate vector C of the paper, over all comparisons in flight.
#[derive(Debug)]
pub(super) struct ReadyCells<T>(Vec<T>);

impl<T> ReadyCells<T> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn push(&mut self, cell: T) {
        self.0.push(cell);
    }

    /// Draws `count` of them; every subset and every order is equally likely (the first steps of a Fisher–Yates
    /// shuffle).
    pub(super) fn draw<R: CryptoRng + ?Sized>(&mut self, count: usize, rng: &mut R) -> Vec<T> {
        let count = count.min(self.0.len());
        (0..count)
            .map(|_| self.0.swap_remove(below(self.0.len(), rng)))
            .collect()
    }
}

/// How many of the ready cells to take while `outstanding` others wait for a reply. Afterwards about two thirds
/// of both together are outstanding, and never more than three quarters. Takes at most `batch`, and if there are
/// plenty, a multiple of `full`, which fills the SIMD lanes of both sides.
pub(super) fn cells_to_take(ready: usize, outstanding: usize, batch: usize, full: usize) -> usize {
    let all = ready + outstanding;
    if all <= 3 {
        return if outstanding == 0 { ready.min(1) } else { 0 };
    }
    let max_size = (all * 3 / 4)
        .saturating_sub(outstanding)
        .min(batch)
        .min(ready);
    let size = (all * 2)
        .div_ceil(3)
        .saturating_sub(outstanding)
        .min(max_size);
    if size > full {
        return size - size % full;
    }
    let rounded_up = size.next_multiple_of(LANES);
    if rounded_up <= max_size {
        rounded_up
    } else if size > LANES {
        size - size % LANES
    } else {
        size
    }
}

/// A secret order of a cell's candidates.
pub(super) type Order = Zeroizing<Vec<usize>>;

/// A random order of the numbers below `count` (Fisher–Yates). The order is secret, so each swap touches every index
/// that it could involve.
pub(super) fn permutation<R: CryptoRng + ?Sized>(count: usize, rng: &mut R) -> Order {
    let mut order: Order = Zeroizing::new((0..count).collect());
    for last in (1..count).rev() {
        let chosen = below(last + 1, rng);
        if let Some((end, others)) = order[..=last].split_last_mut() {
            for (index, other) in others.iter_mut().enumerate() {
                let change = usize::ct_select(&0, &(*other ^ *end), index.ct_eq(&chosen));
                *other ^= change;
                *end ^= change;
            }
        }
    }
    order
}

/// The values in this secret order. They are copied, so that no later address depends on it.
pub(super) fn arranged<T: Clone>(values: &[T], order: &[usize]) -> Vec<T> {
    let references: Vec<&T> = values.iter().collect();
    order.iter().map(|&at| references[at]).cloned().collect()
}

/// How much of one matrix is filled: each row from the left up to some column, and never further than the row above.
#[derive(Debug)]
pub(super) struct Staircase {
    /// The number of filled cells in each row.
    filled: Vec<u32>,
    columns: u32,
}

/// The row and column of a matrix cell, both from 1, as in the paper.
pub(super) type CellPosition = (u32, u32);

impl Staircase {
    /// An empty matrix, whose only candidate is (1, 1).
    pub(super) fn new(rows: u32, columns: u32) -> Self {
        Self {
            filled: vec![0; rows as usize],
            columns,
        }
    }

    /// Records that a cell is known, and returns the cells that become ready.
    pub(super) fn fill(
        &mut self,
        (row, column): CellPosition,
    ) -> impl Iterator<Item = CellPosition> {
        let index = row as usize - 1;
        self.filled[index] = column;
        let above = index
            .checked_sub(1)
            .map_or(self.columns, |above| self.filled[above]);
        let below = self.filled.get(index + 1).copied();
        let right = (above > column).then_some((row, column + 1));
        let under = (below == Some(column - 1)).then_some((row + 1, column));
        right.into_iter().chain(under)
    }
}

/// The number of candidates at each step when a `rows × columns` matrix is filled one random candidate at a time, as in
/// the paper. Simulates only the order, without cryptography.
pub fn candidate_counts<R: Rng + ?Sized>(rows: u32, columns: u32, rng: &mut R) -> Vec<u32> {
    let mut staircase = Staircase::new(rows, columns);
    let mut candidates = Vec::new();
    if rows > 0 && columns > 0 {
        candidates.push((1, 1));
    }
    let mut counts = Vec::new();
    while !candidates.is_empty() {
        counts.push(u32::try_from(candidates.len()).unwrap_or(u32::MAX));
        let cell = candidates.swap_remove(rng.random_range(0..candidates.len()));
        candidates.extend(staircase.fill(cell));
    }
    counts
}

/// A uniform number below `bound`, which must not be zero.
fn below<R: CryptoRng + ?Sized>(bound: usize, rng: &mut R) -> usize {
    rng.random_range(0..bound)
}
