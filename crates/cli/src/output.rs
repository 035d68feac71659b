//! Where results go: a file that the user names, or standard output.
//!
//! With `-o FILE` the results go to the file, and the user reads a summary. Without it a pipe gets everything, and a
//! terminal the first rows. `-o -` is standard output.

use crate::failure::Failure;
use crate::inputs::is_dash;
use crate::messages;
use clap::{Args, ValueEnum};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use veilpath::report::{OutcomeFormat, write_outcome};
use veilpath::{Outcome, OutputFile, table};

/// Rows that a terminal shows.
const PREVIEW_ROWS: usize = 20;

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// An aligned table for people
    Table,
    /// a,b,stimulus,score,similarity (with --reveal threshold:T a,b,stimulus,within)
    Csv,
    /// One object with the plan, the results, the cost and what was revealed
    Json,
}

/// The arguments about output.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArgs {
    /// How to write the results [default: by the end of the file's name; else table]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,

    /// Write the results to this file, .csv, .json or .txt (- for standard output)
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
    /// Whether the file can be written, so that a bad path is noticed before hours of work and not after. `inputs` are the
    /// files that are read: none may be overwritten.
    ///
    /// No file is left behind: a run that is killed must not leave one either. A pipe stays open, because its reader takes
    /// a closed one for the end.
    pub(crate) fn check(&self, inputs: &[&Path]) -> Result<Checked, Failure> {
        let file = self.open_file(inputs)?;
        Ok(Checked(file.filter(|(file, _)| file.is_direct())))
    }

    /// Writes the results to the file only: where several peers have results, standard output belongs to none.
    pub(crate) fn write_file(&self, inputs: &[&Path], outcome: &Outcome) -> Result<(), Failure> {
        match self.open_file(inputs)? {
            Some((file, format)) => Ok(file.write(|out| render(format, outcome, out))?),
            None => Ok(()),
        }
    }

    /// The file, where the results go to one.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| !is_dash(path))
    }

    fn open_file(&self, inputs: &[&Path]) -> Result<Option<(OutputFile, Format)>, Failure> {
        let Some(path) = self.file() else {
            return Ok(None);
        };
        let file = OutputFile::create(path, inputs)?;
        let format = self.file_format(path, &file)?;
        Ok(Some((file, format)))
    }

    /// The format of a file without `--format`, by the end of its name. An end that promises another format is refused: a
    /// table for people in it would be taken for exact numbers.
    fn file_format(&self, path: &Path, file: &OutputFile) -> Result<Format, Failure> {
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

    /// Prints everything, or on a terminal the first rows, unless the user asked for all.
    fn print(&self, outcome: &Outcome) -> Result<(), Failure> {
        let stdout = io::stdout().lock();
        let all = self.format.is_some() || self.output.is_some() || !stdout.is_terminal();
        let mut out = BufWriter::new(stdout);
        let printed = if all {
            render(self.format.unwrap_or(Format::Table), outcome, &mut out)
        } else {
            preview(outcome, &mut out)
        };
        printed
            .and_then(|()| out.flush())
            .map_err(|error| Failure::printing(&error))
    }
}

/// A place for results that was there before the work.
pub(crate) struct Checked(Option<(OutputFile, Format)>);

impl Checked {
    /// Writes the results there. Where a file cannot be written any more they are printed: the work must not be lost.
    pub(crate) fn write(
        self,
        args: &OutputArgs,
        inputs: &[&Path],
        outcome: &Outcome,
    ) -> Result<(), Failure> {
        let Some(path) = args.file() else {
            return args.print(outcome);
        };
        let written = match self.0 {
            Some((file, format)) => file
                .write(|out| render(format, outcome, out))
                .map_err(Failure::from),
            None => args.write_file(inputs, outcome),
        };
        match &written {
            Ok(()) => messages::info(&format!("results: {}\n", path.display())),
            Err(_) => {
                let mut out = BufWriter::new(io::stdout().lock());
                let format = args.format.unwrap_or(Format::Table);
                let _ = render(format, outcome, &mut out).and_then(|()| out.flush());
            }
        }
        written
    }
}

/// Writes results in this format.
pub(crate) fn render(format: Format, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let format = match format {
        Format::Table => OutcomeFormat::Table,
        Format::Csv => OutcomeFormat::Csv,
        Format::Json => OutcomeFormat::Json,
    };
    write_outcome(outcome, format, out)
}

fn preview(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let more = table::write_first(outcome, PREVIEW_ROWS, out)?;
    if more > 0 {
        writeln!(
            out,
            "… and {more} more pairs; -o scores.csv writes all of them to a file, -o - prints them"
        )?;
    }
    Ok(())
}

/// `FIRST,SECOND`: what to call the two cohorts.
pub(crate) fn names(text: &str) -> Result<[String; 2], String> {
    match text.split(',').map(str::trim).collect::<Vec<_>>()[..] {
        [first, second] if !first.is_empty() && !second.is_empty() => {
            Ok([first.to_string(), second.to_string()])
        }
        _ => Err("expected two names with a comma between them, as in clinic,university".into()),
    }
}

/// Where a cohort or a page goes.
pub(crate) enum Destination {
    /// A file.
    File(OutputFile),
    /// Standard output.
    Stdout,
}

impl Destination {
    /// Prepares the file where one is named, before the work begins. `inputs` are the files that are read.
    pub(crate) fn prepare(path: Option<&Path>, inputs: &[&Path]) -> Result<Self, Failure> {
        Ok(match path.filter(|path| !is_dash(path)) {
            Some(path) => Destination::File(OutputFile::create(path, inputs)?),
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
