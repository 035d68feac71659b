//! Control experiments: two ways to compare 32 bytes, one that stops at the first difference, as `==` does, and one
//! that does not.

use crate::probe::{Expected, Experiment, time};
use rand::{Rng, RngExt};
use std::hint::black_box;

/// Comparisons that are timed together, because one is too short for the clock.
const AT_ONCE: usize = 64;

/// Whether two byte strings are equal.
type Comparison = fn(&[u8], &[u8]) -> bool;

pub(crate) fn all(experiment: &mut Experiment) {
    let secret: [u8; 32] = std::array::from_fn(|i| i as u8);
    let ways: [(&str, Expected, Comparison); 2] = [
        ("control: comparison that stops", Expected::Leak, stops),
        (
            "control: comparison that does not stop",
            Expected::ConstantTime,
            does_not_stop,
        ),
    ];
    for (name, expected, equal) in ways {
        experiment.probe(name, expected, &mut |class, rng| {
            // Both classes do the same preparation, or it would be measured: both draw, but one does not use the bytes.
            let mut guess = [0; 32];
            rng.fill_bytes(&mut guess);
            let copied = [32, rng.random_range(0..4)][class as usize];
            for (index, (guess, secret)) in guess.iter_mut().zip(&secret).enumerate() {
                let mask = u8::from(index < copied).wrapping_neg();
                *guess ^= (*guess ^ secret) & mask;
            }
            time(|| {
                for _ in 0..AT_ONCE {
                    black_box(equal(black_box(&secret), black_box(&guess)));
                }
            })
        });
    }
}

fn stops(a: &[u8], b: &[u8]) -> bool {
    a.iter().zip(b).all(|(a, b)| black_box(a) == b)
}

fn does_not_stop(a: &[u8], b: &[u8]) -> bool {
    a.iter()
        .zip(b)
        .fold(0, |sum, (a, b)| black_box(sum | (a ^ b)))
        == 0
}
