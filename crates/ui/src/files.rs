//! Files that were dropped on the page, and files in the chosen folder.

use crate::problem::Problem;
use crate::workspace::Workspace;
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use veilpath::encode::Source;
use veilpath::{FileKind, Input, ReadError, file_kind, table_columns, text};

/// The largest file that can be dropped.
pub(crate) const MAX_FILE_BYTES: usize = 512 << 20;

/// The maximum size of all dropped files together, in bytes.
const MAX_ALL_BYTES: u64 = 2 << 30;

/// The maximum number of files.
const MAX_FILES: usize = 2000;

/// The maximum length of a name, in characters.
const MAX_NAME: usize = 255;

/// The maximum number of files in the folder that are listed.
const MAX_LISTED: usize = 500;

/// The maximum number of columns that users can choose from.
const MAX_COLUMNS: usize = 200;

/// The names and contents of files that were dropped together, shared by all of them.
type Companions = Arc<[(String, Arc<[u8]>)]>;

/// A file that the user provided.
#[derive(Clone, Debug)]
pub(crate) struct StoredFile {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) kind: FileKind,
    /// The cohort that it belongs to, 0 or 1.
    pub(crate) side: usize,
    /// The stimulus that a picture shows; `None` for all.
    pub(crate) stimulus: Option<String>,
    /// The names of its columns, if it is a table.
    columns: Arc<[String]>,
    pub(crate) content: Content,
}

/// A file that has been recognised, but not added yet.
#[derive(Debug)]
pub(crate) struct NewFile {
    name: String,
    pub(crate) kind: FileKind,
    columns: Arc<[String]>,
    pub(crate) content: Content,
}

/// Where the bytes are.
#[derive(Clone)]
pub(crate) enum Content {
    /// In memory.
    Memory(Arc<[u8]>),
    /// In the chosen folder.
    File(PathBuf, u64),
}

/// Omits the bytes.
impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Content({})", self.size())
    }
}

impl Content {
    fn size(&self) -> u64 {
        match self {
            Content::Memory(bytes) => bytes.len() as u64,
            Content::File(_, size) => *size,
        }
    }

    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self, Content::Memory(_))
    }

    /// All bytes, for small files.
    pub(crate) fn bytes(&self) -> Result<Arc<[u8]>, Problem> {
        match self {
            Content::Memory(bytes) => Ok(Arc::clone(bytes)),
            Content::File(path, _) => {
                let read = std::fs::read(path);
                read.map(Into::into)
                    .map_err(|error| Problem::new(format!("the file cannot be read: {error}"), ""))
            }
        }
    }
}

impl StoredFile {
    /// The file as a source for the reader, with other dropped files.
    pub(crate) fn source(&self, companions: &Companions) -> Result<Source, ReadError> {
        Ok(match &self.content {
            Content::Memory(_) => {
                let input = self.input()?.with_companions(Arc::clone(companions));
                Source::Open(Box::new(input))
            }
            Content::File(path, _) => Source::File(path.clone()),
        })
    }

    /// Opens the file.
    pub(crate) fn input(&self) -> Result<Input, ReadError> {
        match &self.content {
            Content::Memory(bytes) => Input::from_shared(&self.name, Arc::clone(bytes)),
            Content::File(path, _) => Input::open(path),
        }
    }

    /// The name that readers use in summaries and errors.
    pub(crate) fn reader_name(&self) -> String {
        match &self.content {
            Content::Memory(_) => self.name.clone(),
            Content::File(path, _) => path.display().to_string(),
        }
    }

    /// The kind of file, for the page's script.
    pub(crate) fn kind_name(&self) -> &'static str {
        self.kind_and_title().0
    }

    fn kind_and_title(&self) -> (&'static str, &str) {
        match &self.kind {
            FileKind::Gaze(title) => ("gaze", title.as_str()),
            FileKind::Cohort => ("cohort", "cohort of scanpaths"),
            FileKind::Image => ("image", "picture"),
            FileKind::Results => ("results", "results of a comparison"),
            FileKind::Invitation => ("invitation", "invitation"),
            FileKind::Metadata => ("metadata", "metadata of BIDS recordings"),
            FileKind::Unknown => ("unknown", "unknown: say what its columns are"),
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        let (kind, title) = self.kind_and_title();
        json!({
            "id": self.id,
            "name": self.name,
            "reader_name": self.reader_name(),
            "kind": kind,
            "title": title,
            "side": self.side,
            "stimulus": self.stimulus,
            "size": self.content.size(),
            "in_folder": matches!(self.content, Content::File(..)),
        })
    }
}

impl NewFile {
    /// A dropped file. The name is a label and never a path.
    pub(crate) fn dropped(name: &str, bytes: Arc<[u8]>) -> Result<Self, Problem> {
        let name = label(name);
        let kind = file_kind(&name, &bytes)?;
        Ok(Self {
            columns: table_columns(&name, &bytes).into(),
            name,
            kind,
            content: Content::Memory(bytes),
        })
    }

    /// A file in the chosen folder.
    pub(crate) fn from_folder(folder: Option<&Path>, name: &str) -> Result<Self, Problem> {
        let path = folder_file(folder, name)?;
        let missing = |_| not_in_folder();
        let size = std::fs::metadata(&path).map_err(missing)?.len();
        // Enough to recognise any format; large files stay on disk.
        let start: Arc<[u8]> = read_start(&path).map_err(missing)?.into();
        let kind = match size <= start.len() as u64 {
            true => file_kind(name, &start)?,
            false => match file_kind(name, &start) {
                Ok(kind @ (FileKind::Cohort | FileKind::Results | FileKind::Gaze(_))) => kind,
                Ok(_) => FileKind::Unknown,
                Err(error) => return Err(error.into()),
            },
        };
        Ok(Self {
            name: label(name),
            kind,
            columns: table_columns(name, &start).into(),
            content: Content::File(path, size),
        })
    }
}

