//! The attack that the transfer checks prevent. Without them, an evaluator that corrupts one seed tree per comparison
//! learns Δ, and with it every letter of the garbler.
//!
//! A wrong tree g changes the sender's zero labels by the four bits of Δ that belong to g. The evaluator tries all 16
//! values of these bits on its own labels, and keeps those that give the expected result. 32 comparisons give Δ. With
//! Δ, the evaluator can evaluate a 33rd comparison offline, with any letters and as often as it likes. `cheating_tests`
//! shows that the real transfers do not allow the first step.

use super::tests::unit_table;
use super::*;
use crate::block::Block;
use crate::circuit::cells::UnitCell;
use crate::kernel::Kernel;
use crate::label::{ActiveLabel, Delta, ZeroLabel};
use crate::ot::ideal::{IdealReceiver, IdealSender, ideal_pair};
use crate::ot::{Bits, CorrelatedReceiver, CorrelatedSender};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::sync::Arc;
use veilpath_channel::{Channel, ChannelError};
use zeroize::Zeroizing;

const ALPHABET: usize = 26;
/// A letter that does not occur in the secret.
const ABSENT: usize = 25;
const LENGTH: usize = 8;
/// The length of a query with a known score. It is long, so that few wrong labels give that score.
const QUERY: usize = 60;

/// The garbler's messages, which can be replayed any number of times.
#[derive(Clone, Default)]
struct RecordedMessages {
    bytes: Vec<u8>,
    read: usize,
}

impl Channel for RecordedMessages {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        let end = self.read + buffer.len();
        let bytes = self.bytes.get(self.read..end).ok_or(ChannelError::Closed)?;
        buffer.copy_from_slice(bytes);
        self.read = end;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }
}

/// The bits of Δ that share a tree.
fn group_mask(group: usize) -> u128 {
    15 << (4 * group)
}

/// A sender without checks. The receiver corrupts the seed tree of one group in all transfers of shares.
struct UncheckedSender {
    ideal: IdealSender,
    delta: Arc<Delta>,
    corrupted_group: Option<usize>,
    calls: usize,
}

impl CorrelatedSender for UncheckedSender {
    fn send(
        &mut self,
        count: usize,
        channel: &mut dyn Channel,
    ) -> Result<Zeroizing<Vec<ZeroLabel>>, MpcError> {
        let mut labels = self.ideal.send(count, channel)?;
        self.calls += 1;
        if let Some(group) = self.corrupted_group.filter(|_| self.calls > 1) {
            let error = Block::new(self.delta.block().value() & group_mask(group));
            labels.iter_mut().for_each(|label| label.0 ^= error);
        }
        Ok(labels)
    }
}

/// The cheating receiver. `error` is its guess of how the labels of shares changed.
struct GuessingReceiver {
    ideal: IdealReceiver,
    error: u128,
    calls: usize,
}

impl CorrelatedReceiver for GuessingReceiver {
    fn receive(
        &mut self,
        bits: &Bits,
        channel: &mut dyn Channel,
    ) -> Result<Zeroizing<Vec<ActiveLabel>>, MpcError> {
        let mut labels = self.ideal.receive(bits, channel)?;
        self.calls += 1;
        if self.calls > 1 {
            let error = Block::new(self.error);
            labels.iter_mut().for_each(|label| label.0 ^= error);
        }
        Ok(labels)
    }
}

/// The bits and labels of one evaluation.
type Calls = Vec<(Vec<u8>, Vec<Block>)>;

/// An honest receiver that records its bits and labels.
struct RecordingReceiver<'a> {
    ideal: IdealReceiver,
    calls: &'a mut Calls,
}

impl CorrelatedReceiver for RecordingReceiver<'_> {
    fn receive(
        &mut self,
        bits: &Bits,
        channel: &mut dyn Channel,
    ) -> Result<Zeroizing<Vec<ActiveLabel>>, MpcError> {
        let labels = self.ideal.receive(bits, channel)?;
        let blocks = labels.iter().map(|label| label.0).collect();
        self.calls.push((bits.bytes().collect(), blocks));
        Ok(labels)
    }
}

/// Labels of bits other than the transferred ones, from a known (or assumed) Δ.
struct KnownDelta<'a> {
    calls: std::slice::Iter<'a, (Vec<u8>, Vec<Block>)>,
    delta: u128,
}

impl CorrelatedReceiver for KnownDelta<'_> {
    fn receive(
        &mut self,
        bits: &Bits,
        _: &mut dyn Channel,
    ) -> Result<Zeroizing<Vec<ActiveLabel>>, MpcError> {
        let (before, labels) = self
            .calls
            .next()
            .ok_or(MpcError::Misuse("no more labels"))?;
        let now: Vec<u8> = bits.bytes().collect();
        let other = |at: usize| (before[at / 8] ^ now[at / 8]) >> (at % 8) & 1 == 1;
        let labels = labels.iter().enumerate();
        let flipped =
            labels.map(|(at, label)| *label ^ (Block::new(self.delta) & Block::mask(other(at))));
        Ok(Zeroizing::new(flipped.map(ActiveLabel).collect()))
    }
}

