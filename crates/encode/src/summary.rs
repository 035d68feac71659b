//! What was read, used and dropped.
//!
//! `rows_read = rows_used + dropped` holds for every file and for all together. A row is used if its point can be
//! placed. A gaze sample whose run turns out too short still counts as used; its run is counted in `removed_runs`.

use crate::detector::DETECTOR_KEY;
use crate::readers::SupportedOptions;
use crate::{DataKinds, Dropped, EncodeField, EncodeNote};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use veilpath_metrics::{Cohort, Fixations};

/// Row counts of all files. The JSON keys are part of the command line's contract.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The name of the files' format, or `mixed`.
    pub format: String,
    /// Data rows in all files.
    pub rows_read: u64,
    /// Rows whose point can be placed.
    pub rows_used: u64,
    /// The others, by reason.
    pub dropped: BTreeMap<Dropped, u64>,
    /// Scanpaths, empty ones included.
    pub scanpaths: usize,
    /// Letters per scanpath; 0 if there is no scanpath.
    pub mean_length: f64,
    /// Letters of the shortest scanpath.
    pub min_length: usize,
    /// Letters of the longest scanpath.
    pub max_length: usize,
    /// Scanpaths without a letter.
    pub empty: usize,
    /// Recordings without a letter that were left out at the user's request.
    pub empty_left_out: usize,
    /// Different participants.
    pub participants: usize,
    /// Different stimuli.
    pub stimuli: usize,
    /// Participants by group, if they have groups.
    pub groups: BTreeMap<String, usize>,
    /// Runs of raw gaze that were shorter than the minimum dwell.
    pub removed_runs: u64,
    /// Fixations that a detector found in raw gaze, if one was used.
    pub detected: Option<DetectedCount>,
    /// Fixations that were kept alongside the letters; `None` if they were not requested.
    pub fixations_kept: Option<usize>,
    /// The kinds of rows.
    pub data: DataKinds,
    /// Width divided by height of what was looked at, if it is known and the same for all recordings.
    pub aspect: Option<f64>,
    /// Rows of events that were not requested, by label; they are included in `dropped`.
    pub unrequested_events: BTreeMap<String, u64>,
    /// Assumptions about any file.
    pub assumed: Vec<Assumption>,
    /// Notes about the whole cohort.
    pub notes: Vec<EncodeNote>,
    /// The counts of each file.
    pub files: Vec<FileSummary>,
    /// The options that affect how any of the files is read.
    #[serde(skip)]
    pub accepts: SupportedOptions,
}

/// The findings of a detector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DetectedCount {
    /// The detector and its parameters, as in the header of a cohort file.
    pub settings: BTreeMap<String, String>,
    /// How many fixations it found.
    pub fixations: u64,
    /// How many of them gave no letter, by reason.
    pub dropped: BTreeMap<Dropped, u64>,
}

/// Row counts of one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FileSummary {
    /// Its name as the user gave it.
    pub file: String,
    /// The name of its format.
    pub format: String,
    /// The format's display name.
    pub title: String,
    /// Data rows.
    pub rows_read: u64,
    /// Rows whose point can be placed.
    pub rows_used: u64,
    /// The others, by reason.
    pub dropped: BTreeMap<Dropped, u64>,
    /// Rows of events that were not requested, by label.
    pub unrequested_events: BTreeMap<String, u64>,
    /// Assumptions about the file.
    pub assumed: Vec<Assumption>,
    /// The roles of the columns of a generic table.
    pub columns: Option<ColumnRoles>,
}

/// The roles of a table's columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ColumnRoles {
    /// Those in use.
    pub used: Vec<ColumnRole>,
    /// The names of the others.
    pub not_used: Vec<String>,
}

/// A column and its role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnRole {
    /// Its role: `participant`, `x`, …
    pub role: &'static str,
    /// Its name in the file.
    pub column: String,
}

/// An assumption about something that a file does not state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Assumption {
    /// What was assumed.
    pub text: String,
    /// The option fields that change it.
    pub changed_by: Vec<EncodeField>,
}

impl FileSummary {
    pub(crate) fn new(file: &str, format: &str, title: &str) -> Self {
        Self {
            file: file.into(),
            format: format.into(),
            title: title.into(),
            ..Self::default()
        }
    }

    pub(crate) fn used(&mut self) {
        self.rows_read += 1;
        self.rows_used += 1;
    }

    pub(crate) fn drop_row(&mut self, reason: Dropped) {
        self.rows_read += 1;
        *self.dropped.entry(reason).or_default() += 1;
    }

