//! Pairs of scanpaths that a page shows side by side. Both are on this machine.

use super::{DrawingError, DrawnCohort, ResultFile};
use crate::cohort::{decode_in, read_cohort_from};
use crate::{Error, Input};
use veilpath_encode::RawCohort;
use veilpath_metrics::{Cohort, Comparison, Crqa, Entry, Metric, RecurrenceRule};
use veilpath_report::html::{OwnPair, Recurrence};

/// Which pairs are shown, and how.
#[derive(Clone, Debug, Default)]
pub struct PairOptions {
    /// The participants of each pair.
    pub pairs: Vec<[String; 2]>,
    /// The stimuli; all if none is named.
    pub stimuli: Vec<String>,
    /// How far two grid cells may be from each other to recur, in cells; `None` for what the result file says about
    /// recurrence, or else for equal letters.
    pub radius: Option<f64>,
}

impl DrawnCohort {
    /// Adds pairs of scanpaths. The second of each is from `second`, or from this cohort, too. They are aligned by the metric of
    /// the result file.
    pub fn with_pairs(
        mut self,
        second: Option<Input>,
        result: &ResultFile,
        options: &PairOptions,
    ) -> Result<Self, Error> {
        let spec = result.outcome().map(|outcome| &outcome.spec);
        let decoded = |file: &RawCohort| {
            let alphabet = spec.map_or_else(|| file.alphabet(None), |spec| spec.alphabet);
            decode_in(file, (alphabet, file.declared_grid()), None, &())
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

/// The recurrence rule of the metric, or equal letters.
fn rule(metric: &Metric) -> Recurrence {
    match metric {
        Metric::Crqa(Crqa {
            rule: RecurrenceRule::Within { points, radius },
            ..
        }) => match points.grid() {
            Some(grid) => Recurrence::Within {
                grid,
                radius: *radius,
            },
            None => Recurrence::SameLetter,
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
