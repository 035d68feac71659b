//! Gadgets on unsigned numbers: slices of bundles, lowest bit first. The comments count AND gates for w bits.

use super::{Bundle, Circuit};

/// x + y without the last carry: w − 1 gates. Adds bit by bit into `x`; a shorter `y` is zero-extended.
pub fn add_assign<C: Circuit>(circuit: &mut C, x: &mut [Bundle<C::Label>], y: &[Bundle<C::Label>]) {
    let zero = circuit.constants(false);
    let mut carry = None;
    let last = x.len().saturating_sub(1);
    for (at, x) in x.iter_mut().enumerate() {
        let y = y.get(at).unwrap_or(&zero);
        let sum = match &carry {
            None => circuit.xor(x, y),
            Some(carry) => circuit.xor(&circuit.xor(x, y), carry),
        };
        if at < last {
            carry = Some(next_carry(circuit, x, y, carry.as_ref()));
        }
        *x = sum;
    }
}

/// x + y with the last carry as another bit: w gates. Both have w bits.
pub fn add<C: Circuit>(
    circuit: &mut C,
    x: &[Bundle<C::Label>],
    y: &[Bundle<C::Label>],
    sum: &mut [Bundle<C::Label>],
) {
    let mut carry = None;
    for ((x, y), sum) in x.iter().zip(y).zip(sum.iter_mut()) {
        *sum = circuit.xor(x, y);
        if let Some(carry) = &carry {
            *sum = circuit.xor(sum, carry);
        }
        carry = Some(next_carry(circuit, x, y, carry.as_ref()));
    }
    if let (Some(carry), Some(top)) = (carry, sum.get_mut(x.len())) {
        *top = carry;
    }
}

/// x + constant without the last carry: w − 1 gates, fewer when the constant is even.
pub fn add_constant_assign<C: Circuit>(circuit: &mut C, x: &mut [Bundle<C::Label>], constant: u64) {
    // While there can be no carry, nothing changes.
    let start = (constant.trailing_zeros() as usize).min(x.len());
    let last = x.len().saturating_sub(1);
    let mut carry = None;
    for (at, x) in x.iter_mut().enumerate().skip(start) {
        let bit = bit_of(constant, at);
        let sum = flip_if(circuit, x, bit);
        let next = match &carry {
            // The first bit of the constant is 1, so the carry is the old bit.
            None => *x,
            // x ∧ carry, or x ∨ carry.
            Some(carry) if at < last => {
                let both = circuit.and(&flip_if(circuit, x, bit), &flip_if(circuit, carry, bit));
                flip_if(circuit, &both, bit)
            }
            Some(carry) => *carry,
        };
        *x = match &carry {
            None => sum,
            Some(carry) => circuit.xor(&sum, carry),
        };
        carry = Some(next);
    }
}

/// max(x − constant, 0): 2·w gates at most.
pub fn saturating_subtract_constant_assign<C: Circuit>(
    circuit: &mut C,
    x: &mut [Bundle<C::Label>],
    constant: u64,
) {
    let start = (constant.trailing_zeros() as usize).min(x.len());
    let mut borrow: Option<Bundle<C::Label>> = None;
    for (at, x) in x.iter_mut().enumerate().skip(start) {
        let bit = bit_of(constant, at);
        let difference = flip_if(circuit, x, bit);
        let (difference, next) = match &borrow {
            None => (difference, circuit.not(x)),
            Some(old) => {
                // The next borrow is ¬x ∧ borrow, or ¬x ∨ borrow.
                let both = circuit.and(&flip_if(circuit, x, !bit), &flip_if(circuit, old, bit));
                (circuit.xor(&difference, old), flip_if(circuit, &both, bit))
            }
        };
        *x = difference;
        borrow = Some(next);
    }
    if let Some(borrow) = borrow {
        let no_borrow = circuit.not(&borrow);
        for x in x {
            *x = circuit.and(x, &no_borrow);
        }
    }
}

