//! Reads cohort files written by Veilpath and by other programs.

use super::CohortNote;
use super::fixations;
use super::preamble::Preamble;
use super::printable::{make_ids_printable, make_printable};
use super::raw::{RawCohort, RawRow};
use crate::groups::GroupColumn;
use crate::readers::IdColumns;
use crate::{Input, Lines, ReadError, Rows, guess_delimiter};
use std::collections::{BTreeMap, HashSet};
use veilpath_metrics::{Encoding, Fixation, Fixations};

impl RawCohort {
    /// Reads a cohort file without parsing its letters.
    pub fn read(input: Input) -> Result<Self, ReadError> {
        if input.frame().is_some() {
            return Self::read_frame(input);
        }
        let file = input.name().to_string();
        let head = input.head();
        if head.binary {
            return Err(ReadError::new(&file, "this is not a text file").with_remedy(EXPECTED));
        }
        let mut lines = input.into_lines();
        let mut preamble = Preamble::default();
        let mut notes = Vec::new();
        let Some(first) = preamble.read(&mut lines)? else {
            let problem = match lines.number() {
                0 => "the file is empty",
                _ => "there is no scanpath in this file",
            };
            return Err(ReadError::new(&file, problem).with_remedy(EXPECTED));
        };
        if preamble.looks_like_settings && !preamble.is_ours {
            notes.push(CohortNote::SettingsIgnored);
        }
        let layout = Layout::of(&first);
        let screen = preamble
            .screen()
            .map_err(|error| lines.error(error.to_string()))?;
        let alphabet = preamble
            .alphabet_on_grid()
            .map_err(|error| lines.error(error.to_string()))?;
        let may_be_marked = preamble.is_ours && matches!(layout, Layout::Table);
        let settings = preamble.take_settings(guess_delimiter(&first));
        let mut rows = match layout {
            Layout::Table => table(under_header(lines, &first), screen.is_some(), &mut notes)?,
            Layout::Tabbed => tabbed(lines, &first, &mut notes)?,
            Layout::Bare => bare(lines, &first, preamble.blank_lines, &mut notes)?,
            Layout::Unknown => {
                return Err(lines
                    .error("the first line is neither a header nor a scanpath")
                    .with_remedy(EXPECTED));
            }
        };
        if rows.is_empty() {
            return Err(
                ReadError::new(&file, "there is a header, but no scanpath after it")
                    .with_remedy("was the file written completely?"),
            );
        }
        let has_fixations = rows.iter().any(|row| row.fixations.is_some());
        let mut unprintable = make_ids_printable(&mut rows, may_be_marked);
        let mut encoding = BTreeMap::new();
        for (mut name, mut value) in settings {
            unprintable += make_printable(&mut name) + make_printable(&mut value);
            encoding.insert(name, value);
        }
        if unprintable > 0 {
            notes.push(CohortNote::Unprintable(unprintable));
        }
        note_repeated(&rows, &mut notes);
        Ok(Self {
            head,
            rows,
            alphabet,
            encoding: Encoding(encoding),
            size_declared: preamble.size_declared,
            modulus_declared: preamble.modulus_declared,
            grid: preamble.grid,
            header_notes: preamble.notes,
            aspect: preamble.aspect,
            screen: screen.filter(|_| has_fixations),
            notes,
            is_frame: false,
        })
    }

    /// Reads a frame with the columns of a cohort file. A frame declares no settings.
    fn read_frame(input: Input) -> Result<Self, ReadError> {
        let head = input.head();
        let mut notes = Vec::new();
        let mut rows = table(Rows::open(input)?, false, &mut notes)?;
        if rows.is_empty() {
            return Err(ReadError::new(&head.name, "this frame has no rows"));
        }
        let unprintable = make_ids_printable(&mut rows, false);
        if unprintable > 0 {
            notes.push(CohortNote::Unprintable(unprintable));
        }
        note_repeated(&rows, &mut notes);
        Ok(Self {
            head,
            rows,
            alphabet: None,
            encoding: Encoding::default(),
            size_declared: false,
            modulus_declared: false,
            grid: None,
            header_notes: Vec::new(),
            aspect: None,
            screen: None,
            notes,
            is_frame: true,
        })
    }
}

const EXPECTED: &str = "expected a table with the header participant,stimulus,scanpath (stimulus may be left out; a column group is optional), or lines of a participant, a tab and letters, or one string of letters per line";

const NO_PARTICIPANT: &str =
    "complete the row or remove it; in a file without a participant column, scanpaths are numbered";

const FIXATIONS: &str = "a fixation is written as x y duration or x y duration start, in milliseconds, and a semicolon comes between two of them";

/// How the scanpaths are laid out.
enum Layout {
    Table,
    Tabbed,
    Bare,
    Unknown,
}

