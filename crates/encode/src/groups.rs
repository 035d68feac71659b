//! Groups of participants, such as patients and controls: from a column of a table, or from a separate table.
//!
//! A group is a property of a participant. So a participant has at most one group, and if any participant has a group,
//! all do.

use crate::cohort_file::{MAGIC, RawCohort};
use crate::{EncodeField, EncodeNote, Encoded, Input, ReadError, Row, Rows, is_missing};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use veilpath_metrics::text::is_printable;

/// A table of participants and their groups.
#[derive(Clone, PartialEq, Eq)]
pub struct Groups {
    file: String,
    by_participant: HashMap<String, String>,
}

impl Groups {
    /// Reads a table with the columns `participant` (or `participant_id`, as in BIDS' `participants.tsv`) and `group`.
    /// A participant may have several rows, but only one group. Rows without a group are skipped. A cohort file with
    /// groups is accepted, too.
    pub fn read(input: Input) -> Result<Self, ReadError> {
        let file = input.name().to_string();
        if input.head().first_line().contains(MAGIC) {
            let cohort = RawCohort::read(input)?;
            let groups = cohort.groups();
            let groups =
                groups.filter_map(|(id, group)| Some((id.to_string(), group?.to_string())));
            let by_participant: HashMap<String, String> = groups.collect();
            if by_participant.is_empty() {
                return Err(
                    ReadError::new(&file, "this cohort has no groups").with_remedy(
                        "add a column group, or name a table with participant and group",
                    ),
                );
            }
            return Ok(Self {
                file,
                by_participant,
            });
        }
        let mut rows = Rows::open(input)?;
        let require = |names: &[&str]| {
            rows.columns().require(names).map_err(|error| {
                let listed = rows.columns().listed();
                let remedy = format!("expected the columns participant and group; {listed}");
                error.with_remedy(remedy).with_fields(&[])
            })
        };
        let participant = require(&["participant", "participant_id", "subject", "subject_id"])?;
        let group = require(&["group"])?;
        let mut found = GroupColumn::default();
        while let Some(row) = rows.next_row()? {
            if !is_missing(row.text(participant)) && !is_no_group(row.text(group)) {
                let added = found.add(row.text(participant), &row, group);
                added.map_err(|contradiction| *contradiction.error)?;
            }
        }
        Ok(Self {
            file,
            by_participant: found.into_groups(),
        })
    }

    /// The group of a participant.
    pub fn group_of(&self, participant: &str) -> Option<&str> {
        self.by_participant.get(participant).map(String::as_str)
    }
}

/// Shows nothing about participants, only the name of the file and their number.
impl fmt::Debug for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Groups")
            .field("file", &self.file)
            .field("participants", &self.by_participant.len())
            .finish()
    }
}

impl Encoded {
    /// Assigns every participant the group in the table, in place of groups from the recordings.
    pub fn assign(&mut self, groups: &Groups) -> Result<(), ReadError> {
        if self.cohort.has_groups() {
            self.summary.notes.push(EncodeNote::GroupsNotUsed {
                reason: GroupsNotUsed::TableGiven,
            });
        }
        let group = |participant: &str| groups.by_participant.get(participant);
        let entries = &mut self.cohort.entries;
        let ids: BTreeSet<&str> = entries.iter().map(|one| one.participant.as_str()).collect();
        let without = ids.iter().filter(|id| group(id).is_none()).count();
        if without > 0 {
            let problem = format!(
                "{without} of {} participants of the recordings have no group in this table",
                ids.len()
            );
            return Err(ReadError::new(&groups.file, problem)
                .with_remedy("add them, with ids as in the cohort"));
        }
        for entry in entries {
            entry.group = group(&entry.participant).cloned();
        }
        self.summary.count_groups(&self.cohort);
        Ok(())
    }
}

/// Why groups that the recordings name are not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupsNotUsed {
    /// Some rows or participants have no group.
    Incomplete,
    /// A participant has several.
    Several,
    /// The user gave a table of groups.
    TableGiven,
}

impl GroupsNotUsed {
    fn problem(self) -> &'static str {
        match self {
            GroupsNotUsed::Incomplete => "some participants have a group and others have none",
            GroupsNotUsed::Several => "a participant has more than one group",
            GroupsNotUsed::TableGiven => "a table of groups is given",
        }
    }
}

impl fmt::Display for GroupsNotUsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.problem())
    }
}

