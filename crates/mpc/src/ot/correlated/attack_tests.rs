//! Cheating receivers. Each is caught, unless it guesses bits of the offset.

use super::check::{Transcript, prove};
use super::messages::{PROOF_BYTES, append_block, corrections_bytes, corrections_per_tree};
use super::receiver::grow_trees;
use super::*;
use crate::block::{BLOCK_BYTES, Block};
use crate::error::{Misbehaviour, MpcError};
use crate::field;
use crate::kernel::Kernel;
use crate::label::{Delta, ZeroLabel, random_block};
use crate::ot::base::BaseKeys;
use crate::ot::{Bits, CorrelatedReceiver, CorrelatedSender, CotSender};
use crate::prg::Prg;
use crate::worker_thread::WorkerThread;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use std::sync::Arc;
use veilpath_channel::{Channel, memory_pair};
use zeroize::Zeroizing;

/// The kinds of seed trees that sessions use.
const BOTH: [TreeLevels; 2] = [TreeLevels::FOUR, TreeLevels::EIGHT];

/// The base transfers of a dealer, and the trees of an honest receiver.
struct DealerOutput {
    kernel: Kernel,
    tree_levels: TreeLevels,
    delta: Arc<Delta>,
    base: BaseKeys<Block>,
    leaves: Vec<Zeroizing<Vec<Block>>>,
    message: Vec<u8>,
}

impl DealerOutput {
    fn new(tree_levels: TreeLevels, seed: u64) -> Self {
        let kernel = Kernel::best();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let delta = Arc::new(Delta::random(&mut rng));
        let pairs: Vec<[Block; 2]> = (0..128)
            .map(|_| [random_block(&mut rng), random_block(&mut rng)])
            .collect();
        let choices = sender::choices(&delta, tree_levels);
        let keys = pairs.iter().zip(choices.iter());
        let keys = keys.map(|(pair, choice)| pair[usize::from(*choice)]);
        let (leaves, message) = grow_trees(kernel, tree_levels, &pairs);
        Self {
            kernel,
            tree_levels,
            base: BaseKeys {
                keys: Zeroizing::new(keys.collect()),
                transcript: [7; 32],
            },
            delta,
            leaves,
            message,
        }
    }

    /// The sender, after it receives this message about the trees.
    fn sender(&self, message: &[u8]) -> Result<Sender, MpcError> {
        let delta = Arc::clone(&self.delta);
        Sender::with_keys(delta, self.tree_levels, self.kernel, &self.base, message)
    }

    fn receiver(&self) -> Receiver {
        Receiver::with_leaves(
            self.kernel,
            self.tree_levels,
            &self.leaves,
            self.transcript(),
        )
    }

    fn transcript(&self) -> Transcript {
        Transcript::new(self.kernel, &self.base.transcript, &self.message)
    }

    /// The value of a group of the offset: the leaf that the sender does not have.
    fn missing(&self, group: usize) -> usize {
        let levels = self.tree_levels.count();
        (self.delta.block().value() >> (levels * group)) as usize & ((1 << levels) - 1)
    }
}

/// The result of a sender that receives these bytes.
fn send(
    mut sender: Sender,
    count: usize,
    bytes: &[u8],
) -> Result<Zeroizing<Vec<ZeroLabel>>, MpcError> {
    let (mut left, mut right) = memory_pair();
    right.send(bytes).unwrap();
    right.flush().unwrap();
    drop(right);
    let first = sender.send(count, &mut left);
    if first.is_err() {
        assert!(
            sender.send(1, &mut left).is_err(),
            "a failed check is final"
        );
    }
    first
}

fn is_caught<T>(result: &Result<T, MpcError>, reason: Misbehaviour) -> bool {
    match result {
        Ok(_) => false,
        Err(MpcError::Peer(other)) => {
            assert_eq!(*other, reason);
            true
        }
        Err(other) => panic!("{other}"),
    }
}

