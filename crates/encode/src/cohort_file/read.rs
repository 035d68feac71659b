//! Reading cohort files, whoever wrote them.

use super::{ALPHABET, CohortFile, MAGIC, NOTE, VERSION};
use crate::{Input, Lines, ReadError, Rows, guess_delimiter};
use std::collections::{BTreeMap, HashSet};
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Grid, Notation};

/// Reads a cohort file; `alphabet` overrides what the file says and what would be guessed.
pub fn read(input: Input, alphabet: Option<Alphabet>) -> Result<CohortFile, ReadError> {
    let file = input.name().to_string();
    if input.head().binary {
        return Err(ReadError::new(&file, "this is no text file").with_remedy(EXPECTED));
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
        notes.push(format!(
            "comments that look like settings are not read, because the line \"{MAGIC} {VERSION}\" is missing before them"
        ));
    }
    let rows = match Form::of(&first) {
        Form::Table => table(lines, &first, &mut notes)?,
        Form::Tabbed => tabbed(lines, &first, &mut notes)?,
        Form::Bare => bare(lines, &first, preamble.blank_lines, &mut notes)?,
        Form::Unknown => {
            return Err(lines
                .error("the first line is no header, and no scanpath either")
                .with_remedy(EXPECTED));
        }
    };
    if rows.is_empty() {
        return Err(
            ReadError::new(&file, "there is a header and no scanpath after it")
                .with_remedy("was the file written completely?"),
        );
    }
    let declared = preamble.alphabet;
    let from_grid = preamble
        .grid
        .and_then(|grid| Alphabet::for_cells(grid.cells()).ok());
    // Who names a notation as a whole does not contradict a file that says how many of its letters are in use.
    let alphabet = match (alphabet, declared) {
        (Some(asked), Some(declared)) if asked == Alphabet::full(declared.notation()) => {
            Some(declared)
        }
        _ => alphabet,
    };
    let used = match alphabet.or(declared).or(from_grid) {
        Some(known) => known,
        None => {
            let guess = guess(&rows);
            notes.push(format!(
                "the file does not name its alphabet; it was taken for \"{guess}\" (--alphabet says otherwise)"
            ));
            guess
        }
    };
    if let (Some(asked), Some(declared)) = (alphabet, declared)
        && asked != declared
    {
        notes.push(format!(
            "the file names the alphabet \"{declared}\"; it was read as \"{asked}\", as asked"
        ));
    }
    let mut entries = Vec::with_capacity(rows.len());
    for row in rows {
        entries.push(row.into_entry(&file, &used)?);
    }
    note_repeated(&entries, &mut notes);
    Ok(CohortFile {
        cohort: Cohort {
            alphabet: used,
            encoding: Encoding(preamble.settings),
            entries,
        },
        notes,
        declared_grid: preamble.grid,
        declared_alphabet: declared,
        header_notes: preamble.notes,
    })
}

const EXPECTED: &str = "expected a table with the header participant,stimulus,scanpath (stimulus may be left out), or lines of a participant, a tab and letters, or one string of letters per line";

/// What stands before the scanpaths.
#[derive(Default)]
struct Preamble {
    is_ours: bool,
    looks_like_settings: bool,
    alphabet: Option<Alphabet>,
    grid: Option<Grid>,
    settings: BTreeMap<String, String>,
    notes: Vec<String>,
    blank_lines: u64,
}

impl Preamble {
    /// Reads comments up to the first line that is none, and gives that.
    fn read(&mut self, lines: &mut Lines) -> Result<Option<String>, ReadError> {
        loop {
            let Some(line) = lines.next_line()? else {
                return Ok(None);
            };
            let whole = line.into_owned();
            let line = whole.trim();
            if line.is_empty() {
                self.blank_lines += 1;
            } else if let Some(version) = line.strip_prefix(MAGIC) {
                if version.trim().parse() != Ok(VERSION) {
                    return Err(lines
                        .error("this cohort file was written by another version of Veilpath")
                        .with_remedy(
                            "encode the recordings again with this version, or update Veilpath",
                        ));
                }
                self.is_ours = true;
            } else if let Some(comment) = line.strip_prefix('#') {
                self.comment(comment).map_err(|problem| {
                    lines.error(problem).with_remedy(
                        "mend the line, or remove it and give the setting on the command line",
                    )
                })?;
            } else {
                // With its blanks: a tab at the end stands before an empty scanpath.
                return Ok(Some(whole));
            }
        }
    }

