//! Estimates the cost of [`super::SharesSession`]'s computations on lists.

use super::arithmetic::{BITS, TASK_BYTES};
use super::compare::{GadgetCost, clamp_cost};
use super::costs::AlignmentCost;
use super::grouping::max_active;
use super::runs::cells_at_once;
use super::session::Outputs;
use super::sets::{InnerProduct, largest_chosen_bytes, largest_chosen_cost};
use crate::circuit::numbers::bits_for;

/// [`super::SharesSession::largest_chosen`] of lists of this length.
pub fn largest_chosen(count: u64, each: usize, width: usize, outputs: Outputs) -> AlignmentCost {
    if each == 0 {
        return AlignmentCost::default();
    }
    let cost = largest_chosen_cost(each, width).and(match outputs {
        Outputs::Numbers => bits_cost(width),
        Outputs::AtLeast => sign_cost(width),
    });
    of_lists(count, largest_chosen_bytes(each, width), cost)
}

/// [`super::SharesSession::inner_products`].
pub fn inner_products(count: u64, size: InnerProduct) -> AlignmentCost {
    of_lists(count, size.bytes(), size.cost())
}

/// [`super::SharesSession::quotients`].
pub fn quotients(count: u64, divisor_bits: usize, bits: usize) -> AlignmentCost {
    let each = sign_bytes(divisor_bits + bits);
    of_lists(count, each, quotient_cost(divisor_bits, bits))
}

/// [`super::SharesSession::xor_from_additive`].
pub fn xor_from_additive(count: u64, bits: usize) -> AlignmentCost {
    of_lists(count, bits, bits_cost(bits))
}

/// [`super::SharesSession::additive_from_xor`].
pub fn additive_from_xor(count: u64, bits: usize) -> AlignmentCost {
    let of_bits: usize = (0..bits).map(|bit| BITS - bit).sum();
    let cost = GadgetCost {
        cots: bits,
        bits: of_bits,
        exchanges: 1,
    };
    of_lists(count, bits * (BITS - bits / 2 + 1) / 8 + 1, cost)
}

/// [`super::SharesSession::not_negative`].
pub fn not_negative(count: u64, bits: usize) -> AlignmentCost {
    of_lists(count, sign_bytes(bits), sign_cost(bits))
}

/// [`super::SharesSession::diagonal_runs`] in matrices of this shape, without the look-ups. `streams` is the number of
/// streams that are looked up in the same messages.
pub fn diagonal_runs(
    count: u64,
    [rows, columns]: [usize; 2],
    min_length: usize,
    streams: usize,
) -> AlignmentCost {
    let cells = rows.saturating_mul(columns);
    if cells == 0 || count == 0 {
        return AlignmentCost::default();
    }
    let bits = bits_for(cells as u64);
    let at_once = cells_at_once(streams, bits);
    let in_group = (at_once / cells).max(1) as u64;
    let groups = count.div_ceil(in_group);
    // As many lines as fit are computed together.
    let lines_at_once = (at_once / rows.max(columns)).clamp(1, rows.min(columns));
    let line_batches = rows.min(columns).div_ceil(lines_at_once) as u64;
    let bytes = at_once.max(rows.max(columns)) * streams.max(bits + 2) / 8;
    // Cells with an upper-left neighbour provide a factor of all products, and all cells are counted.
    let [cells, inner] =
        [cells, (rows - 1) * (columns - 1)].map(|cells| count.saturating_mul(cells as u64));
    let of_products = inner.saturating_mul(2 * (1 + min_length as u64));
    AlignmentCost {
        exchanges: groups
            .saturating_mul(line_batches)
            .saturating_mul(min_length as u64 + 1 + u64::from(streams > 0))
            .saturating_add(groups),
        in_flight: groups.min(max_active(bytes) as u64),
        transfers: inner.saturating_add(cells / 2),
        bytes: of_products.saturating_add(cells.saturating_mul(1 + bits as u64)) / 16,
        stream_blocks: 0,
    }
}

impl AlignmentCost {
    /// The cost of both, one after the other.
    pub fn then(self, other: Self) -> Self {
        Self {
            exchanges: self.exchanges.saturating_add(other.exchanges),
            in_flight: self.in_flight.max(other.in_flight),
            transfers: self.transfers.saturating_add(other.transfers),
            bytes: self.bytes.saturating_add(other.bytes),
            stream_blocks: self.stream_blocks.saturating_add(other.stream_blocks),
        }
    }
}

impl GadgetCost {
    fn and(self, other: Self) -> Self {
        Self {
            cots: self.cots + other.cots,
            bits: self.bits + other.bits,
            exchanges: self.exchanges + other.exchanges,
        }
    }
}

/// The cost of a comparison: a clamp without the final product.
fn sign_cost(width: usize) -> GadgetCost {
    let clamp = clamp_cost(width);
    GadgetCost {
        cots: clamp.cots - 2,
        bits: clamp.bits - 2 * (width + 2),
        exchanges: clamp.exchanges - 1,
    }
}

pub(super) fn quotient_cost(divisor_bits: usize, bits: usize) -> GadgetCost {
    let select = GadgetCost {
        cots: 2,
        bits: 2 * (1 + divisor_bits),
        exchanges: 1,
    };
    (0..bits).fold(GadgetCost::default(), |sum, bit| {
        let sum = sum.and(sign_cost(divisor_bits + bit));
        if bit > 0 { sum.and(select) } else { sum }
    })
}

/// The cost of converting a number to bits.
fn bits_cost(width: usize) -> GadgetCost {
    let mut cost = GadgetCost {
        cots: width,
        bits: 2 * width,
        exchanges: 1,
    };
    let mut distance = 1;
    while distance < width {
        cost = cost.and(GadgetCost {
            cots: 2 * (width - distance),
            bits: 6 * (width - distance),
            exchanges: 1,
        });
        distance *= 2;
    }
    cost
}

/// Bytes of a comparison in one message: one side sends about half of the carry tables.
fn sign_bytes(width: usize) -> usize {
    (5 * width / 2 + 14).div_ceil(8)
}

/// The cost of lists of `count` entries. Each entry costs `cost` and takes `each` bytes of a message.
fn of_lists(count: u64, each: usize, cost: GadgetCost) -> AlignmentCost {
    if count == 0 {
        return AlignmentCost::default();
    }
    let at_once = (TASK_BYTES / each.max(1)).max(1) as u64;
    let groups = count.div_ceil(at_once);
    let exchanges = groups.saturating_mul(cost.exchanges as u64);
    let in_group = usize::try_from(at_once.min(count)).unwrap_or(usize::MAX);
    AlignmentCost {
        exchanges,
        in_flight: groups.min(max_active(in_group.saturating_mul(each)) as u64),
        // A list takes a multiple of 64 transfers.
        transfers: (count.saturating_mul(cost.cots as u64) / 2)
            .saturating_add(exchanges.saturating_mul(32)),
        bytes: count.saturating_mul(cost.bits as u64) / 16,
        stream_blocks: 0,
    }
}
