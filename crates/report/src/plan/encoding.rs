//! The encoding in words.

use super::{by, truncated};
use std::collections::BTreeMap;
use veilpath_metrics::EncodingSetting;

/// How letters were made. Unknown settings, and known ones with unknown values, appear by name.
pub(super) fn describe(settings: &BTreeMap<String, String>) -> String {
    if settings.is_empty() {
        return "neither cohort says how its letters were encoded.".into();
    }
    let known = EncodingSetting::ALL.into_iter();
    let known = known.filter_map(|setting| Some((setting, setting.value_in(settings)?)));
    let mut parts: Vec<String> = Vec::new();
    for (setting, value) in known {
        match (phrase(setting, value, settings), parts.last_mut()) {
            // Rounding and the cap belong to the letters of a run.
            (Some((true, words)), Some(last)) => last.push_str(&format!(", {words}")),
            (Some((_, words)), _) => parts.push(words),
            (None, _) => parts.push(by_name(setting.name(), value)),
        }
    }
    let is_known = |name: &str| EncodingSetting::ALL.iter().any(|it| it.is_named(name));
    let others = settings.iter().filter(|(name, _)| !is_known(name));
    parts.extend(others.map(|(name, value)| by_name(name, value)));
    format!("{}.", parts.join("; "))
}

/// The words for a setting, and whether they continue the previous ones; `None` for an unknown value.
fn phrase(
    setting: EncodingSetting,
    text: &str,
    settings: &BTreeMap<String, String>,
) -> Option<(bool, String)> {
    let value = truncated(text);
    let of_runs = EncodingSetting::MinDwell.value_in(settings).is_some();
    let words = match setting {
        EncodingSetting::Data => format!("made from {value}"),
        EncodingSetting::Grid => format!("grid of {} cells", by(&value)),
        EncodingSetting::Outside => format!("points off the stimulus {value}"),
        EncodingSetting::Areas => format!("areas of interest: {value}"),
        EncodingSetting::Detector => format!("fixations detected by {value}"),
        EncodingSetting::MinDuration => format!("shortest fixation {value}"),
        EncodingSetting::Bin => format!("a letter for every {value}"),
        EncodingSetting::MinDwell => {
            let place = match EncodingSetting::Grid.value_in(settings) {
                Some(_) => "a grid cell",
                None => "an area",
            };
            format!("one letter per {value} in {place}")
        }
        EncodingSetting::Downsize if of_runs => {
            let words = match text {
                "floor" => "rounded down",
                "round" => "rounded to the nearest number",
                "ceil" => "rounded up",
                _ => return None,
            };
            return Some((true, words.into()));
        }
        EncodingSetting::MaxRepeats if of_runs => match text {
            "0" => return Some((true, "any number per run".into())),
            _ => return Some((true, format!("at most {value} per run"))),
        },
        EncodingSetting::Merge => match text {
            "yes" => "equal neighbouring runs are merged".into(),
            "no" => "equal neighbouring runs are not merged".into(),
            _ => return None,
        },
        EncodingSetting::MaxGap => format!("gaps up to {value} are bridged"),
        EncodingSetting::Runs => match text {
            "time" => "runs are measured by timestamps".into(),
            "count" => "runs are measured by the number of samples".into(),
            _ => return None,
        },
        EncodingSetting::Downsize | EncodingSetting::MaxRepeats => return None,
    };
    Some((false, words))
}

fn by_name(name: &str, value: &str) -> String {
    format!(
        "{} {}",
        truncated(&name.replace('-', " ")),
        truncated(value)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(settings: &[(&str, &str)]) -> String {
        let settings = settings.iter();
        describe(
            &settings
                .map(|&(name, value)| (name.to_string(), value.to_string()))
                .collect(),
        )
    }

    #[test]
    fn encodings_of_gaze_are_described_in_words() {
        let mut settings = vec![
            ("data", "gaze"),
            ("grid", "7x7"),
            ("outside", "dropped"),
            ("min-dwell", "100 ms"),
            ("max-gap", "75 ms"),
            ("downsize", "floor"),
            ("merge", "yes"),
            ("max-repeats", "3"),
            ("runs", "time"),
        ];
        assert_eq!(
            described(&settings),
            "made from gaze; grid of 7 × 7 cells; points off the stimulus dropped; \
             one letter per 100 ms in a grid cell, rounded down, at most 3 per run; \
             equal neighbouring runs are merged; gaps up to 75 ms are bridged; \
             runs are measured by timestamps."
        );
        settings.retain(|(name, _)| !["grid", "max-repeats"].contains(name));
        settings.extend([("max-repeats", "0"), ("areas", "face, hand")]);
        assert!(
            described(&settings)
                .contains("one letter per 100 ms in an area, rounded down, any number per run;")
        );
    }

    #[test]
    fn unknown_settings_and_values_appear_by_name() {
        assert_eq!(
            described(&[
                ("bin", "50 ms"),
                ("downsize", "floor"),
                ("merge", "maybe"),
                ("min-dwell", "9 ms"),
                ("runs", "x\u{1b}"),
                ("eye-colour", "green")
            ]),
            "a letter for every 50 ms; one letter per 9 ms in an area, rounded down; merge maybe; \
             runs x\u{fffd}; eye colour green."
        );
        assert_eq!(described(&[("downsize", "floor")]), "downsize floor.");
        assert!(described(&[]).starts_with("neither cohort says"));
    }
}
