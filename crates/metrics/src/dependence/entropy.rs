//! Entropies of features of random scanpaths, in bits. Alphabet sizes are whole numbers, at least 2.

use std::f64::consts::{E, LN_2, TAU};

/// From this length on, counts are nearly normally distributed.
const LONG: u64 = 1024;

/// Scanpaths this many times longer than the alphabet practically always contain every letter.
const ENOUGH: f64 = 40.0;

/// How often each letter occurs.
#[allow(clippy::cast_precision_loss)] // lengths are below 2³²
pub(super) fn counts(length: u64, k: f64) -> f64 {
    let n = length as f64;
    if length > LONG {
        return ((k - 1.0) * (TAU * E * n).ln() - k * k.ln()) / (2.0 * LN_2);
    }
    // n·log k − log n! + k·E[log X!] for a binomial X.
    let (mut factorial, mut expected) = (0.0, 0.0);
    for (x, probability) in binomial(length, 1.0 / k).enumerate().skip(1) {
        factorial += (x as f64).ln();
        expected += probability * factorial;
    }
    (n * k.ln() - factorial + k * expected) / LN_2
}

/// The letters in order, without repetitions: how many changes there are, and for each one of the other letters.
#[allow(clippy::cast_precision_loss)] // lengths are below 2³²
pub(super) fn without_repetitions(length: u64, k: f64) -> f64 {
    let (steps, stays) = (length.saturating_sub(1), 1.0 / k);
    let changes = match steps > LONG {
        true => (TAU * E * steps as f64 * stays * (1.0 - stays)).log2() / 2.0,
        false => binomial(steps, stays).map(bits_of).sum(),
    };
    changes + k.log2() + steps as f64 * (1.0 - stays) * (k - 1.0).log2()
}

/// Which letters occur: how many, and which of all sets of this size.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)] // k is small
pub(super) fn set(length: u64, k: f64) -> f64 {
    if length as f64 > ENOUGH * k {
        return 0.0;
    }
    // The probability of each number of different letters.
    let mut numbers = vec![0.0; k as usize + 1];
    numbers[0] = 1.0;
    for _ in 0..length {
        for number in (0..numbers.len()).rev() {
            let stays = numbers[number] * number as f64 / k;
            let grows = match number {
                0 => 0.0,
                _ => numbers[number - 1] * (k - number as f64 + 1.0) / k,
            };
            numbers[number] = stays + grows;
        }
    }
    let (mut sets, mut bits) = (0.0, 0.0);
    for (number, &probability) in numbers.iter().enumerate() {
        if number > 0 {
            sets += ((k - number as f64 + 1.0) / number as f64).log2();
        }
        bits += bits_of(probability) + probability * sets;
    }
    bits
}

fn bits_of(probability: f64) -> f64 {
    match probability > 0.0 {
        true => -probability * probability.log2(),
        false => 0.0,
    }
}

/// The probabilities of 0 to `n` successes.
#[allow(clippy::cast_precision_loss)] // n is small
fn binomial(n: u64, p: f64) -> impl Iterator<Item = f64> {
    let mut logarithm = n as f64 * (-p).ln_1p();
    (0..=n).map(move |x| {
        if x > 0 {
            logarithm += ((n - x + 1) as f64 / x as f64 * p / (1.0 - p)).ln();
        }
        logarithm.exp()
    })
}
