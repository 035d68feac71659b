//! Cells per second with both parties in one process, each on a thread of its own, over a channel in memory. Transfers, look-up, garbling, evaluation
//! and decoding are included; starting the session is not.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_sign_loss
)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use std::time::{Duration, Instant};
use veilpath_channel::memory_pair;
use veilpath_mpc::Kernel;
use veilpath_mpc::alignment::{
    EvaluatorComparison, EvaluatorSession, Fold, GarblerComparison, GarblerSession,
};
use veilpath_mpc::circuit::cells::{Cell, DifferenceCell, SavingCell, UnitCell};

/// Time of `rounds` times `count` comparisons of `rows` × `columns` cells.
fn align<K: Cell + Sync>(
    (cell, fold): (&K, Fold),
    table: &[Vec<u64>],
    shape: [usize; 3],
    rounds: u64,
) -> Duration {
    let [count, rows, columns] = shape;
    let alphabet = table.len();
    let (mut left, mut right) = memory_pair();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let mut session = GarblerSession::start(Kernel::best(), &mut rng, &mut left).unwrap();
            let letters = session.letters(alphabet, columns, &mut left).unwrap();
            let rows: Vec<&[u64]> = (0..rows).map(|i| &table[i * 7 % alphabet][..]).collect();
            let comparison = || GarblerComparison {
                rows: rows.clone(),
                columns: 0..columns,
            };
            let comparisons: Vec<_> = (0..count).map(|_| comparison()).collect();
            for _ in 0..rounds {
                let numbers = session.align(cell, fold, &letters, &comparisons, &mut left, &|_| ());
                session
                    .reveal_to_peer(&numbers.unwrap(), &mut left)
                    .unwrap();
            }
        });
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let mut session = EvaluatorSession::start(Kernel::best(), &mut rng, &mut right).unwrap();
        let own: Vec<usize> = (0..columns).map(|i| i * 5 % alphabet).collect();
        let letters = session.letters(alphabet, &own, &mut right).unwrap();
        let comparison = EvaluatorComparison {
            rows,
            columns: 0..columns,
        };
        let comparisons = vec![comparison; count];
        let start = Instant::now();
        for _ in 0..rounds {
            let numbers = session.align(cell, fold, &letters, &comparisons, &mut right, &|_| ());
            session.decode(&numbers.unwrap(), &mut right).unwrap();
        }
        start.elapsed()
    })
}

fn cells(criterion: &mut Criterion) {
    let table = |letters: usize, input: &dyn Fn(usize, usize) -> u64| -> Vec<Vec<u64>> {
        let row = |x: usize| (0..letters).map(|y| input(x, y)).collect();
        (0..letters).map(row).collect()
    };
    let unit = table(52, &|x, y| UnitCell.input(x == y));
    let mut group = criterion.benchmark_group("unit-cost cells");
    for (name, shape) in [
        ("one of 1000x1000", [1, 1000, 1000]),
        ("400 of 24x24", [400, 24, 24]),
    ] {
        group.throughput(Throughput::Elements(shape.iter().product::<usize>() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|rounds| align((&UnitCell, Fold::Sum), &unit, shape, rounds));
        });
    }
    group.finish();

    let cell = SavingCell::new(300);
    let index = table(49, &|x, y| cell.input(10 * x.abs_diff(y) as u64));
    let mut group = criterion.benchmark_group("cells with costs of 9 bits");
    group.throughput(Throughput::Elements(200 * 200));
    group.bench_function("one of 200x200", |bencher| {
        bencher.iter_custom(|rounds| align((&cell, Fold::Unwrap), &index, [1, 200, 200], rounds));
    });
    group.finish();

    // ScanMatch with the threshold 3.5: at the automatic scale, and with the previous scale and cell.
    let scanmatch = |per_cell: f64, input: &dyn Fn(u64) -> u64| {
        let distance = |x: usize, y: usize| {
            let [across, down] = [(x % 8).abs_diff(y % 8), (x / 8).abs_diff(y / 8)];
            (across as f64).hypot(down as f64)
        };
        table(
            48,
            &|x, y| input((per_cell * distance(x, y)).round() as u64),
        )
    };
    let (saving, difference) = (SavingCell::new(448), DifferenceCell::new(35_000));
    let new = scanmatch(448.0 / 3.5, &|cost| saving.input(cost));
    let old = scanmatch(10_000.0, &|cost| difference.input(cost));
    let shape = [400, 24, 24];
    let mut group = criterion.benchmark_group("ScanMatch cells, 8x6");
    group.throughput(Throughput::Elements(shape.iter().product::<usize>() as u64));
    group.bench_function("448, 47 ANDs", |bencher| {
        bencher.iter_custom(|rounds| align((&saving, Fold::Unwrap), &new, shape, rounds));
    });
    group.bench_function("35000, 94 ANDs", |bencher| {
        bencher.iter_custom(|rounds| align((&difference, Fold::Sum), &old, shape, rounds));
    });
    group.finish();
}

criterion_group!(benches, cells);
criterion_main!(benches);
