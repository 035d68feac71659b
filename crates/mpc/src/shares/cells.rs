//! The cells of alignment matrices on shares.
//!
//! | costs | state | exchanges per step |
//! |---|---|---|
//! | unit costs | differences of neighbours, −1, 0 or 1, as two bits: [`super::unit`] | 2 |
//! | any global alignment | differences H and V as numbers, as in [`crate::circuit::cells::DifferenceCell`] | 10 with nine bits |
//! | local alignment | the matrix itself, as numbers | 15 with nine bits |
//! | couplings | the matrix itself, as numbers: [`super::couplings`] | 10 or 15 with nine bits |
//!
//! Additions are free. A maximum is a comparison and a product: max(a, b) = b + max(0, a − b).

use super::gates::Gates;
use super::group::Group;
use super::packing::{Words, words};
use super::pool::Demand;
use super::rounds::join2;
use super::session::Party;
use crate::bits::mask;
use crate::error::MpcError;
use zeroize::Zeroizing;

/// The costs of a step as numbers modulo 2^modulus, while those of the next are looked up.
pub(crate) async fn prepare(
    gates: &Gates,
    group: &mut Group<'_>,
    step: usize,
    width: usize,
    modulus: usize,
) -> Result<Words, MpcError> {
    let costs = group.costs(step);
    let numbers = gates.numbers_from_bits(&costs, width, modulus);
    let (looked_up, numbers) = join2(group.look_up(step + 1), numbers).await;
    looked_up?;
    numbers
}

/// Global alignment with w bits for the sum of an insertion and a deletion: e = max(0, H − V), H' = e + max(0, T − V −
/// e), V' = H' − (H − V), modulo 2^(w + 1).
///
/// Returns H below the last line of every position.
pub(crate) async fn difference(
    gates: &Gates,
    group: &mut Group<'_>,
    width: usize,
    on_cells: &dyn Fn(usize),
) -> Result<Words, MpcError> {
    let modulus = width + 1;
    let mask = mask(modulus);
    let mut along_line = Zeroizing::new(vec![0u64; group.lines()]);
    let mut to_next_line = Zeroizing::new(vec![0u64; group.positions()]);
    group.look_up(0).await?;
    let mut costs = Words::default();
    let mut cells = Vec::new();
    // The first iteration only prepares the costs of the first step.
    for step in 0..=group.steps() {
        let next = group.cells(step);
        let count = cells.len();
        let demand = gates.clamp_demand(count, width, Party::Host)
            + gates.clamp_demand(count, width, Party::Join)
            + gates.numbers_demand(next.len(), width);
        gates.rounds.reserve(demand).await;
        let differences = words(cells.iter().map(|&(line, position): &(usize, usize)| {
            to_next_line[position].wrapping_sub(along_line[line]) & mask
        }));
        let work = async {
            if count == 0 {
                return Ok::<(), MpcError>(());
            }
            let raised = gates.clamp(&differences, width, Party::Host).await?;
            let rest = words(cells.iter().enumerate().map(|(at, (line, _))| {
                costs[at]
                    .wrapping_sub(along_line[*line])
                    .wrapping_sub(raised[at])
                    & mask
            }));
            let rest = gates.clamp(&rest, width, Party::Join).await?;
            for (at, (line, position)) in cells.iter().enumerate() {
                let down = raised[at].wrapping_add(rest[at]) & mask;
                to_next_line[*position] = down;
                along_line[*line] = down.wrapping_sub(differences[at]) & mask;
            }
            Ok(())
        };
        let (worked, prepared) = join2(work, prepare(gates, group, step, width, modulus)).await;
        worked?;
        on_cells(count);
        costs = prepared?;
        cells = next;
    }
    Ok(to_next_line)
}

/// A local alignment: bits of the largest score and two gaps, bits of an entry, and the gap's cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local {
    pub(crate) width: usize,
    pub(crate) input_width: usize,
    pub(crate) gap: u64,
}

