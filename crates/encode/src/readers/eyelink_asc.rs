//! EyeLink recordings as text (`.asc`), as SR Research's edf2asc writes them.
//!
//! - A line belongs to the trial that contains it. A fixation, whose line is written when it ends, belongs to the trial
//!   in which it started. Lines before the first `TRIALID` or between `TRIAL_RESULT` and the next `TRIALID` belong to
//!   no trial.
//! - A trial is named after its picture (`!V TRIAL_VAR image …`, else the first `!V IMGLOAD`), else after the text that
//!   follows `TRIALID`, or `trial n` if that is a number. A second trial with the same name is called `name (2)`.
//! - Without `TRIALID`, a file is one recording, or `block n` for each start of recording if there are several.
//! - Every line with a time counts as a row; unused samples, saccades and messages are counted as other events.

use super::common::{CurrentRecording, report_fixation, report_given_size, sampling_rate};
use super::eyelink_lines::{AscLine, Message, Survey, TrialNames};
use super::eyelink_trials::{TrialHistory, TrialState};
use super::repeats::Repeats;
use super::{Format, SupportedOptions, names_of, oriented};
use crate::{
    Dropped, EncodeField, Eye, Head, Input, Kind, NamesInFile, ReadError, ReadOptions, Recording,
    RecordingId, RowChoice, Sample, Sink, Space, SpaceKind, is_missing,
};

pub(crate) struct EyelinkAsc;

impl Format for EyelinkAsc {
    fn name(&self) -> &'static str {
        "eyelink-asc"
    }

    fn title(&self) -> &'static str {
        "EyeLink ASC (SR Research)"
    }

    fn accepts(&self) -> SupportedOptions {
        SupportedOptions {
            units: false,
            time_unit: false,
            eye: true,
            ..SupportedOptions::default()
        }
    }

    fn recognises(&self, head: &Head) -> bool {
        !head.binary && head.lines.iter().any(|line| is_typical(line))
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        let head = input.head();
        if is_edf(&head) {
            return Err(
                ReadError::new(input.name(), "this is EyeLink's binary EDF, not its text")
                    .with_remedy("convert it with SR Research's edf2asc and read the .asc file"),
            );
        }
        if head.is_blank() {
            return Err(ReadError::new(input.name(), "the file is empty")
                .with_remedy("expected an EyeLink .asc file, as edf2asc writes it"));
        }
        let survey = Survey::of(&input, sink)?;
        let mut reader = Reader::new(&input, survey, options, sink)?;
        let mut lines = input.into_lines();
        loop {
            reader.line = lines.number() + 1;
            match lines.next_line()? {
                Some(line) => reader.take(&line)?,
                None => {
                    reader.repeats.report(reader.sink);
                    return Ok(());
                }
            }
        }
    }
}

/// The far edge of the screen. The messages give the last pixel: 0 to 1279 for a screen of 1280. If that would make an
/// odd number of pixels, which no screen has, the experiment's script gave the size itself.
fn far_edge(first: f64, last: f64) -> f64 {
    match (last - first).rem_euclid(2.0) == 0.0 {
        true => last,
        false => last + 1.0,
    }
}

struct Reader<'a> {
    file: String,
    line: u64,
    options: &'a ReadOptions,
    sink: &'a mut dyn Sink,
    survey: Survey,
    fixations_wanted: bool,
    participant: String,
    /// The stimulus of the whole file, if it has at most one trial.
    only_stimulus: Option<String>,
    trial_history: TrialHistory,
    trials: usize,
    blocks: usize,
    repeats: Repeats,
    /// Whether the current block has the left and the right eye.
    eyes: (bool, bool),
    rate_hz: Option<f64>,
    space: Option<Space>,
    current: CurrentRecording,
}

impl<'a> Reader<'a> {
    fn new(
        input: &Input,
        survey: Survey,
        options: &'a ReadOptions,
        sink: &'a mut dyn Sink,
    ) -> Result<Self, ReadError> {
        let fixations_wanted = match options.rows {
            RowChoice::Fixations => true,
            RowChoice::Samples => false,
            RowChoice::Any if survey.complete => survey.fixations,
            RowChoice::Any => survey.fixations || survey.events_announced,
        };
        if survey.complete {
            let (there, problem, remedy) = if fixations_wanted {
                let remedy = "read its samples, or convert the EDF file with events";
                (
                    survey.fixations,
                    "there is no fixation (EFIX) in this file",
                    remedy,
                )
            } else {
                let remedy = "convert the EDF file with events or samples, and with gaze positions";
                (
                    survey.samples,
                    "there is no gaze sample in this file",
                    remedy,
                )
            };
            if !there {
                let error = ReadError::new(input.name(), problem).with_remedy(remedy);
                return Err(error.with_fields(&[EncodeField::Rows]));
            }
        } else {
            sink.assumed(
                "trials are named after their TRIALID only, because a pipe cannot be read twice",
                &[],
            );
        }
        if fixations_wanted && options.rows == RowChoice::Any {
            sink.assumed(
                "the tracker's fixations were read, not its samples",
                &[EncodeField::Rows],
            );
        }
        let single = match survey.trials.as_slice() {
            [trial] if survey.complete => Some(trial),
            _ => None,
        };
        let (participant, only_stimulus) = names_of(
            input,
            options,
            NamesInFile {
                participant: None,
                stimulus: single.and_then(TrialNames::meaningful).map(str::to_string),
            },
            sink,
        )?;
        let state = match survey.trials.is_empty() {
            true => TrialState::Stimulus(only_stimulus.clone()),
            false => TrialState::BetweenTrials,
        };
        Ok(Self {
            file: input.name().to_string(),
            line: 0,
            options,
            sink,
            fixations_wanted,
            participant,
            only_stimulus: only_stimulus.filter(|_| single.is_some() || survey.trials.is_empty()),
            trial_history: TrialHistory::new(state),
            trials: 0,
            blocks: 0,
            repeats: Repeats::default(),
            eyes: (false, false),
            rate_hz: options.rate_hz,
            space: options
                .screen
                .map(|(width, height)| oriented(Space::pixels(width, height), options)),
            current: CurrentRecording::default(),
            survey,
        })
    }

