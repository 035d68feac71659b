//! Maps file coordinates to screen coordinates, for metrics and detectors that need positions, not letters.

use crate::{EncodeField, LengthUnit, ReadOptions, Space, SpaceKind};
use veilpath_metrics::{Screen, ScreenUnit, ViewingGeometry};

/// The user's screen settings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScreenSettings {
    pixels: Option<(f64, f64)>,
    cm: Option<(f64, f64)>,
    distance_cm: Option<f64>,
}

/// Maps points of a [`Space`] to a [`Screen`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScreenMapping {
    space: Space,
    screen: Screen,
}

/// Why points cannot be mapped to a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoScreenMapping {
    /// The size of the screen in pixels is unknown.
    NoSize,
    /// Only one of the size in centimetres and the viewing distance is known.
    HalfViewing,
    /// Pixels cannot become degrees.
    NoViewing,
    /// Degrees cannot become pixels.
    NoPixels,
    /// Positions on a globe, where degrees differ in length.
    Panorama,
}

impl ScreenSettings {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        Self {
            pixels: options.screen,
            cm: options.screen_cm,
            distance_cm: options.distance_cm,
        }
    }

    /// Whether the user has given the size of the screen in pixels.
    pub(crate) fn has_pixels(&self) -> bool {
        self.pixels.is_some()
    }

    /// The settings for visual angles that the user has given.
    pub(crate) fn viewing_fields(&self) -> impl Iterator<Item = EncodeField> + use<> {
        let size = self.cm.map(|_| EncodeField::ScreenCm);
        let distance = self.distance_cm.map(|_| EncodeField::Distance);
        size.into_iter().chain(distance)
    }

    fn viewing(&self) -> Result<Option<ViewingGeometry>, NoScreenMapping> {
        match (self.cm, self.distance_cm) {
            (Some((width_cm, height_cm)), Some(distance_cm)) => Ok(Some(ViewingGeometry {
                width_cm,
                height_cm,
                distance_cm,
            })),
            (None, None) => Ok(None),
            _ => Err(NoScreenMapping::HalfViewing),
        }
    }
}

impl NoScreenMapping {
    pub(crate) fn problem(self) -> &'static str {
        match self {
            NoScreenMapping::NoSize => "the size of the screen or stimulus in pixels is unknown",
            NoScreenMapping::HalfViewing => {
                "the size of the screen in centimetres and the viewing distance belong together, but one of them is missing"
            }
            NoScreenMapping::NoViewing => {
                "a threshold in degrees needs the size of the screen in centimetres and the viewing distance"
            }
            NoScreenMapping::NoPixels => {
                "the coordinates are degrees of visual angle, and a threshold is in pixels"
            }
            NoScreenMapping::Panorama => {
                "fixations are not detected in longitudes and latitudes, whose degrees are shorter near the poles"
            }
        }
    }

    pub(crate) fn remedy(self) -> &'static str {
        match self {
            NoScreenMapping::NoSize => "give its width and height in pixels",
            NoScreenMapping::HalfViewing => "give both, or neither",
            NoScreenMapping::NoViewing => "give both, or a threshold in pixels",
            NoScreenMapping::NoPixels => "give the threshold in degrees",
            NoScreenMapping::Panorama => "use runs instead of a detector, or export fixations",
        }
    }

    pub(crate) fn fields(self) -> &'static [EncodeField] {
        match self {
            NoScreenMapping::NoSize => &[EncodeField::Screen],
            NoScreenMapping::HalfViewing | NoScreenMapping::NoViewing => {
                &[EncodeField::ScreenCm, EncodeField::Distance]
            }
            NoScreenMapping::NoPixels => &[EncodeField::Velocity, EncodeField::Dispersion],
            NoScreenMapping::Panorama => &[EncodeField::Detect],
        }
    }
}

