//! Both parties against the plain recurrences, on real and on ideal transfers.

use super::*;
use crate::circuit::cells::{Cell, ClippedCell, DifferenceCell, LocalCell, SavingCell, UnitCell};
use crate::circuit::reduce::{Operation, pairwise};
use crate::kernel::Kernel;
use crate::label::Delta;
use crate::ot::ideal::ideal_pair;
use crate::ot::{Bits, CorrelatedReceiver, CorrelatedSender};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::sync::Arc;
use veilpath_channel::{Channel, Counted, memory_pair};

pub(super) type Strings = Vec<Vec<usize>>;

pub(super) fn strings(rng: &mut ChaCha20Rng, lengths: &[usize], alphabet: usize) -> Strings {
    let one = |length: &usize| {
        (0..*length)
            .map(|_| rng.random_range(0..alphabet))
            .collect()
    };
    lengths.iter().map(one).collect()
}

/// The range of each string's letters when all strings are concatenated.
fn column_ranges(strings: &Strings) -> Vec<std::ops::Range<usize>> {
    let mut next = 0;
    let range = |string: &Vec<usize>| {
        next += string.len();
        next - string.len()..next
    };
    strings.iter().map(range).collect()
}

pub(super) struct Case<'a, K> {
    pub(super) cell: &'a K,
    pub(super) fold: Fold,
    /// The inputs of the cell, by the garbler's letter and then the evaluator's.
    pub(super) table: &'a [Vec<u64>],
    pub(super) ours: &'a Strings,
    pub(super) theirs: &'a Strings,
}

impl<K: Cell + Sync> Case<'_, K> {
    fn alphabet(&self) -> usize {
        self.table[0].len()
    }

    /// Compares each of the garbler's strings with each of the evaluator's.
    fn garble<O: CorrelatedSender>(
        &self,
        session: &mut GarblerSession<O>,
        channel: &mut dyn Channel,
    ) -> Vec<u64> {
        let column_ranges = column_ranges(self.theirs);
        let letters = session
            .letters(self.alphabet(), self.theirs.concat().len(), channel)
            .unwrap();
        let comparisons: Vec<_> = self
            .ours
            .iter()
            .flat_map(|ours| {
                column_ranges.iter().map(|range| GarblerComparison {
                    rows: ours
                        .iter()
                        .map(|letter| &self.table[*letter][..])
                        .collect::<Vec<_>>(),
                    columns: range.clone(),
                })
            })
            .collect();
        let numbers = session
            .align(
                self.cell,
                self.fold,
                &letters,
                &comparisons,
                channel,
                &|_| (),
            )
            .unwrap();
        session.reveal_to_peer(&numbers, channel).unwrap();
        session.decode(&numbers, channel).unwrap()
    }

    fn evaluate<O: CorrelatedReceiver>(
        &self,
        session: &mut EvaluatorSession<O>,
        channel: &mut dyn Channel,
    ) -> Vec<u64> {
        let column_ranges = column_ranges(self.theirs);
        let letters = session
            .letters(self.alphabet(), &self.theirs.concat(), channel)
            .unwrap();
        let comparisons: Vec<_> = self
            .ours
            .iter()
            .flat_map(|ours| {
                column_ranges.iter().map(|range| EvaluatorComparison {
                    rows: ours.len(),
                    columns: range.clone(),
                })
            })
            .collect();
        let numbers = session
            .align(
                self.cell,
                self.fold,
                &letters,
                &comparisons,
                channel,
                &|_| (),
            )
            .unwrap();
        let values = session.decode(&numbers, channel).unwrap();
        session.reveal_to_peer(&numbers, channel).unwrap();
        values
    }

    /// Runs both sides on ideal transfers. Both must learn the same numbers. Returns these and the bytes that each side
    /// sent.
    pub(super) fn run(&self, kernels: (Kernel, Kernel), seed: u64) -> (Vec<u64>, [u64; 2]) {
        let (left, right) = memory_pair();
        let (mut left, mut right) = (Counted::new(left), Counted::new(right));
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let delta = Arc::new(Delta::random(&mut rng));
        let (dealt_left, dealt_right) = ideal_pair(Arc::clone(&delta), seed);
        std::thread::scope(|scope| {
            let ours = scope.spawn(move || {
                let mut session = GarblerSession::with_transfers(
                    kernels.0, delta, dealt_left, &mut rng, &mut left,
                )
                .unwrap();
                (self.garble(&mut session, &mut left), left.traffic().sent)
            });
            let mut session =
                EvaluatorSession::with_transfers(kernels.1, dealt_right, &mut right).unwrap();
            let theirs = self.evaluate(&mut session, &mut right);
            let (ours, sent) = ours.join().unwrap();
            assert_eq!(ours, theirs);
            (theirs, [sent, right.traffic().sent])
        })
    }
}

