//! Cells against plain dynamic programming.

use super::cells::{self, Local};
use super::couplings::{self, Coupling, Total};
use super::gates::Gates;
use super::group::{CostSource, Group, LetterTables, Matrix};
use super::letters::rows;
use super::lookup::{Table, Trees};
use super::packing::Words;
use super::seeds::SeedRequest;
use super::session::Party;
use super::tests::{TaskRun, run_both_sides, sums, xors};
use super::unit;
use crate::circuit::numbers::bits_for;
use crate::kernel::Kernel;

const LETTERS: usize = 7;

/// Pairs of strings of many lengths, shorter and longer than a segment.
fn pairs() -> Vec<(Vec<usize>, Vec<usize>)> {
    let sizes = [
        (1, 1),
        (1, 9),
        (8, 1),
        (12, 17),
        (30, 5),
        (3, 140),
        (135, 2),
        (20, 300),
    ];
    let letters = |seed: usize, count: usize| {
        (0..count).map(move |i| (i * i * 31 + i * seed + seed * 7) / 5 % LETTERS)
    };
    let sizes = sizes.iter().enumerate();
    sizes
        .map(|(seed, (rows, columns))| {
            (
                letters(seed, *rows).collect(),
                letters(seed + 50, *columns).collect(),
            )
        })
        .collect()
}

/// The matrices of both sides, alternately with the rows and the columns as lines.
fn matrices(pairs: &[(Vec<usize>, Vec<usize>)], party: Party) -> (Vec<usize>, Vec<Matrix>) {
    let mut own = Vec::new();
    let mut matrices = Vec::new();
    let mut starts = [0, 0];
    for (number, (rows, columns)) in pairs.iter().enumerate() {
        let ranges = [
            starts[0]..starts[0] + rows.len(),
            starts[1]..starts[1] + columns.len(),
        ];
        starts = [ranges[0].end, ranges[1].end];
        let line_party = Party::Host.alternate(number);
        matrices.push(Matrix {
            rows_are_lines: line_party.is_host(),
            own_lines: line_party == party,
            lines: ranges[line_party.index()].clone(),
            positions: ranges[1 - line_party.index()].clone(),
            number: number as u64,
        });
        own.extend_from_slice([rows, columns][party.index()]);
    }
    (own, matrices)
}

enum Kind {
    Unit,
    Difference(usize),
    Local(Local),
    Coupling(Coupling),
}

/// Runs the cells on both sides. Returns the results at the positions, and the positions of each matrix.
fn align(
    kind: &Kind,
    width: usize,
    entry: impl Fn(usize, usize) -> u64 + Sync,
) -> (TaskRun<[Words; 2]>, Vec<std::ops::Range<usize>>) {
    align_pairs(&pairs(), kind, width, entry)
}

fn align_pairs(
    pairs: &[(Vec<usize>, Vec<usize>)],
    kind: &Kind,
    width: usize,
    entry: impl Fn(usize, usize) -> u64 + Sync,
) -> (TaskRun<[Words; 2]>, Vec<std::ops::Range<usize>>) {
    let ran = run_both_sides(async |gates: Gates| {
        let kernel = Kernel::best();
        let (own, matrices) = matrices(pairs, gates.party);
        let theirs = match gates.party {
            Party::Host => pairs.iter().map(|pair| pair.1.len()).sum(),
            Party::Join => pairs.iter().map(|pair| pair.0.len()).sum::<usize>(),
        };
        // Indexed by row letter, and by column letter.
        let by_row = || Table::new(LETTERS, LETTERS, width, &entry);
        let by_column = || Table::new(LETTERS, LETTERS, width, |y, x| entry(x, y));
        let (own_table, their_table) = match gates.party {
            Party::Host => (by_row(), by_column()),
            Party::Join => (by_column(), by_row()),
        };
        let request = SeedRequest {
            levels: 3,
            first: 0,
            own: &own,
            theirs,
        };
        gates.rounds.reserve(request.demand()).await;
        let (own_seeds, their_seeds) = gates.seeds(kernel, &request).await?;
        let letters = LetterTables {
            kernel,
            own: &own,
            own_table: &own_table,
            their_table: &their_table,
        };
        let source = CostSource::Trees {
            own: &Trees::punctured(kernel, &own_seeds, &own),
            own_rows: &rows(&own_table, &own),
            theirs: &Trees::whole(kernel, &their_seeds),
        };
        let mut group = Group::new(gates.clone(), &letters, source, &matrices);
        match kind {
            Kind::Unit => unit::unit(&gates, &mut group, &|_| ()).await,
            Kind::Difference(width) => {
                let result = cells::difference(&gates, &mut group, *width, &|_| ()).await?;
                Ok([result, Words::default()])
            }
            Kind::Local(local) => {
                let result = cells::local(&gates, &mut group, *local, &|_| ()).await?;
                let lists = group
                    .positions_of()
                    .map(|range| result[range].to_vec().into());
                let best = cells::largest(&gates, lists.collect(), local.width).await?;
                Ok([best, Words::default()])
            }
            Kind::Coupling(coupling) => {
                let totals = couplings::coupling(&gates, &mut group, *coupling, &|_| ()).await?;
                Ok([totals, Words::default()])
            }
        }
    });
    let mut next = 0;
    let ranges = pairs.iter().enumerate().map(|(number, pair)| {
        let start = next;
        next += if number % 2 == 0 {
            pair.1.len()
        } else {
            pair.0.len()
        };
        start..next
    });
    (ran, ranges.collect())
}

