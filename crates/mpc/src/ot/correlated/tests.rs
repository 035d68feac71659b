//! Labels differ by the offset exactly where the bit is set, and the traffic is as documented.

use super::messages::{seed_bytes, transfer_bytes};
use super::*;
use crate::block::Block;
use crate::error::MpcError;
use crate::kernel::Kernel;
use crate::label::Delta;
use crate::ot::{Bits, CorrelatedReceiver, CorrelatedSender, CotReceiver, CotSender};
use crate::worker_thread::WorkerThread;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::sync::Arc;
use veilpath_channel::{Channel, Counted, memory_pair};

const ALL: [TreeLevels; 4] = [
    TreeLevels::ONE,
    TreeLevels::TWO,
    TreeLevels::FOUR,
    TreeLevels::EIGHT,
];

/// Calls with these counts after these announcements.
const CALLS: [(usize, &[usize]); 4] = [
    (0, &[1, 128, 300]),
    (CHUNK + 77, &[77, CHUNK, 0]),
    (MAX_BATCH + CHUNK, &[5000, MAX_BATCH, 3192]),
    (0, &[5, 2 * CHUNK]),
];

#[test]
fn labels_differ_by_the_offset_where_the_bit_is_set() {
    for (seed, tree_levels) in ALL.into_iter().enumerate() {
        let mut rng = ChaCha20Rng::seed_from_u64(seed as u64);
        let delta = Arc::new(Delta::random(&mut rng));
        let (mut left, mut right) = memory_pair();
        std::thread::scope(|scope| {
            let offset = Arc::clone(&delta);
            let sent = scope.spawn(move || {
                let mut rng = ChaCha20Rng::seed_from_u64(70);
                let kernel = Kernel::best();
                let mut first =
                    Sender::start(offset, tree_levels, kernel, &mut rng, &mut left).unwrap();
                let mut second = first.for_thread(WorkerThread::new(1).unwrap());
                let mut all = Vec::new();
                for sender in [&mut first, &mut second] {
                    for (announced, counts) in CALLS {
                        sender.announce(announced);
                        for count in counts {
                            all.push(sender.send(*count, &mut left).unwrap());
                        }
                    }
                }
                all
            });
            let kernel = Kernel::portable();
            let mut first = Receiver::start(tree_levels, kernel, &mut rng, &mut right).unwrap();
            let mut second = first.for_thread(WorkerThread::new(1).unwrap());
            let mut received = Vec::new();
            for receiver in [&mut first, &mut second] {
                for (announced, counts) in CALLS {
                    receiver.announce(announced);
                    for count in counts {
                        let choices: Vec<bool> =
                            (0..*count).map(|_| rng.next_u32() & 1 == 1).collect();
                        let bits: Bits = choices.iter().copied().collect();
                        let labels = receiver.receive(&bits, &mut right).unwrap();
                        received.push((choices, labels));
                    }
                }
            }
            let sent = sent.join().unwrap();
            assert_eq!(sent.len(), received.len());
            let mut seen = std::collections::BTreeSet::new();
            for (zeros, (choices, active)) in sent.iter().zip(&received) {
                assert_eq!(zeros.len(), choices.len());
                assert_eq!(active.len(), choices.len());
                for at in 0..choices.len() {
                    assert_eq!(active[at].0, zeros[at].of(choices[at], &delta).0);
                    assert!(seen.insert(active[at].0.value()), "a label was used twice");
                }
            }
        });
    }
}

#[test]
fn bytes_are_as_announced() {
    for tree_levels in [TreeLevels::ONE, TreeLevels::FOUR] {
        for count in [1, 128, CHUNK, MAX_BATCH, MAX_BATCH + 1, 3 * MAX_BATCH + 500] {
            let (mut left, right) = memory_pair();
            let mut right = Counted::new(right);
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    let mut rng = ChaCha20Rng::seed_from_u64(70);
                    let delta = Arc::new(Delta::random(&mut rng));
                    let kernel = Kernel::best();
                    let mut sender =
                        Sender::start(delta, tree_levels, kernel, &mut rng, &mut left).unwrap();
                    sender.announce(count);
                    sender.send(count / 3, &mut left).unwrap();
                    sender.send(count - count / 3, &mut left).unwrap();
                });
                let mut rng = ChaCha20Rng::seed_from_u64(71);
                let kernel = Kernel::best();
                let mut receiver =
                    Receiver::start(tree_levels, kernel, &mut rng, &mut right).unwrap();
                assert_eq!(
                    right.traffic().sent,
                    32 + seed_bytes(tree_levels) as u64,
                    "a point and the seeds"
                );
                let before = right.traffic().sent;
                receiver.announce(count);
                for part in [count / 3, count - count / 3] {
                    let bits: Bits = (0..part).map(|at| at % 3 == 0).collect();
                    receiver.receive(&bits, &mut right).unwrap();
                }
                let bytes = right.traffic().sent - before;
                let expected = transfer_bytes(count, tree_levels) as u64;
                // Two lists of bits can take one byte more than one.
                assert!((expected..=expected + 1).contains(&bytes));
            });
        }
    }
}

