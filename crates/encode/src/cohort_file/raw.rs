//! A cohort file whose letters are not parsed yet.

use super::CohortNote;
use super::note::written_as;
use crate::{EncodeField, Head, ReadError};
use std::collections::HashMap;
use std::fmt;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Fixations, Grid, Notation, Screen};

/// A cohort file that has been read, with its scanpaths still as text.
///
/// How the text is parsed into letters may depend on another file, on a metric or on the other institution. So the file
/// is read once, and [`RawCohort::cohort`] parses the letters when the alphabet is known.
#[derive(Clone)]
pub struct RawCohort {
    pub(super) head: Head,
    pub(super) rows: Vec<RawRow>,
    pub(super) encoding: Encoding,
    pub(super) alphabet: Option<Alphabet>,
    /// Whether the header says how many letters the alphabet has.
    pub(super) size_declared: bool,
    /// Whether the header says how many values the second of two letters has.
    pub(super) modulus_declared: bool,
    pub(super) grid: Option<Grid>,
    pub(super) header_notes: Vec<String>,
    pub(super) aspect: Option<f64>,
    /// The screen of the fixations, if there are any.
    pub(super) screen: Option<Screen>,
    pub(super) notes: Vec<CohortNote>,
    /// Whether the rows come from a frame, not from lines of a file.
    pub(super) is_frame: bool,
}

/// One scanpath as text, with its position in the file.
#[derive(Clone)]
pub(super) struct RawRow {
    pub(super) line: u64,
    /// The column of a table, with its name.
    pub(super) column: Option<(usize, String)>,
    pub(super) participant: String,
    pub(super) group: Option<String>,
    pub(super) stimulus: Option<String>,
    pub(super) letters: String,
    pub(super) fixations: Option<Fixations>,
}

impl RawCohort {
    /// The file's name as the user gave it.
    pub fn name(&self) -> &str {
        &self.head.name
    }

    /// The start of the file.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The alphabet that the header names.
    pub fn declared_alphabet(&self) -> Option<Alphabet> {
        self.alphabet
    }

    /// The grid that the header names.
    pub fn declared_grid(&self) -> Option<Grid> {
        self.grid
    }

    /// The encoding settings that the header names.
    pub fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// The notes in the header.
    pub fn header_notes(&self) -> &[String] {
        &self.header_notes
    }

    /// Width divided by height of what was looked at, if the header declares it.
    pub fn aspect(&self) -> Option<f64> {
        self.aspect
    }

    /// The screen of the fixations; `None` if the file has letters only.
    pub fn screen(&self) -> Option<Screen> {
        self.screen
    }

    /// The number of scanpaths.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no scanpath.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Finds the first scanpath with the participant and stimulus of an earlier one. Returns the positions of both, the
    /// earlier one first: lines of a file, from 1, or rows of a frame, from 0.
    pub fn repeated(&self) -> Option<[u64; 2]> {
        let mut lines = HashMap::new();
        for row in &self.rows {
            let ids = (row.participant.as_str(), row.stimulus.as_deref());
            if let Some(first) = lines.insert(ids, row.line) {
                return Some([first, row.line]);
            }
        }
        None
    }

    /// Whether the scanpaths come from a frame, which has rows and no lines.
    pub fn is_frame(&self) -> bool {
        self.is_frame
    }