impl ScreenMapping {
    /// The screen of a space: in degrees if its coordinates are angles, else in pixels.
    pub(crate) fn new(space: &Space, settings: &ScreenSettings) -> Result<Self, NoScreenMapping> {
        let size = (
            (space.right - space.left).abs(),
            (space.bottom - space.top).abs(),
        );
        let (unit, size, viewing) = match space.kind {
            SpaceKind::Pixels | SpaceKind::CentredPixels => {
                (ScreenUnit::Pixels, size, settings.viewing()?)
            }
            SpaceKind::Fractions => {
                let pixels = settings.pixels.ok_or(NoScreenMapping::NoSize)?;
                (ScreenUnit::Pixels, pixels, settings.viewing()?)
            }
            SpaceKind::PanoramaFractions | SpaceKind::Globe => {
                (ScreenUnit::Degrees, (360.0, 180.0), None)
            }
            SpaceKind::VisualAngle { distance_cm } => {
                let viewing = ViewingGeometry {
                    width_cm: size.0,
                    height_cm: size.1,
                    distance_cm,
                };
                let degrees = |cm: f64| 2.0 * (cm / 2.0 / distance_cm).atan().to_degrees();
                let size = (degrees(size.0), degrees(size.1));
                (ScreenUnit::Degrees, size, Some(viewing))
            }
        };
        let screen = Screen::new(unit, size, viewing).map_err(|_| NoScreenMapping::NoSize)?;
        Ok(Self {
            space: *space,
            screen,
        })
    }

    /// Checks whether lengths in this unit can be measured.
    pub(crate) fn check_unit(&self, unit: LengthUnit) -> Result<(), NoScreenMapping> {
        match (self.space.kind, unit) {
            (SpaceKind::Globe | SpaceKind::PanoramaFractions, _) => Err(NoScreenMapping::Panorama),
            (SpaceKind::VisualAngle { .. }, LengthUnit::Pixels) => Err(NoScreenMapping::NoPixels),
            (SpaceKind::VisualAngle { .. }, LengthUnit::Degrees) => Ok(()),
            (_, LengthUnit::Degrees) if self.screen.viewing().is_none() => {
                Err(NoScreenMapping::NoViewing)
            }
            _ => Ok(()),
        }
    }

    /// Converts a point of the file for measuring lengths in this unit, which [`ScreenMapping::check_unit`] has accepted.
    /// Pixels become degrees as in pymovements: each axis separately, from the middle of the middle pixel.
    pub(crate) fn measured(&self, unit: LengthUnit, x: f64, y: f64) -> (f64, f64) {
        if let SpaceKind::VisualAngle { .. } = self.space.kind {
            return (x, y);
        }
        let (x, y) = self.point(x, y);
        let (LengthUnit::Degrees, Some(viewing)) = (unit, self.screen.viewing()) else {
            return (x, y);
        };
        let degrees = |pixel: f64, pixels: f64, cm: f64| {
            let distance = viewing.distance_cm * (pixels / cm);
            (pixel - (pixels - 1.0) / 2.0).atan2(distance).to_degrees()
        };
        (
            degrees(x, self.screen.width(), viewing.width_cm),
            degrees(y, self.screen.height(), viewing.height_cm),
        )
    }

    pub(crate) fn screen(&self) -> Screen {
        self.screen
    }

    /// Maps a point of the file to the screen.
    pub(crate) fn point(&self, x: f64, y: f64) -> (f64, f64) {
        let space = &self.space;
        let (width, height) = (self.screen.width(), self.screen.height());
        match space.kind {
            SpaceKind::VisualAngle { .. } => {
                let down = if space.bottom < space.top { -y } else { y };
                (width / 2.0 + x, height / 2.0 + down)
            }
            SpaceKind::Globe => {
                let across = scaled_offset(x, space.left, space.right, width);
                let wrapped = match across {
                    inside if (0.0..=width).contains(&inside) => inside,
                    beyond => beyond.rem_euclid(width),
                };
                (wrapped, scaled_offset(y, space.top, space.bottom, height))
            }
            _ => (
                scaled_offset(x, space.left, space.right, width),
                scaled_offset(y, space.top, space.bottom, height),
            ),
        }
    }
}

