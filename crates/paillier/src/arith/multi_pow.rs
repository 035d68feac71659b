//! Products of powers that share their squarings.

use super::exponent::Exponent;
use super::kernel::BatchKernel;
use super::pow::{digits, powers, window_width};
use super::residue::Residue;
use super::ring::{Ring, with_kernel};

/// The public shape of a product of powers `∏ baseₖ^(exponentₖ·2^shiftₖ)`, the same for all jobs of a batch.
pub(crate) struct Shape {
    /// For each factor the length of its exponent and its shift, in bits.
    factors: Vec<(u32, u32)>,
}

/// One product: for each factor of the shape a base and an exponent.
pub(crate) type Job<'a> = Vec<(&'a Residue, &'a Exponent)>;

impl Shape {
    /// From the length and the shift of each factor's exponent.
    pub(crate) fn new(factors: Vec<(u32, u32)>) -> Self {
        Self { factors }
    }
}

impl Ring {
    /// Computes each job's product of powers. A job may have fewer factors than the shape.
    pub(crate) fn multi_pow(&self, shape: &Shape, jobs: &[Job<'_>]) -> Vec<Residue> {
        let mut out = Vec::with_capacity(jobs.len());
        for (range, kernel_ref) in self.kernels_for(jobs.len()) {
            with_kernel!(kernel_ref, kernel => multi_pow_batch(kernel, shape, &jobs[range], &mut out));
        }
        out
    }
}

pub(super) fn multi_pow_batch<K: BatchKernel>(
    kernel: &K,
    shape: &Shape,
    jobs: &[Job<'_>],
    out: &mut Vec<Residue>,
) {
    let mut scratch = kernel.scratch();
    let mut factors = Vec::with_capacity(shape.factors.len());
    // Which windows are due at each bit position, so that the squarings run once for all factors.
    let mut due: Vec<(u32, usize, u32)> = Vec::new();
    for (index, &(bits, shift)) in shape.factors.iter().enumerate() {
        let column = || jobs.iter().filter_map(move |job| job.get(index).copied());
        let bases: Vec<_> = column().map(|(base, _)| base).collect();
        let exponents: Vec<_> = column().map(|(_, exponent)| exponent).collect();
        let width = window_width(kernel, bits);
        for start in (0..bits).step_by(width as usize) {
            due.push((shift + start, index, start));
        }
        factors.push((
            powers(kernel, &bases, 1 << width, &mut scratch),
            exponents,
            width,
        ));
    }
    due.sort_unstable();
    let mut result = kernel.one();
    let mut selected = kernel.one();
    let mut reached = due.last().map_or(0, |&(position, ..)| position);
    for &(position, index, start) in due.iter().rev() {
        for _ in position..reached {
            kernel.square(&mut result, &mut scratch);
        }
        reached = position;
        let (table, exponents, width) = &factors[index];
        let digits = digits(exponents, start as usize, *width);
        kernel.select(table, &digits, &mut selected);
        kernel.multiply(&mut result, &selected, &mut scratch);
    }
    for _ in 0..reached {
        kernel.square(&mut result, &mut scratch);
    }
    kernel.leave_montgomery(&mut result, &mut scratch);
    out.extend(kernel.store(&result, jobs.len()));
}
