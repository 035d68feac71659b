//! Matrix cells per second of every kernel, compared with the textbook recurrence and the `rapidfuzz` crate.
//!
//! One throughput element is one matrix cell of a scanpath pair. All groups except the last run on one core.

#![allow(missing_docs, clippy::unwrap_used)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rapidfuzz::distance::levenshtein::BatchComparator;
use rayon::prelude::*;
use std::hint::black_box;
use std::time::Duration;
use veilpath_metrics::{
    Alphabet, Comparison, Crqa, CrqaMeasure, Distance, Dtw, Frechet, Grid, Hausdorff, LocalScoring,
    Metric, Model, PathDivisor, Positions, RecurrenceRule, Scanpath, Substitution, Table,
    Undefined, reference,
};

/// Lengths of a short scanpath, a long one, and a whole session.
const LENGTHS: [usize; 3] = [50, 300, 5000];
/// The textbook recurrences run at this length only.
const REFERENCE_LENGTH: usize = 300;

/// A fixed sequence of letters, so that a change in timing means a change in the code.
struct Letters(u64);

impl Letters {
    fn next(&mut self, below: u16) -> u16 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        u16::try_from((self.0 >> 33) % u64::from(below)).unwrap()
    }

    fn scanpath(&mut self, length: usize, below: u16) -> Scanpath {
        Scanpath::new((0..length).map(|_| self.next(below)).collect())
    }
}

fn grid() -> Grid {
    Grid::new(7, 7).unwrap()
}

fn comparison(metric: Metric) -> Comparison {
    Comparison::new(metric, Alphabet::letters(49).unwrap()).unwrap()
}

fn needleman_wunsch(distance: Distance, gap: f64) -> Metric {
    Metric::NeedlemanWunsch {
        substitution: Substitution::on_grid(grid(), distance),
        insert: gap,
        delete: gap,
        scale: None,
    }
}

/// Arbitrary costs up to `most`, without structure or a common divisor.
fn any_table(most: u16) -> Metric {
    let mut letters = Letters(5);
    let values = (0..49 * 49)
        .map(|_| f64::from(letters.next(most)))
        .collect();
    Metric::NeedlemanWunsch {
        substitution: Substitution::Table {
            table: Table::new(49, values).unwrap(),
        },
        insert: f64::from(most),
        delete: f64::from(most - 3),
        scale: None,
    }
}

fn scanmatch() -> Metric {
    Metric::ScanMatch {
        grid: grid(),
        wrap: false,
        threshold: 3.5,
        gap: 0.0,
        scale: None,
    }
}

fn smith_waterman() -> Metric {
    let values = (0..49u16)
        .flat_map(|a| (0..49).map(move |b| (a, b)))
        .map(|(a, b)| 350.0 - (100.0 * grid().distance(Distance::Euclidean, a, b)).round())
        .collect();
    Metric::SmithWaterman {
        scoring: LocalScoring::Table {
            table: Table::new(49, values).unwrap(),
        },
        gap: 100.0,
        scale: None,
    }
}

fn cells(a: &Scanpath, b: &Scanpath) -> Throughput {
    Throughput::Elements(a.len() as u64 * b.len() as u64)
}

/// Benchmarks one kernel at all lengths, and the textbook recurrence at one.
fn kernel(
    criterion: &mut Criterion,
    name: &str,
    metric: Metric,
    textbook: impl Fn(&Comparison, &Scanpath, &Scanpath) -> f64,
) {
    let comparison = comparison(metric);
    let mut group = criterion.benchmark_group(name);
    for length in LENGTHS {
        let mut letters = Letters(1);
        let (a, b) = (letters.scanpath(length, 49), letters.scanpath(length, 49));
        group.throughput(cells(&a, &b));
        group.bench_function(BenchmarkId::new("fast", length), |bencher| {
            bencher.iter(|| comparison.compare(black_box(&a), black_box(&b)).unwrap());
        });
        if length == REFERENCE_LENGTH {
            group.bench_function(BenchmarkId::new("textbook", length), |bencher| {
                bencher.iter(|| textbook(&comparison, black_box(&a), black_box(&b)));
            });
        }
    }
    group.finish();
}

#[allow(clippy::cast_precision_loss)]
fn textbook_integer(comparison: &Comparison, a: &Scanpath, b: &Scanpath) -> f64 {
    match comparison.model() {
        Model::Global(model) => reference::min_cost(model, a, b) as f64,
        Model::Local(model) => reference::max_score(model, a, b) as f64,
        Model::Bottleneck(model) => {
            let rank = |x, y| f64::from(model.ranks.rank(x, y));
            reference::frechet_distance(a, b, rank)
        }
        Model::Hausdorff(model) => {
            reference::hausdorff(a, b, |x, y| f64::from(model.ranks.rank(x, y)))
        }
        Model::Warping(model) => {
            reference::warping_distance(a, b, |x, y| model.lattice.distance(x, y))
        }
        Model::Recurrence(model) => reference::recurrent_points(model, a, b).all as f64,
        Model::Reward(_) | Model::Clear => 0.0,
    }
}

