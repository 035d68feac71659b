//! MultiMatch (Jarodzka, Holmqvist and Nyström 2010; Dewhurst et al. 2012): five similarities of aligned saccades.
//!
//! A saccade has the position and the duration of the fixation it starts from. Saccades are aligned by the path with
//! the minimum sum through the matrix of |a − b|, from the first pair (which costs nothing) to the last, by steps
//! right, down and diagonal. Ties are broken from the end of the path: diagonal before up before left. Each of the five
//! numbers is a median over the pairs of the path, divided by its largest possible value and subtracted from 1.

use super::coordinates::Plane;
use super::shortest_path::shortest_path;
use crate::{Fixation, Measure, MeasureKind, MetricError, PairScore, Symmetry};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// MultiMatch and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MultiMatch {
    /// The measures to report, each at most once.
    pub measures: Vec<MultiMatchMeasure>,
    /// How to merge saccades before the comparison.
    pub simplification: Option<Simplification>,
}

/// A measure of MultiMatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MultiMatchMeasure {
    /// How similar saccades are as vectors: 1 − median |a − b| / (2 · diagonal).
    Shape,
    /// How similar their directions are: 1 − median angle / π.
    Direction,
    /// How similar their lengths are: 1 − median difference / diagonal.
    Length,
    /// How close their starts are: 1 − median distance / diagonal.
    Position,
    /// How similar the durations of the fixations are: 1 − median of difference / longer duration.
    Duration,
}

/// When two consecutive saccades are merged. Passes by direction and by length alternate until nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Simplification {
    /// They merge if the angle between them is smaller than this, in degrees, and the fixation between them is short.
    pub direction: f64,
    /// They merge if the first is shorter than this, in the unit of coordinates, and the fixation before or after it is
    /// short.
    pub length: f64,
    /// A fixation is short if it lasts less than this, in milliseconds.
    pub duration: f64,
}

/// The saccades of a scanpath, prepared for comparisons.
#[derive(Clone, Debug)]
pub(crate) struct Saccades {
    /// Empty if there are too few saccades to compare.
    list: Vec<PolarSaccade>,
    vectors: Plane,
}

/// A saccade with its length and its direction in radians.
#[derive(Clone, Copy, Debug)]
struct PolarSaccade {
    saccade: Saccade,
    length: f64,
    direction: f64,
}

/// A saccade with the fixation it starts from.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Saccade {
    x: f64,
    y: f64,
    start: [f64; 2],
    duration: f64,
}

impl MultiMatchMeasure {
    /// All measures.
    pub const ALL: [MultiMatchMeasure; 5] = [
        MultiMatchMeasure::Shape,
        MultiMatchMeasure::Direction,
        MultiMatchMeasure::Length,
        MultiMatchMeasure::Position,
        MultiMatchMeasure::Duration,
    ];

    /// The name used in options and results.
    pub fn name(self) -> &'static str {
        match self {
            MultiMatchMeasure::Shape => "shape",
            MultiMatchMeasure::Direction => "direction",
            MultiMatchMeasure::Length => "length",
            MultiMatchMeasure::Position => "position",
            MultiMatchMeasure::Duration => "duration",
        }
    }

    /// The dissimilarity of two saccades, from 0 to 1 if all points are on the screen. `None` if both durations are 0.
    #[inline(always)]
    fn difference(self, a: &PolarSaccade, b: &PolarSaccade, diagonal: f64) -> Option<f64> {
        let (first, second) = (&a.saccade, &b.saccade);
        Some(match self {
            MultiMatchMeasure::Shape => {
                length(first.x - second.x, first.y - second.y) / (2.0 * diagonal)
            }
            MultiMatchMeasure::Direction => {
                let between = (a.direction - b.direction).abs();
                between.min(2.0 * PI - between) / PI
            }
            MultiMatchMeasure::Length => (a.length - b.length).abs() / diagonal,
            MultiMatchMeasure::Position => {
                let (start, other) = (first.start, second.start);
                length(start[0] - other[0], start[1] - other[1]) / diagonal
            }
            MultiMatchMeasure::Duration => {
                let longer = first.duration.max(second.duration);
                if longer == 0.0 {
                    return None;
                }
                (first.duration - second.duration).abs() / longer
            }
        })
    }
}

fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

impl Saccade {
    fn length(&self) -> f64 {
        length(self.x, self.y)
    }

    /// The angle to the next saccade, in degrees. Unlike an arccosine, the arctangent is defined for every rounded
    /// vector.
    fn turning_angle(&self, next: &Saccade) -> f64 {
        let cross = self.x * next.y - self.y * next.x;
        let dot = self.x * next.x + self.y * next.y;
        libm::atan2(cross.abs(), dot).to_degrees()
    }

    /// Merges both into one saccade, from the start of the first. As in the original, the duration of the fixation
    /// between them is lost.
    fn merged(&self, next: &Saccade) -> Self {
        Self {
            x: self.x + next.x,
            y: self.y + next.y,
            ..*self
        }
    }
}

