//! Both algorithms on whole recordings, step by step as in pymovements, against the streaming ones.

use super::{found, in_pixels};
use crate::detector::{DetectionOptions, Detector, Point, VelocityMethod};
use proptest::prelude::*;

const STEP: f64 = 4.0;

#[allow(clippy::cast_precision_loss)] // few samples
const fn ms(samples: usize) -> f64 {
    samples as f64 * STEP
}

type Place = Option<(f64, f64)>;

/// Onset and offset, as numbers of samples.
type Window = (usize, usize);

fn extent(places: &[Place]) -> f64 {
    let side = |coordinate: fn((f64, f64)) -> f64| {
        let values: Vec<f64> = places.iter().flatten().copied().map(coordinate).collect();
        let low = values.iter().copied().fold(f64::NAN, f64::min);
        let high = values.iter().copied().fold(f64::NAN, f64::max);
        high - low
    };
    side(|place| place.0) + side(|place| place.1)
}

fn idt(places: &[Place], threshold: f64, least: usize) -> Vec<Window> {
    let mut found = Vec::new();
    let mut start = 0;
    while start + least <= places.len() {
        let mut end = start + least;
        if extent(&places[start..end]) <= threshold {
            while extent(&places[start..end]) < threshold && end < places.len() {
                end += 1;
            }
            if places[start..end - 1].iter().any(Option::is_none) {
                let seen = (start..end - 1).filter(|&index| places[index].is_some());
                let seen: Vec<usize> = seen.collect();
                let parts = seen.chunk_by(|one, next| one + 1 == *next);
                let parts = parts.filter(|part| part.len() >= least);
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
    places: &[Place],
    threshold: f64,
    min_duration_ms: f64,
    method: VelocityMethod,
) -> Vec<Window> {
    let at = |index: usize, offset: isize| {
        let index = index.checked_add_signed(offset)?;
        places.get(index).copied().flatten()
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
    let slow: Vec<usize> = (0..places.len())
        .filter(|&index| slow(index) == Some(true))
        .collect();
    slow.chunk_by(|one, next| one + 1 == *next)
        .map(|part| (part[0], part[part.len() - 1]))
        .filter(|(first, last)| ms(last - first) >= min_duration_ms)
        .collect()
}

fn streamed(options: DetectionOptions, places: &[Place]) -> Vec<Window> {
    let samples: Vec<_> = places
        .iter()
        .enumerate()
        .map(|(index, place)| {
            let point = place.map(|place| Point {
                file: place,
                seen: place,
            });
            (Some(ms(index)), point)
        })
        .collect();
    let sample = |time: f64| (0..places.len()).find(|&index| ms(index) == time);
    let windows = found(options, None, &samples).0.into_iter();
    windows
        .filter_map(|one| sample(one.onset_ms).zip(sample(one.offset_ms)))
        .collect()
}

/// Few places, so that extents and speeds often equal the thresholds, and one sample in six is lost.
fn recording() -> impl Strategy<Value = Vec<Place>> {
    let place = prop_oneof![
        4 => (0u8..3, 0u8..2).prop_map(|(x, y)| Some((f64::from(x), f64::from(y)))),
        1 => (0u8..20, 0u8..20).prop_map(|(x, y)| Some((f64::from(x), f64::from(y)))),
        1 => Just(None),
    ];
    prop::collection::vec((place, 1usize..6), 0..60).prop_map(|parts| {
        let repeated = parts.into_iter();
        repeated
            .flat_map(|(place, times)| std::iter::repeat_n(place, times))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn samples_one_at_a_time_give_what_the_whole_gives(
        places in recording(),
        threshold in 1u8..6,
        least in 2u8..9,
        method in prop_oneof![
            Just(VelocityMethod::Preceding),
            Just(VelocityMethod::Neighbors),
            Just(VelocityMethod::FivePoint),
        ],
    ) {
        let least_ms = f64::from(least) * STEP;
        let by_extent = in_pixels(Detector::Idt, f64::from(threshold), least_ms);
        let expected = idt(&places, f64::from(threshold), usize::from(least));
        prop_assert_eq!(streamed(by_extent, &places), expected);

        let speed = f64::from(threshold) * 125.0;
        let by_speed = DetectionOptions {
            velocity_method: method,
            ..in_pixels(Detector::Ivt, speed, least_ms)
        };
        let expected = ivt(&places, speed, least_ms, method);
        prop_assert_eq!(streamed(by_speed, &places), expected);
    }
}
