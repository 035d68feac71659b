//! An evaluator that cheats in its transfers gets no table.

use super::tests::unit_table;
use super::*;
use crate::circuit::cells::UnitCell;
use crate::error::Misbehaviour;
use crate::kernel::Kernel;
use crate::label::{ActiveLabel, Delta};
use crate::ot::correlated::attack_tests::correction_offset;
use crate::ot::correlated::messages::{seed_bytes, transfer_bytes};
use crate::ot::correlated::{Receiver, TreeLevels};
use crate::ot::lookup::messages::column_bytes;
use crate::ot::{Bits, CorrelatedReceiver};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use veilpath_channel::{Channel, ChannelError, Counted, MemoryChannel, memory_pair};
use zeroize::Zeroizing;

const ALPHABET: usize = 5;
const LENGTH: usize = 40;

/// Bytes that the garbler sends before the columns: the points of the base transfers, then the hash key.
const POINTS: usize = 64 * 128;
const START: usize = POINTS + 16;

/// Changes one of the bytes that are sent.
struct TamperingChannel {
    channel: MemoryChannel,
    sent: usize,
    at: usize,
}

impl Channel for TamperingChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        let mut bytes = bytes.to_vec();
        let index = self.at.checked_sub(self.sent);
        if let Some(byte) = index.and_then(|index| bytes.get_mut(index)) {
            *byte ^= 1;
        }
        self.sent += bytes.len();
        self.channel.send(&bytes)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.channel.receive(buffer)
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.channel.flush()
    }
}

fn garble(seed: u64, channel: &mut dyn Channel) -> Result<(), MpcError> {
    let table = unit_table(ALPHABET);
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut session = GarblerSession::start(Kernel::best(), &mut rng, channel)?;
    let letters = session.letters(ALPHABET, LENGTH, channel)?;
    let comparison = GarblerComparison {
        rows: (0..LENGTH)
            .map(|row| &table[row % ALPHABET][..])
            .collect::<Vec<_>>(),
        columns: 0..LENGTH,
    };
    let numbers = session.align(
        &UnitCell,
        Fold::Sum,
        &letters,
        &[comparison],
        channel,
        &|_| (),
    )?;
    session.reveal_to_peer(&numbers, channel)
}

/// The offset of the garbler with this seed.
fn offset(seed: u64) -> u128 {
    let delta = Delta::random(&mut ChaCha20Rng::seed_from_u64(seed));
    delta.block().value()
}

/// Deviates in one seed tree from a given call on: call 0 transfers the letters, call 1 the shares.
struct DeviatingReceiver {
    receiver: Receiver,
    deviation: Option<Deviation>,
    calls: usize,
}

#[derive(Clone, Copy)]
struct Deviation {
    tree: usize,
    /// The leaf that the sender is assumed not to have.
    guess: usize,
    from_call: usize,
}

impl CorrelatedReceiver for DeviatingReceiver {
    fn announce(&mut self, count: usize) {
        self.receiver.announce(count);
    }

    fn receive(
        &mut self,
        bits: &Bits,
        channel: &mut dyn Channel,
    ) -> Result<Zeroizing<Vec<ActiveLabel>>, MpcError> {
        if let Some(deviation) = self
            .deviation
            .filter(|deviation| deviation.from_call == self.calls)
        {
            self.receiver.corrupt_leaf(deviation.tree, deviation.guess);
        }
        self.calls += 1;
        self.receiver.receive(bits, channel)
    }
}

fn evaluate(deviation: Option<Deviation>, channel: &mut dyn Channel) -> Result<Vec<u64>, MpcError> {
    let (kernel, mut rng) = (Kernel::best(), ChaCha20Rng::seed_from_u64(2));
    let receiver = Receiver::start(TreeLevels::default(), kernel, &mut rng, channel)?;
    let transfers = DeviatingReceiver {
        receiver,
        deviation,
        calls: 0,
    };
    let mut session = EvaluatorSession::with_transfers(kernel, transfers, channel)?;
    let letters = session.letters(ALPHABET, &[3; LENGTH], channel)?;
    let comparison = EvaluatorComparison {
        rows: LENGTH,
        columns: 0..LENGTH,
    };
    let numbers = session.align(
        &UnitCell,
        Fold::Sum,
        &letters,
        &[comparison],
        channel,
        &|_| (),
    )?;
    session.decode(&numbers, channel)
}

