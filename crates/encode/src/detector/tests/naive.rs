//! Compares the streaming algorithms with versions for whole recordings that follow pymovements step by step.

use super::{found, in_pixels};
use crate::detector::{DetectionOptions, Detector, Point, VelocityMethod};
use proptest::prelude::*;

const STEP: f64 = 4.0;

#[allow(clippy::cast_precision_loss)] // few samples
const fn ms(samples: usize) -> f64 {
    samples as f64 * STEP
}

type Position = Option<(f64, f64)>;

/// Onset and offset, as sample numbers.
type Window = (usize, usize);

fn extent(positions: &[Position]) -> f64 {
    let side = |coordinate: fn((f64, f64)) -> f64| {
        let values: Vec<f64> = positions
            .iter()
            .flatten()
            .copied()
            .map(coordinate)
            .collect();
        let low = values.iter().copied().fold(f64::NAN, f64::min);
        let high = values.iter().copied().fold(f64::NAN, f64::max);
        high - low
    };
    side(|position| position.0) + side(|position| position.1)
}

fn idt(positions: &[Position], threshold: f64, min_samples: usize) -> Vec<Window> {
    let mut found = Vec::new();
    let mut start = 0;
    while start + min_samples <= positions.len() {
        let mut end = start + min_samples;
        if extent(&positions[start..end]) <= threshold {
            while extent(&positions[start..end]) < threshold && end < positions.len() {
                end += 1;
            }
            if positions[start..end - 1].iter().any(Option::is_none) {
                let present = (start..end - 1).filter(|&index| positions[index].is_some());
                let present: Vec<usize> = present.collect();
                let parts = present.chunk_by(|one, next| one + 1 == *next);
                let parts = parts.filter(|part| part.len() >= min_samples);
                found.extend(parts.map(|part| (part[0], part[part.len() - 1])));
            } else {
                found.push((start, end - 1));
            }
            start = end;
        } else {
            start += 1;
        }
    }
    found
}

fn ivt(
    positions: &[Position],
    threshold: f64,
    min_duration_ms: f64,
    method: VelocityMethod,
) -> Vec<Window> {
    let at = |index: usize, offset: isize| {
        let index = index.checked_add_signed(offset)?;
        positions.get(index).copied().flatten()
    };
    let difference = |one: (f64, f64), other: (f64, f64)| (one.0 - other.0, one.1 - other.1);
    let sum = |one: (f64, f64), other: (f64, f64)| (one.0 + other.0, one.1 + other.1);
    let rate = 1000.0 / STEP;
    let slow = |index: usize| {
        let (difference, factor) = match method {
            VelocityMethod::Preceding => (difference(at(index, 0)?, at(index, -1)?), rate),
            VelocityMethod::Neighbors => (difference(at(index, 1)?, at(index, -1)?), rate / 2.0),
            _ => {
                let after = sum(at(index, 2)?, at(index, 1)?);
                let before = sum(at(index, -1)?, at(index, -2)?);
                (difference(after, before), rate / 6.0)
            }
        };
        let (x, y) = (difference.0 * factor, difference.1 * factor);
        Some((x * x + y * y).sqrt() < threshold)
    };
    let slow: Vec<usize> = (0..positions.len())
        .filter(|&index| slow(index) == Some(true))
        .collect();
    slow.chunk_by(|one, next| one + 1 == *next)
        .map(|part| (part[0], part[part.len() - 1]))
        .filter(|(first, last)| ms(last - first) >= min_duration_ms)
        .collect()
}

fn streamed(options: DetectionOptions, positions: &[Position]) -> Vec<Window> {
    let samples: Vec<_> = positions
        .iter()
        .enumerate()
        .map(|(index, position)| {
            let point = position.map(|position| Point {
                file: position,
                measured: position,
            });
            (Some(ms(index)), point)
        })
        .collect();
    let sample = |time: f64| (0..positions.len()).find(|&index| ms(index) == time);
    let windows = found(options, None, &samples).0.into_iter();
    windows
        .filter_map(|one| sample(one.onset_ms).zip(sample(one.offset_ms)))
        .collect()
}

/// Few positions, so that extents and speeds often equal the thresholds, and one sample in six is lost.
fn recording() -> impl Strategy<Value = Vec<Position>> {
    let position = prop_oneof![
        4 => (0u8..3, 0u8..2).prop_map(|(x, y)| Some((f64::from(x), f64::from(y)))),
        1 => (0u8..20, 0u8..20).prop_map(|(x, y)| Some((f64::from(x), f64::from(y)))),
        1 => Just(None),
    ];
    prop::collection::vec((position, 1usize..6), 0..60).prop_map(|parts| {
        let repeated = parts.into_iter();
        repeated
            .flat_map(|(position, times)| std::iter::repeat_n(position, times))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn samples_one_at_a_time_give_what_the_whole_gives(
        positions in recording(),
        threshold in 1u8..6,
        min_samples in 2u8..9,
        method in prop_oneof![
            Just(VelocityMethod::Preceding),
            Just(VelocityMethod::Neighbors),
            Just(VelocityMethod::FivePoint),
        ],
    ) {
        let min_ms = f64::from(min_samples) * STEP;
        let by_extent = in_pixels(Detector::Idt, f64::from(threshold), min_ms);
        let expected = idt(&positions, f64::from(threshold), usize::from(min_samples));
        prop_assert_eq!(streamed(by_extent, &positions), expected);

        let speed = f64::from(threshold) * 125.0;
        let by_speed = DetectionOptions {
            velocity_method: method,
            ..in_pixels(Detector::Ivt, speed, min_ms)
        };
        let expected = ivt(&positions, speed, min_ms, method);
        prop_assert_eq!(streamed(by_speed, &positions), expected);
    }
}
