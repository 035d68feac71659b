//! Runs of bits in lists of words.

use super::packing::{Words, mask};
use zeroize::Zeroizing;

/// Bits that are appended to a list, 64 to a word.
pub(crate) struct BitList {
    words: Words,
    count: usize,
}

impl BitList {
    /// A list of at most this many bits.
    pub(crate) fn with_capacity(bits: usize) -> Self {
        Self {
            words: Zeroizing::new(Vec::with_capacity(bits.div_ceil(64))),
            count: 0,
        }
    }

    /// Appends the lowest `count` bits of a word, at most 64. The other bits must be zero.
    #[inline]
    pub(crate) fn push(&mut self, bits: u64, count: usize) {
        let filled = self.count % 64;
        match self.words.last_mut() {
            Some(last) if filled > 0 => *last |= bits << filled,
            _ => self.words.push(bits),
        }
        if filled > 0 && filled + count > 64 {
            self.words.push(bits >> (64 - filled));
        }
        self.count += count;
    }

    /// Appends `count` bits of other words.
    #[inline]
    pub(crate) fn extend(&mut self, words: &[u64], mut from: usize, count: usize) {
        let end = from + count;
        while from < end {
            let now = (end - from).min(64);
            self.push(bits_at(words, from, now), now);
            from += now;
        }
    }

    pub(crate) fn finish(self) -> Words {
        self.words
    }
}

/// `count` bits (1 to 64) from a position on.
#[inline]
pub(crate) fn bits_at(words: &[u64], from: usize, count: usize) -> u64 {
    let (word, bit) = (from / 64, from % 64);
    let mut bits = words[word] >> bit;
    if bit + count > 64 {
        bits |= words[word + 1] << (64 - bit);
    }
    bits & mask(count)
}

/// Overwrites a run of bits with bits of other words.
#[inline]
pub(crate) fn copy_bits(
    from: &[u64],
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
                let mut list = BitList::with_capacity(count + 5);
                list.push(0b10110, 5);
                list.extend(&source, from, count);
                let list = list.finish();
                assert_eq!(list.len(), (count + 5).div_ceil(64));
                assert_eq!(list[0] & 31, 0b10110);
                for at in 0..count {
                    assert_eq!(bit(&list, at + 5), bit(&source, from + at));
                }
                for to in [0, 1, 63, 64, 100] {
                    for old in [0, u64::MAX] {
                        let mut target = vec![old; 5];
                        copy_bits(&source, from, &mut target, to, count);
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
}