/// The position of a tree's correction in the message: at a level below the first, for a missing leaf on the zeros' or
/// the ones' side.
pub(crate) fn correction_offset(
    tree_levels: TreeLevels,
    tree: usize,
    level: usize,
    side: usize,
) -> usize {
    let blocks = corrections_per_tree(tree_levels) + 2;
    (tree * blocks + 2 * (level - 1) + side) * BLOCK_BYTES
}

#[test]
fn an_error_in_a_tree_passes_only_if_one_bit_is_guessed() {
    for (tree_levels, seed) in BOTH.into_iter().zip([0..4, 4..5]).flat_map(with_seeds) {
        let dealt = DealerOutput::new(tree_levels, seed);
        assert!(dealt.sender(&dealt.message).is_ok());
        let levels = tree_levels.count();
        let last = tree_levels.trees() - 1;
        for tree in [0, 1, last - 1, last] {
            for level in 1..levels {
                for side in 0..2 {
                    let mut message = dealt.message.clone();
                    message[correction_offset(tree_levels, tree, level, side) + 3] ^= 0x10;
                    let caught =
                        is_caught(&dealt.sender(&message), Misbehaviour::InconsistentSeeds);
                    let bit = dealt.missing(tree) >> (levels - 1 - level) & 1;
                    assert_eq!(caught, bit == side, "tree {tree}, level {level}");
                }
            }
        }
    }
}

fn with_seeds(
    (tree_levels, seeds): (TreeLevels, std::ops::Range<u64>),
) -> impl Iterator<Item = (TreeLevels, u64)> {
    seeds.map(move |seed| (tree_levels, seed))
}

#[test]
fn three_guessed_bits_pass_for_one_offset_in_eight() {
    // Errors in three trees pass if and only if three bits are guessed: for an eighth of all offsets.
    let mut passed = 0;
    for (tree_levels, seed) in BOTH
        .into_iter()
        .zip([0..400, 400..440])
        .flat_map(with_seeds)
    {
        let dealt = DealerOutput::new(tree_levels, 1000 + seed);
        let mut message = dealt.message.clone();
        let trees = [3, 4, tree_levels.trees() - 2];
        for tree in trees {
            message[correction_offset(tree_levels, tree, 2, 1)] ^= 1;
        }
        let caught = is_caught(&dealt.sender(&message), Misbehaviour::InconsistentSeeds);
        let bit = tree_levels.count() - 3;
        let guessed = trees
            .iter()
            .all(|tree| dealt.missing(*tree) >> bit & 1 == 0);
        assert_eq!(caught, !guessed);
        passed += u32::from(guessed);
    }
    // 55 ± 6.9 of 440.
    assert!((28..85).contains(&passed), "{passed} guesses were right");
}

#[test]
fn leaves_that_differ_from_the_committed_ones_are_rejected() {
    // The receiver commits to trees other than those that it corrects.
    let [dealt, other] = [1, 2].map(|seed| DealerOutput::new(TreeLevels::FOUR, seed));
    let hash = dealt.message.len() - 32;
    let mut message = dealt.message.clone();
    message[hash..].copy_from_slice(&other.message[hash..]);
    assert!(is_caught(
        &dealt.sender(&message),
        Misbehaviour::InconsistentSeeds
    ));
    assert!(is_caught(
        &dealt.sender(&other.message),
        Misbehaviour::InconsistentSeeds
    ));
}