pub(super) fn levenshtein(a: &[usize], b: &[usize]) -> u64 {
    global(a, b, 1, 1, |x, y| u64::from(x != y))
}

fn global(
    a: &[usize],
    b: &[usize],
    insertion: u64,
    deletion: u64,
    cost: impl Fn(usize, usize) -> u64,
) -> u64 {
    let mut row: Vec<u64> = (0..=b.len() as u64).map(|j| j * insertion).collect();
    for &x in a {
        let mut diagonal = row[0];
        row[0] += deletion;
        for (j, &y) in b.iter().enumerate() {
            let best = (diagonal + cost(x, y))
                .min(row[j] + insertion)
                .min(row[j + 1] + deletion);
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}

pub(super) fn unit_table(alphabet: usize) -> Vec<Vec<u64>> {
    (0..alphabet)
        .map(|x| (0..alphabet).map(|y| UnitCell.input(x == y)).collect())
        .collect()
}

#[test]
fn levenshtein_distances_are_right_on_ideal_transfers() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let ours = strings(&mut rng, &[0, 1, 7, 20, 131, 260, 33], 5);
    let theirs = strings(&mut rng, &[12, 0, 300, 1, 40], 5);
    let case = Case {
        cell: &UnitCell,
        fold: Fold::Sum,
        table: &unit_table(5),
        ours: &ours,
        theirs: &theirs,
    };
    for kernels in [
        (Kernel::best(), Kernel::best()),
        (Kernel::portable(), Kernel::best()),
    ] {
        let (sums, _) = case.run(kernels, 7);
        let pairs = ours.iter().flat_map(|a| theirs.iter().map(move |b| (a, b)));
        for ((a, b), sum) in pairs.zip(sums) {
            assert_eq!(a.len() as u64 + sum, b.len() as u64 + levenshtein(a, b));
        }
    }
}

#[test]
fn levenshtein_distances_are_right_on_real_transfers() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let ours = strings(&mut rng, &[100, 31], 52);
    let theirs = strings(&mut rng, &[100, 90], 52);
    let table = unit_table(52);
    let case = Case {
        cell: &UnitCell,
        fold: Fold::Sum,
        table: &table,
        ours: &ours,
        theirs: &theirs,
    };
    let (left, right) = memory_pair();
    let (mut left, mut right) = (Counted::new(left), Counted::new(right));
    std::thread::scope(|scope| {
        let garbled = scope.spawn(|| {
            let mut rng = ChaCha20Rng::seed_from_u64(70);
            let mut session = GarblerSession::start(Kernel::best(), &mut rng, &mut left).unwrap();
            let sums = case.garble(&mut session, &mut left);
            (sums, left.traffic().sent)
        });
        let mut rng = ChaCha20Rng::seed_from_u64(71);
        let mut session = EvaluatorSession::start(Kernel::best(), &mut rng, &mut right).unwrap();
        let sums = case.evaluate(&mut session, &mut right);
        let (same, sent) = garbled.join().unwrap();
        assert_eq!(sums, same);
        let pairs = ours.iter().flat_map(|a| theirs.iter().map(move |b| (a, b)));
        for ((a, b), sum) in pairs.zip(sums) {
            assert_eq!(a.len() as u64 + sum, b.len() as u64 + levenshtein(a, b));
        }
        let cells = 131 * 190;
        assert!(
            (sent + right.traffic().sent) / cells < 115,
            "{} bytes",
            sent + right.traffic().sent
        );
    });
}

