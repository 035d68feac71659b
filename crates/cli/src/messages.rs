//! Prints everything except results, to standard error.
//!
//! Names in messages may come from files and from other institutions. Characters that could control the terminal are
//! replaced in text and escaped in JSON.
//!
//! `main` sets `--quiet` and `--verbose` once, for the whole process.

use anstyle::{AnsiColor, Style};
use clap::Args;
use std::fmt;
use std::io::Write;
use std::sync::OnceLock;
use veilpath::text::{json_escaped, printable_lines};

/// How much is printed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Verbosity {
    /// Print only results and errors
    #[arg(
        short,
        long,
        global = true,
        display_order = 100,
        conflicts_with = "verbose"
    )]
    quiet: bool,

    /// Print more details
    #[arg(short, long, global = true, display_order = 100)]
    verbose: bool,
}

impl Verbosity {
    /// Whether both less and more than usual are wanted.
    pub(crate) fn is_contradictory(self) -> bool {
        self.quiet && self.verbose
    }
}

static VERBOSITY: OnceLock<Verbosity> = OnceLock::new();

/// Sets how much is printed. Only the first call has an effect.
pub(crate) fn set_verbosity(verbosity: Verbosity) {
    let _ = VERBOSITY.set(verbosity);
}

/// Whether only results and errors are wanted.
pub(crate) fn is_quiet() -> bool {
    VERBOSITY.get().is_some_and(|verbosity| verbosity.quiet)
}

/// Whether details are wanted.
pub(crate) fn is_verbose() -> bool {
    VERBOSITY.get().is_some_and(|verbosity| verbosity.verbose)
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
        write(format_args!("{}", printable_lines(text)));
    }
}

/// A question to the user, without a newline.
pub(crate) fn prompt(text: &str) {
    write(format_args!("{text}"));
}

/// Plain lines that only `--verbose` shows.
pub(crate) fn detail(text: &str) {
    if is_verbose() {
        write(format_args!("{}", printable_lines(text)));
    }
}

/// A line of JSON, which `--quiet` does not suppress.
pub(crate) fn json_line(json: &str) {
    write(format_args!("{}\n", json_escaped(json)));
}

fn labelled(label: &str, color: AnsiColor, message: &str) {
    let style = Style::new().bold().fg_color(Some(color.into()));
    let message = printable_lines(message);
    write(format_args!("{style}{label}:{style:#} {message}\n"));
}

/// Writes to standard error. A failure is ignored: it must not end a run that has results to write.
fn write(text: fmt::Arguments<'_>) {
    let _ = anstream::stderr().lock().write_fmt(text);
}