/// Letter metrics other than alignments.
fn non_alignment_metrics(criterion: &mut Criterion) {
    let positions = Positions::Grid {
        grid: grid(),
        wrap: false,
    };
    let dtw = |scale| {
        Metric::Dtw(Dtw {
            positions,
            divisor: PathDivisor::None,
            scale,
        })
    };
    let crqa = Metric::Crqa(Crqa {
        rule: RecurrenceRule::SameLetter,
        line: 2,
        measures: CrqaMeasure::ALL.to_vec(),
        undefined: Undefined::Missing,
        rounded: false,
    });
    for (name, metric) in [
        ("sequence_score", Metric::SequenceScore),
        ("dtw_double", dtw(None)),
        ("dtw_integer", dtw(Some(100))),
        ("frechet", Metric::Frechet(Frechet { positions })),
        ("hausdorff", Metric::Hausdorff(Hausdorff { positions })),
        ("crqa", crqa),
    ] {
        kernel(criterion, name, metric, textbook_integer);
    }
}

fn single_core(criterion: &mut Criterion) {
    let textbook = textbook_integer;
    kernel(criterion, "table, 8 bits", any_table(100), textbook);
    kernel(criterion, "table, 16 bits", any_table(30_000), textbook);
    kernel(criterion, "table, 32 bits", any_table(65_000), textbook);
    let manhattan = needleman_wunsch(Distance::Manhattan, 2.0);
    kernel(criterion, "Manhattan", manhattan, textbook);
    kernel(criterion, "Smith-Waterman", smith_waterman(), textbook);
    kernel(criterion, "ScanMatch double", scanmatch(), |_, a, b| {
        reference::scanmatch_sum(&grid(), 3.5, 0.0, a, b)
    });
}

fn levenshtein(criterion: &mut Criterion) {
    use rapidfuzz::distance::levenshtein::distance;
    let ours = comparison(Metric::Levenshtein);
    let numbers = Alphabet::for_cells(65_536).unwrap();
    let ours_large = Comparison::new(Metric::Levenshtein, numbers).unwrap();
    let mut group = criterion.benchmark_group("Levenshtein");
    for length in LENGTHS {
        let mut letters = Letters(1);
        let (a, b) = (letters.scanpath(length, 49), letters.scanpath(length, 49));
        let shifted = |path: &Scanpath| {
            Scanpath::new(path.letters().iter().map(|letter| letter * 300).collect())
        };
        let (far_a, far_b) = (shifted(&a), shifted(&b));
        group.throughput(cells(&a, &b));
        group.bench_function(BenchmarkId::new("fast", length), |bencher| {
            bencher.iter(|| ours.raw(black_box(&a), black_box(&b)).unwrap());
        });
        group.bench_function(
            BenchmarkId::new("fast, cells up to 65535", length),
            |bencher| {
                bencher.iter(|| {
                    ours_large
                        .raw(black_box(&far_a), black_box(&far_b))
                        .unwrap()
                });
            },
        );
        for (name, a, b) in [
            ("rapidfuzz", &a, &b),
            ("rapidfuzz, cells up to 65535", &far_a, &far_b),
        ] {
            group.bench_function(BenchmarkId::new(name, length), |bencher| {
                bencher.iter(|| {
                    let (a, b) = (black_box(a).letters(), black_box(b).letters());
                    distance(a.iter().copied(), b.iter().copied())
                });
            });
        }
    }
    group.finish();
}

/// 100 × 100 scanpaths of 50 to 350 letters on all cores.
fn batch(criterion: &mut Criterion) {
    let mut letters = Letters(9);
    let mut cohort = || -> Vec<Scanpath> {
        (0..100)
            .map(|_| {
                let length = 50 + usize::from(letters.next(300));
                letters.scanpath(length, 49)
            })
            .collect()
    };
    let (first, second) = (cohort(), cohort());
    let (first, second): (Vec<&Scanpath>, Vec<&Scanpath>) =
        (first.iter().collect(), second.iter().collect());
    let pairs: Vec<(usize, usize)> = (0..100)
        .flat_map(|i| (0..100).map(move |j| (i, j)))
        .collect();
    let total = |paths: &[&Scanpath]| paths.iter().map(|path| path.len() as u64).sum::<u64>();
    let mut group = criterion.benchmark_group("batch on all cores");
    group.throughput(Throughput::Elements(total(&first) * total(&second)));
    group.sample_size(10);
    for (name, metric) in [
        ("Levenshtein", Metric::Levenshtein),
        ("table, 8 bits", any_table(100)),
        ("Manhattan", needleman_wunsch(Distance::Manhattan, 2.0)),
        ("Euclidean", needleman_wunsch(Distance::Euclidean, 1.5)),
        ("Smith-Waterman", smith_waterman()),
        ("ScanMatch double", scanmatch()),
    ] {
        let comparison = comparison(metric);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                comparison
                    .compare_pairs(&first, &second, black_box(&pairs), &|_| ())
                    .unwrap()
            });
        });
    }
    // `rapidfuzz`'s own one-to-many comparison on the same cores, as a baseline for our batch.
    group.bench_function("Levenshtein by rapidfuzz", |bencher| {
        bencher.iter(|| {
            first
                .par_iter()
                .map(|path| {
                    let one = BatchComparator::new(path.letters().iter().copied());
                    let distance =
                        |other: &&Scanpath| one.distance(other.letters().iter().copied());
                    second.iter().map(distance).sum::<usize>()
                })
                .collect::<Vec<usize>>()
        });
    });
    group.finish();
}

fn short_runs() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1500))
        .sample_size(20)
}

criterion_group! {
    name = benches;
    config = short_runs();
    targets = single_core, non_alignment_metrics, levenshtein, batch
}
criterion_main!(benches);