    /// The participant and the group of each scanpath.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let rows = self.rows.iter();
        rows.map(|row| (row.participant.as_str(), row.group.as_deref()))
    }

    /// The alphabet of this file on its own: the header's alphabet, unless the user names another notation; else the
    /// cells of the header's grid; else the full alphabet of the user's notation or of a guessed one. Double letters
    /// follow the grid that the header declares.
    ///
    /// Naming the notation that the header declares keeps the header's number of letters.
    pub fn alphabet(&self, notation: Option<Notation>) -> Alphabet {
        self.named_alphabet(notation)
            .or_else(|| self.alphabet_of_grid(notation))
            .unwrap_or_else(|| Alphabet::full(notation.unwrap_or_else(|| self.guessed_notation())))
    }

    /// Whether the header says how many letters [`RawCohort::alphabet`] has, by a number (not only a notation) or by a
    /// grid.
    pub fn declares_letters(&self, notation: Option<Notation>) -> bool {
        match self.named_alphabet(notation) {
            Some(_) => self.size_declared,
            None => self.alphabet_of_grid(notation).is_some(),
        }
    }

    /// The alphabet that the header names, unless the user names another notation.
    fn named_alphabet(&self, notation: Option<Notation>) -> Option<Alphabet> {
        let named = self.alphabet?;
        let fits = notation.is_none_or(|notation| named.notation() == notation);
        fits.then_some(named)
    }

    fn alphabet_of_grid(&self, notation: Option<Notation>) -> Option<Alphabet> {
        match (notation, self.grid.as_ref()?) {
            (Some(notation), grid) => Alphabet::on_grid(notation, grid).ok(),
            (None, grid) => Alphabet::for_grid(grid).ok(),
        }
    }

    /// Parses the scanpaths in an alphabet. An error gives the position of the first letter that is not in it.
    pub fn cohort(&self, alphabet: Alphabet) -> Result<Cohort, ReadError> {
        let entries = self.rows.iter().map(|row| row.entry(self, &alphabet));
        Ok(Cohort {
            alphabet,
            encoding: self.encoding.clone(),
            screen: self.screen,
            entries: entries.collect::<Result<_, _>>()?,
        })
    }

    /// Notes for the user about reading the file in this alphabet; `asked` is the notation that the user asked for, if
    /// any, and `grid` the one that the user or a file names.
    pub fn notes(
        &self,
        alphabet: Alphabet,
        asked: Option<Notation>,
        grid: Option<Grid>,
    ) -> Vec<CohortNote> {
        let about_alphabet = match self.alphabet {
            None if self.grid.is_none() && asked.is_none() => {
                let is_single = alphabet.notation() == Notation::Letters;
                let looks_double = || self.guessed_notation() == Notation::DoubleLetters;
                Some(match is_single && looks_double() {
                    true => CohortNote::MaybeDoubleLetters(alphabet),
                    false => CohortNote::AlphabetGuessed(alphabet),
                })
            }
            Some(declared) if declared != alphabet => Some(CohortNote::AlphabetReplaced {
                declared,
                read_as: alphabet,
            }),
            _ => None,
        };
        let about_modulus = alphabet
            .modulus()
            .filter(|_| !self.modulus_declared)
            .map(|modulus| CohortNote::ModulusAssumed {
                modulus,
                grid: grid.filter(|grid| grid.columns() == modulus),
            });
        about_alphabet
            .into_iter()
            .chain(about_modulus)
            .chain(self.notes.iter().cloned())
            .collect()
    }

    /// The alphabet that a file with some of these scanpaths must declare to be read the same way as this file.
    pub(super) fn declared_for(&self, part: &Cohort) -> Option<String> {
        let alphabet = part.alphabet;
        let notation = || alphabet.notation().name().to_string();
        match self.alphabet {
            Some(_) if self.size_declared => Some(alphabet.to_string()),
            Some(_) => Some(notation()),
            None if self.grid.is_some() => None,
            None => {
                let texts = part.entries.iter();
                let texts: Vec<String> = texts.map(|it| alphabet.format(&it.scanpath)).collect();
                let guessed = guessed_notation(texts.iter().map(String::as_str));
                (guessed != alphabet.notation()).then(notation)
            }
        }
    }

    /// The notation that the strings seem to be written in.
    fn guessed_notation(&self) -> Notation {
        guessed_notation(self.rows.iter().map(|row| row.letters.as_str()))
    }
}

fn guessed_notation<'a>(mut texts: impl Iterator<Item = &'a str> + Clone) -> Notation {
    let any = texts.clone().any(|text| !text.is_empty());
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
    if any && texts.clone().all(is_number) {
        Notation::Numbers
    } else if any && texts.all(is_double) {
        Notation::DoubleLetters
    } else {
        Notation::Letters
    }
}

/// Shows nothing about participants, only the name of the file and the number of scanpaths.
impl fmt::Debug for RawCohort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawCohort")
            .field("file", &self.name())
            .field("scanpaths", &self.rows.len())
            .finish_non_exhaustive()
    }
}

impl RawRow {
    fn entry(&self, file: &RawCohort, alphabet: &Alphabet) -> Result<Entry, ReadError> {
        let scanpath = alphabet.parse(&self.letters).map_err(|error| {
            let place = error.position;
            let problem = format!("{error} at position {place} of the scanpath");
            let error = ReadError::new(file.name(), problem);
            let error = match file.is_frame {
                true => error.at_row(self.line),
                false => error.at_line(self.line),
            };
            let error = error
                .with_remedy(format!(
                    "the scanpath was read as {}; name another notation, or encode the recordings again",
                    match file.declared_alphabet() {
                        Some(_) => alphabet.in_words(),
                        None => written_as(alphabet),
                    }
                ))
                .with_fields(&[EncodeField::Notation]);
            match &self.column {
                Some((index, name)) => error.at_column(*index, name),
                None => error,
            }
        })?;
        Ok(Entry {
            participant: self.participant.clone(),
            group: self.group.clone(),
            stimulus: self.stimulus.clone(),
            scanpath,
            fixations: self.fixations.clone(),
        })
    }
}
