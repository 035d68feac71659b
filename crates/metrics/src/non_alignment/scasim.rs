//! ScaSim (von der Malsburg and Vasishth 2011): how much time two scanpaths spend at different places.
//!
//! The distance is the sum of all durations of both scanpaths minus twice the largest total reward of an alignment with
//! free gaps. Aligning two fixations `a` and `b` that are `angle` degrees apart earns `min(d_a, d_b) ·
//! modulator^angle`.
//!
//! # Integers
//! Letters are grid cell · classes + duration class. Each reward and each duration is rounded to a unit. The raw result
//! is `total_a + total_b − 2·R` in units, where `total` is the sum of the durations of a side's letters.

use super::rewards::{Factors, GazeDirections, largest_reward};
use crate::{Alphabet, Fixation, Grid, MetricError, Model, PairScore, Screen, ScreenUnit};
use serde::{Deserialize, Serialize};

/// ScaSim and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScaSim {
    /// The viewing geometry.
    pub view: View,
    /// The factor by which the reward of two fixations shrinks with each degree between them, from 0 to 1.
    pub modulator: f64,
    /// The divisor of the distance.
    pub divisor: DurationDivisor,
    /// The grid and the duration classes to which fixations are rounded. `None` compares fixations without rounding.
    pub classes: Option<DurationClasses>,
}

/// The position of the eye, for converting screen positions to directions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// The point straight ahead of the eye, in the unit of coordinates.
    pub center: [f64; 2],
    /// The width and height of one coordinate unit, in the same unit of length as `distance`.
    pub pixel: [f64; 2],
    /// The distance from the eye to the centre.
    pub distance: f64,
}

/// The divisor of the distance between two scanpaths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DurationDivisor {
    /// No divisor: the distance is in milliseconds.
    #[default]
    None,
    /// The number of fixations of both scanpaths.
    Fixations,
    /// The sum of all durations of both scanpaths. Only in the clear.
    Durations,
}

/// Letters for fixations: grid cell · classes + duration class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DurationClasses {
    /// A grid over the whole screen.
    pub grid: Grid,
    /// Width and height of the screen in the unit of coordinates.
    pub screen: [f64; 2],
    /// The duration that each class represents, in ascending order.
    pub durations: Vec<f64>,
    /// Units per millisecond.
    pub scale: u32,
}

/// Rewards of an alignment with free gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct RewardModel {
    classes: usize,
    cells: usize,
    /// `modulator^angle` for each pair of cells, row by row.
    factors: Vec<f64>,
    durations: Vec<f64>,
    scale: u32,
    divisor: DurationDivisor,
}

/// The largest number of grid cells in a quantisation.
pub const MAX_CELLS: u32 = 1024;

impl View {
    /// The view of a screen, if its size and distance are known.
    pub fn of_screen(screen: &Screen) -> Option<Self> {
        let center = [screen.width() / 2.0, screen.height() / 2.0];
        match (screen.unit(), screen.viewing()) {
            (ScreenUnit::Pixels, Some(viewing)) => Some(Self {
                center,
                pixel: [
                    viewing.width_cm / screen.width(),
                    viewing.height_cm / screen.height(),
                ],
                distance: viewing.distance_cm,
            }),
            _ => None,
        }
    }

    /// The direction of a point, not normalised.
    pub(crate) fn direction(&self, x: f64, y: f64) -> [f64; 3] {
        [
            (x - self.center[0]) * self.pixel[0],
            (y - self.center[1]) * self.pixel[1],
            self.distance,
        ]
    }
}

/// The angle between two directions in degrees. Unlike an arccosine, it is exact for equal directions.
pub(crate) fn angle(p: &[f64; 3], q: &[f64; 3]) -> f64 {
    let cross = [
        p[1] * q[2] - p[2] * q[1],
        p[2] * q[0] - p[0] * q[2],
        p[0] * q[1] - p[1] * q[0],
    ];
    let sine = (cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]).sqrt();
    let cosine = p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    libm::atan2(sine, cosine).to_degrees()
}

impl ScaSim {
    pub(crate) fn check(&self) -> Result<(), MetricError> {
        if !(0.0..=1.0).contains(&self.modulator) {
            return Err(MetricError::Modulator {
                modulator: self.modulator,
            });
        }
        let View {
            center,
            pixel,
            distance,
        } = self.view;
        let lengths = [pixel[0], pixel[1], distance];
        if !center.iter().all(|number| number.is_finite())
            || !lengths
                .iter()
                .all(|&length| length.is_finite() && length > 0.0)
        {
            return Err(MetricError::View);
        }
        Ok(())
    }

    pub(crate) fn model(&self, alphabet: &Alphabet) -> Result<Model, MetricError> {
        self.check()?;
        let Some(classes) = &self.classes else {
            return Ok(Model::Clear);
        };
        classes.check(alphabet)?;
        if self.divisor == DurationDivisor::Durations {
            return Ok(Model::Clear);
        }
        let directions: Vec<[f64; 3]> = (0..classes.grid.cells())
            .map(|cell| {
                let [x, y] = classes.center(cell);
                self.view.direction(x, y)
            })
            .collect();
        let factors = directions.iter().flat_map(|p| {
            directions
                .iter()
                .map(|q| libm::pow(self.modulator, angle(p, q)))
        });
        Ok(Model::Reward(RewardModel {
            classes: classes.durations.len(),
            cells: directions.len(),
            factors: factors.collect(),
            durations: classes.durations.clone(),
            scale: classes.scale,
            divisor: self.divisor,
        }))
    }