/// The groups in a column of a table, with the row in which each participant was seen first.
#[derive(Default)]
pub(crate) struct GroupColumn {
    by_participant: HashMap<String, (String, String)>,
    /// The first row, and whether it has a group.
    first: Option<(String, bool)>,
    /// The previous row: most rows repeat it.
    last: Option<(String, String)>,
}

/// A row that contradicts an earlier one.
pub(crate) struct Contradiction {
    pub(crate) reason: GroupsNotUsed,
    pub(crate) error: Box<ReadError>,
}

impl GroupColumn {
    /// Adds a row and returns its group, if rows have groups.
    pub(crate) fn add(
        &mut self,
        participant: &str,
        row: &Row<'_>,
        column: usize,
    ) -> Result<Option<&str>, Contradiction> {
        let group = row.text(column);
        let is_like_last = |(id, last): &(String, String)| id == participant && last == group;
        if self.last.as_ref().is_some_and(is_like_last) {
            return Ok(self.last.as_ref().map(|(_, group)| group.as_str()));
        }
        let contradiction = |reason, problem: String, remedy: &str| Contradiction {
            reason,
            error: Box::new(row.error(column, problem).with_remedy(remedy)),
        };
        let has_group = !is_no_group(group);
        let (first, has_first) = &*self
            .first
            .get_or_insert_with(|| (row.location(), has_group));
        if has_group != *has_first {
            let (here, there) = if has_group {
                ("a", "none")
            } else {
                ("no", "one")
            };
            return Err(contradiction(
                GroupsNotUsed::Incomplete,
                format!("this row has {here} group, but {first} has {there}"),
                "give every participant a group, or remove the column",
            ));
        }
        if !has_group {
            return Ok(None);
        }
        let previous = self.by_participant.entry(participant.to_string());
        let (previous, location) = previous.or_insert_with(|| (group.to_string(), row.location()));
        if previous.as_str() != group {
            return Err(contradiction(
                GroupsNotUsed::Several,
                format!("this participant has a different group in {location}"),
                "give every participant one group, or rename the column",
            ));
        }
        let last = self
            .last
            .insert((participant.to_string(), group.to_string()));
        Ok(Some(&last.1))
    }

    /// The participants and their groups.
    pub(crate) fn into_groups(self) -> HashMap<String, String> {
        let groups = self.by_participant.into_iter();
        groups.map(|(id, (group, _))| (id, group)).collect()
    }
}

#[derive(Default)]
pub(crate) struct FileGroups {
    by_participant: HashMap<String, String>,
    contradictory: bool,
    /// Whether the user named the column, so that a problem with it is an error.
    requested: bool,
}

impl FileGroups {
    /// Adds the groups of a file.
    pub(crate) fn add(&mut self, groups: HashMap<String, String>, requested: bool) {
        self.requested |= requested;
        for (participant, group) in groups {
            let previous = self.by_participant.entry(participant);
            let previous = previous.or_insert_with(|| group.clone());
            self.contradictory |= *previous != group;
        }
    }

    /// The groups, if all of these participants have one, or why they are not used.
    pub(crate) fn resolve<'a>(
        self,
        mut participants: impl Iterator<Item = &'a str>,
    ) -> Result<HashMap<String, String>, UnusableGroups> {
        let reason = if self.contradictory {
            GroupsNotUsed::Several
        } else if !self.by_participant.is_empty()
            && participants.any(|id| !self.by_participant.contains_key(id))
        {
            GroupsNotUsed::Incomplete
        } else {
            return Ok(self.by_participant);
        };
        Err(match self.requested {
            true => UnusableGroups::Error(
                ReadError::new("groups", reason.problem())
                    .with_remedy("correct the column in the files, or give a table of groups")
                    .with_fields(&[EncodeField::GroupColumn, EncodeField::Groups]),
            ),
            false => UnusableGroups::Note(EncodeNote::GroupsNotUsed { reason }),
        })
    }
}

/// Groups that cannot be used.
pub(crate) enum UnusableGroups {
    Error(ReadError),
    Note(EncodeNote),
}

/// Whether a group of this name survives a round trip through a cohort file.
pub fn is_group_name(text: &str) -> bool {
    text.trim() == text && is_printable(text) && !is_no_group(text)
}

/// Whether a field means that there is no group. Unlike in [`is_missing`], words such as `none` may be a group.
fn is_no_group(text: &str) -> bool {
    let missing = ["", ".", "na", "n/a", "nan"];
    missing.iter().any(|it| text.eq_ignore_ascii_case(it))
}

#[cfg(test)]
mod tests;
