//! What the algorithms require of a kernel, and the kernels that exist.

use super::residue::Residue;

/// The implementation of the arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Kernel {
    /// Eight residues at a time with AVX-512 IFMA.
    Ifma,
    /// One residue at a time with 64-bit words, on any CPU.
    Portable,
}

impl Kernel {
    /// The fastest kernel that this CPU can run.
    pub fn detect() -> Self {
        if Self::Ifma.is_available() {
            Self::Ifma
        } else {
            Self::Portable
        }
    }

    /// Whether this CPU can run the kernel.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Ifma => super::ifma::Ifma::is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Ifma => false,
            Self::Portable => true,
        }
    }

    /// All kernels that this CPU can run, the fastest first.
    pub fn all_available() -> Vec<Self> {
        [Self::Ifma, Self::Portable]
            .into_iter()
            .filter(|kernel| kernel.is_available())
            .collect()
    }
}

/// One window of the exponent of each lane. A kernel with fewer lanes reads only the first ones.
pub(crate) type Digits = [u64; 8];

/// Arithmetic modulo `m²` on a fixed number of lanes. No operation branches on, or addresses memory by, a value of
/// an element or of a digit.
pub(crate) trait BatchKernel {
    /// As many residues as there are lanes.
    type Element;
    /// Working memory for products, one per thread.
    type Scratch;
    /// Tables of one base each, read by all lanes.
    type SharedTables;
    /// Residues per element.
    const LANES: usize;

    /// The cost of reading one table entry, in thousandths of a product. It determines the window width.
    fn look_up_cost(&self) -> u32;

    fn scratch(&self) -> Self::Scratch;

    /// 1 in every lane, inside the Montgomery domain.
    fn one(&self) -> Self::Element;

    /// At most [`Self::LANES`] residues, not yet in the Montgomery domain; missing lanes hold 1.
    fn load(&self, residues: &[&Residue]) -> Self::Element;

    /// The first `count` lanes of an element outside the Montgomery domain.
    fn store(&self, element: &Self::Element, count: usize) -> Vec<Residue>;

    fn enter_montgomery(&self, element: &mut Self::Element, scratch: &mut Self::Scratch);

    fn leave_montgomery(&self, element: &mut Self::Element, scratch: &mut Self::Scratch);

    /// `element ← element·factor / R`.
    fn multiply(
        &self,
        element: &mut Self::Element,
        factor: &Self::Element,
        scratch: &mut Self::Scratch,
    );

    /// `element ← element² / R`.
    fn square(&self, element: &mut Self::Element, scratch: &mut Self::Scratch);

    fn copy(&self, element: &Self::Element) -> Self::Element;

    /// Selects, in each lane, the table entry with that lane's digit.
    fn select(&self, table: &[Self::Element], digits: &Digits, out: &mut Self::Element);

    /// Room for one table per window.
    fn new_shared_tables(&self, windows: usize, entries: usize) -> Self::SharedTables;

    /// Writes one entry of [`Self::LANES`] consecutive windows, one per lane; windows beyond the last are dropped.
    fn set_shared(
        &self,
        tables: &mut Self::SharedTables,
        first_window: usize,
        entry: usize,
        element: &Self::Element,
    );

    /// Selects, in each lane, the entry of the window's table with that lane's digit.
    fn select_shared(
        &self,
        tables: &Self::SharedTables,
        window: usize,
        digits: &Digits,
        out: &mut Self::Element,
    );
}
