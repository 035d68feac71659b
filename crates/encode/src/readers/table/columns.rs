//! Assigns roles to the columns of a generic table, by their names.

use super::coordinates::{coordinate_pairs, look_like_coordinates};
use super::vocabulary::{
    AOI, CONFIDENCE, COORDINATE_PAIRS, ColumnNames, DURATION, END, EVENT, EVENT_NAMES, EYE, GROUP,
    PARTICIPANT, START, STIMULUS, TRIAL, UNIT_WORDS,
};
use crate::{ColumnRole, ColumnRoles, Columns, EncodeField, ReadError, ReadOptions, parse_number};

/// The columns of a table, by role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) hint: CoordinateHint,
    /// The position at which an event ends, if `x` and `y` are where it starts.
    pub(super) end_point: Option<(usize, usize)>,
    pub(super) duration: Option<usize>,
    pub(super) start: Option<usize>,
    pub(super) end: Option<usize>,
    pub(super) participant: Option<usize>,
    pub(super) group: Option<usize>,
    pub(super) stimulus: Option<usize>,
    pub(super) trial: Option<usize>,
    pub(super) aoi: Option<usize>,
    pub(super) confidence: Option<usize>,
    /// The column that may name the eye of each row.
    pub(super) eye: Option<usize>,
    /// The column of event labels that the user names.
    pub(super) event: Option<usize>,
    /// Columns that may contain event labels, and whether their name is unambiguous.
    pub(super) event_candidates: Vec<(usize, bool)>,
}

/// A hint about the coordinates, from the names of their columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CoordinateHint {
    /// Nothing.
    Plain,
    /// Longitude and latitude.
    Globe,
    /// Pupil Labs' `norm_pos`: 0 to 1 from the bottom left.
    PupilNorm,
}

impl Layout {
    /// Finds the columns; the user's names take precedence.
    pub(super) fn find(columns: &Columns, options: &ReadOptions) -> Result<Self, ReadError> {
        let names = Names::of(columns);
        check_mapping(columns, options)?;
        let column = |column: &ColumnNames| -> Result<Option<usize>, ReadError> {
            Ok(match mapped(columns, options, column.roles)? {
                Some(column) => Some(column),
                None => names.first(column.aliases),
            })
        };
        let pair = names.coordinates();
        let x = mapped(columns, options, &["x"])?.or(pair.map(|(x, _, _)| x));
        let y = mapped(columns, options, &["y"])?.or(pair.map(|(_, y, _)| y));
        let (Some(x), Some(y)) = (x, y) else {
            return Err(no_coordinates(columns));
        };
        // A user's mapping says nothing about what the coordinates mean.
        let hint = match pair {
            Some((pair_x, pair_y, hint)) if (pair_x, pair_y) == (x, y) => hint,
            _ => CoordinateHint::Plain,
        };
        Ok(Self {
            x,
            y,
            hint,
            end_point: names.end_point(x, y),
            duration: column(&DURATION)?,
            start: column(&START)?,
            end: column(&END)?,
            participant: column(&PARTICIPANT)?,
            group: column(&GROUP)?,
            stimulus: column(&STIMULUS)?,
            trial: column(&TRIAL)?,
            aoi: column(&AOI)?,
            confidence: column(&CONFIDENCE)?,
            eye: column(&EYE)?,
            event: column(&EVENT)?,
            event_candidates: names.event_candidates(),
        })
    }

    /// Rejects columns of a frame whose values do not fit their role.
    pub(super) fn check_kinds(&self, columns: &Columns) -> Result<(), ReadError> {
        let end_point = self.end_point.map(|(x, y)| [x, y]);
        let numbers = [self.duration, self.start, self.end, self.confidence];
        let numbers = [self.x, self.y]
            .into_iter()
            .chain(end_point.into_iter().flatten())
            .chain(numbers.into_iter().flatten());
        for column in numbers {
            columns.require_numbers(column)?;
        }
        let names = [
            self.participant,
            self.group,
            self.stimulus,
            self.trial,
            self.aoi,
            self.event,
        ];
        names
            .into_iter()
            .flatten()
            .try_for_each(|column| columns.require_names(column))
    }

