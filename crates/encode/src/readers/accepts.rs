//! Which options affect how files of a format are read, and which have no effect because the format defines them.

use super::Format;
use crate::{EncodeField, EncodeNote, Eye, NoEffect, ReadOptions};

/// The options that affect how files of a format are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SupportedOptions {
    /// The unit of coordinates.
    pub units: bool,
    /// The unit of times.
    pub time_unit: bool,
    /// One of two eyes.
    pub eye: bool,
    /// The names of columns.
    pub columns: bool,
    /// The choice of events by their labels.
    pub events: bool,
    /// Names for the participant and the stimulus.
    pub names: bool,
}

/// Most formats leave units open, and have one eye and fixed column names.
impl Default for SupportedOptions {
    fn default() -> Self {
        Self {
            units: true,
            time_unit: true,
            eye: false,
            columns: false,
            events: false,
            names: true,
        }
    }
}

impl SupportedOptions {
    /// No option at all.
    pub(crate) const NOTHING: SupportedOptions = SupportedOptions {
        units: false,
        time_unit: false,
        eye: false,
        columns: false,
        events: false,
        names: false,
    };

    /// The options that affect files of either format.
    pub(crate) fn or(self, other: SupportedOptions) -> Self {
        Self {
            units: self.units || other.units,
            time_unit: self.time_unit || other.time_unit,
            eye: self.eye || other.eye,
            columns: self.columns || other.columns,
            events: self.events || other.events,
            names: self.names || other.names,
        }
    }

    /// Whether a field has an effect. Fields that no format defines always do.
    pub fn has(self, field: EncodeField) -> bool {
        match field.setting() {
            EncodeField::Units => self.units,
            EncodeField::TimeUnit => self.time_unit,
            EncodeField::Eye => self.eye,
            EncodeField::Columns
            | EncodeField::EventColumn
            | EncodeField::ParticipantColumn
            | EncodeField::StimulusColumn
            | EncodeField::CoordinateColumns
            | EncodeField::TrialColumn
            | EncodeField::GroupColumn => self.columns,
            EncodeField::Events => self.events,
            EncodeField::Participant | EncodeField::Stimulus | EncodeField::NamePattern => {
                self.names
            }
            _ => true,
        }
    }
}

