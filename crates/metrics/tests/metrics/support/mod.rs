//! Edge-case generators shared by the property tests.

// Each test module uses only part of this one.
#![allow(dead_code, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // test helpers may fail the test

use proptest::prelude::*;
use veilpath_metrics::{
    Alphabet, Comparison, Distance, Grid, LocalScoring, MAX_COST, Metric, Notation, Scanpath,
    Substitution, Table,
};

/// Alphabet sizes around the limits of tables and of one byte.
pub fn alphabet() -> impl Strategy<Value = Alphabet> {
    prop_oneof![
        4 => (1u32..=52).prop_map(|size| Alphabet::letters(size).unwrap()),
        1 => Just(Alphabet::full(Notation::Dna)),
        1 => (255u32..=258).prop_map(|size| Alphabet::new(Notation::Numbers, size).unwrap()),
        1 => Just(Alphabet::full(Notation::DoubleLetters)),
        1 => Just(Alphabet::full(Notation::Numbers)),
    ]
}

/// Lengths around the widths of granules, groups and strips.
pub fn length() -> impl Strategy<Value = usize> {
    prop_oneof![
        2 => Just(0usize),
        2 => Just(1usize),
        6 => 2usize..40,
        2 => prop::sample::select(vec![7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129]),
        1 => 130usize..300,
    ]
}

/// A scanpath of an alphabet: any letters, few letters, or only the last letter.
pub fn scanpath(size: u32) -> impl Strategy<Value = Scanpath> {
    let last = u16::try_from(size - 1).unwrap();
    let letter = move |kind: u8| match kind {
        0 => (0..=last).boxed(),
        1 => (0..=last.min(2)).boxed(),
        _ => Just(last).boxed(),
    };
    (length(), prop::sample::select(vec![0u8, 0, 0, 1, 1, 2]))
        .prop_flat_map(move |(length, kind)| prop::collection::vec(letter(kind), length))
        .prop_map(Scanpath::new)
}

/// Two scanpaths, sometimes equal or one a prefix of the other.
pub fn two_scanpaths(size: u32) -> impl Strategy<Value = (Scanpath, Scanpath)> {
    (
        scanpath(size),
        scanpath(size),
        0u8..8,
        any::<prop::sample::Index>(),
    )
        .prop_map(|(a, b, kind, cut)| match kind {
            0 => (a.clone(), a),
            1 => {
                let part = a.letters()[..cut.index(a.len() + 1)].to_vec();
                (a, Scanpath::new(part))
            }
            _ => (a, b),
        })
}

/// Integer costs from 0 to the largest, so that a scale of 1 preserves them.
pub fn cost() -> impl Strategy<Value = f64> {
    prop_oneof![
        2 => Just(0u32),
        4 => 1u32..10,
        3 => (1u32..30).prop_map(|tens| tens * 10),
        3 => 1u32..400,
        2 => 400u32..70_000,
        1 => 0..=MAX_COST,
        1 => Just(MAX_COST),
        1 => Just(MAX_COST - 1),
    ]
    .prop_map(f64::from)
}

fn signed() -> impl Strategy<Value = f64> {
    (cost(), any::<bool>()).prop_map(|(value, negative)| if negative { -value } else { value })
}

/// A table over the whole alphabet. The values repeat if the alphabet is large.
fn table(size: u32, value: impl Strategy<Value = f64>) -> impl Strategy<Value = Table> {
    prop::collection::vec(value, 1..120).prop_map(move |values| {
        let all = values.iter().copied().cycle();
        Table::new(size, all.take(size as usize * size as usize).collect()).unwrap()
    })
}

/// A grid with at least as many cells as the alphabet has letters.
pub fn grid(size: u32) -> impl Strategy<Value = Grid> {
    prop_oneof![
        Just(1u32),
        Just(2),
        Just(size.div_ceil(2)),
        Just(size),
        1u32..=16
    ]
    .prop_map(move |columns| {
        let columns = columns.min(size);
        Grid::new(columns, size.div_ceil(columns)).unwrap_or_else(|| Grid::new(256, 256).unwrap())
    })
}

fn distance() -> impl Strategy<Value = Distance> {
    prop::sample::select(vec![
        Distance::Manhattan,
        Distance::Euclidean,
        Distance::Chebyshev,
    ])
}

/// Replacement costs over an alphabet.
pub fn substitution(size: u32) -> impl Strategy<Value = Substitution> {
    let on_grid = (grid(size), any::<bool>(), distance())
        .prop_map(|(grid, wrap, distance)| Substitution::on_grid(grid.with_wrap(wrap), distance));
    let unit = cost().prop_map(|mismatch| Substitution::Unit { mismatch });
    let index = Just(Substitution::Index);
    if size > 700 {
        return prop_oneof![unit, index, on_grid].boxed();
    }
    let table = table(size, cost()).prop_map(|table| Substitution::Table { table });
    prop_oneof![2 => unit, 2 => index, 3 => on_grid, 5 => table].boxed()
}

/// A metric whose raw result is the minimum cost of a global alignment.
pub fn global_metric(size: u32) -> impl Strategy<Value = Metric> {
    let costs = (substitution(size), cost(), cost(), any::<bool>()).prop_map(
        |(substitution, insert, delete, same)| Metric::NeedlemanWunsch {
            substitution,
            insert,
            delete: if same { insert } else { delete },
            scale: Some(1),
        },
    );
    let rewards = (0u32..100, 0u32..100, 0u32..100).prop_map(|(reward, mismatch, gap)| {
        Metric::NeedlemanWunschScore {
            reward: reward.into(),
            mismatch: mismatch.into(),
            gap: gap.into(),
            scale: None,
        }
    });
    let scanmatch =
        (grid(size), any::<bool>(), -3i32..=8).prop_map(|(grid, wrap, gap)| Metric::ScanMatch {
            grid,
            wrap,
            threshold: 3.5,
            gap: f64::from(gap) * 0.2,
            scale: Some(1000.0),
        });
    prop_oneof![1 => Just(Metric::Levenshtein), 6 => costs, 1 => rewards, 1 => scanmatch]
}

/// Smith–Waterman, with small scores and with the largest ones.
pub fn local_metric(size: u32) -> impl Strategy<Value = Metric> {
    let unit = (cost(), cost())
        .prop_map(|(reward, mismatch)| LocalScoring::Unit { reward, mismatch })
        .boxed();
    let scoring = if size > 700 {
        unit
    } else {
        let table = table(size, signed()).prop_map(|table| LocalScoring::Table { table });
        prop_oneof![unit, table].boxed()
    };
    (scoring, cost()).prop_map(|(scoring, gap)| Metric::SmithWaterman {
        scoring,
        gap,
        scale: Some(1),
    })
}

/// A valid comparison, with two scanpaths.
pub fn case(
    metric: fn(u32) -> BoxedStrategy<Metric>,
) -> impl Strategy<Value = (Comparison, Scanpath, Scanpath)> {
    alphabet().prop_flat_map(move |alphabet| {
        (metric(alphabet.size()), two_scanpaths(alphabet.size()))
            .prop_filter_map("numbers beyond the limits", move |(metric, (a, b))| {
                Some((Comparison::new(metric, alphabet).ok()?, a, b))
            })
    })
}
