//! One residue at a time with 64-bit words, for every CPU.
//!
//! Uses the same digits and formulas as the vector kernel, but is canonical after every product: moduli fill their
//! words, so there is no head-room for lazy reduction.

use core::ops::Range;

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::kernel::{BatchKernel, Digits};
use super::limbs;
use super::residue::Residue;

/// Low digit, then high digit.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Element(Vec<u64>);

/// The quotients of both reductions, a digit with a spare word, and the result.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Scratch {
    low_quotient: Vec<u64>,
    high_quotient: Vec<u64>,
    loose: Vec<u64>,
    result: Vec<u64>,
}

/// Entries in order, window after window.
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
            complement_offset: radix.one_minus_radix.to_vec(),
            radix_squared: radix.radix_squared.words().to_vec(),
            plain_one: Residue::one(modulus.len()).words().to_vec(),
            montgomery_one: radix.radix.words().to_vec(),
        })
    }

    fn product(&self, a: &mut [u64], b: &[u64], scratch: &mut Scratch) {
        let count = self.modulus.len();
        let (b_low, b_high) = b.split_at(count);
        let (a_low, a_high) = a.split_at(count);
        self.reduce_columns(
            scratch,
            |column, sum| sum.add_products(&a_low[column.clone()], &b_low[column]),
            |column, sum| {
                sum.add_products(&a_low[column.clone()], &b_high[column.clone()]);
                sum.add_products(&a_high[column.clone()], &b_low[column]);
            },
        );
        a.copy_from_slice(&scratch.result);
    }

    fn squaring(&self, a: &mut [u64], scratch: &mut Scratch) {
        let (a_low, a_high) = a.split_at(self.modulus.len());
        self.reduce_columns(
            scratch,
            |column, sum| sum.add_square(&a_low[column]),
            |column, sum| sum.add_doubled_products(&a_low[column.clone()], &a_high[column]),
        );
        a.copy_from_slice(&scratch.result);
    }

    /// Montgomery reduction of both digits, with the quotient of the low one subtracted from the high one. The columns
    /// of their products are summed on the fly: `low` and `high` add one column, given the range of words that meet
    /// there.
    #[inline]
    fn reduce_columns(
        &self,
        scratch: &mut Scratch,
        low: impl Fn(Range<usize>, &mut ColumnSum),
        high: impl Fn(Range<usize>, &mut ColumnSum),
    ) {
        let count = self.modulus.len();
        let Scratch {
            low_quotient,
            high_quotient,
            loose,
            result,
        } = scratch;
        let (result_low, result_high) = result.split_at_mut(count);
        self.reduce_digit(low_quotient, loose, |_, _| (), low);
        let excess = limbs::subtract_once(loose, &self.modulus);
        result_low.copy_from_slice(&loose[..count]);

        // The negative quotient is its complement plus a constant.
        let subtrahend = |column: usize, sum: &mut ColumnSum| {
            sum.add_word(!low_quotient[column]);
            sum.add_word(self.complement_offset[column]);
        };
        self.reduce_digit(high_quotient, loose, subtrahend, high);
        // Below 3m + 2 now. The low digit may add one more.
        limbs::add_small(loose, excess);
        for _ in 0..3 {
            limbs::subtract_once(loose, &self.modulus);
        }
        result_high.copy_from_slice(&loose[..count]);
    }

    /// The sum of all columns over `R` modulo `m`, not yet below `m`; and the quotient.
    #[inline]
    fn reduce_digit(
        &self,
        quotient: &mut [u64],
        out: &mut [u64],
        first_half: impl Fn(usize, &mut ColumnSum),
        product: impl Fn(Range<usize>, &mut ColumnSum),
    ) {
        let count = self.modulus.len();
        let mut sum = ColumnSum::default();
        for column in 0..count {
            first_half(column, &mut sum);
            product(0..column + 1, &mut sum);
            sum.add_products(&quotient[..column], &self.modulus[1..=column]);
            quotient[column] = sum.low_word().wrapping_mul(self.negated_inverse);
            sum.add_products(&quotient[column..=column], &self.modulus[..1]);
            sum.take_word();
        }
        for column in 1..count {
            product(column..count, &mut sum);
            sum.add_products(&quotient[column..count], &self.modulus[column..count]);
            out[column - 1] = sum.take_word();
        }
        out[count - 1] = sum.take_word();
        out[count] = sum.take_word();
    }
}

impl BatchKernel for Portable {
    type Element = Element;
    type Scratch = Scratch;
    type SharedTables = SharedTables;
    const LANES: usize = 1;

