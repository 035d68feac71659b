//! Sums by public keys and labels, and by labels that each side keeps secret.

use super::{OwnLabels, SecretNumbers, SharesSide, at_once, sums_by_label};
use crate::{ProtocolError, Role};
use veilpath_channel::Channel;
use veilpath_mpc::shares::Factors;
use veilpath_statistics::CrossMatrix;
use zeroize::Zeroizing;

/// The sum of this side's shares for each key.
pub(crate) fn sums_by_key(values: &[u64], keys: &[usize], count: usize) -> SecretNumbers {
    let mut sums = Zeroizing::new(vec![0u64; count]);
    for (value, key) in values.iter().zip(keys) {
        sums[*key] = sums[*key].wrapping_add(*value);
    }
    sums
}

/// The sum of this side's shares for each label of the host (rows) and of the joining side (columns), if both know all labels.
pub(crate) fn sums_by_published_labels(
    values: &CrossMatrix,
    [rows, columns]: [&[usize]; 2],
    counts: [usize; 2],
) -> SecretNumbers {
    let mut sums = Zeroizing::new(vec![0u64; counts[0] * counts[1]]);
    for (row, host) in rows.iter().enumerate() {
        for (column, join) in columns.iter().enumerate() {
            let sum = &mut sums[host * counts[1] + join];
            *sum = sum.wrapping_add(values.get(row, column).cast_unsigned());
        }
    }
    sums
}

impl<C: Channel> SharesSide<'_, C> {
    /// The sum over pairs of participants, for each label of the host (rows) and of the joining side (columns). `values` are this side's
    /// shares.
    ///
    /// A pair counts if its host label is g and its join label is h: Σ x_i·y_j·(v_i,j + v'_i,j) with bits x and y. The host's
    /// shares v are summed over i locally, and the sum for each j is multiplied by the joining side's bit; v' works the other
    /// way round.
    pub(crate) fn group_sums(
        &mut self,
        values: &CrossMatrix,
        own: &OwnLabels<'_>,
        their_count: usize,
    ) -> Result<SecretNumbers, ProtocolError> {
        let is_host = self.role == Role::Host;
        let (host_count, join_count) = match is_host {
            true => (own.count, their_count),
            false => (their_count, own.count),
        };
        let sums = sums_by_label(values, own.labels, own.count, is_host);
        let others = sums.first().map_or(0, |sums| sums.len());
        let mut cells = Zeroizing::new(vec![0u64; host_count * join_count]);
        let at_once = at_once(own.labels.len().max(others));
        for (part, cells) in cells.chunks_mut(at_once).enumerate() {
            let (mut bits, mut numbers) = (SecretNumbers::default(), SecretNumbers::default());
            bits.reserve_exact(cells.len() * own.labels.len());
            numbers.reserve_exact(cells.len() * others);
            for cell in (part * at_once..).take(cells.len()) {
                let (host, join) = (cell / join_count, cell % join_count);
                let label = if is_host { host } else { join };
                bits.extend(own.labels.iter().map(|own| u64::from(*own == label)));
                numbers.extend_from_slice(&sums[label]);
            }
            let factors = Factors {
                bits: &bits,
                numbers: &numbers,
            };
            let products = self.session.products(factors, self.channel)?;
            for (products, each) in [
                (&products.of_own_bits, own.labels.len()),
                (&products.of_own_numbers, others),
            ] {
                for (cell, products) in cells.iter_mut().zip(products.chunks(each.max(1))) {
                    *cell = products.iter().fold(*cell, |sum, x| sum.wrapping_add(*x));
                }
            }
        }
        Ok(cells)
    }
}