/// The distance of a value from `start`, scaled so that `end` is at `length`. A change of the origin alone adds no
/// rounding error.
fn scaled_offset(value: f64, start: f64, end: f64, length: f64) -> f64 {
    let (distance, extent) = if end > start {
        (value - start, end - start)
    } else {
        (start - value, start - end)
    };
    match extent == length {
        true => distance,
        false => distance / extent * length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: ScreenSettings = ScreenSettings {
        pixels: Some((1000.0, 500.0)),
        cm: None,
        distance_cm: None,
    };

    fn point(space: &Space, x: f64, y: f64) -> (f64, f64) {
        ScreenMapping::new(space, &SETTINGS).unwrap().point(x, y)
    }

    #[test]
    fn points_of_all_units_are_put_on_the_screen() {
        let screen = Space::pixels(800.0, 600.0);
        assert_eq!(point(&screen, 0.1, 599.7), (0.1, 599.7));
        assert_eq!(point(&screen.flipped(), 0.1, 599.75), (0.1, 0.25));
        assert_eq!(point(&Space::unit(), 0.25, 0.5), (250.0, 250.0));
        assert_eq!(point(&Space::percent(), 25.0, 50.0), (250.0, 250.0));
        assert_eq!(point(&Space::centred(2.0, 2.0), -0.5, 0.0), (250.0, 250.0));
        let pixels = Space::centred_pixels(800.0, 600.0);
        assert_eq!(point(&pixels, -399.9, 299.75), (400.0 - 399.9, 0.25));
        assert_eq!(point(&Space::panorama(), 0.5, 0.25), (180.0, 45.0));
        assert_eq!(point(&Space::globe(), -180.0, 90.0), (0.0, 0.0));
        assert_eq!(point(&Space::globe(), 190.0, -90.0), (10.0, 180.0));
        assert_eq!(point(&Space::globe(), 180.0, 0.0), (360.0, 90.0));
    }

    #[test]
    fn visual_angles_stay_angles() {
        let space = Space::visual_angle((40.0, 30.0), 20.0);
        let mapping = ScreenMapping::new(&space, &ScreenSettings::default()).unwrap();
        assert_eq!(mapping.screen().unit(), ScreenUnit::Degrees);
        assert!((mapping.screen().width() - 90.0).abs() < 1e-12);
        let (x, y) = mapping.point(-45.0, 10.0);
        assert!(x.abs() < 1e-12);
        assert_eq!(y, mapping.screen().height() / 2.0 - 10.0);
    }

    #[test]
    fn errors_name_the_missing_setting() {
        let nothing = ScreenSettings::default();
        let refused =
            |space: Space, settings: ScreenSettings| ScreenMapping::new(&space, &settings).err();
        assert_eq!(
            refused(Space::unit(), nothing),
            Some(NoScreenMapping::NoSize)
        );
        let half = ScreenSettings {
            distance_cm: Some(60.0),
            ..nothing
        };
        let screen = Space::pixels(800.0, 600.0);
        assert_eq!(refused(screen, half), Some(NoScreenMapping::HalfViewing));
        assert_eq!(refused(screen, nothing), None);
        let centred = Space::centred_pixels(800.0, 600.0);
        assert_eq!(refused(centred, nothing), None);
        for (space, unit, expected) in [
            (screen, LengthUnit::Pixels, Ok(())),
            (screen, LengthUnit::Degrees, Err(NoScreenMapping::NoViewing)),
            (
                Space::globe(),
                LengthUnit::Degrees,
                Err(NoScreenMapping::Panorama),
            ),
            (
                Space::visual_angle((40.0, 30.0), 60.0),
                LengthUnit::Pixels,
                Err(NoScreenMapping::NoPixels),
            ),
        ] {
            let mapping = ScreenMapping::new(&space, &nothing).unwrap();
            assert_eq!(mapping.check_unit(unit), expected);
        }
    }
}
