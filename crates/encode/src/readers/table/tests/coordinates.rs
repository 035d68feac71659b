//! Units of coordinates: by name, by the first rows, and by the user.

use super::*;

/// A table of fixations at these positions.
fn table(x: &str, y: &str, points: &[(f64, f64)]) -> String {
    let rows: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{x},{y},200\n"))
        .collect();
    format!("{x},{y},duration\n{}", rows.concat())
}

/// Thirty positions spread over 0 to 1.
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

/// Even with a screen size, coordinates that cannot be pixels are not taken for pixels.
#[test]
fn units_are_recognised_by_the_first_rows() {
    let scaled = |factor: f64, shift: f64| -> Vec<(f64, f64)> {
        let scale = |part: f64| part * factor + shift;
        spread()
            .into_iter()
            .map(|(x, y)| (scale(x), scale(y)))
            .collect()
    };
    for (points, space, message) in [
        (scaled(1.0, 0.0), Space::unit(), "0 to 1"),
        (scaled(100.0, 0.0), Space::percent(), "percent"),
        (scaled(2.0, -1.0), Space::centred(2.0, 2.0), "-1 to 1"),
        (scaled(1000.0, 0.0), Space::pixels(1920.0, 1080.0), "pixels"),
    ] {
        let text = table("x", "y", &points);
        let read = read(&text, &on_screen()).unwrap();
        assert_eq!(read.recordings[0].space, Some(space), "{message}");
        assert!(assumes(&read, message), "{:?}", read.assumed);
    }
    // Heights of the screen and degrees look the same here: the user is asked.
    let error = read(&table("x", "y", &scaled(1.0, -0.5)), &on_screen()).unwrap_err();
    use EncodeField::{CentredFractions, ScreenHeights, VisualAngle};
    assert_eq!(error.fields, [CentredFractions, ScreenHeights, VisualAngle]);
    // A few positions in a corner may well be pixels.
    let corner = table("x", "y", &[(10.0, 20.5), (90.0, 80.0)]);
    assert_eq!(
        space_of(&corner, &on_screen()),
        Some(Space::pixels(1920.0, 1080.0))
    );
}

/// No tracker takes a sample only every few seconds.
#[test]
fn an_unlikely_unit_of_sample_times_is_noted() {
    let text = "x,y,time\n1,2,0\n3,4,4\n5,6,8\n7,8,12\n";
    let notes = |unit| {
        let options = ReadOptions {
            time_unit: Some(unit),
            ..on_screen()
        };
        read(text, &options).unwrap().notes
    };
    let note = EncodeNote::LongSteps { step_ms: 4000.0 };
    assert!(note.to_string().contains("4 s apart"));
    assert_eq!(notes(crate::TimeUnit::Seconds), [note]);
    assert!(notes(crate::TimeUnit::Milliseconds).is_empty());
}

/// Samples without times are an error even if there are durations, which are those of fixations.
#[test]
fn durations_show_that_rows_are_not_samples() {
    let options = ReadOptions {
        rows: RowChoice::Samples,
        ..on_screen()
    };
    let error = read("x,y,duration\n1,2,200\n", &options).unwrap_err();
    assert!(error.problem.contains("its rows have durations"));
    let error = read("x,y\n1,2\n", &options).unwrap_err();
    assert!(error.problem.contains("neither a duration nor a time"));
}