/// A batch of one chunk in which the correction of one tree has one wrong bit. Its proof is right if the missing leaf
/// of that tree is the guessed one. Written from the protocol, without the receiver's code.
fn cheating_batch(
    dealt: &DealerOutput,
    count: usize,
    (tree, wrong_bit): (usize, usize),
    guess: usize,
) -> Vec<u8> {
    let levels = dealt.tree_levels.count();
    let width = count / 128 + 1;
    let mut rows = vec![Block::ZERO; 128 * width];
    let mut choices = Vec::new();
    let mut bytes = Vec::new();
    let mut error = vec![Block::ZERO; width];
    error[wrong_bit / 128] = Block::new(1 << (wrong_bit % 128));
    for (number, leaves) in dealt.leaves.iter().enumerate() {
        let mut total = vec![Block::ZERO; width];
        for (index, leaf) in leaves.iter().enumerate() {
            let mut stream = vec![Block::ZERO; width];
            Prg::of_tree(dealt.kernel, *leaf, number).fill(&mut stream);
            for (at, block) in stream.into_iter().enumerate() {
                total[at] ^= block;
                for bit in (0..levels).filter(|bit| index >> bit & 1 == 1) {
                    rows[(levels * number + bit) * width + at] ^= block;
                }
            }
        }
        match number {
            0 => choices.extend_from_slice(&total),
            _ => {
                for at in 0..width {
                    let deviation = if number == tree {
                        error[at]
                    } else {
                        Block::ZERO
                    };
                    append_block(&mut bytes, total[at] ^ choices[at] ^ deviation);
                }
            }
        }
    }
    assert_eq!(bytes.len(), corrections_bytes(width, dealt.tree_levels));
    let mut transcript = dealt.transcript().for_thread(WorkerThread::FIRST);
    transcript.absorb(b"chunk", &bytes);
    let mut coefficients = transcript.coefficients(width);
    coefficients[width - 1] = field::ONE;
    let sum = |row: &[Block]| {
        let mut sum = [Block::ZERO];
        dealt.kernel.add_products(&coefficients, row, &mut sum);
        sum[0]
    };
    let mut sums: Vec<Block> = rows.chunks_exact(width).map(sum).collect();
    for (bit, sum_of_row) in sums.iter_mut().skip(levels * tree).take(levels).enumerate() {
        *sum_of_row ^= sum(&error) & Block::mask(guess >> bit & 1 == 1);
    }
    bytes.extend_from_slice(&prove(&transcript, sum(&choices), &sums));
    bytes.resize(bytes.len() + count.div_ceil(8), 0);
    bytes
}

#[test]
fn an_error_in_a_chunk_passes_only_if_its_group_is_guessed() {
    let count = 1024;
    for (tree_levels, seed) in BOTH.into_iter().zip([0..3, 3..4]).flat_map(with_seeds) {
        let dealt = DealerOutput::new(tree_levels, seed);
        let sender = || dealt.sender(&dealt.message).unwrap();
        let trees = tree_levels.trees();
        // The first transfer, some other, the last, and one that masks the proof.
        for (tree, wrong_bit) in [
            (1, 0),
            (trees / 2 + 1, 700),
            (trees - 1, count - 1),
            (1, count + 5),
        ] {
            // All 16 guesses, or every 17th of 256.
            let step = if tree_levels == TreeLevels::FOUR {
                1
            } else {
                17
            };
            for guess in (0..1 << tree_levels.count()).step_by(step) {
                let guess = guess ^ dealt.missing(tree);
                let bytes = cheating_batch(&dealt, count, (tree, wrong_bit), guess);
                let sent = send(sender(), count, &bytes);
                let caught = is_caught(&sent, Misbehaviour::InconsistentTransfers);
                assert_eq!(caught, guess != dealt.missing(tree));
            }
        }
        // Without an error (there is no such tree), the same code is an honest receiver.
        let honest = cheating_batch(&dealt, count, (trees, 0), 0);
        assert!(send(sender(), count, &honest).is_ok());
    }
}

#[test]
fn a_failed_check_erases_the_cots_and_ends_the_sender() {
    let count = 1024;
    for tree_levels in BOTH {
        let dealt = DealerOutput::new(tree_levels, 8);
        for (guess, right) in [(dealt.missing(5), true), (dealt.missing(5) ^ 3, false)] {
            let mut sender = dealt.sender(&dealt.message).unwrap();
            let (mut left, mut right_end) = memory_pair();
            let bytes = cheating_batch(&dealt, count, (5, 77), guess);
            right_end.send(&bytes).unwrap();
            right_end.flush().unwrap();
            let mut v = vec![Block::new(9); count];
            let extended = CotSender::extend(&mut sender, &mut v, &mut left);
            assert_eq!(
                is_caught(&extended, Misbehaviour::InconsistentTransfers),
                !right
            );
            assert_eq!(v.iter().all(|block| *block == Block::ZERO), !right);
            if !right {
                let more = CotSender::extend(&mut sender, &mut v, &mut left);
                assert!(matches!(more, Err(MpcError::Misuse(_))));
            }
        }
    }
}

