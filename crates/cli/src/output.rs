//! Where results go: standard output, and a file where the user names one.

use crate::failure::Failure;
use crate::new_file::NewFile;
use clap::{Args, ValueEnum};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use veilpath_protocol::Outcome;
use veilpath_report::{csv, json, table};
use veilpath_session::CompletedSession;

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// An aligned table for people
    Table,
    /// a,b,stimulus,score,similarity (with --reveal threshold:T a,b,stimulus,within)
    Csv,
    /// One object with spec, results, cost and revealed
    Json,
}

/// The arguments about output.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArgs {
    /// How to write the results [default: table]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,

    /// Write the results to this file as well (without --format, .csv, .json and .txt tell how)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl Format {
    /// How names of files in this format end.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Format::Table => "txt",
            Format::Csv => "csv",
            Format::Json => "json",
        }
    }
}

impl OutputArgs {
    /// Prepares the file, so that a bad path is noticed before hours of work and not after. `inputs` are the files that
    /// are read: none may be overwritten.
    pub(crate) fn prepare(&self, inputs: &[&Path]) -> Result<Prepared, Failure> {
        Ok(Prepared {
            format: self.format.unwrap_or(Format::Table),
            file: match &self.output {
                None => None,
                Some(path) => {
                    let file = NewFile::create(path, inputs)?;
                    let format = self.file_format(path, &file)?;
                    Some((file, format))
                }
            },
        })
    }

    /// Whether the file can be written, without leaving one behind: a run that is killed must not either. A pipe stays
    /// open, because its reader takes a closed one for the end.
    pub(crate) fn check(&self, inputs: &[&Path]) -> Result<Checked, Failure> {
        let prepared = self.prepare(inputs)?;
        let stays = |(file, _): &(NewFile, Format)| file.is_direct();
        let open = prepared.file.as_ref().is_some_and(stays);
        Ok(Checked(open.then_some(prepared)))
    }

    /// Writes the results to the file alone: where several peers have results, standard output is none's.
    pub(crate) fn write_file(
        &self,
        inputs: &[&Path],
        results: &Results<'_>,
    ) -> Result<(), Failure> {
        match self.prepare(inputs)?.file {
            Some((file, format)) => Ok(file.write(|out| render(format, results, out))?),
            None => Ok(()),
        }
    }

    /// What goes into a file without `--format`, by the end of its name. An end that promises another form is refused: a table for
    /// people in it would be taken for numbers as they are.
    fn file_format(&self, path: &Path, file: &NewFile) -> Result<Format, Failure> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let Some(extension) = path.extension().filter(|_| !file.is_direct()) else {
            return Ok(Format::Table);
        };
        let known = Format::value_variants().iter();
        let mut fitting = known.filter(|format| extension.eq_ignore_ascii_case(format.extension()));
        fitting.next().copied().ok_or_else(|| {
            Failure::input(format!(
                "{}: results are not written as .{}\n  \
                 choose a name that ends in .csv, .json or .txt (a table for people, with rounded numbers), or say how with --format",
                path.display(),
                extension.display()
            ))
        })
    }
}

/// A place for results that was there before the work.
pub(crate) struct Checked(Option<Prepared>);

impl Checked {
    /// Writes the results there.
    pub(crate) fn write(
        self,
        args: &OutputArgs,
        inputs: &[&Path],
        results: &Results<'_>,
    ) -> Result<(), Failure> {
        let prepared = match self.0 {
            Some(prepared) => Ok(prepared),
            None => args.prepare(inputs),
        };
        match prepared {
            Ok(prepared) => prepared.write(results),
            Err(failure) => {
                // The place was there before the work and is gone: the results are printed all the same.
                let without_file = Prepared {
                    format: args.format.unwrap_or(Format::Table),
                    file: None,
                };
                let _ = without_file.write(results);
                Err(failure)
            }
        }
    }
}

/// Output that is ready to be written.
pub(crate) struct Prepared {
    format: Format,
    file: Option<(NewFile, Format)>,
}

impl Prepared {
    /// Writes the results everywhere, the file first: a closed pipe must not cost the results. Nor must a full disk: they are
    /// printed whatever became of the file.
    fn write(self, results: &Results<'_>) -> Result<(), Failure> {
        let filed = match self.file {
            Some((file, format)) => file.write(|out| render(format, results, out)),
            None => Ok(()),
        };
        let mut out = BufWriter::new(io::stdout().lock());
        let printed = render(self.format, results, &mut out);
        filed?;
        printed.map_err(|error| Failure::printing(&error))
    }
}

/// What came out of a comparison.
pub(crate) struct Results<'a> {
    outcome: &'a Outcome,
}

impl<'a> From<&'a Outcome> for Results<'a> {
    fn from(outcome: &'a Outcome) -> Self {
        Self { outcome }
    }
}

impl<'a> From<&'a CompletedSession> for Results<'a> {
    fn from(ended: &'a CompletedSession) -> Self {
        Self {
            outcome: &ended.outcome,
        }
    }
}

fn render(format: Format, results: &Results<'_>, out: &mut dyn Write) -> io::Result<()> {
    let outcome = results.outcome;
    match format {
        Format::Table => table::write(outcome, out),
        Format::Csv => csv::write(outcome, out),
        Format::Json => json::write(outcome, out),
    }
}

/// Where a cohort goes.
pub(crate) enum Destination {
    /// A file.
    File(NewFile),
    /// Standard output.
    Stdout,
}

impl Destination {
    /// Prepares the file where one is named, before the work begins. `inputs` are the files that are read.
    pub(crate) fn prepare(path: Option<&Path>, inputs: &[&Path]) -> Result<Self, Failure> {
        Ok(match path {
            Some(path) => Destination::File(NewFile::create(path, inputs)?),
            None => Destination::Stdout,
        })
    }

    /// Writes the content.
    pub(crate) fn write(
        self,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match self {
            Destination::File(file) => Ok(file.write(content)?),
            Destination::Stdout => {
                let mut out = BufWriter::new(io::stdout().lock());
                content(&mut out)
                    .and_then(|()| out.flush())
                    .map_err(|error| Failure::printing(&error))
            }
        }
    }
}

/// Writes to a file, or to standard output where none is named, what was made from no file.
pub(crate) fn to_file_or_stdout(
    path: Option<&Path>,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    Destination::prepare(path, &[])?.write(content)
}