    /// Names in use that several columns share; the first of these columns is taken.
    pub(super) fn repeated<'a>(&self, columns: &'a Columns) -> Vec<&'a str> {
        let names = columns.names();
        self.used()
            .map(|column| names[column].as_str())
            .filter(|used| {
                let same = names.iter().filter(|name| name.eq_ignore_ascii_case(used));
                same.count() > 1
            })
            .collect()
    }

    /// Names of the unused columns, except numbers: those are a participant's data in place of a header.
    pub(super) fn unused<'a>(&self, columns: &'a Columns) -> Vec<&'a str> {
        let used: Vec<usize> = self.used().collect();
        let names = columns.names().iter().enumerate();
        names
            .filter(|(column, _)| !used.contains(column))
            .map(|(_, name)| name.as_str())
            .filter(|name| !name.is_empty() && parse_number(name, true).is_none())
            .collect()
    }

    /// Whether a column has a role.
    pub(super) fn uses(&self, column: usize) -> bool {
        self.used().any(|used| used == column)
    }

    /// The role of each column; `others` are those that depend on values. A trial serves as the stimulus if nothing
    /// else names one.
    pub(super) fn columns_used(
        &self,
        columns: &Columns,
        others: impl Iterator<Item = (&'static str, usize)>,
        has_stimulus: bool,
    ) -> ColumnRoles {
        let trial = match self.stimulus {
            None if !has_stimulus => "stimulus",
            _ => "trial",
        };
        let optional = [
            ("participant", self.participant),
            ("group", self.group),
            ("stimulus", self.stimulus),
            (trial, self.trial),
            ("x", Some(self.x)),
            ("y", Some(self.y)),
            ("end-x", self.end_point.map(|(x, _)| x)),
            ("end-y", self.end_point.map(|(_, y)| y)),
            ("duration", self.duration),
            ("start", self.start),
            ("end", self.end),
            ("aoi", self.aoi),
            ("confidence", self.confidence),
        ];
        let roles: Vec<(&'static str, usize)> = optional
            .into_iter()
            .filter_map(|(role, column)| Some((role, column?)))
            .chain(others)
            .collect();
        let name = |column: usize| columns.names()[column].clone();
        let unused = self.unused(columns);
        let in_use = |unused: &&str| !roles.iter().any(|&(_, column)| name(column) == **unused);
        ColumnRoles {
            not_used: unused
                .into_iter()
                .filter(in_use)
                .map(str::to_string)
                .collect(),
            used: roles
                .iter()
                .map(|&(role, column)| ColumnRole {
                    role,
                    column: name(column),
                })
                .collect(),
        }
    }

    fn used(&self) -> impl Iterator<Item = usize> {
        let end_point = self.end_point.map(|(x, y)| [x, y]);
        let optional = [
            self.duration,
            self.start,
            self.end,
            self.participant,
            self.group,
            self.stimulus,
            self.trial,
            self.aoi,
            self.confidence,
            self.event,
        ];
        [self.x, self.y]
            .into_iter()
            .chain(end_point.into_iter().flatten())
            .chain(optional.into_iter().flatten())
    }

    /// Whether rows have durations, so that they are fixations.
    pub(super) fn has_durations(&self) -> bool {
        self.duration.is_some() || self.start.is_some() && self.end.is_some()
    }
}

/// Whether there are coordinate columns.
pub(crate) fn has_coordinates(columns: &Columns) -> bool {
    Names::of(columns).coordinates().is_some()
}

/// The unit that a column's name ends with: `duration [ms]`, `duration (ms)`, `duration_ms`.
pub(super) fn unit_in_name(name: &str) -> Option<String> {
    split_unit(name).1
}

/// The names in lower case, without units, spaces and punctuation.
pub(super) struct Names(Vec<String>);

impl Names {
    pub(super) fn of(columns: &Columns) -> Self {
        let bare = |name: &String| normalised_name(&split_unit(name).0);
        Self(columns.names().iter().map(bare).collect())
    }

    fn position(&self, wanted: &str) -> Option<usize> {
        self.0.iter().position(|name| name == wanted)
    }

    pub(super) fn first(&self, wanted: &[&str]) -> Option<usize> {
        wanted.iter().find_map(|name| self.position(name))
    }

    /// The columns of the end position, if `x` and `y` are those of the start.
    fn end_point(&self, x: usize, y: usize) -> Option<(usize, usize)> {
        let start = (self.position("startx")?, self.position("starty")?);
        let end = (self.position("endx")?, self.position("endy")?);
        (start == (x, y)).then_some(end)
    }

    fn event_candidates(&self) -> Vec<(usize, bool)> {
        EVENT_NAMES
            .iter()
            .filter_map(|&(name, specific)| Some((self.position(name)?, specific)))
            .collect()
    }

    fn coordinates(&self) -> Option<(usize, usize, CoordinateHint)> {
        COORDINATE_PAIRS
            .iter()
            .find_map(|&(x, y, hint)| Some((self.position(x)?, self.position(y)?, hint)))
    }
}

/// A name in lower case, without the punctuation between its words.
pub(super) fn normalised_name(name: &str) -> String {
    name.chars()
        .filter(|sign| !matches!(sign, ' ' | '_' | '.' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

pub(super) fn split_unit(name: &str) -> (String, Option<String>) {
    let name = name.trim();
    for (open, close) in [('[', ']'), ('(', ')')] {
        if let Some((bare, unit)) = name
            .strip_suffix(close)
            .and_then(|name| name.rsplit_once(open))
        {
            return (bare.to_string(), Some(unit.trim().to_lowercase()));
        }
    }
    match name.rsplit_once(['_', ' ', '.']) {
        Some((bare, word)) if UNIT_WORDS.contains(&word.to_lowercase().as_str()) => {
            (bare.to_string(), Some(word.to_lowercase()))
        }
        _ => (name.to_string(), None),
    }
}

/// The column that the user names for a role.
fn mapped(
    columns: &Columns,
    options: &ReadOptions,
    roles: &[&str],
) -> Result<Option<usize>, ReadError> {
    let Some(requested) = roles.iter().find_map(|name| options.columns.get(*name)) else {
        return Ok(None);
    };
    let as_written = columns
        .names()
        .iter()
        .position(|name| name.eq_ignore_ascii_case(requested.trim()));
    match as_written {
        Some(column) => Ok(Some(column)),
        None => columns.require(&[requested.trim()]).map(Some),
    }
}

/// Rejects unknown roles: a mistyped one must not be ignored silently.
fn check_mapping(columns: &Columns, options: &ReadOptions) -> Result<(), ReadError> {
    let roles = [
        &["x", "y"][..],
        DURATION.roles,
        START.roles,
        END.roles,
        PARTICIPANT.roles,
        GROUP.roles,
        STIMULUS.roles,
        TRIAL.roles,
        AOI.roles,
        CONFIDENCE.roles,
        EYE.roles,
        EVENT.roles,
    ]
    .concat();
    match options
        .columns
        .keys()
        .find(|key| !roles.contains(&key.as_str()))
    {
        None => Ok(()),
        Some(key) => Err(columns
            .error(format!("\"{key}\" is not a known column"))
            .with_remedy(format!("the known columns are {}", roles.join(", ")))
            .with_fields(&[EncodeField::Columns])),
    }
}

fn no_coordinates(columns: &Columns) -> ReadError {
    let names: Vec<&str> = columns.names().iter().map(String::as_str).collect();
    let pairs = coordinate_pairs(&names);
    let remedy = match pairs.is_empty() {
        true => format!("say which columns they are; {}", columns.listed()),
        false => format!("{}; say which to use", look_like_coordinates(&pairs)),
    };
    columns
        .error("there are no columns for the coordinates, such as x and y")
        .with_remedy(remedy)
        .with_fields(&[EncodeField::CoordinateColumns])
        .with_coordinate_columns(pairs.into_iter().next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Input, Rows};

    fn columns(header: &str) -> Columns {
        let input = Input::from_bytes("t.csv", format!("{header}\n").into()).unwrap();
        Rows::open(input).unwrap().columns().clone()
    }

    fn layout(header: &str) -> Layout {
        Layout::find(&columns(header), &ReadOptions::default()).unwrap()
    }

    #[test]
    fn names_are_found_in_many_spellings() {
        let found = layout("Subject,Trial,Image,X [px],Y [px],Fixation Duration (ms),start_time");
        assert_eq!((found.x, found.y, found.duration), (3, 4, Some(5)));
        assert_eq!(
            (found.participant, found.trial, found.stimulus),
            (Some(0), Some(1), Some(2))
        );
        assert_eq!((found.start, found.end), (Some(6), None));
        let viewer = layout(
            "RECORDING_SESSION_LABEL\tTRIAL_INDEX\tCURRENT_FIX_X\tCURRENT_FIX_Y\tCURRENT_FIX_DURATION\tCURRENT_FIX_INTEREST_AREA_LABEL",
        );
        assert_eq!((viewer.x, viewer.y, viewer.duration), (2, 3, Some(4)));
        assert_eq!((viewer.participant, viewer.aoi), (Some(0), Some(5)));
        let pupil = layout("norm_pos_x,norm_pos_y,confidence,timestamp");
        assert_eq!(pupil.hint, CoordinateHint::PupilNorm);
        assert!(!pupil.has_durations());
        assert!(layout("lon;lat;onset;end").has_durations());
        assert_eq!(layout("lon;lat;onset;end").hint, CoordinateHint::Globe);
        // Pairs stay together.
        let pair = layout("x,start_x,start_y,duration_ms");
        assert_eq!((pair.x, pair.y, pair.duration), (1, 2, Some(3)));
    }

    #[test]
    fn units_are_split_off() {
        for (name, unit) in [
            ("x [px]", Some("px")),
            ("Duration (ms)", Some("ms")),
            ("start_s", Some("s")),
            ("Recording timestamp [μs]", Some("μs")),
            ("trial_s_x", None),
            ("s", None),
        ] {
            assert_eq!(unit_in_name(name).as_deref(), unit, "{name}");
        }
    }

    #[test]
    fn given_column_names_take_precedence_and_typos_are_reported() {
        let header = columns("x,y,col [px],row,who");
        let find = |pairs: &[(&str, &str)]| {
            let columns = pairs.iter().map(|(a, b)| (a.to_string(), b.to_string()));
            let options = ReadOptions {
                columns: columns.collect(),
                ..ReadOptions::default()
            };
            Layout::find(&header, &options)
        };
        let found = find(&[("x", "COL"), ("y", "row"), ("subject", "who")]).unwrap();
        assert_eq!((found.x, found.y, found.participant), (2, 3, Some(4)));
        let error = find(&[("x", "nowhere")]).unwrap_err();
        assert!(error.problem.contains("nowhere"), "{error}");
        let error = find(&[("z", "row")]).unwrap_err();
        assert!(error.remedy.contains("duration"), "{error}");
        let error = Layout::find(&columns("a,b"), &ReadOptions::default()).unwrap_err();
        assert!(error.remedy.contains("a, b"), "{error}");
    }
}
