//! Options for reading files that do not describe themselves.

use crate::{EncodeField, ReadError};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Overrides for readers; all empty by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// Width and height of the screen or stimulus in pixels.
    pub screen: Option<(f64, f64)>,
    /// Width and height of the screen in centimetres, for visual angles.
    pub screen_cm: Option<(f64, f64)>,
    /// The distance from the eye to the screen in centimetres, for visual angles.
    pub distance_cm: Option<f64>,
    /// The unit of coordinates, if the format leaves it open.
    pub units: Option<CoordinateUnit>,
    /// The unit of timestamps and durations, if the format leaves it open.
    pub time_unit: Option<TimeUnit>,
    /// Flip the vertical axis, relative to the format's convention.
    pub flip_y: bool,
    /// Samples per second, if there are no timestamps or the file's rate is wrong.
    pub rate_hz: Option<f64>,
    /// Which eye of a binocular file.
    pub eye: Eye,
    /// Read raw samples even if the file has fixations, or the other way round.
    pub rows: RowChoice,
    /// Which events to read from a table with event labels. `None` means fixations in a table of fixations, and all
    /// rows in a table of samples.
    pub events: Option<EventChoice>,
    /// The participant of files that have only one and do not name it.
    pub participant: Option<String>,
    /// The stimulus of files that have only one and do not name it.
    pub stimulus: Option<String>,
    /// How to find participant and stimulus in file names.
    pub name_pattern: Option<NamePattern>,
    /// The columns of generic tables, from our name (`x`, `y`, `duration`, …) to the file's.
    pub columns: BTreeMap<String, String>,
}

impl ReadOptions {
    /// Checks that the numbers make sense, before any file is opened.
    pub(crate) fn check(&self) -> Result<(), ReadError> {
        let both = |size: Option<(f64, f64)>| [size.map(|it| it.0), size.map(|it| it.1)];
        let is_positive = |number: f64| number.is_finite() && number > 0.0;
        for (field, numbers, problem, remedy) in [
            (
                EncodeField::Screen,
                both(self.screen),
                "the size of the screen must be two numbers above 0",
                "it is given in pixels, as in 1280x720",
            ),
            (
                EncodeField::ScreenCm,
                both(self.screen_cm),
                "the size of the screen must be two numbers above 0",
                "it is given in centimetres, as in 52x29",
            ),
            (
                EncodeField::Distance,
                [self.distance_cm, None],
                "the distance to the screen must be a number above 0",
                "it is given in centimetres, as in 60",
            ),
            (
                EncodeField::Rate,
                [self.rate_hz, None],
                "the sampling rate must be a number above 0",
                "it is given in samples per second, as in 120",
            ),
        ] {
            if !numbers.into_iter().flatten().all(is_positive) {
                return Err(ReadError::new("reading options", problem)
                    .with_remedy(remedy)
                    .with_fields(&[field]));
            }
        }
        Ok(())
    }
}

/// A unit of coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoordinateUnit {
    /// Pixels, origin top left.
    Pixels,
    /// Pixels from the centre of the screen, y pointing up (PsychoPy's `pix`).
    CentredPixels,
    /// 0 to 1, origin top left.
    Fraction,
    /// 0 to 100, origin top left.
    Percent,
    /// −1 to 1 from the centre, y pointing up (PsychoPy's `norm`).
    Centred,
    /// Heights of the screen from its centre, y pointing up (PsychoPy's `height`).
    ScreenHeights,
    /// Longitude and latitude of a panorama, in degrees.
    LonLat,
    /// Degrees of visual angle from the centre of the screen, y pointing up.
    VisualAngle,
}

