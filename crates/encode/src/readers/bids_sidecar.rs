//! BIDS metadata about a recording: its file name, and JSON files in its folder and in parent folders.

use crate::input::cannot_read;
use crate::{Input, ReadError};
use serde_json::{Map, Value};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// The largest metadata file that is read.
const MAX_JSON_BYTES: u64 = 4 << 20;

/// From `dataset/sub-01/ses-01/eeg/` up to `dataset/`.
const FOLDERS_UP: usize = 3;

/// A parsed BIDS file name: `sub-01_task-dots_physio.tsv.gz` has the entities `sub-01` and `task-dots` and the suffix
/// `physio`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BidsName {
    entities: Vec<(String, String)>,
    pub(crate) suffix: String,
}

impl BidsName {
    /// Parses a file name (folders are ignored); `None` if it does not have this form.
    pub(crate) fn parse(file: &str) -> Option<Self> {
        let file = file.rsplit(['/', '\\']).next()?;
        let stem = file.split('.').next()?;
        let (entities, suffix) = stem.rsplit_once('_').unwrap_or(("", stem));
        let entities = entities
            .split('_')
            .filter(|part| !part.is_empty())
            .map(|part| {
                let (key, value) = part.split_once('-')?;
                Some((key.to_string(), value.to_string()))
            })
            .collect::<Option<Vec<_>>>()?;
        Some(Self {
            entities,
            suffix: suffix.to_string(),
        })
    }

    /// The value of an entity.
    pub(crate) fn entity(&self, key: &str) -> Option<&str> {
        self.entities
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value.as_str())
    }

    /// The participant as BIDS writes it in `participants.tsv`.
    pub(crate) fn participant(&self) -> Option<String> {
        self.entity("sub").map(|label| format!("sub-{label}"))
    }

    /// The task, with everything else that distinguishes this recording from the participant's others (session, run,
    /// …), so that no two of them are mistaken for one. The eye is not part of it.
    pub(crate) fn stimulus(&self) -> Option<String> {
        let task = self.entity("task").map(str::to_string);
        let others = self
            .entities
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), "sub" | "task" | "recording"))
            .map(|(key, value)| format!("{key}-{value}"));
        let parts: Vec<String> = task.into_iter().chain(others).collect();
        (!parts.is_empty()).then(|| parts.join("/"))
    }

    /// Whether metadata with this name apply to data with that name, by BIDS' inheritance principle.
    fn applies_to(&self, data: &BidsName, suffix: &str) -> bool {
        self.suffix == suffix
            && self
                .entities
                .iter()
                .all(|(key, value)| data.entity(key) == Some(value))
    }

    /// Whether this names the same recording of another eye.
    fn is_other_eye_of(&self, data: &BidsName) -> bool {
        let others = |name: &BidsName| -> Vec<(String, String)> {
            let all = name.entities.iter();
            all.filter(|(key, _)| key != "recording").cloned().collect()
        };
        self.suffix == data.suffix
            && self.entity("recording") != data.entity("recording")
            && others(self) == others(data)
    }
}

/// Whether a file with this name accompanies BIDS recordings: a JSON file named after a participant or a task, or a
/// list of events without positions.
pub fn is_bids_metadata(file: &str) -> bool {
    let table = file
        .strip_suffix(".gz")
        .unwrap_or(file)
        .strip_suffix(".tsv");
    let events = table.filter(|stem| stem.ends_with("_physioevents"));
    let stem = file.strip_suffix(".json").or(events);
    let name = stem.and_then(BidsName::parse);
    name.is_some_and(|name| name.entity("sub").is_some() || name.entity("task").is_some())
}

/// The merged metadata of one suffix that apply to a data file.
#[derive(Debug, Default)]
pub(crate) struct Sidecar {
    /// The names of the files that were found, nearest last.
    pub(crate) files: Vec<String>,
    fields: Map<String, Value>,
}

