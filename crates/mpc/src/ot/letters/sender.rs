//! The side with all keys: the garbler.

use super::{PIECE, bits_per_letter, check_alphabet, derive_key};
use crate::block::Block;
use crate::error::MpcError;
use crate::label::{Delta, ZeroLabel};
use crate::ot::CorrelatedSender;
use std::ops::Deref;
use std::sync::Arc;
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// Keys are stored up to this size, and derived again at every use beyond it: an alphabet of thousands must not cost
/// gigabytes.
const KEPT_KEYS: usize = 4 << 20;

/// The sender's keys for a run of letters.
pub struct SentLetters {
    alphabet: usize,
    count: usize,
    first_column: u64,
    delta: Arc<Delta>,
    /// `PIECE` letters to a piece.
    labels: Vec<Zeroizing<Vec<ZeroLabel>>>,
    kept: Zeroizing<Vec<Block>>,
}

/// The keys of a column, stored or derived for this use.
pub(crate) enum ColumnKeys<'a> {
    Kept(&'a [Block]),
    Derived(Zeroizing<Vec<Block>>),
}

impl Deref for ColumnKeys<'_> {
    type Target = [Block];

    fn deref(&self) -> &[Block] {
        match self {
            Self::Kept(keys) => keys,
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
) -> Result<SentLetters, MpcError> {
    check_alphabet(alphabet)?;
    let mut labels = Vec::new();
    correlated.announce(count * bits_per_letter(alphabet));
    for first in (0..count).step_by(PIECE) {
        let letters = PIECE.min(count - first);
        labels.push(correlated.send(letters * bits_per_letter(alphabet), channel)?);
    }
    let mut sent = SentLetters {
        alphabet,
        count,
        first_column,
        delta: Arc::clone(delta),
        labels,
        kept: Zeroizing::default(),
    };
    let keep = count.min(KEPT_KEYS / alphabet);
    let mut kept = Zeroizing::new(Vec::with_capacity(keep * alphabet));
    for column in 0..keep {
        sent.derive(column, &mut kept);
    }
    sent.kept = kept;
    Ok(sent)
}

impl SentLetters {
    /// How many letters there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// N.
    pub fn alphabet(&self) -> usize {
        self.alphabet
    }

    /// The session's number of a column.
    pub(crate) fn column_number(&self, column: usize) -> u64 {
        self.first_column.wrapping_add(column as u64)
    }

    /// All keys of a column, by letter.
    pub(crate) fn keys(&self, column: usize) -> Result<ColumnKeys<'_>, MpcError> {
        if column >= self.count {
            return Err(MpcError::Misuse("no such letter of the other side"));
        }
        let place = column * self.alphabet;
        if let Some(kept) = self.kept.get(place..place + self.alphabet) {
            return Ok(ColumnKeys::Kept(kept));
        }
        let mut keys = Zeroizing::new(Vec::with_capacity(self.alphabet));
        self.derive(column, &mut keys);
        Ok(ColumnKeys::Derived(keys))
    }

    fn derive(&self, column: usize, keys: &mut Vec<Block>) {
        let bits = bits_per_letter(self.alphabet);
        let place = column % PIECE * bits;
        let labels = &self.labels[column / PIECE][place..place + bits];
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
