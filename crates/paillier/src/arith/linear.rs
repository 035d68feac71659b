//! Multiplication by a fixed number, and addition: how elements move from one modulus to another.
//!
//! A constant-time division costs as much as dozens of products, so remainders are computed without one: the pieces of
//! a number are multiplied by their place values and added up.

#[cfg(target_arch = "x86_64")]
use super::ifma::{self, Ifma};
use super::kernel::BatchKernel;
use super::portable::{self, Portable};
use super::residue::Residue;
#[cfg(target_arch = "x86_64")]
use super::ring::KernelRef;
use super::ring::Ring;

/// A number that many residues are multiplied by, ready for each kernel that may be selected.
pub(crate) struct Factor {
    portable: portable::Element,
    #[cfg(target_arch = "x86_64")]
    ifma: Option<ifma::Element>,
}

impl Ring {
    pub(crate) fn factor(&self, value: &Residue) -> Factor {
        Factor {
            portable: spread(self.portable(), value),
            #[cfg(target_arch = "x86_64")]
            ifma: match self.wide_kernel() {
                KernelRef::Ifma(kernel) => Some(spread(kernel, value)),
                KernelRef::Portable(_) => None,
            },
        }
    }

    /// Each residue times the factor.
    pub(crate) fn scale(&self, residues: &[Residue], factor: &Factor) -> Vec<Residue> {
        let mut out = Vec::with_capacity(residues.len());
        for (range, kernel_ref) in self.kernels_for(residues.len()) {
            let batch = &residues[range];
            match (kernel_ref, factor) {
                #[cfg(target_arch = "x86_64")]
                (KernelRef::Ifma(kernel), Factor { ifma: Some(f), .. }) => {
                    scale_batch::<Ifma>(kernel, batch, f, &mut out);
                }
                // A factor of this ring has what the ring's kernels need, and the portable kernel always works.
                _ => {
                    for residue in batch {
                        let (kernel, one) = (self.portable(), core::slice::from_ref(residue));
                        scale_batch::<Portable>(kernel, one, &factor.portable, &mut out);
                    }
                }
            }
        }
        out
    }

    /// `sums[i] += residues[i]·factor`.
    pub(crate) fn add_scaled(&self, sums: &mut [Residue], residues: &[Residue], factor: &Factor) {
        for (sum, term) in sums.iter_mut().zip(self.scale(residues, factor)) {
            sum.add(&term, self.modulus_words());
        }
    }

    /// The element with the value of `words`. There are at most as many words as in the modulus, whose highest bit is
    /// set.
    pub(crate) fn residue_of_words(&self, words: &[u64]) -> Residue {
        Residue::from_words(words, self.modulus_words())
    }
}

fn spread<K: BatchKernel>(kernel: &K, value: &Residue) -> K::Element {
    let mut element = kernel.load(&vec![value; K::LANES]);
    kernel.enter_montgomery(&mut element, &mut kernel.scratch());
    element
}

fn scale_batch<K: BatchKernel>(
    kernel: &K,
    residues: &[Residue],
    factor: &K::Element,
    out: &mut Vec<Residue>,
) {
    let mut element = kernel.load(&residues.iter().collect::<Vec<_>>());
    kernel.multiply(&mut element, factor, &mut kernel.scratch());
    out.extend(kernel.store(&element, residues.len()));
}