impl Sidecar {
    /// Collects the metadata for `data` from its folder and the parent folders, up to the dataset's root. Nearer files
    /// win, and within a folder those with more entities.
    pub(crate) fn find(path: &Path, data: &BidsName, suffix: &str) -> Result<Self, ReadError> {
        let mut found = Vec::new();
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let folders: Vec<&Path> = path.ancestors().skip(1).take(FOLDERS_UP + 1).collect();
        // The dataset's root is above the participant's folder; a file outside such a folder inherits nothing.
        let is_participant = |folder: &&Path| {
            let name = folder.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with("sub-")
        };
        let root = folders
            .iter()
            .position(is_participant)
            .map_or(0, |at| at + 1);
        for (up, folder) in folders.iter().enumerate().take(root + 1) {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let file = entry.file_name().to_string_lossy().into_owned();
                let name = file.strip_suffix(".json").and_then(BidsName::parse);
                if let Some(name) = name.filter(|name| name.applies_to(data, suffix)) {
                    found.push((FOLDERS_UP - up, name.entities.len(), folder.join(file)));
                }
            }
        }
        found.sort();
        let mut sidecar = Self::default();
        for (_, _, file) in found {
            sidecar.fields.extend(read_object(Input::open(&file)?)?);
            sidecar.files.push(file.display().to_string());
        }
        Ok(sidecar)
    }

    /// Like [`Sidecar::find`], but from files in memory, which have no folders: those with more entities win.
    pub(crate) fn among(
        files: &[(String, Arc<[u8]>)],
        data: &BidsName,
        suffix: &str,
    ) -> Result<Self, ReadError> {
        let mut found = Vec::new();
        for (file, bytes) in files.iter().filter(|(file, _)| is_bids_metadata(file)) {
            let name = BidsName::parse(file);
            if let Some(name) = name.filter(|name| name.applies_to(data, suffix)) {
                found.push((name.entities.len(), file, bytes));
            }
        }
        found.sort();
        let mut sidecar = Self::default();
        for (_, file, bytes) in found {
            let input = Input::from_shared(file, Arc::clone(bytes))?;
            sidecar.fields.extend(read_object(input)?);
            sidecar.files.push(file.clone());
        }
        Ok(sidecar)
    }

    /// The names of the columns.
    pub(crate) fn columns(&self) -> Option<Vec<String>> {
        let columns = self.fields.get("Columns")?.as_array()?;
        let names: Option<Vec<_>> = columns
            .iter()
            .map(|name| name.as_str().map(str::to_string))
            .collect();
        names.filter(|names| !names.is_empty())
    }

    /// A text field.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.fields.get(key)?.as_str()
    }

    /// A positive number; some files write it in quotes.
    pub(crate) fn positive(&self, key: &str) -> Option<f64> {
        positive(self.fields.get(key)?)
    }

    /// The unit of a column.
    pub(crate) fn unit(&self, column: &str) -> Option<&str> {
        self.fields.get(column)?.as_object()?.get("Units")?.as_str()
    }

    /// Width and height of the screen in pixels.
    pub(crate) fn screen(&self) -> Option<(f64, f64)> {
        match self.of_screen("ScreenResolution")?.as_array()?.as_slice() {
            [width, height] => Some((positive(width)?, positive(height)?)),
            _ => None,
        }
    }

    /// The origin of the coordinates, as words such as `top` and `left`.
    pub(crate) fn origin(&self) -> Option<Vec<String>> {
        let value = self
            .of_screen("ScreenOrigin")
            .or_else(|| self.of_screen("EnvironmentCoordinates"))?;
        let words = match value {
            Value::String(text) => text.split(['-', ' ']).map(str::to_lowercase).collect(),
            Value::Array(words) => words
                .iter()
                .filter_map(|word| word.as_str().map(str::to_lowercase))
                .collect(),
            _ => return None,
        };
        Some(words)
    }

    /// A property of the screen. It is in the events' metadata today, and was in the recording's own in older drafts.
    fn of_screen(&self, key: &str) -> Option<&Value> {
        let nested = self.fields.get("StimulusPresentation");
        nested
            .and_then(|fields| fields.get(key))
            .or_else(|| self.fields.get(key))
    }
}

/// Whether the same recording of another eye is in the same folder (or, for bytes in memory, was given with them) and
/// takes precedence: the left eye or, if nothing says which eye is which, the lower label.
pub(crate) fn has_preferred_eye(input: &Input, data: &BidsName, own: Option<&str>) -> bool {
    if own == Some("left") {
        return false;
    }
    let Some(path) = input.path() else {
        let files = input.companions();
        return files.iter().any(|(file, _)| {
            other_eye(file, data).is_some_and(|other| {
                let sidecar = Sidecar::among(files, &other, &other.suffix).unwrap_or_default();
                is_preferred(&other, &sidecar, data, own)
            })
        });
    };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = path
        .parent()
        .and_then(|folder| std::fs::read_dir(folder).ok());
    folder.into_iter().flatten().flatten().any(|entry| {
        other_eye(&entry.file_name().to_string_lossy(), data).is_some_and(|other| {
            let sidecar = Sidecar::find(&entry.path(), &other, &other.suffix).unwrap_or_default();
            is_preferred(&other, &sidecar, data, own)
        })
    })
}

/// The name of a file, if it is the same recording of another eye.
fn other_eye(file: &str, data: &BidsName) -> Option<BidsName> {
    let is_table = file.ends_with(".tsv.gz") || file.ends_with(".tsv");
    let name = BidsName::parse(file).filter(|_| is_table);
    name.filter(|name| name.is_other_eye_of(data))
}

fn is_preferred(other: &BidsName, sidecar: &Sidecar, data: &BidsName, own: Option<&str>) -> bool {
    // Recordings of heartbeat or breathing in the same folder have names of the same form.
    let columns = sidecar.columns().unwrap_or_default();
    if !columns.iter().any(|name| name == "x_coordinate") {
        return false;
    }
    match (recorded_eye(sidecar).as_deref(), own) {
        (Some("left"), _) => true,
        (None, _) | (_, None) => other.entity("recording") < data.entity("recording"),
        _ => false,
    }
}

/// `left`, `right`, `cyclopean` and the like, in lower case.
pub(crate) fn recorded_eye(sidecar: &Sidecar) -> Option<String> {
    sidecar.text("RecordedEye").map(str::to_lowercase)
}