impl Workspace {
    /// Whether a dropped file of this size may be added.
    pub(crate) fn has_room_for(&self, bytes: usize) -> Result<(), Problem> {
        let in_memory = |file: &&StoredFile| file.content.is_in_memory();
        let dropped = self.files.iter().filter(in_memory);
        let all: u64 = dropped.map(|it| it.content.size()).sum();
        match all + bytes as u64 > MAX_ALL_BYTES {
            false => Ok(()),
            true => Err(Problem::new(
                "the dropped files are larger than 2 GiB in total",
                "Start “veilpath ui FOLDER”: files in that folder are read from disk.",
            )),
        }
    }

    /// Adds a file.
    pub(crate) fn add(&mut self, file: NewFile) -> Result<u64, Problem> {
        if self.files.len() >= MAX_FILES {
            return Err(Problem::new("there are too many files", ""));
        }
        if let Content::Memory(bytes) = &file.content {
            // Another request may have added files in the meantime.
            self.has_room_for(bytes.len())?;
        }
        if file.kind == FileKind::Results {
            return Err(Problem {
                file: Some(file.name.clone()),
                ..Problem::new(
                    format!("{}: this is the result of a comparison", file.name),
                    "Drop recordings or cohorts. “veilpath report FILE -o report.html” makes a page of a result.",
                )
            });
        }
        let id = self.next_id;
        self.next_id += 1;
        self.files.push(StoredFile {
            id,
            name: file.name,
            kind: file.kind,
            side: 0,
            stimulus: None,
            columns: file.columns,
            content: file.content,
        });
        Ok(id)
    }
}

/// The columns of all tables, for users to choose from while a file cannot be read.
pub(crate) fn headers(files: &[StoredFile]) -> Vec<&String> {
    let mut names = Vec::new();
    let is_gaze = |file: &&StoredFile| matches!(file.kind, FileKind::Gaze(_) | FileKind::Unknown);
    let tables = files.iter().filter(is_gaze);
    for name in tables.flat_map(|file| file.columns.iter()) {
        if names.len() < MAX_COLUMNS && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The chosen folder, as the page shows it.
pub(crate) fn folder_state(folder: &Path) -> Value {
    let mut names = in_folder(folder);
    let left_out = names.len().saturating_sub(MAX_LISTED);
    names.truncate(MAX_LISTED);
    json!({
        "name": folder.file_name().map(|name| name.to_string_lossy()),
        "files": names,
        "left_out": left_out,
    })
}

/// The path of a file in the folder. Neither names nor links can lead out of the folder.
fn folder_file(folder: Option<&Path>, name: &str) -> Result<PathBuf, Problem> {
    let folder = folder.ok_or_else(not_in_folder)?;
    let mut parts = Path::new(name).components();
    let single = match (parts.next(), parts.next()) {
        (Some(Component::Normal(part)), None) => part,
        _ => return Err(not_in_folder()),
    };
    let path = std::fs::canonicalize(folder.join(single)).map_err(|_| not_in_folder())?;
    match path.parent() == Some(folder) && path.is_file() {
        true => Ok(path),
        false => Err(not_in_folder()),
    }
}

/// The names of the files in a folder, in order.
fn in_folder(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let names = entries.flatten().filter_map(|entry| {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let name = entry.file_name().into_string().ok()?;
        (is_file && !name.starts_with('.')).then_some(name)
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn read_start(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    const START: u64 = 4 << 20;
    let mut start = Vec::new();
    std::fs::File::open(path)?
        .take(START)
        .read_to_end(&mut start)?;
    Ok(start)
}

fn not_in_folder() -> Problem {
    Problem::new("there is no such file in the chosen folder", "")
}

/// A name of bounded length, without folders and control characters.
fn label(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let shown: String = text::printable(last).chars().take(MAX_NAME).collect();
    match shown.trim() {
        "" | "." | ".." => "file".into(),
        name => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_become_safe_labels() {
        for (name, expected) in [
            ("a.csv", "a.csv"),
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\x\\a.csv", "a.csv"),
            ("..", "file"),
            ("", "file"),
            ("<img src=x>.csv", "<img src=x>.csv"),
        ] {
            assert_eq!(label(name), expected);
        }
        assert!(!label("a\u{202e}b\n.csv").chars().any(char::is_control));
        assert_eq!(label(&"x".repeat(9999)).len(), MAX_NAME);
    }

    #[test]
    fn nothing_outside_the_folder_is_opened() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret.csv"), "x").unwrap();
        let folder = outside.path().join("inside");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("a.csv"), "participant,scanpath\np,AB\n").unwrap();
        let folder = std::fs::canonicalize(folder).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path().join("secret.csv"), folder.join("link.csv"))
            .unwrap();
        assert!(NewFile::from_folder(Some(&folder), "a.csv").is_ok());
        let absolute = outside.path().join("secret.csv");
        for name in [
            "../secret.csv",
            "./../secret.csv",
            "link.csv",
            ".",
            "..",
            "",
            "a.csv/..",
            absolute.to_str().unwrap(),
        ] {
            assert!(NewFile::from_folder(Some(&folder), name).is_err(), "{name}");
        }
        assert_eq!(in_folder(&folder), ["a.csv"], "links are not listed");
        assert!(NewFile::from_folder(None, "a.csv").is_err());
    }
}
