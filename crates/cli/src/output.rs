//! The output of results: a file, or standard output.
//!
//! With `-o FILE` the results go to the file, and a summary is printed. Otherwise they go to standard output: all rows into
//! a pipe, the first rows onto a terminal. `-o -` prints all rows.

use crate::destination::{Destination, PREVIEW_ROWS, how_to_get_all};
use crate::failure::Failure;
use crate::inputs::is_stdout;
use crate::{hints, messages};
use clap::{Args, ValueEnum};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use veilpath::{
    Contents, Listing, MAX_TEXT_BYTES, Outcome, OutcomeFormat, OutputFile, has_content, table,
    units, write_outcome,
};

/// The formats of results on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A human-readable table
    Table,
    /// One row per pair: a, b, stimulus and the measures of the pair; for group answers, one row per number
    Csv,
    /// One object with the plan, the results, the cost and what was revealed
    Json,
}

/// The arguments about output.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArgs {
    /// The format of the results [default: from the extension of the output file, else table]
    #[arg(long, value_enum, ignore_case = true, value_name = "FORMAT")]
    format: Option<Format>,

    /// Write the results to this .csv, .json or .txt file (- for standard output)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Replace the file even if it is not a result file
    #[arg(long)]
    pub(crate) force: bool,
}

impl From<Format> for OutcomeFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Table => OutcomeFormat::Table,
            Format::Csv => OutcomeFormat::Csv,
            Format::Json => OutcomeFormat::Json,
        }
    }
}

impl OutputArgs {
    /// The format that the user chose.
    pub(crate) fn format(&self) -> Option<OutcomeFormat> {
        self.format.map(OutcomeFormat::from)
    }

    /// Whether the results go to a file, and not to standard output.
    pub(crate) fn is_file(&self) -> bool {
        self.file().is_some()
    }

    /// Checks before hours of work that the file can be written. `inputs` are the input files, none of which may be
    /// overwritten.
    ///
    /// The file is not created yet, so that a killed run leaves nothing behind. A pipe stays open, because closing it would
    /// end its reader's input.
    pub(crate) fn check(&self, inputs: &[&Path]) -> Result<CheckedOutput, Failure> {
        let file = self.open_file(inputs)?;
        Ok(CheckedOutput(file.filter(|(file, _)| file.is_direct())))
    }

    /// Writes the results to the file, if there is one.
    fn write_file(&self, inputs: &[&Path], outcome: &Outcome) -> Result<(), Failure> {
        match self.open_file(inputs)? {
            Some((file, format)) => Ok(file.write(|out| write_outcome(outcome, format, out))?),
            None => Ok(()),
        }
    }

    /// The output file, unless it is standard output.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| !is_stdout(path))
    }

    /// A note if --format and the ending of the file's name disagree.
    fn note_of_extension(&self, path: &Path) -> Option<String> {
        let named = OutcomeFormat::from_extension(path.extension()?)?;
        let format = self.format().filter(|format| *format != named)?;
        Some(format!(
            "{} contains {}, as --format says, although its name ends in .{}",
            path.display(),
            match format {
                OutcomeFormat::Table => "a table with rounded numbers",
                OutcomeFormat::Csv => "CSV",
                OutcomeFormat::Json => "JSON",
            },
            named.extension()
        ))
    }

    fn open_file(&self, inputs: &[&Path]) -> Result<Option<(OutputFile, OutcomeFormat)>, Failure> {
        let Some(path) = self.file() else {
            return Ok(None);
        };
        let file = OutputFile::create_for(Contents::Results, path, inputs, self.force)?;
        let format = self.file_format(path, &file)?;
        Ok(Some((file, format)))
    }

    /// The chosen format, or that of the file's extension. An unknown extension is an error, because a table with rounded
    /// numbers could be mistaken for exact numbers.
    fn file_format(&self, path: &Path, file: &OutputFile) -> Result<OutcomeFormat, Failure> {
        if let Some(format) = self.format() {
            return Ok(format);
        }
        let Some(extension) = path.extension().filter(|_| !file.is_direct()) else {
            return Ok(OutcomeFormat::Table);
        };
        OutcomeFormat::from_extension(extension).ok_or_else(|| {
            Failure::input(format!(
                "{}: results are not written as .{}\n  choose a name that ends in .csv, .json or .txt (a readable table with rounded numbers), or set --format",
                path.display(),
                extension.display()
            ))
        })
    }

    fn print(&self, outcome: &Outcome) -> Result<(), Failure> {
        let stdout = io::stdout().lock();
        let is_terminal = stdout.is_terminal();
        let mut out = BufWriter::new(stdout);
        self.write_rows(outcome, is_terminal, &mut out)
            .and_then(|()| out.flush())
            .map_err(|error| match self.output {
                Some(_) => Failure::named_stdout(&error),
                None => Failure::printing(&error),
            })
    }

    /// Writes all rows; to a terminal only the first rows, unless the user asked for all.
    fn write_rows(
        &self,
        outcome: &Outcome,
        is_terminal: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if is_terminal && self.format.is_none() && self.output.is_none() {
            return preview(outcome, out);
        }
        write_outcome(outcome, self.format().unwrap_or(OutcomeFormat::Table), out)
    }
}