/// The options that have no effect on files of this format.
pub(crate) fn without_effect(
    format: &dyn Format,
    options: &ReadOptions,
) -> impl Iterator<Item = EncodeNote> + use<> {
    let accepts = format.accepts();
    let name = format.name();
    let given = [
        (
            EncodeField::Units,
            options.units.is_some() && !accepts.units,
        ),
        (
            EncodeField::TimeUnit,
            options.time_unit.is_some() && !accepts.time_unit,
        ),
        (EncodeField::Eye, options.eye != Eye::Any && !accepts.eye),
        (
            EncodeField::Columns,
            !options.columns.is_empty() && !accepts.columns,
        ),
        (
            EncodeField::Events,
            options.events.is_some() && !accepts.events,
        ),
        (
            EncodeField::Participant,
            options.participant.is_some() && !accepts.names,
        ),
        (
            EncodeField::Stimulus,
            options.stimulus.is_some() && !accepts.names,
        ),
        (
            EncodeField::NamePattern,
            options.name_pattern.is_some() && !accepts.names,
        ),
    ];
    given
        .into_iter()
        .filter(|(_, has_no_effect)| *has_no_effect)
        .map(move |(field, _)| EncodeNote::NoEffect {
            field,
            reason: NoEffect::Format(name.to_string()),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::FORMATS;
    use crate::readers::recorder::{Recorded, Recorder, tiny_file};
    use crate::{ColumnRoles, CoordinateUnit, FileSummary, Input, Summary, TimeUnit};

    /// A small test file for each format that is read.
    const FILES: [(&str, &str); 16] = [
        ("arff-gaze", "arff-gaze.arff"),
        ("ehtask", "User_07_Video_02_Task_1.txt"),
        ("eyelink-asc", "eyelink-asc.asc"),
        ("gazepoint", "gazepoint.csv"),
        ("matlab", "matlab.mat"),
        ("oemc", "QQQ_pond.csv"),
        ("pupil-fixations", "pupil-fixations.csv"),
        ("pupil-gaze", "pupil-gaze.csv"),
        ("salient360", "salient360_fixations.csv"),
        ("smi-events", "smi-events.txt"),
        ("smi-samples", "smi-samples.txt"),
        ("table", "table.csv"),
        ("tobii-pro-lab", "tobii-pro-lab.tsv"),
        ("tobii-studio", "tobii-studio.tsv"),
        ("visual-search-json", "visual-search-json.json"),
        ("xu360", "video007_p012.txt"),
    ];

    /// The result of reading, or `None` if the options are rejected.
    fn read(format: &dyn Format, file: &str, options: &ReadOptions) -> Option<Vec<Recorded>> {
        let mut recorder = Recorder::default();
        let input = Input::open(&tiny_file(file)).unwrap();
        format.read(input, options, &mut recorder).ok()?;
        Some(recorder.recordings)
    }

    /// An option is reported as having no effect exactly if no value of it changes what is read.
    #[test]
    fn options_have_no_effect_exactly_where_they_change_nothing() {
        use CoordinateUnit::{Fraction, LonLat, Pixels};
        use TimeUnit::{Microseconds, Milliseconds, Seconds};
        for (name, file) in FILES {
            let format = *FORMATS.iter().find(|format| format.name() == name).unwrap();
            let screen = ReadOptions {
                screen: Some((1000.0, 500.0)),
                ..ReadOptions::default()
            };
            let usual = read(format, file, &screen);
            assert!(usual.is_some(), "{file}");
            let units = [LonLat, Fraction, Pixels].map(|unit| ReadOptions {
                units: Some(unit),
                ..screen.clone()
            });
            let times = [Microseconds, Milliseconds, Seconds].map(|unit| ReadOptions {
                time_unit: Some(unit),
                ..screen.clone()
            });
            for (field, given) in [(EncodeField::Units, units), (EncodeField::TimeUnit, times)] {
                let has_no_effect = given.iter().all(|given| read(format, file, given) == usual);
                let notes: Vec<EncodeNote> = without_effect(format, &given[0]).collect();
                let expected = EncodeNote::NoEffect {
                    field,
                    reason: NoEffect::Format(name.to_string()),
                };
                let expected: Vec<EncodeNote> =
                    has_no_effect.then_some(expected).into_iter().collect();
                assert_eq!(notes, expected, "{field:?} and {name}");
            }
        }
    }

    /// Advice about columns is for tables only.
    #[test]
    fn notes_offer_only_what_the_formats_accept() {
        let note = EncodeNote::MostlyLost { lost: 30, rows: 40 };
        let offered = |format: &str| {
            let format = FORMATS.iter().find(|one| one.name() == format).unwrap();
            let summary = Summary {
                accepts: SupportedOptions::NOTHING.or(format.accepts()),
                files: vec![FileSummary {
                    columns: format.accepts().columns.then(ColumnRoles::default),
                    ..FileSummary::default()
                }],
                ..Summary::default()
            };
            summary.fields_of(&note)
        };
        assert_eq!(offered("table"), [EncodeField::CoordinateColumns]);
        assert_eq!(offered("eyelink-asc"), [EncodeField::Eye]);
        assert_eq!(offered("xu360"), []);
    }

    /// A participant or stimulus from the user is reported as having no effect where a format names its own.
    #[test]
    fn names_have_no_effect_where_a_format_has_its_own() {
        let screen = ReadOptions {
            screen: Some((1000.0, 500.0)),
            ..ReadOptions::default()
        };
        let named = ReadOptions {
            participant: Some("Z".into()),
            stimulus: Some("Q".into()),
            ..screen.clone()
        };
        for (name, file) in FILES {
            let format = *FORMATS.iter().find(|format| format.name() == name).unwrap();
            let changes = read(format, file, &named) != read(format, file, &screen);
            let notes = without_effect(format, &named).count();
            assert!(notes == 0 || !changes, "{name}");
            assert_eq!(notes > 0, name == "visual-search-json");
        }
    }

    #[test]
    fn an_eye_has_no_effect_where_no_file_has_two() {
        let right = ReadOptions {
            eye: Eye::Right,
            ..ReadOptions::default()
        };
        for (name, file) in FILES {
            let format = *FORMATS.iter().find(|format| format.name() == name).unwrap();
            let changes = read(format, file, &right) != read(format, file, &ReadOptions::default());
            let has_no_effect = without_effect(format, &right).count() > 0;
            assert!(!has_no_effect || !changes, "{name}");
        }
    }
}
