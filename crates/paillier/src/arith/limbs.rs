//! Little-endian words, shared by both kernels and the big-integer library.

use crypto_bigint::{BoxedUint, ConcatenatingSquare, NonZero, Resize};
use zeroize::Zeroizing;

use super::memory::Words;
use super::residue::Residue;

/// Constants of the modulus `m` for a kernel with Montgomery radix `R`.
pub(crate) struct MontgomeryConstants {
    /// `R mod m²`.
    pub(crate) radix: Residue,
    /// `R² mod m²`.
    pub(crate) radix_squared: Residue,
    /// `(1 − R) mod m`.
    pub(crate) one_minus_radix: Words,
}

impl MontgomeryConstants {
    /// Computes the constants in constant time, because the modulus may be a secret prime. `None` for a modulus of
    /// zero.
    pub(crate) fn new(modulus: &[u64], radix_bits: u32) -> Option<Self> {
        let words = modulus.len();
        let nonzero_erased =
            |uint: BoxedUint| Option::<NonZero<_>>::from(uint.into_nz()).map(Zeroizing::new);
        let m: Zeroizing<NonZero<BoxedUint>> = nonzero_erased(to_uint(modulus))?;
        let whole: &BoxedUint = (*m).as_ref();
        let m_squared = nonzero_erased(whole.concatenating_square())?;
        let split = |value: &BoxedUint| {
            let (high, low) = value.div_rem(&m);
            Residue::from_digits(&from_uint(&low, words), &from_uint(&high, words))
        };
        let radix = BoxedUint::one_with_precision(radix_bits + 64)
            .shl(radix_bits)
            .rem(&m_squared);
        let radix_squared = radix.concatenating_square().rem(&m_squared);
        // R mod m is in [0, m), so m + 1 − (R mod m) is positive and needs at most one subtraction.
        let radix_mod_m = radix.rem(&m);
        let wide = Zeroizing::new(whole.resize(whole.bits_precision() + 64));
        let one_minus_radix = wide
            .wrapping_add(BoxedUint::one_with_precision(wide.bits_precision()))
            .wrapping_sub(radix_mod_m)
            .rem(&m);
        Some(Self {
            radix: split(&radix),
            radix_squared: split(&radix_squared),
            one_minus_radix: from_uint(&one_minus_radix, words),
        })
    }
}

/// Whether a secret number with these words, of 32 or 64 bits, is below `2^bits`. Constant time, unlike
/// `BoxedUint::bits`: it counts leading zeros with `bsr`, which takes less time for some words on some processors.
pub(crate) fn fits<W: Copy + Into<u64>>(words: &[W], bits: u32) -> bool {
    let word_bits = 8 * size_of::<W>();
    let excess = words.iter().zip((0..).step_by(word_bits));
    let excess = excess.map(|(&word, position)| {
        let word: u64 = word.into();
        word.checked_shr(bits.saturating_sub(position)).unwrap_or(0)
    });
    excess.fold(0, |all, word| all | word) == 0
}

/// The number with these words, with exactly their precision.
#[cfg(target_pointer_width = "64")]
pub(crate) fn to_uint(words: &[u64]) -> BoxedUint {
    if words.is_empty() {
        return BoxedUint::zero();
    }
    BoxedUint::from_words(words.iter().copied())
}

/// The number with these words, with exactly their precision.
#[cfg(not(target_pointer_width = "64"))]
pub(crate) fn to_uint(words: &[u64]) -> BoxedUint {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    let bytes = Zeroizing::new(bytes.collect::<Vec<u8>>());
    BoxedUint::from_le_slice_truncated(&bytes, bits_of(words))
}

/// The low `words` words of a number.
#[cfg(target_pointer_width = "64")]
pub(crate) fn from_uint(value: &BoxedUint, words: usize) -> Words {
    let mut out = Words::zeros(words);
    for (word, &limb) in out.iter_mut().zip(value.as_words()) {
        *word = limb;
    }
    out
}

/// The low `words` words of a number.
#[cfg(not(target_pointer_width = "64"))]
pub(crate) fn from_uint(value: &BoxedUint, words: usize) -> Words {
    let bytes = Zeroizing::new(value.to_le_bytes().into_vec());
    let mut out = Words::zeros(words);
    for (word, chunk) in out.iter_mut().zip(bytes.chunks(8)) {
        let mut padded = [0; 8];
        padded[..chunk.len()].copy_from_slice(chunk);
        *word = u64::from_le_bytes(padded);
    }
    out
}

/// The same number with the precision of another, which must be large enough.
pub(crate) fn resize(value: &BoxedUint, like: &BoxedUint) -> BoxedUint {
    let words = from_uint(value, like.bits_precision().div_ceil(64) as usize);
    to_uint(&words)
}

/// `low + high·m` as one number of twice the length of `m`, for digits of that length. Constant time.
pub(crate) fn join_digits(low: &[u64], high: &[u64], m: &[u64]) -> Words {
    let mut joined = Words::zeros(2 * m.len());
    joined[..m.len()].copy_from_slice(low);
    for (index, &digit) in high.iter().enumerate() {
        let mut carry = 0;
        let (row, beyond) = joined[index..].split_at_mut(m.len());
        for (word, &factor) in row.iter_mut().zip(m) {
            (*word, carry) = digit.carrying_mul_add(factor, *word, carry);
        }
        beyond[0] = carry;
    }
    joined
}

