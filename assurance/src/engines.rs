//! Whole engines, both roles, with the letters of both sides and all randomness marked.

use crate::declassify::Declassifying;
use crate::paillier::Keys;
use crate::valgrind::mark_secret;
use std::sync::Arc;
use std::thread;
use veilpath_channel::memory_pair;
use veilpath_metrics::{
    Alphabet, Cohort, Crqa, CrqaMeasure, Dtw, DurationClasses, DurationDivisor, Encoding, Entry,
    Frechet, Grid, Hausdorff, LocalScoring, Metric, PathDivisor, Positions, RecurrenceRule, ScaSim,
    Scanpath, Substitution, Undefined, View,
};
use veilpath_protocol::{Engine, Job, KeySize, PaillierOptions, PairRule, Role, Spec, pairs_of};

/// Needleman–Wunsch with costs by index, the metric of the paper.
pub fn by_index() -> Metric {
    Metric::NeedlemanWunsch {
        substitution: Substitution::Index,
        insert: 5.0,
        delete: 5.0,
        scale: None,
    }
}

/// Smith–Waterman: four candidates per cell, and rounds to find the greatest score.
pub fn local() -> Metric {
    Metric::SmithWaterman {
        scoring: LocalScoring::Unit {
            reward: 2.0,
            mismatch: 1.0,
        },
        gap: 1.0,
        scale: None,
    }
}

/// Cells of a screen, to which fixations were rounded.
fn cells() -> Positions {
    Positions::Cells {
        grid: Grid::new(4, 3).expect("a grid"),
        width: 32.5,
        height: 20.0,
    }
}

/// Dynamic time warping of rounded fixations.
pub fn dtw() -> Metric {
    Metric::Dtw(Dtw {
        positions: cells(),
        divisor: PathDivisor::None,
        scale: Some(1),
    })
}

/// The discrete Fréchet distance of rounded fixations.
pub fn frechet() -> Metric {
    Metric::Frechet(Frechet { positions: cells() })
}

/// The Hausdorff distance of rounded fixations.
pub fn hausdorff() -> Metric {
    Metric::Hausdorff(Hausdorff { positions: cells() })
}

/// Points, diagonal lines and other lines in a recurrence plot of rounded fixations.
pub fn crqa() -> Metric {
    Metric::Crqa(Crqa {
        rule: RecurrenceRule::Within {
            positions: cells(),
            radius: 33.0,
        },
        line: 2,
        measures: vec![CrqaMeasure::Rec, CrqaMeasure::Det, CrqaMeasure::Lam],
        undefined: Undefined::Zero,
        rounded: true,
    })
}

/// ScaSim over six grid cells and two classes of durations.
pub fn scasim() -> Metric {
    Metric::ScaSim(ScaSim {
        view: View {
            center: [50.0, 50.0],
            pixel: [0.1, 0.1],
            distance: 60.0,
        },
        modulator: 0.83,
        divisor: DurationDivisor::None,
        classes: Some(DurationClasses {
            grid: Grid::new(3, 2).expect("a grid"),
            screen: [100.0, 100.0],
            durations: vec![100.0, 250.0],
            scale: 1,
        }),
    })
}

/// The engine of the paper, with the paper's masks or with the hardened ones.
pub fn paillier(keys: &Keys, metric: Metric, hardened: bool) {
    let options = PaillierOptions::new(KeySize::Bits512, true).expect("with consent");
    let options = options.with_hardening(hardened);
    run(Engine::Paillier(options), metric, None, Some(keys));
}

/// Garbled circuits, with or without padding.
pub fn garbled(metric: Metric, pad_to: Option<u32>) {
    run(Engine::Garbled, metric, pad_to, None);
}

/// Secret sharing, with or without padding.
pub fn shares(metric: Metric, pad_to: Option<u32>) {
    run(Engine::Shares, metric, pad_to, None);
}

fn run(engine: Engine, metric: Metric, pad_to: Option<u32>, keys: Option<&Keys>) {
    let (a, b) = (cohort(&[0, 11, 3, 3, 5]), cohort(&[11, 3, 4, 7]));
    let mut spec = Spec::new(engine, metric, PairRule::All, &a, &b).expect("a plan");
    spec.pad_to = pad_to;
    let pairs = pairs_of(PairRule::All, &a, &b);
    let (first, second) = (scanpaths(&a), scanpaths(&b));
    let mut host = Job::new(&spec, Role::Host, &first, 1, &pairs).expect("a job");
    if let Some(keys) = keys {
        host = host.with_key(Arc::clone(&keys.secret));
    }
    let join = Job::new(&spec, Role::Join, &second, 1, &pairs).expect("a job");
    for scanpath in first.iter().chain(&second) {
        mark_secret(scanpath.letters());
    }
    let (left, right) = memory_pair();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut channel = Declassifying(right);
            engine
                .run(&join, &mut channel, &())
                .expect("the joining side");
        });
        let mut channel = Declassifying(left);
        engine.run(&host, &mut channel, &()).expect("the host");
    });
}

/// One scanpath.
pub fn cohort(letters: &[u16]) -> Cohort {
    Cohort {
        alphabet: Alphabet::letters(12).expect("an alphabet"),
        encoding: Encoding::default(),
        screen: None,
        entries: vec![Entry {
            group: None,
            participant: "p".into(),
            stimulus: None,
            scanpath: Scanpath::new(letters.to_vec()),
            fixations: None,
        }],
    }
}

fn scanpaths(cohort: &Cohort) -> Vec<&Scanpath> {
    cohort.entries.iter().map(|entry| &entry.scanpath).collect()
}
