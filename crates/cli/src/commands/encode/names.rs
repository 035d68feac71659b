//! The values of `encode`'s flags.

use clap::ValueEnum;
use veilpath::encode::{
    CoordinateUnit, Detector, Downsize, Eye, Outside, RowChoice, RunsBy, TimeUnit,
};

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum UnitName {
    /// Pixels, origin top left
    #[value(name = "px", alias = "pixels")]
    Pixels,
    /// Pixels from the centre of the screen, y up (PsychoPy's pix); needs --screen
    #[value(name = "px-centre", alias = "px-center")]
    CentredPixels,
    /// 0 to 1, origin top left
    #[value(alias = "normalized")]
    Fraction,
    /// 0 to 100, origin top left
    Percent,
    /// -1 to 1 from the centre, y up (PsychoPy's norm)
    #[value(name = "norm")]
    Centred,
    /// Screen heights from the centre, y up (PsychoPy's height); needs --screen
    #[value(name = "height")]
    ScreenHeights,
    /// Degrees of visual angle from the centre, y up; needs --screen-cm and --distance
    #[value(name = "deg", alias = "degrees")]
    VisualAngle,
    /// Longitude -180 to 180 and latitude -90 to 90 on a panorama
    #[value(name = "lonlat")]
    LonLat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum TimeName {
    /// Seconds
    S,
    /// Milliseconds
    Ms,
    /// Microseconds
    Us,
    /// Nanoseconds
    Ns,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum EyeName {
    /// The left eye
    Left,
    /// The right eye
    Right,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum RowsName {
    /// Fixations
    Fixations,
    /// Samples
    Samples,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum OutsideName {
    /// Drop and count them
    Drop,
    /// Move them to the nearest grid cell
    Clamp,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum DownsizeName {
    /// Round down
    Floor,
    /// Round to the nearest number
    Round,
    /// Round up
    Ceil,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum RunsName {
    /// By timestamps, if there are any
    Time,
    /// By counting samples
    Count,
}

impl From<UnitName> for CoordinateUnit {
    fn from(name: UnitName) -> Self {
        match name {
            UnitName::Pixels => CoordinateUnit::Pixels,
            UnitName::CentredPixels => CoordinateUnit::CentredPixels,
            UnitName::Fraction => CoordinateUnit::Fraction,
            UnitName::Percent => CoordinateUnit::Percent,
            UnitName::Centred => CoordinateUnit::Centred,
            UnitName::ScreenHeights => CoordinateUnit::ScreenHeights,
            UnitName::VisualAngle => CoordinateUnit::VisualAngle,
            UnitName::LonLat => CoordinateUnit::LonLat,
        }
    }
}

impl From<TimeName> for TimeUnit {
    fn from(name: TimeName) -> Self {
        match name {
            TimeName::S => TimeUnit::Seconds,
            TimeName::Ms => TimeUnit::Milliseconds,
            TimeName::Us => TimeUnit::Microseconds,
            TimeName::Ns => TimeUnit::Nanoseconds,
        }
    }
}

impl From<EyeName> for Eye {
    fn from(name: EyeName) -> Self {
        match name {
            EyeName::Left => Eye::Left,
            EyeName::Right => Eye::Right,
        }
    }
}

impl From<RowsName> for RowChoice {
    fn from(name: RowsName) -> Self {
        match name {
            RowsName::Fixations => RowChoice::Fixations,
            RowsName::Samples => RowChoice::Samples,
        }
    }
}

impl From<OutsideName> for Outside {
    fn from(name: OutsideName) -> Self {
        match name {
            OutsideName::Drop => Outside::Drop,
            OutsideName::Clamp => Outside::Clamp,
        }
    }
}

impl From<DownsizeName> for Downsize {
    fn from(name: DownsizeName) -> Self {
        match name {
            DownsizeName::Floor => Downsize::Floor,
            DownsizeName::Round => Downsize::Round,
            DownsizeName::Ceil => Downsize::Ceil,
        }
    }
}

impl From<RunsName> for RunsBy {
    fn from(name: RunsName) -> Self {
        match name {
            RunsName::Time => RunsBy::Time,
            RunsName::Count => RunsBy::Count,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum DetectorName {
    /// Runs of samples in the same grid cell or area; no fixations are detected
    Runs,
    /// Fixations: samples at which the eye is slow (I-VT)
    Ivt,
    /// Fixations: samples that stay in a small area (I-DT)
    Idt,
}

impl From<DetectorName> for Detector {
    fn from(name: DetectorName) -> Self {
        match name {
            DetectorName::Runs => Detector::Runs,
            DetectorName::Ivt => Detector::Ivt,
            DetectorName::Idt => Detector::Idt,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::session::RevealToName;
    use std::fmt::Debug;
    use veilpath::{Choice, RevealTo};

    /// Every flag value has the name that other front ends use.
    fn names_agree<N: ValueEnum + Into<C>, C: Choice + Debug>() {
        let flags: Vec<&N> = N::value_variants().iter().collect();
        assert_eq!(flags.len(), C::CHOICES.len());
        for flag in flags {
            let name = flag.to_possible_value().unwrap().get_name().to_string();
            assert_eq!(C::named(&name), Ok(flag.clone().into()));
        }
    }

    #[test]
    fn value_names_match_the_library() {
        names_agree::<UnitName, CoordinateUnit>();
        names_agree::<TimeName, TimeUnit>();
        names_agree::<EyeName, Eye>();
        names_agree::<RowsName, RowChoice>();
        names_agree::<OutsideName, Outside>();
        names_agree::<DownsizeName, Downsize>();
        names_agree::<RunsName, RunsBy>();
        names_agree::<DetectorName, Detector>();
        names_agree::<RevealToName, RevealTo>();
    }
}
