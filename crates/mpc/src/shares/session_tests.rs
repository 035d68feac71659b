//! Whole sessions, with real transfers.

use super::*;
use crate::Kernel;
use crate::ot::correlated::GroupBits;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use veilpath_channel::{Counted, Traffic, memory_pair};

/// Outputs of both sides, and the first side's traffic.
fn run(
    cell: Cell,
    finish: Finish,
    alphabet: usize,
    strings: &[(Vec<usize>, Vec<usize>)],
    entry: impl Fn(usize, usize) -> u64 + Sync,
    at_least: u64,
    group_bits: GroupBits,
) -> (Vec<u64>, Traffic) {
    let (left, right) = memory_pair();
    let entry = &entry;
    let side = |party: Party, channel, seed: u64| {
        let mut channel = Counted::new(channel);
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut session =
            SharesSession::start(party, group_bits, Kernel::best(), &mut rng, &mut channel)
                .unwrap();
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        let mut comparisons = Vec::new();
        for (host, join) in strings {
            comparisons.push(Comparison {
                rows: rows.len()..rows.len() + host.len(),
                columns: columns.len()..columns.len() + join.len(),
                term: 0,
                at_least,
            });
            rows.extend_from_slice(host);
            columns.extend_from_slice(join);
        }
        let (own, theirs) = match party {
            Party::Host => (&rows, columns.len()),
            Party::Join => (&columns, rows.len()),
        };
        let letters = session
            .letters(
                own,
                theirs,
                alphabet,
                cell.entry_bits(),
                entry,
                &mut channel,
            )
            .unwrap();
        let halves = session
            .align(cell, &letters, &comparisons, finish, &mut channel, &|_| ())
            .unwrap();
        (halves, channel.traffic())
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(move || side(Party::Join, right, 2).0);
        let (halves, traffic) = side(Party::Host, left, 1);
        let outputs = halves.iter().zip(other.join().unwrap());
        (outputs.map(|(a, b)| a ^ b).collect(), traffic)
    })
}

const NUMBERS: Finish = Finish {
    subtract: false,
    term_bits: 0,
    outputs: Outputs::Numbers,
};

fn random_strings(
    seed: u64,
    count: usize,
    lengths: std::ops::Range<usize>,
    alphabet: usize,
) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut string = || {
        let length = rng.random_range(lengths.clone());
        (0..length)
            .map(|_| rng.random_range(0..alphabet))
            .collect::<Vec<_>>()
    };
    (0..count).map(|_| (string(), string())).collect()
}

fn distance(a: &[usize], b: &[usize]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let best = (diagonal + usize::from(x != y))
                .min(row[j] + 1)
                .min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}

#[test]
fn distances_and_bits_of_thresholds() {
    let strings = random_strings(1, 150, 1..40, 26);
    for group_bits in [GroupBits::FOUR, GroupBits::EIGHT] {
        let equal = |x: usize, y: usize| u64::from(x == y);
        let (numbers, _) = run(Cell::Unit, NUMBERS, 26, &strings, equal, 0, group_bits);
        let finish = Finish {
            outputs: Outputs::AtLeast,
            ..NUMBERS
        };
        let (bits, _) = run(Cell::Unit, finish, 26, &strings, equal, 17, group_bits);
        for (((a, b), number), bit) in strings.iter().zip(numbers).zip(bits) {
            assert_eq!(a.len() + number as usize, b.len() + distance(a, b));
            assert_eq!(bit, u64::from(number >= 17));
        }
    }
}

#[test]
fn traffic_is_that_of_the_formulas() {
    let (pairs, length, alphabet) = (40, 100, 48);
    let strings = random_strings(3, pairs, length..length + 1, alphabet);
    let cells = (pairs * length * length) as f64;
    let difference = Cell::Difference {
        insertion_and_deletion: 448,
    };
    for (cell, group_bits, cot_bits) in [
        (Cell::Unit, GroupBits::FOUR, 31.0),
        (Cell::Unit, GroupBits::EIGHT, 15.0),
        (difference, GroupBits::FOUR, 31.0),
        (difference, GroupBits::EIGHT, 15.0),
    ] {
        let entry = |x: usize, y: usize| match cell {
            Cell::Unit => u64::from(x == y),
            _ => 448u64.saturating_sub(x.abs_diff(y) as u64 * 64),
        };
        let (_, traffic) = run(cell, NUMBERS, alphabet, &strings, entry, 0, group_bits);
        let cost = cell.cost();
        let of_cell = cost.cots as f64 * cot_bits + cost.bits as f64 + alphabet as f64 - 1.0;
        // Six levels of a tree for every letter, and a correction of two blocks for each but the first.
        let of_letter = 6.0 * (cot_bits + 1.0) + 5.0 * 256.0;
        let letters = (2 * pairs * length) as f64;
        let expected = (of_cell * cells + of_letter * letters) / 8.0;
        let sent = (traffic.sent + traffic.received) as f64;
        assert!(
            (expected..expected * 1.06).contains(&sent),
            "{cell:?} {group_bits:?}: {} bytes per cell instead of {}",
            sent / cells,
            expected / cells
        );
        assert!(traffic.sent.abs_diff(traffic.received) * 50 < traffic.sent);
    }
}