/// `a − b` for `a ≥ b` of equal length.
pub(crate) fn difference(a: &[u64], b: &[u64]) -> Words {
    let mut difference = Words::copy(a);
    let mut borrow = false;
    for (word, &subtrahend) in difference.iter_mut().zip(b) {
        (*word, borrow) = word.borrowing_sub(subtrahend, borrow);
    }
    difference
}

/// Whether `a < b` for equal lengths (1 or 0), without a branch.
pub(crate) fn is_less(a: &[u64], b: &[u64]) -> u64 {
    let mut borrow = false;
    for (&word, &subtrahend) in a.iter().zip(b) {
        borrow = word.borrowing_sub(subtrahend, borrow).1;
    }
    u64::from(borrow)
}

/// `value ← other` where `replace` is 1, and nothing where it is 0, without a branch.
pub(crate) fn replace_if(replace: u64, value: &mut [u64], other: &[u64]) {
    let mask = core::hint::black_box(replace).wrapping_neg();
    for (word, &other) in value.iter_mut().zip(other) {
        *word ^= (*word ^ other) & mask;
    }
}

/// `count` ≤ 64 bits from position `start`, zeros beyond the end. The position is public; the value may be secret.
pub(crate) fn bits_at(words: &[u64], start: usize, count: u32) -> u64 {
    let (index, shift) = (start / 64, start % 64);
    let word = |index: usize| words.get(index).copied().unwrap_or(0);
    let mut value = word(index) >> shift;
    if shift != 0 {
        value |= word(index + 1) << (64 - shift);
    }
    if count < 64 {
        value & ((1 << count) - 1)
    } else {
        value
    }
}

/// The bit length.
#[cfg(target_arch = "x86_64")]
pub(crate) fn bit_length_vartime(words: &[u64]) -> u32 {
    let zeros: u32 = match words.iter().rposition(|&word| word != 0) {
        Some(top) => words[top].leading_zeros() + bits_of(&words[top + 1..]),
        None => bits_of(words),
    };
    bits_of(words) - zeros
}

/// `−value⁻¹ mod 2^64` of an odd value, by Newton's iteration.
pub(crate) fn negated_inverse_of_odd(value: u64) -> u64 {
    // value·value ≡ 1 (mod 8), so the start is correct to three bits, and five doublings reach 64.
    let mut inverse = value;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(value.wrapping_mul(inverse)));
    }
    inverse.wrapping_neg()
}

/// `value −= m` where `value ≥ m`, without a branch; returns whether it was subtracted (1 or 0).
/// `value` may have more words than `m`.
pub(crate) fn subtract_once(value: &mut [u64], m: &[u64]) -> u64 {
    let mut borrow = false;
    for (index, word) in value.iter().enumerate() {
        let subtrahend = m.get(index).copied().unwrap_or(0);
        borrow = word.borrowing_sub(subtrahend, borrow).1;
    }
    let subtracted = u64::from(!borrow);
    let mask = core::hint::black_box(subtracted).wrapping_neg();
    let mut borrow = false;
    for (index, word) in value.iter_mut().enumerate() {
        let subtrahend = m.get(index).copied().unwrap_or(0) & mask;
        (*word, borrow) = word.borrowing_sub(subtrahend, borrow);
    }
    subtracted
}

/// `value ← value + addend + carry_in mod m` for a sum below `2m`, without a branch; returns whether `m` was subtracted
/// (1 or 0).
pub(crate) fn add_mod(value: &mut [u64], addend: &[u64], carry_in: u64, m: &[u64]) -> u64 {
    let mut carry = carry_in != 0;
    let mut borrow = false;
    for ((word, &other), &subtrahend) in value.iter_mut().zip(addend).zip(m) {
        (*word, carry) = word.carrying_add(other, carry);
        borrow = word.borrowing_sub(subtrahend, borrow).1;
    }
    let subtracted = u64::from(carry) | u64::from(!borrow);
    let mask = core::hint::black_box(subtracted).wrapping_neg();
    let mut borrow = false;
    for (word, &subtrahend) in value.iter_mut().zip(m) {
        (*word, borrow) = word.borrowing_sub(subtrahend & mask, borrow);
    }
    subtracted
}

/// `value += addend`, returns the carry.
pub(crate) fn add_small(value: &mut [u64], addend: u64) -> u64 {
    let mut carry = addend;
    for word in value {
        let (sum, overflow) = word.overflowing_add(carry);
        *word = sum;
        carry = u64::from(overflow);
    }
    carry
}

fn bits_of(words: &[u64]) -> u32 {
    // A number of 2^26 words would exceed all of our moduli; saturate rather than wrap.
    u32::try_from(words.len())
        .unwrap_or(u32::MAX / 64)
        .saturating_mul(64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compared with the library's bit length.
    #[test]
    fn numbers_fit_from_their_bit_length_on() {
        for length in 0..=200u32 {
            let number = match length.checked_sub(1) {
                Some(top) => BoxedUint::one_with_precision(256).shl(top),
                None => BoxedUint::zero_with_precision(256),
            };
            assert_eq!(number.bits(), length);
            let narrow: Vec<u32> = number
                .to_le_bytes()
                .chunks(4)
                .map(|bytes| {
                    bytes
                        .iter()
                        .rev()
                        .fold(0, |word, byte| word << 8 | u32::from(*byte))
                })
                .collect();
            for bits in 0..=300 {
                assert_eq!(
                    fits(number.as_words(), bits),
                    bits >= length,
                    "{length} {bits}"
                );
                assert_eq!(fits(&narrow, bits), bits >= length, "{length} {bits}");
            }
        }
    }
}
