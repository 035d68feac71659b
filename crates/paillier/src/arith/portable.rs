//! One residue at a time with 64-bit words, for every CPU.
//!
//! The same digits and the same formulas as the vector kernel, but canonical after every product: moduli fill their
//! words, so there is no head-room to be lazy in.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::kernel::{BatchKernel, Digits};
use super::limbs;
use super::residue::Residue;

/// Low digit, then high digit.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Element(Vec<u64>);

/// The double-length products of the two digits, and the quotient of the first reduction.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Scratch {
    low: Vec<u64>,
    high: Vec<u64>,
}

/// Entry after entry, window after window.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct SharedTables {
    words: Vec<u64>,
    entries: usize,
}

/// Arithmetic modulo `m²` on single residues.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Portable {
    modulus: Vec<u64>,
    /// `−m⁻¹ mod 2^64`.
    negated_inverse: u64,
    /// `(1 − R) mod m`: turns the complement of the low quotient into its negative.
    complement_offset: Vec<u64>,
    radix_squared: Vec<u64>,
    plain_one: Vec<u64>,
    montgomery_one: Vec<u64>,
}

impl Portable {
    /// `None` for a modulus of zero.
    pub(crate) fn new(modulus: &[u64]) -> Option<Self> {
        let radix_bits = u32::try_from(modulus.len() * 64).ok()?;
        let radix = limbs::MontgomeryConstants::new(modulus, radix_bits)?;
        Some(Self {
            modulus: modulus.to_vec(),
            negated_inverse: limbs::negated_inverse_of_odd(modulus[0]),
            complement_offset: radix.one_minus_radix,
            radix_squared: radix.radix_squared.words().to_vec(),
            plain_one: Residue::one(modulus.len()).words().to_vec(),
            montgomery_one: radix.radix.words().to_vec(),
        })
    }

    fn product(&self, a: &mut [u64], b: &[u64], scratch: &mut Scratch) {
        let count = self.modulus.len();
        let (a_low, a_high) = a.split_at(count);
        let (b_low, b_high) = b.split_at(count);
        scratch.low.fill(0);
        scratch.high.fill(0);
        accumulate_product(&mut scratch.low, a_low, b_low);
        accumulate_product(&mut scratch.high, a_low, b_high);
        accumulate_product(&mut scratch.high, a_high, b_low);
        self.reduce(scratch, a);
    }

    fn squaring(&self, a: &mut [u64], scratch: &mut Scratch) {
        let (a_low, a_high) = a.split_at(self.modulus.len());
        scratch.low.fill(0);
        scratch.high.fill(0);
        for (index, &word) in a_low.iter().enumerate() {
            // The word above the row is still zero, so the carry is all that goes there.
            let above = index + a_low.len();
            let carry = accumulate_words(&mut scratch.low[2 * index + 1..above], &a_low[index + 1..], word);
            scratch.low[above] = carry;
        }
        accumulate_product(&mut scratch.high, a_low, a_high);
        double(&mut scratch.low);
        double(&mut scratch.high);
        let mut carry = 0;
        for (columns, &word) in scratch.low.chunks_exact_mut(2).zip(a_low) {
            let square = u128::from(word) * u128::from(word);
            let sum = u128::from(columns[0]) + (square & u128::from(u64::MAX)) + u128::from(carry);
            columns[0] = low_word(sum);
            let sum = u128::from(columns[1]) + (square >> 64) + (sum >> 64);
            columns[1] = low_word(sum);
            carry = low_word(sum >> 64);
        }
        self.reduce(scratch, a);
    }

    /// Montgomery reduction of both digits, the quotient of the low one subtracted from the high one.
    fn reduce(&self, scratch: &mut Scratch, out: &mut [u64]) {
        let count = self.modulus.len();
        let (out_low, out_high) = out.split_at_mut(count);
        self.clear_low_half(&mut scratch.low);
        let excess = limbs::subtract_once(&mut scratch.low[count..], &self.modulus);
        out_low.copy_from_slice(&scratch.low[count..2 * count]);

        let mut carry = 0u128;
        for ((column, quotient), offset) in scratch.high.iter_mut().zip(&scratch.low[..count]).zip(&self.complement_offset) {
            let sum = u128::from(*column) + u128::from(!quotient) + u128::from(*offset) + carry;
            *column = low_word(sum);
            carry = sum >> 64;
        }
        limbs::add_small(&mut scratch.high[count..], low_word(carry));
        self.clear_low_half(&mut scratch.high);
        // Below 3m + 2 now, and m of the low digit may come on top as one more.
        let high = &mut scratch.high[count..];
        limbs::add_small(high, excess);
        for _ in 0..3 {
            limbs::subtract_once(high, &self.modulus);
        }
        out_high.copy_from_slice(&high[..count]);
    }

