//! Tables for bases that stay the same over many calls.
//!
//! A power `h^s` is the product of those of `h, h², h⁴, …` that the bits of `s` select. So a fixed-base power and a
//! random subset product are the same operation: multiply the bases whose bits are set, several bases per table
//! look-up.

use super::exponent::Exponent;
#[cfg(target_arch = "x86_64")]
use super::ifma::Ifma;
use super::kernel::BatchKernel;
use super::portable::Portable;
use super::pow::digits;
use super::residue::Residue;
use super::ring::{KernelRef, Ring};

/// Precomputed products of all subsets of neighbouring bases.
pub(crate) struct SubsetProducts {
    tables: Tables,
    windows: usize,
    width: u32,
}

enum Tables {
    #[cfg(target_arch = "x86_64")]
    Ifma(<Ifma as BatchKernel>::SharedTables),
    Portable(<Portable as BatchKernel>::SharedTables),
}

impl SubsetProducts {
    /// Tables for these bases, `width` of them per look-up: `2^width` entries for each such group.
    pub(crate) fn new(ring: &Ring, bases: &[Residue], width: u32) -> Self {
        let windows = bases.len().div_ceil(width as usize);
        let tables = match ring.wide_kernel() {
            #[cfg(target_arch = "x86_64")]
            KernelRef::Ifma(kernel) => Tables::Ifma(fill(kernel, ring, bases, width)),
            KernelRef::Portable(kernel) => Tables::Portable(fill(kernel, ring, bases, width)),
        };
        Self {
            tables,
            windows,
            width,
        }
    }

    /// For each exponent, the product of the bases whose bits are set. Every entry of every table is read.
    ///
    /// `ring` is the ring that the tables were made for.
    pub(crate) fn evaluate(&self, ring: &Ring, exponents: &[&Exponent]) -> Vec<Residue> {
        let mut out = Vec::with_capacity(exponents.len());
        match (&self.tables, ring.wide_kernel()) {
            #[cfg(target_arch = "x86_64")]
            (Tables::Ifma(tables), KernelRef::Ifma(kernel)) => {
                self.run(kernel, tables, exponents, &mut out)
            }
            (Tables::Portable(tables), _) => self.run(ring.portable(), tables, exponents, &mut out),
            // Cannot happen: tables belong to the key that owns their ring.
            #[cfg(target_arch = "x86_64")]
            (Tables::Ifma(_), KernelRef::Portable(_)) => {}
        }
        out
    }

    fn run<K: BatchKernel>(
        &self,
        kernel: &K,
        tables: &K::SharedTables,
        exponents: &[&Exponent],
        out: &mut Vec<Residue>,
    ) {
        let mut scratch = kernel.scratch();
        let mut factor = kernel.one();
        // All batches at each table in turn: the tables do not fit the caches, the results do.
        let batches: Vec<&[&Exponent]> = exponents.chunks(K::LANES).collect();
        let mut results: Vec<K::Element> = batches.iter().map(|_| kernel.one()).collect();
        for window in 0..self.windows {
            for (lanes, result) in batches.iter().zip(&mut results) {
                let digits = digits(lanes, window * self.width as usize, self.width);
                kernel.select_shared(tables, window, &digits, &mut factor);
                kernel.multiply(result, &factor, &mut scratch);
            }
        }
        for (lanes, mut result) in batches.iter().zip(results) {
            kernel.leave_montgomery(&mut result, &mut scratch);
            out.extend(kernel.store(&result, lanes.len()));
        }
    }
}

impl Ring {
    /// `base, base², base⁴, …`, the bases of a fixed-base power with an exponent of `count` bits.
    pub(crate) fn repeated_squares(&self, base: &Residue, count: usize) -> Vec<Residue> {
        let kernel = self.portable();
        let mut scratch = kernel.scratch();
        let mut power = kernel.load(&[base]);
        kernel.enter_montgomery(&mut power, &mut scratch);
        let mut squares = Vec::with_capacity(count);
        for _ in 0..count {
            let mut plain = kernel.copy(&power);
            kernel.leave_montgomery(&mut plain, &mut scratch);
            squares.extend(kernel.store(&plain, 1));
            kernel.square(&mut power, &mut scratch);
        }
        squares
    }
}

fn fill<K: BatchKernel>(kernel: &K, ring: &Ring, bases: &[Residue], width: u32) -> K::SharedTables {
    let width = width as usize;
    let mut scratch = kernel.scratch();
    let one = Residue::one(ring.words());
    let windows: Vec<&[Residue]> = bases.chunks(width).collect();
    let mut tables = kernel.new_shared_tables(windows.len(), 1 << width);
    for (batch, lanes) in windows.chunks(K::LANES).enumerate() {
        let first_window = batch * K::LANES;
        let mut entries = vec![kernel.one()];
        for bit in 0..width {
            let column: Vec<&Residue> = lanes
                .iter()
                .map(|window| window.get(bit).unwrap_or(&one))
                .collect();
            let mut base = kernel.load(&column);
            kernel.enter_montgomery(&mut base, &mut scratch);
            for lower in 0..1 << bit {
                let mut entry = kernel.copy(&entries[lower]);
                kernel.multiply(&mut entry, &base, &mut scratch);
                entries.push(entry);
            }
        }
        for (index, entry) in entries.iter().enumerate() {
            kernel.set_shared(&mut tables, first_window, index, entry);
        }
    }
    tables
}
