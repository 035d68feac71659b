//! The form fields of the page. An empty field leaves the choice to the program. Names are those of the command line.

use crate::problem::Problem;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use veilpath::Choice;
use veilpath::encode::{
    CoordinateUnit, DetectionOptions, DrawnArea, DrawnOutline, EncodeField, EncodeOptions,
    EventChoice, LetterMap, LetterOptions, NamePattern, ReadOptions, RunOptions, ScreenLength,
};

/// What the files do not say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ReadForm {
    pub(crate) format: String,
    pub(crate) screen: String,
    pub(crate) screen_cm: String,
    pub(crate) distance: String,
    pub(crate) units: String,
    pub(crate) time_unit: String,
    pub(crate) rate: String,
    pub(crate) flip_y: bool,
    pub(crate) eye: String,
    pub(crate) rows: String,
    pub(crate) events: String,
    pub(crate) participant: String,
    pub(crate) stimulus: String,
    pub(crate) name_pattern: String,
    pub(crate) columns: BTreeMap<String, String>,
}

/// How points become letters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LetterForm {
    /// `grid`, `areas` or `column`.
    pub(crate) placing: String,
    pub(crate) grid: String,
    pub(crate) areas: Vec<AreaForm>,
    pub(crate) outside: String,
    pub(crate) bin: String,
    pub(crate) drop_empty: bool,
    pub(crate) keep_fixations: bool,
    pub(crate) detect: String,
    pub(crate) velocity: String,
    pub(crate) dispersion: String,
    pub(crate) min_duration: String,
    pub(crate) min_dwell: String,
    pub(crate) max_gap: String,
    pub(crate) max_repeats: String,
}

/// An area that was drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AreaForm {
    pub(crate) name: String,
    pub(crate) stimulus: Option<String>,
    /// `rectangle` or `polygon`.
    pub(crate) shape: String,
    pub(crate) corners: Vec<(f64, f64)>,
}

impl Default for LetterForm {
    fn default() -> Self {
        Self {
            placing: "grid".into(),
            grid: "7x7".into(),
            areas: Vec::new(),
            outside: "drop".into(),
            bin: String::new(),
            drop_empty: false,
            keep_fixations: false,
            detect: "runs".into(),
            velocity: String::new(),
            dispersion: String::new(),
            min_duration: String::new(),
            min_dwell: String::new(),
            max_gap: String::new(),
            max_repeats: String::new(),
        }
    }
}

impl ReadForm {
    /// The options, except those about letters.
    pub(crate) fn options(&self) -> Result<EncodeOptions, Problem> {
        use EncodeField as Field;
        let text = |text: &str| Some(text.trim().to_string()).filter(|text| !text.is_empty());
        let read = ReadOptions {
            screen: size(&self.screen, Field::Screen)?,
            screen_cm: size(&self.screen_cm, Field::ScreenCm)?,
            distance_cm: number(&self.distance, Field::Distance)?,
            units: choice(&self.units, Field::Units)?,
            time_unit: choice(&self.time_unit, Field::TimeUnit)?,
            flip_y: self.flip_y,
            rate_hz: number(&self.rate, Field::Rate)?,
            eye: choice(&self.eye, Field::Eye)?.unwrap_or_default(),
            rows: choice(&self.rows, Field::Rows)?.unwrap_or_default(),
            events: match text(&self.events) {
                None => None,
                Some(words) => {
                    let parsed = words.parse::<EventChoice>();
                    Some(parsed.map_err(|problem| wrong(problem.to_string(), Field::Events))?)
                }
            },
            participant: text(&self.participant),
            stimulus: text(&self.stimulus),
            name_pattern: match text(&self.name_pattern) {
                None => None,
                Some(pattern) => {
                    let parsed = NamePattern::parse(&pattern);
                    Some(parsed.map_err(|problem| wrong(problem.to_string(), Field::NamePattern))?)
                }
            },
            columns: self
                .columns
                .iter()
                .filter_map(|(ours, theirs)| Some((ours.clone(), text(theirs)?)))
                .collect(),
        };
        Ok(EncodeOptions {
            format: text(&self.format),
            read,
            ..EncodeOptions::default()
        })
    }
}

impl LetterForm {
    /// The same without the values of hidden fields, which belong to a detector that is not chosen.
    pub(crate) fn visible(&self) -> Self {
        let mut form = self.clone();
        let is_chosen = |detector: &str| self.detect == detector;
        for (value, is_shown) in [
            (&mut form.velocity, is_chosen("ivt")),
            (&mut form.dispersion, is_chosen("idt")),
            (&mut form.min_duration, !is_chosen("runs")),
            (&mut form.min_dwell, is_chosen("runs")),
            (&mut form.max_gap, is_chosen("runs")),
        ] {
            if !is_shown {
                value.clear();
            }
        }
        form
    }

    /// The options; `letter_map` says where areas come from.
    pub(crate) fn options(&self, letter_map: LetterMap) -> Result<LetterOptions, Problem> {
        self.visible().options_of_all(letter_map)
    }