impl Layout {
    fn of(first: &str) -> Self {
        let delimiter = char::from(guess_delimiter(first));
        let is_header = first.split(delimiter).any(|field| {
            let name = field.trim().trim_matches('"');
            name.eq_ignore_ascii_case("scanpath") || name.eq_ignore_ascii_case("participant")
        });
        if is_header {
            Layout::Table
        } else if first.contains('\t') {
            Layout::Tabbed
        } else if first.contains([',', ';']) {
            Layout::Unknown
        } else {
            Layout::Bare
        }
    }
}

/// The rows under a header.
fn under_header(lines: Lines, header: &str) -> Rows {
    // A spreadsheet pads all lines to the width of the widest, which may be a comment.
    let delimiter = guess_delimiter(header);
    let sign = char::from(delimiter);
    let mut header = header.trim_end();
    let quoted_padding = format!("{sign}\"\"");
    while let Some(shorter) = header
        .strip_suffix(sign)
        .or_else(|| header.strip_suffix(&quoted_padding))
    {
        header = shorter;
    }
    Rows::after_header(lines, header, delimiter)
}

/// A table of scanpaths.
fn table(
    mut rows: Rows,
    has_screen: bool,
    notes: &mut Vec<CohortNote>,
) -> Result<Vec<RawRow>, ReadError> {
    let columns = rows.columns().clone();
    let scanpath = columns.require(&["scanpath"])?;
    let IdColumns {
        participant,
        group,
        stimulus,
    } = IdColumns::of(&columns);
    for column in [Some(scanpath), participant, stimulus, group] {
        column.map_or(Ok(()), |column| columns.require_names(column))?;
    }
    // Without a screen the coordinates have no meaning, and in another program's table the column may count fixations.
    let kept = columns.find(&[fixations::COLUMN]).filter(|_| has_screen);
    let ignored: Vec<&str> = (0..)
        .zip(columns.names())
        .filter(|(index, _)| {
            ![Some(scanpath), participant, group, stimulus, kept].contains(&Some(*index))
        })
        .map(|(_, name)| name.as_str())
        .collect();
    if !ignored.is_empty() {
        let ignored = ignored.into_iter().map(str::to_string);
        notes.push(CohortNote::ColumnsIgnored(ignored.collect()));
    }
    if participant.is_none() {
        notes.push(CohortNote::ParticipantsNumbered);
    }
    let mut all = Collected::default();
    let mut groups = GroupColumn::default();
    let mut empty_rows = 0;
    while let Some(row) = rows.next_row()? {
        // Spreadsheets leave empty rows. Without a participant column, an empty field is an empty scanpath.
        if participant.is_some() && (0..row.len()).all(|at| row.text(at).is_empty()) {
            empty_rows += 1;
            continue;
        }
        let padding = columns.names().len()..row.len();
        if row.len() < columns.names().len()
            || padding.into_iter().any(|at| !row.text(at).is_empty())
        {
            let problem = format!(
                "this row has {} fields, but the header names {}",
                row.len(),
                columns.names().len()
            );
            return Err(row
                .error(
                    row.len().min(columns.names().len()).saturating_sub(1),
                    problem,
                )
                .with_remedy("complete the row; an id with a comma in it must be in quotes"));
        }
        let participant = match participant {
            Some(column) if row.text(column).is_empty() => {
                return Err(row
                    .error(column, "the participant is missing in this row")
                    .with_remedy(NO_PARTICIPANT));
            }
            Some(column) => row.text(column).to_string(),
            None => (all.rows.len() + 1).to_string(),
        };
        let raw = RawRow {
            line: row.line(),
            column: Some((scanpath, "scanpath".into())),
            group: match group {
                Some(column) => groups
                    .add(&participant, &row, column)
                    .map_err(|contradiction| *contradiction.error)?
                    .map(str::to_string),
                None => None,
            },
            participant,
            stimulus: stimulus
                .map(|column| row.text(column))
                .filter(|text| !text.is_empty())
                .map(str::to_string),
            letters: row.text(scanpath).to_string(),
            fixations: match kept {
                Some(column) => Some(
                    fixations::parse(row.text(column))
                        .map_err(|problem| row.error(column, problem).with_remedy(FIXATIONS))?,
                ),
                None => None,
            },
        };
        all.push(raw)
            .map_err(|problem| row.error(scanpath, problem))?;
    }
    if empty_rows > 0 {
        notes.push(CohortNote::EmptyRows(empty_rows));
    }
    Ok(all.rows)
}

/// Limits on the scanpaths of a file and on their text in bytes: a small compressed file can become very large.
const MAX_ROWS: usize = 1 << 22;
const MAX_TEXT_BYTES: usize = 1 << 30;

