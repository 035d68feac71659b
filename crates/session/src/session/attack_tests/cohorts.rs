//! Scanpaths of both sides.

use super::Setup;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Scanpath};

/// Different letters for every number, with different scores.
pub(super) fn letters(number: usize) -> [u16; 4] {
    [1, 3, 7, 11].map(|step| u16::try_from(number * step % 26).unwrap())
}

pub(super) fn cohort(scanpaths: &[&[u16]]) -> Cohort {
    let entries = scanpaths.iter().enumerate().map(|(index, letters)| Entry {
        participant: format!("P{index}"),
        group: Some(["x", "y"][index % 2].into()),
        stimulus: None,
        scanpath: Scanpath::new(letters.to_vec()),
        fixations: None,
    });
    Cohort {
        alphabet: Alphabet::letters(26).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries: entries.collect(),
    }
}

/// The attacker's participants: one in each group if the question is about groups.
pub(super) fn attackers(letters: &[u16], setup: &Setup) -> Cohort {
    if setup.case.reveal.group_question().is_some() {
        let reversed: Vec<u16> = letters.iter().rev().copied().collect();
        return cohort(&[letters, &reversed]);
    }
    let shifted = |by| -> Vec<u16> { letters.iter().map(|it| (it + 5 * by) % 26).collect() };
    let all: Vec<Vec<u16>> = (0..setup.partners).map(shifted).collect();
    let all: Vec<&[u16]> = all.iter().map(Vec::as_slice).collect();
    cohort(&all)
}
