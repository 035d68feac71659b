//! An evaluator that cheats in its transfers gets no table.

use super::tests::unit_table;
use super::*;
use crate::circuit::cells::UnitCell;
use crate::error::Misbehaviour;
use crate::kernel::Kernel;
use crate::ot::correlated::GroupBits;
use crate::ot::correlated::messages::{seed_bytes, transfer_bytes};
use crate::ot::lookup::messages::column_bytes;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use veilpath_channel::{Channel, ChannelError, Counted, MemoryChannel, memory_pair};

const ALPHABET: usize = 5;
const LENGTH: usize = 40;

/// Changes one of the bytes that are sent.
struct Changed {
    channel: MemoryChannel,
    sent: usize,
    at: usize,
}

impl Channel for Changed {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        let mut bytes = bytes.to_vec();
        let place = self.at.checked_sub(self.sent);
        if let Some(byte) = place.and_then(|place| bytes.get_mut(place)) {
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

fn garble(channel: &mut impl Channel) -> Result<(), MpcError> {
    let table = unit_table(ALPHABET);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
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
    session.show(&numbers, channel)
}

fn evaluate(channel: &mut impl Channel) -> Result<Vec<u64>, MpcError> {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let mut session = EvaluatorSession::start(Kernel::best(), &mut rng, channel)?;
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
    session.learn(&numbers, channel)
}

/// How the garbler ends if this byte of the evaluator's is changed, and the bytes that it has sent.
fn run(at: usize) -> (Option<MpcError>, usize) {
    let (left, right) = memory_pair();
    let mut left = Counted::new(left);
    std::thread::scope(|scope| {
        let evaluator = scope.spawn(move || {
            let mut right = Changed {
                channel: right,
                sent: 0,
                at,
            };
            evaluate(&mut right)
        });
        let ended = garble(&mut left);
        let sent = left.traffic().sent as usize;
        drop(left);
        assert_eq!(evaluator.join().unwrap().is_ok(), ended.is_ok());
        (ended.err(), sent)
    })
}

#[test]
fn nothing_that_uses_transfers_is_sent_before_they_are_checked() {
    let group_bits = GroupBits::default();
    let letters = 32 + seed_bytes(group_bits);
    let shares = letters + transfer_bytes(LENGTH * 3, group_bits);
    // The proof, and then one bit for each share.
    let end = shares + transfer_bytes(LENGTH * LENGTH, group_bits) - LENGTH * LENGTH / 8;
    let points = 64 * 128;
    let columns = LENGTH * column_bytes(ALPHABET, LENGTH, 1);
    let inconsistent = |reason: Misbehaviour| Some(MpcError::Peer(reason));
    for (at, most, reason) in [
        (letters - 1, points, Misbehaviour::InconsistentSeeds),
        (letters, points + 16, Misbehaviour::InconsistentTransfers),
        (
            shares,
            points + 16 + columns,
            Misbehaviour::InconsistentTransfers,
        ),
        (
            end - 1,
            points + 16 + columns,
            Misbehaviour::InconsistentTransfers,
        ),
    ] {
        let (error, sent) = run(at);
        assert_eq!(error, inconsistent(reason), "byte {at}");
        assert_eq!(sent, most, "byte {at}");
    }
    let (error, sent) = run(usize::MAX);
    assert_eq!(error, None);
    assert!(sent > points + 16 + columns + LENGTH * LENGTH * 3 * 32);
}
