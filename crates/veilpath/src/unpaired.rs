//! Scanpaths that are compared with none, because of their stimulus.

use crate::Note;
use std::collections::HashSet;
use veilpath_metrics::{Cohort, Entry};

/// Notes about the scanpaths of a cohort whose stimulus another one does not have.
pub(crate) fn unpaired(cohort: &Cohort, other: &Cohort, file: &str) -> Vec<Note> {
    fn stimulus(entry: &Entry) -> Option<&str> {
        entry.stimulus.as_deref()
    }
    let known: HashSet<Option<&str>> = other.entries.iter().map(stimulus).collect();
    let left_out = cohort.entries.iter().map(stimulus);
    let left_out = left_out.filter(|stimulus| !known.contains(stimulus));
    let (mut without, mut unpaired) = (0, 0);
    let mut stimuli: Vec<String> = Vec::new();
    let mut listed = HashSet::new();
    for stimulus in left_out {
        match stimulus {
            None => without += 1,
            Some(name) => {
                unpaired += 1;
                if listed.insert(name) {
                    stimuli.push(name.to_string());
                }
            }
        }
    }
    let (file, scanpaths) = (file.to_string(), cohort.entries.len());
    let mut notes = Vec::new();
    if unpaired > 0 {
        notes.push(Note::Unpaired {
            file: file.clone(),
            unpaired,
            scanpaths,
            stimuli,
        });
    }
    if without > 0 {
        notes.push(Note::WithoutStimulus {
            file,
            without,
            scanpaths,
        });
    }
    notes
}
