use super::*;
use crate::pairs_of;
use proptest::prelude::*;
use veilpath_metrics::{Alphabet, Encoding, Entry, Metric, Scanpath};

fn cohort(rows: &[(Option<u8>, usize)]) -> Cohort {
    Cohort {
        alphabet: Alphabet::letters(2).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries: rows
            .iter()
            .map(|&(stimulus, length)| Entry {
                participant: "p".into(),
                group: None,
                stimulus: stimulus.map(|it| it.to_string()),
                scanpath: Scanpath::new(vec![0; length]),
                fixations: None,
            })
            .collect(),
    }
}

fn lengths(cohort: &Cohort) -> Vec<u64> {
    let entries = cohort.entries.iter();
    entries.map(|entry| entry.scanpath.len() as u64).collect()
}

/// All tiles of a plan, as lists of pairs.
fn tiles(rule: PairRule, a: &Cohort, b: &Cohort, count: u32) -> Vec<Vec<(usize, usize)>> {
    let (first, second) = (lengths(a), lengths(b));
    let tile = |index| {
        let tile = Tile::new(index, count).unwrap();
        let blocks = PairBlocks::of(rule, a, b).tile([&first, &second], tile);
        let list = blocks.list();
        assert_eq!(blocks.pairs(), list.len() as u64);
        list
    };
    (1..=count).map(tile).collect()
}

fn any_cohort() -> impl Strategy<Value = Cohort> {
    let row = (prop::option::of(0..4u8), 0..30usize);
    prop::collection::vec(row, 0..25).prop_map(|rows| cohort(&rows))
}

proptest! {
    #[test]
    fn tiles_have_every_pair_once(
        a in any_cohort(), b in any_cohort(), count in 1..40u32, all: bool,
    ) {
        let rule = if all { PairRule::All } else { PairRule::SameStimulus };
        let expected = pairs_of(rule, &a, &b);
        let whole = PairBlocks::of(rule, &a, &b);
        prop_assert_eq!(&whole.list(), &expected);
        let tiles = tiles(rule, &a, &b, count);
        prop_assert!(tiles.iter().all(|tile| tile.is_sorted()));
        let mut found = tiles.concat();
        found.sort_unstable();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn comparisons_are_those_of_the_list(a in any_cohort(), b in any_cohort()) {
        let filled = [&a, &b].map(|cohort| lengths(cohort).iter().map(|&it| it > 0).collect::<Vec<_>>());
        let [first, second] = &filled;
        let blocks = PairBlocks::of(PairRule::SameStimulus, &a, &b);
        let found = blocks.comparisons([first.len(), second.len()], [&|it| first[it], &|it| second[it]]);
        let mut expected = [vec![0; first.len()], vec![0; second.len()]];
        for (i, j) in blocks.list().into_iter().filter(|&(i, j)| first[i] && second[j]) {
            expected[0][i] += 1;
            expected[1][j] += 1;
        }
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn tiles_are_balanced_by_matrix_cells_and_nearly_square() {
    // Lengths from 10 to 109: single pairs differ a hundredfold.
    let rows: Vec<_> = (0..120).map(|at| (None, 10 + at * 37 % 100)).collect();
    let (a, b) = (cohort(&rows), cohort(&rows[..90]));
    let cells = |pairs: &[(usize, usize)]| -> usize {
        let length = |cohort: &Cohort, at: usize| cohort.entries[at].scanpath.len() + 1;
        pairs
            .iter()
            .map(|&(i, j)| length(&a, i) * length(&b, j))
            .sum()
    };
    for count in [2, 3, 7, 16, 33] {
        let tiles = tiles(PairRule::All, &a, &b, count);
        let sizes: Vec<usize> = tiles.iter().map(|tile| cells(tile)).collect();
        let mean = sizes.iter().sum::<usize>() / sizes.len();
        for size in &sizes {
            assert!(
                size.abs_diff(mean) * 10 <= mean * 2,
                "{count} tiles: {sizes:?}"
            );
        }
    }
    let sixteenth = &tiles(PairRule::All, &a, &b, 16)[5];
    let side = |index: fn(&(usize, usize)) -> usize| {
        sorted(sixteenth.iter().map(index).collect::<Vec<_>>().iter()).len()
    };
    let (rows, columns) = (side(|pair| pair.0), side(|pair| pair.1));
    assert!(
        rows <= 2 * columns && columns <= 2 * rows,
        "{rows} × {columns}"
    );
}

/// One long scanpath does not leave a tile without pairs.
#[test]
fn a_long_scanpath_leaves_no_tile_empty() {
    let (a, b) = (
        cohort(&[(None, 99), (None, 0), (None, 0)]),
        cohort(&[(None, 9)]),
    );
    let tiles = tiles(PairRule::All, &a, &b, 3);
    assert_eq!(tiles, [[(0, 0)], [(1, 0)], [(2, 0)]]);
}

#[test]
fn a_plan_of_a_billion_pairs_is_cut_without_a_list() {
    let rows: Vec<_> = (0..32_000).map(|at| (None, at % 3)).collect();
    let a = cohort(&rows);
    let whole = PairBlocks::of(PairRule::All, &a, &a);
    assert_eq!(whole.pairs(), 1_024_000_000);
    let lengths = lengths(&a);
    let tile = whole.tile([&lengths, &lengths], Tile::new(77, 400).unwrap());
    assert!(
        (2_300_000..2_800_000).contains(&tile.pairs()),
        "{}",
        tile.pairs()
    );
}

#[test]
fn tiles_are_written_as_index_and_count() {
    let tile: Tile = "3/8".parse().unwrap();
    assert_eq!(
        (tile.index(), tile.count(), tile.to_string().as_str()),
        (3, 8, "3/8")
    );
    assert_eq!(serde_json::to_string(&tile).unwrap(), "\"3/8\"");
    for text in [
        "", "3", "0/8", "9/8", "3/0", "-1/8", "+3/8", "3/65537", "3/8/9", " 3/8", "3/",
    ] {
        assert_eq!(text.parse::<Tile>(), Err(TileError), "{text}");
    }
}

#[test]
fn hidden_lengths_are_all_the_same() {
    let a = cohort(&[(None, 3), (None, 5)]);
    let mut spec = Spec::new(
        crate::Engine::Garbled,
        Metric::Levenshtein,
        PairRule::All,
        &a,
        &a,
    )
    .unwrap();
    assert_eq!(tile_lengths(&spec, &a), [3, 5]);
    spec.pad_to = Some(8);
    assert_eq!(tile_lengths(&spec, &a), [8, 8]);
}
