//! Areas of interest drawn on a picture.

use super::Trace;
use crate::Error;
use std::fmt::Write;
use veilpath_encode::{ReadError, Space};

/// An area of interest on a picture of a stimulus.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnArea {
    /// Its name. Areas with the same name share a letter.
    pub name: String,
    /// The stimulus; `None` for all.
    pub stimulus: Option<String>,
    /// Its outline.
    pub outline: DrawnOutline,
}

/// The outline of a drawn area, as fractions of the picture's width and height.
#[derive(Clone, Debug, PartialEq)]
pub enum DrawnOutline {
    /// Two opposite corners.
    Rectangle([(f64, f64); 2]),
    /// Three or more corners, in order around the area.
    Polygon(Vec<(f64, f64)>),
}

/// Writes drawn areas as an AOI file, in the coordinates of the recordings they belong to.
pub fn area_file(areas: &[DrawnArea], trace: &Trace) -> Result<String, Error> {
    let mut text = String::from("name,shape,coordinates,stimulus\n");
    for area in areas {
        let space = space_of(area, trace).ok_or_else(|| {
            let problem = match area.stimulus {
                Some(_) => "there is no recording of this stimulus with a known size of the screen",
                None => "there is no recording with a known size of the screen",
            };
            ReadError::new(&area.name, problem)
        })?;
        let (shape, corners): (_, &[(f64, f64)]) = match &area.outline {
            DrawnOutline::Rectangle(corners) => ("rectangle", corners),
            DrawnOutline::Polygon(corners) => ("polygon", corners),
        };
        let stimulus = area.stimulus.as_deref().unwrap_or_default();
        let corners = corners.iter().map(|&corner| space.at_fraction(corner));
        // Finer than any tracker: a hundredth of a unit, or a hundred-thousandth if the stimulus is only a few units wide,
        // as in fractions or degrees.
        let digits = match (space.right - space.left).abs() {
            ..50.0 => 5,
            _ => 2,
        };
        let numbers: Vec<String> = corners
            .map(|(x, y)| format!("{x:.digits$} {y:.digits$}"))
            .collect();
        let _ = writeln!(
            text,
            "{},{shape},{},{}",
            quoted(&area.name),
            numbers.join(" "),
            quoted(stimulus)
        );
    }
    Ok(text)
}

fn space_of(area: &DrawnArea, trace: &Trace) -> Option<Space> {
    let mut recordings = trace.recordings.iter();
    recordings.find_map(|it| match &area.stimulus {
        Some(_) if it.stimulus != area.stimulus => None,
        _ => it.space,
    })
}

/// Quotes a CSV field.
fn quoted(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    match text.contains([',', '"', ';', '\t']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Areas, EncodeOptions, LetterMap, Source, encode, trace};
    use super::*;
    use veilpath_encode::Input;

    const FIXATIONS: &str =
        "participant,stimulus,x,y,duration\np1,s,100,100,200\np1,s,900,700,200\np1,s,500,400,200\n";

    fn sources() -> Vec<Source> {
        let input = Input::from_bytes("f.csv", FIXATIONS.into()).unwrap();
        vec![Source::Open(Box::new(input))]
    }

    #[test]
    fn drawn_areas_become_letters() {
        let mut options = EncodeOptions::default();
        options.read.screen = Some((1000.0, 800.0));
        let traced = trace(sources(), &options).unwrap();
        let areas = [
            DrawnArea {
                name: "left, \"upper\"".into(),
                stimulus: Some("s".into()),
                outline: DrawnOutline::Rectangle([(0.0, 0.0), (0.3, 0.3)]),
            },
            DrawnArea {
                name: "corner".into(),
                stimulus: None,
                outline: DrawnOutline::Polygon(vec![(1.0, 1.0), (1.0, 0.6), (0.6, 1.0)]),
            },
        ];
        let file = area_file(&areas, &traced).unwrap();
        let input = Input::from_bytes("aoi.csv", file.into_bytes()).unwrap();
        options.letters.letter_map = LetterMap::AoiFile(Areas::read(input).unwrap());
        let encoded = encode(sources(), &options, &()).unwrap();
        assert_eq!(encoded.cohort.entries[0].scanpath.letters(), [0, 1]);
        let other = DrawnArea {
            stimulus: Some("t".into()),
            ..areas[0].clone()
        };
        assert!(area_file(&[other], &traced).is_err());
    }

    /// Of several recordings, only some may have a known size.
    #[test]
    fn any_recording_with_a_known_size_places_an_area() {
        let mut options = EncodeOptions::default();
        options.read.screen = Some((1000.0, 800.0));
        let mut traced = trace(sources(), &options).unwrap();
        let mut unknown = traced.recordings[0].clone();
        unknown.space = None;
        traced.recordings.insert(0, unknown);
        for (stimulus, message) in [
            (Some("s".to_string()), "no recording of this stimulus with"),
            (None, "no recording with"),
        ] {
            let area = DrawnArea {
                name: "left".into(),
                stimulus,
                outline: DrawnOutline::Rectangle([(0.0, 0.0), (0.3, 0.3)]),
            };
            let file = area_file(std::slice::from_ref(&area), &traced).unwrap();
            assert!(file.contains("300.00 240.00"), "{file}");
            let mut without = traced.clone();
            without.recordings.iter_mut().for_each(|it| it.space = None);
            let error = area_file(&[area], &without).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
    }
}
