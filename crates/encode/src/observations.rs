//! Counts made while files are read, on which the notes are based.

use crate::fixation_path::RowOrder;
use crate::{EncodeNote, Fixation, Half, LikelyCause, Space, SpaceKind};
use std::collections::HashMap;
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
    /// A note about participants whose durations differ from those of the others.
    pub(crate) odd_durations: Option<EncodeNote>,
    pub(crate) repeats: RepeatCounts,
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

    /// Adds the counts of another recording.
    pub(crate) fn add(&mut self, other: Self) {
        self.all += other.all;
        self.unlikely += other.unlikely;
    }

    pub(crate) fn are_enough(self) -> bool {
        self.all >= MIN_ROWS_FOR_NOTE
    }

    /// Whether most durations are unlikely.
    pub(crate) fn are_odd(self) -> bool {
        self.unlikely * 2 > self.all
    }

    /// A note if most durations are unlikely.
    pub(crate) fn note(self) -> Option<EncodeNote> {
        (self.are_enough() && self.are_odd()).then_some(EncodeNote::UnlikelyDurations {
            fixations: self.unlikely,
            of: self.all,
        })
    }
}

/// How many fixations repeat the row before them, as they do if each gaze sample names its fixation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RepeatCounts {
    all: u64,
    repeated: u64,
}

impl RepeatCounts {
    /// Counts a fixation that follows another one of its recording, or none.
    pub(crate) fn count(&mut self, before: Option<&FixationRow>, next: &FixationRow) {
        self.all += 1;
        self.repeated += u64::from(before.is_some_and(|before| next.repeats(before)));
    }

    /// A note if most fixations repeat the one before them.
    pub(crate) fn note(self) -> Option<EncodeNote> {
        let Self { all, repeated } = self;
        (all >= MIN_ROWS_FOR_NOTE && repeated * 2 > all).then_some(EncodeNote::RepeatedFixations {
            fixations: repeated,
            of: all,
        })
    }
}

/// What shows that two rows are of the same fixation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixationRow {
    point: (f64, f64),
    start_ms: Option<f64>,
    duration_ms: Option<f64>,
}

impl FixationRow {
    pub(crate) fn of(fixation: &Fixation<'_>) -> Self {
        Self {
            point: (fixation.x, fixation.y),
            start_ms: fixation.start_ms,
            duration_ms: fixation.duration_ms,
        }
    }

    /// Whether this is the fixation of an earlier row, which has not ended yet. Its rows have their own times, or all have
    /// the start of the fixation.
    fn repeats(&self, before: &Self) -> bool {
        let overlaps = match (before.start_ms, self.start_ms, before.duration_ms) {
            (Some(before), Some(start), Some(duration)) => {
                before <= start && start < before + duration
            }
            (before, start, _) => before.is_none() && start.is_none(),
        };
        let has_duration = self.duration_ms.is_some_and(|duration| duration > 0.0);
        let is_same = self.point == before.point && self.duration_ms == before.duration_ms;
        overlaps && has_duration && is_same
    }
}

/// How many different points outside the screen are told apart.
const MAX_OFF_SCREEN: usize = 1000;

/// Fewer equal points than this are a coincidence.
const MIN_EQUAL_POINTS: u64 = 3;

/// As many points in one cell, all between -1 and 1, are no coincidence.
const MIN_POINTS_IN_CELL: u64 = 3;

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
    /// The largest longitude and latitude, regardless of their signs; `None` if there are none.
    globe: Option<(f64, f64)>,
    on_globe: u64,
    /// Points in any coordinates.
    all: u64,
    /// How often the first points outside the screen occur, by the bits of their coordinates.
    off_screen: HashMap<[u64; 2], u64>,
}

