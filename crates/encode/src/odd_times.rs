//! Where rows were not in the order of time, and what is said of it.

use crate::fixation_path::RowOrder;

/// Counts for the summary's notes.
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
    pub(crate) fn notes(self) -> Vec<String> {
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