impl CoordinateUnit {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            CoordinateUnit::Pixels => "pixels",
            CoordinateUnit::CentredPixels => "pixels from the centre",
            CoordinateUnit::Fraction => "fractions of the screen",
            CoordinateUnit::Percent => "percent of the screen",
            CoordinateUnit::Centred => "-1 to 1 from the centre",
            CoordinateUnit::ScreenHeights => "heights of the screen from its centre",
            CoordinateUnit::LonLat => "longitude and latitude",
            CoordinateUnit::VisualAngle => "degrees of visual angle",
        }
    }
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl TimeUnit {
    /// The length of one unit in milliseconds.
    pub fn in_ms(self) -> f64 {
        match self {
            TimeUnit::Seconds => 1e3,
            TimeUnit::Milliseconds => 1.0,
            TimeUnit::Microseconds => 1e-3,
            TimeUnit::Nanoseconds => 1e-6,
        }
    }

    /// Parses an abbreviation or a word.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim().to_lowercase().as_str() {
            "s" | "sec" | "secs" | "second" | "seconds" => Some(TimeUnit::Seconds),
            "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => {
                Some(TimeUnit::Milliseconds)
            }
            // Both the micro sign and the Greek letter mu are in use.
            "us" | "µs" | "μs" | "usec" | "microsecond" | "microseconds" => {
                Some(TimeUnit::Microseconds)
            }
            "ns" | "nsec" | "nanosecond" | "nanoseconds" => Some(TimeUnit::Nanoseconds),
            _ => None,
        }
    }

    /// The usual abbreviation.
    pub fn abbreviation(self) -> &'static str {
        match self {
            TimeUnit::Seconds => "s",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Microseconds => "µs",
            TimeUnit::Nanoseconds => "ns",
        }
    }
}

/// Which eye of a binocular file to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eye {
    /// The left one if it was recorded, else the right one.
    #[default]
    Any,
    /// The left one.
    Left,
    /// The right one.
    Right,
}

/// Which rows to take from a file that has both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowChoice {
    /// Fixations if there are any, else samples.
    #[default]
    Any,
    /// Fixations.
    Fixations,
    /// Samples.
    Samples,
}

/// Which rows of a table with a column of event labels to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventChoice {
    /// Fixations.
    Fixations,
    /// All rows, whatever their label.
    All,
    /// Rows with one of these labels, as the file spells them; case is ignored.
    Labels(Vec<String>),
}

/// A list of events without any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected fixations, all, or labels such as FIXA,PURS")]
pub struct EventChoiceError;

impl EventChoice {
    /// `fixations`, `all`, or labels.
    pub fn of(words: impl IntoIterator<Item = String>) -> Result<Self, EventChoiceError> {
        let words = words.into_iter().map(|word| word.trim().to_string());
        let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
        match &words[..] {
            [] => Err(EventChoiceError),
            [word] if word == "fixations" => Ok(EventChoice::Fixations),
            [word] if word == "all" => Ok(EventChoice::All),
            _ => Ok(EventChoice::Labels(words)),
        }
    }
}

/// Labels are separated by commas.
impl FromStr for EventChoice {
    type Err = EventChoiceError;

    fn from_str(text: &str) -> Result<Self, EventChoiceError> {
        Self::of(text.split(',').map(str::to_string))
    }
}

/// A file name pattern such as `video{stimulus}_p{participant}`. The two words in braces match any text, `{}` matches
/// text that is ignored, and everything else is literal. Extensions are ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Participant,
    Stimulus,
    Any,
}

/// The names that a [`NamePattern`] found in a file name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamesInFile {
    /// The participant's part.
    pub participant: Option<String>,
    /// The stimulus' part.
    pub stimulus: Option<String>,
}

/// Why a text is not a file name pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NamePatternError {
    /// A brace is not closed.
    #[error("a {{ in the pattern is never closed")]
    Unclosed,
    /// There is an unknown word in braces.
    #[error("a pattern may contain {{participant}}, {{stimulus}} and {{}}, nothing else in braces")]
    UnknownWord,
    /// Nothing says where the first of two parts ends.
    #[error("two parts in braces need some text between them")]
    NoTextBetween,
}

