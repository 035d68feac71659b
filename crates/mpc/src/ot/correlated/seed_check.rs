//! The seed tree check: the sender's leaves must be those that the receiver has.
//!
//! The receiver hashes every leaf to 32 bytes h_y. It sends the sum of the h_y of each tree and one hash over those of
//! all trees. The sender computes its own h_y, gets the one of the missing leaf from the sum, and compares. (This is
//! the check of the puncturable function in SoftSpoken, with SHA-256 as the hash.)
//!
//! The hash fixes all h_y before the sender's offset matters, and each h_y fixes a leaf. A receiver that corrects a
//! tree wrongly gives the sender other leaves for some values of the offset, and for these the check fails. So the
//! check passes for a set of offsets that the receiver can know. If this set has a fraction s of all offsets, the
//! receiver is caught with probability 1 − s: it guesses, and a wrong guess ends the session. If two or more values of
//! a group remain, the sender knows each leaf of the tree for at least one of them, so all leaves are fixed, and the
//! receiver continues like one with these leaves. If only one value remains, the receiver has guessed the group.
//!
//! The sender learns h of the missing leaf, which is a random value: the leaf itself appears in no other hash.

use crate::block::{BLOCK_BYTES, Block};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

type LeafHash = [Block; 2];

/// Both sides' hash over all trees.
pub(super) struct SeedCheck {
    all: Sha256,
}

fn hash_leaf(tree: usize, number: usize, leaf: Block) -> LeafHash {
    let mut digest = Sha256::new();
    digest.update(b"veilpath seed, version 1");
    digest.update((tree as u32).to_le_bytes());
    digest.update((number as u32).to_le_bytes());
    digest.update(leaf.to_bytes());
    let hash: [u8; 32] = digest.finalize().into();
    let (halves, _) = hash.as_chunks::<BLOCK_BYTES>();
    [Block::from_bytes(halves[0]), Block::from_bytes(halves[1])]
}

fn sum<'a>(hashes: impl IntoIterator<Item = &'a LeafHash>) -> LeafHash {
    hashes.into_iter().fold(LeafHash::default(), |sum, hash| {
        [sum[0] ^ hash[0], sum[1] ^ hash[1]]
    })
}

impl SeedCheck {
    pub(super) fn new() -> Self {
        Self {
            all: Sha256::new_with_prefix(b"veilpath seeds, version 1"),
        }
    }

    fn add(&mut self, hashes: &[LeafHash]) {
        for half in hashes.as_flattened() {
            self.all.update(half.to_bytes());
        }
    }

    /// Adds a tree whose leaves are all known. Returns the sum that the other side needs.
    pub(super) fn add_whole(&mut self, tree: usize, leaves: &[Block]) -> LeafHash {
        let leaves = leaves.iter().enumerate();
        let hashes = leaves.map(|(number, leaf)| hash_leaf(tree, number, *leaf));
        let hashes = Zeroizing::new(hashes.collect::<Vec<_>>());
        self.add(&hashes);
        sum(hashes.iter())
    }

    /// Adds a tree without the leaf number `missing`. Leaf y is stored at index y ⊕ `missing`, so index 0 is empty. No
    /// address depends on `missing`.
    pub(super) fn add_punctured(
        &mut self,
        tree: usize,
        leaves: &[Block],
        missing: usize,
        sum_of_all: LeafHash,
    ) {
        let leaves = leaves.iter().enumerate();
        let hashes = leaves.map(|(index, leaf)| hash_leaf(tree, index ^ missing, *leaf));
        let mut hashes = Zeroizing::new(hashes.collect::<Vec<_>>());
        let sum_of_known = sum(hashes.iter().skip(1));
        if let Some(first) = hashes.first_mut() {
            *first = sum([&sum_of_known, &sum_of_all]);
        }
        // From indices to leaf numbers: for every bit of `missing` that is set, all pairs that differ in that bit are
        // swapped.
        for level in 0..hashes.len().ilog2() {
            let distance = 1 << level;
            // Hidden from the compiler, which would turn a loop-invariant condition into a branch.
            let bit = std::hint::black_box((missing >> level) as u64 & 1);
            let swap = Block::from_words([bit.wrapping_neg(); 2]);
            for pair in hashes.chunks_exact_mut(2 * distance) {
                let (left, right) = pair.as_flattened_mut().split_at_mut(2 * distance);
                for (left, right) in left.iter_mut().zip(right) {
                    let difference = (*left ^ *right) & swap;
                    *left ^= difference;
                    *right ^= difference;
                }
            }
        }
        self.add(&hashes);
    }

    /// The hash over all trees, for the receiver to send.
    pub(super) fn hash(self) -> [u8; 32] {
        self.all.finalize().into()
    }

    /// Whether the other side's hash is the same. Constant-time, and one answer for all trees.
    pub(super) fn accepts(self, hash: &[u8]) -> bool {
        bool::from(self.hash()[..].ct_eq(hash))
    }
}
