//! Which recording a row of a generic table belongs to.

use super::columns::Layout;
use crate::groups::GroupColumn;
use crate::readers::repeats::Repeats;
use crate::{
    EncodeNote, GroupsNotUsed, Kind, ReadError, Recording, RecordingId, Row, Sink, Space,
    is_missing,
};
use std::collections::HashMap;

/// Keeps recordings apart by participant, stimulus and trial.
pub(super) struct Recordings {
    /// For tables without a column for it.
    pub(super) participant: String,
    /// For tables without a column for it.
    pub(super) stimulus: Option<String>,
    pub(super) kind: Kind,
    pub(super) space: Option<Space>,
    key: String,
    last: Option<(String, RecordingId)>,
    ids: HashMap<String, RecordingId>,
    pub(super) repeats: Repeats,
    groups: GroupColumn,
    /// Whether the user named the group column, so that a problem with it is an error.
    groups_requested: bool,
    /// Why the group column is not used.
    groups_not_used: Option<GroupsNotUsed>,
}

/// The recording of a row, by its ids.
pub(super) enum RowOwner {
    Recording(RecordingId),
    /// The participant is missing.
    NoParticipant,
    /// The stimulus is missing: a pause or a calibration.
    NoStimulus,
}

/// The separator between ids in a key; no tracker writes it.
const BETWEEN: char = '\u{1f}';

impl Recordings {
    pub(super) fn new(
        participant: String,
        stimulus: Option<String>,
        kind: Kind,
        space: Option<Space>,
    ) -> Self {
        Self {
            participant,
            stimulus,
            kind,
            space,
            key: String::new(),
            last: None,
            ids: HashMap::new(),
            repeats: Repeats::default(),
            groups: GroupColumn::default(),
            groups_requested: false,
            groups_not_used: None,
        }
    }

    /// Sets whether the user named the group column.
    pub(super) fn with_groups_requested(self, groups_requested: bool) -> Self {
        Self {
            groups_requested,
            ..self
        }
    }

    /// Reports repeated stimuli and groups after the last row.
    pub(super) fn report(self, sink: &mut dyn Sink) {
        self.repeats.report(sink);
        match self.groups_not_used {
            Some(reason) => sink.note(EncodeNote::GroupsNotUsed { reason }),
            None => sink.groups(self.groups.into_groups(), self.groups_requested),
        }
    }

    /// Finds the row's recording, and notes the participant's group.
    pub(super) fn of(
        &mut self,
        row: &Row<'_>,
        layout: &Layout,
        sink: &mut dyn Sink,
    ) -> Result<RowOwner, ReadError> {
        let found = self.find(row, layout, sink)?;
        if let (RowOwner::Recording(_), Some(column), None) =
            (&found, layout.group, self.groups_not_used)
        {
            let participant = layout.participant.map(|column| row.text(column));
            let participant = participant.unwrap_or(&self.participant);
            match self.groups.add(participant, row, column) {
                Err(problem) if self.groups_requested => return Err(*problem.error),
                Err(problem) => self.groups_not_used = Some(problem.reason),
                Ok(_) => {}
            }
        }
        Ok(found)
    }

    /// The row's recording, if an earlier row belongs to it.
    pub(super) fn known(&mut self, row: &Row<'_>, layout: &Layout) -> Option<RecordingId> {
        let ids = Ids::of(row, layout, &self.participant, self.stimulus.as_deref());
        ids.write_key(&mut self.key);
        self.ids.get(&self.key).copied()
    }

    fn find(
        &mut self,
        row: &Row<'_>,
        layout: &Layout,
        sink: &mut dyn Sink,
    ) -> Result<RowOwner, ReadError> {
        let ids = Ids::of(row, layout, &self.participant, self.stimulus.as_deref());
        ids.write_key(&mut self.key);
        if let Some((key, recording)) = &self.last
            && *key == self.key
        {
            return Ok(RowOwner::Recording(*recording));
        }
        let recording = match self.ids.get(&self.key) {
            Some(&recording) => recording,
            None => {
                if layout.participant.is_some() && is_missing(ids.participant) {
                    return Ok(RowOwner::NoParticipant);
                }
                let missing = |id: Option<&str>| id.is_none_or(is_missing);
                if layout.stimulus.is_some() && missing(ids.stimulus)
                    || layout.trial.is_some() && ids.stimulus.is_none() && missing(ids.trial)
                {
                    return Ok(RowOwner::NoStimulus);
                }
                let stimulus = ids.stimulus_name(&mut self.repeats);
                let recording = sink.recording(&Recording {
                    participant: ids.participant,
                    stimulus: stimulus.as_deref(),
                    kind: self.kind,
                    space: self.space,
                })?;
                self.ids.insert(self.key.clone(), recording);
                recording
            }
        };
        match &mut self.last {
            Some((key, last)) => {
                key.clone_from(&self.key);
                *last = recording;
            }
            None => self.last = Some((self.key.clone(), recording)),
        }
        Ok(RowOwner::Recording(recording))
    }
}

struct Ids<'a> {
    participant: &'a str,
    stimulus: Option<&'a str>,
    trial: Option<&'a str>,
}

impl<'a> Ids<'a> {
    /// The ids in a row, or those of the whole file.
    fn of(row: &Row<'a>, layout: &Layout, participant: &'a str, stimulus: Option<&'a str>) -> Self {
        let text = |column: Option<usize>| column.map(|column| row.text(column));
        Self {
            participant: text(layout.participant).unwrap_or(participant),
            stimulus: text(layout.stimulus).or(stimulus),
            trial: text(layout.trial),
        }
    }

    fn write_key(&self, key: &mut String) {
        key.clear();
        key.push_str(self.participant);
        for id in [self.stimulus, self.trial] {
            key.push(BETWEEN);
            key.push_str(id.unwrap_or(""));
        }
    }

    /// The trial serves as the stimulus if there is no other. Later trials of a stimulus are
    /// numbered.
    fn stimulus_name(&self, repeats: &mut Repeats) -> Option<String> {
        match (self.stimulus, self.trial) {
            (Some(stimulus), Some(trial)) => Some(repeats.name(self.participant, stimulus, trial)),
            (stimulus, trial) => stimulus.or(trial).map(str::to_string),
        }
    }
}
