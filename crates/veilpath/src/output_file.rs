//! Output files: written completely or not at all, and never over a file that must be kept.

use crate::policy_document::TITLE;
use crate::{Error, temporary_file};
use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use veilpath_encode::cohort_file;
use veilpath_report::result_file::ResultFormat;
use veilpath_report::{csv, table};

/// How many bytes of an old file are read to recognise it.
const START: u64 = 512;

/// The longest chain of links, as on Linux.
const MAX_LINKS: u32 = 40;

/// A file that appears under its name only when it is complete: an interrupted run leaves an existing file as it was.
#[derive(Debug)]
pub struct OutputFile {
    /// The name that the user gave, for messages.
    name: PathBuf,
    target: Target,
}

/// Why a file is not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutputConflict {
    /// It is a folder.
    #[error("this is a folder")]
    Folder,
    /// It is one of the input files.
    #[error("this input file would be overwritten")]
    Input,
    /// It is write-protected.
    #[error("this file is write-protected")]
    ReadOnly,
    /// Its folder does not exist.
    #[error("there is no folder {}", .0.display())]
    NoFolder(PathBuf),
    /// Another output of the same job goes there.
    #[error("two outputs would go to this file")]
    SameOutput,
    /// There is a file with other contents, perhaps somebody's recording.
    #[error("this file exists and is not {0}")]
    OtherContents(Contents),
}

/// What a job writes. A file with other contents is not replaced, unless the caller says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// A cohort of scanpaths.
    Cohort,
    /// A table of synthetic fixations, which cannot be told from a real one.
    Fixations,
    /// The results of a comparison.
    Results,
    /// An HTML page.
    Page,
    /// A document about a plan, as Markdown.
    Document,
    /// An SVG picture.
    Svg,
    /// A PNG picture.
    Png,
}

impl Contents {
    /// Whether a file that starts like this has these contents.
    fn starts(self, start: &[u8]) -> bool {
        let text = String::from_utf8_lossy(start);
        let text = text.trim_start_matches('\u{feff}');
        let first_line = text.lines().next().unwrap_or_default();
        match self {
            Contents::Cohort => text.starts_with(cohort_file::MAGIC),
            Contents::Fixations => false,
            Contents::Results => {
                ResultFormat::of_start(text).is_some()
                    || table::is_first_line(first_line)
                    || first_line == csv::ANSWER_COLUMNS.join(",")
            }
            Contents::Page => first_line
                .to_ascii_lowercase()
                .starts_with("<!doctype html"),
            Contents::Document => first_line.starts_with(&format!("# {TITLE}")),
            Contents::Svg => text.starts_with("<svg"),
            Contents::Png => start.starts_with(b"\x89PNG\r\n"),
        }
    }
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Contents::Cohort => "a cohort",
            Contents::Fixations => "recognisable as synthetic",
            Contents::Results => "a result file",
            Contents::Page => "a page",
            Contents::Document => "a document about a plan",
            Contents::Svg => "an SVG picture",
            Contents::Png => "a PNG picture",
        })
    }
}

#[derive(Debug)]
enum Target {
    /// A temporary file that is moved to its place at the end.
    Moved {
        temporary: NamedTempFile,
        place: PathBuf,
    },
    /// A pipe, a device or an open descriptor, written directly. Moving a file to its place would replace it, `/dev/null` included.
    Direct(File),
}

impl OutputFile {
    /// Opens a file for these contents. One that exists and has other contents is replaced only with `replace`.
    pub fn create_for(
        contents: Contents,
        path: &Path,
        inputs: &[&Path],
        replace: bool,
    ) -> Result<Self, Error> {
        let file = Self::create(path, inputs)?;
        if replace || file.is_direct() {
            return Ok(file);
        }
        let mut start = Vec::new();
        match File::open(path).and_then(|file| file.take(START).read_to_end(&mut start)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(file),
            Ok(_) if start.is_empty() || contents.starts(&start) => Ok(file),
            // A file that cannot be read belongs to another user.
            Ok(_) | Err(_) => conflict(path, OutputConflict::OtherContents(contents)),
        }
    }

    /// Opens a temporary file next to the final one. `inputs` are the input files: none of them may be overwritten.
    pub fn create(path: &Path, inputs: &[&Path]) -> Result<Self, Error> {
        let old = std::fs::metadata(path).ok();
        if old.as_ref().is_some_and(Metadata::is_dir) {
            return conflict(path, OutputConflict::Folder);
        }
        let name = path.to_path_buf();
        let place = follow_links(path);
        if old.as_ref().is_some_and(|old| !old.is_file()) || is_descriptor(&place) {
            // Appending is what `>>` asks for, and after `>` the file is empty.
            let direct = OpenOptions::new().append(true).open(path);
            return Ok(Self {
                target: Target::Direct(direct.map_err(|error| failed(path, error))?),
                name,
            });
        }
        if inputs.iter().any(|input| is_same_file(input, path)) {
            return conflict(path, OutputConflict::Input);
        }
        if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
            return conflict(path, OutputConflict::ReadOnly);
        }
        Ok(Self {
            target: Target::Moved {
                temporary: temporary(folder_of(&place), path, old.as_ref())?,
                place,
            },
            name,
        })
    }

    /// Whether it is a pipe or a device.
    pub fn is_direct(&self) -> bool {
        matches!(self.target, Target::Direct(_))
    }

    /// Writes the content and moves the file to its place.
    pub fn write(
        self,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        let failed = |error: io::Error| failed(&self.name, error);
        let fill = |file: &mut dyn Write| {
            let mut out = BufWriter::new(file);
            content(&mut out).and_then(|()| out.flush())
        };
        match self.target {
            Target::Direct(mut file) => fill(&mut file).map_err(failed),
            Target::Moved {
                mut temporary,
                place,
            } => {
                fill(&mut temporary).map_err(failed)?;
                temporary.as_file().sync_all().map_err(failed)?;
                temporary
                    .persist(&place)
                    .map_err(|error| failed(error.error))?;
                Ok(())
            }
        }
    }
}

