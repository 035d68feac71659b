//! Where a cohort, a page or a picture goes: to a file, or to standard output.

use crate::failure::Failure;
use crate::inputs::is_stdout;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use veilpath::{Contents, OutputFile, units};

/// Rows that a terminal shows.
pub(crate) const PREVIEW_ROWS: usize = 20;

/// Where a cohort, a page or a picture goes.
pub(crate) enum Destination {
    /// A file.
    File(OutputFile),
    /// Standard output, which the user named, as in `-o -`.
    NamedStdout,
    /// Standard output, because nothing else was named.
    Stdout,
}

impl Destination {
    /// Prepares the file, if one is named, before the work begins. `inputs` are the input files. A file with other contents
    /// is replaced only with `force`.
    pub(crate) fn prepare(
        contents: Contents,
        path: Option<&Path>,
        inputs: &[&Path],
        force: bool,
    ) -> Result<Self, Failure> {
        Ok(match path {
            None => Destination::Stdout,
            Some(path) if is_stdout(path) => Destination::NamedStdout,
            Some(path) => {
                let file = OutputFile::create_for(contents, path, inputs, force)?;
                if let Contents::Cohort | Contents::Fixations = contents {
                    file.check_table_name()?;
                }
                Destination::File(file)
            }
        })
    }

    /// Writes the content.
    pub(crate) fn write(
        self,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match self {
            Destination::File(file) => Ok(file.write(content)?),
            Destination::NamedStdout => {
                print(content).map_err(|error| Failure::named_stdout(&error))
            }
            Destination::Stdout => print(content).map_err(|error| Failure::printing(&error)),
        }
    }

    /// Writes a table: all of it to a file or a pipe, and only its first lines to a terminal without `-o`. `example`
    /// is a name for the file.
    pub(crate) fn write_table(
        self,
        example: &str,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match self {
            Destination::Stdout if io::stdout().is_terminal() => {
                self.write(|out| preview(content, example, out))
            }
            _ => self.write(content),
        }
    }
}

/// Writes the first lines of some content, and how many more there are. `example` is a name for the file.
fn preview(
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    example: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut lines = FirstLines {
        out,
        left: PREVIEW_ROWS,
        more: 0,
    };
    content(&mut lines)?;
    match lines.more {
        0 => Ok(()),
        more => {
            let more = units::counted(more, "more line");
            writeln!(out, "… and {more}; {}", how_to_get_all(example))
        }
    }
}

/// Says how to get everything that a preview leaves out. `example` is a name for the file.
pub(crate) fn how_to_get_all(example: &str) -> String {
    format!("-o {example} writes all to a file, -o - prints all")
}

/// Passes on the first lines, and counts the others.
struct FirstLines<'a> {
    out: &'a mut dyn Write,
    /// Lines that may still be written.
    left: usize,
    /// Lines that were not written.
    more: u64,
}

impl Write for FirstLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let ends = part.ends_with(b"\n");
            match self.left {
                0 => self.more += u64::from(ends),
                _ => {
                    self.out.write_all(part)?;
                    self.left -= usize::from(ends);
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn print(content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    content(&mut out)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_counts_the_other_lines() {
        let written = |lines: usize| {
            let mut out = Vec::new();
            // Lines arrive in pieces.
            let content = |out: &mut dyn Write| {
                (0..lines).try_for_each(|line| {
                    write!(out, "{line}")?;
                    out.write_all(b",x\n")
                })
            };
            preview(content, "cohort.csv", &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            (
                text.lines().count(),
                text.lines().last().unwrap().to_string(),
            )
        };
        assert_eq!(written(20), (20, "19,x".to_string()));
        let more = "… and 3 more lines; -o cohort.csv writes all to a file, -o - prints all";
        assert_eq!(written(23), (21, more.to_string()));
    }
}