fn global(
    a: &[usize],
    b: &[usize],
    insert: u64,
    delete: u64,
    cost: impl Fn(usize, usize) -> u64,
) -> u64 {
    let mut row: Vec<u64> = (0..=b.len() as u64).map(|j| j * insert).collect();
    for x in a {
        let mut diagonal = row[0];
        row[0] += delete;
        for (j, y) in b.iter().enumerate() {
            let best = (diagonal + cost(*x, *y))
                .min(row[j] + insert)
                .min(row[j + 1] + delete);
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}

#[test]
fn unit_costs_give_the_plain_distance() {
    let (ran, ranges) = align(&Kind::Unit, 1, |x, y| u64::from(x == y));
    let [first, second] = ran.results;
    let ([m0, p0], [m1, p1]) = (first, second);
    let (minus, plus) = (xors(&[m0, m1]), xors(&[p0, p1]));
    for (number, ((a, b), range)) in pairs().iter().zip(ranges).enumerate() {
        let lines = if number % 2 == 0 { a.len() } else { b.len() };
        let sum = plus[range.clone()].iter().sum::<u64>() as usize + lines;
        let distance = sum - minus[range].iter().sum::<u64>() as usize;
        assert_eq!(
            distance as u64,
            global(a, b, 1, 1, |x, y| u64::from(x != y)),
            "pair {number}"
        );
    }
}

#[test]
fn any_global_costs_give_the_plain_cost() {
    for (insert, delete) in [(1, 1), (3, 4), (100, 155), (256, 255), (40_000, 25_535)] {
        let sum = insert + delete;
        let width = bits_for(sum);
        let cost = |x: usize, y: usize| (x as u64 * 3).abs_diff(y as u64 * 2) * sum / 11;
        let (ran, ranges) = align(&Kind::Difference(width), width, |x, y| {
            sum.saturating_sub(cost(x, y))
        });
        let [first, second] = ran.results.map(|[result, _]| result);
        let numbers = sums(&[first, second], width + 1);
        for ((a, b), range) in pairs().iter().zip(ranges) {
            let saved: u64 = numbers[range].iter().sum();
            let all = a.len() as u64 * delete + b.len() as u64 * insert;
            assert_eq!(all - saved, global(a, b, insert, delete, cost));
        }
    }
}

#[test]
fn local_alignments_give_the_plain_score() {
    let gap = 3u32;
    let score = |x: usize, y: usize| match x.abs_diff(y) {
        0 => 4i64,
        1 => 1,
        _ => -2,
    };
    let local = Local {
        width: bits_for(20 * 4 + 2 * u64::from(gap)),
        input_width: 4,
        gap: gap.into(),
    };
    let (ran, _) = align(&Kind::Local(local), 4, |x, y| {
        u64::try_from(score(x, y) + 2 * i64::from(gap)).unwrap()
    });
    let [first, second] = ran.results.map(|[result, _]| result);
    let scores = sums(&[first, second], local.width + 1);
    for ((a, b), found) in pairs().iter().zip(scores) {
        let mut row = vec![0i64; b.len() + 1];
        let mut best_overall = 0;
        for x in a {
            let mut diagonal = 0;
            for (j, y) in b.iter().enumerate() {
                let best = (diagonal + score(*x, *y))
                    .max(row[j] - 3)
                    .max(row[j + 1] - 3)
                    .max(0);
                diagonal = std::mem::replace(&mut row[j + 1], best);
                best_overall = best_overall.max(best);
            }
        }
        assert_eq!(i64::try_from(found), Ok(best_overall));
    }
}

/// The least total of all couplings, by dynamic programming.
fn least_total(
    a: &[usize],
    b: &[usize],
    join: Join,
    distance: impl Fn(usize, usize) -> u64,
) -> u64 {
    let mut matrix = vec![vec![u64::MAX; b.len()]; a.len()];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            let before = [(1, 1), (1, 0), (0, 1)]
                .iter()
                .filter_map(|(di, dj)| Some(matrix[i.checked_sub(*di)?][j.checked_sub(*dj)?]));
            matrix[i][j] = join(distance(*x, *y), before.min().unwrap_or(0));
        }
    }
    matrix[a.len() - 1][b.len() - 1]
}

