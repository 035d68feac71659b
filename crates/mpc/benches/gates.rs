//! AND gates per second, garbled and evaluated, on every kernel of this processor.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use std::hint::black_box;
use std::sync::Arc;
use veilpath_mpc::Kernel;
use veilpath_mpc::block::Block;
use veilpath_mpc::circuit::{Circuit, LANES};
use veilpath_mpc::half_gates::{Evaluator, Garbler};
use veilpath_mpc::label::{ActiveLabel, Delta, ZeroLabel};

/// Bundles per measurement: a few hundred gates, as on an anti-diagonal.
const BUNDLES: usize = 64;

fn gates(criterion: &mut Criterion) {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let delta = Arc::new(Delta::random(&mut rng));
    let wires: Vec<[ZeroLabel; LANES]> = (0..=BUNDLES)
        .map(|_| std::array::from_fn(|_| ZeroLabel::random(&mut rng)))
        .collect();
    let active: Vec<[ActiveLabel; LANES]> = wires
        .iter()
        .map(|wire| wire.map(|label| label.of(true, &delta)))
        .collect();

    let mut group = criterion.benchmark_group("garble");
    group.throughput(Throughput::Elements((BUNDLES * LANES) as u64));
    for kernel in Kernel::available() {
        let mut garbler = Garbler::new(Arc::clone(&delta), kernel, Block::ZERO);
        group.bench_function(BenchmarkId::from_parameter(kernel.name()), |bencher| {
            bencher.iter(|| {
                garbler.clear_tables();
                for pair in wires.windows(2) {
                    black_box(garbler.and(&pair[0], &pair[1]));
                }
            });
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("evaluate");
    group.throughput(Throughput::Elements((BUNDLES * LANES) as u64));
    for kernel in Kernel::available() {
        let tables = vec![7; BUNDLES * LANES * 32];
        let mut evaluator = Evaluator::new(kernel, Block::ZERO);
        group.bench_function(BenchmarkId::from_parameter(kernel.name()), |bencher| {
            bencher.iter(|| {
                evaluator.add_tables(&tables);
                for pair in active.windows(2) {
                    black_box(evaluator.and(&pair[0], &pair[1]));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, gates);
criterion_main!(benches);