impl MultiMatch {
    /// The measures, in order.
    pub fn measures(&self) -> Vec<Measure> {
        let measure = |measure: &MultiMatchMeasure| Measure {
            name: measure.name(),
            kind: MeasureKind::Similarity,
            may_be_undefined: true,
            symmetry: Symmetry::Symmetric,
        };
        self.measures.iter().map(measure).collect()
    }

    pub(crate) fn check(&self) -> Result<(), MetricError> {
        let measures = &self.measures;
        let repeated = (1..measures.len()).any(|at| measures[..at].contains(&measures[at]));
        if measures.is_empty() || repeated {
            return Err(MetricError::Measures);
        }
        if let Some(simplification) = &self.simplification {
            let Simplification {
                direction,
                length,
                duration,
            } = *simplification;
            for (name, value) in [
                ("angle of simplification", direction),
                ("length of simplification", length),
                ("duration of simplification", duration),
            ] {
                if !value.is_finite() {
                    return Err(MetricError::NotFinite { name });
                }
                if value < 0.0 {
                    return Err(MetricError::Negative { name, value });
                }
            }
        }
        Ok(())
    }

    /// The saccades to compare in a scanpath.
    pub(crate) fn saccades(&self, fixations: &[Fixation]) -> Saccades {
        let saccades = match (fixations.len(), &self.simplification) {
            (0..3, _) => Vec::new(),
            (_, None) => saccades(fixations),
            (_, Some(simplification)) => {
                let last = fixations.last().map_or(0.0, |fixation| fixation.duration);
                simplify(saccades(fixations), last, simplification)
            }
        };
        let compared = |saccade: &Saccade| PolarSaccade {
            saccade: *saccade,
            length: saccade.length(),
            direction: libm::atan2(saccade.y, saccade.x),
        };
        Saccades {
            list: saccades.iter().map(compared).collect(),
            vectors: Plane::of(saccades.iter().map(|it| [it.x, it.y])),
        }
    }

    /// The numbers for a pair on a screen with this diagonal. Undefined if either scanpath has fewer than three
    /// fixations.
    pub(crate) fn compare(&self, a: &Saccades, b: &Saccades, diagonal: f64) -> PairScore {
        if a.list.is_empty() || b.list.is_empty() {
            return PairScore::from_numbers(self.measures.iter().map(|_| None));
        }
        let path = shortest_path(&a.vectors, &b.vectors);
        let mut differences = Vec::with_capacity(path.len());
        let number = |measure: &MultiMatchMeasure| {
            differences.clear();
            for &(i, j) in &path {
                differences.push(measure.difference(&a.list[i], &b.list[j], diagonal)?);
            }
            Some(1.0 - median(&mut differences))
        };
        PairScore::from_numbers(self.measures.iter().map(number))
    }
}

fn saccades(fixations: &[Fixation]) -> Vec<Saccade> {
    let pairs = fixations.windows(2);
    let saccade = |pair: &[Fixation]| Saccade {
        x: pair[1].x - pair[0].x,
        y: pair[1].y - pair[0].y,
        start: [pair[0].x, pair[0].y],
        duration: pair[0].duration,
    };
    pairs.map(saccade).collect()
}

/// Merges saccades. `last` is the duration of the fixation after the last one.
fn simplify(mut path: Vec<Saccade>, last: f64, rule: &Simplification) -> Vec<Saccade> {
    loop {
        let before = path.len();
        path = merge(&path, |at, path| {
            let (saccade, next) = (&path[at], &path[at + 1]);
            saccade.turning_angle(next) < rule.direction && next.duration < rule.duration
        });
        let is_short = |at: usize, path: &[Saccade]| {
            let after = path.get(at + 1).map_or(last, |next| next.duration);
            path[at].length() < rule.length
                && (path[at].duration < rule.duration || after < rule.duration)
        };
        let end_is_short = is_short(path.len() - 1, &path);
        path = merge(&path, is_short);
        // A short last saccade has no successor, so it is merged into the one before.
        if end_is_short
            && let [.., one_before, end] = path[..]
            && is_short(path.len() - 1, &path)
        {
            path.truncate(path.len() - 2);
            path.push(one_before.merged(&end));
        }
        if path.len() == before {
            return path;
        }
    }
}

/// Merges each saccade for which `joins` is true with the next, which is then skipped.
fn merge(path: &[Saccade], joins: impl Fn(usize, &[Saccade]) -> bool) -> Vec<Saccade> {
    let mut merged = Vec::with_capacity(path.len());
    let mut at = 0;
    while at < path.len() {
        if at + 1 < path.len() && joins(at, path) {
            merged.push(path[at].merged(&path[at + 1]));
            at += 2;
        } else {
            merged.push(path[at]);
            at += 1;
        }
    }
    merged
}

/// The median. `numbers` must not be empty.
fn median(numbers: &mut [f64]) -> f64 {
    let (count, middle) = (numbers.len(), numbers.len() / 2);
    let (below, &mut upper, _) = numbers.select_nth_unstable_by(middle, f64::total_cmp);
    match count % 2 {
        0 => (below.iter().copied().fold(f64::NEG_INFINITY, f64::max) + upper) / 2.0,
        _ => upper,
    }
}
