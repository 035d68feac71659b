//! Parts of error messages.

use crate::units::counted;
use std::fmt;
use veilpath_metrics::Entry;
use veilpath_protocol::RiskySetting;

/// What has another number of letters than the options give.
pub(super) fn letter_source(file: Option<&str>) -> String {
    file.map_or("their grid".into(), |file| {
        format!("the alphabet or grid of {file}")
    })
}

pub(super) fn listed(settings: &[RiskySetting]) -> String {
    let settings: Vec<String> = settings.iter().map(RiskySetting::to_string).collect();
    settings.join(" and ")
}

/// `1 tile`, `2 tiles`.
pub(super) fn tiles(count: &u32) -> String {
    counted((*count).into(), "tile")
}

/// The participant and stimulus of a scanpath, for messages to the owner of the cohort. `Debug` shows neither, because
/// logs must not name participants.
#[derive(Clone, PartialEq, Eq)]
pub struct ScanpathName {
    participant: String,
    stimulus: Option<String>,
}

impl ScanpathName {
    pub(crate) fn of(entry: &Entry) -> Self {
        Self {
            participant: entry.participant.clone(),
            stimulus: entry.stimulus.clone(),
        }
    }
}

impl fmt::Display for ScanpathName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.participant)?;
        match &self.stimulus {
            Some(stimulus) => write!(f, ", {stimulus}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for ScanpathName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScanpathName").finish_non_exhaustive()
    }
}

/// How many scanpaths are empty, and the names of the first few.
pub(super) fn empty_scanpaths(metric: &str, empty: &[ScanpathName], scanpaths: usize) -> String {
    const SHOWN: usize = 5;
    let shown = empty.iter().take(SHOWN);
    let shown: Vec<String> = shown.map(ScanpathName::to_string).collect();
    let (verb, pronoun) = match empty.len() {
        1 => ("is", "it"),
        _ => ("are", "them"),
    };
    let more = match empty.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{} of {scanpaths} scanpaths {verb} empty, and {metric} is not defined for {pronoun}: {}{more}",
        empty.len(),
        shown.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<ScanpathName> {
        let name = |number: usize| ScanpathName {
            participant: format!("p{number}"),
            stimulus: (number != 3).then(|| "cat".to_string()),
        };
        (2..2 + count).map(name).collect()
    }

    #[test]
    fn empty_scanpaths_are_named() {
        assert_eq!(
            empty_scanpaths("scanmatch", &names(1), 2),
            "1 of 2 scanpaths is empty, and scanmatch is not defined for it: p2, cat"
        );
        assert_eq!(
            empty_scanpaths("scanmatch", &names(6), 7),
            "6 of 7 scanpaths are empty, and scanmatch is not defined for them: p2, cat; p3; p4, cat; p5, cat; p6, cat and 1 more"
        );
    }

    #[test]
    fn debug_output_names_nobody() {
        assert!(!format!("{:?}", names(1)).contains("p2"));
    }
}
