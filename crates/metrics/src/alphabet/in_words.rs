//! Alphabets in messages.

use super::{Alphabet, LetterError, Notation};

impl Alphabet {
    /// The alphabet in a sentence: its text form in quotes, or what two letters per cell mean.
    pub fn in_words(&self) -> String {
        match self.modulus() {
            Some(columns) => format!(
                "two letters per cell, for {} cells in {columns} columns",
                self.size()
            ),
            None => format!("\"{self}\""),
        }
    }

    /// The error for a letter beyond the last one.
    pub(super) fn outside(&self, position: usize) -> LetterError {
        LetterError {
            position,
            problem: match self.notation {
                Notation::DoubleLetters => format!(
                    "no cell of this grid ({}: {})",
                    self.in_words(),
                    self.range()
                ),
                _ => format!(
                    "a letter outside the alphabet \"{self}\" ({})",
                    self.range()
                ),
            },
        }
    }

    /// The first and the last letter.
    pub fn range(&self) -> String {
        let last = u16::try_from(self.size - 1).unwrap_or(u16::MAX);
        match self.notation {
            Notation::Dna => "A, C, G or T".into(),
            Notation::Letters if self.size > 26 => {
                format!("A to Z, then a to {}", self.letter_name(last))
            }
            _ => format!("{} to {}", self.letter_name(0), self.letter_name(last)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Grid;

    #[test]
    fn the_form_of_files_is_not_shown_for_two_letters_per_cell() {
        let grid = Grid::new(12, 8).unwrap();
        let double = Alphabet::on_grid(Notation::DoubleLetters, &grid).unwrap();
        let words = "two letters per cell, for 96 cells in 12 columns";
        assert_eq!(double.in_words(), words);
        assert_eq!(Alphabet::letters(49).unwrap().in_words(), "\"letters 49\"");
        let outside = double.parse("zA").unwrap_err();
        assert_eq!(
            outside.problem,
            "no cell of this grid (two letters per cell, for 96 cells in 12 columns: aA to hL)"
        );
    }

    #[test]
    fn the_second_letter_of_a_cell_may_be_missing() {
        let error = Alphabet::full(Notation::DoubleLetters)
            .parse("aAaBa")
            .unwrap_err();
        assert_eq!(error.position, 3);
        assert!(
            error
                .problem
                .starts_with("one letter, but a cell needs two")
        );
    }
}