/// The bytes of an honest receiver for some transfers.
fn honest_bytes(dealt: &DealerOutput, choices: &[bool]) -> Vec<u8> {
    let (mut left, mut right) = memory_pair();
    let bits: Bits = choices.iter().copied().collect();
    dealt.receiver().receive(&bits, &mut right).unwrap();
    let count = choices.len();
    let mut bytes = vec![0; messages::transfer_bytes(count, dealt.tree_levels)];
    left.receive(&mut bytes).unwrap();
    bytes
}

#[test]
fn every_changed_byte_is_noticed() {
    // Every byte with four levels, and some with eight, whose trees take longer.
    for (tree_levels, step) in BOTH.into_iter().zip([1, 29]) {
        every_byte_is_noticed(&DealerOutput::new(tree_levels, 5), step);
    }
}

fn every_byte_is_noticed(dealt: &DealerOutput, step: usize) {
    let choices: Vec<bool> = (0..100).map(|at| at % 3 == 0).collect();
    let bytes = honest_bytes(dealt, &choices);
    let labels = send(dealt.sender(&dealt.message).unwrap(), 100, &bytes).unwrap();

    // A change to the message about the trees is noticed at once, or, where this offset makes no difference, by the
    // first batch.
    for at in (0..dealt.message.len()).step_by(step) {
        let mut message = dealt.message.clone();
        message[at] ^= 1 << (at % 8);
        match dealt.sender(&message) {
            Err(error) => assert_eq!(error, Misbehaviour::InconsistentSeeds.into()),
            Ok(sender) => assert!(is_caught(
                &send(sender, 100, &bytes),
                Misbehaviour::InconsistentTransfers
            )),
        }
    }

    let swaps = corrections_bytes(2, dealt.tree_levels) + PROOF_BYTES;
    for at in (0..bytes.len()).step_by(step) {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        let sent = send(dealt.sender(&dealt.message).unwrap(), 100, &changed);
        if at < swaps {
            assert!(is_caught(&sent, Misbehaviour::InconsistentTransfers));
        } else if (at - swaps) * 8 + at % 8 >= 100 {
            assert!(is_caught(&sent, Misbehaviour::UnusedBits));
        } else {
            // Another choice of one bit, which the receiver is free to make.
            let changed = (at - swaps) * 8 + at % 8;
            for (index, (label, before)) in sent.unwrap().iter().zip(labels.iter()).enumerate() {
                let expected = before.flipped(index == changed, &dealt.delta);
                assert_eq!(label.0, expected.0);
            }
        }
    }

    for length in [0, 1, swaps - 1, swaps, bytes.len() - 1] {
        let sent = send(dealt.sender(&dealt.message).unwrap(), 100, &bytes[..length]);
        assert!(matches!(sent, Err(MpcError::Channel(_))));
    }
}

#[test]
fn proofs_belong_to_their_session_and_thread() {
    let [dealt, mut other] = [6, 6].map(|seed| DealerOutput::new(TreeLevels::FOUR, seed));
    let bytes = honest_bytes(&dealt, &[true; 128]);
    assert!(send(dealt.sender(&dealt.message).unwrap(), 128, &bytes).is_ok());
    let second = dealt.sender(&dealt.message).unwrap();
    let second = second.for_thread(WorkerThread::new(1).unwrap());
    assert!(is_caught(
        &send(second, 128, &bytes),
        Misbehaviour::InconsistentTransfers
    ));
    other.base.transcript = [8; 32];
    assert!(is_caught(
        &send(other.sender(&dealt.message).unwrap(), 128, &bytes),
        Misbehaviour::InconsistentTransfers
    ));
}
