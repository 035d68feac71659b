//! Files that were dropped on the page, and those of the chosen folder.

use crate::problem::Problem;
use crate::workspace::Workspace;
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use veilpath::encode::Source;
use veilpath::{FileKind, Input, ReadError, file_kind, text};

/// The largest file that can be dropped.
pub(crate) const MAX_FILE_BYTES: usize = 512 << 20;

/// The most bytes of all dropped files.
const MAX_ALL_BYTES: u64 = 2 << 30;

/// The most files.
const MAX_FILES: usize = 2000;

/// The longest name.
const MAX_NAME: usize = 255;

/// The most files of the folder that are listed.
const MAX_LISTED: usize = 500;

/// A file of the user.
#[derive(Clone, Debug)]
pub(crate) struct StoredFile {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) kind: FileKind,
    /// The cohort that it belongs to, 0 or 1.
    pub(crate) side: usize,
    /// The stimulus that a picture shows; `None` for all.
    pub(crate) stimulus: Option<String>,
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

/// Shows no bytes.
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
    /// The file as an input of the reader, with dropped metadata files.
    pub(crate) fn source(&self, metadata: &[(String, Arc<[u8]>)]) -> Result<Source, ReadError> {
        Ok(match &self.content {
            Content::Memory(_) => {
                let input = self.input()?.with_companions(metadata.to_vec());
                Source::Open(Box::new(input))
            }
            Content::File(path, _) => Source::File(path.clone()),
        })
    }

    /// The file, opened.
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

impl Workspace {
    /// Adds a dropped file. The name is a label and never a path.
    pub(crate) fn add_dropped(&mut self, name: &str, bytes: Vec<u8>) -> Result<u64, Problem> {
        let all: u64 = self.files.iter().map(|it| it.content.size()).sum();
        if all + bytes.len() as u64 > MAX_ALL_BYTES {
            return Err(Problem::new(
                "the dropped files are larger than 2 GB in total",
                "Start “veilpath ui FOLDER”: files in that folder are read from disk.",
            ));
        }
        let name = label(name);
        let bytes: Arc<[u8]> = bytes.into();
        let kind = file_kind(&name, &bytes)?;
        self.add(name, kind, Content::Memory(bytes))
    }

    /// Adds a file of the chosen folder.
    pub(crate) fn add_from_folder(&mut self, name: &str) -> Result<u64, Problem> {
        let path = self.folder_file(name)?;
        let missing = |_| not_in_folder();
        let size = std::fs::metadata(&path).map_err(missing)?.len();
        // Enough to recognise any format; large files stay on disk.
        let start = read_start(&path).map_err(missing)?;
        let kind = match size <= start.len() as u64 {
            true => file_kind(name, &start.into())?,
            false => match file_kind(name, &start.into()) {
                Ok(kind @ (FileKind::Cohort | FileKind::Results | FileKind::Gaze(_))) => kind,
                Ok(_) => FileKind::Unknown,
                Err(error) => return Err(error.into()),
            },
        };
        self.add(label(name), kind, Content::File(path, size))
    }

    fn add(&mut self, name: String, kind: FileKind, content: Content) -> Result<u64, Problem> {
        if self.files.len() >= MAX_FILES {
            return Err(Problem::new("there are too many files", ""));
        }
        let id = self.next_id;
        self.next_id += 1;
        self.files.push(StoredFile {
            id,
            name,
            kind,
            side: 0,
            stimulus: None,
            content,
        });
        Ok(id)
    }

    /// The path of a file of the folder. Names cannot leave it, and neither can links.
    fn folder_file(&self, name: &str) -> Result<PathBuf, Problem> {
        let folder = self.folder.as_ref().ok_or_else(not_in_folder)?;
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
}

/// The names of the files in a folder.
pub(crate) fn in_folder(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let names = entries.flatten().filter_map(|entry| {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let name = entry.file_name().into_string().ok()?;
        (is_file && !name.starts_with('.')).then_some(name)
    });
    let mut names: Vec<String> = names.take(MAX_LISTED).collect();
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

/// A name without folders and control characters, of bounded length.
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
        let mut workspace = Workspace::new(Some(folder.clone()), None);
        assert!(workspace.add_from_folder("a.csv").is_ok());
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
            assert!(workspace.add_from_folder(name).is_err(), "{name}");
        }
        assert_eq!(in_folder(&folder), ["a.csv"], "links are not listed");
        let mut without = Workspace::new(None, None);
        assert!(without.add_from_folder("a.csv").is_err());
    }
}
