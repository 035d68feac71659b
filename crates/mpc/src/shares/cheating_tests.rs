//! A side that cheats in its transfers gets nothing that uses them.

use super::*;
use crate::Kernel;
use crate::error::{Misbehaviour, MpcError};
use crate::ot::correlated::messages::{seed_bytes, transfer_bytes};
use crate::ot::correlated::{MAX_BATCH, TreeLevels};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use veilpath_channel::{Channel, ChannelError, Counted, MemoryChannel, memory_pair};

const ALPHABET: usize = 5;
const LENGTH: usize = 100;
const BITS: TreeLevels = TreeLevels::FOUR;

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

fn seed(party: Party) -> u64 {
    if party == Party::Host { 1 } else { 2 }
}

fn start(party: Party, channel: &mut dyn Channel) -> Result<SharesSession, MpcError> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed(party));
    SharesSession::start(party, BITS, Kernel::best(), &mut rng, channel)
}

/// One comparison.
fn compare(party: Party, channel: &mut dyn Channel) -> Result<Vec<u64>, MpcError> {
    let mut session = start(party, channel)?;
    let lists = LetterLists {
        own: &[3; LENGTH],
        own_lengths: &[LENGTH],
        their_lengths: &[LENGTH],
        cells: (LENGTH * LENGTH) as u64,
        tree_owner: Party::Host,
    };
    let cell = MatrixRecurrence::Unit;
    let equal = |x: usize, y: usize| u64::from(x == y);
    let letters = session.letters(lists, ALPHABET, cell.entry_bits(), equal, channel)?;
    let comparison = MatrixInput {
        rows: 0..LENGTH,
        columns: 0..LENGTH,
        term: 0,
        at_least: 0,
    };
    let finish = Finish {
        subtract: false,
        doubled: false,
        term_bits: 0,
        outputs: Outputs::Numbers,
    };
    session.align(cell, &letters, &[comparison], finish, channel, &|_| ())
}

/// Runs both sides with this task; the other side changes one of its bytes. Returns how this side ended, and the bytes
/// that it sent.
fn run<T>(
    party: Party,
    at: usize,
    task: fn(Party, &mut dyn Channel) -> Result<T, MpcError>,
) -> (Option<MpcError>, usize) {
    let (left, right) = memory_pair();
    let mut left = Counted::new(left);
    let other = match party {
        Party::Host => Party::Join,
        Party::Join => Party::Host,
    };
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut right = TamperingChannel {
                channel: right,
                sent: 0,
                at,
            };
            drop(task(other, &mut right));
        });
        let ended = task(party, &mut left);
        let sent = left.traffic().sent as usize;
        drop(left);
        (ended.err(), sent)
    })
}

#[test]
fn nothing_that_uses_transfers_is_sent_before_they_are_checked() {
    // Without the bits that swap labels: shares use the random choices.
    let batch = transfer_bytes(MAX_BATCH, BITS) - MAX_BATCH / 8;
    for party in [Party::Host, Party::Join] {
        let started = |party| run(party, usize::MAX, start).1;
        let (ours, theirs) = match party {
            Party::Host => (started(Party::Host), started(Party::Join)),
            Party::Join => (started(Party::Join), started(Party::Host)),
        };
        // The host sends the corrections of its seed trees last; the joining side sends them before it receives base
        // transfers.
        let seeds = match party {
            Party::Host => 16 + 32 + seed_bytes(BITS),
            Party::Join => theirs,
        };
        let (error, sent) = run(party, seeds - 1, compare);
        assert_eq!(error, Some(Misbehaviour::InconsistentSeeds.into()));
        assert!(
            sent < ours || party == Party::Join && sent <= ours,
            "{sent}"
        );
        // From the first byte of the corrections to the last one of the proof. Meanwhile a side has sent its own
        // corrections and proofs for some batches, and nothing else.
        for at in [theirs, theirs + batch / 2, theirs + batch - 1] {
            let (error, sent) = run(party, at, compare);
            assert_eq!(error, Some(Misbehaviour::InconsistentTransfers.into()));
            let after_start = sent - ours;
            assert_eq!(after_start % batch, 0, "{party:?}, byte {at}");
            assert!((1..=4).contains(&(after_start / batch)), "{after_start}");
        }
        let (error, sent) = run(party, usize::MAX, compare);
        assert_eq!(error, None);
        assert!(sent > ours + batch, "{sent}");
        assert_ne!((sent - ours) % batch, 0);
    }
}