/// Runs a session in which one byte from the evaluator is changed. Returns the garbler's error, and how many bytes it
/// sent.
fn run(at: usize) -> (Option<MpcError>, usize) {
    run_with(1, at, None)
}

fn run_with(seed: u64, at: usize, deviation: Option<Deviation>) -> (Option<MpcError>, usize) {
    let (left, right) = memory_pair();
    let mut left = Counted::new(left);
    std::thread::scope(|scope| {
        let evaluator = scope.spawn(move || {
            let mut right = TamperingChannel {
                channel: right,
                sent: 0,
                at,
            };
            evaluate(deviation, &mut right)
        });
        let ended = garble(seed, &mut left);
        let sent = left.traffic().sent as usize;
        drop(left);
        assert_eq!(evaluator.join().unwrap().is_ok(), ended.is_ok());
        (ended.err(), sent)
    })
}

#[test]
fn nothing_that_uses_transfers_is_sent_before_they_are_checked() {
    let tree_levels = TreeLevels::default();
    let letters = 32 + seed_bytes(tree_levels);
    let shares = letters + transfer_bytes(LENGTH * 3, tree_levels);
    // The swap bits, one per share, come after the proof.
    let end = shares + transfer_bytes(LENGTH * LENGTH, tree_levels) - LENGTH * LENGTH / 8;
    let columns = LENGTH * column_bytes(ALPHABET, LENGTH, 1);
    let inconsistent = |reason: Misbehaviour| Some(MpcError::Peer(reason));
    for (at, max_sent, reason) in [
        (letters - 1, POINTS, Misbehaviour::InconsistentSeeds),
        (letters, START, Misbehaviour::InconsistentTransfers),
        (shares, START + columns, Misbehaviour::InconsistentTransfers),
        (
            end - 1,
            START + columns,
            Misbehaviour::InconsistentTransfers,
        ),
    ] {
        let (error, sent) = run(at);
        assert_eq!(error, inconsistent(reason), "byte {at}");
        assert_eq!(sent, max_sent, "byte {at}");
    }
    let (error, sent) = run(usize::MAX);
    assert_eq!(error, None);
    assert!(sent > START + columns + LENGTH * LENGTH * 3 * 32);
}

#[test]
fn a_corrupted_seed_tree_ends_the_comparison_before_the_first_table() {
    // As many comparisons as the attack in `attack_tests` needs: one for each tree, and one more.
    let columns = LENGTH * column_bytes(ALPHABET, LENGTH, 1);
    for comparison in 0..33 {
        let (seed, tree) = (100 + comparison as u64, comparison % 32);
        let missing = (offset(seed) >> (4 * tree)) as usize & 15;

        // Change a correction that this garbler uses.
        let level = 1 + comparison % 3;
        let side = missing >> (3 - level) & 1;
        let index = 32 + correction_offset(TreeLevels::FOUR, tree, level, side);
        let (error, sent) = run_with(seed, index, None);
        assert_eq!(error, Some(Misbehaviour::InconsistentSeeds.into()));
        assert_eq!(sent, POINTS);

        // Change the streams, from the transfers of letters on or only in those of shares.
        let guess = (missing + 1 + comparison % 15) % 16;
        for (from_call, max_sent) in [(0, START), (1, START + columns)] {
            let deviation = Deviation {
                tree,
                guess,
                from_call,
            };
            let (error, sent) = run_with(seed, usize::MAX, Some(deviation));
            assert_eq!(error, Some(Misbehaviour::InconsistentTransfers.into()));
            assert_eq!(sent, max_sent);
        }
    }
    // A receiver that has guessed four bits learns nothing new.
    let deviation = Deviation {
        tree: 7,
        guess: (offset(1) >> 28) as usize & 15,
        from_call: 0,
    };
    assert_eq!(run_with(1, usize::MAX, Some(deviation)).0, None);
}
