//! Matrix cells per second of the fixation metrics, and of the letter metrics that `align` does not cover, compared
//! with slow reference definitions.
//!
//! One throughput element is one matrix cell of a scanpath pair. Everything runs on one core.

#![allow(missing_docs, clippy::unwrap_used, clippy::cast_precision_loss)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use veilpath_metrics::reference::{multimatch, positions};
use veilpath_metrics::{
    Alphabet, Comparison, Crqa, CrqaMeasure, Dtw, DurationClasses, DurationDivisor, Fixation,
    FixationComparison, Fixations, Frechet, Grid, Hausdorff, Metric, MultiMatch, MultiMatchMeasure,
    PathDivisor, Positions, RecurrenceRule, ScaSim, Scanpath, Screen, ScreenUnit, SubsMatch,
    Undefined, View,
};

/// Lengths of a short scanpath, a long one, and a whole session.
const LENGTHS: [usize; 3] = [50, 300, 3000];
/// The slow definitions run at this length only.
const REFERENCE_LENGTH: usize = 300;
const SCREEN: (f64, f64) = (1280.0, 720.0);

/// A fixed sequence of numbers, so that a change in timing means a change in the code.
struct FixedRng(u64);

impl FixedRng {
    fn below(&mut self, below: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % u64::from(below)).unwrap()
    }

    fn fixations(&mut self, length: usize) -> Fixations {
        let fixation = |_| Fixation {
            x: f64::from(self.below(12_800)) / 10.0,
            y: f64::from(self.below(7200)) / 10.0,
            start: None,
            duration: f64::from(80 + self.below(500)),
        };
        Fixations::new((0..length).map(fixation).collect()).unwrap()
    }

    fn scanpath(&mut self, length: usize, letters: u32) -> Scanpath {
        let letter = |_| u16::try_from(self.below(letters)).unwrap();
        Scanpath::new((0..length).map(letter).collect())
    }
}

fn between(a: &Fixation, b: &Fixation) -> f64 {
    (a.x - b.x).hypot(a.y - b.y)
}

fn view() -> View {
    View {
        center: [640.0, 360.0],
        pixel: [0.04; 2],
        distance: 60.0,
    }
}

fn scasim(classes: Option<DurationClasses>) -> Metric {
    Metric::ScaSim(ScaSim {
        view: view(),
        modulator: 0.83,
        divisor: DurationDivisor::None,
        classes,
    })
}

/// Benchmarks one fixation metric at all lengths, and its slow definition at one.
fn fixations(
    criterion: &mut Criterion,
    name: &str,
    metric: Metric,
    slow: impl Fn(&[Fixation], &[Fixation]) -> f64,
) {
    let screen = Screen::new(ScreenUnit::Pixels, SCREEN, None).unwrap();
    let comparison = FixationComparison::new(metric, screen).unwrap();
    let mut group = criterion.benchmark_group(name);
    for length in LENGTHS {
        let mut chance = FixedRng(1);
        let (a, b) = (chance.fixations(length), chance.fixations(length));
        group.throughput(Throughput::Elements((length * length) as u64));
        group.bench_function(BenchmarkId::new("fast", length), |bencher| {
            bencher.iter(|| comparison.compare(black_box(&a), black_box(&b)).unwrap());
        });
        if length == REFERENCE_LENGTH {
            group.bench_function(BenchmarkId::new("slow", length), |bencher| {
                bencher.iter(|| slow(black_box(a.list()), black_box(b.list())));
            });
        }
    }
    group.finish();
}

fn measures_of_fixations(criterion: &mut Criterion) {
    let positions = Positions::Fixations;
    let dtw = Metric::Dtw(Dtw {
        positions,
        divisor: PathDivisor::None,
        scale: None,
    });
    fixations(criterion, "dtw of fixations", dtw, |a, b| {
        let distance = |i: usize, j: usize| between(&a[i], &b[j]);
        positions::walk(a.len(), b.len(), distance, |before, here| before + here)
    });
    let frechet = Metric::Frechet(Frechet { positions });
    fixations(criterion, "frechet of fixations", frechet, |a, b| {
        let distance = |i: usize, j: usize| between(&a[i], &b[j]);
        positions::walk(a.len(), b.len(), distance, f64::max)
    });
    let hausdorff = Metric::Hausdorff(Hausdorff { positions });
    fixations(criterion, "hausdorff of fixations", hausdorff, |a, b| {
        positions::hausdorff(a.len(), b.len(), |i, j| between(&a[i], &b[j]))
    });
    for (name, measures) in [
        ("crqa of fixations", CrqaMeasure::ALL.to_vec()),
        ("crqa of fixations, with lines", CrqaMeasure::in_the_clear()),
    ] {
        let crqa = Metric::Crqa(Crqa {
            rule: RecurrenceRule::Within {
                positions,
                radius: 100.0,
            },
            line: 2,
            measures,
            undefined: Undefined::Missing,
            rounded: false,
        });
        fixations(criterion, name, crqa, |a, b| {
            let recurs = |i: usize, j: usize| between(&a[i], &b[j]) <= 100.0;
            positions::recurrence(a.len(), b.len(), 2, recurs).0.all as f64
        });
    }
    fixations(criterion, "scasim of fixations", scasim(None), |a, b| {
        positions::largest_reward(a.len(), b.len(), |i, j| {
            let (x, y) = (&a[i], &b[j]);
            // Not the real angle, but the same amount of work.
            x.duration.min(y.duration) * 0.83f64.powf((y.y - x.y).atan2(y.x - x.x))
        })
    });
    let multimatch = Metric::MultiMatch(MultiMatch {
        measures: MultiMatchMeasure::ALL.to_vec(),
        simplification: None,
    });
    fixations(criterion, "multimatch", multimatch, |a, b| {
        let [a, b] = [a, b].map(multimatch::Saccades::of);
        multimatch::multimatch(&a, &b, SCREEN.0.hypot(SCREEN.1))[0].unwrap_or(0.0)
    });
}

fn measures_of_letters(criterion: &mut Criterion) {
    let classes = DurationClasses {
        grid: Grid::new(12, 8).unwrap(),
        screen: [SCREEN.0, SCREEN.1],
        durations: vec![100.0, 200.0, 400.0, 800.0],
        scale: 1,
    };
    for (name, metric, letters) in [
        ("scasim of classes", scasim(Some(classes)), 384),
        ("subsmatch", Metric::SubsMatch(SubsMatch { window: 3 }), 49),
    ] {
        let alphabet = Alphabet::for_cells(letters).unwrap();
        let comparison = Comparison::new(metric, alphabet).unwrap();
        let mut group = criterion.benchmark_group(name);
        for length in LENGTHS {
            let mut chance = FixedRng(1);
            let a = chance.scanpath(length, letters);
            let b = chance.scanpath(length, letters);
            group.throughput(Throughput::Elements((length * length) as u64));
            group.bench_function(BenchmarkId::new("fast", length), |bencher| {
                bencher.iter(|| comparison.compare(black_box(&a), black_box(&b)).unwrap());
            });
        }
        group.finish();
    }
}

fn short_runs() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .sample_size(10)
}

criterion_group! {
    name = benches;
    config = short_runs();
    targets = measures_of_fixations, measures_of_letters
}
criterion_main!(benches);
