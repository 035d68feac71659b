//! Paillier.
pub mod arith;