/// Where results went.
pub(crate) enum WrittenTo {
    /// To standard output.
    Printed,
    /// To a file.
    File {
        path: PathBuf,
        /// Whether it has no results, because only the other side gets them.
        withheld: bool,
        /// What may surprise a reader of the file.
        note: Option<String>,
    },
    /// Nowhere: only the other side gets them, and an existing file is unchanged.
    Unchanged(PathBuf),
}

impl WrittenTo {
    /// A message for the user, if there is one.
    pub(crate) fn message(&self) -> Option<String> {
        match self {
            WrittenTo::Printed => None,
            WrittenTo::File {
                path,
                withheld: false,
                ..
            } => Some(format!("results: {}", path.display())),
            WrittenTo::File { path, .. } => Some(format!(
                "{} has no results: only the other side gets them",
                path.display()
            )),
            WrittenTo::Unchanged(path) => Some(format!(
                "{} still has what it had before, such as the results of an earlier comparison; this side gets none of this one",
                path.display()
            )),
        }
    }

    /// The results and their cost. Group answers are included, unless they were printed already.
    pub(crate) fn summary(&self, outcome: &Outcome) -> String {
        let answers = match self {
            WrittenTo::Printed => String::new(),
            WrittenTo::File { .. } | WrittenTo::Unchanged(_) => table::answers(outcome),
        };
        answers + &summary(outcome)
    }

    /// Prints the note and the message.
    pub(crate) fn print(&self) {
        if let WrittenTo::File {
            note: Some(note), ..
        } = self
        {
            messages::note(note);
        }
        if let Some(message) = self.message() {
            messages::info(&format!("{message}\n"));
        }
    }
}

/// The results, what they cost, and what each side learned; with `--verbose` also the size of the computation.
pub(crate) fn summary(outcome: &Outcome) -> String {
    let work = match messages::is_verbose() {
        true => table::work(outcome),
        false => String::new(),
    };
    table::headline(outcome) + &table::details(outcome) + &work + &table::learned(outcome)
}

/// An output that was checked before the work. It holds the pipe or device that was opened, if there is one.
pub(crate) struct CheckedOutput(Option<(OutputFile, OutcomeFormat)>);

impl CheckedOutput {
    /// Writes the results. If the file can no longer be written, they are printed, so that the work is not lost.
    pub(crate) fn write(
        self,
        args: &OutputArgs,
        inputs: &[&Path],
        outcome: &Outcome,
    ) -> Result<WrittenTo, Failure> {
        let Some(path) = args.file() else {
            args.print(outcome)?;
            return Ok(WrittenTo::Printed);
        };
        if outcome.is_withheld() && self.0.is_none() && has_content(path) {
            return Ok(WrittenTo::Unchanged(path.to_path_buf()));
        }
        let written = match self.0 {
            Some((file, format)) => file
                .write(|out| write_outcome(outcome, format, out))
                .map_err(Failure::from),
            None => args.write_file(inputs, outcome),
        };
        if written.is_err() {
            let mut out = BufWriter::new(io::stdout().lock());
            let named = || OutcomeFormat::from_extension(path.extension()?);
            let format = args.format().or_else(named);
            let format = format.unwrap_or(OutcomeFormat::Table);
            let _ = write_outcome(outcome, format, &mut out).and_then(|()| out.flush());
        }
        written.map(|()| WrittenTo::File {
            path: path.to_path_buf(),
            withheld: outcome.is_withheld(),
            note: args.note_of_extension(path),
        })
    }
}

