//! Rounds fixations to letters, so that two sides can compare them without showing them.
//!
//! A letter encodes a fixation's grid cell and, if the metric uses durations, its duration class: cell · classes +
//! class. The grid covers the whole screen. Grid, screen and classes belong to the metric, so both sides agree on them.

use crate::non_alignment::cell_of;
use crate::{
    Alphabet, Cohort, Entry, Fixation, Fixations, Grid, MAX_CELLS, Metric, MetricError, Notation,
    Positions, ScaSim, Scanpath,
};
use serde::{Deserialize, Serialize};

/// How fixations become letters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantisation {
    grid: Grid,
    screen: [f64; 2],
    /// The duration that each class represents, in ascending order; empty if durations are ignored.
    durations: Vec<f64>,
}

/// How far rounding moved the fixations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoundingError {
    /// The number of fixations.
    pub fixations: usize,
    /// Fixations off the screen, which are moved to its edge.
    pub off_screen: usize,
    /// The mean distance between a fixation and the centre of its cell, in the unit of coordinates.
    pub mean_distance: f64,
    /// The largest such distance.
    pub largest_distance: f64,
    /// The mean difference between a duration and that of its class, in milliseconds; `None` if durations are ignored.
    pub mean_duration: Option<f64>,
    /// The largest such difference.
    pub largest_duration: Option<f64>,
}

/// All numbers come from fixations and are finite.
impl Eq for RoundingError {}

impl Metric {
    /// How the metric rounds fixations, if it does.
    pub fn quantisation(&self) -> Option<Quantisation> {
        if let Metric::ScaSim(ScaSim {
            classes: Some(classes),
            ..
        }) = self
        {
            return Some(Quantisation {
                grid: classes.grid,
                screen: classes.screen,
                durations: classes.durations.clone(),
            });
        }
        match self.positions()? {
            Positions::Cells {
                grid,
                width,
                height,
            } => Some(Quantisation {
                grid,
                screen: [
                    width * f64::from(grid.columns()),
                    height * f64::from(grid.rows()),
                ],
                durations: Vec::new(),
            }),
            Positions::Grid { .. } | Positions::Fixations => None,
        }
    }
}

impl Quantisation {
    /// The grid over the whole screen.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The duration that each class represents, in milliseconds; empty if durations are ignored.
    pub fn durations(&self) -> &[f64] {
        &self.durations
    }

    /// An alphabet with one letter for each cell and class.
    pub fn alphabet(&self) -> Result<Alphabet, MetricError> {
        let classes = u32::try_from(self.durations.len().max(1)).unwrap_or(u32::MAX);
        let letters = self.grid.cells().checked_mul(classes);
        let letters = letters.filter(|_| self.grid.cells() <= MAX_CELLS);
        letters
            .and_then(|letters| Alphabet::new(Notation::Numbers, letters).ok())
            .ok_or(MetricError::Classes)
    }

    /// The distance from the centre of a grid cell to its corners. No fixation on the screen moves farther.
    pub fn largest_shift(&self) -> f64 {
        let [width, height] = self.cell();
        (width * width + height * height).sqrt() / 2.0
    }

