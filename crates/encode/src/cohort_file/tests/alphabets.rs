//! The alphabet of a cohort file: declared, implied by a grid, or guessed.

use super::{read_bytes, read_text};
use crate::cohort_file::{CohortNote, RawCohort};
use crate::{EncodeField, Input};
use veilpath_metrics::{Alphabet, Grid, Notation};

#[test]
fn the_alphabet_is_given_declared_or_guessed() {
    for (text, expected) in [
        ("15 18 27\n3\n", "numbers 65536"),
        ("aAbC\nzZ\n", "double-letters 676 modulus 26"),
        ("aAbC\nzZz\n", "letters 52"),
        ("participant,scanpath\np,\n", "letters 52"),
        (
            "participant,scanpath\np,\nq,aA\n",
            "double-letters 676 modulus 26",
        ),
        ("ACGT\n", "letters 52"),
        (
            "# veilpath cohort 1\n# grid: 12x8\nparticipant,scanpath\np,aA\n",
            "double-letters 96 modulus 12",
        ),
        (
            "# veilpath cohort 1\n# alphabet: double-letters 96\n# grid: 12x8\nparticipant,scanpath\np,aA\n",
            "double-letters 96 modulus 12",
        ),
        (
            "# veilpath cohort 1\n# grid: 12x8\n# alphabet: double-letters\nparticipant,scanpath\np,aA\n",
            "double-letters 96 modulus 12",
        ),
        (
            "# veilpath cohort 1\n# alphabet: dna\nparticipant,scanpath\np,acgt\n",
            "dna 4",
        ),
    ] {
        let file = read_text(text).unwrap();
        assert_eq!(file.cohort.alphabet.to_string(), expected);
        let alphabet = expected.parse::<Alphabet>().unwrap();
        let words = match alphabet.notation() {
            Notation::Letters => format!("single letters ({})", alphabet.range()),
            Notation::Numbers => "cell numbers".to_string(),
            _ => alphabet.in_words(),
        };
        let guessed = file.notes.iter().any(|note| note.contains(&words));
        assert_eq!(guessed, !text.starts_with('#'), "{:?}", file.notes);
    }
    let file = read_bytes(b"aAbC\n", Some(Notation::Letters)).unwrap();
    assert_eq!(file.cohort.entries[0].scanpath.len(), 4);
    let text = "# veilpath cohort 1\n# alphabet: letters 49\nparticipant,scanpath\np,AC\n";
    let file = read_bytes(text.as_bytes(), Some(Notation::Dna)).unwrap();
    assert_eq!(file.cohort.alphabet.notation(), Notation::Dna);
    assert!(file.notes[0].contains("as requested"));
    assert_eq!(
        file.raw.declared_alphabet(),
        Some(Alphabet::letters(49).unwrap())
    );
}

/// The modulus of two letters per cell is the number of columns; a note says so if the file leaves it open.
#[test]
fn double_letters_follow_the_grid() {
    let grid = Grid::new(12, 8).unwrap();
    let asked = Some(Notation::DoubleLetters);
    for (header, assumed) in [
        ("", true),
        ("# veilpath cohort 1\n# grid: 12x8\n", true),
        (
            "# veilpath cohort 1\n# grid: 12x8\n# alphabet: double-letters 96 modulus 12\n",
            false,
        ),
    ] {
        let text = format!("{header}participant,scanpath\np,aFaFcF\n");
        let raw = RawCohort::read(Input::from_bytes("c.csv", text.into()).unwrap()).unwrap();
        let alphabet = Alphabet::on_grid(Notation::DoubleLetters, &grid).unwrap();
        if !header.is_empty() {
            assert_eq!(raw.alphabet(asked), alphabet);
            assert_eq!(raw.alphabet(None), alphabet);
        }
        let cohort = raw.cohort(alphabet).unwrap();
        assert_eq!(cohort.entries[0].scanpath.letters(), [5, 5, 29]);
        let notes = raw.notes(alphabet, asked, Some(grid));
        let note = CohortNote::ModulusAssumed {
            modulus: 12,
            grid: Some(grid),
        };
        assert_eq!(notes.contains(&note), assumed, "{header}");
    }
}

/// A grid can also have a modulus of 26.
#[test]
fn the_note_about_the_modulus_says_where_it_is_from() {
    for (grid, reason) in [
        ("", "up to 26, because no grid is known"),
        ("# grid: 26x4\n", "up to 26, the columns of the grid"),
        ("# grid: 12x8\n", "up to 12, the columns of the grid"),
    ] {
        let text = format!(
            "# veilpath cohort 1\n# alphabet: double-letters\n{grid}participant,scanpath\np,aA\n"
        );
        let notes = read_text(&text).unwrap().notes.join("; ");
        assert!(notes.contains(reason), "{notes}");
    }
}

#[test]
fn a_grid_that_two_letters_cannot_write_is_refused() {
    // 27 columns, and 96 cells in rows of three.
    for (settings, field) in [
        (
            "# alphabet: double-letters\n# grid: 27x3\n",
            EncodeField::Grid,
        ),
        (
            "# grid: 3x3\n# alphabet: double-letters 96\n",
            EncodeField::Notation,
        ),
    ] {
        let text = format!("# veilpath cohort 1\n{settings}participant,scanpath\np,aA\n");
        let error = read_text(&text).unwrap_err();
        let place = "c.csv, line 3: double letters write at most 26 columns";
        assert!(error.to_string().starts_with(place), "{error}");
        assert_eq!(error.fields, [field]);
        assert!(error.remedy.contains("set this option"), "{error}");
    }
}

/// A file that looks like two letters per cell may be read as single letters, because of the other cohort.
#[test]
fn alternating_letters_that_are_read_singly_are_noted() {
    let notes_of = |text: &str| {
        let raw = RawCohort::read(Input::from_bytes("c.csv", text.into()).unwrap()).unwrap();
        let alphabet = Alphabet::letters(49).unwrap();
        raw.notes(alphabet, None, Grid::new(7, 7))
    };
    let alphabet = Alphabet::letters(49).unwrap();
    let notes = notes_of("aAbC\naAaA\n");
    assert_eq!(notes[0], CohortNote::MaybeDoubleLetters(alphabet));
    assert_eq!(notes[0].fields(), [EncodeField::Notation]);
    let notes = notes_of("aAbC\naAa\n");
    assert_eq!(notes[0], CohortNote::AlphabetGuessed(alphabet));
}
