//! One institution's scanpaths, and how they were encoded.

use crate::{Alphabet, Fixations, Metric, Scanpath, Screen, VIEWING};
use std::collections::{BTreeMap, BTreeSet};

/// One scanpath with the ids that appear in results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The participant.
    pub participant: String,
    /// The participant's group, such as patients or controls; `None` if the file has no groups. Either all entries have
    /// a group or none does, and all entries of a participant have the same one.
    pub group: Option<String>,
    /// The stimulus; `None` if the file has no stimuli.
    pub stimulus: Option<String>,
    /// The scanpath.
    pub scanpath: Scanpath,
    /// The fixations that the scanpath was made from, if they were kept. Either all entries have them or none does.
    pub fixations: Option<Fixations>,
}

/// How scanpaths were made from gaze data, as named settings. Two cohorts can be compared if these do not differ.
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
    /// The alphabet of the scanpaths.
    pub alphabet: Alphabet,
    /// How the scanpaths were encoded.
    pub encoding: Encoding,
    /// What the coordinates of fixations mean; `None` if no fixations were kept.
    pub screen: Option<Screen>,
    /// The scanpaths, in the order of the file.
    pub entries: Vec<Entry>,
}

impl Cohort {
    /// The settings that must agree before a metric can compare two cohorts. If the metric compares fixations and not
    /// only letters, they include the screen, and the viewing distance if the metric uses it.
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

    /// The number of participants in each group, by group name.
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
