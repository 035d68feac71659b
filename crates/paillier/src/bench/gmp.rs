//! The exponentiations of a plain implementation on GMP, for comparison.

use core::hint::black_box;
use std::time::Duration;

use rug::Integer;
use rug::integer::Order;

use super::workload::Workload;
use super::{Operation, REPETITIONS, time_per_call};
use crate::arith::limbs;
use crate::error::Result;
use crate::key_size::KeySize;

/// The same operations on GMP's numbers, for the same key.
pub(super) struct GmpWorkload {
    modulus: Integer,
    modulus_squared: Integer,
    lambda: Integer,
    base: Integer,
    short: Integer,
    medium: Integer,
    full: Integer,
}

impl GmpWorkload {
    pub(super) fn new(workload: &Workload) -> Self {
        let integer = |value: &crypto_bigint::BoxedUint| {
            let words = limbs::from_uint(value, value.bits_precision().div_ceil(64) as usize);
            Integer::from_digits(&words, Order::Lsf)
        };
        let key = workload.key();
        let modulus = integer(key.public_key().modulus());
        let [p, q]: [Integer; 2] = key.halves().map(|half| integer(half.prime()) - 1u32);
        let modulus_squared = modulus.clone().square();
        // Any dense numbers of this length will do.
        let dense = Integer::from(&modulus_squared - 3) / 7u32 * 5u32;
        Self {
            lambda: p.lcm(&q),
            base: dense.clone() % &modulus_squared,
            short: dense.clone().keep_bits(64) | (Integer::from(1) << 63u32),
            medium: dense.clone().keep_bits(128) | (Integer::from(1) << 127u32),
            full: dense % &modulus,
            modulus,
            modulus_squared,
        }
    }

    /// Runs one operation.
    pub(super) fn run(&self, operation: Operation) {
        let exponent = match operation {
            Operation::Add => {
                let product = Integer::from(&self.base * &self.base);
                black_box(product % &self.modulus_squared);
                return;
            }
            Operation::EncryptKeyHolder
            | Operation::EncryptKeyHolderFresh
            | Operation::EncryptOtherSide
            | Operation::EncryptOtherSideFresh
            | Operation::Rerandomize => &self.modulus,
            Operation::Decrypt => &self.lambda,
            Operation::ScalarMul64 => &self.short,
            Operation::ScalarMul128 => &self.medium,
            Operation::ScalarMulFull => &self.full,
        };
        black_box(
            self.base
                .pow_mod_ref(exponent, &self.modulus_squared)
                .map(Integer::from),
        );
    }
}

/// Seconds that one `powm` of GMP takes with a modulus of 2κ bits and an exponent of κ bits, which is the unit of cost
/// in the paper's protocol. Returns the best of several rounds of this total length.
pub fn gmp_powm_seconds(size: KeySize, time: Duration) -> Result<f64> {
    let ones = |bits: u32| (Integer::from(1) << bits) - 1u32;
    // Any dense numbers of this length will do.
    let modulus = ones(2 * size.bits()) - 58u32;
    let base = Integer::from(&modulus / 7u32) * 5u32;
    let exponent = ones(size.bits()) / 3u32 * 2u32;
    let mut best = f64::INFINITY;
    for _ in 0..REPETITIONS {
        let seconds = time_per_call(time / REPETITIONS, || {
            black_box(base.pow_mod_ref(&exponent, &modulus).map(Integer::from));
            Ok(())
        })?;
        best = best.min(seconds);
    }
    Ok(best)
}
