//! Every operation, at every key size, on every kernel that this CPU supports.
#![allow(
    clippy::expect_used,
    missing_docs,
    reason = "a bench may fail loudly, and its entry points are made by macros"
)]

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use veilpath_paillier::bench::{Operation, Workload};
use veilpath_paillier::{Kernel, KeySize, SecretKey, system_rng};

fn operations(criterion: &mut Criterion) {
    let mut rng = system_rng().expect("the operating system gives random numbers");
    for size in KeySize::ALL {
        let key = SecretKey::generate(size, &mut rng).expect("keys can be generated");
        for kernel in Kernel::all_available() {
            let key = key.with_kernel(kernel).expect("the kernel is available");
            let mut workload = Workload::new(key, &mut rng).expect("the workload can be prepared");
            let mut group = criterion.benchmark_group(format!("{kernel:?}/{}", size.bits()));
            group
                .sample_size(10)
                .warm_up_time(Duration::from_millis(200))
                .measurement_time(Duration::from_secs(1))
                .throughput(Throughput::Elements(Workload::BATCH));
            for operation in Operation::ALL {
                group.bench_function(format!("{operation:?}"), |bencher| {
                    bencher.iter(|| {
                        workload
                            .run(operation, &mut rng)
                            .expect("the operation succeeds")
                    });
                });
            }
            group.finish();
        }
    }
}

criterion_group!(benches, operations);
criterion_main!(benches);
