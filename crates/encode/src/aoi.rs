//! Areas of interest (AOIs) defined in a file.
//!
//! # The file
//! A table with a header, separated by commas, semicolons or tabs. The `stimulus` column is optional:
//!
//! ```text
//! name,shape,coordinates,stimulus
//! face,rectangle,100 50 300 200,portrait.png
//! hand,polygon,310 400 380 400 350 470,portrait.png
//! ```
//!
//! With semicolons or tabs as separators, numbers may have decimal commas.
//!
//! | shape | coordinates, separated by spaces |
//! |---|---|
//! | `rectangle` | left top right bottom (two opposite corners, in any order) |
//! | `polygon` | x y of three or more corners, in order around the area |
//!
//! Coordinates use the units of the gaze file. An area with a stimulus applies to that stimulus only; an area without
//! one applies to all. Several rows may share a name, on one stimulus (an area in several pieces) or on several (the
//! same object in different pictures). Letters are assigned by name, in the order in which the names first appear in
//! the file.
//!
//! Where areas overlap, the first one in the file wins, so list small areas before the large ones around them. An edge
//! belongs to its area.

use crate::{Input, ReadError, Row, Rows, parse_number};

/// The areas of interest of all stimuli.
#[derive(Clone, Debug, PartialEq)]
pub struct Areas {
    names: Vec<String>,
    areas: Vec<Area>,
}

/// One row of the file.
#[derive(Clone, Debug, PartialEq)]
struct Area {
    letter: u16,
    stimulus: Option<String>,
    outline: Outline,
}

#[derive(Clone, Debug, PartialEq)]
enum Outline {
    Rectangle {
        left: f64,
        top: f64,
        right: f64,
        bottom: f64,
    },
    Polygon(Vec<(f64, f64)>),
}

impl Areas {
    /// Reads an AOI file.
    pub fn read(input: Input) -> Result<Self, ReadError> {
        let mut rows = Rows::open(input)?;
        let columns = rows.columns().clone();
        let name_column = columns.require(&["name"])?;
        let shape_column = columns.require(&["shape"])?;
        let coordinates_column = columns.require(&["coordinates"])?;
        let stimulus_column = columns.find(&["stimulus"]);
        let mut areas = Areas {
            names: Vec::new(),
            areas: Vec::new(),
        };
        while let Some(row) = rows.next_row()? {
            let name = row.text(name_column);
            if name.is_empty() {
                return Err(row
                    .error(name_column, "this area has no name")
                    .with_remedy("give it one; areas of one name share a letter"));
            }
            let outline = outline(&row, shape_column, coordinates_column)?;
            let letter = areas.letter_for(name).ok_or_else(|| {
                row.error(name_column, "there are more than 65536 areas")
                    .with_remedy(
                        "areas of one name share a letter: use the same names on all stimuli",
                    )
            })?;
            areas.areas.push(Area {
                letter,
                stimulus: stimulus_column
                    .map(|column| row.text(column))
                    .filter(|stimulus| !stimulus.is_empty())
                    .map(str::to_string),
                outline,
            });
        }
        if areas.areas.is_empty() {
            return Err(
                ReadError::new(rows.name(), "there is no area after the header").with_remedy(
                    "write one area per line, as in \"face,rectangle,100 50 300 200\"",
                ),
            );
        }
        Ok(areas)
    }

    /// The area names, in letter order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The areas that apply to a stimulus, as indices for [`Areas::letter_at`].
    pub(crate) fn on(&self, stimulus: Option<&str>) -> Vec<usize> {
        let counts = |area: &Area| area.stimulus.is_none() || area.stimulus.as_deref() == stimulus;
        self.areas
            .iter()
            .enumerate()
            .filter(|(_, area)| counts(area))
            .map(|(position, _)| position)
            .collect()
    }

    /// The letter of the first of `candidates` that contains the point.
    pub(crate) fn letter_at(&self, candidates: &[usize], x: f64, y: f64) -> Option<u16> {
        candidates
            .iter()
            .filter_map(|&position| self.areas.get(position))
            .find(|area| area.outline.contains(x, y))
            .map(|area| area.letter)
    }

    fn letter_for(&mut self, name: &str) -> Option<u16> {
        let known = self.names.iter().position(|known| known == name);
        let letter = u16::try_from(known.unwrap_or(self.names.len())).ok()?;
        if known.is_none() {
            self.names.push(name.to_string());
        }
        Some(letter)
    }
}

impl Outline {
    fn contains(&self, x: f64, y: f64) -> bool {
        match self {
            Outline::Rectangle {
                left,
                top,
                right,
                bottom,
            } => (*left..=*right).contains(&x) && (*top..=*bottom).contains(&y),
            Outline::Polygon(corners) => inside_polygon(corners, x, y),
        }
    }
}

