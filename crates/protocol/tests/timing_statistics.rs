//! The statistics of `benches/constant_time` find a leak if there is one, and none otherwise.

#![allow(clippy::unwrap_used, reason = "a test may stop loudly")]
#![allow(clippy::cast_precision_loss, reason = "small numbers")]

#[path = "../benches/constant_time/statistics.rs"]
#[allow(dead_code, reason = "the bench uses more of it")]
mod statistics;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use statistics::{Class, DIFFERENT, Measurements, SUSPICIOUS};
use std::hint::black_box;
use std::time::Instant;

/// Times around 1000 with a spread of 100, one in twenty distorted by an interruption; fixed inputs take `longer`.
fn measured(longer: f64) -> Measurements {
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let mut measurements = Measurements::default();
    for _ in 0..20_000 {
        let fixed: bool = rng.random();
        let noise: f64 = (0..12).map(|_| rng.random::<f64>() - 0.5).sum();
        let delay = if rng.random_range(0..20) == 0 {
            1e5 * rng.random::<f64>()
        } else {
            0.0
        };
        let (class, more) = if fixed {
            (Class::Fixed, longer)
        } else {
            (Class::Random, 0.0)
        };
        measurements.push(class, 1000.0 + 100.0 * noise + delay + more);
    }
    measurements
}

#[test]
fn equal_distributions_are_not_distinguished() {
    let t = measured(0.0).largest().t;
    assert!(t.abs() < SUSPICIOUS, "{t}");
}

#[test]
fn a_difference_is_found_behind_interruptions() {
    // A fifth of the spread. Without cropping, the interruptions would hide it.
    let t = measured(20.0).largest().t;
    assert!(t > DIFFERENT, "{t}");
    let t = measured(-20.0).largest().t;
    assert!(t < -DIFFERENT, "{t}");
}

/// With enough measurements, a difference that is smaller than a tick of most clocks is found.
#[test]
fn a_difference_of_nanoseconds_is_found() {
    let mut rng = ChaCha20Rng::seed_from_u64(10);
    let mut measurements = Measurements::default();
    for _ in 0..20_000 {
        let (class, more) = match rng.random() {
            true => (Class::Fixed, 4.0),
            false => (Class::Random, 0.0),
        };
        // A clock with ticks of ten nanoseconds.
        let time: f64 = 1000.0 + 20.0 * rng.random::<f64>() + more;
        measurements.push(class, (time / 10.0).floor() * 10.0);
    }
    let found = measurements.largest();
    assert!(found.t > DIFFERENT, "{found:?}");
    assert!((1.0..6.0).contains(&found.nanoseconds), "{found:?}");
}

/// A slow path that one input class takes rarely is in the tail that cropping removes.
#[test]
fn a_rare_slow_path_is_counted() {
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let mut measurements = Measurements::default();
    for _ in 0..20_000 {
        let fixed: bool = rng.random();
        let slow = !fixed && rng.random_range(0..20) == 0;
        let class = if fixed { Class::Fixed } else { Class::Random };
        let more = if slow { 400.0 } else { 0.0 };
        measurements.push(class, 1000.0 + 20.0 * rng.random::<f64>() + more);
    }
    let found = measurements.largest();
    assert!(found.t < -DIFFERENT, "{found:?}");
}

#[test]
fn a_coarse_clock_or_few_measurements_find_no_difference() {
    let mut measurements = Measurements::default();
    assert!(measurements.largest().t.abs() < SUSPICIOUS);
    for _ in 0..100 {
        measurements.push(Class::Fixed, 5.0);
        measurements.push(Class::Random, 5.0);
    }
    assert_eq!(measurements.len(), 200);
    assert!(measurements.largest().t.abs() < SUSPICIOUS);
}

#[test]
fn a_real_leak_is_found_by_a_real_clock() {
    let mut measurements = Measurements::default();
    for round in 0..2000u32 {
        let (class, steps) = match round % 2 {
            0 => (Class::Fixed, 20_000u64),
            _ => (Class::Random, 200),
        };
        let start = Instant::now();
        let mut sum = 0u64;
        for step in 0..black_box(steps) {
            sum = black_box(sum + step);
        }
        measurements.push(class, start.elapsed().as_nanos() as f64);
    }
    let t = measurements.largest().t;
    assert!(t > DIFFERENT, "{t}");
}
