//! Output files: written completely or not at all, and never over a file that must be kept.

use crate::Error;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

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
    /// It exists, and Veilpath did not write it.
    #[error("this file exists and was not written by Veilpath")]
    Foreign,
}

#[derive(Debug)]
enum Target {
    /// A temporary file that is moved to its place at the end.
    Moved {
        temporary: NamedTempFile,
        place: PathBuf,
    },
    /// A pipe or a device, written directly. Moving a file to its place would replace it, `/dev/null` included.
    Direct(File),
}

impl OutputFile {
    /// Opens a temporary file next to the final one. `inputs` are the input files: none of them may be overwritten.
    pub fn create(path: &Path, inputs: &[&Path]) -> Result<Self, Error> {
        let old = std::fs::metadata(path).ok();
        if old.as_ref().is_some_and(Metadata::is_dir) {
            return conflict(path, OutputConflict::Folder);
        }
        let name = path.to_path_buf();
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let direct = OpenOptions::new().write(true).open(path);
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
        // A link is kept: the file that it points to is replaced.
        let place = match &old {
            Some(_) => std::fs::canonicalize(path).unwrap_or_else(|_| name.clone()),
            None => name.clone(),
        };
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
            let folder = std::fs::canonicalize(folder_of(path)).ok()?;
            Some(folder.join(path.file_name()?))
        })
    };
    a == b || resolved(a).is_some_and(|a| resolved(b).is_some_and(|b| a == b))
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
    let mut builder = tempfile::Builder::new();
    builder.prefix(".veilpath-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A private file stays private; a new file follows the user's umask.
        let mode = old.map_or(0o666, |old| old.permissions().mode() & 0o777);
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = old;
    builder
        .tempfile_in(folder)
        .map_err(|error| failed(name, error))
}