/// A point is inside when a ray from it to the right crosses the outline an odd number of times; a point on the outline
/// counts as inside.
fn inside_polygon(corners: &[(f64, f64)], x: f64, y: f64) -> bool {
    let Some(&(mut x0, mut y0)) = corners.last() else {
        return false;
    };
    let mut inside = false;
    for &(x1, y1) in corners {
        let turn = (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0);
        let between = |a: f64, b: f64, value: f64| (a.min(b)..=a.max(b)).contains(&value);
        if turn == 0.0 && between(x0, x1, x) && between(y0, y1, y) {
            return true;
        }
        if (y0 > y) != (y1 > y) && (turn > 0.0) == (y1 > y0) {
            inside = !inside;
        }
        (x0, y0) = (x1, y1);
    }
    inside
}

fn rectangle(numbers: &[f64]) -> Option<Outline> {
    let &[x0, y0, x1, y1] = numbers else {
        return None;
    };
    Some(Outline::Rectangle {
        left: x0.min(x1),
        top: y0.min(y1),
        right: x0.max(x1),
        bottom: y0.max(y1),
    })
}

fn polygon(numbers: &[f64]) -> Option<Outline> {
    let (corners, rest) = numbers.as_chunks::<2>();
    (corners.len() >= 3 && rest.is_empty())
        .then(|| Outline::Polygon(corners.iter().map(|&[x, y]| (x, y)).collect()))
}

/// The outline of one row.
fn outline(row: &Row<'_>, shape: usize, coordinates: usize) -> Result<Outline, ReadError> {
    let name = row.text(shape);
    let (build, wanted, remedy): (ShapeBuilder, _, _) = if name.eq_ignore_ascii_case("rectangle") {
        (
            rectangle,
            "a rectangle has 4 numbers",
            "write left, top, right and bottom, as in \"100 50 300 200\"",
        )
    } else if name.eq_ignore_ascii_case("polygon") {
        (
            polygon,
            "a polygon has an even number of 6 or more numbers",
            "write x and y of every corner, as in \"0 0 10 0 10 10\"",
        )
    } else {
        return Err(row
            .error(shape, "this shape is not known")
            .with_remedy("a shape is \"rectangle\" or \"polygon\""));
    };
    parse_shape(row, coordinates, build)?.map_err(|count| {
        row.error(coordinates, format!("{wanted}; this one has {count}"))
            .with_remedy(format!("{remedy}; a number with a fraction has a decimal point, or a decimal comma where semicolons or tabs separate the columns"))
    })
}

/// Builds a shape from its numbers.
type ShapeBuilder = fn(&[f64]) -> Option<Outline>;

/// Builds a shape from the numbers in a field. If they do not form one, the inner error is how many there are.
///
/// If commas do not separate columns, a comma may be a decimal comma (`20,5 30 40 50`) or separate two numbers (`0,0
/// 60,0 60,60`). The interpretation that makes a shape is used; if both do, it is an error.
fn parse_shape(
    row: &Row<'_>,
    column: usize,
    build: ShapeBuilder,
) -> Result<Result<Outline, usize>, ReadError> {
    const SEPARATORS: [char; 3] = [' ', '\t', ';'];
    let text = row.text(column);
    let words = || {
        let words = text.split(SEPARATORS).map(|word| word.trim_matches(','));
        words.filter(|word| !word.is_empty())
    };
    let paired = words().filter(|word| word.contains(',')).count();
    let may_be_decimal = row.may_have_decimal_commas() && text.contains(SEPARATORS) && paired > 0;
    if !may_be_decimal {
        let numbers = numbers(row, column, words().flat_map(|word| word.split(',')))?;
        return Ok(build(&numbers).ok_or(numbers.len()));
    }
    let decimal = numbers(row, column, words())?;
    let as_pairs = if paired == decimal.len() {
        build(&numbers(
            row,
            column,
            words().flat_map(|word| word.split(',')),
        )?)
    } else {
        None
    };
    match (build(&decimal), as_pairs) {
        (Some(_), Some(_)) => Err(row
            .error(column, "the commas may be decimal commas or separate x and y")
            .with_remedy("write numbers with decimal points and spaces between them, as in \"100 50.5 300 200\"")),
        (one, other) => Ok(one.or(other).ok_or(decimal.len())),
    }
}