#[test]
fn any_costs_give_the_plain_cost() {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let ours = strings(&mut rng, &[10, 140, 25], 9);
    let theirs = strings(&mut rng, &[15, 70], 9);
    let costs: Vec<Vec<u64>> = (0..9)
        .map(|_| (0..9).map(|_| rng.random_range(0..600)).collect())
        .collect();
    let (insertion, deletion) = (150, 170);
    let cell = DifferenceCell::new(insertion + deletion);
    let table: Vec<Vec<u64>> = costs
        .iter()
        .map(|row| row.iter().map(|cost| cell.input(*cost)).collect())
        .collect();
    let case = Case {
        cell: &cell,
        fold: Fold::Sum,
        table: &table,
        ours: &ours,
        theirs: &theirs,
    };
    let (sums, _) = case.run((Kernel::best(), Kernel::best()), 8);
    let pairs = ours.iter().flat_map(|a| theirs.iter().map(move |b| (a, b)));
    for ((a, b), sum) in pairs.zip(&sums) {
        let max_total = a.len() as u64 * deletion + b.len() as u64 * insertion;
        assert_eq!(
            max_total - sum,
            global(a, b, insertion, deletion, |x, y| costs[x][y])
        );
    }

    let saving = Case {
        cell: &SavingCell::new(insertion + deletion),
        fold: Fold::Unwrap,
        table: &table,
        ours: &ours,
        theirs: &theirs,
    };
    assert_eq!(saving.run((Kernel::best(), Kernel::best()), 8).0, sums);

    let clipped: Vec<Vec<u64>> = costs
        .iter()
        .map(|row| row.iter().map(|cost| ClippedCell.input(cost % 3)).collect())
        .collect();
    let case = Case {
        cell: &ClippedCell,
        fold: Fold::Sum,
        table: &clipped,
        ours: &ours,
        theirs: &theirs,
    };
    let (sums, _) = case.run((Kernel::best(), Kernel::best()), 9);
    let pairs = ours.iter().flat_map(|a| theirs.iter().map(move |b| (a, b)));
    for ((a, b), sum) in pairs.zip(sums) {
        let expected = global(a, b, 1, 1, |x, y| costs[x][y] % 3);
        assert_eq!(a.len() as u64 + sum, b.len() as u64 + expected);
    }
}

#[test]
fn local_alignments_give_the_plain_score() {
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let ours = strings(&mut rng, &[0, 10, 150], 4);
    let theirs = strings(&mut rng, &[15, 70], 4);
    let cell = LocalCell::new(140, 2, 1);
    let score = |x: usize, y: usize| if x == y { 2 } else { -1 };
    let table: Vec<Vec<u64>> = (0..4)
        .map(|x| (0..4).map(|y| cell.input(score(x, y))).collect())
        .collect();
    let case = Case {
        cell: &cell,
        fold: Fold::Max,
        table: &table,
        ours: &ours,
        theirs: &theirs,
    };
    let (maxima, _) = case.run((Kernel::best(), Kernel::best()), 9);
    let pairs = ours.iter().flat_map(|a| theirs.iter().map(move |b| (a, b)));
    for ((a, b), maximum) in pairs.zip(maxima) {
        let mut row = vec![0i64; b.len() + 1];
        let mut expected = 0;
        for x in a {
            let mut diagonal = 0;
            for (j, y) in b.iter().enumerate() {
                let best = (diagonal + score(*x, *y))
                    .max(row[j] - 1)
                    .max(row[j + 1] - 1)
                    .max(0);
                diagonal = std::mem::replace(&mut row[j + 1], best);
                expected = expected.max(best);
            }
        }
        assert_eq!(i64::try_from(maximum), Ok(expected));
    }
}

