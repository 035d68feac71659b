//! The sender, which has all keys: the garbler.

use super::{LETTERS_PER_BATCH, bits_per_letter, check_alphabet, derive_key};
use crate::block::Block;
use crate::error::MpcError;
use crate::label::{Delta, ZeroLabel};
use crate::ot::CorrelatedSender;
use std::ops::Deref;
use std::sync::Arc;
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// The most keys that are stored. The others are derived again at every use, so that an alphabet of thousands does not
/// take gigabytes.
const MAX_CACHED_KEYS: usize = 4 << 20;

/// The sender's keys for a run of letters.
pub struct SenderLetterKeys {
    alphabet: usize,
    count: usize,
    first_column: u64,
    delta: Arc<Delta>,
    /// `LETTERS_PER_BATCH` letters per element.
    labels: Vec<Zeroizing<Vec<ZeroLabel>>>,
    cached: Zeroizing<Vec<Block>>,
}

/// The keys of a column, stored or derived for this use.
pub(crate) enum ColumnKeys<'a> {
    Cached(&'a [Block]),
    Derived(Zeroizing<Vec<Block>>),
}

impl Deref for ColumnKeys<'_> {
    type Target = [Block];

    fn deref(&self) -> &[Block] {
        match self {
            Self::Cached(keys) => keys,
            Self::Derived(keys) => keys,
        }
    }
}

/// Derives keys for `count` letters of the receiver. Their columns are numbered from `first_column` on; a number is
/// used once per session.
pub fn send(
    alphabet: usize,
    count: usize,
    first_column: u64,
    delta: &Arc<Delta>,
    correlated: &mut impl CorrelatedSender,
    channel: &mut dyn Channel,
) -> Result<SenderLetterKeys, MpcError> {
    check_alphabet(alphabet)?;
    let mut labels = Vec::new();
    correlated.announce(count * bits_per_letter(alphabet));
    for first in (0..count).step_by(LETTERS_PER_BATCH) {
        let letters = LETTERS_PER_BATCH.min(count - first);
        labels.push(correlated.send(letters * bits_per_letter(alphabet), channel)?);
    }
    let mut sent = SenderLetterKeys {
        alphabet,
        count,
        first_column,
        delta: Arc::clone(delta),
        labels,
        cached: Zeroizing::default(),
    };
    let columns = count.min(MAX_CACHED_KEYS / alphabet);
    let mut cached = Zeroizing::new(Vec::with_capacity(columns * alphabet));
    for column in 0..columns {
        sent.derive(column, &mut cached);
    }
    sent.cached = cached;
    Ok(sent)
}

impl SenderLetterKeys {
    /// The number of letters.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The size N of the alphabet.
    pub fn alphabet(&self) -> usize {
        self.alphabet
    }

    /// The number of a column in the session.
    pub(crate) fn column_number(&self, column: usize) -> u64 {
        self.first_column.wrapping_add(column as u64)
    }

    /// All keys of a column, by letter.
    pub(crate) fn keys(&self, column: usize) -> Result<ColumnKeys<'_>, MpcError> {
        if column >= self.count {
            return Err(MpcError::Misuse("no such letter of the other side"));
        }
        let start = column * self.alphabet;
        if let Some(cached) = self.cached.get(start..start + self.alphabet) {
            return Ok(ColumnKeys::Cached(cached));
        }
        let mut keys = Zeroizing::new(Vec::with_capacity(self.alphabet));
        self.derive(column, &mut keys);
        Ok(ColumnKeys::Derived(keys))
    }

    fn derive(&self, column: usize, keys: &mut Vec<Block>) {
        let bits = bits_per_letter(self.alphabet);
        let start = column % LETTERS_PER_BATCH * bits;
        let labels = &self.labels[column / LETTERS_PER_BATCH][start..start + bits];
        let number = self.column_number(column);
        keys.extend((0..self.alphabet).map(|letter| {
            let chosen = labels
                .iter()
                .enumerate()
                .map(|(bit, label)| label.of(letter >> bit & 1 == 1, &self.delta).0);
            derive_key(number, letter, self.alphabet, chosen)
        }));
    }
}
