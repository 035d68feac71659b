//! Couplings of two sequences: paths through the matrix from its first cell to its last, which advance by one step
//! along either sequence or both.
//!
//! | metric | a cell | sequential comparisons |
//! |---|---|---|
//! | dynamic time warping | the distance plus the least of three neighbours | 2 |
//! | discrete Fréchet distance | the larger of the distance and the least of three neighbours | 3 |
//!
//! Differences of neighbours have no bound smaller than the numbers themselves, so the matrix itself is shared, modulo
//! 2^(w + 1). A minimum is a comparison and a product: min(a, b) = a − max(0, a − b). The border is the largest number
//! of w bits, which no path can exceed; only the corner before the first cell is 0.
//!
//! **Padding** is a letter at distance 0 from itself. Cells where it meets another letter have the largest number, like
//! the border. If both sequences end in at least one padding letter, the first cell where padding meets padding has the
//! total to its upper left, and the largest number above and to its left. So the total reaches the last cell along the
//! padding. A Fréchet distance takes the largest number from the table. In a sum, a product replaces the number by the
//! largest one.

use super::cells::prepare;
use super::gates::Gates;
use super::group::Group;
use super::packing::{Words, words};
use super::rounds::join2;
use super::session::Party;
use crate::bits::mask;
use crate::error::MpcError;
use zeroize::Zeroizing;

/// The quantity that a coupling minimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Total {
    /// The sum of the distances of the path's cells.
    Sum,
    /// The largest of them.
    Largest,
}

/// A coupling: bits of the largest total, and of a distance. With `padded`, entries have one more bit, which is 1 if
/// exactly one of the letters is padding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coupling {
    pub(crate) total: Total,
    pub(crate) width: usize,
    pub(crate) input_width: usize,
    pub(crate) padded: bool,
}

/// Returns the least total of each matrix.
pub(crate) async fn coupling(
    gates: &Gates,
    group: &mut Group<'_>,
    coupling: Coupling,
    on_cells: &dyn Fn(usize),
) -> Result<Words, MpcError> {
    let Coupling {
        total,
        width,
        input_width,
        padded,
    } = coupling;
    let modulus = width + 1;
    let mask = mask(modulus);
    // Constants go into the first side's share.
    let outside = if gates.party.is_host() { mask >> 1 } else { 0 };
    let borders = |count: usize| Zeroizing::new(vec![outside; count]);
    let (mut left, mut diagonal) = (borders(group.lines()), borders(group.lines()));
    let mut up = borders(group.positions());
    for first in group.first_lines() {
        diagonal[first] = 0;
    }
    group.look_up(0).await?;
    let (mut distances, mut meets_padding) = (Words::default(), Words::default());
    let mut cells: Vec<(usize, usize)> = Vec::new();
    // The first iteration only prepares the costs of the first step.
    for step in 0..=group.steps() {
        let next = group.cells(step);
        let count = cells.len();
        let mut demand = gates.clamp_demand(count, width, Party::Host)
            + gates.clamp_demand(count, width, Party::Join)
            + gates.numbers_demand(next.len(), input_width);
        if total == Total::Largest {
            demand = demand + gates.clamp_demand(count, width, Party::Host);
        }
        if padded {
            demand = demand + Gates::cross_demand(count);
        }
        gates.rounds.reserve(demand).await;
        let work = async {
            if count == 0 {
                return Ok::<(), MpcError>(());
            }
            let above = words(cells.iter().map(|(_, position)| up[*position]));
            let before = words(cells.iter().map(|(line, _)| left[*line]));
            let smallest = smaller(gates, &above, &before, width, Party::Host).await?;
            let through = words(cells.iter().map(|(line, _)| diagonal[*line]));
            let smallest = smaller(gates, &smallest, &through, width, Party::Join).await?;
            let added = match total {
                Total::Sum => words(distances.iter().copied()),
                Total::Largest => {
                    let excess = distances.iter().zip(smallest.iter());
                    let excess = words(
                        excess.map(|(distance, smallest)| distance.wrapping_sub(*smallest) & mask),
                    );
                    gates.clamp(&excess, width, Party::Host).await?
                }
            };
            let totals = smallest.iter().zip(added.iter());
            let mut totals =
                words(totals.map(|(smallest, added)| smallest.wrapping_add(*added) & mask));
            if padded {
                let missing = words(
                    totals
                        .iter()
                        .map(|total| outside.wrapping_sub(*total) & mask),
                );
                let missing = gates.select(&meets_padding, &missing, modulus).await?;
                for (total, missing) in totals.iter_mut().zip(missing.iter()) {
                    *total = total.wrapping_add(*missing) & mask;
                }
            }
            for (value, (line, position)) in totals.iter().zip(&cells) {
                diagonal[*line] = up[*position];
                left[*line] = *value;
                up[*position] = *value;
            }
            Ok(())
        };
        let meets_next = match padded {
            true => words(
                group
                    .costs(step)
                    .iter()
                    .map(|entry| entry >> input_width & 1),
            ),
            false => Words::default(),
        };
        let (worked, prepared) =
            join2(work, prepare(gates, group, step, input_width, modulus)).await;
        worked?;
        meets_padding = meets_next;
        on_cells(count);
        distances = prepared?;
        cells = next;
    }
    Ok(words(group.positions_of().map(|range| up[range.end - 1])))
}

/// The smaller of two numbers below 2^width, shared modulo 2^(width + 1).
async fn smaller(
    gates: &Gates,
    a: &[u64],
    b: &[u64],
    width: usize,
    first_sender: Party,
) -> Result<Words, MpcError> {
    let mask = mask(width + 1);
    let excess = words(a.iter().zip(b).map(|(a, b)| a.wrapping_sub(*b) & mask));
    let excess = gates.clamp(&excess, width, first_sender).await?;
    Ok(words(
        a.iter()
            .zip(excess.iter())
            .map(|(a, excess)| a.wrapping_sub(*excess) & mask),
    ))
}
