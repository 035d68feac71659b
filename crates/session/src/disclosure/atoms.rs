//! Finds the participants whom no combination of answers can tell apart.

use super::file::{Answer, Cells, Member, Weights};
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
    /// How often a single scanpath occurs.
    count: u32,
    /// What the weight of the unit depends on, where the partner can vary it within the answer.
    varied_weight: Option<&'a BTreeMap<String, u32>>,
    /// What the weight of the unit depends on.
    weight: Option<&'a BTreeMap<String, u32>>,
}

/// What atoms consist of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// All scanpaths of a participant and a stimulus.
    Stimulus,
    /// Equal scanpaths of a participant and a stimulus.
    Scanpath,
}

/// The participant, the stimulus and, for single scanpaths, the content.
type UnitKey<'a> = (&'a str, &'a str, &'a str);

/// The fewest participants of any atom that the last answer is about or splits off, not counting those who have
/// withdrawn; `None` if there is no such atom. Atoms that it does not touch could be told apart before. Scores of
/// single pairs are allowed to be about one participant each, but not to split off too few participants of a group
/// answer.
pub(super) fn smallest(answers: &[&Answer], withdrawn: &BTreeSet<String>) -> Option<u64> {
    let units = [Unit::Stimulus, Unit::Scanpath].into_iter();
    units
        .filter_map(|unit| smallest_of(unit, answers, withdrawn))
        .min()
}

fn smallest_of(unit: Unit, answers: &[&Answer], withdrawn: &BTreeSet<String>) -> Option<u64> {
    let last = answers.len().checked_sub(1)?;
    let is_about_pairs = |answer: usize| answers[answer].cells == Cells::Pairs;
    if (0..answers.len()).all(is_about_pairs) {
        return None;
    }
    let mut atoms: BTreeMap<Vec<AnswerPosition<'_>>, BTreeSet<&str>> = BTreeMap::new();
    let mut split: BTreeSet<Vec<AnswerPosition<'_>>> = BTreeSet::new();
    for ((participant, ..), positions) in positions(unit, answers, withdrawn) {
        if let Some((position, earlier)) = positions.split_last()
            && position.answer == last
        {
            split.insert(without_common_factors(earlier));
        }
        let atom = atoms.entry(without_common_factors(&positions));
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

/// The positions of every unit in all answers.
fn positions<'a>(
    unit: Unit,
    answers: &[&'a Answer],
    withdrawn: &BTreeSet<String>,
) -> BTreeMap<UnitKey<'a>, Vec<AnswerPosition<'a>>> {
    let mut positions: BTreeMap<UnitKey<'a>, Vec<AnswerPosition<'a>>> = BTreeMap::new();
    let mut versions: BTreeMap<UnitKey<'a>, Vec<&'a BTreeMap<String, u32>>> = BTreeMap::new();
    for (number, &answer) in answers.iter().enumerate() {
        let members = answer.cohort.iter();
        for (participant, member) in members.filter(|(it, _)| !withdrawn.contains(*it)) {
            let weight = match answer.weights {
                Weights::Scanpaths => None,
                Weights::Participants => Some(&member.weight),
            };
            for (stimulus, scanpaths) in &member.scanpaths {
                let position = |version, count| AnswerPosition {
                    answer: number,
                    cell: cell(answer, member, stimulus),
                    version,
                    count,
                    varied_weight: weight.filter(|_| answer.by_stimulus),
                    weight,
                };
                match unit {
                    Unit::Stimulus => {
                        let key = (participant.as_str(), stimulus.as_str(), "");
                        let known = versions.entry(key).or_default();
                        let version = known.iter().position(|it| *it == scanpaths);
                        let version = version.unwrap_or(known.len());
                        if version == known.len() {
                            known.push(scanpaths);
                        }
                        positions.entry(key).or_default().push(position(version, 1));
                    }
                    Unit::Scanpath => {
                        for (content, &count) in scanpaths {
                            let key = (participant.as_str(), stimulus.as_str(), content.as_str());
                            let positions = positions.entry(key).or_default();
                            positions.push(position(0, count));
                        }
                    }
                }
            }
        }
    }
    positions
}

/// Drops a weight or a count that is the same in all answers, because it is a common factor.
fn without_common_factors<'a>(positions: &[AnswerPosition<'a>]) -> Vec<AnswerPosition<'a>> {
    let Some(&first) = positions.first() else {
        return Vec::new();
    };
    let has_common_weight = positions.iter().all(|it| it.weight == first.weight);
    let has_common_count = positions.iter().all(|it| it.count == first.count);
    let positions = positions.iter();
    positions
        .map(|position| AnswerPosition {
            weight: position.weight.filter(|_| !has_common_weight),
            count: if has_common_count { 1 } else { position.count },
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
        true => (group, stimulus),
        false => (group, ""),
    }
}
