//! Prints the library's notes, with the flags that they are about.

use crate::hints::encode::with_flags;
use crate::messages;
use veilpath::{Event, Note};

/// Prints an event if it is a note.
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
        Note::Unpaired { .. } | Note::WithoutStimulus { .. } => " (--pairs all compares all pairs)",
        Note::AllowedWithoutEffect { .. } => " (--allow)",
        Note::NumbersOnly { .. } => {
            " (write JSON instead: -o scores.json with compare, host or join)"
        }
        Note::NoGrid { .. } => " (set it with --grid 7x7)",
        Note::NoGroups => " (add groups with --groups FILE)",
        Note::OneMeasure { .. } => " (choose one with --measure)",
        _ => "",
    };
    format!("{note}{hint}")
}