    fn take(&mut self, line: &str) -> Result<(), ReadError> {
        match AscLine::of(line) {
            AscLine::Nothing => {}
            AscLine::Setup(line) => self.set_up(line)?,
            AscLine::Other => self.sink.dropped(Dropped::OtherEvent),
            AscLine::Message(time, text) => {
                self.sink.dropped(Dropped::OtherEvent);
                self.receive(time, Message::of(text));
            }
            AscLine::Fixation(line) if self.fixations_wanted => self.fixation(line)?,
            AscLine::Sample(line) if !self.fixations_wanted => self.sample(line)?,
            AscLine::Fixation(_) | AscLine::Sample(_) => self.sink.dropped(Dropped::OtherEvent),
        }
        Ok(())
    }

    /// `START time LEFT RIGHT …`, `SAMPLES GAZE LEFT RATE 1000.00 …`, and the same for `EVENTS`.
    fn set_up(&mut self, line: &str) -> Result<(), ReadError> {
        let mut words = line.split_ascii_whitespace();
        let kind = words.next().unwrap_or("");
        if kind == "START" {
            self.blocks += 1;
            self.eyes = (false, false);
            if self.survey.trials.is_empty()
                && self.survey.blocks > 1
                && self.only_stimulus.is_none()
            {
                let time = words.clone().next().and_then(|time| time.parse().ok());
                let block = format!("block {}", self.blocks);
                self.trial_history
                    .enter(time, TrialState::Stimulus(Some(block)));
                self.sink.assumed("no trials are marked (TRIALID); each start of recording counts as a separate stimulus", &[]);
            }
        }
        let used = match kind {
            "EVENTS" => self.fixations_wanted,
            _ => kind == "SAMPLES" && !self.fixations_wanted,
        };
        while let Some(word) = words.next() {
            match word {
                "LEFT" => self.eyes.0 = true,
                "RIGHT" => self.eyes.1 = true,
                "RATE" if kind == "SAMPLES" && used => {
                    let rate = words.next().and_then(|rate| rate.parse::<f64>().ok());
                    let rate = rate.filter(|rate| rate.is_finite() && *rate > 0.0);
                    self.rate_hz = sampling_rate(rate, self.options, self.sink);
                }
                "HREF" | "PUPIL" | "RAW" if used => {
                    return Err(ReadError::new(
                        &self.file,
                        "the positions in this file are not on the screen (HREF or raw pupil)",
                    )
                    .at_line(self.line)
                    .with_remedy(
                        "convert the EDF file again with gaze positions, edf2asc's default",
                    ));
                }
                _ => {}
            }
        }
        if self.eyes == (true, true) && self.options.eye == Eye::Any {
            self.sink.assumed(
                "both eyes were recorded; the left one was used",
                &[EncodeField::Eye],
            );
        }
        Ok(())
    }

    fn receive(&mut self, time: Option<f64>, message: Message<'_>) {
        match message {
            Message::TrialStart(id) => {
                let name = match (&self.only_stimulus, self.survey.trials.get(self.trials)) {
                    (Some(name), _) => name.clone(),
                    (None, Some(trial)) => trial.name(self.sink),
                    (None, None) => TrialNames::of_id(id).name(self.sink),
                };
                self.trials += 1;
                let trial = self.trials.to_string();
                let name = self.repeats.name(&self.participant, &name, &trial);
                self.trial_history
                    .enter(time, TrialState::Stimulus(Some(name)));
            }
            Message::TrialEnd if self.trials > 0 => {
                self.trial_history.enter(time, TrialState::BetweenTrials)
            }
            Message::Coordinates([left, top, right, bottom]) if self.options.screen.is_some() => {
                let stated = (far_edge(left, right) - left, far_edge(top, bottom) - top);
                report_given_size(Some(stated), self.options, self.sink);
            }
            Message::Coordinates([left, top, right, bottom]) => {
                let space = Space {
                    left,
                    top,
                    right: self.edge(left, right),
                    bottom: self.edge(top, bottom),
                    kind: SpaceKind::Pixels,
                };
                self.space = Some(oriented(space, self.options));
            }
            _ => {}
        }
    }

