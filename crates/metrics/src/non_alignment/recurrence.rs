//! Cross-recurrence: how often, and in which patterns, two scanpaths visit the same places.
//!
//! Fixation `i` of the first scanpath and `j` of the second *recur* if they have the same letter, or lie within a
//! radius: c(i, j) = 1. `C` is the number of such points. A *line* is a run of at least `L` points: on a diagonal (both
//! look at the same places in the same order), or in a row or column (one stays where the other has been).
//!
//! # Integers
//! The raw result of a pair packs the measures of the plan, the first into the lowest bits. Field widths follow from
//! the lengths. `rec` is `C`. A ratio is rounded half up to 0.01 %: `⌊(20,000·points + C) / (2·C)⌋`, at most
//! [`RATIO_ONE`]. The next integer above the largest ratio means undefined (`C` = 0). `corm` is shifted by
//! [`RATIO_ONE`] so that it is never negative.

use super::lines::{LineMeasure, RecurrentLines};
use super::positions::{Lattice, Positions};
use crate::{Alphabet, Measure, MeasureKind, MetricError, Model, PairScore, Symmetry};
use serde::{Deserialize, Serialize};

/// The integer that represents a ratio of 1.
pub const RATIO_ONE: u64 = 10_000;

/// Cross-recurrence quantification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crqa {
    /// When two fixations recur.
    pub rule: RecurrenceRule,
    /// The minimum length of a line.
    pub line: u32,
    /// The measures to report, each at most once.
    pub measures: Vec<CrqaMeasure>,
    /// How undefined numbers are reported.
    pub undefined: Undefined,
    /// Whether numbers are rounded as in secure engines.
    pub rounded: bool,
}

/// When two fixations recur.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RecurrenceRule {
    /// Their letters are the same.
    SameLetter,
    /// Their distance is at most the radius.
    Within {
        /// The positions to compare.
        positions: Positions,
        /// The radius, in the unit of distances.
        radius: f64,
    },
}

/// A measure of a cross-recurrence analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrqaMeasure {
    /// Recurrence: 100·C / (m·n).
    Rec,
    /// Determinism: the percentage of points on diagonal lines.
    Det,
    /// Laminarity: the mean of `LamRows` and `LamColumns`.
    Lam,
    /// The percentage of points on lines along the second scanpath, with the first fixed.
    LamRows,
    /// The percentage of points on lines along the first scanpath, with the second fixed.
    LamColumns,
    /// Centre of recurrence mass: 100·Σ(j − i)·c / ((max(m, n) − 1)·C). Positive if the second scanpath visits
    /// the same places later.
    Corm,
    /// A statistic of lines, computed in the clear only.
    #[serde(untagged)]
    Line(LineMeasure),
}

/// How an undefined number is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undefined {
    /// As missing.
    #[default]
    Missing,
    /// As 0.
    Zero,
}

/// Cross-recurrence in integers.
#[derive(Clone, Debug, PartialEq)]
pub struct RecurrenceModel {
    /// Which letters recur.
    pub letters: RecurrentLetters,
    /// The minimum length of a line.
    pub line: u32,
    /// The measures, from the lowest bits up.
    pub measures: Vec<CrqaMeasure>,
    /// How undefined numbers are reported.
    pub undefined: Undefined,
}

/// Which letters recur.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RecurrentLetters {
    /// Equal letters.
    Same,
    /// Letters within a radius.
    Within {
        /// The positions of the letters.
        lattice: Lattice,
        /// The radius, in the unit of distances.
        radius: f64,
    },
}

/// The counts of a recurrence matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecurrentPoints {
    /// All points, `C`.
    pub all: u64,
    /// Points on diagonal lines.
    pub diagonal: u64,
    /// Points on lines along the second scanpath.
    pub rows: u64,
    /// Points on lines along the first scanpath.
    pub columns: u64,
    /// Σ(j − i) over all points.
    pub shift: i64,
}

