//! Which of this side's participants an answer is about.

use crate::disclosure::GroupMember;
use std::collections::{BTreeMap, BTreeSet};
use veilpath_metrics::Cohort;
use veilpath_protocol::Role;

/// The participants in these pairs, with the stimuli of their scanpaths in them. A scanpath without letters hides nobody: its scores
/// follow from the lengths.
pub(crate) fn of(cohort: &Cohort, role: Role, pairs: &[(usize, usize)]) -> Vec<GroupMember> {
    let taking_part: BTreeSet<usize> = match role {
        Role::Host => pairs.iter().map(|pair| pair.0).collect(),
        Role::Join => pairs.iter().map(|pair| pair.1).collect(),
    };
    let mut members: BTreeMap<&str, GroupMember> = BTreeMap::new();
    for entry in taking_part
        .into_iter()
        .filter_map(|at| cohort.entries.get(at))
        .filter(|entry| !entry.scanpath.is_empty())
    {
        let member = members.entry(&entry.participant);
        let member = member.or_insert_with(|| GroupMember {
            participant: entry.participant.clone(),
            group: entry.group.clone(),
            stimuli: Vec::new(),
        });
        member
            .stimuli
            .push(entry.stimulus.clone().unwrap_or_default());
    }
    members.into_values().collect()
}
