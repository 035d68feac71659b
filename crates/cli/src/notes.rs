//! Prints the library's notes, with flags.

use crate::hints::encode::with_flags;
use crate::messages;
use veilpath::{Event, Note};

/// Prints an event if it is a note for people.
pub(crate) fn print(event: &Event) {
    match event {
        Event::CohortNote { file, note } => {
            let text = with_flags(&note.to_string(), note.fields());
            messages::note(&format!("{file}: {text}"));
        }
        Event::Note(note) => messages::note(&text(note)),
        _ => {}
    }
}

/// The note, with the flags that it is about.
fn text(note: &Note) -> String {
    let hint = match note {
        Note::NoStimuli { .. } => " (`veilpath encode --stimulus` sets it)",
        Note::Unpaired { .. } => " (--pairs all compares all pairs)",
        Note::AllowedWithoutEffect { .. } => " (--allow)",
        Note::NumbersOnly { .. } => " (-o scores.json of compare, host and join does)",
        Note::NoGrid { .. } => " (--grid 7x7 names it)",
        Note::NoGroups => " (--groups FILE names them)",
        Note::OneNumber { .. } => " (--of chooses one)",
        _ => "",
    };
    format!("{note}{hint}")
}
