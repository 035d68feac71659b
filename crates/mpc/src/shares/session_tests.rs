//! Whole sessions, with real transfers.

use super::gates::{Factor, Gates};
use super::lookup::MAX_MATRICES;
use super::packing::Words;
use super::rounds::{Task, run as run_tasks};
use super::*;
use crate::Kernel;
use crate::error::MpcError;
use crate::ot::correlated::TreeLevels;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::rc::Rc;
use veilpath_channel::{Channel, ChannelError, Counted, MemoryChannel, Traffic, memory_pair};

/// The scanpaths of both sides, and which of them are compared.
struct Cohorts {
    host_scanpaths: Vec<Vec<usize>>,
    join_scanpaths: Vec<Vec<usize>>,
    pairs: Vec<(usize, usize)>,
    tree_owner: Party,
}

impl Cohorts {
    /// Each scanpath is compared once.
    fn of_pairs(strings: &[(Vec<usize>, Vec<usize>)]) -> Self {
        let (host_scanpaths, join_scanpaths): (Vec<_>, Vec<_>) = strings.iter().cloned().unzip();
        let pairs = (0..host_scanpaths.len())
            .map(|number| (number, number))
            .collect();
        Self {
            host_scanpaths,
            join_scanpaths,
            pairs,
            tree_owner: Party::Host,
        }
    }
}

fn ranges(scanpaths: &[Vec<usize>]) -> Vec<std::ops::Range<usize>> {
    let mut next = 0;
    let ranges = scanpaths.iter().map(|scanpath| {
        next += scanpath.len();
        next - scanpath.len()..next
    });
    ranges.collect()
}

