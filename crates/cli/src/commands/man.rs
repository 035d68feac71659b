//! `veilpath man`: man pages from the same definitions as the help texts.

use crate::args::Cli;
use crate::destination::Destination;
use crate::failure::Failure;
use crate::inputs;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use std::io::{self, Write};
use std::path::PathBuf;
use veilpath::OutputFile;

const EXAMPLES: &str = "\
Examples:
  veilpath man > veilpath.1
  veilpath man --folder man1";

/// The arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArgs {
    /// Write one page per command to this folder, which is created if necessary
    #[arg(long, value_name = "FOLDER", value_parser = inputs::named_place())]
    folder: Option<PathBuf>,
}

/// Prints the main page, or writes all pages.
pub(crate) fn run(args: &ManArgs) -> Result<(), Failure> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = &args.folder else {
        return Destination::Stdout.write(|out| write_page(&command, out));
    };
    std::fs::create_dir_all(folder).map_err(|source| veilpath::Error::Write {
        path: folder.clone(),
        source,
    })?;
    let mut pages = vec![&command];
    while let Some(page) = pages.pop() {
        pages.extend(page.get_subcommands().filter(|sub| !sub.is_hide_set()));
        let name = page.get_display_name().unwrap_or(page.get_name());
        let file = OutputFile::create(&folder.join(format!("{name}.1")), &[])?;
        file.write(|out| write_page(page, out))?;
    }
    Ok(())
}

fn write_page(command: &Command, out: &mut dyn Write) -> io::Result<()> {
    let mut roff = Vec::new();
    Man::new(command.clone())
        .source(concat!("veilpath ", env!("CARGO_PKG_VERSION")))
        .manual("Veilpath Manual")
        .render(&mut roff)?;
    out.write_all(format_sections(&String::from_utf8_lossy(&roff)).as_bytes())
}

/// Turns the text after the options into named sections, separates paragraphs, and keeps line breaks in indented text.
fn format_sections(roff: &str) -> String {
    let mut page = String::new();
    let mut lines = roff.lines().peekable();
    let (mut in_examples, mut is_verbatim) = (false, false);
    while let Some(line) = lines.next() {
        if line.starts_with("  ") != is_verbatim {
            is_verbatim = !is_verbatim;
            page.push_str(if is_verbatim { ".nf\n" } else { ".fi\n" });
        }
        page.push_str(match line {
            ".SH EXTRA" => {
                in_examples = lines.next_if_eq(&"Examples:").is_some();
                if in_examples {
                    ".SH EXAMPLES"
                } else {
                    ".SH NOTES"
                }
            }
            "" if std::mem::take(&mut in_examples) => ".SH NOTES",
            "" => ".PP",
            line => line,
        });
        page.push('\n');
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_and_notes_are_separate_sections() {
        let roff =
            ".SH EXTRA\nExamples:\n  one two\n  three\n\nA note.\n\nAnother.\n.SH VERSION\n1";
        assert_eq!(
            format_sections(roff),
            ".SH EXAMPLES\n.nf\n  one two\n  three\n.fi\n.SH NOTES\nA note.\n.PP\nAnother.\n.SH VERSION\n1\n"
        );
        assert_eq!(
            format_sections(".SH EXTRA\nA note."),
            ".SH NOTES\nA note.\n"
        );
    }
}
