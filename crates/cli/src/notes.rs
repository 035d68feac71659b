//! What the library tells while it works, in the words of the command line.

use crate::hints::encode::with_flags;
use crate::messages;
use veilpath::{Event, Note};

/// Prints an event that people should read.
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

fn text(note: &Note) -> String {
    match note {
        Note::NoStimuli { file } => format!(
            "{file}: no scanpath has a stimulus, so all scanpaths are compared with all (`veilpath encode --stimulus` names them)"
        ),
        Note::Unpaired {
            file,
            unpaired,
            scanpaths,
        } => format!(
            "{file}: {unpaired} of {scanpaths} scanpaths are not compared, because the other cohort does not have their stimulus (--pairs all compares all with all)"
        ),
        Note::NumbersOnly { file } => format!(
            "{file}: the page has no plan, cost or list of what was revealed, because a CSV file does not contain them (-o scores.json of compare, host and join does)"
        ),
        Note::NotInResult => "no participant of the cohort is in the result file".into(),
        Note::PrivatePage => {
            "the page shows your own scanpaths; do not give it to the other side".into()
        }
        other => format!("{other:?}"),
    }
}
