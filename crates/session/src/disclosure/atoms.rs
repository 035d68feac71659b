//! Finds the participants whom no combination of answers can tell apart.

use super::file::{Answer, Cells, Member, REPEATED, Weights};
use std::collections::{BTreeMap, BTreeSet};

/// A unit's position in one answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct AnswerPosition<'a> {
    /// The number of the answer.
    answer: usize,
    /// The group, and the stimulus.
    cell: (&'a str, &'a str),
    /// Which of the unit's contents this is, in order of first appearance.
    version: usize,
    /// What the weight of the unit depends on, where the partner can vary it within the answer.
    varied_weight: Option<&'a BTreeSet<String>>,
    /// What the weight of the unit depends on.
    weight: Option<&'a BTreeSet<String>>,
}

/// The positions of a unit in all answers.
#[derive(Default)]
struct UnitPositions<'a> {
    positions: Vec<AnswerPosition<'a>>,
    /// The contents that it had.
    contents: Vec<Option<&'a String>>,
}

impl<'a> UnitPositions<'a> {
    fn version(&mut self, content: Option<&'a String>) -> usize {
        let known = self.contents.iter().position(|it| *it == content);
        known.unwrap_or_else(|| {
            self.contents.push(content);
            self.contents.len() - 1
        })
    }
}

/// The fewest participants of any atom that the last answer is about or splits off, not counting those who have
/// withdrawn; `None` if there is no such atom. Atoms that it does not touch could be told apart before. Scores of
/// single pairs are allowed to be about one participant each, but not to split off too few participants of a group
/// answer.
pub(super) fn smallest(answers: &[&Answer], withdrawn: &BTreeSet<String>) -> Option<u64> {
    let last = answers.len().checked_sub(1)?;
    let is_about_pairs = |answer: usize| answers[answer].cells == Cells::Pairs;
    if (0..answers.len()).all(is_about_pairs) {
        return None;
    }
    let mut positions: BTreeMap<(&str, &str), UnitPositions<'_>> = BTreeMap::new();
    for (number, answer) in answers.iter().enumerate() {
        for (participant, member) in &answer.cohort {
            if withdrawn.contains(participant) {
                continue;
            }
            for stimulus in &member.stimuli {
                let weight = match answer.weights {
                    Weights::Scanpaths => None,
                    Weights::Participants => Some(&member.stimuli),
                };
                let unit = positions.entry((participant, stimulus)).or_default();
                let position = AnswerPosition {
                    answer: number,
                    cell: cell(answer, member, stimulus),
                    version: unit.version(member.contents.get(stimulus)),
                    varied_weight: weight.filter(|_| answer.by_stimulus),
                    weight,
                };
                unit.positions.push(position);
            }
        }
    }
    let mut atoms: BTreeMap<Vec<AnswerPosition<'_>>, BTreeSet<&str>> = BTreeMap::new();
    let mut split: BTreeSet<Vec<AnswerPosition<'_>>> = BTreeSet::new();
    for ((participant, _), UnitPositions { positions, .. }) in positions {
        if let Some((position, earlier)) = positions.split_last()
            && position.answer == last
        {
            split.insert(without_common_weight(earlier));
        }
        let atom = atoms.entry(without_common_weight(&positions));
        atom.or_default().insert(participant);
    }
    let touched = atoms.iter().filter(|(positions, _)| {
        let in_last = positions
            .last()
            .is_some_and(|position| position.answer == last);
        match in_last {
            true => !is_about_pairs(last),
            // A participant who was only in scores before is not hidden in a group.
            false => {
                split.contains(*positions) && positions.iter().any(|it| !is_about_pairs(it.answer))
            }
        }
    });
    let sizes = touched.map(|(_, participants)| participants.len() as u64);
    sizes.min()
}

/// Drops a weight that is the same in all answers, because it is a common factor.
fn without_common_weight<'a>(positions: &[AnswerPosition<'a>]) -> Vec<AnswerPosition<'a>> {
    let first = positions.first().and_then(|position| position.weight);
    let is_common = positions.iter().all(|position| position.weight == first);
    let positions = positions.iter();
    positions
        .map(|position| AnswerPosition {
            weight: position.weight.filter(|_| !is_common),
            ..*position
        })
        .collect()
}

/// The cell of a unit.
fn cell<'a>(answer: &Answer, member: &'a Member, stimulus: &'a str) -> (&'a str, &'a str) {
    let group = match answer.cells {
        Cells::Groups => member.group.as_deref().unwrap_or_default(),
        Cells::Single | Cells::Stimuli | Cells::Ranges | Cells::Pairs => "",
    };
    match answer.by_stimulus || answer.cells == Cells::Stimuli {
        // All scanpaths of a stimulus are in the same cell, however many a participant has.
        true => (group, stimulus.split(REPEATED).next().unwrap_or(stimulus)),
        false => (group, ""),
    }
}
