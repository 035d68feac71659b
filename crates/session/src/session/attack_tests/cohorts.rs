//! Scanpaths of both sides.

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
