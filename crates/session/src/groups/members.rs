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

/// The same for an answer about groups, in which scanpaths with too few letters for this metric hide nobody, either.
pub(super) fn that_hide_others(
    cohort: &Cohort,
    metric: &Metric,
    taking_part: impl IntoIterator<Item = usize>,
) -> Vec<GroupMember> {
    members(cohort, metric, taking_part, |scanpath| {
        !metric.depends_on_letters(scanpath.len())
    })
}

/// The same, but all scanpaths count.
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
    use veilpath_metrics::{
        Alphabet, Crqa, CrqaMeasure, Encoding, Entry, RecurrenceRule, Undefined,
    };

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

    /// Of scanpaths that are shorter than a line, `det` is the same whatever their letters.
    #[test]
    fn scanpaths_without_lines_hide_nobody() {
        let entry = |participant: &str, length| Entry {
            participant: participant.into(),
            group: None,
            stimulus: None,
            scanpath: Scanpath::new(vec![1; length]),
            fixations: None,
        };
        let cohort = Cohort {
            alphabet: Alphabet::letters(4).unwrap(),
            encoding: Encoding::default(),
            screen: None,
            entries: vec![entry("empty", 0), entry("short", 8), entry("long", 9)],
        };
        let metric = |measure| {
            Metric::Crqa(Crqa {
                rule: RecurrenceRule::SameLetter,
                line: 9,
                measures: vec![measure],
                undefined: Undefined::Zero,
                rounded: true,
            })
        };
        let hiding = |measure| {
            let members = that_hide_others(&cohort, &metric(measure), 0..3);
            let hide = members.into_iter().filter(|it| !it.stimuli.is_empty());
            hide.map(|it| it.participant).collect::<Vec<_>>()
        };
        assert_eq!(hiding(CrqaMeasure::Det), ["long"]);
        assert_eq!(hiding(CrqaMeasure::Rec), ["long", "short"]);
        let named = of(&cohort, &metric(CrqaMeasure::Det), 0..3);
        assert!(
            named
                .iter()
                .any(|it| it.participant == "short" && !it.stimuli.is_empty())
        );
    }
}