fn positive(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok()?,
        other => other.as_f64()?,
    };
    (number.is_finite() && number > 0.0).then_some(number)
}

fn read_object(input: Input) -> Result<Map<String, Value>, ReadError> {
    let name = input.name().to_string();
    let mut bytes = Vec::new();
    input
        .into_reader()
        .take(MAX_JSON_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| cannot_read(&name, &error))?;
    if bytes.len() as u64 > MAX_JSON_BYTES {
        return Err(
            ReadError::new(&name, "this metadata file is too large: more than 4 MiB").with_remedy(
                "check that it describes a recording, and remove what is not about it",
            ),
        );
    }
    serde_json::from_slice(&bytes).map_err(|error| {
        let (problem, remedy) = if error.is_eof() {
            (
                "this metadata file is truncated: a bracket or quote is never closed",
                "copy or download it again, or wait until it is completely written",
            )
        } else {
            (
                "this metadata file is not a JSON object",
                "fix it at this position (a missing comma, quote or bracket is the usual cause); the BIDS validator finds such faults",
            )
        };
        ReadError::new(&name, problem)
            .at_line(error.line() as u64)
            .with_remedy(remedy)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split() {
        let name =
            BidsName::parse("x/sub-01_ses-b_task-dots_run-2_recording-eye1_physio.tsv.gz").unwrap();
        assert_eq!(name.participant().as_deref(), Some("sub-01"));
        assert_eq!(name.stimulus().as_deref(), Some("dots/ses-b/run-2"));
        assert_eq!(name.suffix, "physio");
        let bare = BidsName::parse("sub-01_eyetrack.tsv").unwrap();
        assert_eq!(bare.stimulus(), None);
        assert_eq!(BidsName::parse("my_own_physio.tsv"), None);
    }

    #[test]
    fn metadata_in_memory_apply_by_their_names() {
        let file = |name: &str, text: &str| -> (String, Arc<[u8]>) {
            (name.to_string(), text.as_bytes().into())
        };
        let files = [
            file("sub-01_task-a_physio.json", r#"{"RecordedEye": "Right"}"#),
            file(
                "task-a_physio.json",
                r#"{"RecordedEye": "left", "SamplingFrequency": 1}"#,
            ),
            file("sub-02_task-a_physio.json", r#"{"SamplingFrequency": 2}"#),
            file("sub-01_task-a_events.json", r#"{"SamplingFrequency": 3}"#),
        ];
        let data = BidsName::parse("sub-01_task-a_physio.tsv.gz").unwrap();
        let sidecar = Sidecar::among(&files, &data, "physio").unwrap();
        assert_eq!(recorded_eye(&sidecar).as_deref(), Some("right"));
        assert_eq!(sidecar.positive("SamplingFrequency"), Some(1.0));
        assert_eq!(sidecar.files.len(), 2);
        assert!(!is_bids_metadata("subj03_scanpaths.json"));
    }

    #[test]
    fn metadata_that_are_too_large_are_not_called_truncated() {
        let text = format!(
            "{{\"Columns\": \"{}\"}}",
            "x".repeat(MAX_JSON_BYTES as usize)
        );
        let input = Input::from_bytes("physio.json", text.into()).unwrap();
        let error = read_object(input).unwrap_err();
        assert!(error.problem.contains("too large"), "{error}");
    }

    #[test]
    fn nearer_and_more_particular_metadata_win_and_others_do_not_apply() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("sub-01").join("beh");
        std::fs::create_dir_all(&folder).unwrap();
        let write = |file: &str, text: &str| std::fs::write(root.path().join(file), text).unwrap();
        write(
            "task-a_physio.json",
            r#"{"SamplingFrequency": 1, "RecordedEye": "left"}"#,
        );
        write(
            "physio.json",
            r#"{"SamplingFrequency": 5, "Columns": ["x_coordinate"]}"#,
        );
        write("task-b_physio.json", r#"{"SamplingFrequency": 2}"#);
        write("task-a_events.json", r#"{"SamplingFrequency": 3}"#);
        write(
            "sub-01/beh/sub-01_task-a_physio.json",
            r#"{"RecordedEye": "Right"}"#,
        );
        let data = BidsName::parse("sub-01_task-a_recording-eye1_physio.tsv.gz").unwrap();
        let path = folder.join("sub-01_task-a_recording-eye1_physio.tsv.gz");
        let sidecar = Sidecar::find(&path, &data, "physio").unwrap();
        assert_eq!(sidecar.positive("SamplingFrequency"), Some(1.0));
        assert_eq!(recorded_eye(&sidecar).as_deref(), Some("right"));
        assert_eq!(sidecar.columns().unwrap(), ["x_coordinate"]);
        assert_eq!(sidecar.files.len(), 3);
        write(
            "sub-01/beh/sub-01_task-a_physio.json",
            "{\n\"RecordedEye\": \n",
        );
        let error = Sidecar::find(&path, &data, "physio").unwrap_err();
        assert!(
            error.file.ends_with("sub-01_task-a_physio.json") && error.line == Some(3),
            "{error}"
        );
    }
}
