//! The largest reward of an alignment of fixations, in double precision (ScaSim).
//!
//! Computing a power of an arctangent for every matrix cell would take most of the time. The factor is a function of
//! the squared chord between two directions (the squared distance between their points on the unit sphere), and is read
//! from a table of cubic pieces. The upper bits of the squared chord's floating-point representation select the piece,
//! so pieces are narrow where the function is steep. The lower bits give the offset within the piece. This needs
//! neither a square root nor rounding, and vector instructions do it for a whole row at once. Equal positions get a
//! factor of exactly 1.

use super::scasim::{View, angle};
use crate::Fixation;
use crate::kernel::number::Number;

/// `modulator^angle` as a function of the squared chord.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Factors {
    modulator: f64,
    /// Polynomial coefficients in the offset from the start of the piece, relative to its power of two, constant first.
    pieces: Vec<Polynomial>,
}

type Polynomial = [f64; 4];

/// Log2 of the number of pieces per power of two of the squared chord. The error of a factor is below 2e-11.
const PIECE_BITS: u32 = 7;
/// Log2 of the number of powers of two: squared chords from 2⁻¹²⁷ to 2. Smaller chords count as equal positions.
const OCTAVE_BITS: u32 = 7;
/// A power of two, so that a mask keeps an index below it.
const PIECES: usize = 1 << (PIECE_BITS + OCTAVE_BITS);
/// How far to shift a number right to keep its upper bits.
const SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - PIECE_BITS;
/// The mask for the offset within a piece.
const OFFSET_MASK: u64 = (1 << SHIFT) - 1;
/// The smallest squared chord with a piece. The lower bits of its exponent are zero, so in larger chords these bits
/// give the piece's index.
const MIN_SQUARED_CHORD: f64 = f64::from_bits(((1023 + 1 - (1 << OCTAVE_BITS)) as u64) << 52);
const ONE: u64 = 1f64.to_bits();
/// Columns whose pieces are looked up at once. They stay in the first-level cache.
const CHUNK: usize = 256;
/// How far from straight ahead a fixation may be, in degrees, for the squared chord of any two to be in the table.
const MAX_DEGREES: f64 = 44.0;

impl Factors {
    pub(crate) fn new(modulator: f64) -> Self {
        let per_radian = libm::log(modulator) * 1f64.to_degrees();
        // The factor and its slope at the start of a piece.
        let at = |piece: usize| {
            let upper = MIN_SQUARED_CHORD.to_bits() + ((piece as u64) << SHIFT);
            let square = f64::from_bits(upper);
            let width = f64::from_bits(upper + (1 << SHIFT)) - square;
            let chord = square.sqrt();
            let factor = libm::exp(per_radian * (2.0 * libm::asin(chord / 2.0)));
            let slope = match factor {
                // A modulator of 0.
                0.0 => 0.0,
                _ => factor * per_radian / (2.0 * chord * (1.0 - square / 4.0).sqrt()),
            };
            (factor, slope, width)
        };
        let mut end = at(0);
        let mut pieces = vec![Polynomial::default(); PIECES];
        for (number, piece) in pieces.iter_mut().enumerate() {
            let (start, slope, width) = end;
            end = at(number + 1);
            let (slope, end_slope) = (slope * width, end.1 * width);
            let rise = end.0 - start;
            *piece = [
                start,
                slope,
                3.0 * rise - 2.0 * slope - end_slope,
                slope + end_slope - 2.0 * rise,
            ];
            for (power, coefficient) in (0..).zip(piece.iter_mut()) {
                *coefficient *= f64::from(1u32 << (PIECE_BITS * power));
            }
        }
        pieces[0] = [1.0, 0.0, 0.0, 0.0];
        Self { modulator, pieces }
    }
}

/// The directions of fixations as points on the unit sphere, and their durations.
#[derive(Clone, Debug, Default)]
pub(crate) struct GazeDirections {
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
    durations: Vec<f64>,
    /// Whether the table covers all chords to other narrow scanpaths.
    are_narrow: bool,
}

impl GazeDirections {
    pub(crate) fn new(view: &View, fixations: &[Fixation]) -> Self {
        let mut directions = Self::default();
        for fixation in fixations {
            let [x, y, z] = view.direction(fixation.x, fixation.y);
            let length = (x * x + y * y + z * z).sqrt();
            directions.x.push(x / length);
            directions.y.push(y / length);
            directions.z.push(z / length);
            directions.durations.push(fixation.duration);
        }
        let min_z = libm::cos(MAX_DEGREES.to_radians());
        directions.are_narrow = directions.z.iter().all(|&z| z >= min_z);
        directions
    }

    pub(super) fn len(&self) -> usize {
        self.durations.len()
    }

    /// The sum of the durations.
    pub(super) fn total(&self) -> f64 {
        self.durations.iter().sum()
    }