    /// The largest change to a duration that is no longer than the last class; `None` if durations are ignored.
    pub fn largest_duration_change(&self) -> Option<f64> {
        let first = *self.durations.first()?;
        let between = self
            .durations
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) / 2.0);
        Some(between.fold(first, f64::max))
    }

    /// The letter of a fixation. Points off the screen are moved to the nearest cell, and durations are rounded to the
    /// nearest class.
    pub fn letter(&self, fixation: &Fixation) -> u16 {
        let cell = cell_of(&self.grid, self.screen, fixation) as usize;
        let letter = cell * self.durations.len().max(1) + self.class(fixation);
        u16::try_from(letter).unwrap_or(u16::MAX)
    }

    fn class(&self, fixation: &Fixation) -> usize {
        let distance = |class: &usize| (self.durations[*class] - fixation.duration).abs();
        let nearest = (0..self.durations.len()).min_by(|x, y| distance(x).total_cmp(&distance(y)));
        nearest.unwrap_or(0)
    }

    fn cell(&self) -> [f64; 2] {
        [
            self.screen[0] / f64::from(self.grid.columns()),
            self.screen[1] / f64::from(self.grid.rows()),
        ]
    }

    /// The letters of a scanpath's fixations.
    fn scanpath(&self, fixations: &Fixations) -> Scanpath {
        let letters = fixations.list().iter();
        Scanpath::new(letters.map(|fixation| self.letter(fixation)).collect())
    }

    /// The same cohort with letters for its fixations, and how far they moved; `None` if it has no fixations. The
    /// result does not contain the fixations.
    pub fn apply(&self, cohort: &Cohort) -> Result<Option<(Cohort, RoundingError)>, MetricError> {
        let alphabet = self.alphabet()?;
        let entries = cohort.entries.iter().map(|entry| {
            let fixations = entry.fixations.as_ref()?;
            Some(Entry {
                scanpath: self.scanpath(fixations),
                fixations: None,
                ..entry.clone()
            })
        });
        let Some(entries) = entries.collect::<Option<Vec<Entry>>>() else {
            return Ok(None);
        };
        let fixations = cohort.entries.iter().filter_map(|it| it.fixations.as_ref());
        let error = self.rounding_error(fixations.flat_map(Fixations::list));
        let rounded = Cohort {
            alphabet,
            encoding: cohort.encoding.clone(),
            screen: cohort.screen,
            entries,
        };
        Ok(Some((rounded, error)))
    }

    /// Measures how far these fixations are from what they are rounded to.
    #[allow(clippy::cast_precision_loss)] // far fewer than 2⁵³ fixations
    pub fn rounding_error<'a>(
        &self,
        fixations: impl IntoIterator<Item = &'a Fixation>,
    ) -> RoundingError {
        let mut error = RoundingError::default();
        let has_durations = !self.durations.is_empty();
        let (mut distances, mut durations, mut longest) = (0.0, 0.0, 0.0_f64);
        let [width, height] = self.cell();
        for fixation in fixations {
            let cell = cell_of(&self.grid, self.screen, fixation);
            let center = |at: u32, size: f64| (f64::from(at) + 0.5) * size;
            let across = fixation.x - center(cell % self.grid.columns(), width);
            let down = fixation.y - center(cell / self.grid.columns(), height);
            let distance = libm::hypot(across, down);
            let is_on = |at: f64, size: f64| (0.0..=size).contains(&at);
            let on_screen = is_on(fixation.x, self.screen[0]) && is_on(fixation.y, self.screen[1]);
            error.off_screen += usize::from(!on_screen);
            error.fixations += 1;
            error.largest_distance = error.largest_distance.max(distance);
            distances += distance;
            if has_durations {
                let change = (self.durations[self.class(fixation)] - fixation.duration).abs();
                longest = longest.max(change);
                durations += change;
            }
        }
        let count = error.fixations.max(1) as f64;
        error.mean_distance = distances / count;
        error.mean_duration = has_durations.then_some(durations / count);
        error.largest_duration = has_durations.then_some(longest);
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dtw, PathDivisor};
    use proptest::prelude::*;

    fn at(x: f64, y: f64, duration: f64) -> Fixation {
        Fixation {
            x,
            y,
            start: None,
            duration,
        }
    }

    fn quantisation(durations: &[f64]) -> Quantisation {
        Quantisation {
            grid: Grid::new(4, 3).unwrap(),
            screen: [400.0, 300.0],
            durations: durations.to_vec(),
        }
    }

    #[test]
    fn letters_are_cells_and_classes() {
        let only_cells = quantisation(&[]);
        assert_eq!(only_cells.letter(&at(150.0, 299.0, 5.0)), 9);
        assert_eq!(only_cells.alphabet().unwrap().size(), 12);
        let both = quantisation(&[100.0, 300.0, 350.0]);
        assert_eq!(both.letter(&at(150.0, 299.0, 210.0)), 9 * 3 + 1);
        assert_eq!(both.alphabet().unwrap().size(), 36);
        // The largest change is from 0 to the first class.
        assert_eq!(both.largest_duration_change(), Some(100.0));
        assert_eq!(
            quantisation(&[50.0, 300.0]).largest_duration_change(),
            Some(125.0)
        );
        let fine = Quantisation {
            grid: Grid::new(33, 32).unwrap(),
            ..only_cells
        };
        assert_eq!(fine.alphabet(), Err(MetricError::Classes));
    }

    #[test]
    fn errors_are_measured() {
        let error = quantisation(&[100.0]).rounding_error(&[
            at(50.0, 50.0, 100.0),
            at(53.0, 54.0, 160.0),
            at(-50.0, 50.0, 100.0),
        ]);
        assert_eq!((error.fixations, error.off_screen), (3, 1));
        assert_eq!(error.largest_distance, 100.0);
        assert_eq!(error.mean_distance, 35.0);
        assert_eq!(error.largest_duration, Some(60.0));
        assert_eq!(error.mean_duration, Some(20.0));
        assert_eq!(
            quantisation(&[]).rounding_error(&[]),
            RoundingError::default()
        );
    }

    #[test]
    fn a_metric_knows_its_cells() {
        let positions = Positions::Cells {
            grid: Grid::new(4, 3).unwrap(),
            width: 100.0,
            height: 100.0,
        };
        let metric = Metric::Dtw(Dtw {
            positions,
            divisor: PathDivisor::None,
            scale: None,
        });
        assert_eq!(metric.quantisation(), Some(quantisation(&[])));
        assert_eq!(Metric::Levenshtein.quantisation(), None);
    }

    proptest! {
        /// No fixation on the screen moves farther than the bound.
        #[test]
        fn shifts_are_bounded(x in 0.0..=400.0, y in 0.0..=300.0, duration in 0.0..=350.0) {
            let both = quantisation(&[100.0, 300.0, 350.0]);
            let error = both.rounding_error(&[at(x, y, duration)]);
            prop_assert_eq!(error.off_screen, 0);
            prop_assert!(error.largest_distance <= both.largest_shift() + 1e-9);
            let change = error.largest_duration.unwrap();
            prop_assert!(change <= both.largest_duration_change().unwrap() + 1e-9);
        }
    }
}