    /// The distance between two lists of fixations in double precision.
    pub(crate) fn distance(
        &self,
        factors: &Factors,
        a: &GazeDirections,
        b: &GazeDirections,
    ) -> PairScore {
        let durations = a.total() + b.total();
        let distance = (durations - 2.0 * largest_reward(factors, a, b)).max(0.0);
        PairScore::from_numbers([self.divisor.divide(distance, a.len(), b.len(), durations)])
    }
}

impl DurationDivisor {
    /// `None` if there is nothing to divide by.
    #[allow(clippy::cast_precision_loss)] // lengths are far below 2⁵³
    fn divide(self, distance: f64, m: usize, n: usize, durations: f64) -> Option<f64> {
        let by = match self {
            DurationDivisor::None => return Some(distance),
            DurationDivisor::Fixations => (m + n) as f64,
            DurationDivisor::Durations => durations,
        };
        (by > 0.0).then(|| distance / by)
    }
}

impl DurationClasses {
    fn check(&self, alphabet: &Alphabet) -> Result<(), MetricError> {
        let durations = &self.durations;
        let ascending = durations.windows(2).all(|pair| pair[0] < pair[1]);
        let sizes = self
            .screen
            .iter()
            .all(|&size| size.is_finite() && size > 0.0);
        let letters = self.letters();
        if !ascending {
            return Err(MetricError::DurationOrder);
        }
        if !sizes || durations.is_empty() || self.grid.cells() > MAX_CELLS {
            return Err(MetricError::Classes);
        }
        crate::scale::check(self.scale)?;
        for &duration in durations {
            // A fixation without a duration would be invisible.
            if crate::scale::cost("duration of a class", duration, self.scale)? == 0 {
                return Err(MetricError::DurationOrder);
            }
        }
        if letters > 1 << 16 || u64::from(alphabet.size()) > letters {
            return Err(MetricError::Classes);
        }
        Ok(())
    }

    /// The number of letters: cells times classes.
    pub fn letters(&self) -> u64 {
        u64::from(self.grid.cells()) * self.durations.len() as u64
    }

    /// The centre of a grid cell on the screen.
    fn center(&self, cell: u32) -> [f64; 2] {
        let coordinate = |at: u32, of: u32, size: f64| (f64::from(at) + 0.5) / f64::from(of) * size;
        let columns = self.grid.columns();
        [
            coordinate(cell % columns, columns, self.screen[0]),
            coordinate(cell / columns, self.grid.rows(), self.screen[1]),
        ]
    }
}

/// The grid cell of a fixation. Points off the screen are moved to the nearest cell.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped
pub(crate) fn cell_of(grid: &Grid, screen: [f64; 2], fixation: &Fixation) -> u32 {
    let index = |at: f64, size: f64, count: u32| {
        let cell = (at / size * f64::from(count)).floor();
        cell.clamp(0.0, f64::from(count - 1)) as u32
    };
    let column = index(fixation.x, screen[0], grid.columns());
    let row = index(fixation.y, screen[1], grid.rows());
    row * grid.columns() + column
}

impl RewardModel {
    /// The reward of two letters, in units.
    pub fn reward(&self, a: u16, b: u16) -> u32 {
        let (a, b) = (usize::from(a), usize::from(b));
        let shorter = self.durations[a % self.classes].min(self.durations[b % self.classes]);
        let factor = self.factors[a / self.classes * self.cells + b / self.classes];
        self.units(shorter * factor)
    }

    /// The duration of a letter, in units: what it adds to the result if nothing is aligned with it.
    pub fn duration(&self, letter: u16) -> u32 {
        self.units(self.durations[usize::from(letter) % self.classes])
    }

    /// The largest duration and reward, in units.
    pub fn largest(&self) -> u32 {
        self.units(self.durations.last().copied().unwrap_or_default())
    }

    /// The sum of the durations of a scanpath's letters, in units.
    pub fn total(&self, letters: &[u16]) -> u64 {
        let durations = letters
            .iter()
            .map(|&letter| u64::from(self.duration(letter)));
        durations.sum()
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked when the model was made
    fn units(&self, milliseconds: f64) -> u32 {
        (milliseconds * f64::from(self.scale)).round() as u32
    }

    /// The user's number.
    #[allow(clippy::cast_precision_loss)] // results beyond 2⁵³ keep 53 significant bits
    pub(crate) fn read(&self, raw: i64, m: usize, n: usize) -> PairScore {
        let distance = raw as f64 / f64::from(self.scale);
        PairScore::from_numbers([self.divisor.divide(distance, m, n, 0.0)])
    }

    /// Whether the user's number depends on the lengths.
    pub(crate) fn divides(&self) -> bool {
        self.divisor != DurationDivisor::None
    }
}
