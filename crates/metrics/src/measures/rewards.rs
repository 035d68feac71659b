//! The largest reward of an alignment of fixations, in double precision (ScaSim).
//!
//! The table of a pair is swept along anti-diagonals, in which no place depends on another, so that the compiler uses vector
//! instructions. A power of an arctangent in every place would take most of the time. It is a smooth function of the chord
//! between two directions (the distance of their points on a sphere of radius 1), and so is read from a table of cubic pieces.
//! Each piece is exact in its middle: equal places have the factor 1.

use super::scasim::{ScaSim, angle};
use crate::Fixation;

/// `modulator^angle` by the chord.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Factors {
    modulator: f64,
    /// Pieces in a chord of 1.
    per_chord: f64,
    /// Powers of the distance from the middle, in pieces, beginning with the constant. `None` if too many were needed.
    pieces: Option<Box<[Piece; PIECES]>>,
}

type Piece = [f64; 4];

/// A power of two, so that a mask keeps an index below it.
const PIECES: usize = 1 << 14;
/// Pieces in the chord over which a factor falls by 1/e, and the fewest in a chord of 1. The error of a factor is below 1e-11.
const PIECES_PER_FALL: f64 = 128.0;
const FEWEST_PIECES: f64 = 256.0;
/// How far from straight ahead a fixation may be, in degrees, so that the chord of two is in the table.
const WIDEST: f64 = 44.0;
/// Adding it to a small number rounds that to an integer, which is then in the lowest bits.
const ROUNDER: f64 = (1u64 << 52) as f64;

impl Factors {
    pub(crate) fn new(modulator: f64) -> Self {
        let per_radian = -modulator.ln() * 1f64.to_radians().recip();
        let per_chord = (PIECES_PER_FALL * per_radian).max(FEWEST_PIECES).ceil();
        let last = (2.0 * WIDEST.to_radians().sin() * per_chord).ceil() + 1.0;
        let factor = |chord: f64| modulator.powf((chord / 2.0).asin().to_degrees() * 2.0);
        let piece = |number: f64| {
            let at = |pieces: f64| factor((number + pieces) / per_chord);
            let chord = number / per_chord;
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
        // Infinite for a modulator of 0.
        let fits = last < PIECES as f64;
        let pieces = fits.then(|| {
            let numbers = (0..PIECES).map(|number| number as f64);
            let pieces = numbers.map(|number| match number <= last {
                true => piece(number),
                false => Piece::default(),
            });
            pieces.collect::<Box<[Piece]>>()
        });
        Self {
            modulator,
            per_chord,
            pieces: pieces.and_then(|pieces| pieces.try_into().ok()),
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

    /// Whether all chords are in the table.
    fn are_narrow(&self) -> bool {
        let least = WIDEST.to_radians().cos();
        self.z.iter().all(|&z| z >= least)
    }

    fn direction(&self, at: usize) -> [f64; 3] {
        [self.x[at], self.y[at], self.z[at]]
    }
}

/// The largest total reward.
pub(super) fn largest_reward(
    scasim: &ScaSim,
    factors: &Factors,
    a: &[Fixation],
    b: &[Fixation],
) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let a = Looks::new(scasim, a.iter());
    let b = Looks::new(scasim, b.iter().rev());
    match &factors.pieces {
        Some(pieces) if a.are_narrow() && b.are_narrow() => {
            let longest = a.x.len().min(b.x.len());
            let mut places = (vec![0.0; longest], vec![0; longest]);
            sweep(&a, &b, |first, place, out| {
                read(
                    &a,
                    &b,
                    (first, place),
                    factors.per_chord,
                    pieces,
                    &mut places,
                    out,
                );
            })
        }
        _ => sweep(&a, &b, |first, place, out| {
            for (at, factor) in out.iter_mut().enumerate() {
                let (p, q) = (a.direction(first + at), b.direction(place + at));
                *factor = factors.modulator.powf(angle(&p, &q));
            }
        }),
    }
}

/// Reads the factors of an anti-diagonal from the table.
fn read(
    a: &Looks,
    b: &Looks,
    (first, place): (usize, usize),
    per_chord: f64,
    pieces: &[Piece; PIECES],
    (rests, numbers): &mut (Vec<f64>, Vec<u64>),
    out: &mut [f64],
) {
    let count = out.len();
    let (rests, numbers) = (&mut rests[..count], &mut numbers[..count]);
    let (x, y, z) = (
        &a.x[first..][..count],
        &a.y[first..][..count],
        &a.z[first..][..count],
    );
    let (u, v, w) = (
        &b.x[place..][..count],
        &b.y[place..][..count],
        &b.z[place..][..count],
    );
    for at in 0..count {
        let (across, down, ahead) = (x[at] - u[at], y[at] - v[at], z[at] - w[at]);
        let chord = (across * across + down * down + ahead * ahead).sqrt() * per_chord;
        let rounded = chord + ROUNDER;
        rests[at] = chord - (rounded - ROUNDER);
        numbers[at] = rounded.to_bits();
    }
    for ((factor, &rest), &number) in out.iter_mut().zip(rests.iter()).zip(numbers.iter()) {
        let [constant, linear, square, cube] = pieces[number as usize & (PIECES - 1)];
        *factor = constant + rest * (linear + rest * (square + rest * cube));
    }
}

/// The largest sum along the anti-diagonals; `b` is reversed. `factors` is given a row of the first, a place of the reversed
/// second, and where the factors from there on go.
fn sweep(a: &Looks, b: &Looks, mut factors: impl FnMut(usize, usize, &mut [f64])) -> f64 {
    let (m, n) = (a.x.len(), b.x.len());
    // By row from 1, of the anti-diagonals two before, one before, and now. What is outside the table is 0.
    let mut two_before = vec![0.0; m + 1];
    let mut before = vec![0.0; m + 1];
    let mut now = vec![0.0; m + 1];
    let mut room = vec![0.0; m.min(n)];
    for diagonal in 0..m + n - 1 {
        let (first, last) = (diagonal.saturating_sub(n - 1), diagonal.min(m - 1));
        let count = last - first + 1;
        // Column j = diagonal − i is at place n − 1 − j of the reversed fixations.
        let place = n - 1 + first - diagonal;
        let found = &mut room[..count];
        factors(first, place, found);
        let durations = &a.durations[first..][..count];
        let others = &b.durations[place..][..count];
        let above = &before[first..][..count];
        let left = &before[first + 1..][..count];
        let corner = &two_before[first..][..count];
        let slots = &mut now[first + 1..][..count];
        for at in 0..count {
            let shorter = smaller(durations[at], others[at]);
            let paired = corner[at] + found[at] * shorter;
            slots[at] = larger(paired, larger(above[at], left[at]));
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

/// The larger of two numbers that are not NaN: unlike `f64::max` a single instruction.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}
