//! Dynamic time warping, discrete Fréchet distance and Hausdorff distance.

use super::positions::{Lattice, Positions, Ranks};
use crate::scale::{self, DEFAULT_DISTANCE_SCALE};
use crate::{Alphabet, MetricError, Model, PairScore};
use serde::{Deserialize, Serialize};

/// Dynamic time warping with Euclidean distances: the minimum sum of distances over all walks along both scanpaths,
/// where each step advances one of them or both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dtw {
    /// The positions to compare.
    pub positions: Positions,
    /// The divisor of the sum.
    pub divisor: PathDivisor,
    /// The fixed-point scale. `None` means double precision in the clear; secure engines then compute in
    /// hundredths of a unit.
    pub scale: Option<u32>,
}

/// The divisor of the sum of distances along a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathDivisor {
    /// Nothing.
    #[default]
    None,
    /// The sum of both lengths.
    Lengths,
}

/// Discrete Fréchet distance: the smallest maximum distance over all walks along both scanpaths, as in [`Dtw`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frechet {
    /// The positions to compare.
    pub positions: Positions,
}

/// Hausdorff distance: the largest distance from a point to the nearest point of the other scanpath. The order of the
/// points does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hausdorff {
    /// The positions to compare.
    pub positions: Positions,
}

/// Dynamic time warping in integers. The raw result is the minimum sum.
#[derive(Clone, Debug, PartialEq)]
pub struct WarpingModel {
    /// The positions of the letters.
    pub lattice: Lattice,
    /// The fixed-point scale.
    pub scale: u32,
    /// The divisor of the user's score.
    pub divisor: PathDivisor,
}

/// A metric that compares distances but never adds them. The raw result is a rank.
#[derive(Clone, Debug, PartialEq)]
pub struct RankModel {
    /// The ranks of the distances between letters.
    pub ranks: Ranks,
}

impl WarpingModel {
    /// The distance between two letters, in units.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked when the model was made
    pub fn distance(&self, a: u16, b: u16) -> u32 {
        (self.lattice.distance(a, b) * f64::from(self.scale)).round() as u32
    }

    /// The largest distance between two letters of an alphabet with `letters` letters, in units.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked when the model was made
    pub fn largest(&self, letters: u32) -> u32 {
        (self.lattice.farthest(letters) * f64::from(self.scale)).round() as u32
    }

    /// The user's number.
    #[allow(clippy::cast_precision_loss)] // sums beyond 2⁵³ keep 53 significant bits
    pub(crate) fn read(&self, raw: i64, m: usize, n: usize) -> f64 {
        self.divisor
            .divide(raw as f64 / f64::from(self.scale), m, n)
    }
}

impl RankModel {
    /// The user's number.
    pub(crate) fn read(&self, raw: i64) -> Result<PairScore, MetricError> {
        let rank = u32::try_from(raw).ok();
        let distance = rank.and_then(|rank| self.ranks.distance(rank));
        let distance = distance.ok_or(MetricError::NoSuchRank)?;
        Ok(PairScore::single(distance))
    }
}

impl PathDivisor {
    #[allow(clippy::cast_precision_loss)] // lengths are far below 2⁵³
    pub(crate) fn divide(self, sum: f64, m: usize, n: usize) -> f64 {
        match self {
            PathDivisor::None => sum,
            PathDivisor::Lengths => sum / (m + n) as f64,
        }
    }
}

impl Dtw {
    /// The largest error of an integer score for scanpaths of up to these lengths: half a unit for each step of a path.
    #[allow(clippy::cast_precision_loss)] // lengths are far below 2⁵³
    pub fn error_bound(&self, m: usize, n: usize) -> f64 {
        let scale = self.scale.unwrap_or(distance_scale(&self.positions));
        let steps = (m + n).saturating_sub(1);
        self.divisor
            .divide(steps as f64 / 2.0 / f64::from(scale), m, n)
    }
}

/// The scale for sums of distances between these positions. For cells of a screen, it is the smallest power of ten
/// whose units are at most a fiftieth of a cell's diagonal. Finer units would cost more and say nothing about
/// fixations.
pub(crate) fn distance_scale(positions: &Positions) -> u32 {
    let Positions::Cells { width, height, .. } = positions else {
        return DEFAULT_DISTANCE_SCALE;
    };
    let diagonal = (width * width + height * height).sqrt();
    let mut scale = 1;
    while f64::from(scale) * diagonal < 50.0 && scale < scale::MAX_SCALE {
        scale *= 10;
    }
    scale
}

pub(crate) fn dtw_model(dtw: &Dtw, alphabet: &Alphabet) -> Result<Model, MetricError> {
    let Some(lattice) = dtw.positions.of_letters(alphabet)? else {
        return Ok(Model::Clear);
    };
    let scale = scale::check(dtw.scale.unwrap_or(distance_scale(&dtw.positions)))?;
    let farthest = lattice.farthest(lattice.grid().cells());
    scale::cost("largest distance on the grid", farthest, scale)?;
    Ok(Model::Warping(WarpingModel {
        lattice,
        scale,
        divisor: dtw.divisor,
    }))
}

/// The ranks of the distances between an alphabet's letters, if the positions are those of letters.
pub(crate) fn ranks_of(
    positions: &Positions,
    alphabet: &Alphabet,
) -> Result<Option<RankModel>, MetricError> {
    let lattice = positions.of_letters(alphabet)?;
    Ok(lattice.map(|lattice| RankModel {
        ranks: Ranks::new(lattice),
    }))
}
