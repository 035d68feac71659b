//! The letters of scanpath strings, and how they are written.

mod in_words;

use crate::{Grid, Scanpath};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a cell index is written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notation {
    /// One letter per cell, `A…Z a…z`.
    Letters,
    /// ScanMatch's two letters per cell, `aA…zZ`. On a grid they are row and column; without a grid, the first counts
    /// in 26s.
    DoubleLetters,
    /// Cell numbers from 0, separated by spaces.
    Numbers,
    /// The bases `A C G T`, in either case.
    Dna,
}

impl Notation {
    /// The largest number of cells that this notation can write.
    pub fn capacity(self) -> u32 {
        match self {
            Notation::Letters => 52,
            Notation::DoubleLetters => 26 * 26,
            Notation::Numbers => 1 << 16,
            Notation::Dna => 4,
        }
    }

    /// The name used in cohort files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Notation::Letters => "letters",
            Notation::DoubleLetters => "double-letters",
            Notation::Numbers => "numbers",
            Notation::Dna => "dna",
        }
    }

    /// All notations, for parsing and for lists in help texts.
    pub const ALL: [Notation; 4] = [
        Notation::Letters,
        Notation::DoubleLetters,
        Notation::Numbers,
        Notation::Dna,
    ];
}

/// A text that is not the name of a notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a notation is letters, double-letters, numbers or dna")]
pub struct NotationError;

impl std::str::FromStr for Notation {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let mut all = Self::ALL.into_iter();
        all.find(|notation| notation.name() == text)
            .ok_or(NotationError)
    }
}

/// A notation and the number of letters in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alphabet {
    notation: Notation,
    size: u32,
    /// For double letters: how many values the second letter takes (`RoiModulus` in the ScanMatch toolbox). Other
    /// notations ignore it and store 26, so that equal alphabets compare equal.
    modulus: u16,
}

/// The number of values of one letter in a pair, and the modulus of double letters without a grid.
const LATIN: u16 = 26;

/// A string that is not a scanpath in its alphabet. The error gives the position and never shows the rest of the
/// string.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct LetterError {
    /// The invalid letter, counted from 1. In notations with numbers or letter pairs, each of those counts as one
    /// letter.
    pub position: usize,
    /// The problem at this position.
    pub problem: String,
}

impl Alphabet {
    /// An alphabet of `size` letters. Fails if the size is 0 or more than the notation can write.
    ///
    /// Double letters get the modulus 26; use [`Alphabet::on_grid`] for a grid's modulus.
    pub fn new(notation: Notation, size: u32) -> Result<Self, LetterError> {
        if size == 0 || size > notation.capacity() {
            return Err(LetterError {
                position: 1,
                problem: format!(
                    "an alphabet of {} has 1 to {} letters, not {size}",
                    notation.name(),
                    notation.capacity()
                ),
            });
        }
        Ok(Self {
            notation,
            size,
            modulus: LATIN,
        })
    }

    /// All letters of a notation. Double letters get the modulus 26.
    pub fn full(notation: Notation) -> Self {
        Self {
            notation,
            size: notation.capacity(),
            modulus: LATIN,
        }
    }

    /// The cells of a grid in a notation. Double letters are a cell's row and column, as in the ScanMatch toolbox, so
    /// the grid may have at most 26 columns and 26 rows.
    pub fn on_grid(notation: Notation, grid: &Grid) -> Result<Self, LetterError> {
        Self::new(notation, grid.cells())?.with_modulus(grid.columns())
    }

    /// The shortest notation that can write the cells of a grid.
    pub fn for_grid(grid: &Grid) -> Result<Self, LetterError> {
        [Notation::Letters, Notation::DoubleLetters]
            .into_iter()
            .find_map(|notation| Self::on_grid(notation, grid).ok())
            .map_or_else(|| Self::new(Notation::Numbers, grid.cells()), Ok)
    }

    /// All letters that the notation can write with the same modulus.
    pub fn widened(&self) -> Self {
        let size = match self.notation {
            Notation::DoubleLetters => u32::from(LATIN) * u32::from(self.modulus),
            other => other.capacity(),
        };
        Self { size, ..*self }
    }

