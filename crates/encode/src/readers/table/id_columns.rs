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
    /// Finds the columns by their usual names.
    pub(crate) fn of(columns: &Columns) -> Self {
        let names = Names::of(columns);
        Self {
            participant: names.first(PARTICIPANT.aliases),
            group: names.first(GROUP.aliases),
            stimulus: names.first(STIMULUS.aliases),
        }
    }
}
