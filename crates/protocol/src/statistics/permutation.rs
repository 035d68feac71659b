//! Permutation tests: the observed statistic, and how many permutations reach it.

use super::{OwnLabels, SecretNumbers, SharesSide, at_once, sums_by_label};
use crate::{ProtocolError, Role};
use veilpath_channel::Channel;
use veilpath_mpc::shares::Factors;
use veilpath_statistics::{Coins, Contrast, CrossMatrix, CrossTest, LabelTest, PairMatrix};
use zeroize::Zeroizing;

/// Shares of the opened numbers of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TestShares {
    /// The integer statistic of [`Contrast::statistic`] of shifted sums, modulo 2⁶⁴.
    pub(crate) statistic: u64,
    /// How many permutations have at least the observed statistic.
    pub(crate) count: u64,
}

/// The permutations of a test.
pub(crate) struct Permutations<'a> {
    pub(crate) coins: &'a Coins,
    pub(crate) count: u64,
    /// Sums that differ by at most this count as equal.
    pub(crate) tolerance: u64,
    /// Sums of values lie between −2^`sum_bits` and 2^`sum_bits`.
    pub(crate) sum_bits: usize,
    /// How many low bits are dropped from the observed sums before they are multiplied by the contrast's coefficients.
    pub(crate) statistic_shift: u32,
}

impl<C: Channel> SharesSide<'_, C> {
    /// The test of sites. `values` has this side's shares for all pairs of participants of both sites: the value itself for pairs within
    /// this site, 0 for pairs within the other.
    pub(crate) fn test_of_sites(
        &mut self,
        test: &LabelTest,
        values: &PairMatrix,
        permutations: &Permutations<'_>,
    ) -> Result<TestShares, ProtocolError> {
        let sum = |labels: &[usize]| LabelTest::sum_wrapping(values, labels);
        let observed = sum(test.labels())?;
        let mut permuted = Zeroizing::new(Vec::new());
        for index in 0..permutations.count {
            let labels = test.permuted(permutations.coins, index);
            permuted.push(sum(&labels)?.cast_unsigned());
        }
        let all = values.values().iter();
        let all = all.fold(0, |sum: i64, value| sum.wrapping_add(*value));
        let observed = [observed, all].map(i64::cast_unsigned);
        self.finish(test.contrast(), observed, &permuted, permutations)
    }

    /// The test of groups with public labels. All sums are local.
    pub(crate) fn test_of_published_groups(
        &mut self,
        test: &CrossTest,
        values: &CrossMatrix,
        permutations: &Permutations<'_>,
    ) -> Result<TestShares, ProtocolError> {
        let same = CrossTest::sum_wrapping(values, test.labels())?;
        let mut permuted = Zeroizing::new(Vec::new());
        for index in 0..permutations.count {
            let [rows, columns] = test.permuted(permutations.coins, index);
            let sum = CrossTest::sum_wrapping(values, [&rows, &columns])?;
            permuted.push(sum.cast_unsigned());
        }
        let all = values.values().iter();
        let all = all.fold(0, |sum: i64, value| sum.wrapping_add(*value));
        let observed = [same, all].map(i64::cast_unsigned);
        self.finish(test.contrast(), observed, &permuted, permutations)
    }

    /// The test of groups with labels that each side keeps secret. Both sides number the groups in the same way.
    pub(crate) fn test_of_groups(
        &mut self,
        contrast: Contrast,
        values: &CrossMatrix,
        own: &OwnLabels<'_>,
        permutations: &Permutations<'_>,
    ) -> Result<TestShares, ProtocolError> {
        let all = values.values().iter();
        let all = all.fold(0, |sum: i64, value| sum.wrapping_add(*value));
        let mut sums = Zeroizing::new(Vec::new());
        // First the observed labels, then those of all permutations.
        let observed = self.same_sums(values, &[own.labels.to_vec()], own.count)?;
        let at_once = at_once(own.count * values.rows().max(values.columns()));
        for first in (0..permutations.count).step_by(at_once) {
            let last = permutations.count.min(first + at_once as u64);
            let sizes = [values.rows(), values.columns()];
            let labels: Vec<Vec<usize>> = (first..last)
                .map(|index| {
                    let [host, join] = permutations.coins.permutations(index, sizes);
                    let order = match self.role {
                        Role::Host => host,
                        Role::Join => join,
                    };
                    order.iter().map(|&at| own.labels[at]).collect()
                })
                .collect();
            sums.extend_from_slice(&self.same_sums(values, &labels, own.count)?);
        }
        let observed = [observed[0], all.cast_unsigned()];
        self.finish(contrast, observed, &sums, permutations)
    }

    /// For each list of this side's labels, the sum over pairs of participants with the same label.
    ///
    /// A participant has exactly one label, so the sum of y_g·u_g over all labels g is u_0 plus the sum of y_g·(u_g − u_0) over all but
    /// the first, which saves one product.
    fn same_sums(
        &mut self,
        values: &CrossMatrix,
        lists: &[Vec<usize>],
        count: usize,
    ) -> Result<SecretNumbers, ProtocolError> {
        let is_host = self.role == Role::Host;
        let (own_size, their_size) = match is_host {
            true => (values.rows(), values.columns()),
            false => (values.columns(), values.rows()),
        };
        let others = count.saturating_sub(1);
        let mut bits = Zeroizing::new(Vec::with_capacity(lists.len() * others * own_size));
        let mut numbers = Zeroizing::new(Vec::with_capacity(lists.len() * others * their_size));
        let mut sums = Zeroizing::new(vec![0u64; lists.len()]);
        for (labels, sum) in lists.iter().zip(sums.iter_mut()) {
            let by_label = sums_by_label(values, labels, count, is_host);
            *sum = by_label[0].iter().fold(0, |sum, x| sum.wrapping_add(*x));
            for label in 1..count {
                bits.extend(labels.iter().map(|own| u64::from(*own == label)));
                let differences = by_label[label].iter().zip(by_label[0].iter());
                numbers.extend(differences.map(|(this, first)| this.wrapping_sub(*first)));
            }
        }
        let factors = Factors {
            bits: &bits,
            numbers: &numbers,
        };
        let products = self.session.products(factors, self.channel)?;
        for (products, each) in [
            (&products.of_own_bits, others * own_size),
            (&products.of_own_numbers, others * their_size),
        ] {
            for (sum, products) in sums.iter_mut().zip(products.chunks(each.max(1))) {
                *sum = products.iter().fold(*sum, |sum, x| sum.wrapping_add(*x));
            }
        }
        Ok(sums)
    }

    /// Compares the permuted sums with the observed one.
    fn finish(
        &mut self,
        contrast: Contrast,
        [same, all]: [u64; 2],
        permuted: &[u64],
        permutations: &Permutations<'_>,
    ) -> Result<TestShares, ProtocolError> {
        let threshold = same.wrapping_sub(self.public(permutations.tolerance.cast_signed()));
        let differences = permuted.iter().map(|sum| sum.wrapping_sub(threshold));
        let differences: SecretNumbers = Zeroizing::new(differences.collect());
        let reached = self.count_not_negative(&differences, permutations.sum_bits + 1)?;
        let [same_coefficient, different_coefficient] = contrast.coefficients();
        let sums = [same, all.wrapping_sub(same)];
        let sums = self.shifted(&sums, permutations.statistic_shift)?;
        Ok(TestShares {
            statistic: same_coefficient
                .wrapping_mul(sums[0])
                .wrapping_sub(different_coefficient.wrapping_mul(sums[1])),
            count: reached.iter().fold(0, |sum, x| sum.wrapping_add(*x)),
        })
    }
}
