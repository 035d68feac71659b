//! What a plain implementation on GMP does for each operation.

use core::hint::black_box;

use rug::Integer;
use rug::integer::Order;

use super::Operation;
use super::workload::Workload;
use crate::arith::limbs;

/// GMP's numbers for the same key.
pub(super) struct Opponent {
    modulus: Integer,
    modulus_squared: Integer,
    lambda: Integer,
    base: Integer,
    short: Integer,
    medium: Integer,
    full: Integer,
}

impl Opponent {
    pub(super) fn new(workload: &Workload) -> Self {
        let integer = |value: &crypto_bigint::BoxedUint| {
            let words = limbs::from_uint(value, value.bits_precision().div_ceil(64) as usize);
            Integer::from_digits(&words, Order::Lsf)
        };
        let key = workload.key();
        let modulus = integer(key.public_key().modulus());
        let [p, q]: [Integer; 2] = key.halves().map(|half| integer(half.prime()) - 1u32);
        let modulus_squared = modulus.clone().square();
        // Any dense numbers of the right length will do.
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

    /// One operation.
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
