//! Counts made while files are read, on which the notes are based.

use crate::fixation_path::RowOrder;
use crate::{EncodeNote, Half, LikelyCause, Space, SpaceKind};
use veilpath_metrics::Grid;

/// Fewer rows than this say nothing about the whole.
pub(crate) const MIN_ROWS_FOR_NOTE: u64 = 20;

/// Fewer points than this may well lie in one half of a screen.
const MIN_POINTS_FOR_HALVES: u64 = 100;

/// Counts other than those of rows.
#[derive(Debug, Default)]
pub(crate) struct Observations {
    pub(crate) times: OutOfOrderRows,
    pub(crate) stimuli_without_area: usize,
    pub(crate) points: PointCounts,
    pub(crate) odd_participants: Option<EncodeNote>,
    pub(crate) durations: DurationCounts,
}

/// How many fixations have a duration, and how many of these durations are unlikely.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DurationCounts {
    all: u64,
    unlikely: u64,
}

impl DurationCounts {
    /// Counts the duration of a fixation. A duration of 0 may stand for an unknown one.
    pub(crate) fn count(&mut self, duration_ms: f64) {
        self.all += 1;
        let is_likely = duration_ms == 0.0 || (10.0..=10_000.0).contains(&duration_ms);
        self.unlikely += u64::from(!is_likely);
    }

    /// A note if most durations are unlikely.
    pub(crate) fn note(self) -> Option<EncodeNote> {
        let Self { all, unlikely } = self;
        (all >= MIN_ROWS_FOR_NOTE && unlikely * 2 > all).then_some(EncodeNote::UnlikelyDurations {
            fixations: unlikely,
            of: all,
        })
    }
}

/// Where the points of all files lie.
#[derive(Debug, Default)]
pub(crate) struct PointCounts {
    /// Points by letter.
    letters: Vec<u64>,
    points: u64,
    below_zero: u64,
    /// Points in coordinates whose origin is a corner, and how many of them lie exactly at that origin.
    from_corner: u64,
    at_corner: u64,
    /// The smallest and the largest coordinate of points in pixels; `None` if there are none.
    pixels: Option<(f64, f64)>,
}

impl PointCounts {
    /// A point with finite coordinates.
    pub(crate) fn point(&mut self, space: &Space, x: f64, y: f64) {
        if space.left == 0.0 && (space.top == 0.0 || space.bottom == 0.0) {
            self.from_corner += 1;
            self.at_corner += u64::from(x == 0.0 && y == 0.0);
        }
        if space.kind == SpaceKind::Pixels {
            let (min, max) = self.pixels.unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
            self.pixels = Some((min.min(x).min(y), max.max(x).max(y)));
            self.points += 1;
            self.below_zero += u64::from(x < 0.0 || y < 0.0);
        }
    }

    /// A point that fell into a cell.
    pub(crate) fn cell(&mut self, letter: u16) {
        let letter = usize::from(letter);
        if letter >= self.letters.len() {
            self.letters.resize(letter + 1, 0);
        }
        self.letters[letter] += 1;
    }

    /// A note if at least one point in twenty is at the origin.
    pub(crate) fn at_origin(&self) -> Option<EncodeNote> {
        let (points, all) = (self.at_corner, self.from_corner);
        (all >= MIN_ROWS_FOR_NOTE && points * 20 >= all)
            .then_some(EncodeNote::ManyAtOrigin { points, all })
    }

    /// A note if nearly all points are in one grid cell.
    pub(crate) fn one_cell(&self) -> Option<EncodeNote> {
        let used: u64 = self.letters.iter().sum();
        let points = self.letters.iter().copied().max().unwrap_or(0);
        (used >= MIN_ROWS_FOR_NOTE && points * 20 >= used * 19).then(|| EncodeNote::OneCell {
            points,
            used,
            cause: self.likely_cause(),
        })
    }

    /// A note if one half of the grid has nearly all points, spread over more than one cell.
    pub(crate) fn half_empty(&self, grid: &Grid) -> Option<EncodeNote> {
        let used: u64 = self.letters.iter().sum();
        if used < MIN_POINTS_FOR_HALVES || self.one_cell().is_some() {
            return None;
        }
        let columns = usize::try_from(grid.columns()).ok()?;
        let rows = usize::try_from(grid.rows()).ok()?;
        let mut by_column = vec![0; columns];
        let mut by_row = vec![0; rows];
        for (cell, points) in self.letters.iter().enumerate() {
            by_column[cell % columns] += points;
            by_row[cell / columns % rows] += points;
        }
        let half = half_of(&by_column, [Half::Left, Half::Right])
            .or_else(|| half_of(&by_row, [Half::Upper, Half::Lower]))?;
        Some(EncodeNote::HalfEmpty { half, used })
    }

    pub(crate) fn likely_cause(&self) -> LikelyCause {
        match self.pixels {
            Some((min, max)) if min >= 0.0 && max <= 1.2 => LikelyCause::Fractions,
            Some((min, max)) if min >= -1.2 && max <= 1.2 => LikelyCause::Centred,
            Some((min, max)) if min >= 0.0 && max <= 100.0 => LikelyCause::Percent,
            Some((min, max))
                if min >= -60.0 && max <= 60.0 && self.below_zero * 4 > self.points =>
            {
                LikelyCause::VisualAngle
            }
            Some(_) if self.below_zero * 4 > self.points => LikelyCause::CentreOrigin,
            _ => LikelyCause::SizeOrUnit,
        }
    }
}

/// The half of the bands (grid columns or rows) that contains nearly all points. The middle band of an odd number
/// belongs to both halves, because a screen of half the size ends in it. If nearly all points lie in the middle band,
/// they are in neither half.
fn half_of(bands: &[u64], [first, second]: [Half; 2]) -> Option<Half> {
    let all: u64 = bands.iter().sum();
    let middle = bands.len() / 2;
    let has_nearly_all = |bands: &[u64]| bands.iter().sum::<u64>() * 200 >= all * 199;
    match (
        has_nearly_all(&bands[..bands.len() - middle]),
        has_nearly_all(&bands[middle..]),
    ) {
        (true, false) => Some(first),
        (false, true) => Some(second),
        _ => None,
    }
}

/// Counts of rows and scanpaths that were not in temporal order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OutOfOrderRows {
    /// Gaze samples with an earlier time than the previous one.
    pub(crate) backwards: u64,
    /// Scanpaths whose fixations were sorted.
    sorted: u64,
    /// Scanpaths whose fixations were left in row order.
    overlapping: u64,
}

impl OutOfOrderRows {
    /// Counts a fixation recording.
    pub(crate) fn count(&mut self, order: RowOrder) {
        match order {
            RowOrder::Temporal => {}
            RowOrder::Sorted => self.sorted += 1,
            RowOrder::ClockRestarts => self.overlapping += 1,
        }
    }

    /// A note for each count above zero.
    pub(crate) fn notes(self) -> impl Iterator<Item = EncodeNote> {
        let Self {
            backwards,
            sorted,
            overlapping,
        } = self;
        let notes = [
            (backwards, EncodeNote::TimeBackwards { rows: backwards }),
            (sorted, EncodeNote::FixationsSorted { scanpaths: sorted }),
            (
                overlapping,
                EncodeNote::FixationsOverlap {
                    scanpaths: overlapping,
                },
            ),
        ];
        notes
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(_, note)| note)
    }
}
