//! Estimates the cost of a group answer, apart from the comparisons.

use super::{COMPARED_AT_ONCE, at_once, sorting_network};
use crate::engines::alignment::private_metric::PrivateMetric;
use crate::estimate::JobCosts;
use crate::{Estimate, GroupQuestion, Link, TreeLevels, Workload};
use veilpath_metrics::Comparison;
use veilpath_mpc::shares::costs::{BATCH, batch_bytes, batches, start_bytes};

/// The size of a question about groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupWorkload {
    /// Participants of the host and of the joining side.
    pub participants: [u64; 2],
    /// Groups of both sides.
    pub groups: u64,
    /// All pairs of scanpaths, including those already compared.
    pub pairs: u64,
    /// Scanpaths of the host in these pairs.
    pub queries: u64,
}

/// Seconds, with both sides on the two cores of one machine with AES instructions. `veilpath bench groups` measures them.
mod seconds {
    /// Generating and using a transfer, on both sides.
    pub(super) const PER_TRANSFER: f64 = 60e-9;
    /// Adding a value to the sum of a permutation.
    pub(super) const PER_TERM: f64 = 1e-9;
    /// Base transfers of both directions.
    pub(super) const START: f64 = 0.06;
}

/// The approximate bits of a value.
const VALUE_BITS: u64 = 40;

/// Rounds before the computation. A round of base transfers takes a whole round trip and counts twice.
const START_WAITS: u64 = 6;

/// Rounds in which an answer is opened.
const OPENING_WAITS: u64 = 4;

/// Operations on lists of secret-shared numbers; traffic is the same in both directions.
#[derive(Default)]
struct Operations {
    transfers: u64,
    bits: u64,
    rounds: u64,
    terms: u64,
}

impl Operations {
    /// From XOR-shared bits to additive shares.
    fn lift(&mut self, count: u64, bits: u64) {
        self.transfers += count * bits.div_ceil(2);
        self.bits += count * bits * (65 - bits / 2) / 2;
        self.rounds += 1;
    }

    fn products(&mut self, count: u64) {
        self.transfers += count;
        self.bits += count * 65;
        self.rounds += 2;
    }

    fn signs(&mut self, count: u64, bits: u64) {
        self.transfers += count * bits * 3 / 4;
        self.bits += count * (5 * bits / 2 + 14);
        let parts = count.div_ceil(COMPARED_AT_ONCE as u64);
        self.rounds += parts * (2 + u64::from(bits.max(2).ilog2()));
    }

    /// Selecting numbers by secret-shared bits.
    fn select(&mut self, count: u64, bits: u64) {
        self.transfers += count;
        self.bits += count * (bits + 1);
        self.rounds += 1;
    }
}

impl GroupQuestion {
    /// Estimates a question on a connection.
    #[allow(clippy::cast_precision_loss)] // an estimate
    pub(crate) fn estimate(
        self,
        comparison: &Comparison,
        work: &Workload,
        link: &Link,
        levels: TreeLevels,
    ) -> Estimate {
        let Some(group) = work.group else {
            return Estimate::default();
        };
        let operations = self.operations(comparison, work, &group);
        let tree_levels = levels.of_transfers();
        let batches = batches(operations.transfers);
        let bytes = operations.bits.div_ceil(8)
            + batches.saturating_mul(batch_bytes(tree_levels))
            + start_bytes(tree_levels);
        let made = batches.saturating_mul(BATCH);
        JobCosts {
            bytes_to_host: bytes,
            bytes_to_join: bytes,
            waits: START_WAITS + OPENING_WAITS + operations.rounds,
            exchanges: 0,
            one_way: true,
            in_flight: 1.0,
            setup: seconds::START,
            computing: made as f64 * seconds::PER_TRANSFER
                + operations.terms as f64 * seconds::PER_TERM,
        }
        .on(link)
    }

    fn operations(
        self,
        comparison: &Comparison,
        work: &Workload,
        group: &GroupWorkload,
    ) -> Operations {
        let padding = work.padded.then_some(1);
        let scoring = PrivateMetric::new(comparison.model(), comparison.alphabet().size(), padding);
        let (rows, columns) = work.mean_matrix();
        let [rows, columns] =
            [rows, columns].map(|it| u32::try_from(it.max(1)).unwrap_or(u32::MAX));
        let number_bits = scoring.full_bits(rows, columns) as u64;
        let [host, join] = group.participants;
        let (more, crossed) = (host.max(join), host.saturating_mul(join));
        let sum_bits = VALUE_BITS + u64::from((group.pairs | 1).ilog2()) + 2;
        let mut operations = Operations::default();
        operations.lift(group.pairs, number_bits);
        let permutations = u64::from(self.permutations().unwrap_or(0));
        match self {
            Self::Mean { .. } => {}
            Self::Groups { published: true } => {}
            Self::Groups { published: false } => {
                operations.products(group.groups * group.groups / 4 * more)
            }
            Self::TestSites { .. } => {
                let all = (host + join).saturating_mul(host + join) / 2;
                operations.terms += permutations.saturating_mul(all);
                operations.signs(permutations, sum_bits);
                operations.lift(permutations, 1);
            }
            Self::TestGroups {
                published: true, ..
            } => {
                operations.terms += permutations.saturating_mul(crossed);
                operations.signs(permutations, sum_bits);
                operations.lift(permutations, 1);
            }
            Self::TestGroups {
                published: false, ..
            } => {
                let others = group.groups.div_ceil(2).saturating_sub(1).max(1);
                operations.terms += permutations
                    .saturating_mul(crossed)
                    .saturating_mul(others + 1);
                operations.products((permutations + 1) * others * more);
                operations.signs(permutations, sum_bits);
                operations.lift(permutations, 1);
            }
            Self::Nearest { k, .. } => {
                let references = group.pairs.div_ceil(group.queries.max(1));
                let references = usize::try_from(references)
                    .unwrap_or(usize::MAX)
                    .min(1 << 16);
                let groups = group.groups.div_ceil(2).max(1);
                for layer in sorting_network::layers(references, k as usize) {
                    let count = layer.len() as u64 * group.queries;
                    operations.signs(count, VALUE_BITS + 8);
                    operations.select(count, 64);
                    operations.select(count, groups);
                }
                let votes = u64::from(k) * groups;
                operations.lift(group.queries * votes, 1);
                let queries_at_once = at_once(usize::try_from(votes).unwrap_or(usize::MAX));
                operations.rounds += group.queries / queries_at_once as u64;
                for _ in 1..groups {
                    operations.signs(group.queries, 8);
                    operations.select(2 * group.queries, 64);
                }
            }
            Self::Histogram { bins } => {
                let edges = u64::from(bins).saturating_sub(1);
                operations.signs(group.pairs * edges, VALUE_BITS);
                operations.lift(group.pairs * edges, 1);
                let present = (host + join) * u64::from(bins);
                operations.signs(present, u64::from((group.pairs | 1).ilog2()) + 2);
                operations.lift(present, 1);
                operations.rounds += u64::from(bins) * 8;
            }
        }
        operations
    }
}