/// The rows that have been read.
#[derive(Default)]
struct Collected {
    rows: Vec<RawRow>,
    bytes: usize,
}

impl Collected {
    fn push(&mut self, row: RawRow) -> Result<(), &'static str> {
        let ids = [row.group.as_ref(), row.stimulus.as_ref()];
        let ids: usize = ids.into_iter().flatten().map(String::len).sum();
        let fixations = row.fixations.as_ref().map_or(0, Fixations::len);
        self.bytes += row.participant.len() + ids + row.letters.len();
        self.bytes += fixations * size_of::<Fixation>();
        if self.rows.len() == MAX_ROWS || self.bytes > MAX_TEXT_BYTES {
            return Err(
                "the file has more than 4,194,304 scanpaths or 1 GiB of letters, fixations and ids",
            );
        }
        self.rows.push(row);
        Ok(())
    }
}

/// OGAMA and ScanGraph: participant, tab, letters.
fn tabbed(
    mut lines: Lines,
    first: &str,
    notes: &mut Vec<CohortNote>,
) -> Result<Vec<RawRow>, ReadError> {
    let header = first
        .split('\t')
        .position(|field| field.trim().eq_ignore_ascii_case("scanpath string"));
    let column = header.unwrap_or(1);
    let mut all = Collected::default();
    let mut without_area = 0;
    let mut ignored = 0;
    let mut line = (header.is_none()).then(|| first.to_string());
    loop {
        if let Some(text) = line {
            let mut fields = text.split('\t');
            let participant = fields.next().unwrap_or_default().trim();
            let Some(letters) = fields.nth(column.saturating_sub(1)) else {
                return Err(lines
                    .error("this line has no tab between participant and letters")
                    .with_remedy(
                        "every line has a participant, a tab and letters; comments start with #",
                    ));
            };
            if participant.is_empty() {
                return Err(lines
                    .error("there is no participant before the tab")
                    .with_remedy(
                        "every line has a participant, a tab and letters; comments start with #",
                    ));
            }
            ignored = ignored.max(fields.count());
            without_area += letters.matches('#').count();
            let raw = RawRow {
                line: lines.number(),
                column: None,
                participant: participant.to_string(),
                group: None,
                stimulus: None,
                letters: letters.trim().replace('#', ""),
                fixations: None,
            };
            all.push(raw).map_err(|problem| lines.error(problem))?;
        }
        line = match lines.next_line()? {
            None => break,
            Some(text) if text.trim().is_empty() || text.starts_with('#') => None,
            Some(text) => Some(text.into_owned()),
        };
    }
    if without_area > 0 {
        notes.push(CohortNote::NoArea(without_area));
    }
    if ignored > 0 {
        notes.push(CohortNote::TrailingColumnsIgnored);
    }
    Ok(all.rows)
}

/// One string per line.
fn bare(
    mut lines: Lines,
    first: &str,
    mut blank_lines: u64,
    notes: &mut Vec<CohortNote>,
) -> Result<Vec<RawRow>, ReadError> {
    let mut all = Collected::default();
    let mut trailing_blank_lines = 0;
    let mut line = Some(first.to_string());
    while let Some(text) = line {
        let text = text.trim();
        if text.is_empty() {
            trailing_blank_lines += 1;
        } else if !text.starts_with('#') {
            blank_lines += std::mem::take(&mut trailing_blank_lines);
            let raw = RawRow {
                line: lines.number(),
                column: None,
                participant: (all.rows.len() + 1).to_string(),
                group: None,
                stimulus: None,
                letters: text.to_string(),
                fixations: None,
            };
            all.push(raw).map_err(|problem| lines.error(problem))?;
        }
        line = lines.next_line()?.map(|text| text.into_owned());
    }
    notes.push(CohortNote::ParticipantsNumbered);
    if blank_lines > 0 {
        notes.push(CohortNote::BlankLines(blank_lines));
    }
    Ok(all.rows)
}

fn note_repeated(rows: &[RawRow], notes: &mut Vec<CohortNote>) {
    let mut ids = HashSet::new();
    let repeated = rows
        .iter()
        .filter(|row| !ids.insert((row.participant.as_str(), row.stimulus.as_deref())))
        .count();
    if repeated > 0 {
        notes.push(CohortNote::RepeatedIds(repeated));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_limits() {
        let row = |letters: &str| RawRow {
            line: 1,
            column: None,
            participant: "p".into(),
            group: None,
            stimulus: None,
            letters: letters.into(),
            fixations: None,
        };
        let mut rows = Collected {
            rows: Vec::new(),
            bytes: MAX_TEXT_BYTES - 3,
        };
        assert!(rows.push(row("AB")).is_ok());
        assert!(rows.push(row("")).is_err());
    }
}
