//! Inverses, many for the price of one.

use crypto_bigint::{BoxedUint, Odd};

use super::limbs;
use super::residue::Residue;
use super::ring::Ring;

impl Ring {
    /// The inverse of each element; `None` if one of them shares a factor with the modulus.
    ///
    /// All inverses come from that of the product of all elements, three products each instead of an inversion.
    pub(crate) fn invert(&self, elements: &[&Residue]) -> Option<Vec<Residue>> {
        let mut prefixes: Vec<Residue> = Vec::with_capacity(elements.len());
        for &element in elements {
            let prefix = match prefixes.last() {
                Some(last) => self.multiply_one(last, element),
                None => element.clone(),
            };
            prefixes.push(prefix);
        }
        let Some(all) = prefixes.last() else {
            return Some(Vec::new());
        };
        let mut inverse = self.invert_one(all)?;
        let mut inverses = Vec::with_capacity(elements.len());
        for index in (1..elements.len()).rev() {
            inverses.push(self.multiply_one(&inverse, &prefixes[index - 1]));
            inverse = self.multiply_one(&inverse, elements[index]);
        }
        inverses.push(inverse);
        inverses.reverse();
        Some(inverses)
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
