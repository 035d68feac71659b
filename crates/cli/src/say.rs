//! Everything that is said to the user beside the results goes through here, to standard error.

use anstyle::{AnsiColor, Style};
use std::fmt;
use std::io::Write;

/// An error, before the program ends.
pub(crate) fn error(message: &str) {
    labelled("error", AnsiColor::Red, message);
}

/// Something the user should know about the result.
pub(crate) fn note(message: &str) {
    labelled("note", AnsiColor::Cyan, message);
}

/// Plain lines.
pub(crate) fn lines(text: &str) {
    write(format_args!("{text}"));
}

fn labelled(label: &str, color: AnsiColor, message: &str) {
    let style = Style::new().bold().fg_color(Some(color.into()));
    write(format_args!("{style}{label}:{style:#} {message}\n"));
}

/// Where standard error is closed or full nobody listens: that must not end a run that has results to write.
fn write(text: fmt::Arguments<'_>) {
    let _ = anstream::stderr().lock().write_fmt(text);
}
