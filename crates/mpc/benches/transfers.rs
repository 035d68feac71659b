//! Oblivious transfers per second: the session's base transfers, correlated ones for every group size, letters.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::Arc;
use std::sync::mpsc::channel;
use veilpath_channel::memory_pair;
use veilpath_mpc::Kernel;
use veilpath_mpc::label::Delta;
use veilpath_mpc::ot::correlated::{Receiver, Sender, TreeLevels};
use veilpath_mpc::ot::{Bits, CorrelatedReceiver, CorrelatedSender, base, letters};

/// Transfers per measurement: four chunks.
const COUNT: usize = 4 * 8192;

fn base_transfers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("base");
    group.throughput(Throughput::Elements(base::COUNT as u64));
    group.bench_function("both sides", |bencher| {
        bencher.iter(|| {
            let (mut left, mut right) = memory_pair();
            std::thread::scope(|scope| {
                scope.spawn(|| base::send(&mut ChaCha20Rng::seed_from_u64(1), &mut left).unwrap());
                let choices = [true; base::COUNT];
                base::receive(&choices, &mut ChaCha20Rng::seed_from_u64(2), &mut right).unwrap();
            });
        });
    });
    group.finish();
}

/// Both sides take turns on one thread, so that the time is the work of both together.
fn correlated(criterion: &mut Criterion) {
    let sizes = [
        ("k=1", TreeLevels::ONE),
        ("k=2", TreeLevels::TWO),
        ("k=4", TreeLevels::FOUR),
        ("k=8", TreeLevels::EIGHT),
    ];
    let mut group = criterion.benchmark_group("correlated, both sides on one core");
    group.throughput(Throughput::Elements(COUNT as u64));
    for (name, tree_levels) in sizes {
        let (mut sender, mut receiver, _) = start(tree_levels);
        let (mut left, mut right) = memory_pair();
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            let chunk: Bits = (0..8192).map(|i| i % 3 == 0).collect();
            bencher.iter(|| {
                receiver.announce(COUNT);
                sender.announce(COUNT);
                // One chunk at a time: an in-memory pair holds no more without a reader.
                for _ in 0..COUNT / 8192 {
                    receiver.receive(&chunk, &mut right).unwrap();
                    sender.send(8192, &mut left).unwrap();
                }
            });
        });
    }
    group.finish();

    let (mut sender, mut receiver, delta) = start(TreeLevels::FOUR);
    let (mut left, mut right) = memory_pair();
    let mut group = criterion.benchmark_group("letters of 52, both sides on one core");
    group.throughput(Throughput::Elements(1000));
    group.bench_function("1000", |bencher| {
        let own: Vec<usize> = (0..1000).map(|i| i % 52).collect();
        bencher.iter(|| {
            letters::receive(52, &own, 0, &mut receiver, &mut right).unwrap();
            letters::send(52, 1000, 0, &delta, &mut sender, &mut left).unwrap()
        });
    });
    group.finish();
}

fn start(tree_levels: TreeLevels) -> (Sender, Receiver, Arc<Delta>) {
    let (mut left, mut right) = memory_pair();
    let (give, take) = channel();
    let delta = Arc::new(Delta::random(&mut ChaCha20Rng::seed_from_u64(3)));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let receiver = Receiver::start(tree_levels, Kernel::best(), &mut rng, &mut right);
            give.send(receiver.unwrap()).unwrap();
        });
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let offset = Arc::clone(&delta);
        let sender = Sender::start(offset, tree_levels, Kernel::best(), &mut rng, &mut left);
        (sender.unwrap(), take.recv().unwrap(), delta)
    })
}

criterion_group!(benches, base_transfers, correlated);
criterion_main!(benches);