    fn comment(&mut self, comment: &str) -> Result<(), String> {
        let Some((name, value)) = comment.split_once(':') else {
            return Ok(());
        };
        let (name, value) = (name.trim(), value.trim());
        if !self.is_ours {
            self.looks_like_settings |= matches!(name, ALPHABET | "grid");
            return Ok(());
        }
        match name {
            NOTE => self.notes.push(value.to_string()),
            ALPHABET => self.alphabet = Some(value.parse().map_err(|error| format!("{error}"))?),
            _ => {
                if name == "grid" {
                    self.grid = Some(value.parse()?);
                }
                self.settings.insert(name.to_string(), value.to_string());
            }
        }
        Ok(())
    }
}

/// How the scanpaths are laid out.
enum Form {
    Table,
    Tabbed,
    Bare,
    Unknown,
}

impl Form {
    fn of(first: &str) -> Self {
        let delimiter = char::from(guess_delimiter(first));
        let is_header = first.split(delimiter).any(|field| {
            let name = field.trim().trim_matches('"');
            name.eq_ignore_ascii_case("scanpath") || name.eq_ignore_ascii_case("participant")
        });
        if is_header {
            Form::Table
        } else if first.contains('\t') {
            Form::Tabbed
        } else if first.contains([',', ';']) {
            Form::Unknown
        } else {
            Form::Bare
        }
    }
}

/// A scanpath before its letters are understood.
struct Raw {
    line: u64,
    /// The column of a table, with its name.
    column: Option<(usize, String)>,
    participant: String,
    stimulus: Option<String>,
    letters: String,
}

impl Raw {
    fn into_entry(self, file: &str, alphabet: &Alphabet) -> Result<Entry, ReadError> {
        let scanpath = alphabet.parse(&self.letters).map_err(|error| {
            let place = error.column;
            let error = ReadError::new(file, format!("{error} at position {place} of the scanpath"))
                .at_line(self.line)
                .with_remedy(format!(
                    "the scanpath was read as \"{alphabet}\"; name another alphabet with --alphabet, or encode the recordings again"
                ));
            match &self.column {
                Some((index, name)) => error.at_column(*index, name),
                None => error,
            }
        })?;
        Ok(Entry {
            participant: self.participant,
            stimulus: self.stimulus,
            scanpath,
        })
    }
}

/// A table under a header.
fn table(lines: Lines, header: &str, notes: &mut Vec<String>) -> Result<Vec<Raw>, ReadError> {
    let mut rows = Rows::after_header(lines, header, guess_delimiter(header));
    let columns = rows.columns().clone();
    let scanpath = columns.require(&["scanpath"])?;
    let participant = columns.find(&["participant", "subject"]);
    let stimulus = columns.find(&["stimulus"]);
    let ignored: Vec<&str> = (0..)
        .zip(columns.names())
        .filter(|(index, _)| ![Some(scanpath), participant, stimulus].contains(&Some(*index)))
        .map(|(_, name)| name.as_str())
        .collect();
    if !ignored.is_empty() {
        notes.push(format!("ignored columns: {}", ignored.join(", ")));
    }
    if participant.is_none() {
        notes.push("there is no column participant; scanpaths are numbered from 1".into());
    }
    let mut all = Vec::new();
    while let Some(row) = rows.next_row()? {
        if row.len() != columns.names().len() {
            let problem = format!(
                "this row has {} fields, the header names {}",
                row.len(),
                columns.names().len()
            );
            return Err(row
                .error(
                    row.len().min(columns.names().len()).saturating_sub(1),
                    problem,
                )
                .with_remedy("complete the row; an id with a comma in it must stand in quotes"));
        }
        all.push(Raw {
            line: row.line(),
            column: Some((scanpath, "scanpath".into())),
            participant: match participant {
                Some(column) => row.text(column).to_string(),
                None => (all.len() + 1).to_string(),
            },
            stimulus: stimulus
                .map(|column| row.text(column))
                .filter(|text| !text.is_empty())
                .map(str::to_string),
            letters: row.text(scanpath).to_string(),
        });
    }
    Ok(all)
}

