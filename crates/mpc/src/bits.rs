//! Lists of bits, and runs of bits in lists of words or blocks. Positions are public, values are not.

use crate::block::Block;
use zeroize::Zeroizing;

/// A list of secret bits, packed, the first one lowest. Erased when dropped.
#[derive(Default)]
pub struct Bits {
    words: Zeroizing<Vec<u64>>,
    len: usize,
}

impl Bits {
    /// An empty list with room for this many bits.
    pub fn with_capacity(bits: usize) -> Self {
        Self {
            words: Zeroizing::new(Vec::with_capacity(bits.div_ceil(64))),
            len: 0,
        }
    }

    /// The number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a bit. No branch depends on it.
    #[inline]
    pub fn push(&mut self, bit: bool) {
        self.push_low_bits(u64::from(bit), 1);
    }

    /// Appends the lowest `count` bits of a word, lowest first. `count` is at most 64 and public, the word is not.
    #[inline]
    pub fn push_low_bits(&mut self, word: u64, count: usize) {
        if count == 0 {
            return;
        }
        let word = word & mask(count);
        let shift = self.len % 64;
        if shift == 0 {
            self.words.push(word);
        } else {
            if let Some(last) = self.words.last_mut() {
                *last |= word << shift;
            }
            if shift + count > 64 {
                self.words.push(word >> (64 - shift));
            }
        }
        self.len += count;
    }

    /// Appends `count` bits of other words, from a public position on.
    #[inline]
    pub(crate) fn extend(&mut self, words: &[u64], mut from: usize, count: usize) {
        let end = from + count;
        while from < end {
            let now = (end - from).min(64);
            self.push_low_bits(bits_at(words, from, now), now);
            from += now;
        }
    }

    /// The bits, 64 to a word.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// As [`Bits::words`].
    pub(crate) fn into_words(self) -> Zeroizing<Vec<u64>> {
        self.words
    }

    /// The bits, eight to a byte.
    #[cfg(any(test, feature = "ideal"))]
    pub(crate) fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.words.iter().flat_map(|word| word.to_le_bytes())
    }
}

impl FromIterator<bool> for Bits {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let mut all = Self::default();
        for bit in bits {
            all.push(bit);
        }
        all
    }
}

/// A list whose bits are numbered word by word, the lowest first.
pub(crate) trait BitSource {
    /// 64 bits, from a multiple of 64 on.
    fn word(&self, index: usize) -> u64;
}

impl BitSource for [u64] {
    #[inline]
    fn word(&self, index: usize) -> u64 {
        self[index]
    }
}

impl BitSource for [Block] {
    /// Bits after the last block are zero.
    #[inline]
    fn word(&self, index: usize) -> u64 {
        let block = self.get(index / 2).map_or([0; 2], |block| block.words());
        block[index % 2]
    }
}

/// The lowest `bits` bits.
pub(crate) const fn mask(bits: usize) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    }
}

/// `count` bits (at most 64) from a position on.
#[inline]
pub(crate) fn bits_at<S: BitSource + ?Sized>(source: &S, from: usize, count: usize) -> u64 {
    let (index, shift) = (from / 64, from % 64);
    let mut bits = source.word(index) >> shift;
    if shift + count > 64 {
        bits |= source.word(index + 1) << (64 - shift);
    }
    bits & mask(count)
}

/// Overwrites a run of bits with bits of another list.
#[inline]
pub(crate) fn copy_bits<S: BitSource + ?Sized>(
    from: &S,
    mut from_bit: usize,
    to: &mut [u64],
    mut to_bit: usize,
    count: usize,
) {
    let end = from_bit + count;
    while from_bit < end {
        // Up to the end of the current target word.
        let now = (64 - to_bit % 64).min(end - from_bit);
        let (word, shift) = (to_bit / 64, to_bit % 64);
        let bits = bits_at(from, from_bit, now);
        to[word] = to[word] & !(mask(now) << shift) | bits << shift;
        from_bit += now;
        to_bit += now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bit(words: &[u64], at: usize) -> u64 {
        words[at / 64] >> (at % 64) & 1
    }

    #[test]
    fn runs_are_copied_bit_by_bit() {
        let source: Vec<u64> = (1..8u64)
            .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .collect();
        for from in [0, 1, 63, 64, 65, 127, 200] {
            for count in [0, 1, 2, 63, 64, 65, 128, 150] {
                let mut list = Bits::with_capacity(count + 5);
                list.push_low_bits(0b10110, 5);
                list.extend(&source, from, count);
                let list = list.into_words();
                assert_eq!(list.len(), (count + 5).div_ceil(64));
                assert_eq!(list[0] & 31, 0b10110);
                for at in 0..count {
                    assert_eq!(bit(&list, at + 5), bit(&source, from + at));
                }
                for to in [0, 1, 63, 64, 100] {
                    for old in [0, u64::MAX] {
                        let mut target = vec![old; 5];
                        copy_bits(&source[..], from, &mut target, to, count);
                        for at in 0usize..5 * 64 {
                            let expected = match at.checked_sub(to) {
                                Some(at) if at < count => bit(&source, from + at),
                                _ => old & 1,
                            };
                            assert_eq!(bit(&target, at), expected);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn bits_are_packed_in_order() {
        let mut bits = Bits::with_capacity(100);
        assert!(bits.is_empty());
        let mut expected = Vec::new();
        let mut value = 0x9e37_79b9_7f4a_7c15_u64;
        for count in (0..=64).chain([64, 1, 63, 5]) {
            value = value.rotate_left(7).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits.push_low_bits(value, count);
            expected.extend((0..count).map(|at| value >> at & 1 == 1));
        }
        assert_eq!(bits.len(), expected.len());
        let bytes: Vec<u8> = bits.bytes().collect();
        for (at, bit) in expected.iter().enumerate() {
            assert_eq!(bytes[at / 8] >> (at % 8) & 1 == 1, *bit);
        }
        let again: Bits = expected.iter().copied().collect();
        assert!(again.bytes().eq(bytes));
    }
}
