//! Exponentiation: fixed windows for secret exponents, and sliding windows for a public one.

use super::exponent::Exponent;
use super::kernel::{BatchKernel, Digits};
use super::residue::Residue;
use super::ring::{Ring, with_kernel};

impl Ring {
    /// `baseᵢ^exponentᵢ` for each pair. The time depends on the longest public bound in a batch, not on the values.
    pub(crate) fn pow(&self, pairs: &[(&Residue, &Exponent)]) -> Vec<Residue> {
        let mut out = Vec::with_capacity(pairs.len());
        for (range, kernel_ref) in self.kernels_for(pairs.len()) {
            with_kernel!(kernel_ref, kernel => pow_batch(kernel, &pairs[range], &mut out));
        }
        out
    }

    /// `base^exponent` for each base. The exponent is public: its bits decide which products are computed.
    pub(crate) fn pow_public_vartime(
        &self,
        bases: &[&Residue],
        exponent: &Exponent,
    ) -> Vec<Residue> {
        let mut out = Vec::with_capacity(bases.len());
        for (range, kernel_ref) in self.kernels_for(bases.len()) {
            with_kernel!(kernel_ref, kernel => pow_public_batch_vartime(kernel, &bases[range], exponent, &mut out));
        }
        out
    }
}

/// The cheapest window width for an exponent of this many bits, counting table, look-ups and products. The squarings do
/// not depend on it.
pub(super) fn window_width<K: BatchKernel>(kernel: &K, bits: u32) -> u32 {
    let cost = |width: u32| {
        let entries = 1 << width;
        // Half of the table's entries are products, half are squarings at seven tenths of the cost.
        850 * entries + bits.div_ceil(width) * (1000 + kernel.look_up_cost() * entries)
    };
    (1..=6).min_by_key(|&width| cost(width)).unwrap_or(1)
}

pub(super) fn pow_batch<K: BatchKernel>(
    kernel: &K,
    pairs: &[(&Residue, &Exponent)],
    out: &mut Vec<Residue>,
) {
    let mut scratch = kernel.scratch();
    let (bases, exponents): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    let bits = exponents
        .iter()
        .map(|exponent| exponent.bits())
        .max()
        .unwrap_or(0);
    let width = window_width(kernel, bits);
    let table = powers(kernel, &bases, 1 << width, &mut scratch);
    let mut factor = kernel.one();
    let mut result = kernel.one();
    for window in (0..bits.div_ceil(width)).rev() {
        let digits = digits(&exponents, (window * width) as usize, width);
        if window + 1 == bits.div_ceil(width) {
            kernel.select(&table, &digits, &mut result);
            continue;
        }
        for _ in 0..width {
            kernel.square(&mut result, &mut scratch);
        }
        kernel.select(&table, &digits, &mut factor);
        kernel.multiply(&mut result, &factor, &mut scratch);
    }
    kernel.leave_montgomery(&mut result, &mut scratch);
    out.extend(kernel.store(&result, pairs.len()));
}

/// The powers `base^0 … base^(count − 1)` in the Montgomery domain.
pub(super) fn powers<K: BatchKernel>(
    kernel: &K,
    bases: &[&Residue],
    count: usize,
    scratch: &mut K::Scratch,
) -> Vec<K::Element> {
    let mut base = kernel.load(bases);
    kernel.enter_montgomery(&mut base, scratch);
    let mut table = Vec::with_capacity(count);
    table.push(kernel.one());
    table.push(kernel.copy(&base));
    for power in 2..count {
        let mut entry = kernel.copy(&table[if power % 2 == 0 { power / 2 } else { power - 1 }]);
        if power % 2 == 0 {
            kernel.square(&mut entry, scratch);
        } else {
            kernel.multiply(&mut entry, &base, scratch);
        }
        table.push(entry);
    }
    table
}

/// The same window of every lane's exponent.
pub(super) fn digits(exponents: &[&Exponent], start: usize, width: u32) -> Digits {
    let mut digits = Digits::default();
    for (digit, exponent) in digits.iter_mut().zip(exponents) {
        *digit = exponent.window(start, width);
    }
    digits
}

fn pow_public_batch_vartime<K: BatchKernel>(
    kernel: &K,
    bases: &[&Residue],
    exponent: &Exponent,
    out: &mut Vec<Residue>,
) {
    let mut scratch = kernel.scratch();
    // Half the entries, and one more squaring between products, allow a wider window than for a secret exponent.
    let width = 1 + window_width(kernel, exponent.bits());
    // Windows that end in a one need only the odd powers.
    let mut square = kernel.load(bases);
    kernel.enter_montgomery(&mut square, &mut scratch);
    let mut odd_powers = vec![kernel.copy(&square)];
    kernel.square(&mut square, &mut scratch);
    for power in 1..1 << (width - 1) {
        let mut entry = kernel.copy(&odd_powers[power - 1]);
        kernel.multiply(&mut entry, &square, &mut scratch);
        odd_powers.push(entry);
    }
    let mut result = kernel.one();
    let mut left = exponent.bits();
    while left > 0 {
        if exponent.window((left - 1) as usize, 1) == 0 {
            kernel.square(&mut result, &mut scratch);
            left -= 1;
            continue;
        }
        let longest = width.min(left);
        let window = exponent.window((left - longest) as usize, longest);
        let length = longest - window.trailing_zeros();
        for _ in 0..length {
            kernel.square(&mut result, &mut scratch);
        }
        let odd = (window >> window.trailing_zeros()) as usize;
        kernel.multiply(&mut result, &odd_powers[odd / 2], &mut scratch);
        left -= length;
    }
    kernel.leave_montgomery(&mut result, &mut scratch);
    out.extend(kernel.store(&result, bases.len()));
}
