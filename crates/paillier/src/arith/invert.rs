//! Batch inversion: many inverses for the price of one.

use crypto_bigint::{BoxedUint, Odd};

use super::limbs;
use super::residue::Residue;
use super::ring::Ring;

/// Chains of products that run in parallel: the lanes of the wide kernel.
const CHAINS: usize = 8;

impl Ring {
    /// The inverse of each element; `None` if one of them shares a factor with the modulus.
    ///
    /// All inverses are derived from the inverse of the product of all elements. Each takes three products instead of
    /// an inversion.
    pub(crate) fn invert(&self, elements: &[&Residue]) -> Option<Vec<Residue>> {
        if elements.is_empty() {
            return Some(Vec::new());
        }
        // One chain of products per lane, if there are enough elements for chains longer than one.
        self.invert_chains(
            elements,
            if elements.len() >= 2 * CHAINS {
                CHAINS
            } else {
                1
            },
        )
    }

    /// Inverts rows of `chains` elements: multiply down each chain, invert once, and go back up.
    fn invert_chains(&self, elements: &[&Residue], chains: usize) -> Option<Vec<Residue>> {
        let rows: Vec<&[&Residue]> = elements.chunks(chains).collect();
        let mut products: Vec<Vec<Residue>> = Vec::with_capacity(rows.len());
        for row in &rows {
            let next = match products.last() {
                Some(above) => {
                    self.multiply(&above.iter().zip(row.iter().copied()).collect::<Vec<_>>())
                }
                None => row.iter().map(|&element| element.clone()).collect(),
            };
            products.push(next);
        }
        // The last row may be short. The chains that it leaves out end one row earlier.
        let ends: Vec<&Residue> = (0..rows[0].len())
            .filter_map(|chain| products.iter().rev().find_map(|row| row.get(chain)))
            .collect();
        let mut running = match ends[..] {
            [end] => vec![self.invert_one(end)?],
            _ => self.invert_chains(&ends, 1)?,
        };
        let mut inverses = Vec::with_capacity(rows.len());
        for (row, above) in rows[1..].iter().zip(&products).rev() {
            let (longer, shorter): (Vec<_>, Vec<_>) = running
                .iter()
                .zip(above)
                .zip(row.iter().copied())
                .map(|((r, a), e)| ((r, a), (r, e)))
                .unzip();
            inverses.push(self.multiply(&longer));
            let next = self.multiply(&shorter);
            running.splice(..next.len(), next);
        }
        inverses.push(running);
        inverses.reverse();
        Some(inverses.into_iter().flatten().collect())
    }

    /// From `y₀ = x₀⁻¹ mod m`, one step of Newton's iteration gives the inverse modulo `m²`: `y₀·(2 − x·y₀)`.
    fn invert_one(&self, element: &Residue) -> Option<Residue> {
        let modulus = Option::<Odd<BoxedUint>>::from(self.modulus().as_ref().clone().into_odd())?;
        let digit = limbs::to_uint(element.low());
        let inverse = Option::<BoxedUint>::from(digit.invert_odd_mod(&modulus))?;
        let zero = BoxedUint::zero_with_precision(inverse.bits_precision());
        let start = self.residue_of_digits(&inverse, &zero);
        // x·y₀ is 1 + e·m, so 2 − x·y₀ is 1 − e·m: its high digit is the negative of e.
        let product = self.multiply_one(element, &start);
        let error = limbs::to_uint(product.high());
        let negated = error.neg_mod(self.modulus());
        let one = BoxedUint::one_with_precision(inverse.bits_precision());
        Some(self.multiply_one(&start, &self.residue_of_digits(&one, &negated)))
    }

    fn multiply_one(&self, a: &Residue, b: &Residue) -> Residue {
        let mut product = self.multiply(&[(a, b)]);
        product.pop().unwrap_or_else(|| a.clone())
    }
}
