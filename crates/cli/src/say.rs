//! Everything that is said to the user beside the results goes through here, to standard error.

use anstyle::{AnsiColor, Style};

/// An error, before the program ends.
pub(crate) fn error(message: &str) {
    labelled("error", AnsiColor::Red, message);
}

/// Something the user should know about the result.
pub(crate) fn note(message: &str) {
    labelled("note", AnsiColor::Cyan, message);
}

/// Plain lines.
#[allow(clippy::print_stderr)] // the one place that may
pub(crate) fn lines(text: &str) {
    anstream::eprint!("{text}");
}

#[allow(clippy::print_stderr)] // the one place that may
fn labelled(label: &str, color: AnsiColor, message: &str) {
    let style = Style::new().bold().fg_color(Some(color.into()));
    anstream::eprintln!("{style}{label}:{style:#} {message}");
}