    /// The same alphabet, with `modulus` values for the second letter of a pair. Other notations are unchanged.
    pub fn with_modulus(self, modulus: u32) -> Result<Self, LetterError> {
        if self.notation != Notation::DoubleLetters {
            return Ok(self);
        }
        let small = u16::try_from(modulus)
            .ok()
            .filter(|modulus| (1..=LATIN).contains(modulus));
        match small {
            Some(small) if self.size.div_ceil(modulus) <= u32::from(LATIN) => Ok(Self {
                modulus: small,
                ..self
            }),
            _ => Err(LetterError {
                position: 1,
                problem: format!(
                    "double letters write at most 26 columns and 26 rows, not {} cells in rows of {modulus}",
                    self.size
                ),
            }),
        }
    }

    /// `size` letters from `A…Z a…z`.
    pub fn letters(size: u32) -> Result<Self, LetterError> {
        Self::new(Notation::Letters, size)
    }

    /// The shortest notation that can write `cells` cells: letters up to 52, double letters up to 676, numbers above.
    pub fn for_cells(cells: u32) -> Result<Self, LetterError> {
        let notation = [Notation::Letters, Notation::DoubleLetters]
            .into_iter()
            .find(|notation| cells <= notation.capacity())
            .unwrap_or(Notation::Numbers);
        Self::new(notation, cells)
    }

    /// How letters are written.
    pub fn notation(&self) -> Notation {
        self.notation
    }

    /// How many letters there are.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The number of values of the second letter; `None` if a cell is not written as two letters.
    pub fn modulus(&self) -> Option<u32> {
        (self.notation == Notation::DoubleLetters).then_some(self.modulus.into())
    }

    /// Reads a string. Errors give the position, not the surrounding letters.
    pub fn parse(&self, text: &str) -> Result<Scanpath, LetterError> {
        match self.notation {
            Notation::Letters => self.parse_single(text, letter_index),
            Notation::Dna => self.parse_single(text, base_index),
            Notation::DoubleLetters => self.parse_double(text),
            Notation::Numbers => self.parse_numbers(text),
        }
    }

    /// Writes a scanpath as [`Alphabet::parse`] reads it.
    pub fn format(&self, scanpath: &Scanpath) -> String {
        let letters = scanpath.letters();
        let mut text = String::with_capacity(letters.len() * 2);
        for (position, &letter) in letters.iter().enumerate() {
            if position > 0 && self.notation == Notation::Numbers {
                text.push(' ');
            }
            self.push_letter(&mut text, letter);
        }
        text
    }

    /// One letter as text.
    pub fn letter_name(&self, letter: u16) -> String {
        let mut text = String::new();
        self.push_letter(&mut text, letter);
        text
    }

    /// Checks that every letter of `scanpath` belongs to this alphabet. The error is the position (from 0) of the first
    /// that does not.
    pub fn check(&self, scanpath: &Scanpath) -> Result<(), usize> {
        let letters = scanpath.letters();
        let outside = |&letter: &u16| u32::from(letter) >= self.size;
        // Finding the maximum vectorises; a search that can stop at any letter does not.
        if !letters.iter().max().is_some_and(outside) {
            return Ok(());
        }
        letters.iter().position(outside).map_or(Ok(()), Err)
    }

    fn push_letter(&self, text: &mut String, letter: u16) {
        match self.notation {
            Notation::Letters => text.push(letter_at(letter)),
            Notation::Dna => text.push(char::from(b"ACGT"[usize::from(letter & 3)])),
            Notation::DoubleLetters => {
                text.push(ascii_from(b'a', letter / self.modulus));
                text.push(ascii_from(b'A', letter % self.modulus));
            }
            Notation::Numbers => text.push_str(&letter.to_string()),
        }
    }

    fn parse_single(
        &self,
        text: &str,
        index_of: fn(char) -> Option<u16>,
    ) -> Result<Scanpath, LetterError> {
        let mut letters = Vec::with_capacity(text.len());
        for (position, character) in text.chars().enumerate() {
            let letter = index_of(character).ok_or_else(|| LetterError {
                position: position + 1,
                problem: format!(
                    "{character:?} is not a letter of the alphabet \"{self}\" ({})",
                    self.range()
                ),
            })?;
            letters.push(self.within(letter.into(), position + 1)?);
        }
        Ok(Scanpath::new(letters))
    }

