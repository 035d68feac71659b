//! Nanoseconds per correlated transfer with a random choice, and per pad, of one side on one core: the times that Criterion
//! prints are those of one transfer or pad.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use criterion::{Criterion, criterion_group, criterion_main};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use veilpath_channel::memory_pair;
use veilpath_mpc::Kernel;
use veilpath_mpc::block::Block;
use veilpath_mpc::hash::TweakedHash;
use veilpath_mpc::label::Delta;
use veilpath_mpc::ot::correlated::{MAX_BATCH, Receiver, Sender, TreeLevels};
use veilpath_mpc::ot::pads::{PadReceiver, PadSender};
use veilpath_mpc::ot::{CotReceiver, CotSender};

/// Transfers whose pads are made at a time.
const PADS: usize = 4096;

fn extension(criterion: &mut Criterion) {
    for kernel in Kernel::available().into_iter().rev() {
        let mut group = criterion.benchmark_group(format!("COT, {}", kernel.name()));
        for (name, tree_levels) in [("k=4", TreeLevels::FOUR), ("k=8", TreeLevels::EIGHT)] {
            let (mut sender, mut receiver) = start(tree_levels, kernel);
            let (mut left, mut right) = memory_pair();
            let mut blocks = vec![Block::ZERO; MAX_BATCH];
            let mut bits = vec![0; MAX_BATCH.div_ceil(64)];
            // Both sides take turns on one thread, and one of them is timed.
            for timed in ["receiver", "sender"] {
                group.bench_function(format!("{name}, {timed}"), |bencher| {
                    bencher.iter_custom(|batches| {
                        let mut time = Duration::ZERO;
                        for _ in 0..batches {
                            let before = Instant::now();
                            receiver.extend(&mut bits, &mut blocks, &mut right).unwrap();
                            let between = Instant::now();
                            sender.extend(&mut blocks, &mut left).unwrap();
                            time += match timed {
                                "receiver" => between - before,
                                _ => between.elapsed(),
                            };
                        }
                        time / MAX_BATCH as u32
                    });
                });
            }
        }
        group.finish();
    }
}

fn pads(criterion: &mut Criterion) {
    let delta = Delta::random(&mut ChaCha20Rng::seed_from_u64(3));
    for kernel in Kernel::available().into_iter().rev() {
        let hash = TweakedHash::new(kernel, Block::new(5));
        let mut group = criterion.benchmark_group(format!("pad, {}", kernel.name()));
        let (mut sender, mut receiver) = (
            PadSender::new(hash, &delta, 0),
            PadReceiver::new(hash, 1 << 60),
        );
        for choice_bits in 1..=5 {
            let blocks = vec![Block::new(77); PADS * choice_bits];
            let mut pads = vec![0; PADS << choice_bits];
            group.bench_function(format!("1 of {}, sender", 1 << choice_bits), |bencher| {
                per_element(bencher, PADS << choice_bits, || {
                    sender.pads(choice_bits, &blocks, &mut pads).unwrap();
                    black_box(&pads);
                });
            });
            group.bench_function(format!("1 of {}, receiver", 1 << choice_bits), |bencher| {
                per_element(bencher, PADS, || {
                    let pads = &mut pads[..PADS];
                    receiver.pads(choice_bits, &blocks, pads).unwrap();
                    black_box(pads);
                });
            });
        }
        let blocks = vec![Block::new(77); PADS];
        let (mut zeros, mut ones) = (vec![0; PADS / 64], vec![0; PADS / 64]);
        group.bench_function("bits, sender", |bencher| {
            per_element(bencher, 2 * PADS, || {
                sender.bits(&blocks, &mut zeros, &mut ones).unwrap();
                black_box((&zeros, &ones));
            });
        });
        group.bench_function("bits, receiver", |bencher| {
            per_element(bencher, PADS, || {
                receiver.bits(&blocks, &mut zeros).unwrap();
                black_box(&zeros);
            });
        });
        group.finish();
    }
}

fn per_element(bencher: &mut criterion::Bencher<'_>, elements: usize, mut work: impl FnMut()) {
    bencher.iter_custom(|rounds| {
        let before = Instant::now();
        for _ in 0..rounds {
            work();
        }
        before.elapsed() / elements as u32
    });
}

fn start(tree_levels: TreeLevels, kernel: Kernel) -> (Sender, Receiver) {
    let (mut left, mut right) = memory_pair();
    let delta = Arc::new(Delta::random(&mut ChaCha20Rng::seed_from_u64(3)));
    std::thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            Receiver::start(tree_levels, kernel, &mut rng, &mut right).unwrap()
        });
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let sender = Sender::start(delta, tree_levels, kernel, &mut rng, &mut left);
        (sender.unwrap(), receiver.join().unwrap())
    })
}

criterion_group!(benches, extension, pads);
criterion_main!(benches);
