//! Seed trees (Goldreich, Goldwasser and Micali): one side derives the whole tree, the other all of it except one leaf.
//!
//! Level l of a tree uses one base transfer, whose choice bit is the l-th bit of the missing leaf's number, highest bit
//! first. With choice 0 the receiver gets the sum of the right children (bit 1); with choice 1, of the left children.
//! On the first level, this is the node itself. Below it, the side with the punctured tree derives from the sum the one
//! node that it lacks.

use crate::block::Block;
use crate::kernel::Kernel;
use zeroize::{Zeroize, Zeroizing};

/// All leaves, and for each level below the first the two masked sums.
pub(crate) fn grow(
    kernel: Kernel,
    tree: usize,
    pairs: &[[Block; 2]],
) -> (Zeroizing<Vec<Block>>, Vec<Block>) {
    let mut corrections = Vec::new();
    let mut nodes = Zeroizing::new(Vec::new());
    for (level, [for_zero, for_one]) in pairs.iter().enumerate() {
        if level == 0 {
            nodes.extend([*for_one, *for_zero]);
            continue;
        }
        nodes = children(kernel, tree, level, &nodes);
        let [mut zeros, mut ones] = [Block::ZERO; 2];
        for pair in nodes.as_chunks::<2>().0 {
            zeros ^= pair[0];
            ones ^= pair[1];
        }
        corrections.extend([ones ^ *for_zero, zeros ^ *for_one]);
    }
    (nodes, corrections)
}

/// Derives all leaves again, from the two nodes of the first level.
pub(crate) fn regrow(
    kernel: Kernel,
    tree: usize,
    first: [Block; 2],
    levels: usize,
) -> Zeroizing<Vec<Block>> {
    let mut nodes = Zeroizing::new(first.to_vec());
    for level in 1..levels {
        nodes = children(kernel, tree, level, &nodes);
    }
    nodes
}

/// All leaves but the missing one. Leaf y is stored at index y ⊕ missing, so index 0 is empty. No address depends on
/// `missing`.
///
/// `keys` and `missing` are indexed by level, and `corrections` are those of [`grow`].
pub(crate) fn grow_punctured(
    kernel: Kernel,
    tree: usize,
    keys: &[Block],
    missing: &[bool],
    corrections: &[Block],
) -> Zeroizing<Vec<Block>> {
    grow_beside(kernel, tree, missing, |level, sum| {
        corrected(level, keys, missing, corrections) ^ sum
    })
}

/// For each level, the node beside the path to the missing leaf. [`regrow_punctured`] derives the leaves from these.
pub(crate) fn siblings(
    kernel: Kernel,
    tree: usize,
    keys: &[Block],
    missing: &[bool],
    corrections: &[Block],
) -> Zeroizing<Vec<Block>> {
    let mut siblings = Zeroizing::new(Vec::with_capacity(keys.len()));
    grow_beside(kernel, tree, missing, |level, sum| {
        let sibling = corrected(level, keys, missing, corrections) ^ sum;
        siblings.push(sibling);
        sibling
    });
    siblings
}

/// Derives the leaves of [`grow_punctured`] again.
pub(crate) fn regrow_punctured(
    kernel: Kernel,
    tree: usize,
    siblings: &[Block],
    missing: &[bool],
) -> Zeroizing<Vec<Block>> {
    grow_beside(kernel, tree, missing, |level, _| siblings[level])
}

/// The sum of a level's nodes on the side opposite the missing leaf.
fn corrected(level: usize, keys: &[Block], missing: &[bool], corrections: &[Block]) -> Block {
    if level == 0 {
        return keys[0];
    }
    let [for_zero, for_one] = [corrections[2 * level - 2], corrections[2 * level - 1]];
    keys[level] ^ for_zero ^ ((for_zero ^ for_one) & Block::mask(missing[level]))
}

/// Grows a tree beside the path to the missing leaf. `sibling` returns the node beside the path, given the sum of the
/// others on its side.
fn grow_beside(
    kernel: Kernel,
    tree: usize,
    missing: &[bool],
    mut sibling: impl FnMut(usize, Block) -> Block,
) -> Zeroizing<Vec<Block>> {
    let mut nodes = Zeroizing::new(Vec::new());
    for (level, missing) in missing.iter().enumerate() {
        if level == 0 {
            nodes.extend([Block::ZERO, sibling(0, Block::ZERO)]);
            continue;
        }
        nodes = children(kernel, tree, level, &nodes);
        let swap = Block::mask(*missing);
        let mut sum = Block::ZERO;
        for pair in nodes.as_chunks_mut::<2>().0.iter_mut().skip(1) {
            let difference = (pair[0] ^ pair[1]) & swap;
            pair[0] ^= difference;
            pair[1] ^= difference;
            sum ^= pair[1];
        }
        nodes[0] = Block::ZERO;
        nodes[1] = sibling(level, sum);
    }
    nodes
}

/// AES under the parent's seed. Tree and level are part of the plaintext, so a guessed seed can only be checked against
/// the nodes of one level.
fn children(kernel: Kernel, tree: usize, level: usize, nodes: &[Block]) -> Zeroizing<Vec<Block>> {
    let input = (tree as u128) << 16 | (level as u128) << 8;
    let mut keys: Vec<Block> = nodes.iter().flat_map(|node| [*node, *node]).collect();
    let mut children = Zeroizing::new(Vec::with_capacity(keys.len()));
    for _ in nodes {
        children.extend([Block::new(input), Block::new(input | 1)]);
    }
    kernel.encrypt_rekeyed(&keys, &mut children);
    keys.zeroize();
    children
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_punctured_tree_has_all_leaves_but_one() {
        let kernel = Kernel::best();
        for depth in 1..=8usize {
            for missing in [0, 1, (1 << depth) - 1, (1 << depth) / 3] {
                let pairs: Vec<[Block; 2]> = (0..depth as u128)
                    .map(|i| [Block::new(100 + i), Block::new(200 + i)])
                    .collect();
                let path: Vec<bool> = (0..depth)
                    .map(|level| missing >> (depth - 1 - level) & 1 == 1)
                    .collect();
                let keys: Vec<Block> = (0..depth).map(|l| pairs[l][usize::from(path[l])]).collect();
                let (leaves, corrections) = grow(kernel, 7, &pairs);
                let punctured = grow_punctured(kernel, 7, &keys, &path, &corrections);
                assert_eq!(leaves.len(), 1 << depth);
                assert_eq!(punctured.len(), 1 << depth);
                for index in 1..1 << depth {
                    assert_eq!(punctured[index], leaves[index ^ missing]);
                }
                assert_eq!(punctured[0], Block::ZERO);
                let first = [pairs[0][1], pairs[0][0]];
                assert_eq!(regrow(kernel, 7, first, depth), leaves);
                let siblings = siblings(kernel, 7, &keys, &path, &corrections);
                assert_eq!(regrow_punctured(kernel, 7, &siblings, &path), punctured);
            }
        }
    }
}