/// A fixation beyond the edge of the screen does not change the unit of all the others.
#[test]
fn a_point_off_the_screen_does_not_change_the_unit() {
    let with_one_off = |factor: f64, shift: f64, off: (f64, f64)| {
        let scale = |part: f64| part * factor + shift;
        let points = spread().into_iter().map(|(x, y)| (scale(x), scale(y)));
        table("x", "y", &points.chain([off]).collect::<Vec<_>>())
    };
    let heights = with_one_off(1.0, -0.5, (0.3, -0.58));
    let error = read(&heights, &on_screen()).unwrap_err();
    assert!(error.fields.contains(&EncodeField::ScreenHeights));
    for off in [(106.0, 50.0), (50.0, -7.5)] {
        let percent = with_one_off(100.0, 0.0, off);
        assert_eq!(space_of(&percent, &on_screen()), Some(Space::percent()));
    }
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
    let read = self::read(&text, &flipped).unwrap();
    assert!(assumes(&read, "y points down, flipped as requested"));
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

/// The table that was read, or the fields of the options that the error asks for.
fn asked_for(text: &str) -> Vec<EncodeField> {
    match read(text, &ReadOptions::default()) {
        Ok(_) => Vec::new(),
        Err(error) => error.fields,
    }
}

#[test]
fn without_a_screen_the_likely_unit_is_asked_for() {
    use EncodeField::{CentredPixels, LonLat, Percent, Screen, VisualAngle};
    let scaled = |factor: f64, shift: f64| -> Vec<(f64, f64)> {
        let scale = |part: f64| part * factor + shift;
        let points = spread().into_iter();
        points.map(|(x, y)| (scale(x), scale(y))).collect()
    };
    let asked = |factor, shift| asked_for(&table("x", "y", &scaled(factor, shift)));
    assert_eq!(asked(30.0, -15.0), [VisualAngle, CentredPixels, Screen]);
    assert_eq!(asked(170.0, -85.0), [LonLat, CentredPixels, Screen]);
    assert_eq!(asked(800.0, -400.0), [CentredPixels, Screen]);
    assert_eq!(asked(100.0, 0.0), [Percent, Screen]);
    // The sink asks for the size of the screen.
    assert_eq!(asked(1000.0, 0.0), []);
}

#[test]
fn centimetres_are_refused_with_a_remedy() {
    let text = table("x_cm", "y_cm", &[(10.0, 5.0)]);
    let error = read(&text, &ReadOptions::default()).unwrap_err();
    assert!(error.problem.contains("centimetres"), "{error}");
    assert_eq!(error.fields, [EncodeField::Units]);
    assert_eq!(error.column.unwrap().0, 1);
}

#[test]
fn columns_that_look_like_coordinates_are_suggested() {
    let text = "left_x,left_y,right_x,right_y,duration\n1,2,3,4,200\n";
    let pair = Some(Box::new(("left_x".to_string(), "left_y".to_string())));
    let error = read(text, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.coordinate_columns, pair);
    let head = Input::from_bytes("t.csv", text.into()).unwrap().head();
    let unknown = crate::explain_unknown(&head);
    assert_eq!(unknown.coordinate_columns, pair);
    assert!(unknown.remedy.contains("right_x and right_y"), "{unknown}");
}

#[test]
fn a_field_that_is_not_a_number_is_an_error_with_its_place() {
    let error = read("x,y,duration\n1,2,200\n1,two,200\n", &on_screen()).unwrap_err();
    assert_eq!(error.line, Some(3));
    assert_eq!(error.column.as_deref(), Some(&(2, "y".to_string())));
    assert!(!error.remedy.is_empty());
    assert_eq!(error.fields, [EncodeField::Columns]);
}

/// R's `write.table` writes row names without a column name, so that every field is one column too far right.
#[test]
fn rows_that_are_too_wide_are_reported_before_their_fields() {
    let error = read(
        "participant,stimulus,x,y,duration\n1,p1,a,100,200,300\n",
        &ReadOptions::default(),
    )
    .unwrap_err();
    assert!(error.problem.contains("more than the 5 fields"), "{error}");
    assert!(error.remedy.contains("row.names = FALSE"), "{error}");
}

#[test]
fn a_header_below_other_text_is_named() {
    let text = "Our laboratory\n2024\nparticipant,x,y,duration\np1,1,2,3\n";
    let error = read(text, &ReadOptions::default()).unwrap_err();
    assert!(error.problem.contains("seems to be line 3"), "{error}");
}
