//! Which comparisons are in flight. The cells of a request are chosen at random among all their ready cells.
//!
//! Many comparisons in flight hide which of them a cell belongs to, and give enough cells to choose from. But the more of them
//! share the work, the later the first one finishes, and an unfinished result is lost when the connection breaks. If all 900
//! pairs of 30 × 30 scanpaths of 20 letters were in flight, the first result would come after 91 % of the work.
//!
//! So some comparisons start at once, and others follow at twice the pace at which cells are filled, until there is
//! enough to choose from. From then on, about one starts for each one that ends, and at any time some are near their
//! beginning and others near their end. The first of those 900 results comes after a tenth of the work and half of them
//! after 58 %, with a key of 2048 bits. In a session with fewer pairs, fewer start at once: of 100, the first ends after
//! 40 % of the work. (These fractions come from a simulation without cryptography, as in `tests/window.rs`.)
//!
//! Sixteen comparisons hide as much as all of them. With 128 comparisons of 6 × 6 letters out of 52, an attack that
//! is told which messages belong to its comparison guesses this fraction of 192 letters correctly
//! (`letters_guessed_by_the_number_of_comparisons_in_flight` in `veilpath-audit`):
//!
//! | in flight | unit costs | \|a−b\| |
//! |---|---|---|
//! | the score alone | 2.7 % | 5.2 % |
//! | 1 | 11.2 % | 58.0 % |
//! | 4 | 2.2 % | 11.2 % |
//! | 16 | 1.7 % | 5.3 % |
//! | 64 | 1.8 % | 6.4 % |
//! | all 128 | 1.8 % | 6.6 % |
//!
//! When a comparison starts depends only on lengths and on how many cells are filled.

use std::ops::RangeInclusive;

/// The bounds of `min_in_flight`.
const MIN_IN_FLIGHT: RangeInclusive<usize> = 16..=64;
/// Within these bounds, one pair in this many starts at once.
const PAIRS_PER_FIRST: usize = 8;
/// Cells of further comparisons that may be started for each filled one.
const STARTED_PER_FILLED: u64 = 2;
/// There should be this many full requests' worth of cells to choose from, ready or already requested. Three requests are
/// outstanding, which may be at most two thirds of them.
const REQUESTS_TO_CHOOSE_FROM: usize = 5;

/// Counts the comparisons in flight.
#[derive(Debug)]
pub(in super::super) struct Window {
    /// An audit may ask for exactly this many.
    exactly: Option<usize>,
    /// The smallest number of comparisons in flight, as long as this many are left.
    min_in_flight: usize,
    in_flight: usize,
    filled: u64,
    /// Cells of comparisons beyond the smallest number.
    further: u64,
}

impl Window {
    /// The window of a session with this many pairs.
    pub(in super::super) fn new(pairs: usize, exactly: Option<usize>) -> Self {
        let min_in_flight =
            (pairs / PAIRS_PER_FIRST).clamp(*MIN_IN_FLIGHT.start(), *MIN_IN_FLIGHT.end());
        Self {
            exactly,
            min_in_flight,
            in_flight: 0,
            filled: 0,
            further: 0,
        }
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.in_flight == 0
    }

    /// Whether another comparison may start, if `choice` cells are ready or requested and a full request has `request`
    /// cells.
    pub(in super::super) fn has_room(&self, choice: usize, request: usize) -> bool {
        if let Some(exactly) = self.exactly {
            return self.in_flight < exactly;
        }
        self.in_flight < self.min_in_flight
            || (choice < REQUESTS_TO_CHOOSE_FROM * request
                && self.further < STARTED_PER_FILLED * self.filled)
    }

    /// Records that a comparison of this many cells starts.
    pub(in super::super) fn start(&mut self, cells: u64) {
        if self.in_flight >= self.min_in_flight {
            self.further = self.further.saturating_add(cells);
        }
        self.in_flight += 1;
    }

    /// Records that a cell is filled.
    pub(in super::super) fn fill(&mut self) {
        self.filled += 1;
    }

    /// Records that a comparison ends.
    pub(in super::super) fn finish(&mut self) {
        self.in_flight -= 1;
    }
}
