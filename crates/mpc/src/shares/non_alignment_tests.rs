//! Metrics without a matrix recurrence, compared with simple implementations.

use super::arithmetic_tests::{of, random, run_both_parties};
use super::session::Party;
use super::*;
use std::ops::Range;

#[test]
fn quotients_are_rounded_down() {
    for (divisor_bits, bits) in [(1, 1), (5, 14), (20, 15), (40, 20), (1, 30), (49, 15)] {
        let count = 150;
        let divisors: Vec<u64> = random(1, count)
            .iter()
            .enumerate()
            .map(|(at, word)| match at {
                0 => 0,
                1 => 1,
                2 => (1 << divisor_bits) - 1,
                _ => word >> (64 - divisor_bits),
            })
            .collect();
        let dividends: Vec<u64> = random(2, count)
            .iter()
            .zip(&divisors)
            .enumerate()
            .map(|(at, (word, divisor))| match (at % 3, divisor) {
                (_, 0) => 0,
                (0, _) => (divisor << bits) - 1,
                (1, _) => divisor * (word % (1 << bits)),
                _ => word % (divisor << bits),
            })
            .collect();
        let split = |numbers: &[u64], seed: u64| {
            let first = random(seed, count);
            let second = numbers.iter().zip(&first);
            let second = second.map(|(number, share)| number.wrapping_sub(*share));
            (second.collect::<Vec<_>>(), first)
        };
        let (dividend_shares, divisor_shares) = (split(&dividends, 3), split(&divisors, 4));
        let [host, join] = run_both_parties(|session, party, channel| {
            let dividends = of(party, [&dividend_shares.0, &dividend_shares.1]);
            let divisors = of(party, [&divisor_shares.0, &divisor_shares.1]);
            session.quotients(dividends, divisors, divisor_bits, bits, channel)
        });
        for at in 0..count {
            let expected = match divisors[at] {
                0 => (1 << bits) - 1,
                divisor => dividends[at] / divisor,
            };
            assert_eq!(
                host[at] ^ join[at],
                expected,
                "{divisor_bits} and {bits} bits"
            );
        }
    }
}

/// The numbers of several comparisons, `each` at a time.
fn rows(list: &[u64], each: usize) -> impl Iterator<Item = &[u64]> {
    list.chunks_exact(each)
}

#[test]
fn the_largest_chosen_number_wins() {
    for (each, width) in [(1, 1), (2, 3), (7, 5), (49, 5), (50, 20)] {
        let count = 300;
        let bits = [1, 2].map(|seed| -> Vec<u64> {
            random(seed, count * each)
                .iter()
                .map(|word| word >> 62 & 1)
                .collect()
        });
        let both_set: Vec<u64> = bits[0].iter().zip(&bits[1]).map(|(a, b)| a & b).collect();
        let numbers = [3, 4].map(|seed| -> Vec<u64> {
            let numbers = random(seed, count * each);
            let numbers = numbers.iter().zip(&both_set);
            numbers
                .map(|(word, both)| (word >> (64 - width)) * (1 - both))
                .collect()
        });
        let chosen = |bits: &[u64], numbers: &[u64]| {
            bits.iter()
                .zip(numbers)
                .map(|(bit, number)| bit * number)
                .max()
        };
        let expected: Vec<u64> = (0..count)
            .map(|at| {
                let row = |list: &[u64]| rows(list, each).nth(at).unwrap().to_vec();
                let first = chosen(&row(&bits[0]), &row(&numbers[1]));
                first
                    .max(chosen(&row(&bits[1]), &row(&numbers[0])))
                    .unwrap()
            })
            .collect();
        let bound = 1 << (width - 1);
        for outputs in [Outputs::Numbers, Outputs::AtLeast] {
            let [host, join] = run_both_parties(|session, party, channel| {
                let bits = of(party, [&bits[0], &bits[1]]);
                let numbers = of(party, [&numbers[0], &numbers[1]]);
                let own: Vec<ChosenNumbers<'_>> = rows(bits, each)
                    .zip(rows(numbers, each))
                    .map(|(bits, numbers)| ChosenNumbers {
                        bits,
                        numbers,
                        at_least: bound,
                    })
                    .collect();
                session.largest_chosen(&own, width, outputs, channel, &|_| ())
            });
            for (at, expected) in expected.iter().enumerate() {
                let expected = match outputs {
                    Outputs::Numbers => *expected,
                    Outputs::AtLeast => u64::from(*expected >= bound),
                };
                assert_eq!(host[at] ^ join[at], expected, "{each} of {width} bits");
            }
        }
    }
}

