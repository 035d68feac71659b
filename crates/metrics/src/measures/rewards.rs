//! The largest reward of an alignment of fixations, in double precision (ScaSim).
//!
//! The table of a pair is swept along anti-diagonals, in which no place depends on another. A power of an arctangent in
//! every place would take most of the time. It is a smooth function of the chord between two directions (the distance of
//! their points on a sphere of radius 1), and so is read from a table of cubic pieces. Each piece is exact in its middle:
//! equal places have the factor 1.

use super::scasim::{ScaSim, angle};
use crate::Fixation;

/// `modulator^angle` by the chord.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Factors {
    modulator: f64,
    /// Pieces in a chord of 1.
    per_chord: f64,
    /// Powers of the distance from the middle, in pieces, beginning with the constant.
    pieces: Vec<[f64; 4]>,
}

/// Pieces in the chord over which a factor falls by 1/e. Their error is at most 6.5e-4 / this⁴, 2.5e-12 of a duration.
const PIECES_PER_FALL: f64 = 128.0;
/// The fewest and the most pieces in a chord of 1, which is 60 degrees. Larger chords, and steeper factors, are computed one by one.
const PIECES: (f64, f64) = (256.0, 16_384.0);
/// Adding it to a small number rounds that to an integer, which is then in the lowest bits.
const ROUNDER: f64 = (1u64 << 52) as f64;

impl Factors {
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )] // at most 16,384 pieces
    pub(crate) fn new(modulator: f64) -> Self {
        let per_radian = -modulator.ln() * 1f64.to_radians().recip();
        let per_chord = (PIECES_PER_FALL * per_radian).max(PIECES.0).ceil();
        let count = match per_chord <= PIECES.1 {
            true => per_chord as u32,
            false => 0,
        };
        let factor = |chord: f64| modulator.powf((chord / 2.0).asin().to_degrees() * 2.0);
        let piece = |number: u32| {
            let at = |pieces: f64| factor((f64::from(number) + pieces) / per_chord);
            let chord = f64::from(number) / per_chord;
            let middle = at(0.0);
            let slope = -per_radian * middle / (1.0 - chord * chord / 4.0).sqrt() / per_chord;
            let (before, after) = (at(-0.5), at(0.5));
            [
                middle,
                slope,
                4.0 * (f64::midpoint(before, after) - middle),
                8.0 * ((after - before) / 2.0 - slope / 2.0),
            ]
        };
        Self {
            modulator,
            per_chord,
            pieces: (0..count).map(piece).collect(),
        }
    }
}

/// Directions of fixations on a sphere of radius 1, and durations.
#[derive(Default)]
struct Looks {
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
    durations: Vec<f64>,
}

impl Looks {
    fn new<'a>(scasim: &ScaSim, fixations: impl Iterator<Item = &'a Fixation>) -> Self {
        let mut looks = Self::default();
        for fixation in fixations {
            let [x, y, z] = scasim.view.direction(fixation.x, fixation.y);
            let length = (x * x + y * y + z * z).sqrt();
            looks.x.push(x / length);
            looks.y.push(y / length);
            looks.z.push(z / length);
            looks.durations.push(fixation.duration);
        }
        looks
    }

    fn direction(&self, at: usize) -> [f64; 3] {
        [self.x[at], self.y[at], self.z[at]]
    }
}

/// The largest total reward.
#[allow(clippy::cast_possible_truncation)] // the lowest bits are wanted
pub(super) fn largest_reward(
    scasim: &ScaSim,
    factors: &Factors,
    a: &[Fixation],
    b: &[Fixation],
) -> f64 {
    let (m, n) = (a.len(), b.len());
    if m == 0 || n == 0 {
        return 0.0;
    }
    let a = Looks::new(scasim, a.iter());
    let b = Looks::new(scasim, b.iter().rev());
    // By row from 1, of the anti-diagonals two before, one before, and now. What is outside the table is 0.
    let mut two_before = vec![0.0; m + 1];
    let mut before = vec![0.0; m + 1];
    let mut now = vec![0.0; m + 1];
    let mut chords = vec![0.0; m.min(n)];
    let mut rewards = vec![0.0; m.min(n)];
    for diagonal in 0..m + n - 1 {
        let (first, last) = (diagonal.saturating_sub(n - 1), diagonal.min(m - 1));
        let count = last - first + 1;
        // Column j = diagonal − i is at place n − 1 − j of the reversed fixations.
        let place = n - 1 + first - diagonal;
        let chords = &mut chords[..count];
        squared_distances(&a, first, &b, place, chords);
        for chord in chords.iter_mut() {
            *chord = chord.sqrt() * factors.per_chord;
        }
        let rewards = &mut rewards[..count];
        let durations = a.durations[first..][..count]
            .iter()
            .zip(&b.durations[place..][..count]);
        for (at, ((reward, chord), durations)) in rewards
            .iter_mut()
            .zip(chords.iter())
            .zip(durations)
            .enumerate()
        {
            let rounded = chord + ROUNDER;
            let factor = match factors.pieces.get(rounded.to_bits() as u32 as usize) {
                Some([constant, linear, square, cube]) => {
                    let rest = chord - (rounded - ROUNDER);
                    constant + rest * (linear + rest * (square + rest * cube))
                }
                None => {
                    let (p, q) = (a.direction(first + at), b.direction(place + at));
                    factors.modulator.powf(angle(&p, &q))
                }
            };
            let (x, y) = durations;
            *reward = factor * if x < y { x } else { y };
        }
        let above = &before[first..][..count];
        let left = &before[first + 1..][..count];
        let corner = &two_before[first..][..count];
        let slots = &mut now[first + 1..][..count];
        for at in 0..count {
            slots[at] = larger(corner[at] + rewards[at], larger(above[at], left[at]));
        }
        now[first] = 0.0;
        if let Some(beyond) = now.get_mut(last + 2) {
            *beyond = 0.0;
        }
        std::mem::swap(&mut two_before, &mut before);
        std::mem::swap(&mut before, &mut now);
    }
    before[m]
}

fn squared_distances(a: &Looks, first: usize, b: &Looks, place: usize, out: &mut [f64]) {
    let count = out.len();
    let part = |numbers: &mut [f64], from: &[f64], to: &[f64]| {
        let (from, to) = (&from[first..][..count], &to[place..][..count]);
        for ((sum, x), y) in numbers.iter_mut().zip(from).zip(to) {
            *sum += (x - y) * (x - y);
        }
    };
    out.fill(0.0);
    part(out, &a.x, &b.x);
    part(out, &a.y, &b.y);
    part(out, &a.z, &b.z);
}

/// The larger of two numbers that are not NaN: unlike `f64::max` a single instruction.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
