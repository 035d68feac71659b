//! Numbers of a few bits each, packed without gaps. Each list of a message starts at a whole byte.

use crate::bits::mask;
use crate::error::{Misbehaviour, MpcError};
use zeroize::Zeroizing;

/// Secret words, erased when dropped.
pub(crate) type Words = Zeroizing<Vec<u64>>;

/// Words from an iterator of known length: a list that reallocates would leave copies in freed memory.
pub(crate) fn words(words: impl ExactSizeIterator<Item = u64>) -> Words {
    Zeroizing::new(words.collect())
}

/// Writes lists into a message.
pub(crate) struct Writer(Zeroizing<Vec<u8>>);

impl Writer {
    /// A message of at most this many bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Zeroizing::new(Vec::with_capacity(bytes)))
    }

    /// Appends the lowest `bits` bits of each number.
    #[inline]
    pub(crate) fn numbers(&mut self, numbers: impl Iterator<Item = u64>, bits: usize) {
        let mask = mask(bits);
        let (mut word, mut filled) = (0u128, 0);
        for number in numbers {
            word |= u128::from(number & mask) << filled;
            filled += bits;
            if filled >= 64 {
                self.0.extend_from_slice(&(word as u64).to_le_bytes());
                word >>= 64;
                filled -= 64;
            }
        }
        let rest = filled.div_ceil(8);
        self.0.extend_from_slice(&word.to_le_bytes()[..rest]);
    }

    /// Appends `count` bits, 64 from each word.
    pub(crate) fn bits(&mut self, words: &[u64], count: usize) {
        let (whole, rest) = (count / 64, count % 64);
        for word in &words[..whole] {
            self.0.extend_from_slice(&word.to_le_bytes());
        }
        if rest > 0 {
            let last = (words[whole] & mask(rest)).to_le_bytes();
            self.0.extend_from_slice(&last[..rest.div_ceil(8)]);
        }
    }

    /// Appends bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn finish(self) -> Zeroizing<Vec<u8>> {
        self.0
    }
}

/// Reads the lists of a message.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(message: &'a [u8]) -> Self {
        Self(message)
    }

    /// The next bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], MpcError> {
        let split = self.0.split_at_checked(count);
        let (now, rest) = split.ok_or(MpcError::Misuse("a message has the wrong size"))?;
        self.0 = rest;
        Ok(now)
    }

    /// The next `count` numbers of `bits` bits each.
    #[inline]
    pub(crate) fn numbers(&mut self, count: usize, bits: usize) -> Result<Words, MpcError> {
        let bytes = self.bytes(list_bytes(count, bits))?;
        let (numbers, unused) = unpacked(bytes.chunks(8).map(word_of), count, bits);
        match unused {
            0 => Ok(numbers),
            _ => Err(Misbehaviour::UnusedBits.into()),
        }
    }

    /// The next `count` bits, 64 to a word.
    pub(crate) fn bits(&mut self, count: usize) -> Result<Words, MpcError> {
        let bytes = self.bytes(count.div_ceil(8))?;
        let words = words(bytes.chunks(8).map(word_of));
        let unused = match (words.last(), count % 64) {
            (Some(last), used @ 1..) => last & !mask(used),
            _ => 0,
        };
        match unused {
            0 => Ok(words),
            _ => Err(Misbehaviour::UnusedBits.into()),
        }
    }
}

/// `count` numbers of `bits` bits each, and the bits that follow them in the last word.
#[inline]
pub(crate) fn unpacked(
    mut packed: impl Iterator<Item = u64>,
    count: usize,
    bits: usize,
) -> (Words, u64) {
    let mask = mask(bits);
    let (mut word, mut filled) = (0u128, 0);
    let mut numbers = Zeroizing::new(Vec::with_capacity(count));
    for _ in 0..count {
        if filled < bits {
            word |= u128::from(packed.next().unwrap_or(0)) << filled;
            filled += 64;
        }
        numbers.push(word as u64 & mask);
        word >>= bits;
        filled -= bits;
    }
    (numbers, word as u64)
}

/// Up to eight bytes, lowest first.
fn word_of(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

pub(crate) fn list_bytes(count: usize, bits: usize) -> usize {
    (count * bits).div_ceil(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_they_were_written() {
        for bits in 1..=64 {
            for count in [0usize, 1, 2, 7, 8, 9, 64, 65, 130] {
                let value =
                    |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) & mask(bits);
                let mut writer = Writer::with_capacity(0);
                writer.numbers((0..count as u64).map(value), bits);
                let flags: Vec<u64> = (0..count.div_ceil(64) as u64).map(|i| !value(i)).collect();
                writer.bits(&flags, count);
                let message = writer.finish();
                let mut reader = Reader::new(&message);
                let numbers = reader.numbers(count, bits).unwrap();
                assert!(numbers.iter().copied().eq((0..count as u64).map(value)));
                let read = reader.bits(count).unwrap();
                for (at, word) in read.iter().enumerate() {
                    let used = (count - at * 64).min(64);
                    assert_eq!(*word, flags[at] & mask(used));
                }
                assert!(reader.bytes(1).is_err());
            }
        }
    }

    #[test]
    fn unused_bits_must_be_zero() {
        let read = |byte: u8| Reader::new(&[byte]).numbers(2, 3).map(|list| list.to_vec());
        assert_eq!(read(0b0010_1001), Ok(vec![1, 5]));
        assert_eq!(read(0b0110_1001), Err(Misbehaviour::UnusedBits.into()));
        let read = |byte: u8| Reader::new(&[byte]).bits(6).map(|list| list.to_vec());
        assert_eq!(read(0b0010_1001), Ok(vec![0b10_1001]));
        assert_eq!(read(0b1010_1001), Err(Misbehaviour::UnusedBits.into()));
    }
}
