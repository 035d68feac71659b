//! Products of pairs, and of many.

use crypto_bigint::Gcd;

use super::kernel::BatchKernel;
use super::limbs;
use super::residue::Residue;
use super::ring::{Ring, with_kernel};

impl Ring {
    /// `aᵢ·bᵢ` for each pair.
    pub(crate) fn multiply(&self, pairs: &[(&Residue, &Residue)]) -> Vec<Residue> {
        let mut out = Vec::with_capacity(pairs.len());
        for (range, kernel_ref) in self.kernels_for(pairs.len()) {
            with_kernel!(kernel_ref, kernel => multiply_batch(kernel, &pairs[range], &mut out));
        }
        out
    }

    /// Whether all elements have an inverse. One greatest common divisor serves all. The Montgomery radix that each
    /// product leaves behind does not matter, because it is coprime to the modulus.
    pub(crate) fn all_have_inverses_vartime(&self, elements: &[&Residue]) -> bool {
        let parts = with_kernel!(self.wide_kernel(), kernel => loose_product(kernel, elements));
        let parts: Vec<&Residue> = parts.iter().collect();
        let product = loose_product(self.portable(), &parts);
        let has_inverse = |element: &Residue| {
            let divisor = limbs::to_uint(element.low()).gcd_vartime(self.modulus().as_ref());
            bool::from(divisor.is_one())
        };
        product.iter().all(has_inverse)
    }

    /// The product of all factors; 1 if there are none.
    pub(crate) fn product(&self, factors: &[&Residue]) -> Residue {
        // A tree, so that the pairs of each level fill the lanes.
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

/// The product of all factors, in as many parts as there are lanes, up to powers of the Montgomery radix.
fn loose_product<K: BatchKernel>(kernel: &K, factors: &[&Residue]) -> Vec<Residue> {
    let mut scratch = kernel.scratch();
    let mut rows = factors.chunks(K::LANES);
    let mut product = kernel.load(rows.next().unwrap_or_default());
    for row in rows {
        kernel.multiply(&mut product, &kernel.load(row), &mut scratch);
    }
    kernel.store(&product, K::LANES)
}

fn multiply_batch<K: BatchKernel>(
    kernel: &K,
    pairs: &[(&Residue, &Residue)],
    out: &mut Vec<Residue>,
) {
    let mut scratch = kernel.scratch();
    let (left, right): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    let mut element = kernel.load(&left);
    // The product of a factor inside the Montgomery domain and one outside is outside.
    kernel.enter_montgomery(&mut element, &mut scratch);
    kernel.multiply(&mut element, &kernel.load(&right), &mut scratch);
    out.extend(kernel.store(&element, pairs.len()));
}
