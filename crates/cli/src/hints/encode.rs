//! The flags for the fields that errors and notes about encoding name.

use veilpath::ReadError;
use veilpath::encode::EncodeField;

/// The error's text, followed by the flags that help, each with an example value.
pub(crate) fn read_error(error: &ReadError) -> String {
    followed_by_flags(&error.to_string(), &error.fields, example)
}

/// The same for a cohort file that another command than `encode` reads: it has few of `encode`'s flags.
pub(crate) fn cohort_error(error: &ReadError) -> String {
    let has = |field: &EncodeField| matches!(field, EncodeField::Notation | EncodeField::Grid);
    if error.fields.iter().all(has) {
        return read_error(error);
    }
    let flags: Vec<&str> = error.fields.iter().copied().map(example).collect();
    format!("{error} (veilpath encode {})", flags.join(", "))
}

/// A note's text with the flags that it is about. They have no example values: those would contradict the text.
pub(crate) fn with_flags(text: &str, fields: &[EncodeField]) -> String {
    followed_by_flags(text, fields, form)
}

fn followed_by_flags(
    text: &str,
    fields: &[EncodeField],
    name: fn(EncodeField) -> &'static str,
) -> String {
    if fields.is_empty() {
        return text.to_string();
    }
    let flags: Vec<&str> = fields.iter().map(|field| name(*field)).collect();
    format!("{text} ({})", flags.join(", "))
}

/// The name of a flag.
pub(crate) fn flag(field: EncodeField) -> &'static str {
    let example = example(field);
    example.split(' ').next().unwrap_or(example)
}

/// A flag with the form of its value, where that says more than its name.
fn form(field: EncodeField) -> &'static str {
    match field {
        EncodeField::Rate => "--rate HZ",
        EncodeField::VisualAngle => "--units deg --screen-cm SIZE --distance CM",
        EncodeField::Columns
        | EncodeField::CentredPixels
        | EncodeField::EventColumn
        | EncodeField::ParticipantColumn
        | EncodeField::PlaceColumns
        | EncodeField::TrialColumn => example(field),
        field => flag(field),
    }
}

/// A flag with a value where one helps to understand it.
fn example(field: EncodeField) -> &'static str {
    match field {
        EncodeField::Format => "--input-format NAME",
        EncodeField::Screen => "--screen 1920x1080",
        EncodeField::ScreenCm => "--screen-cm 52x29",
        EncodeField::Distance => "--distance 60",
        EncodeField::Units => "--units",
        EncodeField::CentredPixels => "--units px-centre",
        EncodeField::VisualAngle => "--units deg --screen-cm 52x29 --distance 60",
        EncodeField::TimeUnit => "--time-unit",
        EncodeField::Rate => "--rate 120",
        EncodeField::FlipY => "--flip-y",
        EncodeField::Eye => "--eye",
        EncodeField::Rows => "--rows",
        EncodeField::Events => "--events",
        EncodeField::EventColumn => "--columns event=NAME",
        EncodeField::ParticipantColumn => "--columns participant=NAME",
        EncodeField::PlaceColumns => "--columns x=NAME,y=NAME",
        EncodeField::TrialColumn => "--columns trial=NAME",
        EncodeField::Participant => "--participant",
        EncodeField::Stimulus => "--stimulus",
        EncodeField::NameTemplate => "--file-name 'video{stimulus}_p{participant}'",
        EncodeField::Columns => "--columns x=NAME,y=NAME,duration=NAME",
        EncodeField::Grid => "--grid 7x7",
        EncodeField::AoiFile => "--aoi FILE",
        EncodeField::AoiColumn => "--aoi-column",
        EncodeField::Notation => "--alphabet",
        EncodeField::Bin => "--bin 50",
        EncodeField::MatlabCompat => "--matlab-compat",
        EncodeField::DropEmpty => "--drop-empty",
        EncodeField::MinDwell => "--min-dwell 100",
        EncodeField::Downsize => "--downsize",
        EncodeField::Merge => "--no-merge",
        EncodeField::MaxRepeats => "--max-repeats 3",
        EncodeField::MaxGap => "--max-gap 75",
        EncodeField::Runs => "--runs",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An example value behind "250 samples per second" would contradict it.
    #[test]
    fn notes_show_forms_and_not_example_values() {
        assert_eq!(with_flags("a", &[EncodeField::Rate]), "a (--rate HZ)");
        assert_eq!(with_flags("a", &[EncodeField::Screen]), "a (--screen)");
        let column = with_flags("a", &[EncodeField::ParticipantColumn]);
        assert_eq!(column, "a (--columns participant=NAME)");
    }
}
