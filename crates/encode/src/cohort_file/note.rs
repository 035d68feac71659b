//! What was assumed or ignored while reading a cohort file.

use super::{MAGIC, VERSION};
use crate::EncodeField;
use crate::notes::pluralized;
use std::fmt;
use veilpath_metrics::{Alphabet, Grid, Notation};

/// Something that a user should know about how a cohort file was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CohortNote {
    /// The file names no alphabet. Its notation was guessed, and it was read in this alphabet.
    AlphabetGuessed(Alphabet),
    /// The file names no alphabet. All scanpaths could be two letters per cell, but were read in this alphabet, one
    /// letter per cell, because of the other cohort.
    MaybeDoubleLetters(Alphabet),
    /// The file names one alphabet and was read in another, as the caller asked.
    AlphabetReplaced {
        /// The alphabet that the file declares.
        declared: Alphabet,
        /// The alphabet that was used.
        read_as: Alphabet,
    },
    /// Cells are written as two letters, and the file does not say how many values the second has. This was assumed.
    ModulusAssumed {
        /// The number of values of the second letter.
        modulus: u32,
        /// The grid with this many columns; `None` if no grid is known.
        grid: Option<Grid>,
    },
    /// Comments look like settings, but the file does not start like a Veilpath cohort file.
    SettingsIgnored,
    /// These columns were ignored.
    ColumnsIgnored(Vec<String>),
    /// The columns after the letters were ignored.
    TrailingColumnsIgnored,
    /// Participants have no names and were numbered from 1.
    ParticipantsNumbered,
    /// This many fixations outside all areas of interest (`#`) were left out.
    NoArea(usize),
    /// This many blank lines were skipped.
    BlankLines(u64),
    /// This many rows of a table without any text were skipped.
    EmptyRows(u64),
    /// This many ids and settings had unprintable characters, which were replaced.
    Unprintable(usize),
    /// This many rows have the participant and stimulus of an earlier row.
    RepeatedIds(usize),
}

impl CohortNote {
    /// The option fields that would change it.
    pub fn fields(&self) -> &'static [EncodeField] {
        match self {
            CohortNote::AlphabetGuessed(_) | CohortNote::MaybeDoubleLetters(_) => {
                &[EncodeField::Notation]
            }
            CohortNote::ModulusAssumed { .. } => &[EncodeField::Grid],
            _ => &[],
        }
    }
}

/// How cells are written in an alphabet that a file does not name.
pub(super) fn written_as(alphabet: &Alphabet) -> String {
    match alphabet.notation() {
        Notation::Letters => format!("single letters ({})", alphabet.range()),
        Notation::Numbers => "cell numbers".into(),
        Notation::DoubleLetters | Notation::Dna => alphabet.in_words(),
    }
}

impl fmt::Display for CohortNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CohortNote::AlphabetGuessed(alphabet) => write!(
                f,
                "the file does not name its alphabet; it was read as {}",
                written_as(alphabet)
            ),
            CohortNote::MaybeDoubleLetters(alphabet) => write!(
                f,
                "the file does not name its alphabet; it was read as {}, although lower-case and upper-case letters alternate as in two letters per cell",
                written_as(alphabet)
            ),
            CohortNote::AlphabetReplaced { declared, read_as } => write!(
                f,
                "the file's alphabet is {}; it was read as {}, as requested",
                declared.in_words(),
                read_as.in_words()
            ),
            CohortNote::ModulusAssumed { modulus, grid } => {
                write!(
                    f,
                    "two letters per cell: the second was assumed to count up to {modulus}, "
                )?;
                match (grid, modulus) {
                    (Some(_), _) => f.write_str("the columns of the grid (ScanMatch's RoiModulus)"),
                    (None, 26) => f.write_str("because no grid is known"),
                    (None, _) => f.write_str("as in the other cohort"),
                }
            }
            CohortNote::SettingsIgnored => write!(
                f,
                "comments that look like settings were ignored, because the line \"{MAGIC} {VERSION}\" is missing before them"
            ),
            CohortNote::ColumnsIgnored(names) => {
                write!(f, "ignored columns: {}", names.join(", "))
            }
            CohortNote::TrailingColumnsIgnored => {
                f.write_str("the columns after the letters were ignored")
            }
            CohortNote::ParticipantsNumbered => {
                f.write_str("the file does not name participants; they are numbered from 1")
            }
            CohortNote::NoArea(1) => f.write_str("1 fixation in no area (#) was left out"),
            CohortNote::NoArea(count) => {
                write!(f, "{count} fixations in no area (#) were left out")
            }
            CohortNote::BlankLines(count) => write!(
                f,
                "skipped {}; an empty scanpath needs a table with its participant",
                pluralized(*count, "blank line")
            ),
            CohortNote::EmptyRows(count) => {
                write!(f, "skipped {}", pluralized(*count, "empty row"))
            }
            CohortNote::Unprintable(count) => write!(
                f,
                "control characters, and invisible characters that change the writing direction, were replaced by \u{fffd} in {}",
                match count {
                    1 => "1 id or setting".to_string(),
                    more => format!("{more} ids or settings"),
                }
            ),
            CohortNote::RepeatedIds(1) => {
                f.write_str("2 rows have the same participant and stimulus; both are compared")
            }
            CohortNote::RepeatedIds(count) => write!(
                f,
                "{count} rows have the participant and stimulus of an earlier row; all are compared"
            ),
        }
    }
}