    pub(crate) fn leave_out(&mut self, label: &str) {
        self.drop_row(Dropped::OtherEvent);
        *self
            .unrequested_events
            .entry(label.to_string())
            .or_default() += 1;
    }

    pub(crate) fn assume(&mut self, text: &str, changed_by: &[EncodeField]) {
        if !self.assumed.iter().any(|known| known.text == text) {
            self.assumed.push(Assumption {
                text: text.into(),
                changed_by: changed_by.to_vec(),
            });
        }
    }
}

/// Reasons with their counts, the most frequent first.
fn most_frequent_first(dropped: &BTreeMap<Dropped, u64>) -> Vec<(Dropped, u64)> {
    let mut reasons: Vec<_> = dropped.iter().map(|(&it, &count)| (it, count)).collect();
    reasons.sort_by_key(|&(_, count)| Reverse(count));
    reasons
}

impl DetectedCount {
    /// The name of the detector.
    pub fn detector(&self) -> &str {
        self.settings.get(DETECTOR_KEY).map_or("", String::as_str)
    }

    /// The detector's parameters, by name.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        let settings = self.settings.iter();
        let parameters = settings.filter(|(name, _)| *name != DETECTOR_KEY);
        parameters.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// How many of its fixations gave no letter.
    pub fn not_used(&self) -> u64 {
        self.dropped.values().sum()
    }

    /// Why fixations gave no letter, with counts, the most frequent first.
    pub fn reasons(&self) -> Vec<(Dropped, u64)> {
        most_frequent_first(&self.dropped)
    }
}

impl Summary {
    /// How many rows were not used.
    pub fn rows_not_used(&self) -> u64 {
        self.dropped.values().sum()
    }

    /// Why rows were not used, with counts, the most frequent first.
    pub fn reasons(&self) -> Vec<(Dropped, u64)> {
        most_frequent_first(&self.dropped)
    }

    /// How many rows have events that were not requested.
    pub fn unrequested_rows(&self) -> u64 {
        self.unrequested_events.values().sum()
    }

    /// The files that an assumption is about; none if it is about all of them.
    pub fn files_of(&self, assumption: &Assumption) -> Vec<&str> {
        let has = |file: &&FileSummary| file.assumed.contains(assumption);
        let files: Vec<&FileSummary> = self.files.iter().filter(has).collect();
        match files.len() == self.files.len() {
            true => Vec::new(),
            false => files.into_iter().map(|file| file.file.as_str()).collect(),
        }
    }

    /// The option fields that could change what a note is about, without those that the files' formats define.
    pub fn fields_of(&self, note: &EncodeNote) -> Vec<EncodeField> {
        // The rows of a table name an eye only if it has a column for it.
        let names_eyes = |file: &FileSummary| {
            let columns = file.columns.as_ref();
            columns.is_none_or(|columns| columns.used.iter().any(|it| it.role == "eye"))
        };
        let has_eyes = self.files.is_empty() || self.files.iter().any(names_eyes);
        let fields = note.fields().iter().copied();
        fields
            .filter(|&field| self.accepts.has(field) && (field != EncodeField::Eye || has_eyes))
            .collect()
    }

    pub(crate) fn new(files: Vec<FileSummary>, cohort: &Cohort) -> Self {
        let mut summary = Summary::default();
        let mut formats: BTreeSet<&str> = BTreeSet::new();
        for file in &files {
            formats.insert(&file.format);
            summary.rows_read += file.rows_read;
            summary.rows_used += file.rows_used;
            for (&reason, count) in &file.dropped {
                *summary.dropped.entry(reason).or_default() += count;
            }
            for (label, count) in &file.unrequested_events {
                *summary.unrequested_events.entry(label.clone()).or_default() += count;
            }
            for assumption in &file.assumed {
                if !summary.assumed.contains(assumption) {
                    summary.assumed.push(assumption.clone());
                }
            }
        }
        summary.format = match formats.len() {
            0 | 1 => formats.first().copied().unwrap_or_default().into(),
            _ => "mixed".into(),
        };
        summary.files = files;
        summary.count(cohort);
        summary
    }