/// A fraction of two counts.
struct Ratio {
    points: u64,
    of: u64,
    /// The integer that represents 0.
    zero: u64,
}

impl CrqaMeasure {
    /// All measures that are computed from point counts, in every engine.
    pub const ALL: [CrqaMeasure; 6] = [
        CrqaMeasure::Rec,
        CrqaMeasure::Det,
        CrqaMeasure::Lam,
        CrqaMeasure::LamRows,
        CrqaMeasure::LamColumns,
        CrqaMeasure::Corm,
    ];

    /// The name used in options and results.
    pub fn name(self) -> &'static str {
        match self {
            CrqaMeasure::Rec => "rec",
            CrqaMeasure::Det => "det",
            CrqaMeasure::Lam => "lam",
            CrqaMeasure::LamRows => "lam-rows",
            CrqaMeasure::LamColumns => "lam-columns",
            CrqaMeasure::Corm => "corm",
            CrqaMeasure::Line(measure) => measure.name(),
        }
    }

    /// All measures that are computed in the clear.
    pub fn in_the_clear() -> Vec<Self> {
        let lines = LineMeasure::ALL.map(CrqaMeasure::Line);
        Self::ALL.into_iter().chain(lines).collect()
    }

    /// Whether the measure describes lines rather than points.
    pub fn is_of_lines(self) -> bool {
        matches!(self, CrqaMeasure::Line(_))
    }

    /// Whether the measure can be undefined for a pair.
    fn may_be_undefined(self) -> bool {
        match self {
            CrqaMeasure::Rec => false,
            CrqaMeasure::Line(measure) => measure.needs_lines(),
            _ => true,
        }
    }

    /// What happens to the number when the two scanpaths are swapped, which turns rows into columns.
    fn symmetry(self) -> Symmetry {
        match self {
            CrqaMeasure::Rec | CrqaMeasure::Det | CrqaMeasure::Lam => Symmetry::Symmetric,
            CrqaMeasure::LamRows | CrqaMeasure::LamColumns => Symmetry::Asymmetric,
            CrqaMeasure::Corm => Symmetry::Antisymmetric,
            CrqaMeasure::Line(measure) => measure.symmetry(),
        }
    }

    /// Whether the number depends on the lengths other than through the points, so that it cannot be read without them.
    pub fn divides_by_length(self) -> bool {
        matches!(self, CrqaMeasure::Rec | CrqaMeasure::Corm)
    }

    /// The largest integer: it means undefined, or for `rec`, that all points recur.
    pub fn largest(self, m: usize, n: usize) -> u64 {
        match self {
            CrqaMeasure::Rec => m as u64 * n as u64,
            CrqaMeasure::Corm => 2 * RATIO_ONE + 1,
            CrqaMeasure::Line(_) => u64::MAX,
            _ => RATIO_ONE + 1,
        }
    }

    /// The width of the measure's field in a raw result, in bits.
    pub fn width(self, m: usize, n: usize) -> u32 {
        u64::BITS - self.largest(m, n).leading_zeros()
    }

    /// The underlying fraction, from 0 to 1 (`corm`: 0 to 2). `of` is 0 if it is undefined.
    fn ratio(self, counted: &RecurrentPoints, m: usize, n: usize) -> Ratio {
        let longest_shift = (m.max(n) as u64).saturating_sub(1);
        let (points, of, zero) = match self {
            CrqaMeasure::Rec => (counted.all, m as u64 * n as u64, 0),
            CrqaMeasure::Det => (counted.diagonal, counted.all, 0),
            CrqaMeasure::Lam => (counted.rows + counted.columns, 2 * counted.all, 0),
            CrqaMeasure::LamRows => (counted.rows, counted.all, 0),
            CrqaMeasure::LamColumns => (counted.columns, counted.all, 0),
            CrqaMeasure::Corm => {
                let of = longest_shift * counted.all;
                (of.saturating_add_signed(counted.shift), of, RATIO_ONE)
            }
            CrqaMeasure::Line(_) => (0, 0, 0),
        };
        Ratio { points, of, zero }
    }

    /// The integer of this measure.
    fn integer(self, counted: &RecurrentPoints, m: usize, n: usize, undefined: Undefined) -> u64 {
        let ratio = self.ratio(counted, m, n);
        match (self, ratio.of, undefined) {
            (CrqaMeasure::Rec, _, _) => counted.all,
            (_, 0, Undefined::Missing) => self.largest(m, n),
            (_, 0, Undefined::Zero) => ratio.zero,
            _ => rounded(ratio.points, ratio.of),
        }
    }

    /// The user's number in double precision.
    #[allow(clippy::cast_precision_loss)] // counts are far below 2⁵³ in practice; larger ones keep 53 bits
    fn exact(
        self,
        counted: &RecurrentPoints,
        m: usize,
        n: usize,
        undefined: Undefined,
    ) -> Option<f64> {
        let ratio = self.ratio(counted, m, n);
        match (self, ratio.of, undefined) {
            (_, 0, Undefined::Missing) => None,
            (_, 0, Undefined::Zero) => Some(0.0),
            (CrqaMeasure::Corm, of, _) => Some(100.0 * counted.shift as f64 / of as f64),
            (_, of, _) => Some(100.0 * ratio.points as f64 / of as f64),
        }
    }

    /// The user's number for an integer.
    #[allow(clippy::cast_precision_loss)] // ratios are small
    fn read(self, integer: u64, m: usize, n: usize) -> Option<f64> {
        match self {
            CrqaMeasure::Rec => Some(100.0 * integer as f64 / (m as u64 * n as u64) as f64),
            _ if integer >= self.largest(m, n) => None,
            CrqaMeasure::Corm => Some((integer as f64 - RATIO_ONE as f64) / 100.0),
            _ => Some(integer as f64 / 100.0),
        }
    }
}

