//! Which of this side's participants an answer is about.

use crate::Identity;
use crate::digests::ScanpathDigests;
use crate::disclosure::GroupMember;
use std::collections::{BTreeMap, BTreeSet};
use veilpath_metrics::{Cohort, Metric, Scanpath};

/// The participants of these scanpaths, with their stimuli. A scanpath without letters hides nobody: its scores follow from the
/// lengths.
pub(crate) fn of(
    cohort: &Cohort,
    metric: &Metric,
    taking_part: impl IntoIterator<Item = usize>,
) -> Vec<GroupMember> {
    members(cohort, metric, taking_part, Scanpath::is_empty)
}

/// The same, but scanpaths without letters count as well.
pub(super) fn with_empty_scanpaths(
    cohort: &Cohort,
    metric: &Metric,
    taking_part: impl IntoIterator<Item = usize>,
) -> Vec<GroupMember> {
    members(cohort, metric, taking_part, |_| false)
}

fn members(
    cohort: &Cohort,
    metric: &Metric,
    taking_part: impl IntoIterator<Item = usize>,
    hides_nobody: impl Fn(&Scanpath) -> bool,
) -> Vec<GroupMember> {
    let taking_part: BTreeSet<usize> = taking_part.into_iter().collect();
    let digests = ScanpathDigests::of(cohort, metric);
    let mut members: BTreeMap<&str, GroupMember> = BTreeMap::new();
    for entry in taking_part
        .into_iter()
        .filter_map(|at| cohort.entries.get(at))
    {
        let member = members.entry(&entry.participant);
        let member = member.or_insert_with(|| GroupMember {
            participant: entry.participant.clone(),
            group: entry.group.clone(),
            ..GroupMember::default()
        });
        let stimulus = entry.stimulus.clone().unwrap_or_default();
        if hides_nobody(&entry.scanpath) {
            member.empty.push(stimulus);
            continue;
        }
        member.stimuli.push(stimulus);
        member.contents.push(digests.digest(&entry.scanpath));
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
            ..GroupMember::default()
        });
    }
    members.into_values().collect()
}

/// A keyed hash of participants and groups, so that the same ones are entered once.
pub(super) fn key(identity: &Identity, members: &[GroupMember]) -> [u8; 32] {
    fn texts(member: &GroupMember) -> [&[u8]; 2] {
        let group = member.group.as_deref().unwrap_or_default();
        [member.participant.as_bytes(), group.as_bytes()]
    }
    let parts: Vec<&[u8]> = members.iter().flat_map(texts).collect();
    identity.tag("sizes of groups", &parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the identity, nobody can confirm a guess about the participants.
    #[test]
    fn the_key_of_sizes_depends_on_the_identity() {
        let member = |group: &str| GroupMember {
            participant: "P1".into(),
            group: Some(group.into()),
            ..GroupMember::default()
        };
        let [ours, other] = [0, 1].map(|_| Identity::ephemeral().unwrap());
        let of = |identity, group| key(identity, &[member(group)]);
        assert_eq!(of(&ours, "control"), of(&ours, "control"));
        assert_ne!(of(&ours, "control"), of(&ours, "patient"));
        assert_ne!(of(&ours, "control"), of(&other, "control"));
    }
}
