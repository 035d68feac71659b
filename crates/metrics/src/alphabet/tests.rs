//! Parsing and formatting in every notation, and errors.

use super::*;

#[test]
fn every_notation_round_trips_every_letter() {
    for notation in Notation::ALL {
        let alphabet = Alphabet::full(notation);
        let all = Scanpath::new((0..=u16::MAX).take(alphabet.size() as usize).collect());
        assert_eq!(alphabet.parse(&alphabet.format(&all)).unwrap(), all);
        assert_eq!(alphabet.to_string().parse::<Alphabet>().unwrap(), alphabet);
        assert!(alphabet.parse("").unwrap().is_empty());
    }
}

#[test]
fn notations_follow_the_toolboxes() {
    let double = Alphabet::full(Notation::DoubleLetters);
    assert_eq!(double.parse("aAaZbA").unwrap().letters(), [0, 25, 26]);
    let letters = Alphabet::full(Notation::Letters);
    assert_eq!(letters.parse("AZaz").unwrap().letters(), [0, 25, 26, 51]);
    let numbers = Alphabet::full(Notation::Numbers);
    assert_eq!(numbers.parse(" 0  65535 ").unwrap().letters(), [0, 65535]);
    assert_eq!(
        Alphabet::full(Notation::Dna)
            .parse("acGT")
            .unwrap()
            .letters(),
        [0, 1, 2, 3]
    );
    assert_eq!(
        Alphabet::for_cells(96).unwrap().notation(),
        Notation::DoubleLetters
    );
    assert_eq!(
        Alphabet::for_cells(677).unwrap().notation(),
        Notation::Numbers
    );
}

#[test]
fn errors_give_the_position_and_do_not_show_other_letters() {
    let error = Alphabet::letters(49).unwrap().parse("QRSx").unwrap_err();
    assert_eq!(error.position, 4);
    assert!(!error.problem.contains('R'), "{error}");
    let double = Alphabet::full(Notation::DoubleLetters);
    assert_eq!(double.parse("aAA").unwrap_err().position, 2);
    assert_eq!(double.parse("aAb").unwrap_err().position, 2);
    let numbers = Alphabet::new(Notation::Numbers, 96).unwrap();
    assert_eq!(numbers.parse("15  96").unwrap_err().position, 2);
    assert_eq!(numbers.parse("15 x").unwrap_err().position, 2);
    assert_eq!(numbers.parse("-1").unwrap_err().position, 1);
    assert!(Alphabet::letters(0).is_err() && Alphabet::letters(53).is_err());
}

/// The toolbox's `RoiModulus`: the two letters are a cell's row and column.
#[test]
fn double_letters_count_in_rows_of_the_grid() {
    let grid: Grid = "12x8".parse().unwrap();
    let double = Alphabet::on_grid(Notation::DoubleLetters, &grid).unwrap();
    assert_eq!(double, Alphabet::for_grid(&grid).unwrap());
    assert_eq!(double.parse("aAaLbAhL").unwrap().letters(), [0, 11, 12, 95]);
    assert_eq!(
        double.format(&Scanpath::new(vec![0, 11, 12, 95])),
        "aAaLbAhL"
    );
    assert_eq!(double.to_string(), "double-letters 96 modulus 12");
    assert_eq!(double.to_string().parse::<Alphabet>().unwrap(), double);
    assert_eq!(double.widened().size(), 26 * 12);
    // There is no thirteenth column and no ninth row.
    assert_eq!(double.parse("aAaM").unwrap_err().position, 2);
    assert_eq!(double.parse("iA").unwrap_err().position, 1);
    let plain: Alphabet = "double-letters 96".parse().unwrap();
    assert_eq!(plain.modulus(), Some(26));
    assert_eq!(
        Alphabet::for_grid(&Grid::default()).unwrap().modulus(),
        None
    );
    // More columns or rows than a letter has values.
    for wide in ["27x3", "3x27"] {
        let grid: Grid = wide.parse().unwrap();
        assert!(Alphabet::on_grid(Notation::DoubleLetters, &grid).is_err());
        let numbers = Alphabet::for_grid(&grid).unwrap();
        assert_eq!(numbers.notation(), Notation::Numbers);
    }
    for bad in [
        "double-letters 96 modulus 0",
        "double-letters 96 modulus 3",
        "double-letters 96 modulus 27",
        "double-letters 96 modulus",
        "double-letters 96 12",
        "letters 49 modulus 7",
        "double-letters 96 modulus 12 more",
    ] {
        assert!(bad.parse::<Alphabet>().is_err(), "{bad}");
    }
}