impl NamePattern {
    /// Reads a pattern.
    pub fn parse(pattern: &str) -> Result<Self, NamePatternError> {
        let mut parts = Vec::new();
        let mut rest = pattern;
        while let Some(open) = rest.find('{') {
            if open > 0 {
                parts.push(Part::Text(rest[..open].to_string()));
            }
            let Some(length) = rest[open..].find('}') else {
                return Err(NamePatternError::Unclosed);
            };
            parts.push(match &rest[open + 1..open + length] {
                "participant" => Part::Participant,
                "stimulus" => Part::Stimulus,
                "" => Part::Any,
                _ => return Err(NamePatternError::UnknownWord),
            });
            rest = &rest[open + length + 1..];
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_string()));
        }
        if parts
            .windows(2)
            .any(|pair| !pair.iter().any(|part| matches!(part, Part::Text(_))))
        {
            return Err(NamePatternError::NoTextBetween);
        }
        Ok(Self { parts })
    }

    /// Matches a file name without its extension; `None` if it does not fit the pattern.
    pub fn apply(&self, stem: &str) -> Option<NamesInFile> {
        let mut names = NamesInFile::default();
        let mut rest = stem;
        let mut parts = self.parts.iter().peekable();
        while let Some(part) = parts.next() {
            if let Part::Text(text) = part {
                rest = rest.strip_prefix(text.as_str())?;
                continue;
            }
            let end = match parts.peek() {
                Some(Part::Text(text)) => rest.find(text.as_str())?,
                _ => rest.len(),
            };
            let found = Some(rest[..end].to_string());
            match part {
                Part::Participant => names.participant = found,
                Part::Stimulus => names.stimulus = found,
                _ => {}
            }
            rest = &rest[end..];
        }
        rest.is_empty().then_some(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_checked() {
        let usual = ReadOptions::default;
        assert!(usual().check().is_ok());
        for number in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            for (field, options) in [
                (
                    EncodeField::Screen,
                    ReadOptions {
                        screen: Some((100.0, number)),
                        ..usual()
                    },
                ),
                (
                    EncodeField::ScreenCm,
                    ReadOptions {
                        screen_cm: Some((number, 100.0)),
                        ..usual()
                    },
                ),
                (
                    EncodeField::Distance,
                    ReadOptions {
                        distance_cm: Some(number),
                        ..usual()
                    },
                ),
                (
                    EncodeField::Rate,
                    ReadOptions {
                        rate_hz: Some(number),
                        ..usual()
                    },
                ),
            ] {
                assert_eq!(options.check().unwrap_err().fields, [field]);
            }
        }
    }

    #[test]
    fn events_are_parsed() {
        let labels = |labels: &[&str]| {
            let labels = labels.iter().map(|label| label.to_string());
            Ok(EventChoice::Labels(labels.collect()))
        };
        assert_eq!("fixations".parse(), Ok(EventChoice::Fixations));
        assert_eq!(" all ".parse(), Ok(EventChoice::All));
        assert_eq!("FIXA, PURS,".parse(), labels(&["FIXA", "PURS"]));
        assert_eq!("all,FIXA".parse(), labels(&["all", "FIXA"]));
        assert_eq!(EventChoice::of(["a,b".to_string()]), labels(&["a,b"]));
        assert_eq!(" ,".parse::<EventChoice>(), Err(EventChoiceError));
    }

    #[test]
    fn patterns_split_names() {
        let pattern = NamePattern::parse("video{stimulus}_p{participant}").unwrap();
        let names = pattern.apply("video028_p006").unwrap();
        assert_eq!(names.participant.as_deref(), Some("006"));
        assert_eq!(names.stimulus.as_deref(), Some("028"));
        assert!(pattern.apply("clip028_p006").is_none());
        for (pattern, error) in [
            ("{participant}{stimulus}", NamePatternError::NoTextBetween),
            ("{x}", NamePatternError::UnknownWord),
            ("{participant", NamePatternError::Unclosed),
        ] {
            assert_eq!(NamePattern::parse(pattern), Err(error), "{pattern}");
        }
        let any = NamePattern::parse("{}_{participant}").unwrap();
        assert_eq!(any.apply("a_b").unwrap().participant.as_deref(), Some("b"));
    }
}
