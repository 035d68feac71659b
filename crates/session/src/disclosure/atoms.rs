//! Who cannot be told apart by any combination of answers.

use super::file::{Answer, Cells, Member, Weights};
use std::collections::{BTreeMap, BTreeSet};

/// A unit's place in one answer: its number, the cell, and what the weight of the unit depends on.
type Place<'a> = (usize, &'a str, Option<&'a BTreeSet<String>>);

/// The fewest participants of any atom that the last answer is about or has split off, those who have withdrawn left out;
/// `None` if there is no such atom. Atoms that it does not touch could be told apart before.
pub(super) fn smallest(answers: &[&Answer], withdrawn: &BTreeSet<String>) -> Option<u64> {
    let last = answers.len().checked_sub(1)?;
    let mut places: BTreeMap<(&str, &str), Vec<Place<'_>>> = BTreeMap::new();
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
                let place = (number, cell(answer.cells, member, stimulus), weight);
                let unit = places.entry((participant, stimulus)).or_default();
                unit.push(place);
            }
        }
    }
    let mut atoms: BTreeMap<Vec<Place<'_>>, BTreeSet<&str>> = BTreeMap::new();
    let mut split: BTreeSet<Vec<Place<'_>>> = BTreeSet::new();
    for ((participant, _), places) in places {
        if let Some((&(number, ..), earlier)) = places.split_last()
            && number == last
        {
            split.insert(without_common_weight(earlier));
        }
        let atom = atoms.entry(without_common_weight(&places));
        atom.or_default().insert(participant);
    }
    let touched = atoms.iter().filter(|(places, _)| {
        let in_last = places.last().is_some_and(|place| place.0 == last);
        in_last || split.contains(*places)
    });
    let sizes = touched.map(|(_, participants)| participants.len() as u64);
    sizes.min()
}

/// The same weight in all answers is a common factor.
fn without_common_weight<'a>(places: &[Place<'a>]) -> Vec<Place<'a>> {
    let first = places.first().and_then(|place| place.2);
    let is_common = places.iter().all(|place| place.2 == first);
    let weight = |weight| if is_common { None } else { weight };
    let places = places.iter();
    places
        .map(|&(number, cell, it)| (number, cell, weight(it)))
        .collect()
}

/// The cell of a unit.
fn cell<'a>(cells: Cells, member: &'a Member, stimulus: &'a str) -> &'a str {
    match cells {
        Cells::One => "",
        Cells::Stimuli => stimulus,
        Cells::Groups => member.group.as_deref().unwrap_or_default(),
    }
}