    /// Adds the multiple of the modulus that clears the low half, and leaves the quotient's words there instead.
    fn clear_low_half(&self, product: &mut [u64]) {
        let count = self.modulus.len();
        let mut top = 0;
        for index in 0..count {
            let quotient = product[index].wrapping_mul(self.negated_inverse);
            let row = &mut product[index..];
            let carry = accumulate_words(&mut row[..count], &self.modulus, quotient);
            top = add_pair(&mut row[count], carry, top);
            product[index] = quotient;
        }
        product[2 * count] += top;
    }
}

impl BatchKernel for Portable {
    type Element = Element;
    type Scratch = Scratch;
    type SharedTables = SharedTables;
    const LANES: usize = 1;

    fn scratch(&self) -> Scratch {
        let words = 2 * self.modulus.len() + 1;
        Scratch { low: vec![0; words], high: vec![0; words] }
    }

    fn one(&self) -> Element {
        Element(self.montgomery_one.clone())
    }

    fn load(&self, residues: &[&Residue]) -> Element {
        Element(residues.first().map_or_else(|| self.plain_one.clone(), |residue| residue.words().to_vec()))
    }

    fn store(&self, element: &Element, count: usize) -> Vec<Residue> {
        let (low, high) = element.0.split_at(self.modulus.len());
        (0..count.min(1)).map(|_| Residue::from_digits(low.to_vec(), high.to_vec())).collect()
    }

    fn enter_montgomery(&self, element: &mut Element, scratch: &mut Scratch) {
        self.product(&mut element.0, &self.radix_squared, scratch);
    }

    fn leave_montgomery(&self, element: &mut Element, scratch: &mut Scratch) {
        self.product(&mut element.0, &self.plain_one, scratch);
    }

    fn multiply(&self, element: &mut Element, factor: &Element, scratch: &mut Scratch) {
        self.product(&mut element.0, &factor.0, scratch);
    }

    fn square(&self, element: &mut Element, scratch: &mut Scratch) {
        self.squaring(&mut element.0, scratch);
    }

    fn copy(&self, element: &Element) -> Element {
        Element(element.0.clone())
    }

    fn select(&self, table: &[Element], digits: &Digits, out: &mut Element) {
        choose(table.iter().map(|entry| entry.0.as_slice()), digits[0], &mut out.0);
    }

    fn new_shared_tables(&self, windows: usize, entries: usize) -> SharedTables {
        SharedTables { words: vec![0; windows * entries * 2 * self.modulus.len()], entries }
    }

    fn set_shared(&self, tables: &mut SharedTables, first_window: usize, entry: usize, element: &Element) {
        let count = element.0.len();
        let start = (first_window * tables.entries + entry) * count;
        if let Some(slot) = tables.words.get_mut(start..start + count) {
            slot.copy_from_slice(&element.0);
        }
    }

    fn select_shared(&self, tables: &SharedTables, window: usize, digits: &Digits, out: &mut Element) {
        let count = out.0.len();
        let stride = tables.entries * count;
        let table = &tables.words[window * stride..][..stride];
        choose(table.chunks_exact(count), digits[0], &mut out.0);
    }
}

/// Copies the entry with that number, reading all of them.
fn choose<'a>(entries: impl Iterator<Item = &'a [u64]>, digit: u64, out: &mut [u64]) {
    out.fill(0);
    for (index, entry) in entries.enumerate() {
        let difference = digit ^ index as u64;
        // All ones where the difference is zero. The barrier keeps the compiler from making a branch of it.
        let is_zero = ((difference | difference.wrapping_neg()) >> 63) ^ 1;
        let mask = core::hint::black_box(is_zero).wrapping_neg();
        for (word, candidate) in out.iter_mut().zip(entry) {
            *word |= candidate & mask;
        }
    }
}

/// `acc += a·b` for equal lengths, where the last word of `acc` takes what overflows.
fn accumulate_product(acc: &mut [u64], a: &[u64], b: &[u64]) {
    let count = a.len();
    let mut top = 0;
    for (index, &word) in b.iter().enumerate() {
        let row = &mut acc[index..];
        let carry = accumulate_words(&mut row[..count], a, word);
        top = add_pair(&mut row[count], carry, top);
    }
    acc[2 * count] += top;
}

/// `slot += a + b`, returns the carry.
fn add_pair(slot: &mut u64, a: u64, b: u64) -> u64 {
    let sum = u128::from(*slot) + u128::from(a) + u128::from(b);
    *slot = low_word(sum);
    low_word(sum >> 64)
}

/// `acc += a·word` for equal lengths, returns the carry.
#[inline]
fn accumulate_words(acc: &mut [u64], a: &[u64], word: u64) -> u64 {
    let mut carry = 0;
    for (slot, &limb) in acc.iter_mut().zip(a) {
        let sum = u128::from(*slot) + u128::from(limb) * u128::from(word) + u128::from(carry);
        *slot = low_word(sum);
        carry = low_word(sum >> 64);
    }
    carry
}

fn double(words: &mut [u64]) {
    let mut carry = 0;
    for word in words {
        (*word, carry) = (*word << 1 | carry, *word >> 63);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low word is what is asked for")]
fn low_word(value: u128) -> u64 {
    value as u64
}
