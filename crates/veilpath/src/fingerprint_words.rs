//! Fingerprints as words that can be read out over the phone.
//!
//! Each word encodes 16 bits as consonant, vowel, consonant, vowel, consonant, as in D. S. Wilkerson's proquints.
//! Sixteen words encode the whole fingerprint, so comparing them is as good as comparing all digits.

use veilpath_session::Fingerprint;

const CONSONANTS: &[u8; 16] = b"bdfghjklmnprstvz";
const VOWELS: &[u8; 4] = b"aiou";

/// Encodes the fingerprint as sixteen words.
pub fn fingerprint_words(fingerprint: Fingerprint) -> Vec<String> {
    let bytes = fingerprint.bytes();
    let pairs = bytes.chunks_exact(2);
    pairs
        .map(|pair| word(u16::from_be_bytes([pair[0], pair[1]])))
        .collect()
}

fn word(bits: u16) -> String {
    let part = |shift: u16, letters: &[u8]| {
        let at = usize::from(bits >> shift) % letters.len();
        char::from(letters[at])
    };
    [
        part(12, CONSONANTS),
        part(10, VOWELS),
        part(6, CONSONANTS),
        part(4, VOWELS),
        part(0, CONSONANTS),
    ]
    .into_iter()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Values from the specification, where they are IP addresses.
    #[test]
    fn words_are_proquints() {
        assert_eq!([word(0x7f00), word(0x0001)], ["lusab", "babad"]);
        assert_eq!([word(0x3f54), word(0xdcc1)], ["gutih", "tugad"]);
    }

    #[test]
    fn every_word_encodes_a_different_number() {
        let all: BTreeSet<String> = (0..=u16::MAX).map(word).collect();
        assert_eq!(all.len(), 1 << 16);
        let last = format!("{}01", "00".repeat(31));
        let words = fingerprint_words(last.parse().unwrap());
        assert_eq!(words.len(), 16);
        assert_eq!(words[15], "babad");
    }
}
