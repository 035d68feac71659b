//! Choices that a user makes by name. All front ends share the names.

use crate::UnknownName;
use crate::encode::{
    CoordinateUnit, Detector, Downsize, Eye, Outside, RowChoice, RunsBy, TimeUnit,
};
use veilpath_protocol::RevealTo;

/// A type whose values users choose by name.
pub trait Choice: Copy + PartialEq + 'static {
    /// Every choice, with its name.
    const CHOICES: &'static [(&'static str, Self)];

    /// Looks up a choice by name.
    fn named(name: &str) -> Result<Self, UnknownName> {
        let mut all = Self::CHOICES.iter();
        let found = all.find(|(known, _)| *known == name);
        found.map(|(_, choice)| *choice).ok_or_else(|| UnknownName {
            name: name.to_string(),
            known: Self::CHOICES.iter().map(|(known, _)| *known).collect(),
        })
    }
}

impl Choice for CoordinateUnit {
    const CHOICES: &'static [(&'static str, Self)] = &[
        ("px", CoordinateUnit::Pixels),
        ("px-centre", CoordinateUnit::CentredPixels),
        ("fraction", CoordinateUnit::Fraction),
        ("percent", CoordinateUnit::Percent),
        ("norm", CoordinateUnit::Centred),
        ("height", CoordinateUnit::ScreenHeights),
        ("deg", CoordinateUnit::VisualAngle),
        ("lonlat", CoordinateUnit::LonLat),
    ];
}

impl Choice for TimeUnit {
    const CHOICES: &'static [(&'static str, Self)] = &[
        ("s", TimeUnit::Seconds),
        ("ms", TimeUnit::Milliseconds),
        ("us", TimeUnit::Microseconds),
        ("ns", TimeUnit::Nanoseconds),
    ];
}

impl Choice for Eye {
    const CHOICES: &'static [(&'static str, Self)] = &[("left", Eye::Left), ("right", Eye::Right)];
}

impl Choice for RowChoice {
    const CHOICES: &'static [(&'static str, Self)] = &[
        ("fixations", RowChoice::Fixations),
        ("samples", RowChoice::Samples),
    ];
}

impl Choice for Outside {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("drop", Outside::Drop), ("clamp", Outside::Clamp)];
}

impl Choice for Downsize {
    const CHOICES: &'static [(&'static str, Self)] = &[
        ("floor", Downsize::Floor),
        ("round", Downsize::Round),
        ("ceil", Downsize::Ceil),
    ];
}

impl Choice for RunsBy {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("time", RunsBy::Time), ("count", RunsBy::Count)];
}

impl Choice for Detector {
    const CHOICES: &'static [(&'static str, Self)] = &[
        ("runs", Detector::Runs),
        ("ivt", Detector::Ivt),
        ("idt", Detector::Idt),
    ];
}

impl Choice for RevealTo {
    const CHOICES: &'static [(&'static str, Self)] = &[
        ("both", RevealTo::Both),
        ("host", RevealTo::Host),
        ("join", RevealTo::Join),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_others_are_listed() {
        assert_eq!(
            CoordinateUnit::named("deg"),
            Ok(CoordinateUnit::VisualAngle)
        );
        for (name, choice) in Detector::CHOICES {
            assert_eq!(choice.name(), *name);
        }
        for (name, choice) in Downsize::CHOICES {
            assert_eq!(choice.name(), *name);
        }
        for (name, choice) in RunsBy::CHOICES {
            assert_eq!(choice.name(), *name);
        }
        let error = Eye::named("both").unwrap_err();
        assert_eq!(error.to_string(), "\"both\" is not one of left, right");
    }
}