    fn look_up_cost(&self) -> u32 {
        3
    }

    fn scratch(&self) -> Scratch {
        let words = self.modulus.len();
        Scratch {
            low_quotient: vec![0; words],
            high_quotient: vec![0; words],
            loose: vec![0; words + 1],
            result: vec![0; 2 * words],
        }
    }

    fn one(&self) -> Element {
        Element(self.montgomery_one.clone())
    }

    fn load(&self, residues: &[&Residue]) -> Element {
        Element(residues.first().map_or_else(
            || self.plain_one.clone(),
            |residue| residue.words().to_vec(),
        ))
    }

    fn store(&self, element: &Element, count: usize) -> Vec<Residue> {
        let (low, high) = element.0.split_at(self.modulus.len());
        (0..count.min(1))
            .map(|_| Residue::from_digits(low, high))
            .collect()
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
        choose(
            table.iter().map(|entry| entry.0.as_slice()),
            digits[0],
            &mut out.0,
        );
    }

    fn new_shared_tables(&self, windows: usize, entries: usize) -> SharedTables {
        SharedTables {
            words: vec![0; windows * entries * 2 * self.modulus.len()],
            entries,
        }
    }

    fn set_shared(
        &self,
        tables: &mut SharedTables,
        first_window: usize,
        entry: usize,
        element: &Element,
    ) {
        let count = element.0.len();
        let start = (first_window * tables.entries + entry) * count;
        if let Some(slot) = tables.words.get_mut(start..start + count) {
            slot.copy_from_slice(&element.0);
        }
    }

    fn select_shared(
        &self,
        tables: &SharedTables,
        window: usize,
        digits: &Digits,
        out: &mut Element,
    ) {
        let count = out.0.len();
        let stride = tables.entries * count;
        let table = &tables.words[window * stride..][..stride];
        choose(table.chunks_exact(count), digits[0], &mut out.0);
    }
}

/// Copies the entry with this number, and reads all entries.
fn choose<'a>(entries: impl Iterator<Item = &'a [u64]>, digit: u64, out: &mut [u64]) {
    out.fill(0);
    for (index, entry) in entries.enumerate() {
        let difference = digit ^ index as u64;
        // All ones if the difference is zero. The barrier keeps the compiler from turning it into a branch.
        let is_zero = ((difference | difference.wrapping_neg()) >> 63) ^ 1;
        let mask = core::hint::black_box(is_zero).wrapping_neg();
        for (word, candidate) in out.iter_mut().zip(entry) {
            *word |= candidate & mask;
        }
    }
}

/// The running sum of a column of products, 192 bits wide.
#[derive(Default)]
struct ColumnSum {
    low: u128,
    high: u64,
}

impl ColumnSum {
    /// The products of the words of `a` with those of `b` in reverse: all pairs that meet in one column.
    #[inline]
    fn add_products(&mut self, a: &[u64], b: &[u64]) {
        let (mut low, mut high) = (self.low, self.high);
        for (&x, &y) in a.iter().zip(b.iter().rev()) {
            let (sum, carry) = low.overflowing_add(u128::from(x) * u128::from(y));
            low = sum;
            high += u64::from(carry);
        }
        (self.low, self.high) = (low, high);
    }

    /// Twice [`Self::add_products`].
    #[inline]
    fn add_doubled_products(&mut self, a: &[u64], b: &[u64]) {
        let mut products = Self::default();
        products.add_products(a, b);
        let (sum, carry) = self.low.overflowing_add(products.low << 1);
        self.low = sum;
        self.high += (products.high << 1) + low_word(products.low >> 127) + u64::from(carry);
    }

    /// `add_products` of `a` with itself, each pair computed once.
    #[inline]
    fn add_square(&mut self, a: &[u64]) {
        let half = a.len() / 2;
        let (first, rest) = a.split_at(half);
        let (middle, last) = rest.split_at(a.len() % 2);
        self.add_doubled_products(first, last);
        self.add_products(middle, middle);
    }

    #[inline]
    fn add_word(&mut self, word: u64) {
        let (sum, carry) = self.low.overflowing_add(u128::from(word));
        self.low = sum;
        self.high += u64::from(carry);
    }

    #[inline]
    fn low_word(&self) -> u64 {
        low_word(self.low)
    }

    /// The finished word of this column; what is left is carried into the next.
    #[inline]
    fn take_word(&mut self) -> u64 {
        let word = self.low_word();
        self.low = self.low >> 64 | u128::from(self.high) << 64;
        self.high = 0;
        word
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the low word is what is asked for"
)]
fn low_word(value: u128) -> u64 {
    value as u64
}