/// x − y modulo 2^w, as x + ¬y + 1: w − 1 gates.
pub fn subtract_assign<C: Circuit>(
    circuit: &mut C,
    x: &mut [Bundle<C::Label>],
    y: &[Bundle<C::Label>],
) {
    let mut carry = circuit.constants(true);
    let last = x.len().saturating_sub(1);
    for (at, (x, y)) in x.iter_mut().zip(y).enumerate() {
        let complement = circuit.not(y);
        let half = circuit.xor(x, &complement);
        let difference = circuit.xor(&half, &carry);
        if at < last {
            carry = next_carry(circuit, x, &complement, Some(&carry));
        }
        *x = difference;
    }
}

/// The bit x < y: w gates.
pub fn less_than<C: Circuit>(
    circuit: &mut C,
    x: &[Bundle<C::Label>],
    y: &[Bundle<C::Label>],
) -> Bundle<C::Label> {
    let mut less = circuit.constants(false);
    for (x, y) in x.iter().zip(y) {
        // If the bits are equal the lower ones decide, else y's bit does.
        let equal = circuit.not(&circuit.xor(x, y));
        let lower_differs = circuit.xor(&less, y);
        let correction = circuit.and(&equal, &lower_differs);
        less = circuit.xor(y, &correction);
    }
    less
}

/// The bit x < y for numbers modulo 2^w that are less than 2^(w−1) apart: the sign of x − y, w − 1 gates.
pub fn precedes<C: Circuit>(
    circuit: &mut C,
    x: &[Bundle<C::Label>],
    y: &[Bundle<C::Label>],
) -> Bundle<C::Label> {
    let mut carry = circuit.constants(true);
    let mut sign = carry;
    let last = x.len().saturating_sub(1);
    for (at, (x, y)) in x.iter().zip(y).enumerate() {
        let complement = circuit.not(y);
        if at < last {
            carry = next_carry(circuit, x, &complement, Some(&carry));
        } else {
            sign = circuit.xor(&circuit.xor(x, &complement), &carry);
        }
    }
    sign
}

/// Replaces x by y if the condition is true: w gates.
pub fn select_assign<C: Circuit>(
    circuit: &mut C,
    condition: &Bundle<C::Label>,
    x: &mut [Bundle<C::Label>],
    y: &[Bundle<C::Label>],
) {
    for (x, y) in x.iter_mut().zip(y) {
        let change = circuit.and(condition, &circuit.xor(x, y));
        *x = circuit.xor(x, &change);
    }
}

/// max(x, y): 2·w gates.
pub fn max_assign<C: Circuit>(circuit: &mut C, x: &mut [Bundle<C::Label>], y: &[Bundle<C::Label>]) {
    let less = less_than(circuit, x, y);
    select_assign(circuit, &less, x, y);
}

/// min(x, y): 2·w gates.
pub fn min_assign<C: Circuit>(circuit: &mut C, x: &mut [Bundle<C::Label>], y: &[Bundle<C::Label>]) {
    let less = less_than(circuit, y, x);
    select_assign(circuit, &less, x, y);
}

/// The carry out of a full adder with one gate; of a half adder if there is no carry in.
pub(super) fn next_carry<C: Circuit>(
    circuit: &mut C,
    x: &Bundle<C::Label>,
    y: &Bundle<C::Label>,
    carry: Option<&Bundle<C::Label>>,
) -> Bundle<C::Label> {
    match carry {
        None => circuit.and(x, y),
        Some(carry) => {
            let both = circuit.and(&circuit.xor(x, carry), &circuit.xor(y, carry));
            circuit.xor(carry, &both)
        }
    }
}

/// Bits that a number up to `largest` needs, at least one.
pub fn bits_for(largest: u64) -> usize {
    ((u64::BITS - largest.leading_zeros()) as usize).max(1)
}

fn bit_of(constant: u64, at: usize) -> bool {
    at < 64 && constant >> at & 1 == 1
}