fn preview(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let more = table::write_first(outcome, PREVIEW_ROWS, out)?;
    if more.pairs > 0 {
        let pairs = units::counted(more.pairs as u64, "more pair");
        writeln!(out, "… and {pairs}; {}", how_to_get_all("scores.csv"))
    } else if more.answer_rows > 0 {
        writeln!(out, "{}", how_to_get_all("answers.csv"))
    } else {
        Ok(())
    }
}

/// Parses `FIRST,SECOND`, the names of the two cohorts.
pub(crate) fn names(text: &str) -> Result<[String; 2], String> {
    match text.split(',').map(str::trim).collect::<Vec<_>>()[..] {
        [first, second]
            if [first, second]
                .iter()
                .any(|name| name.len() > MAX_TEXT_BYTES) =>
        {
            Err(format!("a name has at most {MAX_TEXT_BYTES} bytes"))
        }
        [first, second] if !first.is_empty() && !second.is_empty() => {
            Ok([first.to_string(), second.to_string()])
        }
        _ => Err("expected two names separated by a comma, as in clinic,university".into()),
    }
}

/// Prints what could be read from a folder, and fails if it contains damaged files.
pub(crate) fn list<T>(
    listing: &Listing<T>,
    write: impl FnOnce(&[T], &mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    Destination::Stdout.write(|out| write(&listing.entries, out))?;
    match listing.unreadable.len() {
        0 => Ok(()),
        files => {
            let listed = listing.unreadable.iter().map(hints::session_error);
            Err(Failure::input(format!(
                "{} cannot be read, and {} not in the list\n{}",
                units::counted(files as u64, "file"),
                if files == 1 { "is" } else { "are" },
                listed.collect::<Vec<_>>().join("\n")
            )))
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test's helpers may fail the test
mod tests {
    use super::*;
    use veilpath::{
        CompareOptions, Engine, Input, MetricOptions, PlanOptions, RawCohort, compare, plan,
        read_cohort_from,
    };

    /// Participants `p0`, `p1` and so on.
    fn cohort(participants: usize) -> RawCohort {
        let rows: String = (0..participants)
            .map(|number| format!("p{number},AB\n"))
            .collect();
        let text = format!("participant,scanpath\n{rows}");
        read_cohort_from(Input::from_bytes("cohort.csv", text.into_bytes()).unwrap()).unwrap()
    }

    fn outcome(participants: [usize; 2]) -> Outcome {
        let [a, b] = participants.map(cohort);
        let options = PlanOptions::new(Engine::Plain, MetricOptions::default());
        let planned = plan([&a, &b], &options, &()).unwrap();
        compare(&planned, CompareOptions::default(), &()).unwrap()
    }

    #[test]
    fn files_without_results_are_not_called_empty() {
        let written = |withheld| WrittenTo::File {
            path: "scores.json".into(),
            withheld,
            note: None,
        };
        let message = written(true).message().unwrap();
        assert_eq!(
            message,
            "scores.json has no results: only the other side gets them"
        );
        assert_eq!(written(false).message().unwrap(), "results: scores.json");
    }

    #[test]
    fn a_terminal_shows_the_first_rows() {
        let written = |outcome: &Outcome, is_terminal, output: Option<&str>, format| {
            let args = OutputArgs {
                format,
                output: output.map(PathBuf::from),
                force: false,
            };
            let mut out = Vec::new();
            args.write_rows(outcome, is_terminal, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            let rows = text
                .lines()
                .filter(|line| line.trim_start().starts_with('p'))
                .count();
            (rows, text.lines().last().unwrap().to_string())
        };
        let many = outcome([3, 7]);
        let (rows, last) = written(&many, true, None, None);
        assert_eq!(rows, 20);
        assert_eq!(
            last,
            "… and 1 more pair; -o scores.csv writes all to a file, -o - prints all"
        );
        for (is_terminal, output, format) in [
            (false, None, None),
            (true, Some("-"), None),
            (true, None, Some(Format::Csv)),
        ] {
            let (rows, last) = written(&many, is_terminal, output, format);
            assert!(
                rows == 21 && last.trim_start().starts_with('p'),
                "{rows}: {last}"
            );
        }
        let (rows, last) = written(&outcome([4, 5]), true, None, None);
        assert!(
            rows == 20 && last.trim_start().starts_with('p'),
            "{rows}: {last}"
        );
    }
}
