//! Output files, which are written completely or not at all, and never replace a file that must be kept.

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

/// The number of bytes to read from an existing file to recognise it.
const PREFIX_BYTES: u64 = 512;

/// The longest chain of symbolic links, as on Linux.
const MAX_LINKS: u32 = 40;

/// A file that appears under its name only when it is complete. An interrupted run leaves an existing file unchanged.
#[derive(Debug)]
pub struct OutputFile {
    /// The name as the user gave it, for messages.
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
    /// It is a table, and its name ends as if it had another format.
    #[error("a table is not written as .{0}")]
    TableExtension(String),
    /// A file with other contents exists, perhaps somebody's recording.
    #[error("this file exists and {}", .0.doubt())]
    OtherContents(Contents),
}

/// What a job writes. An existing file with other contents is not replaced unless the caller requests it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// A cohort of scanpaths.
    Cohort,
    /// A table of synthetic fixations, which looks the same as a real one.
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
    fn matches_start(self, start: &[u8]) -> bool {
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

impl Contents {
    /// Why an existing file might have to be kept. Synthetic fixations look like real ones, so it may be either.
    fn doubt(self) -> String {
        match self {
            Contents::Fixations => "may be a real recording".into(),
            contents => format!("is not {contents}"),
        }
    }
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Contents::Cohort => "a cohort",
            Contents::Fixations => "a table of synthetic fixations",
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
    /// A temporary file that is moved into place at the end.
    Moved {
        temporary: NamedTempFile,
        destination: PathBuf,
    },
    /// A pipe, a device or an open descriptor, written directly. Moving a file into its place would replace it, even
    /// `/dev/null`.
    Direct(File),
}

impl OutputFile {
    /// Opens a file for these contents. An existing file with other contents is replaced only if `replace` is set.
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
        match File::open(path).and_then(|file| file.take(PREFIX_BYTES).read_to_end(&mut start)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(file),
            Ok(_) if start.is_empty() || contents.matches_start(&start) => Ok(file),
            // A file that cannot be read may be anything, so it is kept.
            Ok(_) | Err(_) => conflict(path, OutputConflict::OtherContents(contents)),
        }
    }

    /// Opens a temporary file next to the final one. `inputs` are the input files, none of which may be overwritten.
    pub fn create(path: &Path, inputs: &[&Path]) -> Result<Self, Error> {
        let old = std::fs::metadata(path).ok();
        if old.as_ref().is_some_and(Metadata::is_dir) {
            return conflict(path, OutputConflict::Folder);
        }
        let name = path.to_path_buf();
        let destination = follow_links(path);
        if old.as_ref().is_some_and(|old| !old.is_file()) || is_descriptor(&destination) {
            // Append: `>>` requires it, and after `>` the file is empty, so it makes no difference.
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
                temporary: temporary(folder_of(&destination), path, old.as_ref())?,
                destination,
            },
            name,
        })
    }

    /// Whether it is a pipe, a device or an open descriptor.
    pub fn is_direct(&self) -> bool {
        matches!(self.target, Target::Direct(_))
    }

    /// Refuses a name for a table that ends as if the file had another format.
    pub fn check_table_name(&self) -> Result<(), Error> {
        let Some(extension) = self.name.extension().filter(|_| !self.is_direct()) else {
            return Ok(());
        };
        let is_known = |known: &str| extension.eq_ignore_ascii_case(known);
        match ["csv", "txt"].iter().any(|known| is_known(known)) {
            true => Ok(()),
            false => {
                let extension = extension.display().to_string();
                conflict(&self.name, OutputConflict::TableExtension(extension))
            }
        }
    }

    /// Writes the content and moves the file into place.
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
                destination,
            } => {
                fill(&mut temporary).map_err(failed)?;
                temporary.as_file().sync_all().map_err(failed)?;
                temporary
                    .persist(&destination)
                    .map_err(|error| failed(error.error))?;
                Ok(())
            }
        }
    }
}

/// Whether a file with contents exists, which a caller keeps if its side gets no results.
pub fn has_content(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.len() > 0)
}

/// Rejects two outputs of one job that lead to the same file.
pub fn check_distinct_outputs(paths: &[&Path]) -> Result<(), Error> {
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

/// The file that a link leads to, even if it does not exist yet, so that the link itself is kept. A link to an open
/// descriptor of a process is not followed.
fn follow_links(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&target) {
            Ok(next) if !is_descriptor(&target) => target = folder_of(&target).join(next),
            _ => break,
        }
    }
    target
}

/// Whether a path is an open descriptor, such as `/dev/stdout`. Replacing the file behind it would break `>>`.
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
        // A private file stays private; a new file follows the umask.
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

    /// A recording or a note under the result's name is not overwritten; an old result of the same kind is.
    #[test]
    fn files_with_other_contents_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p2.csv");
        let cohort = "# veilpath cohort 1\n";
        let table = " a   b   stimulus  score\n p1  q1  cows      1\n";
        let named = " a: clinic  b: university  stimulus  score\n p1         q1             cows          1\n";
        let recording = "x,y,duration\n1,2,3\n";
        for (contents, ours, others) in [
            (Contents::Cohort, vec![cohort], vec![recording, table]),
            (
                Contents::Results,
                vec!["a,b,stimulus,score,similarity\n", table, named],
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
                let text = match contents {
                    Contents::Fixations => "this file exists and may be a real recording".into(),
                    other => format!("this file exists and is not {other}"),
                };
                assert_eq!(conflict.to_string(), text);
            }
        }
    }
}