/// `points / of` in units of 0.01 %, rounded half up.
pub(crate) fn rounded(points: u64, of: u64) -> u64 {
    let doubled = 2 * u128::from(RATIO_ONE) * u128::from(points) + u128::from(of);
    u64::try_from(doubled / (2 * u128::from(of.max(1)))).unwrap_or(u64::MAX)
}

impl Crqa {
    /// The measures, in order.
    pub fn measures(&self) -> Vec<Measure> {
        let measure = |measure: &CrqaMeasure| Measure {
            name: measure.name(),
            kind: match measure {
                CrqaMeasure::Corm => MeasureKind::Number,
                CrqaMeasure::Line(measure) => measure.kind(),
                _ => MeasureKind::Similarity,
            },
            may_be_undefined: measure.may_be_undefined() && self.undefined == Undefined::Missing,
            symmetry: measure.symmetry(),
        };
        self.measures.iter().map(measure).collect()
    }

    /// Whether a measure describes lines and is therefore computed in the clear only.
    pub fn has_lines(&self) -> bool {
        self.measures.iter().any(|measure| measure.is_of_lines())
    }

    pub(crate) fn model(&self, alphabet: &Alphabet) -> Result<Model, MetricError> {
        self.check()?;
        let letters = match &self.rule {
            RecurrenceRule::SameLetter => RecurrentLetters::Same,
            RecurrenceRule::Within { positions, radius } => match positions.of_letters(alphabet)? {
                Some(lattice) => RecurrentLetters::Within {
                    lattice,
                    radius: *radius,
                },
                None => return Ok(Model::Clear),
            },
        };
        Ok(Model::Recurrence(RecurrenceModel {
            letters,
            line: self.line,
            measures: self.measures.clone(),
            undefined: self.undefined,
        }))
    }