fn numbers<'t>(
    row: &Row<'_>,
    column: usize,
    words: impl Iterator<Item = &'t str>,
) -> Result<Vec<f64>, ReadError> {
    words
        .filter(|word| !word.is_empty())
        .map(|word| match parse_number(word, true) {
            Some(number) if number.is_finite() => Ok(number),
            _ => Err(row
                .error(column, "expected numbers separated by spaces")
                .with_remedy("numbers have a decimal point, as in \"100 50.5 300 200\"")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn areas(text: &str) -> Result<Areas, ReadError> {
        Areas::read(Input::from_bytes("aoi.csv", text.as_bytes().to_vec()).unwrap())
    }

    #[test]
    fn the_first_area_that_contains_the_point_wins() {
        let areas = areas(
            "# drawn by hand\nname,shape,coordinates,stimulus\n\
             eye,rectangle,10 10 20 20,a\n\
             face,rectangle,30 30 0 0,a\n\
             eye,polygon,100 100 110 100 105 110,b\n\
             frame,Rectangle,\"0,0,1000,1000\",\n",
        )
        .unwrap();
        assert_eq!(areas.names(), ["eye", "face", "frame"]);
        let at = |stimulus, x, y| areas.letter_at(&areas.on(stimulus), x, y);
        assert_eq!(at(Some("a"), 15.0, 15.0), Some(0));
        assert_eq!(
            at(Some("a"), 20.0, 20.0),
            Some(0),
            "an edge belongs to its area"
        );
        assert_eq!(at(Some("a"), 25.0, 15.0), Some(1));
        assert_eq!(at(Some("a"), 105.0, 105.0), Some(2));
        assert_eq!(at(Some("b"), 105.0, 105.0), Some(0));
        assert_eq!(at(Some("b"), 15.0, 15.0), Some(2));
        assert_eq!(at(None, 15.0, 15.0), Some(2));
        assert_eq!(at(Some("a"), -1.0, 5.0), None);
        assert_eq!(at(Some("a"), f64::NAN, 5.0), None);
    }

    #[test]
    fn polygons_may_be_hollow_and_turn_either_way() {
        let u_shape = [
            (0.0, 0.0),
            (30.0, 0.0),
            (30.0, 30.0),
            (20.0, 30.0),
            (20.0, 10.0),
            (10.0, 10.0),
            (10.0, 30.0),
            (0.0, 30.0),
        ];
        let mut reversed = u_shape;
        reversed.reverse();
        for corners in [u_shape, reversed] {
            for (x, y, expected) in [
                (5.0, 20.0, true),
                (15.0, 20.0, false),
                (25.0, 20.0, true),
                (15.0, 5.0, true),
                (15.0, 10.0, true),
                (10.0, 20.0, true),
                (0.0, 0.0, true),
                (40.0, 0.0, false),
                (-5.0, 10.0, false),
                (35.0, 30.0, false),
            ] {
                assert_eq!(inside_polygon(&corners, x, y), expected, "({x}, {y})");
            }
        }
    }

    #[test]
    fn decimal_commas_are_understood_where_the_comma_does_not_separate() {
        let with = |delimiter: &str, shape: &str, coordinates: &str| {
            let fields = ["name", "shape", "coordinates", "face", shape, coordinates];
            let [header, row] = [&fields[..3], &fields[3..]].map(|line| line.join(delimiter));
            areas(&format!("\u{feff}{header}\r\n{row}\r\n"))
        };
        let outline = |delimiter, shape, coordinates| {
            let areas = with(delimiter, shape, coordinates).unwrap();
            areas.areas[0].outline.clone()
        };
        let rectangle = outline(",", "rectangle", "20.5 30 40 50.25");
        for delimiter in [";", "\t"] {
            for same in [
                "20,5 30 40 50,25",
                "20,5, 30, 40, 50,25",
                "20.5 30 40 50.25",
            ] {
                assert_eq!(outline(delimiter, "rectangle", same), rectangle, "{same}");
            }
        }
        // Commas between numbers are still understood, and an ambiguous field is rejected.
        let triangle = outline(",", "polygon", "0 0 60 0 60 60");
        assert_eq!(outline(";", "polygon", "0,0 60,0 60,60"), triangle);
        assert_eq!(outline(";", "polygon", "0,0,60,0,60,60"), triangle);
        let both = with(";", "polygon", "0,0 6,0 6,6 0,6 1,2 1,1").unwrap_err();
        assert!(both.remedy.contains("decimal points"), "{both}");
        let quoted = with(",", "rectangle", "\"20,5 30 40 50\"").unwrap_err();
        assert!(quoted.remedy.contains("decimal point"), "{quoted}");
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, place) in [
            ("", "aoi.csv: the file is empty"),
            (
                "name,shape\n",
                "aoi.csv, line 1: there is no column \"coordinates\"",
            ),
            ("name,shape,coordinates\n", "aoi.csv: there is no area"),
            (
                "name,shape,coordinates\na,rectangle,1 2 3\n",
                "aoi.csv, line 2, column 3 (coordinates): a rectangle has 4",
            ),
            (
                "name,shape,coordinates\na,polygon,1 2 3 4 5\n",
                "aoi.csv, line 2, column 3 (coordinates): a polygon",
            ),
            (
                "name,shape,coordinates\na,circle,1 2 3\n",
                "aoi.csv, line 2, column 2 (shape): this shape",
            ),
            (
                "name,shape,coordinates\n,circle,1 2 3\n",
                "aoi.csv, line 2, column 1 (name): this area has no name",
            ),
            (
                "name,shape,coordinates\na,rectangle,1 2 x 4\n",
                "aoi.csv, line 2, column 3 (coordinates): expected numbers",
            ),
            (
                "name,shape,coordinates\na,rectangle,1 2 inf 4\n",
                "aoi.csv, line 2, column 3",
            ),
        ] {
            let error = areas(text).unwrap_err().to_string();
            assert!(error.starts_with(place), "{error}");
        }
    }
}
