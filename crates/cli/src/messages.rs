//! Everything that the user is told beside the results goes through here, to standard error.
//!
//! `--quiet` and `--verbose` are set once, in `main`, and hold for the whole process.

use anstyle::{AnsiColor, Style};
use clap::Args;
use std::fmt;
use std::io::Write;
use std::sync::OnceLock;

/// How much the user wants to read.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Verbosity {
    /// Print only results and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,

    /// Print more about what is done, and how
    #[arg(short, long, global = true)]
    verbose: bool,
}

static VERBOSITY: OnceLock<Verbosity> = OnceLock::new();

/// Sets how much is printed; the first call counts.
pub(crate) fn set_verbosity(verbosity: Verbosity) {
    let _ = VERBOSITY.set(verbosity);
}

/// Whether only results and errors are wanted.
pub(crate) fn is_quiet() -> bool {
    VERBOSITY.get().is_some_and(|verbosity| verbosity.quiet)
}

/// An error, before the program ends.
pub(crate) fn error(message: &str) {
    labelled("error", AnsiColor::Red, message);
}

/// Something the user should know about the result.
pub(crate) fn note(message: &str) {
    if !is_quiet() {
        labelled("note", AnsiColor::Cyan, message);
    }
}

/// Plain lines.
pub(crate) fn info(text: &str) {
    if !is_quiet() {
        write(format_args!("{text}"));
    }
}

/// Plain lines that only `--verbose` shows.
pub(crate) fn detail(text: &str) {
    if VERBOSITY.get().is_some_and(|verbosity| verbosity.verbose) {
        write(format_args!("{text}"));
    }
}

/// A line for another program, which asked for it.
pub(crate) fn machine_line(text: &str) {
    write(format_args!("{text}\n"));
}

fn labelled(label: &str, color: AnsiColor, message: &str) {
    let style = Style::new().bold().fg_color(Some(color.into()));
    write(format_args!("{style}{label}:{style:#} {message}\n"));
}

/// Where standard error is closed or full nobody reads: that must not end a run that has results to write.
fn write(text: fmt::Arguments<'_>) {
    let _ = anstream::stderr().lock().write_fmt(text);
}