type Join = fn(u64, u64) -> u64;

const TOTALS: [(Total, Join); 2] = [(Total::Sum, |a, b| a + b), (Total::Largest, u64::max)];

fn squares(x: usize, y: usize) -> u64 {
    (x.abs_diff(y) as u64).pow(2) + u64::from(x != y) * 3
}

#[test]
fn couplings_have_the_least_total() {
    let largest = squares(0, LETTERS - 1);
    for (total, join) in TOTALS {
        let width = match total {
            Total::Sum => bits_for(300 * largest),
            Total::Largest => bits_for(largest),
        };
        let coupling = Coupling {
            total,
            width,
            input_width: bits_for(largest),
            padded: false,
        };
        let (ran, _) = align(&Kind::Coupling(coupling), bits_for(largest), squares);
        let [first, second] = ran.results.map(|[result, _]| result);
        let found = sums(&[first, second], width + 1);
        for ((a, b), found) in pairs().iter().zip(found) {
            assert_eq!(found, least_total(a, b, join, squares), "{total:?}");
        }
    }
}

#[test]
fn padding_does_not_change_the_least_total() {
    let padding = LETTERS - 1;
    let largest = squares(0, padding - 1);
    // Pairs of the largest length and shorter ones, all ending in padding.
    let letters = |seed: usize, count: usize| -> Vec<usize> {
        (0..count)
            .map(|i| (i * i * 13 + i * seed + seed) / 3 % padding)
            .collect()
    };
    let lengths = [(1, 1), (1, 12), (12, 1), (12, 12), (5, 9), (11, 3)];
    let strings: Vec<_> = lengths
        .iter()
        .enumerate()
        .map(|(seed, (a, b))| (letters(seed, *a), letters(seed + 9, *b)))
        .collect();
    let padded = |string: &[usize]| {
        let mut string = string.to_vec();
        string.resize(13, padding);
        string
    };
    let padded: Vec<_> = strings
        .iter()
        .map(|(a, b)| (padded(a), padded(b)))
        .collect();
    for (total, join) in TOTALS {
        let input_width = bits_for(largest + 1);
        let width = match total {
            Total::Sum => bits_for(12 * largest),
            Total::Largest => input_width,
        };
        let entry = |x: usize, y: usize| match (x == padding, y == padding, total) {
            (false, false, _) => squares(x, y),
            (true, true, _) => 0,
            (_, _, Total::Sum) => 1 << input_width,
            (_, _, Total::Largest) => (1 << input_width) - 1,
        };
        let flagged = total == Total::Sum;
        let coupling = Coupling {
            total,
            width,
            input_width,
            padded: flagged,
        };
        let bits = input_width + usize::from(flagged);
        let (ran, _) = align_pairs(&padded, &Kind::Coupling(coupling), bits, entry);
        let [first, second] = ran.results.map(|[result, _]| result);
        let found = sums(&[first, second], width + 1);
        for ((a, b), found) in strings.iter().zip(found) {
            assert_eq!(found, least_total(a, b, join, squares), "{total:?}");
        }
    }
}