/// The garbler's messages for one comparison of its letters with `columns` of the evaluator's.
fn garble(
    secret: &[usize],
    columns: usize,
    transfers: UncheckedSender,
    seed: u64,
) -> RecordedMessages {
    let table = unit_table(ALPHABET);
    let (mut messages, mut rng) = (
        RecordedMessages::default(),
        ChaCha20Rng::seed_from_u64(seed),
    );
    let delta = Arc::clone(&transfers.delta);
    let session =
        GarblerSession::with_transfers(Kernel::best(), delta, transfers, &mut rng, &mut messages);
    let mut session = session.unwrap();
    let letters = session.letters(ALPHABET, columns, &mut messages).unwrap();
    let rows = secret.iter().map(|letter| &table[*letter][..]);
    let comparison = GarblerComparison {
        rows: rows.collect::<Vec<_>>(),
        columns: 0..columns,
    };
    let all = [comparison];
    let numbers = session.align(&UnitCell, Fold::Sum, &letters, &all, &mut messages, &|_| ());
    session
        .reveal_to_peer(&numbers.unwrap(), &mut messages)
        .unwrap();
    messages
}

/// The number that an evaluator with these letters and transfers decodes from the messages.
fn evaluate(
    letters: &[usize],
    transfers: impl CorrelatedReceiver,
    messages: &RecordedMessages,
) -> u64 {
    let mut messages = messages.clone();
    let session = EvaluatorSession::with_transfers(Kernel::best(), transfers, &mut messages);
    let mut session = session.unwrap();
    let received = session.letters(ALPHABET, letters, &mut messages).unwrap();
    let comparison = EvaluatorComparison {
        rows: LENGTH,
        columns: 0..letters.len(),
    };
    let all = [comparison];
    let numbers = session.align(
        &UnitCell,
        Fold::Sum,
        &received,
        &all,
        &mut messages,
        &|_| (),
    );
    session.decode(&numbers.unwrap(), &mut messages).unwrap()[0]
}

/// Recovers the garbler's letters by evaluating one recorded comparison with other letters; `None` if the offset is
/// wrong.
fn letters_with(delta: u128, calls: &Calls, messages: &RecordedMessages) -> Option<Vec<usize>> {
    let distance = |query: &[usize]| {
        let calls = calls.iter();
        evaluate(query, KnownDelta { calls, delta }, messages)
    };
    let base = distance(&[ABSENT; LENGTH]);
    if base != LENGTH as u64 {
        return None;
    }
    let letter_at = |position: usize| {
        (0..ABSENT).find(|letter| {
            let mut query = [ABSENT; LENGTH];
            query[position] = *letter;
            distance(&query) == base - 1
        })
    };
    let found: Option<Vec<usize>> = (0..LENGTH).map(letter_at).collect();
    found.filter(|found| distance(found) == 0)
}

#[test]
fn without_checks_33_comparisons_reveal_the_offset_and_all_letters() {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let delta = Arc::new(Delta::random(&mut rng));
    // All different, so that no query matches a letter in another place.
    let secret: Vec<usize> = (0..LENGTH)
        .map(|at| 3 * at + rng.random_range(0..3))
        .collect();
    let dealt = |seed: u64| {
        let (ideal, receiver) = ideal_pair(Arc::clone(&delta), seed);
        let sender = |corrupted_group| UncheckedSender {
            ideal,
            delta: Arc::clone(&delta),
            corrupted_group,
            calls: 0,
        };
        (sender, receiver)
    };

    let mut candidates: Vec<u128> = vec![0];
    for group in 0..32 {
        let seed = group as u64;
        let messages = garble(&secret, QUERY, dealt(seed).0(Some(group)), seed);
        let values = (0..16u128).map(|value| value << (4 * group));
        let values: Vec<u128> = values
            .filter(|&error| {
                let ideal = dealt(seed).1;
                let guess = GuessingReceiver {
                    ideal,
                    error,
                    calls: 0,
                };
                // Every letter of the query is inserted or replaces another.
                evaluate(&[ABSENT; QUERY], guess, &messages) == (2 * QUERY - LENGTH) as u64
            })
            .collect();
        let longer = |&start: &u128| values.iter().map(move |value| start | value);
        candidates = candidates.iter().flat_map(longer).collect();
    }

    let (sender, ideal) = dealt(32);
    let messages = garble(&secret, LENGTH, sender(None), 32);
    let mut calls = Calls::new();
    let receiver = RecordingReceiver {
        ideal,
        calls: &mut calls,
    };
    evaluate(&[ABSENT; LENGTH], receiver, &messages);
    let found = candidates.iter().find_map(|&candidate| {
        let letters = letters_with(candidate, &calls, &messages)?;
        Some((candidate, letters))
    });
    assert_eq!(found, Some((delta.block().value(), secret)));
}
