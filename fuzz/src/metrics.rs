//! Compares the kernels of metrics with slow definitions.

use veilpath_metrics::reference::{self, multimatch, positions};
use veilpath_metrics::{
    Alphabet, Comparison, Crqa, CrqaMeasure, Dtw, DurationDivisor, Fixation, FixationComparison,
    Fixations, Frechet, Grid, Hausdorff, Metric, Model, MultiMatch, MultiMatchMeasure, PairScore,
    PathDivisor, Positions, RecurrenceRule, RecurrentLines, RecurrentPoints, ScaSim, Scanpath,
    Screen, ScreenUnit, Simplification, SubsMatch, Undefined, View,
};

const SCREEN: (f64, f64) = (512.0, 512.0);

/// The first byte chooses the metric and whether it compares fixations, the second its setting, the third where the first scanpath
/// ends. The rest are letters, or x, y and duration of fixations.
pub fn metrics(data: &[u8]) {
    let [choice, number, split, rest @ ..] = data else {
        return;
    };
    if choice & 8 == 0 {
        let rest = &rest[..rest.len().min(600)];
        let (a, b) = rest.split_at(usize::from(*split).min(rest.len()));
        let [a, b] = [a, b].map(|bytes| {
            let letters = bytes.iter().map(|byte| u16::from(byte % 49));
            Scanpath::new(letters.collect())
        });
        of_letters(*choice, *number, &a, &b);
    } else {
        let rest = &rest.as_chunks::<3>().0[..rest.len().min(600) / 3];
        let (a, b) = rest.split_at(usize::from(*split).min(rest.len()));
        let [a, b] = [a, b].map(|bytes| {
            let fixation = |&[x, y, duration]: &[u8; 3]| Fixation {
                x: f64::from(x) * 2.0,
                y: f64::from(y) * 2.0 + f64::from(number % 4) * 0.1,
                start: None,
                duration: f64::from(duration) * 4.0,
            };
            bytes.iter().map(fixation).collect::<Vec<Fixation>>()
        });
        of_fixations(*choice, *number, &a, &b);
    }
}

fn of_letters(choice: u8, number: u8, a: &Scanpath, b: &Scanpath) {
    let (Some(grid), Ok(alphabet)) = (Grid::new(7, 7), Alphabet::letters(49)) else {
        return;
    };
    let positions = Positions::Grid {
        grid,
        wrap: number & 128 > 0,
    };
    let rule = match number & 64 {
        0 => RecurrenceRule::SameLetter,
        _ => RecurrenceRule::Within {
            positions,
            radius: f64::from(number & 15) / 2.0,
        },
    };
    let line = 2 + u32::from(number >> 4 & 3);
    let window = u32::from(number % 6) + 1;
    let metric = match choice & 7 {
        0 => Metric::SequenceScore,
        1 => dtw(positions, None),
        2 => dtw(positions, Some(u32::from(number) + 1)),
        3 => Metric::Frechet(Frechet { positions }),
        4 => Metric::Hausdorff(Hausdorff { positions }),
        5 => crqa(rule, line),
        _ => Metric::SubsMatch(SubsMatch { window }),
    };
    let Ok(comparison) = Comparison::new(metric.clone(), alphabet) else {
        return;
    };
    let Ok(ours) = comparison.compare(a, b) else {
        assert!(a.is_empty() || b.is_empty());
        return;
    };
    let slow = match (&metric, comparison.model()) {
        (Metric::SubsMatch(_), _) => PairScore::from_numbers([positions::subsmatch(
            a.letters(),
            b.letters(),
            window as usize,
        )]),
        (Metric::Crqa(_), Model::Recurrence(model)) => {
            let (counted, lines) = reference::recurrence(model, a, b);
            percentages(&counted, &lines, a.len(), b.len())
        }
        (_, Model::Warping(model)) => {
            let distance = |x, y| match choice & 7 {
                1 => model.lattice.distance(x, y),
                _ => f64::from(model.distance(x, y)) / f64::from(model.scale),
            };
            PairScore::single(reference::warping_distance(a, b, distance))
        }
        (_, Model::Bottleneck(_)) => {
            let distance = |x, y| distance_on(&positions, x, y);
            PairScore::single(reference::frechet_distance(a, b, distance))
        }
        (_, Model::Hausdorff(_)) => {
            let distance = |x, y| distance_on(&positions, x, y);
            PairScore::single(reference::hausdorff(a, b, distance))
        }
        (_, Model::Global(model)) => {
            let cost = reference::min_cost(model, a, b);
            let common = (a.len() + b.len()) as f64 - cost as f64;
            PairScore::single(common / 2.0 / a.len().max(b.len()) as f64)
        }
        _ => return,
    };
    agree(&ours, &slow, 1.0);
}

