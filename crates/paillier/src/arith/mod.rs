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
//! Montgomery's reduction of `x₀y₀` by the half-length `m` writes `x₀y₀ = r·R − u·m`, so dividing by `R` gives the
//! low digit `r` and the high digit `(x₀y₁ + x₁y₀ − u)/R mod m`, a second half-length reduction. Counted in products
//! of single limbs, with `H` limbs in `m`, a product takes 3·H² and two reductions 2·H², together 5·H², while
//! Montgomery's product with a modulus of `2H` limbs takes 8·H²; a squaring takes 3½·H² instead of 6·H². The vector
//! kernel spends two instructions on each product of limbs, one for either half, and keeps its multiplier busy for
//! more than nine cycles of ten at 2048 bits: only fewer products would make it faster. (Karatsuba's method would
//! save another two per cent of an exponentiation, which is not worth its code.)
//!
//! # Constant time
//!
//! Exponents, table look-ups and the conditional subtractions take the same steps and touch the same memory for all
//! values of equal public length. What is not constant-time has `_vartime` in its name.

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
