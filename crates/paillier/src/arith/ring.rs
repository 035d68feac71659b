//! `Z/m²` with the kernels that compute in it.

use core::ops::Range;

use crypto_bigint::{BoxedUint, NonZero};
use zeroize::Zeroizing;

#[cfg(target_arch = "x86_64")]
use super::ifma::Ifma;
use super::kernel::{BatchKernel, Kernel};
use super::limbs;
use super::memory::Words;
use super::portable::Portable;
use super::residue::Residue;

/// The ring `Z/m²`.
pub(crate) struct Ring {
    modulus: Zeroizing<NonZero<BoxedUint>>,
    modulus_words: Words,
    portable: Portable,
    #[cfg(target_arch = "x86_64")]
    ifma: Option<Ifma>,
}

/// The kernel for the next few items.
pub(super) enum KernelRef<'a> {
    #[cfg(target_arch = "x86_64")]
    Ifma(&'a Ifma),
    Portable(&'a Portable),
}

/// Runs the same generic code on whichever kernel is selected.
macro_rules! with_kernel {
    ($kernel_ref:expr, $kernel:ident => $body:expr) => {
        match $kernel_ref {
            #[cfg(target_arch = "x86_64")]
            $crate::arith::ring::KernelRef::Ifma($kernel) => $body,
            $crate::arith::ring::KernelRef::Portable($kernel) => $body,
        }
    };
}
pub(super) use with_kernel;

impl Ring {
    /// `None` for an even modulus, or for a kernel that this CPU does not support.
    pub(crate) fn new(modulus: &BoxedUint, kernel: Kernel) -> Option<Self> {
        let words = (modulus.bits() as usize).div_ceil(64);
        let modulus_words = limbs::from_uint(modulus, words);
        if modulus_words.first().is_none_or(|word| word & 1 == 0) || !kernel.is_available() {
            return None;
        }
        let modulus = Zeroizing::new(Option::from(limbs::to_uint(&modulus_words).into_nz())?);
        Some(Self {
            modulus,
            portable: Portable::new(&modulus_words)?,
            #[cfg(target_arch = "x86_64")]
            ifma: match kernel {
                Kernel::Ifma => Ifma::new(&modulus_words),
                Kernel::Portable => None,
            },
            modulus_words,
        })
    }

    /// `m`.
    pub(crate) fn modulus(&self) -> &NonZero<BoxedUint> {
        &self.modulus
    }

    /// 64-bit words of `m`, and of each digit.
    pub(crate) fn words(&self) -> usize {
        self.modulus_words.len()
    }

    pub(crate) fn modulus_words(&self) -> &[u64] {
        &self.modulus_words
    }

    pub(crate) fn kernel(&self) -> Kernel {
        match self.wide_kernel() {
            #[cfg(target_arch = "x86_64")]
            KernelRef::Ifma(_) => Kernel::Ifma,
            KernelRef::Portable(_) => Kernel::Portable,
        }
    }

    /// Splits `value < m²` into digits. Constant time in the value.
    pub(crate) fn residue(&self, value: &BoxedUint) -> Residue {
        Residue::from_uint(value, &self.modulus, self.words())
    }

    /// The element with these two digits, each below `m`.
    pub(crate) fn residue_of_digits(&self, low: &BoxedUint, high: &BoxedUint) -> Residue {
        Residue::from_digits(
            &limbs::from_uint(low, self.words()),
            &limbs::from_uint(high, self.words()),
        )
    }

    /// The element as a number below `m²`.
    pub(crate) fn joined(&self, residue: &Residue) -> Words {
        residue.joined(&self.modulus_words)
    }

    /// The kernel for single residues.
    pub(super) fn portable(&self) -> &Portable {
        &self.portable
    }

    /// The kernel for full batches, and for tables.
    pub(super) fn wide_kernel(&self) -> KernelRef<'_> {
        #[cfg(target_arch = "x86_64")]
        if let Some(ifma) = &self.ifma {
            return KernelRef::Ifma(ifma);
        }
        KernelRef::Portable(&self.portable)
    }

    /// Distributes `count` items over the kernels. A single remaining item is faster alone than in a batch of eight.
    pub(super) fn kernels_for(
        &self,
        count: usize,
    ) -> impl Iterator<Item = (Range<usize>, KernelRef<'_>)> {
        let mut next = 0;
        core::iter::from_fn(move || {
            let left = count - next;
            if left == 0 {
                return None;
            }
            let kernel = if left == 1 {
                KernelRef::Portable(&self.portable)
            } else {
                self.wide_kernel()
            };
            let lanes = kernel.lanes().min(left);
            next += lanes;
            Some((next - lanes..next, kernel))
        })
    }
}

impl KernelRef<'_> {
    fn lanes(&self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Ifma(_) => Ifma::LANES,
            Self::Portable(_) => Portable::LANES,
        }
    }
}