#[test]
fn a_closed_receiver_is_an_error() {
    let (mut left, mut right) = memory_pair();
    right.send(&[9; 8]).unwrap();
    right.flush().unwrap();
    drop(right);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let delta = Arc::new(Delta::random(&mut rng));
    let refused = Sender::start(delta, TreeLevels::FOUR, Kernel::best(), &mut rng, &mut left);
    assert!(matches!(refused, Err(MpcError::Channel(_))));
}

/// Lists of COTs after these announcements: odd sizes, whole batches, several chunks and batches.
const LISTS: [(usize, &[usize]); 4] = [
    (0, &[1, 127, 300, 0]),
    (5000, &[777, 64, 4000, 159]),
    (0, &[MAX_BATCH, 2 * MAX_BATCH + 77]),
    (MAX_BATCH + CHUNK, &[CHUNK + 1, MAX_BATCH]),
];

#[test]
fn every_cot_satisfies_the_correlation() {
    for (seed, tree_levels) in ALL.into_iter().enumerate() {
        let mut rng = ChaCha20Rng::seed_from_u64(80 + seed as u64);
        let delta = Arc::new(Delta::random(&mut rng));
        let (left, right) = memory_pair();
        let (mut left, mut right) = (Counted::new(left), Counted::new(right));
        std::thread::scope(|scope| {
            let offset = Arc::clone(&delta);
            let sent = scope.spawn(move || {
                let mut rng = ChaCha20Rng::seed_from_u64(70);
                let kernel = Kernel::best();
                let mut sender =
                    Sender::start(offset, tree_levels, kernel, &mut rng, &mut left).unwrap();
                let before = left.traffic().sent;
                let mut all = Vec::new();
                for (announced, counts) in LISTS {
                    sender.announce(announced);
                    for count in counts {
                        let mut v = vec![Block::new(5); *count];
                        sender.extend(&mut v, &mut left).unwrap();
                        all.push(v);
                    }
                }
                assert_eq!(left.traffic().sent, before, "the sender only receives");
                all
            });
            let kernel = Kernel::portable();
            let mut receiver = Receiver::start(tree_levels, kernel, &mut rng, &mut right).unwrap();
            let mut received = Vec::new();
            for (announced, counts) in LISTS {
                receiver.announce(announced);
                for count in counts {
                    let mut u = vec![u64::MAX; count.div_ceil(64)];
                    let mut w = vec![Block::new(6); *count];
                    receiver.extend(&mut u, &mut w, &mut right).unwrap();
                    received.push((u, w));
                }
            }
            let mut seen = std::collections::BTreeSet::new();
            let (mut ones, mut total) = (0, 0);
            for (v, (u, w)) in sent.join().unwrap().iter().zip(&received) {
                assert_eq!(v.len(), w.len());
                for at in 0..u.len() * 64 {
                    let bit = u[at / 64] >> (at % 64) & 1 == 1;
                    if at < v.len() {
                        assert_eq!(v[at], w[at] ^ (Block::mask(bit) & delta.block()));
                        assert!(seen.insert(w[at].value()), "a block was used twice");
                    } else {
                        assert!(!bit, "unused bits are zero");
                    }
                    ones += usize::from(bit);
                }
                total += v.len();
            }
            // Five standard deviations of about 168,000 random bits.
            assert!(ones.abs_diff(total / 2) < 1100, "{ones} of {total}");
        });
    }
}

#[test]
fn cots_cost_what_the_levels_say() {
    for (tree_levels, bits) in [(TreeLevels::FOUR, 31.0), (TreeLevels::EIGHT, 15.0)] {
        let (mut left, right) = memory_pair();
        let mut right = Counted::new(right);
        let count = 4 * MAX_BATCH;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut rng = ChaCha20Rng::seed_from_u64(70);
                let delta = Arc::new(Delta::random(&mut rng));
                let kernel = Kernel::best();
                let mut sender =
                    Sender::start(delta, tree_levels, kernel, &mut rng, &mut left).unwrap();
                let mut v = vec![Block::ZERO; count];
                sender.extend(&mut v, &mut left).unwrap();
            });
            let mut rng = ChaCha20Rng::seed_from_u64(71);
            let kernel = Kernel::best();
            let mut receiver = Receiver::start(tree_levels, kernel, &mut rng, &mut right).unwrap();
            let before = right.traffic().sent;
            let (mut u, mut w) = (vec![0; count.div_ceil(64)], vec![Block::ZERO; count]);
            receiver.extend(&mut u, &mut w, &mut right).unwrap();
            let sent = (right.traffic().sent - before) as f64 * 8.0 / count as f64;
            assert!((bits..bits * 1.005).contains(&sent), "{sent} bits");
            let mut short = vec![0; 2];
            let refused = receiver.extend(&mut short, &mut w[..3], &mut right);
            assert!(matches!(refused, Err(MpcError::Misuse(_))));
        });
    }
}