/// OGAMA and ScanGraph: participant, tab, letters.
fn tabbed(mut lines: Lines, first: &str, notes: &mut Vec<String>) -> Result<Vec<Raw>, ReadError> {
    let header = first
        .split('\t')
        .position(|field| field.trim().eq_ignore_ascii_case("scanpath string"));
    let column = header.unwrap_or(1);
    let mut all = Vec::new();
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
                        "every line holds a participant, a tab and letters; comments start with #",
                    ));
            };
            ignored = ignored.max(fields.count());
            without_area += letters.matches('#').count();
            all.push(Raw {
                line: lines.number(),
                column: None,
                participant: participant.to_string(),
                stimulus: None,
                letters: letters.trim().replace('#', ""),
            });
        }
        line = match lines.next_line()? {
            None => break,
            Some(text) if text.trim().is_empty() || text.starts_with('#') => None,
            Some(text) => Some(text.into_owned()),
        };
    }
    if without_area > 0 {
        notes.push(format!(
            "{without_area} fixations in no area (#) were left out"
        ));
    }
    if ignored > 0 {
        notes.push("the columns after the letters were ignored".into());
    }
    Ok(all)
}

/// One string per line.
fn bare(
    mut lines: Lines,
    first: &str,
    mut blank_lines: u64,
    notes: &mut Vec<String>,
) -> Result<Vec<Raw>, ReadError> {
    let mut all = Vec::new();
    let mut trailing_blank_lines = 0;
    let mut line = Some(first.to_string());
    while let Some(text) = line {
        let text = text.trim();
        if text.is_empty() {
            trailing_blank_lines += 1;
        } else if !text.starts_with('#') {
            blank_lines += std::mem::take(&mut trailing_blank_lines);
            all.push(Raw {
                line: lines.number(),
                column: None,
                participant: (all.len() + 1).to_string(),
                stimulus: None,
                letters: text.to_string(),
            });
        }
        line = lines.next_line()?.map(|text| text.into_owned());
    }
    notes.push("the file does not name participants; they are numbered from 1".into());
    if blank_lines > 0 {
        notes.push(format!(
            "{blank_lines} blank lines were skipped; an empty scanpath needs a table with its participant"
        ));
    }
    Ok(all)
}

/// The alphabet that strings without a header seem to be written in.
fn guess(rows: &[Raw]) -> Alphabet {
    let mut texts = rows.iter().map(|row| row.letters.as_str());
    let any = rows.iter().any(|row| !row.letters.is_empty());
    let is_number = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b' ')
    };
    let is_double = |text: &str| {
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        rest.is_empty()
            && pairs
                .iter()
                .all(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
    };
    Alphabet::full(if any && texts.clone().all(is_number) {
        Notation::Numbers
    } else if any && texts.all(is_double) {
        Notation::DoubleLetters
    } else {
        Notation::Letters
    })
}

fn note_repeated(entries: &[Entry], notes: &mut Vec<String>) {
    let mut ids = HashSet::new();
    let repeated = entries
        .iter()
        .filter(|entry| !ids.insert((entry.participant.as_str(), entry.stimulus.as_deref())))
        .count();
    if repeated > 0 {
        notes.push(format!(
            "{repeated} rows repeat the participant and stimulus of an earlier row; all are kept"
        ));
    }
}