fn flip_if<C: Circuit>(circuit: &C, x: &Bundle<C::Label>, public: bool) -> Bundle<C::Label> {
    if public { circuit.not(x) } else { *x }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::{Clear, LANES};
    use proptest::prelude::*;

    type Number = Vec<Bundle<bool>>;

    fn number(values: [u64; LANES], width: usize) -> Number {
        (0..width)
            .map(|bit| values.map(|value| value >> bit & 1 == 1))
            .collect()
    }

    fn values(number: &[Bundle<bool>]) -> [u64; LANES] {
        std::array::from_fn(|lane| {
            (0..number.len()).fold(0, |sum, bit| sum | u64::from(number[bit][lane]) << bit)
        })
    }

    /// Runs a gadget in one lane and returns the new x and the number of gates.
    fn run(x: Number, gadget: impl FnOnce(&mut Clear, &mut Number)) -> ([u64; LANES], usize) {
        let mut circuit = Clear::new();
        circuit.set_lanes(1);
        let mut x = x;
        gadget(&mut circuit, &mut x);
        (values(&x), circuit.and_gates())
    }

    proptest! {
        #[test]
        fn gadgets_compute_and_cost_what_is_documented(
            width in 1usize..17,
            a in any::<[u64; LANES]>(),
            b in any::<[u64; LANES]>(),
            constant in any::<u64>(),
        ) {
            let mask = (1u64 << width) - 1;
            let (a, b, constant) = (a.map(|v| v & mask), b.map(|v| v & mask), constant & mask);
            let (x, y) = (number(a, width), number(b, width));
            let each = |f: &dyn Fn(u64, u64) -> u64| std::array::from_fn(|l| f(a[l], b[l]));

            let (sum, gates) = run(x.clone(), |c, x| add_assign(c, x, &y));
            prop_assert_eq!((sum, gates), (each(&|a, b| (a + b) & mask), width - 1));
            let (sum, gates) = run(x.clone(), |c, x| {
                let mut sum = vec![[false; LANES]; width + 1];
                add(c, x, &y, &mut sum);
                *x = sum;
            });
            prop_assert_eq!((sum, gates), (each(&|a, b| a + b), width));
            let (difference, gates) = run(x.clone(), |c, x| subtract_assign(c, x, &y));
            prop_assert_eq!((difference, gates), (each(&|a, b| a.wrapping_sub(b) & mask), width - 1));
            let (max, gates) = run(x.clone(), |c, x| max_assign(c, x, &y));
            prop_assert_eq!((max, gates), (each(&|a, b| a.max(b)), 2 * width));
            let (min, gates) = run(x.clone(), |c, x| min_assign(c, x, &y));
            prop_assert_eq!((min, gates), (each(&|a, b| a.min(b)), 2 * width));
            let (less, gates) = run(x.clone(), |c, x| *x = vec![less_than(c, x, &y)]);
            prop_assert_eq!((less, gates), (each(&|a, b| u64::from(a < b)), width));
            let (precedes, gates) = run(x.clone(), |c, x| *x = vec![precedes(c, x, &y)]);
            let sign = |a: u64, b: u64| a.wrapping_sub(b) >> (width - 1) & 1;
            prop_assert_eq!((precedes, gates), (each(&sign), width - 1));
            let (sum, gates) = run(x.clone(), |c, x| add_constant_assign(c, x, constant));
            prop_assert_eq!(sum, each(&|a, _| (a + constant) & mask));
            prop_assert!(gates < width);
            let (rest, gates) = run(x.clone(), |c, x| saturating_subtract_constant_assign(c, x, constant));
            prop_assert_eq!(rest, each(&|a, _| a.saturating_sub(constant)));
            prop_assert!(gates <= 2 * width);
        }
    }

    #[test]
    fn numbers_get_the_bits_they_need() {
        let needed = [0, 1, 2, 3, 4, 255, 256].map(bits_for);
        assert_eq!(needed, [1, 1, 2, 2, 3, 8, 9]);
        assert_eq!(bits_for(u64::MAX), 64);
    }
}
