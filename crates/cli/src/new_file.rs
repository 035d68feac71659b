//! Files that are written: complete or not at all, and never in the place of something that is not ours to replace.

use crate::dash;
use crate::failure::Failure;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file that appears under its name only when it is complete: an interrupted run leaves the old one as it was.
pub(crate) struct NewFile {
    /// The name that the user gave, for messages.
    name: PathBuf,
    target: Target,
}

enum Target {
    /// A temporary file that moves to its place in the end.
    Moved {
        temporary: NamedTempFile,
        place: PathBuf,
    },
    /// A pipe or a device: it is written to as it is. Moving a file to its place would replace it, `/dev/null` included.
    Direct(File),
}

impl NewFile {
    /// Whether it is a pipe or a device.
    pub(crate) fn is_direct(&self) -> bool {
        matches!(self.target, Target::Direct(_))
    }

    /// Opens a temporary file beside the final place. `inputs` are the files that are read: to overwrite a recording by
    /// its scanpaths would lose it.
    pub(crate) fn create(path: &Path, inputs: &[&Path]) -> Result<Self, Failure> {
        dash::refuse_as_output(path)?;
        let old = std::fs::metadata(path).ok();
        if old.as_ref().is_some_and(Metadata::is_dir) {
            return Err(Failure::input(format!(
                "{}: this is a folder; name a file in it",
                path.display()
            )));
        }
        let name = path.to_path_buf();
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let direct = OpenOptions::new().write(true).open(path);
            return Ok(Self {
                target: Target::Direct(direct.map_err(|error| Failure::writing(path, &error))?),
                name,
            });
        }
        if inputs.iter().any(|input| same_place(input, path)) {
            return Err(Failure::input(format!(
                "{}: this file is read and would be overwritten\n  choose another name for the result",
                path.display()
            )));
        }
        if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
            return Err(Failure::input(format!(
                "{}: this file is write-protected\n  choose another name, or remove the protection",
                path.display()
            )));
        }
        // Behind a link, the file that it names is replaced and not the link.
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

    /// Writes the content and moves the file to its place.
    pub(crate) fn write(
        self,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::writing(&self.name, &error);
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

/// Whether two paths lead to one place, even where nothing is there yet.
pub(crate) fn same_place(a: &Path, b: &Path) -> bool {
    let resolved = |path: &Path| {
        let whole = std::fs::canonicalize(path).ok();
        whole.or_else(|| {
            let folder = std::fs::canonicalize(folder_of(path)).ok()?;
            Some(folder.join(path.file_name()?))
        })
    };
    a == b || resolved(a).is_some_and(|a| resolved(b).is_some_and(|b| a == b))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn temporary(folder: &Path, name: &Path, old: Option<&Metadata>) -> Result<NamedTempFile, Failure> {
    if !folder.is_dir() {
        return Err(Failure::input(format!(
            "{}: there is no folder {}\n  make it first, or choose another place",
            name.display(),
            folder.display()
        )));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".veilpath-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A file that nobody else may read stays so; for a new one the user's umask decides, as for any.
        let mode = old.map_or(0o666, |old| old.permissions().mode() & 0o777);
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = old;
    builder
        .tempfile_in(folder)
        .map_err(|error| Failure::writing(name, &error))
}