    fn direction(&self, at: usize) -> [f64; 3] {
        [self.x[at], self.y[at], self.z[at]]
    }
}

/// The largest total reward.
pub(super) fn largest_reward(factors: &Factors, a: &GazeDirections, b: &GazeDirections) -> f64 {
    // Long rows have less overhead, and swapping the sides does not change the reward.
    let (a, b) = if a.len() > b.len() { (b, a) } else { (a, b) };
    match a.are_narrow && b.are_narrow {
        true => from_table(factors, a, b),
        false => one_by_one(factors.modulator, a, b),
    }
}

/// Reads factors from the table.
fn from_table(factors: &Factors, a: &GazeDirections, b: &GazeDirections) -> f64 {
    // Because the length is a constant, the compiler can prove that a remainder is a valid index.
    let Ok(pieces) = <&[Polynomial; PIECES]>::try_from(factors.pieces.as_slice()) else {
        return one_by_one(factors.modulator, a, b);
    };
    let mut numbers = [0; CHUNK];
    let mut offsets = [0.0; CHUNK];
    let mut best = vec![0.0; b.len()];
    for row in 0..a.len() {
        let (from, duration) = (a.direction(row), a.durations[row]);
        let (mut corner, mut left) = (0.0, 0.0);
        for (chunk, best) in best.chunks_mut(CHUNK).enumerate() {
            let (first, count) = (chunk * CHUNK, best.len());
            let (numbers, offsets) = (&mut numbers[..count], &mut offsets[..count]);
            find_pieces(from, b, first, numbers, offsets);
            let cells = numbers
                .iter()
                .zip(offsets.iter())
                .zip(&b.durations[first..]);
            for (slot, ((&number, &offset), &other)) in best.iter_mut().zip(cells) {
                let [constant, linear, square, cube] = pieces[number as usize % PIECES];
                let factor = constant + offset * (linear + offset * (square + offset * cube));
                let paired = corner + factor * duration.smaller(other);
                corner = *slot;
                left = left.larger(paired.larger(corner));
                *slot = left;
            }
        }
    }
    best.last().copied().unwrap_or_default()
}

/// Finds the pieces of the squared chords from one direction to several others, and the offsets within them.
#[allow(clippy::cast_possible_truncation)] // at most twelve bits of sign and exponent, and those of the piece
fn find_pieces(
    [x, y, z]: [f64; 3],
    to: &GazeDirections,
    first: usize,
    numbers: &mut [u32],
    offsets: &mut [f64],
) {
    let count = numbers.len();
    let (u, v, w) = (
        &to.x[first..][..count],
        &to.y[first..][..count],
        &to.z[first..][..count],
    );
    let offsets = &mut offsets[..count];
    for at in 0..count {
        let (across, down, ahead) = (x - u[at], y - v[at], z - w[at]);
        let square = across * across + down * down + ahead * ahead;
        let bits = square.larger(MIN_SQUARED_CHORD).to_bits();
        numbers[at] = (bits >> SHIFT) as u32;
        offsets[at] = f64::from_bits(bits & OFFSET_MASK | ONE) - 1.0;
    }
}

/// Computes the factor of each pair directly, for directions outside the table.
fn one_by_one(modulator: f64, a: &GazeDirections, b: &GazeDirections) -> f64 {
    let mut best = vec![0.0; b.len()];
    for row in 0..a.len() {
        let (p, duration) = (a.direction(row), a.durations[row]);
        let (mut corner, mut left) = (0.0, 0.0);
        for (at, slot) in best.iter_mut().enumerate() {
            let factor = libm::pow(modulator, angle(&p, &b.direction(at)));
            let paired = corner + factor * duration.smaller(b.durations[at]);
            corner = *slot;
            left = left.larger(paired.larger(corner));
            *slot = left;
        }
    }
    best.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reward of two fixations of one millisecond is the factor of the chord between them.
    #[test]
    fn factors_are_those_of_the_definition() {
        let directions = |chord: f64| {
            let half = libm::asin(chord / 2.0);
            GazeDirections {
                x: vec![libm::sin(half)],
                y: vec![0.0],
                z: vec![libm::cos(half)],
                durations: vec![1.0],
                are_narrow: true,
            }
        };
        for modulator in [0.0, 1e-300, 1e-9, 0.01, 0.5, 0.83, 0.9999, 1.0] {
            let factors = Factors::new(modulator);
            for step in 0..18_000 {
                let chord = 1.38 * libm::exp2(-f64::from(step) / 300.0);
                let (a, mut b) = (directions(chord), directions(chord));
                b.x[0] = -b.x[0];
                let ours = from_table(&factors, &a, &b);
                let defined = one_by_one(modulator, &a, &b);
                assert!(
                    (ours - defined).abs() < 2e-11,
                    "{modulator} {chord} {ours} {defined}"
                );
            }
            let a = directions(0.3);
            assert_eq!(from_table(&factors, &a, &a), 1.0);
        }
    }
}