/// Whether there is a file that is not empty: without results for this side, it is kept.
pub fn has_content(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.len() > 0)
}

/// Refuses two outputs of one job that lead to the same file.
pub fn refuse_same_output(paths: &[&Path]) -> Result<(), Error> {
    for (index, path) in paths.iter().enumerate() {
        if paths[..index].iter().any(|other| is_same_file(other, path)) {
            return conflict(path, OutputConflict::SameOutput);
        }
    }
    Ok(())
}

/// Whether two paths lead to the same file, even if it does not exist yet.
fn is_same_file(a: &Path, b: &Path) -> bool {
    let resolved = |path: &Path| {
        let whole = std::fs::canonicalize(path).ok();
        whole.or_else(|| {
            let path = follow_links(path);
            let folder = std::fs::canonicalize(folder_of(&path)).ok()?;
            Some(folder.join(path.file_name()?))
        })
    };
    a == b || resolved(a).is_some_and(|a| resolved(b).is_some_and(|b| a == b))
}

/// The file that a link leads to, even if it does not exist yet: the link is kept. A link to an open descriptor of a process
/// is not followed.
fn follow_links(path: &Path) -> PathBuf {
    let mut place = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&place) {
            Ok(target) if !is_descriptor(&place) => place = folder_of(&place).join(target),
            _ => break,
        }
    }
    place
}

/// Whether a path is an open descriptor, as `/dev/stdout` is: replacing the file behind it would break `>>`.
fn is_descriptor(path: &Path) -> bool {
    cfg!(unix)
        && std::fs::canonicalize(folder_of(path))
            .is_ok_and(|folder| folder.starts_with("/proc") || folder == Path::new("/dev/fd"))
}

fn conflict<T>(path: &Path, conflict: OutputConflict) -> Result<T, Error> {
    let path = path.to_path_buf();
    Err(Error::Output { path, conflict })
}

fn failed(path: &Path, source: io::Error) -> Error {
    let path = path.to_path_buf();
    Error::Write { path, source }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn temporary(folder: &Path, name: &Path, old: Option<&Metadata>) -> Result<NamedTempFile, Error> {
    if !folder.is_dir() {
        return conflict(name, OutputConflict::NoFolder(folder.to_path_buf()));
    }
    #[cfg(unix)]
    let permissions = {
        use std::os::unix::fs::PermissionsExt;
        // A private file stays private; a new file follows the user's umask.
        let mode = old.map_or(0o666, |old| old.permissions().mode() & 0o777);
        Some(std::fs::Permissions::from_mode(mode))
    };
    #[cfg(not(unix))]
    let permissions = {
        let _ = old;
        None
    };
    temporary_file::create(folder, permissions).map_err(|error| failed(name, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recording or a note under the name of the result is not overwritten; an old result of the same kind is.
    #[test]
    fn files_with_other_contents_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p2.csv");
        let cohort = "# veilpath cohort 1\n";
        let table = " a   b   stimulus  score\n p1  q1  cows      1\n";
        let recording = "x,y,duration\n1,2,3\n";
        for (contents, ours, others) in [
            (Contents::Cohort, vec![cohort], vec![recording, table]),
            (
                Contents::Results,
                vec!["a,b,stimulus,score,similarity\n", table],
                vec![recording, cohort, "a note\n", "{\"my\": 1}"],
            ),
            (Contents::Page, vec!["<!DOCTYPE html><html>"], vec![cohort]),
            (Contents::Fixations, vec![], vec![recording]),
        ] {
            let create =
                |replace| OutputFile::create_for(contents, &path, &[], replace).map(|_| ());
            let _ = std::fs::remove_file(&path);
            assert!(create(false).is_ok());
            std::fs::write(&path, "").unwrap();
            assert!(create(false).is_ok());
            for old in ours {
                std::fs::write(&path, old).unwrap();
                assert!(create(false).is_ok(), "{old}");
            }
            for old in others {
                std::fs::write(&path, old).unwrap();
                let refused = create(false).unwrap_err();
                let Error::Output { conflict, .. } = refused else {
                    panic!("{refused}");
                };
                assert_eq!(conflict, OutputConflict::OtherContents(contents), "{old}");
                assert!(create(true).is_ok());
            }
        }
    }
}
