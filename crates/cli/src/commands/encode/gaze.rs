//! The flags about raw gaze.

use super::names::{DetectorName, DownsizeName, RunsName};
use crate::numbers::decimal;
use clap::Args;
use veilpath::encode::{DetectionOptions, EncodeField, RunOptions, ScreenLength, VelocityMethod};

/// How raw gaze is reduced. The fields are `Option`s, so that a flag without effect is reported even if its value is the
/// default.
#[derive(Debug, Args)]
#[command(next_help_heading = "Raw gaze (no effect on files of fixations)")]
pub(super) struct GazeArgs {
    /// What becomes a letter: a run, which is a stay in one grid cell (or area of interest), or a detected fixation [default: runs]
    #[arg(long, value_enum, value_name = "HOW")]
    detect: Option<DetectorName>,

    /// With ivt: samples at this speed or above belong to a saccade; per second, as in 30deg or 1200px [default: 20deg]
    #[arg(long, value_name = "SPEED", value_parser = speed)]
    velocity: Option<ScreenLength>,

    /// With ivt: how to compute speed: preceding, neighbors, fivepoint or savitzky-golay[:WINDOW:DEGREE] [default: fivepoint]
    #[arg(long, value_name = "METHOD")]
    velocity_method: Option<VelocityMethod>,

    /// With idt: the largest extent of a fixation (its width plus its height), as in 1deg or 40px [default: 1deg]
    #[arg(long, value_name = "LENGTH")]
    dispersion: Option<ScreenLength>,

    /// With ivt and idt: drop fixations that are shorter than this, in milliseconds [default: 100]
    #[arg(
        long,
        value_name = "MS",
        allow_negative_numbers = true,
        value_parser = decimal
    )]
    min_duration: Option<f64>,

    /// Drop runs (stays in one grid cell) that are shorter than this; a longer run becomes one letter per MS milliseconds [default: 100]
    #[arg(
        long,
        value_name = "MS",
        allow_negative_numbers = true,
        value_parser = decimal
    )]
    min_dwell: Option<f64>,

    /// How to round the number of letters that a run (a stay in one grid cell) becomes: its length divided by --min-dwell
    /// [default: floor]
    #[arg(long, value_enum, value_name = "RULE")]
    downsize: Option<DownsizeName>,

    /// Do not merge equal runs when a short run between them is dropped
    #[arg(long)]
    no_merge: bool,

    /// Maximum number of letters per run; 0 for no limit [default: 3]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    max_repeats: Option<u32>,

    /// Longest gap without a gaze position within a run, in milliseconds [default: 75]
    #[arg(
        long,
        value_name = "MS",
        allow_negative_numbers = true,
        value_parser = decimal
    )]
    max_gap: Option<f64>,

    /// How to measure the length of a run (a stay in one grid cell) [default: time]
    #[arg(long, value_enum, value_name = "HOW")]
    runs: Option<RunsName>,
}

impl GazeArgs {
    pub(super) fn options(&self) -> RunOptions {
        let usual = RunOptions::default();
        RunOptions {
            min_dwell_ms: self.min_dwell.unwrap_or(usual.min_dwell_ms),
            downsize: self.downsize.map_or(usual.downsize, Into::into),
            merge: !self.no_merge,
            cap: match self.max_repeats {
                None => usual.cap,
                Some(most) => (most > 0).then_some(most),
            },
            max_gap_ms: self.max_gap.unwrap_or(usual.max_gap_ms),
            by: self.runs.map_or(usual.by, Into::into),
        }
    }

    pub(super) fn detection(&self) -> DetectionOptions {
        let usual = DetectionOptions::default();
        DetectionOptions {
            detector: self.detect.map_or(usual.detector, Into::into),
            velocity: self.velocity.unwrap_or(usual.velocity),
            velocity_method: self.velocity_method.unwrap_or(usual.velocity_method),
            dispersion: self.dispersion.unwrap_or(usual.dispersion),
            min_duration_ms: self.min_duration.unwrap_or(usual.min_duration_ms),
        }
    }

    pub(super) fn given_fields(&self) -> Vec<EncodeField> {
        let given = [
            (EncodeField::Detect, self.detect.is_some()),
            (EncodeField::Velocity, self.velocity.is_some()),
            (EncodeField::VelocityMethod, self.velocity_method.is_some()),
            (EncodeField::Dispersion, self.dispersion.is_some()),
            (EncodeField::MinDuration, self.min_duration.is_some()),
            (EncodeField::MinDwell, self.min_dwell.is_some()),
            (EncodeField::Downsize, self.downsize.is_some()),
            (EncodeField::Merge, self.no_merge),
            (EncodeField::MaxRepeats, self.max_repeats.is_some()),
            (EncodeField::MaxGap, self.max_gap.is_some()),
            (EncodeField::Runs, self.runs.is_some()),
        ];
        let given = given.into_iter().filter(|(_, given)| *given);
        given.map(|(field, _)| field).collect()
    }
}

/// A length per second; "/s" may be left out.
fn speed(text: &str) -> Result<ScreenLength, String> {
    let length = text.trim();
    let length = length.strip_suffix("/s").unwrap_or(length);
    let read = length.parse::<ScreenLength>();
    read.map_err(|_| "expected a number with its unit, as in 20deg or 800px".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        gaze: GazeArgs,
    }

    #[test]
    fn the_help_shows_the_defaults() {
        let usual = RunOptions::default();
        let detection = DetectionOptions::default();
        let without_space = |length: ScreenLength| length.to_string().replace(' ', "");
        let help = Command::command().render_help().to_string();
        // The help text is wrapped.
        let help: Vec<&str> = help.split_whitespace().collect();
        let help = help.join(" ");
        let repeats = usual.cap.unwrap_or(0).to_string();
        for (flag, value) in [
            ("--detect", detection.detector.name().to_string()),
            ("--velocity", without_space(detection.velocity)),
            ("--velocity-method", detection.velocity_method.to_string()),
            ("--dispersion", without_space(detection.dispersion)),
            ("--min-duration", detection.min_duration_ms.to_string()),
            ("--min-dwell", usual.min_dwell_ms.to_string()),
            ("--downsize", usual.downsize.name().to_string()),
            ("--max-repeats", repeats),
            ("--max-gap", usual.max_gap_ms.to_string()),
            ("--runs", usual.by.name().to_string()),
        ] {
            let (_, after) = help.split_once(&format!("{flag} <")).unwrap();
            let (_, default) = after.split_once("[default: ").unwrap();
            assert!(default.starts_with(&format!("{value}]")), "{flag}");
        }
    }

    #[test]
    fn an_explicit_default_counts_as_given() {
        let parsed = |args: &[&str]| Command::parse_from(args).gaze;
        let given = parsed(&["encode", "--min-dwell", "100"]);
        assert_eq!(given.given_fields(), [EncodeField::MinDwell]);
        assert_eq!(given.options(), RunOptions::default());
        let given = parsed(&["encode", "--velocity", "20deg/s"]);
        assert_eq!(given.given_fields(), [EncodeField::Velocity]);
        assert_eq!(given.detection(), DetectionOptions::default());
        assert!(parsed(&["encode"]).given_fields().is_empty());
    }
}
