//! Units of coordinates: by name, by the first rows, and by the user.

use super::*;

/// A table of fixations at these places.
fn table(x: &str, y: &str, points: &[(f64, f64)]) -> String {
    let rows: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{x},{y},200\n"))
        .collect();
    format!("{x},{y},duration\n{}", rows.concat())
}

/// Thirty places all over 0 to 1.
fn spread() -> Vec<(f64, f64)> {
    let place = |step: u32| {
        let part = f64::from(step);
        (
            part / 29.0 * 0.96 + 0.013,
            (part * 7.0 % 29.0) / 29.0 * 0.96 + 0.017,
        )
    };
    (0..30).map(place).collect()
}

fn on_screen() -> ReadOptions {
    ReadOptions {
        screen: Some((1920.0, 1080.0)),
        ..ReadOptions::default()
    }
}

fn space_of(text: &str, options: &ReadOptions) -> Option<Space> {
    read(text, options).unwrap().recordings[0].space
}

/// With a screen size, too, coordinates that cannot be pixels are not taken for pixels.
#[test]
fn units_are_recognised_by_the_first_rows() {
    let scaled = |factor: f64, shift: f64| -> Vec<(f64, f64)> {
        let scale = |part: f64| part * factor + shift;
        spread()
            .into_iter()
            .map(|(x, y)| (scale(x), scale(y)))
            .collect()
    };
    for (points, space, said) in [
        (scaled(1.0, 0.0), Space::unit(), "0 to 1"),
        (scaled(100.0, 0.0), Space::percent(), "percent"),
        (scaled(2.0, -1.0), Space::centred(2.0, 2.0), "-1 to 1"),
        (scaled(1000.0, 0.0), Space::pixels(1920.0, 1080.0), "pixels"),
    ] {
        let text = table("x", "y", &points);
        let read = read(&text, &on_screen()).unwrap();
        assert_eq!(read.recordings[0].space, Some(space), "{said}");
        assert!(assumes(&read, said), "{:?}", read.assumed);
    }
    // Heights of the screen and degrees look alike here: the user is asked.
    let error = read(&table("x", "y", &scaled(1.0, -0.5)), &on_screen()).unwrap_err();
    assert_eq!(error.fields, [EncodeField::Units, EncodeField::VisualAngle]);
    // A few places in a corner may well be pixels.
    let corner = table("x", "y", &[(10.0, 20.5), (90.0, 80.0)]);
    assert_eq!(
        space_of(&corner, &on_screen()),
        Some(Space::pixels(1920.0, 1080.0))
    );
}

#[test]
fn units_are_recognised_by_name() {
    let centred: Vec<(f64, f64)> = spread()
        .into_iter()
        .map(|(x, y)| (x * 2.0 - 1.0, y * 2.0 - 1.0))
        .collect();
    for (x, y, points, space) in [
        ("x_pct", "y_pct", spread(), Space::percent()),
        ("x [%]", "y [%]", spread(), Space::percent()),
        ("x_norm", "y_norm", spread(), Space::unit()),
        ("x_norm", "y_norm", centred, Space::centred(2.0, 2.0)),
        ("lon (deg)", "lat (deg)", spread(), Space::globe()),
    ] {
        assert_eq!(
            space_of(&table(x, y, &points), &on_screen()),
            Some(space),
            "{x}"
        );
    }
}

/// Degrees of x and y are visual angles, which need the size and distance of the screen.
#[test]
fn degrees_of_x_and_y_are_visual_angles() {
    let text = table("x_deg", "y_deg", &[(0.0, 0.0), (-10.5, 4.0)]);
    let options = ReadOptions {
        screen_cm: Some((52.0, 29.0)),
        distance_cm: Some(60.0),
        ..ReadOptions::default()
    };
    let read = read(&text, &options).unwrap();
    assert_eq!(
        read.recordings[0].space,
        Some(Space::visual_angle((52.0, 29.0), 60.0))
    );
    assert!(assumes(&read, "y points up"));
    let flipped = ReadOptions {
        flip_y: true,
        ..options
    };
    let turned = Space::visual_angle((52.0, 29.0), 60.0).flipped();
    assert_eq!(space_of(&text, &flipped), Some(turned));
}

#[test]
fn the_user_names_any_unit() {
    let text = table("x", "y", &spread());
    for (unit, space) in [
        (CoordinateUnit::Percent, Space::percent()),
        (CoordinateUnit::Centred, Space::centred(2.0, 2.0)),
        (
            CoordinateUnit::ScreenHeights,
            Space::centred(1920.0 / 1080.0, 1.0),
        ),
        (CoordinateUnit::LonLat, Space::globe()),
    ] {
        let options = ReadOptions {
            units: Some(unit),
            ..on_screen()
        };
        assert_eq!(space_of(&text, &options), Some(space), "{unit:?}");
    }
}

#[test]
fn pixels_may_be_counted_from_the_centre() {
    let options = ReadOptions {
        units: Some(CoordinateUnit::CentredPixels),
        screen: Some((800.0, 600.0)),
        ..ReadOptions::default()
    };
    let read = read("x,y,duration\n-400,300,200\n", &options).unwrap();
    let space = read.recordings[0].space.unwrap();
    assert_eq!(space.fraction(-400.0, 300.0), (0.0, 0.0));
    assert_eq!(space.fraction(0.0, -300.0), (0.5, 1.0));
}