#[test]
fn thousands_of_short_strings_are_aligned_together() {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let mut lengths =
        |count| -> Vec<usize> { (0..count).map(|_| rng.random_range(0..13)).collect() };
    let (ours, theirs) = (lengths(60), lengths(50));
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let (ours, theirs) = (strings(&mut rng, &ours, 3), strings(&mut rng, &theirs, 3));
    let table = unit_table(3);
    let case = Case {
        cell: &UnitCell,
        fold: Fold::Sum,
        table: &table,
        ours: &ours,
        theirs: &theirs,
    };
    let (sums, _) = case.run((Kernel::best(), Kernel::best()), 3);
    assert_eq!(sums.len(), 3000);
    let pairs = ours.iter().flat_map(|a| theirs.iter().map(move |b| (a, b)));
    for ((a, b), sum) in pairs.zip(sums) {
        assert_eq!(a.len() as u64 + sum, b.len() as u64 + levenshtein(a, b));
    }
}

#[test]
fn empty_strings_are_aligned() {
    for (rows, columns) in [(0, 0), (3, 0), (0, 4), (200, 0), (0, 200)] {
        let case = Case {
            cell: &UnitCell,
            fold: Fold::Sum,
            table: &unit_table(2),
            ours: &vec![vec![1; rows]],
            theirs: &vec![vec![0; columns]],
        };
        let (sums, _) = case.run((Kernel::best(), Kernel::best()), 1);
        assert_eq!(rows + sums[0] as usize, columns + rows.max(columns));
    }
    let none = Case {
        cell: &UnitCell,
        fold: Fold::Sum,
        table: &unit_table(2),
        ours: &Vec::new(),
        theirs: &Vec::new(),
    };
    assert!(none.run((Kernel::best(), Kernel::best()), 1).0.is_empty());
}

#[test]
fn private_numbers_can_be_added_and_compared() {
    let (mut left, mut right) = memory_pair();
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let delta = Arc::new(Delta::random(&mut rng));
    let (dealt_left, dealt_right) = ideal_pair(Arc::clone(&delta), 6);
    let bits = |value: u64| (0..8).map(move |at| value >> at & 1 == 1);
    let thresholds = [0, 99, 100, 101];
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let kernel = Kernel::best();
            let mut session =
                GarblerSession::with_transfers(kernel, delta, dealt_left, &mut rng, &mut left)
                    .unwrap();
            let own = session
                .own_bits(&bits(70).collect::<Vec<_>>(), &mut left)
                .unwrap();
            let peer = session.peer_bits(8, &mut left).unwrap();
            let sum = pairwise(
                session.circuit(),
                &mut left,
                Operation::Add,
                &[(&own, &peer)],
            )
            .unwrap();
            let limits = thresholds.map(|limit| session.public_number(limit, 9));
            let pairs = limits.each_ref().map(|limit| (&sum[0][..], &limit[..]));
            let within =
                pairwise(session.circuit(), &mut left, Operation::AtLeast, &pairs).unwrap();
            session.reveal_to_peer(&within, &mut left).unwrap();
        });
        let mut session =
            EvaluatorSession::with_transfers(Kernel::best(), dealt_right, &mut right).unwrap();
        let peer = session.peer_bits(8, &mut right).unwrap();
        let own: Bits = bits(30).collect();
        let own = session.own_bits(&own, &mut right).unwrap();
        let sum = pairwise(
            session.circuit(),
            &mut right,
            Operation::Add,
            &[(&peer, &own)],
        )
        .unwrap();
        let limits = thresholds.map(|limit| session.public_number(limit, 9));
        let pairs = limits.each_ref().map(|limit| (&sum[0][..], &limit[..]));
        let within = pairwise(session.circuit(), &mut right, Operation::AtLeast, &pairs).unwrap();
        let within = session.decode(&within, &mut right).unwrap();
        assert_eq!(within, [1, 1, 1, 0]);
    });
}