    fn parse_double(&self, text: &str) -> Result<Scanpath, LetterError> {
        let mut letters = Vec::with_capacity(text.len() / 2);
        let mut characters = text.chars();
        while let Some(high) = characters.next() {
            let position = letters.len() + 1;
            let letter = match (high, characters.next()) {
                ('a'..='z', Some(low @ 'A'..='Z')) => {
                    let (high, low) = (
                        u32::from(high) - u32::from('a'),
                        u32::from(low) - u32::from('A'),
                    );
                    // This number belongs to a cell in the next row.
                    if low >= u32::from(self.modulus) {
                        return Err(self.outside(position));
                    }
                    high * u32::from(self.modulus) + low
                }
                (_, None) => {
                    return Err(LetterError {
                        position,
                        problem: "one letter, but a cell needs two, as in \"aA\" (ScanMatch's double letters)".into(),
                    });
                }
                _ => {
                    return Err(LetterError {
                        position,
                        problem: "expected a lower-case letter followed by an upper-case one, as in \"aA\" (ScanMatch's double letters)".into(),
                    });
                }
            };
            letters.push(self.within(letter, position)?);
        }
        Ok(Scanpath::new(letters))
    }

    fn parse_numbers(&self, text: &str) -> Result<Scanpath, LetterError> {
        let mut letters = Vec::with_capacity(text.len() / 3);
        for word in text.split_ascii_whitespace() {
            let position = letters.len() + 1;
            let number = word.parse::<u32>().map_err(|_| LetterError {
                position,
                problem: "expected cell numbers from 0, separated by spaces, as in \"15 18 27\""
                    .into(),
            })?;
            letters.push(self.within(number, position)?);
        }
        Ok(Scanpath::new(letters))
    }

    fn within(&self, letter: u32, position: usize) -> Result<u16, LetterError> {
        match u16::try_from(letter) {
            Ok(short) if letter < self.size => Ok(short),
            _ => Err(self.outside(position)),
        }
    }
}

/// `letters 49` or `double-letters 96 modulus 12`: the form used in cohort files.
impl fmt::Display for Alphabet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.notation.name(), self.size)?;
        match self.modulus() {
            Some(modulus) => write!(f, " {MODULUS} {modulus}"),
            None => Ok(()),
        }
    }
}

/// Precedes the modulus of double letters in an alphabet's text form.
const MODULUS: &str = "modulus";

/// Reads the [`Display`](fmt::Display) form. The size may be omitted for the whole notation, and the modulus of double
/// letters if it is 26.
impl std::str::FromStr for Alphabet {
    type Err = LetterError;

    fn from_str(text: &str) -> Result<Self, LetterError> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let notation: Notation = name
            .parse()
            .map_err(|NotationError| LetterError {
                position: 1,
                problem: "an alphabet is one of: letters, double-letters, numbers, dna; a size may follow, as in \"letters 49\"".into(),
            })?;
        let size = words.next().map(str::parse::<u32>);
        let modulus = match (words.next(), words.next().map(str::parse::<u32>)) {
            (None, _) => Some(None),
            (Some(MODULUS), Some(Ok(modulus))) if notation == Notation::DoubleLetters => {
                Some(Some(modulus))
            }
            _ => None,
        };
        match (size, modulus, words.next()) {
            (None, _, _) => Ok(Self::full(notation)),
            (Some(Ok(size)), Some(None), None) => Self::new(notation, size),
            (Some(Ok(size)), Some(Some(modulus)), None) => {
                Self::new(notation, size)?.with_modulus(modulus)
            }
            _ => Err(LetterError {
                position: 2,
                problem: "expected the alphabet's size, as in \"letters 49\" or \"double-letters 96 modulus 12\"".into(),
            }),
        }
    }
}

impl Serialize for Alphabet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Alphabet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

fn letter_index(character: char) -> Option<u16> {
    match character {
        'A'..='Z' => Some(u16::from(character as u8 - b'A')),
        'a'..='z' => Some(u16::from(character as u8 - b'a') + 26),
        _ => None,
    }
}

fn base_index(character: char) -> Option<u16> {
    match character.to_ascii_uppercase() {
        'A' => Some(0),
        'C' => Some(1),
        'G' => Some(2),
        'T' => Some(3),
        _ => None,
    }
}

fn letter_at(letter: u16) -> char {
    if letter < 26 {
        ascii_from(b'A', letter)
    } else {
        ascii_from(b'a', letter - 26)
    }
}

fn ascii_from(base: u8, offset: u16) -> char {
    char::from(base + u8::try_from(offset % 26).unwrap_or(0))
}

#[cfg(test)]
mod tests;
