//! Seed trees that the sides make for each other: one side gets whole trees, the other the same trees without a leaf of
//! its choice. Only the nodes needed to derive the leaves again are kept.

use super::gates::Gates;
use super::packing::{Reader, Writer, list_bytes};
use super::pool::{Demand, aligned_count};
use crate::block::{BLOCK_BYTES, Block};
use crate::error::MpcError;
use crate::kernel::Kernel;
use crate::ot::correlated::tree;
use zeroize::Zeroizing;

/// Trees that lack one leaf each, stored as the node beside the path to that leaf on each level.
pub(crate) struct PuncturedSeeds {
    levels: usize,
    siblings: Zeroizing<Vec<Block>>,
}

/// Whole trees, stored as the two nodes of the first level.
pub(crate) struct WholeSeeds {
    levels: usize,
    first: Zeroizing<Vec<[Block; 2]>>,
}

impl PuncturedSeeds {
    /// Concatenates several lists.
    pub(crate) fn joined(levels: usize, parts: &[Self]) -> Self {
        let count = parts.iter().map(|part| part.siblings.len()).sum();
        let mut siblings = Zeroizing::new(Vec::with_capacity(count));
        for part in parts {
            siblings.extend_from_slice(&part.siblings);
        }
        Self { levels, siblings }
    }

    pub(crate) fn levels(&self) -> usize {
        self.levels
    }

    /// The leaves of a tree. Leaf y is at index y ⊕ the missing leaf's number.
    pub(crate) fn leaves(
        &self,
        kernel: Kernel,
        tree: usize,
        missing: usize,
    ) -> Zeroizing<Vec<Block>> {
        let siblings = &self.siblings[tree * self.levels..(tree + 1) * self.levels];
        tree::regrow_punctured(kernel, tree, siblings, &path(missing, self.levels))
    }
}

impl WholeSeeds {
    /// Concatenates several lists.
    pub(crate) fn joined(levels: usize, parts: &[Self]) -> Self {
        let count = parts.iter().map(Self::count).sum();
        let mut first = Zeroizing::new(Vec::with_capacity(count));
        for part in parts {
            first.extend_from_slice(&part.first);
        }
        Self { levels, first }
    }

    pub(crate) fn levels(&self) -> usize {
        self.levels
    }

    /// The number of trees.
    pub(crate) fn count(&self) -> usize {
        self.first.len()
    }

    /// The leaves of a tree.
    pub(crate) fn leaves(&self, kernel: Kernel, tree: usize) -> Zeroizing<Vec<Block>> {
        tree::regrow(kernel, tree, self.first[tree], self.levels)
    }
}

/// The bits of a leaf's number, highest first.
fn path(leaf: usize, levels: usize) -> Zeroizing<Vec<bool>> {
    Zeroizing::new((0..levels).rev().map(|bit| leaf >> bit & 1 == 1).collect())
}

/// A request for some of the trees of a list.
pub(crate) struct SeedRequest<'a> {
    pub(crate) levels: usize,
    /// The index of the first tree in the list, the same for both sides.
    pub(crate) first: usize,
    /// The leaves that this side's trees will lack.
    pub(crate) own: &'a [usize],
    /// The number of trees that the other side requests.
    pub(crate) theirs: usize,
}

impl SeedRequest<'_> {
    /// The transfers of [`Gates::seeds`].
    pub(crate) fn demand(&self) -> Demand {
        Demand {
            sent: aligned_count(self.theirs * self.levels),
            received: aligned_count(self.own.len() * self.levels),
        }
    }

    /// Blocks of corrections for this many trees: two for each level but the first.
    fn corrections(&self, trees: usize) -> usize {
        trees * 2 * (self.levels - 1)
    }
}

impl Gates {
    /// Makes trees for both sides.
    pub(crate) async fn seeds(
        &self,
        kernel: Kernel,
        request: &SeedRequest<'_>,
    ) -> Result<(PuncturedSeeds, WholeSeeds), MpcError> {
        let SeedRequest {
            levels,
            first: first_tree,
            own,
            theirs,
        } = *request;
        let (keys, choices, pairs) = {
            let mut pool = self.pool.borrow_mut();
            let (choices, keys) = pool.receive_keys(own.len() * levels)?;
            (keys, choices, pool.send_keys(theirs * levels)?)
        };
        let bits = own
            .iter()
            .flat_map(|leaf| (0..levels).rev().map(move |bit| *leaf as u64 >> bit & 1));
        let mut message = Writer::with_capacity(list_bytes(keys.len(), 1));
        let choice = |at: usize| choices[at / 64] >> (at % 64) & 1;
        message.numbers(bits.enumerate().map(|(at, bit)| bit ^ choice(at)), 1);
        let expected = list_bytes(pairs.len(), 1);
        let answer = self.rounds.exchange(message.finish(), expected).await;
        let swaps = Reader::new(&answer).numbers(pairs.len(), 1)?;
        let mut first = Zeroizing::new(Vec::with_capacity(theirs));
        let mut message = Writer::with_capacity(request.corrections(theirs) * BLOCK_BYTES);
        let pairs = pairs.chunks_exact(levels).zip(swaps.chunks_exact(levels));
        for (number, (pairs, swaps)) in pairs.enumerate() {
            let ordered = pairs.iter().zip(swaps).map(|(pair, swap)| {
                let difference = (pair[0] ^ pair[1]) & Block::mask(*swap == 1);
                [pair[0] ^ difference, pair[1] ^ difference]
            });
            let ordered: Zeroizing<Vec<[Block; 2]>> = Zeroizing::new(ordered.collect());
            let (_, corrections) = tree::grow(kernel, first_tree + number, &ordered);
            first.push([ordered[0][1], ordered[0][0]]);
            for block in corrections {
                message.bytes(&block.to_bytes());
            }
        }
        let expected = request.corrections(own.len()) * BLOCK_BYTES;
        let answer = self.rounds.exchange(message.finish(), expected).await;
        let (corrections, _) = answer.as_chunks::<BLOCK_BYTES>();
        let corrections: Vec<Block> = corrections.iter().map(|b| Block::from_bytes(*b)).collect();
        let mut siblings = Zeroizing::new(Vec::with_capacity(own.len() * levels));
        let each = request.corrections(1);
        for (number, (leaf, keys)) in own.iter().zip(keys.chunks_exact(levels)).enumerate() {
            let corrections = &corrections[number * each..(number + 1) * each];
            let path = path(*leaf, levels);
            let tree = first_tree + number;
            siblings.extend_from_slice(&tree::siblings(kernel, tree, keys, &path, corrections));
        }
        Ok((
            PuncturedSeeds { levels, siblings },
            WholeSeeds { levels, first },
        ))
    }
}
