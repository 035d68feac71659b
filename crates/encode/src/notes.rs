//! What the summary tells of the whole.

use crate::fixation_path::RowOrder;
use crate::{Dropped, Summary};
use std::collections::HashSet;
use veilpath_metrics::Cohort;

/// What the user should know about the whole.
pub(crate) fn notes(
    cohort: &Cohort,
    summary: &Summary,
    times: OddTimes,
    unmapped: usize,
) -> Vec<String> {
    let mut notes = Vec::new();
    let mut ids = HashSet::new();
    let repeated = cohort
        .entries
        .iter()
        .filter(|entry| !ids.insert((entry.participant.as_str(), entry.stimulus.as_deref())))
        .count();
    if repeated > 0 {
        notes.push(format!(
            "{repeated} of the scanpaths have the participant and stimulus of an earlier file; each is kept as a row of its own (a pattern for file names, such as video{{stimulus}}_p{{participant}}, can tell them apart)"
        ));
    }
    notes.extend(times.notes());
    let outside = summary.dropped.get(&Dropped::Outside).copied();
    if outside.unwrap_or(0) > summary.rows_used {
        notes.push(
            "more points lie outside the screen or stimulus than on it: check its size and the units of coordinates".into(),
        );
    }
    if unmapped > 0 {
        notes.push(format!(
            "{unmapped} stimuli have no area of interest: check that the AOI file names them as the recordings do"
        ));
    }
    notes
}

/// Where rows were not in the order of time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OddTimes {
    /// Gaze samples before the one before them.
    pub(crate) backwards: u64,
    /// Scanpaths whose fixations were sorted.
    sorted: u64,
    /// Scanpaths whose fixations were left in the order of their rows.
    anew: u64,
}

impl OddTimes {
    /// One more recording of fixations.
    pub(crate) fn count(&mut self, order: RowOrder) {
        match order {
            RowOrder::Kept => {}
            RowOrder::Sorted => self.sorted += 1,
            RowOrder::ClockStartsAnew => self.anew += 1,
        }
    }

    /// A line for each kind.
    fn notes(self) -> Vec<String> {
        let Self {
            backwards,
            sorted,
            anew,
        } = self;
        let mut notes = Vec::new();
        if backwards > 0 {
            notes.push(format!(
                "time goes backwards at {backwards} rows; each was taken for a new start"
            ));
        }
        if sorted > 0 {
            notes.push(format!(
                "the rows of {sorted} of the scanpaths were not in the order of time; their fixations were sorted by their start"
            ));
        }
        if anew > 0 {
            notes.push(format!(
                "the rows of {anew} of the scanpaths are not in the order of time, and their fixations would overlap in it; they were left as they stand (several trials under one name? --columns trial=NAME tells those of a table apart)"
            ));
        }
        notes
    }
}