#[test]
fn inner_products_of_all_sizes_equal_plain_ones() {
    let count = 200;
    for (each, bits) in [(1, [1, 1]), (26, [5, 11]), (49, [30, 7]), (2, [3, 3])] {
        let factors = [0, 1].map(|party| -> Vec<u64> {
            let words = random(party as u64, each * count);
            words
                .iter()
                .map(|word| word >> (64 - bits[party]))
                .collect()
        });
        let size = InnerProduct {
            each,
            bits,
            width: bits[0] + bits[1] + 6,
        };
        let [host, join] = run_both_parties(|session, party, channel| {
            let own = of(party, [&factors[0], &factors[1]]);
            session.inner_products(own, size, channel)
        });
        for at in 0..count {
            let range = at * each..(at + 1) * each;
            let terms = factors[0][range.clone()].iter().zip(&factors[1][range]);
            let expected: u64 = terms.map(|(a, b)| a * b).sum();
            assert_eq!(host[at].wrapping_add(join[at]), expected);
        }
    }
}

/// Cells that belong to diagonal runs of at least `least` ones.
fn points(
    rows: &[usize],
    columns: &[usize],
    min_length: usize,
    entry: impl Fn(usize, usize) -> u64,
) -> u64 {
    let one =
        |i: usize, j: usize| i < rows.len() && j < columns.len() && entry(rows[i], columns[j]) == 1;
    let mut points = 0;
    for i in 0..rows.len() {
        for j in 0..columns.len() {
            let begins = one(i, j) && (i == 0 || j == 0 || !one(i - 1, j - 1));
            let length = (0..).take_while(|along| one(i + along, j + along)).count();
            if begins && length >= min_length {
                points += length as u64;
            }
        }
    }
    points
}

fn ranges(scanpaths: &[Vec<usize>]) -> Vec<Range<usize>> {
    let mut next = 0;
    let ranges = scanpaths.iter().map(|scanpath| {
        next += scanpath.len();
        next - scanpath.len()..next
    });
    ranges.collect()
}

#[test]
fn points_on_diagonal_runs_are_counted() {
    let alphabet = 5;
    let near = |x: usize, y: usize| u64::from(x == y || x + 1 == y);
    let string = |seed: u64, count: usize| -> Vec<usize> {
        random(seed, count)
            .iter()
            .map(|word| (word % alphabet as u64) as usize)
            .collect()
    };
    let shapes = [
        (1, 1),
        (1, 9),
        (8, 1),
        (2, 2),
        (12, 17),
        (3, 140),
        (135, 2),
        (130, 129),
        (60, 700),
    ];
    // With few cells, each letter has a tree; with many, lines share trees.
    for repeated in [1, 40] {
        let strings: Vec<(Vec<usize>, Vec<usize>)> = shapes
            .iter()
            .enumerate()
            .map(|(seed, (rows, columns))| {
                (
                    string(seed as u64, *rows),
                    string(seed as u64 + 50, *columns),
                )
            })
            .collect();
        let (host_scanpaths, join_scanpaths): (Vec<_>, Vec<_>) = strings.iter().cloned().unzip();
        for min_length in [2, 3, 5, 70] {
            if repeated > 1 && min_length > 3 {
                continue;
            }
            let shares = run_both_parties(|session, party, channel| {
                let comparisons: Vec<MatrixInput> = ranges(&host_scanpaths)
                    .into_iter()
                    .zip(ranges(&join_scanpaths))
                    .map(|(rows, columns)| MatrixInput {
                        rows,
                        columns,
                        term: 0,
                        at_least: 0,
                    })
                    .collect();
                let cells = comparisons
                    .iter()
                    .map(|c| c.rows.len() * c.columns.len())
                    .sum::<usize>();
                let (own, theirs) = match party {
                    Party::Host => (&host_scanpaths, &join_scanpaths),
                    Party::Join => (&join_scanpaths, &host_scanpaths),
                };
                let lengths =
                    |scanpaths: &[Vec<usize>]| scanpaths.iter().map(Vec::len).collect::<Vec<_>>();
                let lists = LetterLists {
                    own: &own.concat(),
                    own_lengths: &lengths(own),
                    their_lengths: &lengths(theirs),
                    cells: cells as u64 * repeated,
                    tree_owner: Party::Join,
                };
                let letters = session.letters(lists, alphabet, 1, near, channel)?;
                session.diagonal_runs(&letters, &comparisons, min_length, channel, &|_| ())
            });
            for (at, (rows, columns)) in strings.iter().enumerate() {
                let found = shares[0][at].wrapping_add(shares[1][at]);
                let expected = points(rows, columns, min_length, near);
                assert_eq!(found, expected, "runs of {min_length} in {:?}", shapes[at]);
            }
        }
    }
}