    #[allow(clippy::cast_precision_loss)] // counts are far below 2⁵³
    fn count(&mut self, cohort: &Cohort) {
        let kept = cohort
            .entries
            .iter()
            .filter_map(|entry| entry.fixations.as_ref());
        self.fixations_kept = cohort.screen.map(|_| kept.map(Fixations::len).sum());
        let lengths = || cohort.entries.iter().map(|entry| entry.scanpath.len());
        let distinct = |ids: Vec<&str>| ids.into_iter().collect::<BTreeSet<_>>().len();
        self.scanpaths = cohort.entries.len();
        self.empty = lengths().filter(|&length| length == 0).count();
        self.min_length = lengths().min().unwrap_or(0);
        self.max_length = lengths().max().unwrap_or(0);
        self.mean_length = lengths().sum::<usize>() as f64 / self.scanpaths.max(1) as f64;
        self.participants = distinct(
            cohort
                .entries
                .iter()
                .map(|entry| entry.participant.as_str())
                .collect(),
        );
        self.stimuli = distinct(
            cohort
                .entries
                .iter()
                .filter_map(|entry| entry.stimulus.as_deref())
                .collect(),
        );
        self.count_groups(cohort);
    }

    pub(crate) fn count_groups(&mut self, cohort: &Cohort) {
        let sizes = cohort.group_sizes().into_iter();
        self.groups = sizes.map(|(name, size)| (name.to_string(), size)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath_metrics::{Alphabet, Encoding, Entry, Scanpath};

    fn summary() -> Summary {
        let mut file = FileSummary::new("a.csv", "table", "a table");
        for _ in 0..4 {
            file.used();
        }
        file.drop_row(Dropped::NoAoi);
        file.drop_row(Dropped::Lost);
        file.drop_row(Dropped::Lost);
        file.assume("pixels", &[EncodeField::Units]);
        file.assume("pixels", &[EncodeField::Units]);
        file.leave_out("SACC");
        let entry = |participant: &str, letters: usize| Entry {
            participant: participant.into(),
            group: None,
            stimulus: Some("s".into()),
            scanpath: Scanpath::new(vec![0; letters]),
            fixations: None,
        };
        let cohort = Cohort {
            alphabet: Alphabet::letters(3).unwrap(),
            encoding: Encoding::default(),
            screen: None,
            entries: vec![entry("p", 4), entry("q", 0), entry("p", 3)],
        };
        Summary::new(vec![file], &cohort)
    }

    #[test]
    fn the_most_frequent_reason_comes_first() {
        let summary = summary();
        assert_eq!(
            (summary.rows_not_used(), summary.unrequested_rows()),
            (4, 1)
        );
        let reasons = [
            (Dropped::Lost, 2),
            (Dropped::NoAoi, 1),
            (Dropped::OtherEvent, 1),
        ];
        assert_eq!(summary.reasons(), reasons);
        let detected = DetectedCount {
            settings: [(DETECTOR_KEY, "idt"), ("dispersion", "1 deg")]
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .into(),
            fixations: 9,
            dropped: [(Dropped::Lost, 1), (Dropped::Outside, 2)].into(),
        };
        assert_eq!((detected.detector(), detected.not_used()), ("idt", 3));
        let parameters: Vec<_> = detected.parameters().collect();
        assert_eq!(parameters, [("dispersion", "1 deg")]);
        assert_eq!(detected.reasons()[0], (Dropped::Outside, 2));
    }

    #[test]
    fn assumptions_about_some_files_name_them() {
        let mut summary = summary();
        let pixels = summary.assumed[0].clone();
        assert!(summary.files_of(&pixels).is_empty());
        summary.files.push(FileSummary::new("b.csv", "table", ""));
        assert_eq!(summary.files_of(&pixels), ["a.csv"]);
    }

    #[test]
    fn programs_find_fixed_keys() {
        let json = serde_json::to_value(summary()).unwrap();
        let keys: Vec<&str> = json
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(
            keys[..6],
            [
                "format",
                "rows_read",
                "rows_used",
                "dropped",
                "scanpaths",
                "mean_length"
            ]
        );
        assert_eq!(json["format"], "table");
        assert_eq!(json["rows_read"], 8);
        assert_eq!(
            json["dropped"],
            serde_json::json!({"lost": 2, "no-aoi": 1, "other-event": 1})
        );
        assert_eq!(
            (&json["empty"], &json["empty_left_out"]),
            (&1.into(), &0.into())
        );
        assert_eq!(json["unrequested_events"], serde_json::json!({"SACC": 1}));
        let assumed = serde_json::json!([{"text": "pixels", "changed_by": ["units"]}]);
        assert_eq!(json["assumed"], assumed);
        assert_eq!(json["files"][0]["file"], "a.csv");
    }
}
