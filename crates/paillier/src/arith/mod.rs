//! Arithmetic modulo `m²` for an odd `m`: the public modulus `n`, or a secret prime of the key holder.
//!
//! # Two digits instead of one long number
//!
//! An element of `Z/m²` is represented as `x₀ + x₁·m`. In a product the term `x₁y₁·m²` vanishes:
//!
//! ```text
//! (x₀ + x₁m)(y₀ + y₁m) ≡ x₀y₀ + (x₀y₁ + x₁y₀)·m   (mod m²)
//! ```
//!
//! Montgomery reduction of `x₀y₀` by the half-length `m` writes `x₀y₀ = r·R − u·m`. Dividing by `R` gives the low digit
//! `r` and the high digit `(x₀y₁ + x₁y₀ − u)/R mod m`, a second half-length reduction. Counted in products of single
//! limbs, with `H` limbs in `m`, a product takes 3·H² and two reductions 2·H², together 5·H². A Montgomery product with
//! a modulus of `2H` limbs takes 8·H². A squaring takes 3½·H² instead of 6·H². The vector kernel spends two
//! instructions on each product of limbs, one for either half. It keeps its multiplier busy for more than nine cycles
//! of ten at 2048 bits, so only fewer products would make it faster. (Karatsuba multiplication would save another two
//! per cent of an exponentiation, which is not worth the code.)
//!
//! # Constant time
//!
//! Exponentiations, table look-ups and conditional subtractions take the same steps and touch the same memory for all
//! values of equal public length. Functions that are not constant-time have `_vartime` in their names.

mod exponent;
mod fixed_base;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod invert;
mod kernel;
pub(crate) mod limbs;
mod linear;
mod memory;
mod multi_pow;
mod portable;
mod pow;
mod product;
mod residue;
mod ring;

pub(crate) use exponent::Exponent;
pub(crate) use fixed_base::SubsetProducts;
pub use kernel::Kernel;
pub(crate) use linear::Factor;
pub(crate) use memory::Words;
pub(crate) use multi_pow::{Job, Shape};
pub(crate) use residue::Residue;
pub(crate) use ring::Ring;

#[cfg(test)]
mod step_tests;
#[cfg(test)]
mod tests;
