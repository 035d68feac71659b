//! What was read, used and dropped, for people and for programs.
//!
//! `rows_read = rows_used + dropped` holds for every file and for all. A row is used when it has a place; a gaze sample
//! whose run turned out too short was used, and its run is counted in `removed_runs`.

use crate::Dropped;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use veilpath_metrics::Cohort;

/// What became of the rows of all files. Its JSON keys are part of the command line's contract.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The name of the files' format, or `mixed`.
    pub format: String,
    /// Data rows in all files.
    pub rows_read: u64,
    /// Rows that have a place.
    pub rows_used: u64,
    /// The others, by reason.
    pub dropped: BTreeMap<Dropped, u64>,
    /// Scanpaths, empty ones included.
    pub scanpaths: usize,
    /// Letters per scanpath; 0 where there is no scanpath.
    pub mean_length: f64,
    /// Letters of the shortest scanpath.
    pub min_length: usize,
    /// Letters of the longest scanpath.
    pub max_length: usize,
    /// Scanpaths without a letter.
    pub empty: usize,
    /// Recordings without a letter that are not among the scanpaths, because the user wanted it so.
    pub empty_left_out: usize,
    /// Different participants.
    pub participants: usize,
    /// Different stimuli.
    pub stimuli: usize,
    /// Runs of raw gaze that were shorter than the minimum dwell.
    pub removed_runs: u64,
    /// What was taken for granted in any file.
    pub assumed: Vec<String>,
    /// What the user should know about the whole.
    pub notes: Vec<String>,
    /// The same for every file.
    pub files: Vec<FileSummary>,
}

/// What became of the rows of one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FileSummary {
    /// Its name as the user gave it.
    pub file: String,
    /// The name of its format.
    pub format: String,
    /// The format's name for people.
    pub title: String,
    /// Data rows.
    pub rows_read: u64,
    /// Rows that have a place.
    pub rows_used: u64,
    /// The others, by reason.
    pub dropped: BTreeMap<Dropped, u64>,
    /// What was taken for granted.
    pub assumed: Vec<String>,
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

    pub(crate) fn assume(&mut self, assumption: &str) {
        if !self.assumed.iter().any(|known| known == assumption) {
            self.assumed.push(assumption.into());
        }
    }
}

impl Summary {
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
    }
}

/// A few aligned lines for people.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut formats: Vec<String> = Vec::new();
        for file in &self.files {
            let named = format!("{} ({})", file.title, file.format);
            if !formats.contains(&named) {
                formats.push(named);
            }
        }
        line(f, "format", &formats.join(", "))?;
        if self.files.len() > 1 {
            line(f, "files", &self.files.len().to_string())?;
        }
        line(f, "rows read", &self.rows_read.to_string())?;
        line(f, "rows used", &self.rows_used.to_string())?;
        let dropped: u64 = self.dropped.values().sum();
        let reasons: Vec<String> = self
            .dropped
            .iter()
            .map(|(reason, count)| format!("{count} {}", reason_name(*reason)))
            .collect();
        let reasons = match reasons.len() {
            0 => String::new(),
            _ => format!(" ({})", reasons.join(", ")),
        };
        line(f, "dropped", &format!("{dropped}{reasons}"))?;
        if self.removed_runs > 0 {
            let runs = format!("{} shorter than the minimum dwell", self.removed_runs);
            line(f, "short runs", &runs)?;
        }
        let mut scanpaths = format!(
            "{} of {}",
            self.scanpaths,
            counted(self.participants, "participant", "participants")
        );
        if self.stimuli > 0 {
            let stimuli = counted(self.stimuli, "stimulus", "stimuli");
            scanpaths.push_str(&format!(" on {stimuli}"));
        } else if self.scanpaths > 0 {
            scanpaths.push_str(", without a stimulus (--stimulus or --file-name names it)");
        }
        if self.empty > 0 {
            let empty = format!(", {} empty (--drop-empty leaves them out)", self.empty);
            scanpaths.push_str(&empty);
        }
        if self.empty_left_out > 0 {
            let empty = format!(", {} empty left out", self.empty_left_out);
            scanpaths.push_str(&empty);
        }
        line(f, "scanpaths", &scanpaths)?;
        let length = format!(
            "{:.1} letters on average, {} to {}",
            self.mean_length, self.min_length, self.max_length
        );
        line(f, "length", &length)?;
        for assumption in &self.assumed {
            line(f, "assumed", assumption)?;
        }
        for note in &self.notes {
            line(f, "note", note)?;
        }
        Ok(())
    }
}

/// The reason as it stands in JSON.
fn reason_name(reason: Dropped) -> String {
    match serde_json::to_value(reason) {
        Ok(serde_json::Value::String(name)) => name,
        _ => "other".into(),
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn line(f: &mut fmt::Formatter<'_>, label: &str, text: &str) -> fmt::Result {
    writeln!(f, "{label:<11}{text}")
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
        file.assume("pixels");
        file.assume("pixels");
        let entry = |participant: &str, letters: usize| Entry {
            participant: participant.into(),
            stimulus: Some("s".into()),
            scanpath: Scanpath::new(vec![0; letters]),
        };
        let cohort = Cohort {
            alphabet: Alphabet::letters(3).unwrap(),
            encoding: Encoding::default(),
            entries: vec![entry("p", 4), entry("q", 0), entry("p", 3)],
        };
        Summary::new(vec![file], &cohort)
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
        assert_eq!(json["rows_read"], 7);
        assert_eq!(json["dropped"], serde_json::json!({"lost": 2, "no-aoi": 1}));
        assert_eq!(
            (&json["empty"], &json["empty_left_out"]),
            (&1.into(), &0.into())
        );
        assert_eq!(json["assumed"], serde_json::json!(["pixels"]));
        assert_eq!(json["files"][0]["file"], "a.csv");
    }

    #[test]
    fn people_get_aligned_lines() {
        let expected = "\
format     a table (table)
rows read  7
rows used  4
dropped    3 (2 lost, 1 no-aoi)
scanpaths  3 of 2 participants on 1 stimulus, 1 empty (--drop-empty leaves them out)
length     2.3 letters on average, 0 to 4
assumed    pixels
";
        assert_eq!(summary().to_string(), expected);
    }
}
