//! Cohorts with the lengths of the paper's data sets: count, mean, deviation, minimum and maximum of both sides, and the mean
//! of m × n. Their letters are random: time and traffic depend only on the lengths.

use super::published::{DataSet, Lengths};
use crate::{mean_and_deviation, random_scanpath};
use rand::{Rng, RngExt};
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry};

/// How strongly the two sides' lengths may depend on the stimulus, positively or negatively, and in how many steps this is tried.
const MAX_SHARED: f64 = 0.5;
const STEPS: i32 = 40;

/// Rounds that fit mean and deviation; a few are enough to converge.
const REPETITIONS: usize = 60;

/// The cohorts of both sides.
pub(super) fn cohorts<R: Rng>(data: &DataSet, alphabet: Alphabet, rng: &mut R) -> [Cohort; 2] {
    let sides = lengths(data, rng);
    sides.map(|side| Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries: side
            .into_iter()
            .enumerate()
            .map(|(index, (stimulus, length))| Entry {
                participant: format!("P{index}"),
                group: None,
                stimulus: Some(format!("S{stimulus}")),
                scanpath: random_scanpath(alphabet, length, rng),
                fixations: None,
            })
            .collect(),
    })
}

/// Stimulus and length of each scanpath of both sides.
fn lengths<R: Rng>(data: &DataSet, rng: &mut R) -> [Vec<(usize, usize)>; 2] {
    let mut stimuli = [Vec::new(), Vec::new()];
    let counts = data
        .stimuli
        .iter()
        .flat_map(|&(count, a, b)| std::iter::repeat_n([a, b], count));
    let mut common = Vec::new();
    for (stimulus, counts) in counts.enumerate() {
        common.push(normal(rng));
        for (side, count) in stimuli.iter_mut().zip(counts) {
            side.extend(std::iter::repeat_n(stimulus, count));
        }
    }
    let own: [Vec<f64>; 2] = [0, 1].map(|side| stimuli[side].iter().map(|_| normal(rng)).collect());
    // Long stimuli make both sides' scanpaths long. This is why the mean of m × n is not the product of the means.
    let with_shared = |shared: f64| {
        [0, 1].map(|side| {
            let sign = if side == 1 { shared.signum() } else { 1.0 };
            let part = shared.abs();
            let draws = stimuli[side]
                .iter()
                .zip(&own[side])
                .map(|(&stimulus, own)| {
                    sign * part.sqrt() * common[stimulus] + (1.0 - part).sqrt() * own
                })
                .collect::<Vec<f64>>();
            let fitted = fit(&draws, &data.lengths[side]);
            stimuli[side]
                .iter()
                .copied()
                .zip(fitted)
                .collect::<Vec<_>>()
        })
    };
    let error = |sides: &[Vec<(usize, usize)>; 2]| (mean_cells(sides) - data.cells.mean).abs();
    (-STEPS..=STEPS)
        .map(|step| with_shared(f64::from(step) / f64::from(STEPS) * MAX_SHARED))
        .min_by(|a, b| error(a).total_cmp(&error(b)))
        .unwrap_or_default()
}

/// The mean of m × n over the pairs of equal stimulus.
fn mean_cells(sides: &[Vec<(usize, usize)>; 2]) -> f64 {
    let stimuli = sides[0].last().map_or(0, |&(last, _)| last + 1);
    let mut sums = vec![[(0.0, 0.0); 2]; stimuli];
    for (side, entries) in sides.iter().enumerate() {
        for &(stimulus, length) in entries {
            let (count, sum) = &mut sums[stimulus][side];
            *count += 1.0;
            *sum += length as f64;
        }
    }
    let total: f64 = sums.iter().map(|[a, b]| a.1 * b.1).sum();
    let pairs: f64 = sums.iter().map(|[a, b]| a.0 * b.0).sum();
    total / pairs
}

/// Lengths in the order of the normal draws, with the target statistics.
fn fit(draws: &[f64], target: &Lengths) -> Vec<usize> {
    let extreme = |compare: fn(&f64, &f64) -> std::cmp::Ordering| {
        let by_draw = |a: &usize, b: &usize| compare(&draws[*a], &draws[*b]);
        (0..draws.len()).max_by(by_draw)
    };
    let longest = extreme(f64::total_cmp);
    let shortest = extreme(|a, b| b.total_cmp(a));
    let (mut centre, mut width) = (target.mean, target.deviation);
    let mut lengths = Vec::new();
    for _ in 0..REPETITIONS {
        let (min, max) = (target.min as f64, target.max as f64);
        lengths = draws
            .iter()
            .map(|draw| (centre + width * draw).clamp(min, max).round())
            .collect();
        for (index, value) in [(longest, max), (shortest, min)] {
            if let Some(length) = index.and_then(|index| lengths.get_mut(index)) {
                *length = value;
            }
        }
        let (mean, deviation) = mean_and_deviation(&lengths);
        centre += target.mean - mean;
        width *= target.deviation / deviation.max(1e-9);
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    // rounded, and within the bounds of the data set
    let whole = lengths.into_iter().map(|length| length as usize).collect();
    whole
}

/// Approximately a standard normal number: the sum of twelve uniform ones.
fn normal<R: Rng>(rng: &mut R) -> f64 {
    (0..12).map(|_| rng.random_range(0.0..1.0)).sum::<f64>() - 6.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::published::DATA_SETS;
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;

    #[test]
    fn statistics_match_the_paper() {
        for data in &DATA_SETS {
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let sides = lengths(data, &mut rng);
            for (side, target) in sides.iter().zip(data.lengths) {
                let lengths: Vec<f64> = side.iter().map(|&(_, length)| length as f64).collect();
                let (mean, deviation) = mean_and_deviation(&lengths);
                assert!(
                    (mean / target.mean - 1.0).abs() < 0.01,
                    "{} {mean}",
                    data.name
                );
                assert!(
                    (deviation / target.deviation - 1.0).abs() < 0.02,
                    "{} {deviation}",
                    data.name
                );
                assert_eq!(
                    side.iter().map(|&(_, length)| length).min(),
                    Some(target.min)
                );
                assert_eq!(
                    side.iter().map(|&(_, length)| length).max(),
                    Some(target.max)
                );
            }
            let cells = mean_cells(&sides);
            assert!(
                (cells / data.cells.mean - 1.0).abs() < 0.01,
                "{} {cells}",
                data.name
            );
        }
    }

    #[test]
    fn the_number_of_comparisons_matches_the_paper() {
        for data in &DATA_SETS {
            let pairs: usize = data
                .stimuli
                .iter()
                .map(|&(count, a, b)| count * a * b)
                .sum();
            assert_eq!(pairs, data.comparisons, "{}", data.name);
        }
    }
}