    fn options_of_all(&self, letter_map: LetterMap) -> Result<LetterOptions, Problem> {
        use EncodeField as Field;
        let mut given = Vec::new();
        let mut set = |text: &str, field: Field| -> Result<Option<f64>, Problem> {
            let value = number(text, field)?;
            if value.is_some() {
                given.push(field);
            }
            Ok(value)
        };
        let runs = RunOptions::default();
        let detection = DetectionOptions::default();
        let min_dwell_ms = set(&self.min_dwell, Field::MinDwell)?.unwrap_or(runs.min_dwell_ms);
        let max_gap_ms = set(&self.max_gap, Field::MaxGap)?;
        let min_duration = set(&self.min_duration, Field::MinDuration)?;
        let length = |text: &str, default, field| match text.trim() {
            "" => Ok(default),
            text => text
                .parse::<ScreenLength>()
                .map_err(|problem| wrong(problem.to_string(), field)),
        };
        Ok(LetterOptions {
            letter_map,
            outside: choice(&self.outside, Field::Grid)?.unwrap_or_default(),
            detection: DetectionOptions {
                detector: choice(&self.detect, Field::Detect)?.unwrap_or_default(),
                velocity: length(&self.velocity, detection.velocity, Field::Velocity)?,
                dispersion: length(&self.dispersion, detection.dispersion, Field::Dispersion)?,
                min_duration_ms: min_duration.unwrap_or(detection.min_duration_ms),
                ..detection
            },
            runs: RunOptions {
                min_dwell_ms,
                max_gap_ms: max_gap_ms.unwrap_or(runs.max_gap_ms),
                cap: match self.max_repeats.trim() {
                    "" => runs.cap,
                    "0" => None,
                    text => {
                        let parsed = text.parse();
                        let expected = "expected a whole number, 0 for no limit";
                        Some(parsed.map_err(|_| wrong(expected, Field::MaxRepeats))?)
                    }
                },
                ..runs
            },
            bin_ms: number(&self.bin, Field::Bin)?,
            matlab_compat: false,
            drop_empty: self.drop_empty,
            keep_fixations: self.keep_fixations,
            notation: None,
            given,
        })
    }

    /// The letter map, unless it needs drawn areas.
    pub(crate) fn letter_map(&self) -> Result<Option<LetterMap>, Problem> {
        Ok(match self.placing.as_str() {
            "areas" => None,
            "column" => Some(LetterMap::AoiColumn { names: None }),
            _ => {
                let expected = "expected columns and rows, as in 7x7";
                let grid = self.grid.trim().parse();
                let grid = grid.map_err(|_| wrong(expected, EncodeField::Grid))?;
                Some(LetterMap::Grid(grid))
            }
        })
    }

    /// The drawn areas.
    pub(crate) fn drawn(&self) -> Result<Vec<DrawnArea>, Problem> {
        let areas = self.areas.iter().map(|area| {
            let finite = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
            let corners = area.corners.iter();
            let outline = match (area.shape.as_str(), &area.corners[..]) {
                _ if !corners.clone().all(finite) => None,
                ("rectangle", &[first, second]) => Some(DrawnOutline::Rectangle([first, second])),
                ("polygon", [_, _, _, ..]) => Some(DrawnOutline::Polygon(area.corners.clone())),
                _ => None,
            };
            let problem = || wrong("this area has no outline", EncodeField::AoiFile);
            Ok(DrawnArea {
                name: area.name.clone(),
                stimulus: area.stimulus.clone(),
                outline: outline.ok_or_else(problem)?,
            })
        });
        areas.collect()
    }
}

/// The units of coordinates, with their names for people.
pub(crate) fn unit_names() -> Vec<(&'static str, &'static str)> {
    let units = CoordinateUnit::CHOICES.iter();
    units.map(|(name, unit)| (*name, unit.name())).collect()
}

fn choice<T: Choice>(text: &str, field: EncodeField) -> Result<Option<T>, Problem> {
    if text.is_empty() {
        return Ok(None);
    }
    let found = T::named(text).map(Some);
    found.map_err(|_| wrong("this choice is unknown", field))
}

fn number(text: &str, field: EncodeField) -> Result<Option<f64>, Problem> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let number = text.trim().parse::<f64>();
    number
        .map(Some)
        .map_err(|_| wrong("expected a number", field))
}

fn size(text: &str, field: EncodeField) -> Result<Option<(f64, f64)>, Problem> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let sides = text.split_once(['x', 'X', '×', '*']);
    let (width, height) = sides.unwrap_or(("", ""));
    match (number(width, field)?, number(height, field)?) {
        (Some(width), Some(height)) => Ok(Some((width, height))),
        _ => Err(wrong("expected width and height, as in 1280x720", field)),
    }
}

fn wrong(problem: impl Into<String>, field: EncodeField) -> Problem {
    Problem {
        fields: vec![field],
        ..Problem::new(problem, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_boxes_have_no_effect() {
        let form = LetterForm {
            detect: "idt".into(),
            velocity: "800px".into(),
            dispersion: "40px".into(),
            min_dwell: "300".into(),
            min_duration: "80".into(),
            ..LetterForm::default()
        };
        let visible = form.visible();
        assert_eq!(visible.velocity, "");
        assert_eq!(visible.min_dwell, "");
        assert_eq!(visible.dispersion, "40px");
        assert_eq!(visible.min_duration, "80");
        let letter_map = form.letter_map().unwrap().unwrap();
        let given = form.options(letter_map).unwrap().given;
        assert_eq!(given, [EncodeField::MinDuration]);
    }
}
