//! Products of pairs, and of many.

use super::kernel::BatchKernel;
use super::residue::Residue;
use super::ring::{Ring, with_kernel};

impl Ring {
    /// `aᵢ·bᵢ` for each pair.
    pub(crate) fn multiply(&self, pairs: &[(&Residue, &Residue)]) -> Vec<Residue> {
        let mut out = Vec::with_capacity(pairs.len());
        for (range, turn) in self.turns(pairs.len()) {
            with_kernel!(turn, kernel => multiply_batch(kernel, &pairs[range], &mut out));
        }
        out
    }

    /// The product of all factors; 1 if there are none.
    pub(crate) fn product(&self, factors: &[&Residue]) -> Residue {
        // A tree: the pairs of each level fill the lanes.
        let mut level: Vec<Residue> = factors.iter().map(|&factor| factor.clone()).collect();
        while level.len() > 1 {
            let odd = if level.len() % 2 == 1 {
                level.pop()
            } else {
                None
            };
            let pairs: Vec<_> = level
                .chunks_exact(2)
                .map(|pair| (&pair[0], &pair[1]))
                .collect();
            let mut next = self.multiply(&pairs);
            next.extend(odd);
            level = next;
        }
        level.pop().unwrap_or_else(|| Residue::one(self.words()))
    }
}

fn multiply_batch<K: BatchKernel>(
    kernel: &K,
    pairs: &[(&Residue, &Residue)],
    out: &mut Vec<Residue>,
) {
    let mut scratch = kernel.scratch();
    let (left, right): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    let mut element = kernel.load(&left);
    // One factor inside the Montgomery domain and one outside leave the product outside.
    kernel.enter_montgomery(&mut element, &mut scratch);
    kernel.multiply(&mut element, &kernel.load(&right), &mut scratch);
    out.extend(kernel.store(&element, pairs.len()));
}
