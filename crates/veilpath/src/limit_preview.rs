//! Checks a plan against one side's limits before it connects.

use crate::{Error, LocalCohort};
use std::collections::{BTreeMap, BTreeSet};
use veilpath_metrics::Cohort;
use veilpath_protocol::{GroupQuestion, PairRule, ProtocolError, Role};
use veilpath_session::ScanpathLimit;

/// How a plan compares with one side's limits, as far as that side alone can tell. Earlier sessions with the same
/// partner, and the partner's own limits, may still forbid it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitPreview {
    /// Something about each pair is revealed.
    Pairs {
        /// The most comparisons per scanpath; `None` if there is no limit.
        limit: Option<u64>,
        /// The comparisons per scanpath with a partner whose cohort is like this side's.
        with_equal_partner: u64,
    },
    /// A group answer.
    Groups {
        /// The number of this side's participants in the smallest part of the answer.
        smallest: u64,
        /// The smallest number allowed.
        minimum: u32,
        /// The number of nearest scanpaths that vote, if it is below the minimum: more participants would not help.
        too_few_nearest: Option<u32>,
    },
    /// The answer needs groups, and the cohort has none.
    NoGroups,
}

impl LocalCohort {
    /// Compares this side's plan with its limits.
    pub fn preview_limits(
        &self,
        role: Role,
        limit: ScanpathLimit,
        minimum: u32,
    ) -> Result<LimitPreview, Error> {
        let (cohort, spec) = self.resolve(self.alphabet_info(), role, &())?;
        let Some(question) = spec.reveal.group_question() else {
            let limits = limit.range(&spec, role, &cohort, self.declared_letters());
            return Ok(LimitPreview::Pairs {
                limit: limits
                    .map_err(ProtocolError::from)?
                    .map(|(smallest, _)| smallest),
                with_equal_partner: most_partners(&cohort, spec.pair_rule),
            });
        };
        let [host, join] = question.sides_with_groups();
        let needs_groups = match role {
            Role::Host => host,
            Role::Join => join,
        };
        if needs_groups && !cohort.has_groups() {
            return Ok(LimitPreview::NoGroups);
        }
        let smallest = match question {
            GroupQuestion::Mean { overall: false } => smallest_stimulus(&cohort),
            _ if needs_groups => cohort.group_sizes().into_values().min(),
            _ => Some(crate::split::participants(&cohort)),
        };
        let smallest = smallest.unwrap_or_default() as u64;
        // The k nearest scanpaths belong to at most k participants.
        let nearest = match question {
            GroupQuestion::Nearest { k, .. } => Some(k),
            _ => None,
        };
        Ok(LimitPreview::Groups {
            smallest: nearest.map_or(smallest, |k| smallest.min(k.into())),
            minimum,
            too_few_nearest: nearest.filter(|&k| k < minimum),
        })
    }
}

/// The largest number of scanpaths that one scanpath is compared with, if the other side has the same cohort.
fn most_partners(cohort: &Cohort, pairs: PairRule) -> u64 {
    let mut by_stimulus: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    for entry in &cohort.entries {
        *by_stimulus.entry(entry.stimulus.as_deref()).or_default() += 1;
    }
    match pairs {
        PairRule::SameStimulus => by_stimulus.into_values().max().unwrap_or_default(),
        _ => cohort.entries.len() as u64,
    }
}

/// The number of participants of the stimulus that has the fewest.
fn smallest_stimulus(cohort: &Cohort) -> Option<usize> {
    let mut by_stimulus: BTreeMap<Option<&str>, BTreeSet<&str>> = BTreeMap::new();
    for entry in &cohort.entries {
        let members = by_stimulus.entry(entry.stimulus.as_deref()).or_default();
        members.insert(&entry.participant);
    }
    by_stimulus.values().map(BTreeSet::len).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NamedPlan;
    use veilpath_encode::Input;

    /// Participants in alternating groups, each with one scanpath of 20 letters.
    fn preview_limits(participants: usize, reveal: &str, limit: ScanpathLimit) -> LimitPreview {
        let mut table = String::from("participant,group,stimulus,scanpath\n");
        for person in 0..participants {
            let group = ["patients", "controls"][person % 2];
            table.push_str(&format!("p{person},{group},s,ABCDEFGHIJKLMNOPQRST\n"));
        }
        let input = Input::from_bytes("c.csv", table.into_bytes()).unwrap();
        let plan = NamedPlan {
            reveal: reveal.into(),
            ..NamedPlan::default()
        };
        let file = crate::read_cohort_from(input).unwrap();
        let local = LocalCohort::new(file, plan.options().unwrap()).unwrap();
        local.preview_limits(Role::Host, limit, 5).unwrap()
    }

    #[test]
    fn scores_have_the_default_limit_or_the_users() {
        let of = |limit| match preview_limits(12, "score", limit) {
            LimitPreview::Pairs {
                limit,
                with_equal_partner,
            } => (limit, with_equal_partner),
            other => panic!("{other:?}"),
        };
        let (default, needed) = of(ScanpathLimit::Default);
        assert_eq!(needed, 12);
        assert!(default.is_some_and(|limit| limit < 12), "{default:?}");
        assert_eq!(of(ScanpathLimit::Count(40)), (Some(40), 12));
        assert_eq!(of(ScanpathLimit::DefaultUpTo(1)), (Some(1), 12));
        assert_eq!(of(ScanpathLimit::Unlimited), (None, 12));
    }

    #[test]
    fn group_answers_count_participants() {
        let smallest = |reveal| match preview_limits(9, reveal, ScanpathLimit::Default) {
            LimitPreview::Groups {
                smallest, minimum, ..
            } => (smallest, minimum),
            other => panic!("{other:?}"),
        };
        assert_eq!(smallest("mean"), (9, 5));
        assert_eq!(smallest("test:sites"), (9, 5));
        assert_eq!(smallest("test:groups"), (4, 5));
        assert_eq!(smallest("nearest:3,rate"), (3, 5));
        assert_eq!(smallest("nearest:3"), (3, 5));
        assert_eq!(smallest("nearest:7"), (7, 5));
        assert_eq!(smallest("nearest:20"), (9, 5));
    }

    #[test]
    fn too_few_neighbours_are_told_from_too_few_participants() {
        let too_few_nearest = |participants, reveal| match preview_limits(
            participants,
            reveal,
            ScanpathLimit::Default,
        ) {
            LimitPreview::Groups {
                too_few_nearest, ..
            } => too_few_nearest,
            other => panic!("{other:?}"),
        };
        assert_eq!(too_few_nearest(9, "nearest:4"), Some(4));
        assert_eq!(too_few_nearest(9, "nearest:4,rate"), Some(4));
        assert_eq!(too_few_nearest(3, "nearest:4"), Some(4));
        assert_eq!(too_few_nearest(3, "nearest:5"), None);
        assert_eq!(too_few_nearest(3, "mean"), None);
    }
}
