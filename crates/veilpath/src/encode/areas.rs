//! Areas of interest that were drawn on a picture.

use super::Trace;
use crate::Error;
use std::fmt::Write;
use veilpath_encode::{ReadError, Space};

/// An area of interest on a picture of a stimulus.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnArea {
    /// Its name; areas of one name share a letter.
    pub name: String,
    /// The stimulus; `None` for all.
    pub stimulus: Option<String>,
    /// Its outline.
    pub outline: DrawnOutline,
}

/// The outline of a drawn area, as parts of the width and height of the picture.
#[derive(Clone, Debug, PartialEq)]
pub enum DrawnOutline {
    /// Two opposite corners.
    Rectangle([(f64, f64); 2]),
    /// Three or more corners, in order around the area.
    Polygon(Vec<(f64, f64)>),
}

/// Writes drawn areas as an AOI file in the coordinates of the recordings that they belong to.
pub fn area_file(areas: &[DrawnArea], trace: &Trace) -> Result<String, Error> {
    let mut text = String::from("name,shape,coordinates,stimulus\n");
    for area in areas {
        let space = space_of(area, trace).ok_or_else(|| {
            ReadError::new(
                &area.name,
                "there is no recording of this stimulus with a known size of the screen",
            )
        })?;
        let (shape, corners): (_, &[(f64, f64)]) = match &area.outline {
            DrawnOutline::Rectangle(corners) => ("rectangle", corners),
            DrawnOutline::Polygon(corners) => ("polygon", corners),
        };
        let stimulus = area.stimulus.as_deref().unwrap_or_default();
        let corners = corners.iter().map(|&corner| space.at_fraction(corner));
        // A hundredth of a pixel, or a ten-thousandth of the stimulus, is finer than any tracker.
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
    let recording = match &area.stimulus {
        Some(_) => recordings.find(|it| it.stimulus == area.stimulus),
        None => recordings.next(),
    };
    recording.and_then(|it| it.space)
}

/// A field of a CSV file.
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
    use super::super::{Areas, EncodeOptions, Placing, Source, encode, trace};
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
        options.letters.placing = Placing::AoiFile(Areas::read(input).unwrap());
        let encoded = encode(sources(), &options, &()).unwrap();
        assert_eq!(encoded.cohort.entries[0].scanpath.letters(), [0, 1]);
        let other = DrawnArea {
            stimulus: Some("t".into()),
            ..areas[0].clone()
        };
        assert!(area_file(&[other], &traced).is_err());
    }
}