    /// The far edge of the screen; a size that is inferred from it is reported.
    fn edge(&mut self, first: f64, last: f64) -> f64 {
        let edge = far_edge(first, last);
        if edge == last {
            let size = last - first;
            let text = format!(
                "the screen's coordinates end at {last}, an even number, so its size is assumed to be {size}, not {}",
                size + 1.0
            );
            self.sink.assumed(&text, &[EncodeField::Screen]);
        }
        edge
    }

    /// The recording of a row; a fixation belongs to the trial in which it started.
    fn recording(&mut self, started: Option<f64>) -> Result<Option<RecordingId>, ReadError> {
        let TrialState::Stimulus(stimulus) = self.trial_history.at(started) else {
            self.sink.dropped(Dropped::NoStimulus);
            return Ok(None);
        };
        let kind = if self.fixations_wanted {
            Kind::Fixations
        } else {
            Kind::Gaze {
                rate_hz: self.rate_hz,
            }
        };
        self.current
            .enter(
                self.sink,
                &Recording {
                    participant: &self.participant,
                    stimulus: stimulus.as_deref(),
                    kind,
                    space: self.space,
                },
            )
            .map(Some)
    }

    /// Whether the right eye is the one to read.
    fn wants_right_eye(&self) -> bool {
        match self.options.eye {
            Eye::Left => false,
            Eye::Right => true,
            Eye::Any if self.eyes == (false, false) => !self.survey.left,
            Eye::Any => !self.eyes.0,
        }
    }

    /// `EFIX eye start end duration x y pupil`.
    fn fixation(&mut self, line: &str) -> Result<(), ReadError> {
        let mut words = line.split_ascii_whitespace().skip(1);
        let right = match words.next() {
            Some("L") => false,
            Some("R") => true,
            _ => return Err(self.bad_field(1, "eye", "expected L or R")),
        };
        if right != self.wants_right_eye() {
            self.sink.dropped(Dropped::OtherEye);
            return Ok(());
        }
        let start_ms = words.next().and_then(|start| start.parse().ok());
        let Some(recording) = self.recording(start_ms)? else {
            return Ok(());
        };
        let mut words = words.skip(1);
        let duration = self.number(words.next(), 4, "duration")?;
        let x = self.number(words.next(), 5, "x")?;
        let y = self.number(words.next(), 6, "y")?;
        report_fixation(self.sink, recording, x.zip(y), start_ms, duration, None);
        Ok(())
    }

    /// `time x y pupil …`, or `time x y pupil x y pupil …` for the left and the right eye.
    fn sample(&mut self, line: &str) -> Result<(), ReadError> {
        let right = self.wants_right_eye();
        let first = match self.eyes {
            (true, true) if right => 4,
            (true, false) if right => 0,
            (false, true) if !right => 0,
            _ => 1,
        };
        if first == 0 {
            self.sink.dropped(Dropped::OtherEye);
            return Ok(());
        }
        let Some(recording) = self.recording(None)? else {
            return Ok(());
        };
        let mut words = line.split_ascii_whitespace();
        let time_ms = self.number(words.next(), 0, "time")?;
        let mut words = words.skip(first - 1);
        let x = self.number(words.next(), first, "x")?;
        let y = self.number(words.next(), first + 1, "y")?;
        self.sink.sample(
            recording,
            Sample {
                time_ms,
                point: x.zip(y),
                aoi: None,
            },
        );
        Ok(())
    }

    fn number(
        &self,
        word: Option<&str>,
        column: usize,
        name: &str,
    ) -> Result<Option<f64>, ReadError> {
        let word = word.ok_or_else(|| self.bad_field(column, name, "this line ends too early"))?;
        match word.parse::<f64>() {
            Ok(number) => Ok(Some(number).filter(|number| number.is_finite())),
            Err(_) if is_missing(word) => Ok(None),
            Err(_) => Err(self.bad_field(column, name, "this is not a number")),
        }
    }

    fn bad_field(&self, column: usize, name: &str, problem: &str) -> ReadError {
        ReadError::new(&self.file, problem)
            .at_line(self.line)
            .at_column(column, name)
            .with_remedy("correct the line or remove it, or convert the EDF file again")
    }
}

/// Whether this is the binary original, which users tend to try first.
fn is_edf(head: &Head) -> bool {
    head.lines
        .first()
        .is_some_and(|line| line.starts_with("SR_RESEARCH"))
}

/// Whether only EyeLink software writes such a line.
fn is_typical(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let number = |words: &mut std::str::SplitAsciiWhitespace<'_>| {
        words.next().is_some_and(|word| word.parse::<f64>().is_ok())
    };
    match words.next() {
        Some("**") => line.starts_with("** CONVERTED FROM") || line.contains("EDF_FILE"),
        Some("MSG" | "START") => number(&mut words),
        Some("SFIX" | "EFIX" | "SSACC" | "ESACC" | "SBLINK" | "EBLINK") => {
            matches!(words.next(), Some("L" | "R")) && number(&mut words)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
