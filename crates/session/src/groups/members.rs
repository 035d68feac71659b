//! Which of this side's participants an answer is about.

use crate::disclosure::GroupMember;
use ring::digest::{Context, SHA256};
use std::collections::{BTreeMap, BTreeSet};
use veilpath_metrics::Cohort;

/// The participants of these scanpaths, with their stimuli. A scanpath without letters hides nobody: its scores follow from the
/// lengths.
pub(crate) fn of(
    cohort: &Cohort,
    taking_part: impl IntoIterator<Item = usize>,
) -> Vec<GroupMember> {
    let taking_part: BTreeSet<usize> = taking_part.into_iter().collect();
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

/// A placeholder for the stimulus in answers about participants, not scores. No stimulus has this name.
const NO_STIMULUS: &str = "\0";

/// All participants, with their groups.
pub(super) fn with_groups(cohort: &Cohort) -> Vec<GroupMember> {
    let mut members: BTreeMap<&str, GroupMember> = BTreeMap::new();
    for entry in &cohort.entries {
        let member = members.entry(&entry.participant);
        member.or_insert_with(|| GroupMember {
            participant: entry.participant.clone(),
            group: entry.group.clone(),
            stimuli: vec![NO_STIMULUS.into()],
        });
    }
    members.into_values().collect()
}

/// A hash of participants and groups: the same ones are entered once.
pub(super) fn key(members: &[GroupMember]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    context.update(b"veilpath sizes of groups");
    for member in members {
        for text in [
            &member.participant,
            member.group.as_ref().unwrap_or(&String::new()),
        ] {
            context.update(&(text.len() as u64).to_le_bytes());
            context.update(text.as_bytes());
        }
    }
    let mut key = [0; 32];
    key.copy_from_slice(context.finish().as_ref());
    key
}
