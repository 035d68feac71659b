//! The scanpaths of one institution, and how they were made.

use crate::{Alphabet, Fixations, Metric, Scanpath, Screen, VIEWING};
use std::collections::{BTreeMap, BTreeSet};

/// One scanpath with the ids that appear in results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The participant.
    pub participant: String,
    /// The participant's group, such as patients or controls; `None` if the file has no groups. Either all entries have one
    /// or none has, and all entries of a participant have the same.
    pub group: Option<String>,
    /// The stimulus; `None` if the file has no stimuli.
    pub stimulus: Option<String>,
    /// The scanpath.
    pub scanpath: Scanpath,
    /// The fixations that it was made from, where they were kept. Either all entries have them or none has.
    pub fixations: Option<Fixations>,
}

/// How scanpaths were made from gaze, as named settings. Two cohorts can be compared if theirs do not differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoding(pub BTreeMap<String, String>);

impl Encoding {
    /// The settings that differ: `(setting, ours, theirs)`.
    ///
    /// A cohort without settings (a bare list of strings) is compatible with any other.
    pub fn differences<'a>(&'a self, other: &'a Encoding) -> Vec<(&'a str, &'a str, &'a str)> {
        if self.0.is_empty() || other.0.is_empty() {
            return Vec::new();
        }
        let names: BTreeSet<&str> = self
            .0
            .keys()
            .chain(other.0.keys())
            .map(String::as_str)
            .collect();
        let value = |encoding: &'a Encoding, name: &str| {
            encoding.0.get(name).map_or("(not given)", String::as_str)
        };
        names
            .into_iter()
            .map(|name| (name, value(self, name), value(other, name)))
            .filter(|(_, ours, theirs)| ours != theirs)
            .collect()
    }
}

/// All scanpaths of one institution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cohort {
    /// The letters they are written in.
    pub alphabet: Alphabet,
    /// How they were made.
    pub encoding: Encoding,
    /// What the coordinates of fixations mean; `None` if no fixations were kept.
    pub screen: Option<Screen>,
    /// The scanpaths, in the order of the file.
    pub entries: Vec<Entry>,
}

impl Cohort {
    /// How the cohort was made, for comparing two of them by a metric. Where fixations are compared, and not only letters, the
    /// screen is among the settings, and its distance where the metric uses it.
    pub fn settings(&self, metric: &Metric) -> Encoding {
        let screen = self.screen.filter(|_| metric.compares_fixations());
        let mut screen = screen.map(|screen| screen.settings()).unwrap_or_default();
        if !matches!(metric, Metric::ScaSim(_)) {
            screen.remove(VIEWING);
        }
        Encoding(self.encoding.0.clone().into_iter().chain(screen).collect())
    }

    /// Whether any scanpath names its stimulus.
    pub fn has_stimuli(&self) -> bool {
        self.entries.iter().any(|entry| entry.stimulus.is_some())
    }

    /// Whether participants have groups.
    pub fn has_groups(&self) -> bool {
        self.entries.iter().any(|entry| entry.group.is_some())
    }

    /// How many participants each group has, by its name.
    pub fn group_sizes(&self) -> BTreeMap<&str, usize> {
        let mut members: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for entry in &self.entries {
            if let Some(group) = &entry.group {
                members.entry(group).or_default().insert(&entry.participant);
            }
        }
        let sizes = members.into_iter();
        sizes
            .map(|(group, members)| (group, members.len()))
            .collect()
    }
}