/// Local alignment: M = max(0, diagonal + T − 2·g, up − g, left − g). The largest M of each position so far is updated
/// one step later, in that step's messages.
///
/// Returns the largest M of every position.
pub(crate) async fn local(
    gates: &Gates,
    group: &mut Group<'_>,
    cell: Local,
    on_cells: &dyn Fn(usize),
) -> Result<Words, MpcError> {
    let Local {
        width,
        input_width,
        gap,
    } = cell;
    let modulus = width + 1;
    let mask = mask(modulus);
    // Constants go into the first side's share.
    let gap = if gates.party.is_host() { gap } else { 0 };
    let zeros = |count: usize| Zeroizing::new(vec![0u64; count]);
    let (mut left, mut diagonal) = (zeros(group.lines()), zeros(group.lines()));
    let (mut up, mut best) = (zeros(group.positions()), zeros(group.positions()));
    group.look_up(0).await?;
    let mut costs = Words::default();
    let (mut cells, mut before): (Vec<(usize, usize)>, Vec<usize>) = (Vec::new(), Vec::new());
    for step in 0..=group.steps() + 1 {
        let next = group.cells(step);
        let count = cells.len();
        let demand = gates.clamp_demand(count + before.len(), width, Party::Host)
            + gates.clamp_demand(count, width, Party::Join)
            + gates.clamp_demand(count, width, Party::Host)
            + gates.numbers_demand(next.len(), input_width);
        gates.rounds.reserve(demand).await;
        let work = async {
            let of_cells = cells
                .iter()
                .map(|(line, position)| up[*position].wrapping_sub(left[*line]) & mask);
            let of_best = before
                .iter()
                .map(|position| up[*position].wrapping_sub(best[*position]) & mask);
            let mut differences = zeros(count + before.len());
            for (difference, value) in differences.iter_mut().zip(of_cells.chain(of_best)) {
                *difference = value;
            }
            if differences.is_empty() {
                return Ok(());
            }
            let raised = gates.clamp(&differences, width, Party::Host).await?;
            for (position, raised) in before.iter().zip(&raised[count..]) {
                best[*position] = best[*position].wrapping_add(*raised) & mask;
            }
            if count == 0 {
                return Ok(());
            }
            let through = words(cells.iter().enumerate().map(|(at, (line, _))| {
                let substituted = diagonal[*line].wrapping_add(costs[at]);
                substituted.wrapping_sub(2u64.wrapping_mul(gap)) & mask
            }));
            let excess = words(cells.iter().enumerate().map(|(at, (line, _))| {
                let gapped = left[*line].wrapping_add(raised[at]).wrapping_sub(gap);
                gapped.wrapping_sub(through[at]) & mask
            }));
            let excess = gates.clamp(&excess, width, Party::Join).await?;
            let scores = words(
                through
                    .iter()
                    .zip(excess.iter())
                    .map(|(through, excess)| through.wrapping_add(*excess) & mask),
            );
            let scores = gates.clamp(&scores, width, Party::Host).await?;
            for (score, (line, position)) in scores.iter().zip(&cells) {
                diagonal[*line] = up[*position];
                left[*line] = *score;
                up[*position] = *score;
            }
            Ok(())
        };
        let prepared = prepare(gates, group, step, input_width, modulus);
        let (worked, prepared): (Result<(), MpcError>, _) = join2(work, prepared).await;
        worked?;
        on_cells(count);
        costs = prepared?;
        before = cells.iter().map(|(_, position)| *position).collect();
        cells = next;
    }
    Ok(best)
}

/// The largest number of each non-empty list. Numbers are below 2^width and shared modulo 2^(width + 1).
pub(crate) async fn largest(
    gates: &Gates,
    mut lists: Vec<Words>,
    width: usize,
) -> Result<Words, MpcError> {
    let mask = mask(width + 1);
    // The first step makes as many comparisons as all others together, so both directions need the same number of
    // transfers.
    let mut first_sender = Party::Host;
    while lists.iter().any(|list| list.len() > 1) {
        let pairs = || lists.iter().flat_map(|list| list.chunks_exact(2));
        let mut differences = Zeroizing::new(Vec::with_capacity(pairs().count()));
        differences.extend(pairs().map(|pair| pair[1].wrapping_sub(pair[0]) & mask));
        let demand: Demand = gates.clamp_demand(differences.len(), width, first_sender);
        gates.rounds.reserve(demand).await;
        let raised = gates.clamp(&differences, width, first_sender).await?;
        first_sender = Party::Join;
        let mut raised = raised.iter();
        for list in &mut lists {
            *list = words(list.chunks(2).map(|pair| match pair {
                [first, _] => first.wrapping_add(*raised.next().unwrap_or(&0)) & mask,
                [single, ..] => *single,
                [] => 0,
            }));
        }
    }
    Ok(words(lists.iter().map(|list| list[0])))
}
