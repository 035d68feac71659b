//! Pairs of scanpaths that a page shows side by side. Both scanpaths are on this machine.

use super::{DrawingError, DrawnCohort, ResultFile};
use crate::cohort::{decode_with_notes, read_cohort_from};
use crate::{Error, Input};
use veilpath_encode::RawCohort;
use veilpath_metrics::{Cohort, Comparison, Crqa, Entry, Metric, Positions, RecurrenceRule};
use veilpath_report::html::{OwnPair, Recurrence};

/// Which pairs to show, and how.
#[derive(Clone, Debug, Default)]
pub struct PairOptions {
    /// The participants of each pair.
    pub pairs: Vec<[String; 2]>,
    /// The stimuli to show; all if empty.
    pub stimuli: Vec<String>,
    /// How far apart two grid cells may be to recur, in cells. `None` uses the recurrence rule of the result file, or
    /// else equal letters.
    pub radius: Option<f64>,
}

impl DrawnCohort {
    /// Sets the pairs of scanpaths. The second of each pair comes from `second`, or else from this cohort. The result
    /// file's metric aligns them.
    pub fn with_pairs(
        mut self,
        second: Option<Input>,
        result: &ResultFile,
        options: &PairOptions,
    ) -> Result<Self, Error> {
        let spec = result.outcome().map(|outcome| &outcome.spec);
        let decoded = |file: &RawCohort| {
            let alphabet = spec.map_or_else(|| file.alphabet(None), |spec| spec.alphabet);
            decode_with_notes(file, (alphabet, file.declared_grid()), None, &())
        };
        let second = second.map(read_cohort_from).transpose()?;
        let second = second.as_ref().unwrap_or(&self.file);
        let cohorts = [decoded(&self.file)?, decoded(second)?];
        let files = [self.file.name(), second.name()];
        let recurrence = match options.radius {
            None => spec.map_or(Recurrence::SameLetter, |spec| rule(&spec.metric)),
            Some(radius) => Recurrence::Within {
                grid: self.grid.ok_or_else(|| DrawingError::NoGrid {
                    file: files[0].to_string(),
                })?,
                radius,
            },
        };
        let comparison =
            spec.and_then(|spec| Comparison::new(spec.metric.clone(), spec.alphabet).ok());
        let mut shown = Vec::new();
        for participants in &options.pairs {
            let found = scanpaths(participants, &cohorts, files, &options.stimuli)?;
            shown.extend(found.into_iter().map(|[a, b]| OwnPair {
                participants: participants.clone(),
                stimulus: a.stimulus.clone(),
                scanpaths: [a.scanpath.clone(), b.scanpath.clone()],
                alphabet: cohorts[0].alphabet,
                comparison: comparison.clone(),
                recurrence,
            }));
        }
        self.pairs = shown;
        Ok(self)
    }
}

/// The metric's recurrence rule, if it is about grid cells; otherwise equal letters.
fn rule(metric: &Metric) -> Recurrence {
    match metric {
        // The radius of rounded fixations is not in cells.
        Metric::Crqa(Crqa {
            rule:
                RecurrenceRule::Within {
                    positions: Positions::Grid { grid, wrap },
                    radius,
                },
            ..
        }) => Recurrence::Within {
            grid: grid.with_wrap(*wrap),
            radius: *radius,
        },
        _ => Recurrence::SameLetter,
    }
}

/// The scanpaths of two participants, by stimulus.
fn scanpaths<'a>(
    participants: &[String; 2],
    cohorts: &'a [Cohort; 2],
    files: [&str; 2],
    stimuli: &[String],
) -> Result<Vec<[&'a Entry; 2]>, DrawingError> {
    let of = |side: usize| -> Result<Vec<&'a Entry>, DrawingError> {
        let entries = cohorts[side].entries.iter();
        let own = entries.filter(|entry| entry.participant == participants[side]);
        let own: Vec<&Entry> = own.collect();
        match own.is_empty() {
            false => Ok(own),
            true => Err(DrawingError::NoSuchParticipant {
                file: files[side].to_string(),
                participant: participants[side].clone(),
            }),
        }
    };
    let (first, second) = (of(0)?, of(1)?);
    let is_asked = |stimulus: &Option<String>| {
        let name = stimulus.as_deref().unwrap_or_default();
        stimuli.is_empty() || stimuli.iter().any(|asked| asked == name)
    };
    let mut pairs = Vec::new();
    for a in first.into_iter().filter(|entry| is_asked(&entry.stimulus)) {
        let others = second.iter().filter(|b| b.stimulus == a.stimulus);
        pairs.extend(others.map(|b| [a, *b]));
    }
    match pairs.is_empty() {
        false => Ok(pairs),
        true => Err(DrawingError::NoCommonStimulus {
            participants: participants.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may fail

    use super::*;
    use veilpath_metrics::{Grid, Undefined};

    /// The radius of rounded fixations is in the unit of coordinates, so it says nothing about cells.
    #[test]
    fn only_a_radius_in_cells_is_drawn() {
        let grid = Grid::new(7, 7).unwrap();
        let of = |positions| {
            rule(&Metric::Crqa(Crqa {
                rule: RecurrenceRule::Within {
                    positions,
                    radius: 2.0,
                },
                line: 2,
                measures: Vec::new(),
                undefined: Undefined::Missing,
                rounded: false,
            }))
        };
        let cells = Positions::Cells {
            grid,
            width: 100.0,
            height: 80.0,
        };
        assert_eq!(of(cells), Recurrence::SameLetter);
        assert_eq!(of(Positions::Fixations), Recurrence::SameLetter);
        assert_eq!(
            of(Positions::Grid { grid, wrap: false }),
            Recurrence::Within { grid, radius: 2.0 }
        );
    }
}
