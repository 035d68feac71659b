//! Maps numbers to colours. Bright means similar for every metric, and all figures of a page share one scale.
//!
//! The ramp goes from dark blue through green to yellow. Its lightness rises evenly, so it can be read in greyscale, in
//! a poor print and by readers who cannot tell red from green.

use super::measure::ShownMeasure;
use super::numbers;
use veilpath_metrics::MeasureKind;

/// A colour: red, green and blue.
pub(crate) type Rgb = [u8; 3];

/// Even steps of lightness in OKLCH from 0.27 to 0.93, with the hue turning from 288° to 105°. The colours are as
/// saturated as a screen can show, up to a chroma of 0.15.
const RAMP: [Rgb; 17] = [
    [41, 3, 105],
    [29, 31, 122],
    [0, 52, 132],
    [1, 73, 122],
    [2, 88, 124],
    [1, 103, 129],
    [1, 117, 134],
    [0, 132, 139],
    [4, 147, 142],
    [1, 163, 142],
    [0, 180, 137],
    [60, 193, 128],
    [107, 204, 120],
    [146, 213, 113],
    [181, 222, 107],
    [215, 230, 105],
    [247, 237, 108],
];

/// The range of numbers that the colours cover.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    pub(crate) ticks: Vec<f64>,
    smallest: f64,
    largest: f64,
    /// Whether the smallest number is the brightest.
    reversed: bool,
}

impl Scale {
    /// A scale from the smallest to the largest of some numbers, widened to round ones.
    pub(crate) fn new(measure: ShownMeasure<'_>, range: Option<(f64, f64)>) -> Self {
        Self::of_kind(measure.kind, range)
    }

    /// The same for numbers of a given kind.
    pub(crate) fn of_kind(kind: MeasureKind, range: Option<(f64, f64)>) -> Self {
        let (smallest, largest) = match (kind, range) {
            (MeasureKind::Bit, _) | (_, None) => (0.0, 1.0),
            (_, Some(range)) => range,
        };
        let mut ticks = numbers::ticks(smallest, largest, 5);
        if kind == MeasureKind::Fraction {
            ticks.retain(|tick| (-1e-9..=1.0 + 1e-9).contains(tick));
        }
        if ticks.len() < 2 {
            // All numbers are equal, so put them in the middle of the scale, unless it would leave the range of the kind.
            let first = match kind {
                MeasureKind::Fraction => 0.0,
                _ if smallest >= 0.0 => (smallest - 0.5).max(0.0),
                _ => smallest - 0.5,
            };
            ticks = vec![first, first + 0.5, first + 1.0];
        }
        Self {
            smallest: ticks.first().copied().unwrap_or(smallest).min(smallest),
            largest: ticks.last().copied().unwrap_or(largest).max(largest),
            ticks,
            reversed: kind == MeasureKind::Distance,
        }
    }

    /// Whether a number has a colour of its own, and not that of an end.
    pub(crate) fn covers(&self, value: f64) -> bool {
        (self.smallest..=self.largest).contains(&value)
    }

    /// The position of a number, from 0 to 1.
    pub(crate) fn position(&self, value: f64) -> f64 {
        ((value - self.smallest) / (self.largest - self.smallest)).clamp(0.0, 1.0)
    }

    /// The index of a number's colour, out of 255.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and 254
    pub(crate) fn level(&self, value: f64) -> u8 {
        let level = (self.position(value) * 254.0).round() as u8;
        if self.reversed { 254 - level } else { level }
    }

    pub(crate) fn color(&self, value: f64) -> Rgb {
        color(self.level(value))
    }

    /// The text colour with the higher contrast to a number's colour, at least 4.5 to 1.
    pub(crate) fn ink(&self, value: f64) -> &'static str {
        if self.level(value) > 110 {
            "#000"
        } else {
            "#fff"
        }
    }
}

/// The colour of a level from 0 to 254.
pub(crate) fn color(level: u8) -> Rgb {
    let steps = RAMP.len() - 1;
    let at = usize::from(level.min(254)) * steps;
    let (before, part) = (at / 254, at % 254);
    let from = RAMP[before];
    let to = RAMP[(before + 1).min(steps)];
    std::array::from_fn(|channel| {
        let mixed = usize::from(from[channel]) * (254 - part) + usize::from(to[channel]) * part;
        u8::try_from((mixed + 127) / 254).unwrap_or(u8::MAX)
    })
}

