//! Where results go: standard output, and a file where the user names one.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use veilpath_protocol::Outcome;
use veilpath_report::{csv, json, table};

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// An aligned table for people
    Table,
    /// a,b,stimulus,score,similarity
    Csv,
    /// One object with spec, results, cost and revealed
    Json,
}

/// The arguments about output.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// How to write the results [default: table]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,

    /// Write the results to this file as well (without --format, .csv and .json tell how)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Say nothing but results and errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl OutputArgs {
    /// Prepares the file, so that a bad path is noticed before hours of work and not after.
    pub(crate) fn prepare(&self) -> Result<Prepared, Failure> {
        Ok(Prepared {
            format: self.format.unwrap_or(Format::Table),
            file: match &self.output {
                None => None,
                Some(path) => Some((NewFile::create(path)?, self.file_format(path))),
            },
        })
    }

    /// Whether the file can be written, without leaving one behind: a run that is killed must not either.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.prepare().map(|_| ())
    }

    fn file_format(&self, path: &Path) -> Format {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match (self.format, extension) {
            (Some(format), _) => format,
            (None, Some("csv")) => Format::Csv,
            (None, Some("json")) => Format::Json,
            (None, _) => Format::Table,
        }
    }
}

/// Output that is ready to be written.
pub(crate) struct Prepared {
    format: Format,
    file: Option<(NewFile, Format)>,
}

impl Prepared {
    /// Writes the results everywhere, the file first: a closed pipe must not cost the results.
    pub(crate) fn write(self, outcome: &Outcome) -> Result<(), Failure> {
        if let Some((file, format)) = self.file {
            file.write(|out| render(format, outcome, out))?;
        }
        let mut out = BufWriter::new(io::stdout().lock());
        render(self.format, outcome, &mut out).map_err(|error| Failure::printing(&error))
    }
}

fn render(format: Format, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Table => table::write(outcome, out),
        Format::Csv => csv::write(outcome, out),
        Format::Json => json::write(outcome, out),
    }
}

/// A file that appears under its name only when it is complete: an interrupted run leaves the old one as it was.
pub(crate) struct NewFile {
    path: PathBuf,
    temporary: NamedTempFile,
}

impl NewFile {
    /// Opens a temporary file beside the final place.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if path.is_dir() {
            return Err(Failure::input(format!(
                "{}: this is a folder; name a file in it",
                path.display()
            )));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".veilpath-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As for any new file: the user's umask decides.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let temporary = builder
            .tempfile_in(folder)
            .map_err(|error| Failure::writing(path, &error))?;
        Ok(Self {
            path: path.to_path_buf(),
            temporary,
        })
    }

    /// Writes the content and moves the file to its place.
    pub(crate) fn write(
        self,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::writing(&self.path, &error);
        let mut out = BufWriter::new(&self.temporary);
        content(&mut out)
            .and_then(|()| out.flush())
            .map_err(failed)?;
        drop(out);
        self.temporary.as_file().sync_all().map_err(failed)?;
        self.temporary
            .persist(&self.path)
            .map_err(|error| Failure::writing(&self.path, &error.error))?;
        Ok(())
    }
}

/// Writes to a file, or to standard output where none is named.
pub(crate) fn to_file_or_stdout(
    path: Option<&Path>,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    match path {
        Some(path) => NewFile::create(path)?.write(content),
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            content(&mut out)
                .and_then(|()| out.flush())
                .map_err(|error| Failure::printing(&error))
        }
    }
}
