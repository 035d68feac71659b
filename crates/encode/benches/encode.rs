//! Encoding throughput: 100 MB of CSV, once with fixations and once with raw gaze. The target is under three seconds,
//! with memory bounded by the longest line and the scanpaths.
#![allow(clippy::unwrap_used)] // a bench that cannot write its input has nothing to measure

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use veilpath_encode::{LetterOptions, ReadOptions, Source, encode_files};

const BYTES: usize = 100 << 20;

fn encode(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let fixations = written(
        &folder,
        "fixations.csv",
        "participant,stimulus,x,y,duration\n",
        |i| {
            format!(
                "p{:02},scene-{},{}.25,{}.75,{}\n",
                i / 5000 % 30,
                i / 500 % 10,
                i * 7 % 1280,
                i * 13 % 720,
                100 + i % 400
            )
        },
    );
    let gaze = written(&folder, "gaze.csv", "participant,time,x,y\n", |i| {
        format!(
            "p{:02},{},{}.25,{}.75\n",
            i / 100_000 % 30,
            i * 4,
            i / 40 * 7 % 1280,
            i / 40 * 13 % 720
        )
    });
    let mut group = criterion.benchmark_group("encode 100 MB");
    group
        .sample_size(10)
        .throughput(Throughput::Bytes(BYTES as u64));
    let read = ReadOptions {
        screen: Some((1280.0, 720.0)),
        ..ReadOptions::default()
    };
    for (name, path) in [("fixations", fixations), ("raw gaze", gaze)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let files = vec![Source::File(path.clone())];
                black_box(
                    encode_files(files, None, &read, &LetterOptions::default(), &|_| {
                        ControlFlow::Continue(())
                    })
                    .unwrap(),
                )
            });
        });
    }
}

fn written(
    folder: &tempfile::TempDir,
    name: &str,
    header: &str,
    row: impl Fn(usize) -> String,
) -> PathBuf {
    let path = folder.path().join(name);
    let mut out = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    out.write_all(header.as_bytes()).unwrap();
    let mut written = header.len();
    for i in 0.. {
        let row = row(i);
        out.write_all(row.as_bytes()).unwrap();
        written += row.len();
        if written >= BYTES {
            break;
        }
    }
    out.flush().unwrap();
    path
}

criterion_group!(benches, encode);
criterion_main!(benches);
