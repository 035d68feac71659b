//! Flags that a format leaves without effect, because it settles the matter itself: nobody should have to find that out
//! from letters that did not change.

use super::Format;
use crate::{Eye, ReadOptions};

/// Formats whose unit of coordinates is fixed.
const UNITS_FIXED: [&str; 5] = ["arff-gaze", "xu360", "oemc", "ehtask", "eyelink-asc"];

/// Formats whose unit of time is fixed.
const TIMES_FIXED: [&str; 3] = ["oemc", "xu360", "eyelink-asc"];

/// Formats that may hold two eyes.
const TWO_EYES: [&str; 7] = [
    "bids-physio",
    "eyelink-asc",
    "gazepoint",
    "smi-events",
    "smi-samples",
    "tobii-pro-lab",
    "tobii-studio",
];

/// The one format whose columns can be named.
pub(crate) const NAMED_COLUMNS: &str = "table";

/// What to tell of the flags that have no effect on files of this format.
pub(crate) fn without_effect(format: &dyn Format, options: &ReadOptions) -> Vec<String> {
    let name = format.name();
    let flags = [
        (
            "--units",
            options.units.is_some() && UNITS_FIXED.contains(&name),
        ),
        (
            "--time-unit",
            options.time_unit.is_some() && TIMES_FIXED.contains(&name),
        ),
        (
            "--eye",
            options.eye != Eye::Any && !TWO_EYES.contains(&name),
        ),
        (
            "--columns",
            !options.columns.is_empty() && name != NAMED_COLUMNS,
        ),
    ];
    flags
        .into_iter()
        .filter(|(_, idle)| *idle)
        .map(|(flag, _)| format!("{flag} has no effect: the format {name} settles that itself"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::FORMATS;
    use crate::readers::recorder::{Recorded, Recorder, tiny_file};
    use crate::{CoordinateUnit, Input, TimeUnit};

    /// One of our tiny files for each format that is read.
    const FILES: [(&str, &str); 14] = [
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
        ("visual-search-json", "visual-search-json.json"),
        ("xu360", "video007_p012.txt"),
    ];

    /// What is read, or `None` where the wish is refused.
    fn read(format: &dyn Format, file: &str, options: &ReadOptions) -> Option<Vec<Recorded>> {
        let mut recorder = Recorder::default();
        let input = Input::open(&tiny_file(file)).unwrap();
        format.read(input, options, &mut recorder).ok()?;
        Some(recorder.recordings)
    }

    /// Each flag is said to be idle where nothing that it can say changes what is read, and nowhere else.
    #[test]
    fn flags_are_idle_exactly_where_they_change_nothing() {
        use CoordinateUnit::{Degrees, Fraction, Pixels};
        use TimeUnit::{Microseconds, Milliseconds, Seconds};
        for (name, file) in FILES {
            let format = *FORMATS.iter().find(|format| format.name() == name).unwrap();
            let screen = ReadOptions {
                screen: Some((1000.0, 500.0)),
                ..ReadOptions::default()
            };
            let usual = read(format, file, &screen);
            assert!(usual.is_some(), "{file}");
            let units = [Degrees, Fraction, Pixels].map(|unit| ReadOptions {
                units: Some(unit),
                ..screen.clone()
            });
            let times = [Microseconds, Milliseconds, Seconds].map(|unit| ReadOptions {
                time_unit: Some(unit),
                ..screen.clone()
            });
            for (flag, wishes) in [("--units", units), ("--time-unit", times)] {
                let idle = wishes.iter().all(|wish| read(format, file, wish) == usual);
                let told = without_effect(format, &wishes[0]);
                let expected = if idle { 1 } else { 0 };
                assert_eq!(told.len(), expected, "{flag} and {name}: {told:?}");
                assert!(told.iter().all(|line| line.starts_with(flag)));
            }
        }
    }

    #[test]
    fn an_eye_is_idle_where_no_file_has_two() {
        let right = ReadOptions {
            eye: Eye::Right,
            ..ReadOptions::default()
        };
        for (name, file) in FILES {
            let format = *FORMATS.iter().find(|format| format.name() == name).unwrap();
            let changes = read(format, file, &right) != read(format, file, &ReadOptions::default());
            let told = without_effect(format, &right);
            assert!(told.is_empty() || !changes, "{name}");
            assert_eq!(told.is_empty(), TWO_EYES.contains(&name), "{name}");
        }
    }
}
