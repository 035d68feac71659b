//! What a plan asks of the disclosure ledger: which answer, about whom.

use crate::policy::AnswerKind;
use veilpath_protocol::{GroupQuestion, Reveal};

/// A participant of this side in a group answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupMember {
    /// The id.
    pub participant: String,
    /// The group, where the cohort has groups.
    pub group: Option<String>,
    /// The stimulus of each scanpath that takes part; an empty name where there is none.
    pub stimuli: Vec<String>,
    /// A digest of each of these scanpaths, by which changed ones are recognised; zeros where it is missing.
    pub contents: Vec<[u8; 32]>,
    /// The stimulus of each scanpath without letters. Its scores follow from the lengths, but it counts in weights.
    pub empty: Vec<String>,
}

/// A group answer that a plan asks for.
#[derive(Clone, Debug)]
pub struct AnswerRequest<'a> {
    /// The agreement, which is charged once.
    pub agreement: &'a [u8; 32],
    /// What is opened.
    pub kind: AnswerKind,
    /// Whether it is opened for all stimuli together, not for each stimulus.
    pub overall: bool,
    /// `k`, where the answer is the majority among the `k` nearest.
    pub nearest: Option<u32>,
    /// Whether this side's scanpaths are those among which the nearest are found.
    pub has_references: bool,
    /// Whether it has a result for each scanpath of this side.
    pub names_scanpaths: bool,
    /// Whether it depends on the groups of this side's participants, for kinds that can.
    pub by_group: bool,
    /// Whether only scanpaths of the same stimulus are compared, not all with all.
    pub by_stimulus: bool,
    /// How many of its numbers are about the same scanpath of this side.
    pub counts_as: u32,
    /// A digest of how the scanpaths were made; `None` if the answer does not depend on them.
    pub encoding: Option<[u8; 32]>,
}

impl<'a> AnswerRequest<'a> {
    /// The answer of a plan, with one number about each scanpath.
    pub fn of(agreement: &'a [u8; 32], reveal: Reveal) -> Self {
        let question = reveal.group_question();
        Self {
            agreement,
            kind: AnswerKind::of(reveal),
            overall: matches!(question, Some(GroupQuestion::Mean { overall: true })),
            nearest: match question {
                Some(GroupQuestion::Nearest { k, .. }) => Some(k),
                _ => None,
            },
            has_references: false,
            names_scanpaths: false,
            by_group: true,
            by_stimulus: false,
            counts_as: 1,
            encoding: None,
        }
    }

    /// The sizes of the groups of these participants, which the other side sees whether or not it learns an answer.
    pub(crate) fn sizes(key: &'a [u8; 32]) -> Self {
        Self {
            agreement: key,
            // A part for each group, in which everybody counts once.
            kind: AnswerKind::Nearest,
            overall: true,
            nearest: None,
            has_references: false,
            names_scanpaths: false,
            by_group: true,
            by_stimulus: false,
            counts_as: 0,
            encoding: None,
        }
    }
}

impl GroupMember {
    /// The largest number of this participant's scanpaths that one query is compared with.
    pub(super) fn most_references(&self, by_stimulus: bool) -> usize {
        let stimuli = self.stimuli.iter().chain(&self.empty);
        match by_stimulus {
            false => stimuli.count(),
            true => {
                let names: Vec<&str> = stimuli.map(String::as_str).collect();
                let most = counts(names.into_iter())
                    .into_iter()
                    .map(|(_, count)| count);
                most.max().unwrap_or(0) as usize
            }
        }
    }
}

/// How often each item occurs, in ascending order.
pub(super) fn counts<T: Copy + Ord>(items: impl Iterator<Item = T>) -> Vec<(T, u32)> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    let equal = items.chunk_by(|one, other| one == other);
    equal
        .map(|items| (items[0], u32::try_from(items.len()).unwrap_or(u32::MAX)))
        .collect()
}