/// Outputs of both sides, and the first side's traffic.
fn run(
    cell: MatrixRecurrence,
    finish: Finish,
    alphabet: usize,
    cohorts: &Cohorts,
    entry: impl Fn(usize, usize) -> u64 + Sync,
    at_least: u64,
    tree_levels: TreeLevels,
) -> (Vec<u64>, Traffic) {
    let (left, right) = memory_pair();
    let entry = &entry;
    let side = |party: Party, channel, seed: u64| {
        let mut channel = Counted::new(channel);
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut session =
            SharesSession::start(party, tree_levels, Kernel::best(), &mut rng, &mut channel)
                .unwrap();
        let (rows, columns) = (
            ranges(&cohorts.host_scanpaths),
            ranges(&cohorts.join_scanpaths),
        );
        let pairs = cohorts.pairs.iter();
        let comparisons: Vec<MatrixInput> = pairs
            .map(|(host, join)| MatrixInput {
                rows: rows[*host].clone(),
                columns: columns[*join].clone(),
                term: 0,
                at_least,
            })
            .collect();
        let cells = comparisons
            .iter()
            .map(|comparison| comparison.rows.len() * comparison.columns.len());
        let lengths =
            |scanpaths: &[Vec<usize>]| -> Vec<usize> { scanpaths.iter().map(Vec::len).collect() };
        let (own, theirs) = match party {
            Party::Host => (&cohorts.host_scanpaths, &cohorts.join_scanpaths),
            Party::Join => (&cohorts.join_scanpaths, &cohorts.host_scanpaths),
        };
        let lists = LetterLists {
            own: &own.concat(),
            own_lengths: &lengths(own),
            their_lengths: &lengths(theirs),
            cells: cells.sum::<usize>() as u64,
            tree_owner: cohorts.tree_owner,
        };
        let bits = cell.entry_bits();
        let letters = session
            .letters(lists, alphabet, bits, entry, &mut channel)
            .unwrap();
        // In two calls, to check that streams continue.
        let (first, second) = comparisons.split_at(comparisons.len() / 3);
        let mut halves = Vec::new();
        for part in [first, second] {
            let aligned = session.align(cell, &letters, part, finish, &mut channel, &|_| ());
            halves.extend(aligned.unwrap());
        }
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
    doubled: false,
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
fn distances_and_threshold_bits_equal_plain_ones() {
    let strings = random_strings(1, 150, 1..40, 26);
    let cohorts = Cohorts::of_pairs(&strings);
    for tree_levels in [TreeLevels::FOUR, TreeLevels::EIGHT] {
        let equal = |x: usize, y: usize| u64::from(x == y);
        let (numbers, _) = run(
            MatrixRecurrence::Unit,
            NUMBERS,
            26,
            &cohorts,
            equal,
            0,
            tree_levels,
        );
        let finish = Finish {
            outputs: Outputs::AtLeast,
            ..NUMBERS
        };
        let (bits, _) = run(
            MatrixRecurrence::Unit,
            finish,
            26,
            &cohorts,
            equal,
            17,
            tree_levels,
        );
        let finish = Finish {
            doubled: true,
            term_bits: 9,
            ..NUMBERS
        };
        let (twice, _) = run(
            MatrixRecurrence::Unit,
            finish,
            26,
            &cohorts,
            equal,
            0,
            tree_levels,
        );
        let found = numbers.iter().zip(bits).zip(twice);
        for ((a, b), ((number, bit), twice)) in strings.iter().zip(found) {
            assert_eq!(a.len() + *number as usize, b.len() + distance(a, b));
            assert_eq!(bit, u64::from(*number >= 17));
            assert_eq!(twice, 2 * number);
        }
    }
}

#[test]
fn traffic_is_that_of_the_formulas() {
    let (pairs, length, alphabet) = (40, 100, 48);
    let strings = random_strings(3, pairs, length..length + 1, alphabet);
    let cohorts = Cohorts::of_pairs(&strings);
    let cells = (pairs * length * length) as f64;
    let difference = MatrixRecurrence::Difference {
        insertion_and_deletion: 448,
    };
    for (cell, tree_levels, cot_bits) in [
        (MatrixRecurrence::Unit, TreeLevels::FOUR, 31.0),
        (MatrixRecurrence::Unit, TreeLevels::EIGHT, 15.0),
        (difference, TreeLevels::FOUR, 31.0),
        (difference, TreeLevels::EIGHT, 15.0),
    ] {
        let entry = |x: usize, y: usize| match cell {
            MatrixRecurrence::Unit => u64::from(x == y),
            _ => 448u64.saturating_sub(x.abs_diff(y) as u64 * 64),
        };
        let (_, traffic) = run(cell, NUMBERS, alphabet, &cohorts, entry, 0, tree_levels);
        let cost = cell.cost();
        let of_cell = cost.cots as f64 * cot_bits + cost.bits as f64 + alphabet as f64 - 1.0;
        // Each letter has a tree of six levels, with a correction of two blocks for each level but the first.
        let of_letter = 6.0 * (cot_bits + 1.0) + 5.0 * 256.0;
        let letters = (2 * pairs * length) as f64;
        let expected = (of_cell * cells + of_letter * letters) / 8.0;
        let sent = (traffic.sent + traffic.received) as f64;
        assert!(
            (expected..expected * 1.06).contains(&sent),
            "{cell:?} {tree_levels:?}: {} bytes per cell instead of {}",
            sent / cells,
            expected / cells
        );
        assert!(traffic.sent.abs_diff(traffic.received) * 50 < traffic.sent);
    }
}

/// Lengths around multiples of eight lines, and of words.
fn crossed(count: usize, lengths: &[usize], alphabet: usize) -> Cohorts {
    let strings = |seed: u64| -> Vec<Vec<usize>> {
        let scanpaths = (0..count).map(|number| {
            let length = lengths[number % lengths.len()];
            random_strings(seed + number as u64, 1, length..length + 1, alphabet)
                .remove(0)
                .0
        });
        scanpaths.collect()
    };
    let all = (0..count).flat_map(|host| (0..count).map(move |join| (host, join)));
    Cohorts {
        host_scanpaths: strings(10),
        join_scanpaths: strings(100),
        pairs: all.collect(),
        tree_owner: Party::Host,
    }
}

#[test]
fn many_comparisons_of_a_scanpath_share_its_trees() {
    let equal = |x: usize, y: usize| u64::from(x == y);
    let mut cohorts = crossed(17, &[1, 60, 63, 64, 65, 7, 130, 8], 11);
    for tree_owner in [Party::Host, Party::Join] {
        cohorts.tree_owner = tree_owner;
        let bits = match tree_owner {
            Party::Host => TreeLevels::FOUR,
            Party::Join => TreeLevels::EIGHT,
        };
        let (numbers, _) = run(
            MatrixRecurrence::Unit,
            NUMBERS,
            11,
            &cohorts,
            equal,
            0,
            bits,
        );
        for ((host, join), number) in cohorts.pairs.iter().zip(numbers) {
            let (a, b) = (
                &cohorts.host_scanpaths[*host],
                &cohorts.join_scanpaths[*join],
            );
            assert_eq!(a.len() + number as usize, b.len() + distance(a, b));
        }
    }
}

#[test]
fn shared_trees_take_a_fraction_of_the_bits() {
    let equal = |x: usize, y: usize| u64::from(x == y);
    let (count, length, alphabet) = (12, 100, 48);
    let cohorts = crossed(count, &[length], alphabet);
    let (cells, lines) = ((count * length).pow(2) as f64, (count * length) as f64);
    for (tree_levels, cot_bits) in [(TreeLevels::FOUR, 31.0), (TreeLevels::EIGHT, 15.0)] {
        let lines_per_tree = tree_levels.count() as f64;
        let (_, traffic) = run(
            MatrixRecurrence::Unit,
            NUMBERS,
            alphabet,
            &cohorts,
            equal,
            0,
            tree_levels,
        );
        let cost = MatrixRecurrence::Unit.cost();
        let streams = alphabet as f64 - 1.0;
        let of_cell = cost.cots as f64 * cot_bits + cost.bits as f64 + streams / lines_per_tree;
        // Each column has a tree with a level for each line that shares it. Transfers are made in both directions.
        let corrections = (lines_per_tree - 1.0) * 256.0 / lines_per_tree;
        let of_line = streams * (2.0 * cot_bits + 1.0 + corrections);
        let expected = (of_cell * cells + of_line * lines) / 8.0;
        let sent = (traffic.sent + traffic.received) as f64;
        assert!(
            (expected..expected * 1.08).contains(&sent),
            "{tree_levels:?}: {} bytes per cell instead of {}",
            sent / cells,
            expected / cells
        );
    }
}

/// Changes the first byte that is sent.
struct ChangedHashKey {
    channel: MemoryChannel,
    change: u8,
}

impl Channel for ChangedHashKey {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        let mut bytes = bytes.to_vec();
        if let Some(first) = bytes.first_mut() {
            *first ^= std::mem::take(&mut self.change);
        }
        self.channel.send(&bytes)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.channel.receive(buffer)
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.channel.flush()
    }
}

/// One side's shares of products with bits of the receiver and numbers of the sender.
fn products(party: Party, sender: Party, mut channel: ChangedHashKey) -> Words {
    let mut rng = ChaCha20Rng::seed_from_u64(party as u64);
    let kernel = Kernel::best();
    let session =
        SharesSession::start(party, TreeLevels::FOUR, kernel, &mut rng, &mut channel).unwrap();
    let gates = session.gates();
    let own = [1; 64];
    let factor = match party == sender {
        true => Factor::Numbers(&own),
        false => Factor::Bits(&own),
    };
    let task = Task {
        rounds: Rc::clone(&gates.rounds),
        future: Box::pin(async move {
            let demand = Gates::products_demand(own.len(), party != sender);
            gates.rounds.reserve(demand).await;
            gates.products(factor, 9).await
        }),
    };
    let tasks = [task].into_iter();
    let mut shares = run_tasks(tasks, 1, &session.pool, &mut channel).unwrap();
    shares.pop().unwrap()
}

/// The hash key protects the sender's offset, so the receiver must not choose it. If a sender announces a
/// hash key that it does not use, results are wrong without an error: nothing authenticates shares.
#[test]
fn the_sender_of_transfers_chooses_their_hash_key() {
    let parties = [Party::Host, Party::Join];
    for (changed, sender) in parties
        .into_iter()
        .flat_map(|it| parties.map(|by| (it, by)))
    {
        let (left, right) = memory_pair();
        let with = |party, channel| ChangedHashKey {
            channel,
            change: u8::from(party == changed),
        };
        let (left, right) = (with(Party::Host, left), with(Party::Join, right));
        let shares = std::thread::scope(|scope| {
            let join = scope.spawn(move || products(Party::Join, sender, right).to_vec());
            [
                products(Party::Host, sender, left).to_vec(),
                join.join().unwrap(),
            ]
        });
        let sums = shares[0].iter().zip(&shares[1]);
        let right = sums.filter(|(a, b)| (*a + *b) % 512 == 1).count();
        assert_eq!(right == 64, changed != sender, "{changed:?}, {sender:?}");
    }
}

/// Another comparison would reuse the streams of the first ones.
#[test]
fn numbers_of_comparisons_end_before_streams_repeat() {
    let (left, right) = memory_pair();
    let side = |party: Party, mut channel: MemoryChannel| {
        let mut rng = ChaCha20Rng::seed_from_u64(party as u64);
        let kernel = Kernel::best();
        let session = SharesSession::start(party, TreeLevels::FOUR, kernel, &mut rng, &mut channel);
        let mut session = session.unwrap();
        let lists = LetterLists {
            own: &[0, 1],
            own_lengths: &[2],
            their_lengths: &[2],
            cells: 4,
            tree_owner: Party::Host,
        };
        let equal = |x: usize, y: usize| u64::from(x == y);
        let letters = session.letters(lists, 2, 1, equal, &mut channel).unwrap();
        let comparison = MatrixInput {
            rows: 0..2,
            columns: 0..2,
            term: 0,
            at_least: 0,
        };
        session.matrices = MAX_MATRICES - 1;
        let two = [comparison.clone(), comparison];
        let aligned = session.align(
            MatrixRecurrence::Unit,
            &letters,
            &two,
            NUMBERS,
            &mut channel,
            &|_| (),
        );
        assert!(matches!(aligned, Err(MpcError::Misuse(_))));
        let runs = session.diagonal_runs(&letters, &two, 2, &mut channel, &|_| ());
        assert!(matches!(runs, Err(MpcError::Misuse(_))));
        let runs = session.diagonal_runs(&letters, &two[..1], 2, &mut channel, &|_| ());
        assert_eq!(runs.unwrap().len(), 1);
        let runs = session.diagonal_runs(&letters, &two[..1], 2, &mut channel, &|_| ());
        assert!(matches!(runs, Err(MpcError::Misuse(_))));
    };
    std::thread::scope(|scope| {
        scope.spawn(move || side(Party::Join, right));
        side(Party::Host, left);
    });
}
