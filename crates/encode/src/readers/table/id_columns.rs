//! The columns with ids, which tables of gaze and tables of scanpaths name in the same way.

use super::columns::Names;
use super::vocabulary::{GROUP, PARTICIPANT, STIMULUS};
use crate::Columns;

/// The columns of a table that name a participant, a group and a stimulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdColumns {
    pub(crate) participant: Option<usize>,
    pub(crate) group: Option<usize>,
    pub(crate) stimulus: Option<usize>,
}

impl IdColumns {
    /// Finds the columns by their usual names. In a table of scanpaths, `file` may well name the recording, so it is not
    /// taken for the stimulus.
    pub(crate) fn of(columns: &Columns) -> Self {
        let names = Names::of(columns);
        let is_stimulus = |name: &&str| !["file", "filename"].contains(name);
        let stimuli: Vec<&str> = STIMULUS
            .aliases
            .iter()
            .copied()
            .filter(is_stimulus)
            .collect();
        Self {
            participant: names.first(PARTICIPANT.aliases),
            group: names.first(GROUP.aliases),
            stimulus: names.first(&stimuli),
        }
    }
}
