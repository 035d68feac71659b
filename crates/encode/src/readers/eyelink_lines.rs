//! Parses the lines of EyeLink ASC files, and makes a first pass over a file for information that comes too late.
//!
//! Trials are named by messages that often come after the trial's data (`!V TRIAL_VAR` is sent once recording has
//! stopped), and whether there are fixations is known only when the first one ends. Hence the [`Survey`].

use crate::{Input, Lines, ReadError, Sink};

/// A line of an ASC file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AscLine<'a> {
    /// Blank, a comment, or the rest of a message that was broken into lines.
    Nothing,
    /// Numbers: one sample.
    Sample(&'a str),
    /// `EFIX`: a completed fixation.
    Fixation(&'a str),
    /// `START`, `EVENTS` and `SAMPLES`: which data follow, and for which eyes.
    Setup(&'a str),
    /// `MSG`: its time, and its text without the offset that may come before it.
    Message(Option<f64>, &'a str),
    /// Any other event with a time: saccades, blinks, buttons, the starts of fixations.
    Other,
}

impl<'a> AscLine<'a> {
    /// Classifies a line by its first word.
    pub(super) fn of(line: &'a str) -> Self {
        let word = line
            .split(|c: char| c.is_ascii_whitespace())
            .next()
            .unwrap_or("");
        match word {
            _ if line.as_bytes().first().is_some_and(u8::is_ascii_digit) => Self::Sample(line),
            "EFIX" => Self::Fixation(line),
            "START" | "EVENTS" | "SAMPLES" => Self::Setup(line),
            "MSG" => message(line),
            "SFIX" | "SSACC" | "ESACC" | "SBLINK" | "EBLINK" | "BUTTON" | "INPUT" => Self::Other,
            _ => Self::Nothing,
        }
    }
}

/// The meaning of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Message<'a> {
    /// `TRIALID`: a trial begins.
    TrialStart(&'a str),
    /// `TRIAL_RESULT`: a trial is over.
    TrialEnd,
    /// `DISPLAY_COORDS` or `GAZE_COORDS`: left, top, right, bottom.
    Coordinates([f64; 4]),
    /// `!V IMGLOAD`: the picture on the screen.
    Picture(&'a str),
    /// `!V TRIAL_VAR` with a variable that names the picture.
    Variable(&'a str),
    /// Anything else.
    Other,
}

impl<'a> Message<'a> {
    /// Parses the text of a message.
    pub(super) fn of(text: &'a str) -> Self {
        let (word, rest) = split_word(text);
        match word {
            "TRIALID" => Self::TrialStart(rest),
            "TRIAL_RESULT" => Self::TrialEnd,
            "DISPLAY_COORDS" | "GAZE_COORDS" => {
                let mut numbers = rest
                    .split_ascii_whitespace()
                    .map_while(|number| number.parse::<f64>().ok())
                    .filter(|number| number.is_finite());
                match [(); 4].map(|()| numbers.next()) {
                    [Some(left), Some(top), Some(right), Some(bottom)]
                        if right > left && bottom > top =>
                    {
                        Self::Coordinates([left, top, right, bottom])
                    }
                    _ => Self::Other,
                }
            }
            "!V" => match split_word(rest) {
                ("IMGLOAD", load) => picture_file(load).map_or(Self::Other, Self::Picture),
                ("TRIAL_VAR", variable) => {
                    let (name, value) = split_word(variable);
                    if names_a_picture(name) && !is_placeholder(value) {
                        Self::Variable(file_name(value))
                    } else {
                        Self::Other
                    }
                }
                _ => Self::Other,
            },
            _ => Self::Other,
        }
    }
}

/// The findings of a first pass over a file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Survey {
    /// Whether the whole file was read, and not only its head because it is a pipe.
    pub(super) complete: bool,
    /// Whether there are fixations.
    pub(super) fixations: bool,
    /// Whether there are samples.
    pub(super) samples: bool,
    /// Whether the file announces events.
    pub(super) events_announced: bool,
    /// Whether fixations of the left eye occur.
    pub(super) left: bool,
    /// How often recording was started.
    pub(super) blocks: usize,
    /// The trials, in file order.
    pub(super) trials: Vec<TrialNames>,
}

/// The names that the messages of a trial give it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct TrialNames {
    id: String,
    picture: Option<String>,
    variable: Option<String>,
}

impl TrialNames {
    /// A trial of which only the text after `TRIALID` is known.
    pub(super) fn of_id(id: &str) -> Self {
        Self {
            id: id.to_string(),
            ..Self::default()
        }
    }

    /// The picture's name, or the trial's own if it is more than a number.
    pub(super) fn meaningful(&self) -> Option<&str> {
        let id = Some(self.id.as_str()).filter(|id| !id.is_empty() && id.parse::<f64>().is_err());
        self.variable.as_deref().or(self.picture.as_deref()).or(id)
    }

    /// The meaningful name, else one made from the trial's id, which is reported as an assumption.
    pub(super) fn name(&self, sink: &mut dyn Sink) -> String {
        if let Some(name) = self.meaningful() {
            return name.to_string();
        }
        sink.assumed(
            "stimuli are trial numbers, because no picture is named; correct only if all participants saw the same order",
            &[],
        );
        format!("trial {}", self.id)
    }
}

impl Survey {
    /// Looks through the whole file if it can be read twice, else through its head.
    pub(super) fn of(input: &Input, sink: &mut dyn Sink) -> Result<Self, ReadError> {
        let mut survey = Self::default();
        match input.reopen()? {
            Some(again) => {
                let mut lines: Lines = again.into_lines();
                while let Some(line) = lines.next_line()? {
                    survey.inspect(&line);
                    sink.looked_at_line()?;
                }
                survey.complete = true;
            }
            None => {
                for line in input.head().lines {
                    survey.inspect(&line);
                }
                // Names that come after the data are known for the first trials only, so none are used.
                for trial in &mut survey.trials {
                    trial.picture = None;
                    trial.variable = None;
                }
            }
        }
        Ok(survey)
    }

    fn inspect(&mut self, line: &str) {
        match AscLine::of(line) {
            AscLine::Sample(_) => self.samples = true,
            AscLine::Fixation(line) => {
                self.fixations = true;
                self.left |= line.split_ascii_whitespace().nth(1) == Some("L");
            }
            AscLine::Setup(line) => {
                self.blocks += usize::from(line.starts_with("START"));
                self.events_announced |= line.starts_with("EVENTS");
            }
            AscLine::Message(_, text) => match Message::of(text) {
                Message::TrialStart(id) => self.trials.push(TrialNames::of_id(id)),
                Message::Picture(name) => self.name_last(|trial| &mut trial.picture, name),
                Message::Variable(name) => self.name_last(|trial| &mut trial.variable, name),
                _ => {}
            },
            AscLine::Nothing | AscLine::Other => {}
        }
    }

    fn name_last(&mut self, slot: fn(&mut TrialNames) -> &mut Option<String>, name: &str) {
        if let Some(trial) = self.trials.last_mut() {
            // The first picture is the one that the trial is about; later ones tend to be masks and feedback.
            slot(trial).get_or_insert_with(|| name.to_string());
        }
    }
}

/// A message, without `MSG` and the offset that may follow the time.
fn message(line: &str) -> AscLine<'_> {
    let (_, rest) = split_word(line);
    let (time, text) = split_word(rest);
    let text = match split_word(text) {
        (word, after) if word.parse::<f64>().is_ok() && !after.is_empty() => after,
        _ => text,
    };
    let time = time.parse().ok().filter(|time: &f64| time.is_finite());
    AscLine::Message(time, text)
}

/// The first word and what follows it.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim();
    match text.find(|c: char| c.is_ascii_whitespace()) {
        Some(end) => (&text[..end], text[end..].trim()),
        None => (text, ""),
    }
}

/// `CENTER ../pictures/a b.png 512 384` names `a b.png`.
fn picture_file(load: &str) -> Option<&str> {
    let (_mode, mut path) = split_word(load);
    while let Some((before, last)) = path.rsplit_once(|c: char| c.is_ascii_whitespace()) {
        if last.parse::<f64>().is_err() {
            break;
        }
        path = before.trim_end();
    }
    Some(file_name(path)).filter(|name| !name.is_empty())
}

fn file_name(path: &str) -> &str {
    let path = path.trim_matches('"');
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn names_a_picture(variable: &str) -> bool {
    const STEMS: [&str; 9] = [
        "image", "img", "picture", "pic", "stimulus", "stim", "scene", "photo", "video",
    ];
    const ENDS: [&str; 5] = ["", "name", "file", "filename", "id"];
    let variable: String = variable
        .chars()
        .filter(|c| !matches!(c, '_' | '-' | '.'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    STEMS.iter().any(|stem| {
        variable
            .strip_prefix(stem)
            .is_some_and(|end| ENDS.contains(&end))
    })
}

fn is_placeholder(value: &str) -> bool {
    crate::is_missing(value) || matches!(value, "-1" | "UNDEFINED" | "MISSING")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_recognised_by_their_first_word() {
        let at_10 = Some(10.0);
        assert_eq!(
            AscLine::of("MSG\t10 TRIALID 3"),
            AscLine::Message(at_10, "TRIALID 3")
        );
        assert_eq!(
            AscLine::of("MSG 10 -4 TRIALID 3"),
            AscLine::Message(at_10, "TRIALID 3")
        );
        assert_eq!(AscLine::of("MSG\t10 5"), AscLine::Message(at_10, "5"));
        assert_eq!(AscLine::of("MSG"), AscLine::Message(None, ""));
        assert_eq!(AscLine::of("EBLINK L 1\t2\t3"), AscLine::Other);
        for nothing in ["", "** note", "\t -63 7", "END\t9", "PUPIL\tAREA", ">>>>"] {
            assert_eq!(AscLine::of(nothing), AscLine::Nothing, "{nothing}");
        }
    }

    #[test]
    fn messages_name_trials_pictures_and_the_screen() {
        for (text, meaning) in [
            ("TRIALID", Message::TrialStart("")),
            ("TRIALID 1 a b", Message::TrialStart("1 a b")),
            ("TRIAL_RESULT 0", Message::TrialEnd),
            (
                "GAZE_COORDS 0.00 0.00 1279.00 1023.00",
                Message::Coordinates([0.0, 0.0, 1279.0, 1023.0]),
            ),
            ("DISPLAY_COORDS 0 0 nan 5", Message::Other),
            ("DISPLAY_COORDS 0 0 0 0", Message::Other),
            (
                "!V IMGLOAD CENTER ../pics/a b.png 512 384.5 20 20",
                Message::Picture("a b.png"),
            ),
            (r"!V IMGLOAD FILL d:\x\y.jpg", Message::Picture("y.jpg")),
            ("!V IMGLOAD FILL", Message::Other),
            (
                "!V TRIAL_VAR Image_Name pics/q.bmp",
                Message::Variable("q.bmp"),
            ),
            ("!V TRIAL_VAR image -1", Message::Other),
            ("!V TRIAL_VAR imagery strong", Message::Other),
        ] {
            assert_eq!(Message::of(text), meaning, "{text}");
        }
    }
}