fn of_fixations(choice: u8, number: u8, a: &[Fixation], b: &[Fixation]) {
    let positions = Positions::Fixations;
    let radius = f64::from(number) * 2.0;
    let rule = RecurrenceRule::Within { positions, radius };
    let line = 2 + u32::from(number & 3);
    let view = View {
        center: [256.0, 256.0],
        pixel: [0.06; 2],
        distance: 10.0 + f64::from(number),
    };
    let modulator = f64::from(number) / 255.0;
    let simplification = (number > 0).then(|| Simplification {
        direction: f64::from(number) / 2.0,
        length: f64::from(number),
        duration: f64::from(number) * 3.0,
    });
    let metric = match choice & 7 {
        0 | 1 => dtw(positions, None),
        2 => Metric::Frechet(Frechet { positions }),
        3 => Metric::Hausdorff(Hausdorff { positions }),
        4 => crqa(rule, line),
        5 => Metric::ScaSim(ScaSim {
            view,
            modulator,
            divisor: DurationDivisor::None,
            classes: None,
        }),
        _ => Metric::MultiMatch(MultiMatch {
            measures: MultiMatchMeasure::ALL.to_vec(),
            simplification,
        }),
    };
    let Ok(screen) = Screen::new(ScreenUnit::Pixels, SCREEN, None) else {
        return;
    };
    let Ok(comparison) = FixationComparison::new(metric.clone(), screen) else {
        return;
    };
    let [Ok(first), Ok(second)] = [a, b].map(|list| Fixations::new(list.to_vec())) else {
        return;
    };
    let Ok(ours) = comparison.compare(&first, &second) else {
        assert!(a.is_empty() || b.is_empty());
        return;
    };
    let (m, n) = (a.len(), b.len());
    let distance = |i: usize, j: usize| {
        let (x, y) = (a[i].x - b[j].x, a[i].y - b[j].y);
        (x * x + y * y).sqrt()
    };
    let total: f64 = a.iter().chain(b).map(|it| it.duration).sum();
    let slow = match metric {
        Metric::Dtw(_) => PairScore::single(positions::walk(m, n, distance, |sum, it| sum + it)),
        Metric::Frechet(_) => PairScore::single(positions::walk(m, n, distance, f64::max)),
        Metric::Hausdorff(_) => PairScore::single(positions::hausdorff(m, n, distance)),
        Metric::Crqa(_) => {
            let recurs = |i: usize, j: usize| distance(i, j) <= radius;
            let (counted, lines) = positions::recurrence(m, n, line as usize, recurs);
            percentages(&counted, &lines, m, n)
        }
        Metric::ScaSim(_) => {
            let reward = positions::largest_reward(m, n, |i, j| {
                a[i].duration.min(b[j].duration) * modulator.powf(angle(&view, &a[i], &b[j]))
            });
            PairScore::single(total - 2.0 * reward)
        }
        _ if m < 3 || n < 3 => PairScore::from_numbers([None; 5]),
        _ => {
            let [a, b] = [a, b].map(|fixations| {
                let path = multimatch::Saccades::of(fixations);
                match &simplification {
                    Some(rule) => path.simplified(rule),
                    None => path,
                }
            });
            PairScore::from_numbers(multimatch::multimatch(&a, &b, SCREEN.0.hypot(SCREEN.1)))
        }
    };
    agree(&ours, &slow, total.max(1.0));
}

fn dtw(positions: Positions, scale: Option<u32>) -> Metric {
    Metric::Dtw(Dtw {
        positions,
        divisor: PathDivisor::None,
        scale,
    })
}

fn crqa(rule: RecurrenceRule, line: u32) -> Metric {
    Metric::Crqa(Crqa {
        rule,
        line,
        measures: CrqaMeasure::in_the_clear(),
        undefined: Undefined::Zero,
        rounded: false,
    })
}

fn distance_on(positions: &Positions, a: u16, b: u16) -> f64 {
    positions
        .lattice()
        .map_or(0.0, |lattice| lattice.distance(a, b))
}

/// All numbers of a cross-recurrence analysis, with 0 for undefined ones.
fn percentages(counted: &RecurrentPoints, lines: &RecurrentLines, m: usize, n: usize) -> PairScore {
    let share = |some: f64, of: f64| if of > 0.0 { some / of } else { 0.0 };
    let all = counted.all as f64;
    let shifts = (m.max(n) - 1) as f64 * all;
    let lengths = 2..=m.max(n);
    let diagonal = &lines.diagonal;
    let entropy: f64 = lengths
        .map(|length| {
            let share = share(diagonal.of_length(length) as f64, diagonal.count() as f64);
            if share > 0.0 {
                -share * share.ln()
            } else {
                0.0
            }
        })
        .sum();
    let mean = |points: u64, lines: u64| share(points as f64, lines as f64);
    PairScore::from_numbers(
        [
            100.0 * all / (m * n) as f64,
            100.0 * share(counted.diagonal as f64, all),
            100.0 * share((counted.rows + counted.columns) as f64, 2.0 * all),
            100.0 * share(counted.rows as f64, all),
            100.0 * share(counted.columns as f64, all),
            100.0 * share(counted.shift as f64, shifts),
            diagonal.count() as f64,
            diagonal.longest() as f64,
            mean(diagonal.points(), diagonal.count()),
            entropy,
            mean(lines.rows.points(), lines.rows.count()),
            mean(lines.columns.points(), lines.columns.count()),
            lines.rows.longest() as f64,
            lines.columns.longest() as f64,
        ]
        .map(Some),
    )
}

/// The angle between two places in degrees, by the arccosine, which is precise enough for different places.
fn angle(view: &View, a: &Fixation, b: &Fixation) -> f64 {
    if (a.x, a.y) == (b.x, b.y) {
        return 0.0;
    }
    let look = |it: &Fixation| {
        let x = (it.x - view.center[0]) * view.pixel[0];
        let y = (it.y - view.center[1]) * view.pixel[1];
        let length = (x * x + y * y + view.distance * view.distance).sqrt();
        [x / length, y / length, view.distance / length]
    };
    let (p, q) = (look(a), look(b));
    let cosine: f64 = p.iter().zip(q).map(|(x, y)| x * y).sum();
    cosine.min(1.0).acos().to_degrees()
}

fn agree(ours: &PairScore, slow: &PairScore, size: f64) {
    assert_eq!(ours.numbers().len(), slow.numbers().len());
    for (ours, slow) in ours.numbers().zip(slow.numbers()) {
        match (ours, slow) {
            (Some(ours), Some(slow)) => {
                let tolerance = 1e-9 * size.max(slow.abs());
                assert!((ours - slow).abs() <= tolerance, "{ours} {slow}");
            }
            (ours, slow) => assert_eq!(ours, slow),
        }
    }
}
