//! The flags for the fields that errors and notes about encoding name.

use veilpath::ReadError;
use veilpath::encode::EncodeField;

/// The error's text, followed by the flags that help, each with an example value.
pub(crate) fn read_error(error: &ReadError) -> String {
    let flags = error
        .fields
        .iter()
        .map(|field| match (field, &error.coordinate_columns) {
            (EncodeField::CoordinateColumns, Some(columns)) => columns_flag(&columns.0, &columns.1),
            (field, _) => example(*field).to_string(),
        });
    let text = followed_by_flags(&error.to_string(), flags);
    match error.fields.contains(&EncodeField::CoordinateColumns) {
        true => format!("{text}\n  {OTHER_COLUMNS}"),
        false => text,
    }
}

/// Follows the flag for the columns of the coordinates.
const OTHER_COLUMNS: &str = "and likewise participant=NAME, stimulus=NAME and duration=NAME, if their columns have unusual names";

/// The flag that names the columns of the coordinates, quoted for a shell where that is necessary.
fn columns_flag(x: &str, y: &str) -> String {
    let value = format!("x={x},y={y}");
    let is_plain = |sign: char| sign.is_alphanumeric() || "=,_.-/".contains(sign);
    match value.chars().all(is_plain) {
        true => format!("--columns {value}"),
        false => format!("--columns '{value}'"),
    }
}

/// The same for a cohort file read by a command other than `encode`, which has only a few of `encode`'s flags.
pub(crate) fn cohort_error(error: &ReadError) -> String {
    let has = |field: &EncodeField| matches!(field, EncodeField::Notation | EncodeField::Grid);
    if error.fields.iter().all(has) {
        return read_error(error);
    }
    let flags: Vec<&str> = error.fields.iter().copied().map(example).collect();
    format!("{error} (veilpath encode {})", flags.join(", "))
}

/// A note's text with the flags that it is about. Example values are left out, because they would contradict the text.
pub(crate) fn with_flags(text: &str, fields: &[EncodeField]) -> String {
    followed_by_flags(text, fields.iter().map(|field| form(*field).to_string()))
}

fn followed_by_flags(text: &str, flags: impl Iterator<Item = String>) -> String {
    let flags: Vec<String> = flags.collect();
    match flags.is_empty() {
        true => text.to_string(),
        false => format!("{text} ({})", flags.join(", ")),
    }
}

/// The name of a flag.
pub(crate) fn flag(field: EncodeField) -> &'static str {
    let example = example(field);
    example.split(' ').next().unwrap_or(example)
}

/// A flag with the form of its value, if that says more than its name.
fn form(field: EncodeField) -> &'static str {
    match field {
        EncodeField::Rate => "--rate HZ",
        EncodeField::VisualAngle => "--units deg --screen-cm SIZE --distance CM",
        EncodeField::Columns
        | EncodeField::CentredPixels
        | EncodeField::CentredFractions
        | EncodeField::ScreenHeights
        | EncodeField::LonLat
        | EncodeField::Percent
        | EncodeField::FixationRows
        | EncodeField::SampleRows
        | EncodeField::EventColumn
        | EncodeField::ParticipantColumn
        | EncodeField::StimulusColumn
        | EncodeField::CoordinateColumns
        | EncodeField::TrialColumn
        | EncodeField::GroupColumn => example(field),
        field => flag(field),
    }
}

/// A flag with an example value, if that helps.
fn example(field: EncodeField) -> &'static str {
    match field {
        EncodeField::Format => "--input-format NAME",
        EncodeField::Screen => "--screen WIDTHxHEIGHT",
        EncodeField::ScreenCm => "--screen-cm 52x29",
        EncodeField::Distance => "--distance 60",
        EncodeField::Units => "--units",
        EncodeField::CentredPixels => "--units px-centre",
        EncodeField::VisualAngle => "--units deg --screen-cm 52x29 --distance 60",
        EncodeField::CentredFractions => "--units norm",
        EncodeField::ScreenHeights => "--units height --screen WIDTHxHEIGHT",
        EncodeField::LonLat => "--units lonlat",
        EncodeField::Percent => "--units percent",
        EncodeField::TimeUnit => "--time-unit",
        EncodeField::Rate => "--rate 120",
        EncodeField::FlipY => "--flip-y",
        EncodeField::Eye => "--eye",
        EncodeField::Rows => "--rows",
        EncodeField::FixationRows => "--rows fixations",
        EncodeField::SampleRows => "--rows samples",
        EncodeField::Events => "--events",
        EncodeField::EventColumn => "--columns event=NAME",
        EncodeField::ParticipantColumn => "--columns participant=NAME",
        EncodeField::StimulusColumn => "--columns stimulus=NAME",
        EncodeField::CoordinateColumns => "--columns x=NAME,y=NAME",
        EncodeField::TrialColumn => "--columns trial=NAME",
        EncodeField::GroupColumn => "--columns group=NAME",
        EncodeField::Groups => "--groups FILE",
        EncodeField::Participant => "--participant",
        EncodeField::Stimulus => "--stimulus",
        EncodeField::NamePattern => "--name-pattern 'video{stimulus}_p{participant}'",
        EncodeField::Columns => "--columns x=NAME,y=NAME,duration=NAME",
        EncodeField::Grid => "--grid 7x7",
        EncodeField::AoiFile => "--aoi FILE",
        EncodeField::AoiColumn => "--aoi-column",
        EncodeField::Notation => "--notation",
        EncodeField::Bin => "--bin 50",
        EncodeField::MatlabCompat => "--matlab-compat",
        EncodeField::DropEmpty => "--drop-empty",
        EncodeField::MinDwell => "--min-dwell 100",
        EncodeField::Downsize => "--downsize",
        EncodeField::Merge => "--no-merge",
        EncodeField::MaxRepeats => "--max-repeats 3",
        EncodeField::MaxGap => "--max-gap 75",
        EncodeField::Runs => "--runs",
        EncodeField::Detect => "--detect ivt",
        EncodeField::Velocity => "--velocity 20deg",
        EncodeField::VelocityMethod => "--velocity-method fivepoint",
        EncodeField::Dispersion => "--dispersion 1deg",
        EncodeField::MinDuration => "--min-duration 100",
        EncodeField::KeepFixations => "--keep-fixations",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggested_columns_can_be_pasted() {
        let error = ReadError::new("t.csv", "no x")
            .with_fields(&[EncodeField::CoordinateColumns])
            .with_coordinate_columns(Some(("left_x".into(), "left_y".into())));
        let text = read_error(&error);
        assert!(text.contains("(--columns x=left_x,y=left_y)\n  and likewise participant="));
        assert_eq!(
            columns_flag("Left X", "Left Y"),
            "--columns 'x=Left X,y=Left Y'"
        );
    }

    /// An example value after "250 samples per second" would contradict it.
    #[test]
    fn notes_show_value_forms_instead_of_examples() {
        assert_eq!(with_flags("a", &[EncodeField::Rate]), "a (--rate HZ)");
        assert_eq!(with_flags("a", &[EncodeField::Screen]), "a (--screen)");
        let column = with_flags("a", &[EncodeField::ParticipantColumn]);
        assert_eq!(column, "a (--columns participant=NAME)");
    }
}
