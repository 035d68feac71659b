//! Code shared by the SMI readers: the preamble, and how stimuli are named.

use super::note_unused_stimulus;
use super::repeats::Repeats;
use crate::{ReadOptions, Sink};

/// The settings of a preamble, whose lines may begin with `##`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Preamble {
    pub(super) subject: Option<String>,
    pub(super) stimulus: Option<String>,
    pub(super) rate_hz: Option<f64>,
    pub(super) screen: Option<(f64, f64)>,
}

impl Preamble {
    /// Parses a line such as `## Sample Rate:\t50`.
    pub(super) fn take(&mut self, line: &str) {
        let Some((key, value)) = line.trim_start_matches('#').split_once(':') else {
            return;
        };
        let text = || Some(value.trim().to_string()).filter(|text| !text.is_empty());
        let mut numbers = value
            .split(|c: char| c.is_ascii_whitespace() || c == ',' || c == ';')
            .filter_map(|word| word.parse::<f64>().ok())
            .filter(|number| number.is_finite() && *number > 0.0);
        match key.trim() {
            "Subject" => self.subject = text(),
            "Stimulus" => self.stimulus = text(),
            "Sample Rate" => self.rate_hz = numbers.next(),
            "Calibration Area" => self.screen = numbers.next().zip(numbers.next()),
            _ => {}
        }
    }
}

/// The stimulus of each row.
///
/// In this order: the name in the row; the picture that a message of the same trial shows; the name of the whole file;
/// the trial, as `trial n` if it is only a number. If a person sees one stimulus in several trials, the later ones get
/// a number: `name (2)`.
#[derive(Default)]
pub(super) struct Stimuli {
    whole_file: Option<String>,
    /// Whether a row had no other name.
    whole_file_is_used: bool,
    picture: String,
    picture_trial: String,
    repeats: Repeats,
    /// Person, trial and stimulus of the last row, from which `name` was made.
    last: [String; 3],
    name: String,
}

impl Stimuli {
    /// `whole_file` is the name for files that name no stimulus.
    pub(super) fn new(whole_file: Option<String>) -> Self {
        Self {
            whole_file,
            ..Self::default()
        }
    }

    /// Handles a message, which may show a picture.
    pub(super) fn receive(&mut self, trial: &str, message: &str) {
        if let Some(picture) = picture_in(message) {
            self.picture = picture.to_string();
            self.picture_trial = trial.to_string();
        }
    }

    /// Notes repeated stimuli, and a stimulus from the user that no row needs, at the end of a file.
    pub(super) fn report(&self, options: &ReadOptions, sink: &mut dyn Sink) {
        self.repeats.report(sink);
        if !self.whole_file_is_used {
            note_unused_stimulus(options, sink);
        }
    }

    /// The name for a row of a person and a trial.
    pub(super) fn name(&mut self, person: &str, trial: &str, in_row: &str) -> Option<&str> {
        let own = if is_empty_value(in_row) { "" } else { in_row };
        let named = if !own.is_empty() {
            own
        } else if !self.picture.is_empty() && self.picture_trial == trial {
            &self.picture
        } else {
            self.whole_file_is_used = true;
            self.whole_file.as_deref().unwrap_or("")
        };
        if self.name.is_empty() || self.last != [person, trial, named] {
            let last = [person, trial, named].map(str::to_string);
            self.name = match named {
                "" if trial.bytes().all(|byte| byte.is_ascii_digit()) && !trial.is_empty() => {
                    format!("trial {trial}")
                }
                "" => trial.to_string(),
                // The user's or the preamble's name for the file applies to all of its trials.
                _ if self.whole_file.as_deref() == Some(named) => named.to_string(),
                _ => self.repeats.name(person, named, trial),
            };
            self.last = last;
        }
        Some(self.name.as_str()).filter(|name| !name.is_empty())
    }
}

/// SMI writes a dash for a missing value.
pub(super) fn is_empty_value(text: &str) -> bool {
    text.is_empty() || text == "-"
}

/// The file name of a picture or video that a message shows: `# Message: a.bmp`, `Scene Image: d:\x\a.bmp`.
fn picture_in(message: &str) -> Option<&str> {
    const ENDINGS: [&str; 12] = [
        "bmp", "jpg", "jpeg", "png", "tif", "tiff", "gif", "avi", "mp4", "mpg", "wmv", "mov",
    ];
    let text = message.trim_start_matches('#').trim();
    let text = ["Message:", "Scene Image:"]
        .iter()
        .fold(text, |text, prefix| {
            text.strip_prefix(prefix).map_or(text, str::trim)
        });
    let file = text.rsplit(['/', '\\']).next()?;
    let (stem, ending) = file.rsplit_once('.')?;
    let known = ENDINGS
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known));
    (known && !stem.is_empty()).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preambles_are_read_with_and_without_marks() {
        let mut preamble = Preamble::default();
        for line in [
            "## [iView]",
            "## Subject:\tP7        ",
            "Stimulus: film.avi",
            "## Sample Rate:\t50",
            "## Calibration Area:\t1680\t1050",
            "## Calibration Point 0:\tPosition(841;526)",
        ] {
            preamble.take(line);
        }
        assert_eq!(
            preamble,
            Preamble {
                subject: Some("P7".into()),
                stimulus: Some("film.avi".into()),
                rate_hz: Some(50.0),
                screen: Some((1680.0, 1050.0)),
            }
        );
    }

    #[test]
    fn stimuli_are_named_by_rows_messages_and_trials() {
        let mut stimuli = Stimuli::default();
        assert_eq!(stimuli.name("p", "1", "-"), Some("trial 1"));
        stimuli.receive("2", r"# Message: Scene Image: d:\x\cups.BMP");
        stimuli.receive("2", "# Message: keypress A.");
        assert_eq!(stimuli.name("p", "2", ""), Some("cups.BMP"));
        assert_eq!(stimuli.name("p", "3", ""), Some("trial 3"));
        stimuli.receive("4", "cups.BMP");
        assert_eq!(stimuli.name("p", "4", ""), Some("cups.BMP (2)"));
        assert_eq!(stimuli.name("p", "4", "other"), Some("other"));
        assert_eq!(stimuli.name("p", "", ""), None);
        assert_eq!(stimuli.name("p", "Trial005", ""), Some("Trial005"));
        assert_eq!(stimuli.name("q", "4", "cups.BMP"), Some("cups.BMP"));
        let mut stimuli = Stimuli::new(Some("film".into()));
        assert_eq!(stimuli.name("p", "1", ""), Some("film"));
        assert_eq!(stimuli.name("p", "2", ""), Some("film"));
    }
}