/// `#rrggbb`.
pub(crate) fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance as defined by WCAG.
    fn luminance(color: Rgb) -> f64 {
        let linear = color.map(|channel| {
            let x = f64::from(channel) / 255.0;
            if x <= 0.04045 {
                x / 12.92
            } else {
                ((x + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    fn contrast(x: Rgb, y: Rgb) -> f64 {
        let (x, y) = (luminance(x) + 0.05, luminance(y) + 0.05);
        (x / y).max(y / x)
    }

    #[test]
    fn the_ramp_becomes_steadily_lighter() {
        for level in 4..=254 {
            assert!(
                luminance(color(level)) > luminance(color(level - 4)),
                "{level}"
            );
        }
        assert!(contrast(color(0), color(254)) > 12.0);
    }

    /// The colours as seen without green cones, or without red ones (Viénot, Brettel and Mollon, 1999, in linear
    /// light). Steps of a sixteenth stay distinguishable.
    #[test]
    fn the_ramp_suits_colour_blind_readers() {
        let seen = |color: Rgb, [red, green]: [[f64; 3]; 2]| {
            let linear = color.map(|channel| (f64::from(channel) / 255.0).powf(2.2));
            let mix = |part: [f64; 3]| part.iter().zip(linear).map(|(x, y)| x * y).sum::<f64>();
            [mix(red), mix(green), linear[2]].map(|x: f64| x.max(0.0).powf(1.0 / 2.2) * 255.0)
        };
        let deutan = [[0.292_75, 0.707_25, 0.0], [0.292_75, 0.707_25, 0.0]];
        let protan = [[0.112_38, 0.887_62, 0.0], [0.112_38, 0.887_62, 0.0]];
        for eyes in [deutan, protan] {
            for step in 0..15 {
                let (x, y) = (
                    seen(color(step * 16), eyes),
                    seen(color(step * 16 + 16), eyes),
                );
                let apart: f64 = x
                    .iter()
                    .zip(y)
                    .map(|(x, y)| (x - y) * (x - y))
                    .sum::<f64>()
                    .sqrt();
                assert!(apart > 8.0, "step {step}: {apart}");
            }
        }
    }

    #[test]
    fn numbers_in_tiles_have_enough_contrast() {
        let scale = Scale::new(
            ShownMeasure::of_kind(MeasureKind::Fraction),
            Some((0.0, 1.0)),
        );
        for at in 0..=100 {
            let value = f64::from(at) / 100.0;
            let ink = [if scale.ink(value) == "#fff" { 255 } else { 0 }; 3];
            assert!(contrast(scale.color(value), ink) >= 4.5, "{value}");
        }
    }

    #[test]
    fn a_single_number_does_not_widen_the_scale_beyond_the_range() {
        let ticks =
            |kind, value| Scale::new(ShownMeasure::of_kind(kind), Some((value, value))).ticks;
        for value in [0.0, 0.2, 1.0] {
            assert_eq!(ticks(MeasureKind::Fraction, value), [0.0, 0.5, 1.0]);
        }
        assert_eq!(ticks(MeasureKind::Distance, 0.0), [0.0, 0.5, 1.0]);
        assert_eq!(ticks(MeasureKind::Distance, 3.0), [2.5, 3.0, 3.5]);
        assert_eq!(ticks(MeasureKind::Number, -2.0), [-2.5, -2.0, -1.5]);
    }

    #[test]
    fn bright_tiles_are_similar() {
        let similarity = Scale::new(
            ShownMeasure::of_kind(MeasureKind::Fraction),
            Some((0.37, 0.64)),
        );
        assert!(similarity.level(0.64) > similarity.level(0.37));
        let distance = Scale::new(
            ShownMeasure::of_kind(MeasureKind::Distance),
            Some((3.0, 20.0)),
        );
        assert!(distance.level(3.0) > distance.level(20.0));
        assert_eq!(
            Scale::new(ShownMeasure::of_kind(MeasureKind::Bit), None).level(1.0),
            254
        );
        let one = Scale::new(
            ShownMeasure::of_kind(MeasureKind::Distance),
            Some((7.0, 7.0)),
        );
        assert_eq!(one.level(7.0), 127);
        let wide = Scale::new(
            ShownMeasure::of_kind(MeasureKind::Number),
            Some((-1e30, 1e30)),
        );
        assert!(wide.position(0.0) > 0.4 && wide.position(0.0) < 0.6);
    }
}