impl PointCounts {
    /// A point with finite coordinates.
    pub(crate) fn point(&mut self, space: &Space, x: f64, y: f64) {
        self.all += 1;
        if space.kind == SpaceKind::Globe {
            let (longitude, latitude) = self.globe.unwrap_or_default();
            self.globe = Some((longitude.max(x.abs()), latitude.max(y.abs())));
            self.on_globe += 1;
        }
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

    /// A point with finite coordinates outside the screen.
    pub(crate) fn off_screen(&mut self, x: f64, y: f64) {
        let key = [x.to_bits(), y.to_bits()];
        let has_room = self.off_screen.len() < MAX_OFF_SCREEN;
        match self.off_screen.get_mut(&key) {
            Some(count) => *count += 1,
            None if has_room => {
                self.off_screen.insert(key, 1);
            }
            None => {}
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

    /// A note if at least one point in twenty is the same one outside the screen.
    pub(crate) fn at_one_place_off_screen(&self) -> Option<EncodeNote> {
        let most = self
            .off_screen
            .iter()
            .max_by_key(|(key, count)| (**count, **key));
        let (&[x, y], &points) = most?;
        let is_often = points >= MIN_EQUAL_POINTS && points * 20 >= self.all;
        (is_often && self.all >= MIN_ROWS_FOR_NOTE).then_some(EncodeNote::ManyOffScreen {
            x: f64::from_bits(x),
            y: f64::from_bits(y),
            points,
            all: self.all,
        })
    }

    /// A note if longitudes and latitudes are too small for degrees. At the centre of a grid they may be in several cells.
    pub(crate) fn radians(&self) -> Option<EncodeNote> {
        let (longitude, latitude) = self.globe?;
        // 2π and half of π, with room for rounding.
        let is_small = (0.1..=6.29).contains(&longitude) && latitude <= 1.58;
        let points = self.on_globe;
        (points >= MIN_ROWS_FOR_NOTE && is_small).then_some(EncodeNote::Radians { points })
    }

    /// A note if nearly all points are in one grid cell. If all are between -1 and 1, a few points are enough.
    pub(crate) fn one_cell(&self) -> Option<EncodeNote> {
        if self.radians().is_some() {
            return None;
        }
        let used: u64 = self.letters.iter().sum();
        let points = self.letters.iter().copied().max().unwrap_or(0);
        let cause = self.likely_cause();
        // A few fixations near a corner or the centre may be in pixels.
        let are_fractions = matches!(cause, LikelyCause::Fractions | LikelyCause::Centred);
        let is_noted = match used >= MIN_ROWS_FOR_NOTE {
            true => points * 20 >= used * 19,
            false => are_fractions && points == used && used >= MIN_POINTS_IN_CELL,
        };
        is_noted.then_some(EncodeNote::OneCell {
            points,
            used,
            cause,
        })
    }

    /// A note if one half of the grid has nearly all points, spread over more than one cell.
    pub(crate) fn half_empty(&self, grid: &Grid) -> Option<EncodeNote> {
        let used: u64 = self.letters.iter().sum();
        let is_noted = self.radians().is_some() || self.one_cell().is_some();
        if used < MIN_POINTS_FOR_HALVES || is_noted {
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

    /// How many points outside the screen are the same one, if it has a note.
    pub(crate) fn off_screen_at_one_place(&self) -> u64 {
        match self.at_one_place_off_screen() {
            Some(EncodeNote::ManyOffScreen { points, .. }) => points,
            _ => 0,
        }
    }

    /// Whether most points below zero are the same one, as trackers write for a lost eye.
    fn is_below_zero_at_one_place(&self) -> bool {
        let is_negative = |bits: &u64| f64::from_bits(*bits) < 0.0;
        let off_screen = self.off_screen.iter();
        let negative = off_screen.filter(|(point, _)| point.iter().any(is_negative));
        let most = negative.map(|(_, &count)| count).max();
        most.is_some_and(|most| most * 2 > self.below_zero)
    }

    pub(crate) fn likely_cause(&self) -> LikelyCause {
        match self.pixels {
            Some((min, max)) if min >= 0.0 && max <= 1.2 => LikelyCause::Fractions,
            Some((min, max)) if min >= -1.2 && max <= 1.2 => LikelyCause::Centred,
            Some((min, max)) if min >= 0.0 && max <= 100.0 => LikelyCause::Percent,
            Some(_) if self.is_below_zero_at_one_place() => LikelyCause::SizeOrUnit,
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
