use super::*;
use crate::{Engine, PairRule, Spec, Tile, compare_locally, compare_tile_locally};
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric};

fn cohort(scanpaths: &[&str]) -> Cohort {
    let alphabet = Alphabet::letters(4).unwrap();
    let entries = scanpaths.iter().enumerate().map(|(at, letters)| Entry {
        participant: format!("p{at}"),
        group: None,
        stimulus: Some(format!("s{}", at % 2)),
        scanpath: alphabet.parse(letters).unwrap(),
        fixations: None,
    });
    Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries: entries.collect(),
    }
}

fn tile(index: u32, count: u32) -> Outcome {
    let (a, b) = cohorts();
    let tile = Tile::new(index, count).unwrap();
    let mut outcome = compare_tile_locally(spec(), &a, &b, tile, &()).unwrap();
    outcome.tile = Some(PlanTile {
        tile,
        agreement: "ab".repeat(32),
        pairs: 10,
    });
    outcome
}

fn cohorts() -> (Cohort, Cohort) {
    (
        cohort(&["ABC", "A", "BBBB", "", "CD"]),
        cohort(&["ABCD", "DA", "C", "AAAA"]),
    )
}

fn spec() -> Spec {
    let (a, b) = cohorts();
    Spec::new(
        Engine::Plain,
        Metric::Levenshtein,
        PairRule::SameStimulus,
        &a,
        &b,
    )
    .unwrap()
}

fn all(count: u32) -> Vec<Outcome> {
    (1..=count).map(|index| tile(index, count)).collect()
}

#[test]
fn merged_tiles_equal_one_run() {
    let (a, b) = cohorts();
    let whole = compare_locally(spec(), &a, &b, &()).unwrap();
    for count in [1, 2, 3, 4, 9] {
        let mut tiles = all(count);
        tiles.reverse();
        tiles.push(tiles[0].clone());
        let merged = merge(tiles).unwrap();
        assert_eq!(merged.cost.cells, whole.cost.cells);
        let cost = whole.cost;
        assert_eq!(Outcome { cost, ..merged }, whole, "{count} tiles");
    }
}

#[test]
fn incomplete_tiles_and_tiles_of_another_plan_are_refused() {
    let refused = |change: &dyn Fn(&mut Vec<Outcome>)| {
        let mut tiles = all(4);
        change(&mut tiles);
        merge(tiles).unwrap_err()
    };
    let missing = refused(&|tiles| {
        tiles.remove(2);
        tiles.remove(0);
    });
    assert_eq!(
        missing,
        MergeError::Missing {
            missing: vec![1, 3],
            count: 4
        }
    );
    assert_eq!(missing.to_string(), "2 of 4 tiles missing: 1, 3");
    let other = |field| MergeError::PlanMismatch { outcome: 3, field };
    let renamed = |outcome: &mut Outcome| {
        let tile = outcome.tile.as_mut().unwrap();
        tile.agreement.replace_range(..2, "00");
    };
    let field = "the cohorts, the settings or the number of pairs";
    assert_eq!(refused(&|tiles| renamed(&mut tiles[3])), other(field));
    assert_eq!(
        refused(&|tiles| tiles[3].a[0].participant = "x".into()),
        other("the cohorts")
    );
    assert_eq!(
        refused(&|tiles| tiles[3].spec.engine = Engine::Garbled),
        other("what was computed")
    );
    assert_eq!(
        refused(&|tiles| tiles[3].tile = None),
        MergeError::NotATile { outcome: 3 }
    );
    assert_eq!(
        refused(&|tiles| tiles[1] = tile(2, 5)),
        MergeError::TileCountMismatch {
            outcome: 1,
            found: 5,
            expected: 4
        }
    );
    assert_eq!(merge(Vec::new()), Err(MergeError::NoTiles));
    let conflict = refused(&|tiles| {
        let mut again = tiles[1].clone();
        let (one, value) = (again.results.pair(0), [crate::Value::Number(99.0)]);
        let (a, b) = (one.a, one.b);
        again.results.retain(|pair| (pair.a, pair.b) != (a, b));
        again.results.push(a, b, &value);
        tiles.push(again);
    });
    assert_eq!(
        conflict,
        MergeError::Conflict {
            outcome: 4,
            other: 1,
            tile: 2
        }
    );
    let incomplete = refused(&|tiles| tiles[1].results.clear());
    assert!(matches!(
        incomplete,
        MergeError::Incomplete {
            outcome: 1,
            results: 0,
            ..
        }
    ));
    // A file that names the wrong tile.
    let twice = refused(&|tiles| {
        let name = tiles[1].tile.clone();
        tiles[1] = tiles[0].clone();
        tiles[1].tile = name;
    });
    assert!(
        matches!(twice, MergeError::PairCount { pairs: 10, .. }),
        "{twice}"
    );
    // A pair of other stimuli instead of a correct one.
    let foreign = refused(&|tiles| {
        let one = tiles[1].results.pair(0);
        let (a, b, values) = (one.a, one.b, one.values.to_vec());
        let results = &mut tiles[1].results;
        results.retain(|pair| (pair.a, pair.b) != (a, b));
        results.push(a + 1, b, &values);
    });
    assert_eq!(foreign, MergeError::PairNotInPlan { outcome: 1 });
}

/// An empty tile says nothing about the others.
#[test]
fn tiles_without_results_are_incomplete_even_after_an_empty_one() {
    let mut tiles = all(3);
    tiles.iter_mut().for_each(|tile| tile.results.clear());
    tiles[0].pairs = 0;
    let error = merge(tiles).unwrap_err();
    assert!(
        matches!(error, MergeError::Incomplete { outcome: 1, .. }),
        "{error}"
    );
}

#[test]
fn a_plan_that_is_too_large_for_one_result_is_not_merged() {
    let mut tiles = all(2);
    for tile in &mut tiles {
        tile.tile.as_mut().unwrap().pairs = MAX_PAIRS + 1;
    }
    let error = merge(tiles).unwrap_err();
    let (pairs, limit) = (50_000_001, 50_000_000);
    assert_eq!(error, MergeError::TooManyPairs { pairs, limit });
}

/// The results are for the other side, so no tile has any.
#[test]
fn tiles_without_results_merge_to_an_outcome_without_results() {
    let mut tiles = all(3);
    tiles.iter_mut().for_each(|tile| tile.results.clear());
    // If both sides learn the results, they are missing.
    let error = merge(tiles.clone()).unwrap_err();
    assert!(matches!(error, MergeError::Incomplete { .. }), "{error}");
    for tile in &mut tiles {
        tile.spec.reveal_to = RevealTo::Join;
    }
    let merged = merge(tiles).unwrap();
    assert!(merged.is_withheld() && merged.pairs == 10 && merged.tile.is_none());
}