    fn check(&self) -> Result<(), MetricError> {
        if let RecurrenceRule::Within { radius, .. } = self.rule {
            if !radius.is_finite() {
                return Err(MetricError::NotFinite { name: "radius" });
            }
            if radius < 0.0 {
                return Err(MetricError::Negative {
                    name: "radius",
                    value: radius,
                });
            }
        }
        if !(2..=MAX_LINE).contains(&self.line) {
            return Err(MetricError::Line { line: self.line });
        }
        let measures = &self.measures;
        let repeated = (1..measures.len()).any(|at| measures[..at].contains(&measures[at]));
        if measures.is_empty() || repeated {
            return Err(MetricError::Measures);
        }
        Ok(())
    }

    /// The user's numbers in double precision, or rounded as in secure engines. Line statistics are never rounded.
    pub(crate) fn exact(
        &self,
        counted: &RecurrentPoints,
        lines: &RecurrentLines,
        m: usize,
        n: usize,
    ) -> PairScore {
        let number = |measure: &CrqaMeasure| match measure {
            CrqaMeasure::Line(measure) => match (measure.number(lines), self.undefined) {
                (None, Undefined::Zero) => Some(0.0),
                (number, _) => number,
            },
            measure if self.rounded => {
                measure.read(measure.integer(counted, m, n, self.undefined), m, n)
            }
            measure => measure.exact(counted, m, n, self.undefined),
        };
        PairScore::from_numbers(self.measures.iter().map(number))
    }
}

/// The largest value of the minimum line length.
pub(crate) const MAX_LINE: u32 = 64;

impl RecurrentLetters {
    /// Whether two letters recur.
    pub fn recur(&self, a: u16, b: u16) -> bool {
        match self {
            RecurrentLetters::Same => a == b,
            RecurrentLetters::Within { lattice, radius } => lattice.distance(a, b) <= *radius,
        }
    }
}

impl RecurrenceModel {
    /// Whether any measure can be undefined.
    pub fn has_undefined(&self) -> bool {
        self.undefined == Undefined::Missing
            && self
                .measures
                .iter()
                .any(|measure| measure.may_be_undefined())
    }

    /// Whether any measure describes lines, so that there is no raw result.
    pub fn has_lines(&self) -> bool {
        self.measures.iter().any(|measure| measure.is_of_lines())
    }

    /// Whether any measure cannot be read without the lengths.
    pub fn divides_by_length(&self) -> bool {
        self.measures
            .iter()
            .any(|measure| measure.divides_by_length())
    }

    /// The fields of a raw result and their widths, from the lowest bits.
    pub fn fields(&self, m: usize, n: usize) -> impl Iterator<Item = (CrqaMeasure, u32)> + '_ {
        self.measures
            .iter()
            .map(move |&measure| (measure, measure.width(m, n)))
    }

    /// The width of a raw result in bits. Fails if it exceeds 63.
    pub fn bits(&self, m: usize, n: usize) -> Result<u32, MetricError> {
        if self.has_lines() {
            return Err(MetricError::NoIntegers);
        }
        match self.fields(m, n).map(|(_, width)| width).sum() {
            bits @ 0..=63 => Ok(bits),
            bits => Err(MetricError::TooManyBits { bits }),
        }
    }

    /// The raw result for these counts.
    pub fn raw(&self, counted: &RecurrentPoints, m: usize, n: usize) -> Result<i64, MetricError> {
        self.bits(m, n)?;
        let (mut raw, mut shift) = (0, 0);
        for (measure, width) in self.fields(m, n) {
            raw |= measure.integer(counted, m, n, self.undefined) << shift;
            shift += width;
        }
        Ok(raw.cast_signed())
    }

    /// The user's numbers for a raw result.
    pub(crate) fn read(&self, raw: i64, m: usize, n: usize) -> Result<PairScore, MetricError> {
        self.bits(m, n)?;
        let mut rest = raw.cast_unsigned();
        let numbers = self.fields(m, n).map(|(measure, width)| {
            let integer = rest & ((1 << width) - 1);
            rest >>= width;
            measure.read(integer, m, n)
        });
        Ok(PairScore::from_numbers(numbers))
    }
}
