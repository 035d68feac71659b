//! Results on shares equal results in the clear on the same integers exactly.

use super::histogram::PairParticipants;
use super::linear::sums_by_key;
use super::nearest::NearestQueries;
use super::permutation::Permutations;
use super::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::collections::BTreeSet;
use veilpath_channel::{MemoryChannel, memory_pair};
use veilpath_mpc::Kernel;
use veilpath_mpc::ot::correlated::TreeLevels;
use veilpath_mpc::shares::Party;
use veilpath_statistics::{
    Coins, CrossTest, LabelTest, PairMatrix, bin_of, group_sums, histogram, histogram_edges,
    majority, nearest as nearest_of, suppress_small,
};

const VALUE_BITS: usize = 30;

/// Runs a task on both sides, and returns what each got.
fn run_both_sides<T: Send>(
    task: impl Fn(&mut SharesSide<'_, MemoryChannel>) -> Result<T, ProtocolError> + Sync,
) -> [T; 2] {
    let (left, right) = memory_pair();
    let side = |role: Role, mut channel: MemoryChannel, seed: u64| {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let (party, bits) = (
            match role {
                Role::Host => Party::Host,
                Role::Join => Party::Join,
            },
            TreeLevels::FOUR,
        );
        let mut session =
            SharesSession::start(party, bits, Kernel::best(), &mut rng, &mut channel).unwrap();
        task(&mut SharesSide {
            role,
            session: &mut session,
            channel: &mut channel,
        })
        .unwrap()
    };
    std::thread::scope(|scope| {
        let join = scope.spawn(|| side(Role::Join, right, 2));
        [side(Role::Host, left, 1), join.join().unwrap()]
    })
}

/// Values, and shares of them.
struct Shared {
    values: Vec<i64>,
    shares: [Vec<u64>; 2],
}

impl Shared {
    fn new(seed: u64, count: usize, largest: i64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let values: Vec<i64> = (0..count)
            .map(|_| rng.random_range(-largest..=largest))
            .collect();
        Self::of(values, &mut rng)
    }

    fn of(values: Vec<i64>, rng: &mut ChaCha20Rng) -> Self {
        let first: Vec<u64> = values.iter().map(|_| rng.random()).collect();
        let second = values.iter().zip(&first);
        let second = second.map(|(value, share)| value.cast_unsigned().wrapping_sub(*share));
        Self {
            shares: [first.clone(), second.collect()],
            values,
        }
    }

    /// Multiplies values by 256, and adds an error between −`max_error` and `max_error` to each.
    fn add_error(&mut self, max_error: i64) {
        let mut rng = ChaCha20Rng::seed_from_u64(77);
        let error = |value: &i64| (value << 8) + rng.random_range(-max_error..=max_error);
        *self = Self::of(
            self.values.iter().map(error).collect(),
            &mut ChaCha20Rng::seed_from_u64(78),
        );
    }

    fn of_role(&self, role: Role) -> &[u64] {
        match role {
            Role::Host => &self.shares[0],
            Role::Join => &self.shares[1],
        }
    }
}

fn matrix(rows: usize, columns: usize, shares: &[u64]) -> CrossMatrix {
    let values = shares.iter().map(|share| share.cast_signed()).collect();
    CrossMatrix::new(rows, columns, values).unwrap()
}

fn sum([host, join]: [u64; 2]) -> i64 {
    host.wrapping_add(join).cast_signed()
}

fn labels(role: Role, labels: &[Vec<usize>; 2], count: usize) -> OwnLabels<'_> {
    let labels = match role {
        Role::Host => &labels[0],
        Role::Join => &labels[1],
    };
    OwnLabels { labels, count }
}

#[test]
fn sums_by_key_and_group_equal_those_in_the_clear() {
    let (rows, columns) = (9, 7);
    let shared = Shared::new(1, rows * columns, 1 << VALUE_BITS);
    let keys: Vec<usize> = (0..rows * columns).map(|at| at % 3).collect();
    let sums = [0, 1].map(|side| sums_by_key(&shared.shares[side], &keys, 3));
    for (key, (ours, theirs)) in sums[0].iter().zip(sums[1].iter()).enumerate() {
        let of_key = (0..rows * columns).filter(|at| at % 3 == key);
        let expected: i64 = of_key.map(|at| shared.values[at]).sum();
        assert_eq!(sum([*ours, *theirs]), expected);
    }
    let groups = [vec![0, 1, 2, 0, 1, 2, 1, 1, 0], vec![1, 0, 0, 1, 1, 0, 1]];
    let counts = [3, 2];
    let found = run_both_sides(|side| {
        let (own, theirs) = match side.role {
            Role::Host => (counts[0], counts[1]),
            Role::Join => (counts[1], counts[0]),
        };
        let values = matrix(rows, columns, shared.of_role(side.role));
        side.group_sums(&values, &labels(side.role, &groups, own), theirs)
    });
    let plain = CrossMatrix::new(rows, columns, shared.values.clone()).unwrap();
    let expected = group_sums(&plain, [&groups[0], &groups[1]], counts).unwrap();
    for (row, cells) in expected.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            let at = row * counts[1] + column;
            assert_eq!(sum([found[0][at], found[1][at]]), cell.sum);
        }
    }
}

#[test]
fn tests_of_groups_have_the_p_value_of_the_plain_test() {
    let (rows, columns) = (8, 9);
    for (groups, largest, shift) in [(2, 1 << VALUE_BITS, 0), (2, 1 << VALUE_BITS, 9), (3, 2, 0)] {
        let shared = Shared::new(5, rows * columns, largest);
        let of = |size: usize| (0..size).map(|at| at * 5 % 7 % groups).collect::<Vec<_>>();
        let both_labels = [of(rows), of(columns)];
        let test = CrossTest::new(both_labels.clone()).unwrap();
        let coins = Coins::new([3; 32]);
        let permutations = 300;
        let found = run_both_sides(|side| {
            side.test_of_groups(
                test.contrast(),
                &matrix(rows, columns, shared.of_role(side.role)),
                &labels(side.role, &both_labels, groups),
                &Permutations {
                    coins: &coins,
                    count: permutations,
                    tolerance: 0,
                    sum_bits: VALUE_BITS + 7,
                    statistic_shift: shift,
                },
            )
        });
        let plain = CrossMatrix::new(rows, columns, shared.values.clone()).unwrap();
        let expected = test.run(&plain, &coins, permutations).unwrap();
        let [same, rest] = [expected.same, expected.all - expected.same].map(|it| it >> shift);
        let statistic = test.contrast().statistic(same, same + rest);
        let statistics = found.map(|shares| shares.statistic);
        assert_eq!(i128::from(sum(statistics)), statistic);
        let count = sum(found.map(|shares| shares.count));
        assert_eq!(count.cast_unsigned(), expected.count());
        assert!(expected.count() > 0);
    }
}

#[test]
fn numbers_are_divided_and_rounded_down() {
    let largest = (1_i64 << 62) - 1;
    let mut values = vec![0, 1, -1, 7, 8, -8, -9, largest, -largest];
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    values.extend((0..50).map(|_| rng.random_range(-largest..=largest)));
    let mut shared = Shared::of(values, &mut rng);
    // Shares at the ends of their range.
    for (at, share) in [0, u64::MAX, 1 << 63, (1 << 63) - 1]
        .into_iter()
        .enumerate()
    {
        let number = shared.values[at + 1].cast_unsigned();
        shared.shares[0][at + 1] = share;
        shared.shares[1][at + 1] = number.wrapping_sub(share);
    }
    for shift in [0, 1, 3, 20, 62] {
        let found = run_both_sides(|side| side.shifted(shared.of_role(side.role), shift));
        for (at, value) in shared.values.iter().enumerate() {
            let found = sum([found[0][at], found[1][at]]);
            assert_eq!(found, value >> shift, "{value} by {shift} bits");
        }
    }
}

#[test]
fn tests_of_sites_have_the_p_value_of_the_plain_test() {
    let (first, second) = (6, 7);
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let size = first + second;
    let values: Vec<i64> = (0..size * (size - 1) / 2)
        .map(|_| rng.random_range(-1000..1000))
        .collect();
    let plain = PairMatrix::new(size, values.clone()).unwrap();
    // Each site knows its own pairs; pairs between the sites are secret-shared.
    let mut shares = [Vec::new(), Vec::new()];
    for (a, b, value) in plain.pairs() {
        let between: i64 = rng.random();
        let (host, join) = match (a < first, b < first) {
            (true, true) => (value, 0),
            (false, false) => (0, value),
            _ => (between, value.wrapping_sub(between)),
        };
        shares[0].push(host);
        shares[1].push(join);
    }
    let test = LabelTest::of_sites(first, second).unwrap();
    let coins = Coins::new([4; 32]);
    let found = run_both_sides(|side| {
        let own = match side.role {
            Role::Host => &shares[0],
            Role::Join => &shares[1],
        };
        side.test_of_sites(
            &test,
            &PairMatrix::new(size, own.clone()).unwrap(),
            &Permutations {
                coins: &coins,
                count: 200,
                tolerance: 0,
                sum_bits: 20,
                statistic_shift: 0,
            },
        )
    });
    let expected = test.run(&plain, &coins, 200).unwrap();
    assert_eq!(
        i128::from(sum(found.map(|shares| shares.statistic))),
        test.contrast().statistic(expected.same, expected.all)
    );
    let count = sum(found.map(|shares| shares.count));
    assert_eq!(count.cast_unsigned(), expected.count());
}

#[test]
fn majorities_of_the_nearest_equal_those_in_the_clear() {
    let (queries, references) = (6, 13);
    let reference_groups = [2, 0, 1, 1, 0, 2, 2, 1, 0, 0, 1, 2, 1];
    let query_groups = [0, 1, 2, 0, 1, 2];
    let reference_labels: Vec<usize> = (0..queries * references)
        .map(|pair| reference_groups[pair % references])
        .collect();
    let lists: Vec<Vec<usize>> = (0..queries)
        .map(|query| (query * references..(query + 1) * references).collect())
        .collect();
    // Few different values, so that many are equal.
    for (k, largest) in [(1, 3), (4, 2), (5, 1 << VALUE_BITS), (13, 1)] {
        let mut shared = Shared::new(k as u64, queries * references, largest);
        shared.add_error(3);
        let found = run_both_sides(|side| {
            let is_host = side.role == Role::Host;
            let batch = NearestQueries {
                k,
                groups: 3,
                value_bits: VALUE_BITS + 8,
                tie_step: 8,
                pairs: &lists,
                references: (!is_host).then_some(&reference_labels),
            };
            let majorities = side.majorities(shared.of_role(side.role), &batch)?;
            let own = is_host.then_some(&query_groups[..]);
            let correct = side.correct_majorities(&majorities, own, 3)?;
            Ok((majorities, correct))
        });
        let mut correct = 0;
        for (query, own) in query_groups.iter().enumerate() {
            let values = &shared.values[query * references..(query + 1) * references];
            let values: Vec<i64> = values.iter().map(|it| (it + 3) >> 8).collect();
            let nearest = nearest_of(query, &values, k).unwrap();
            let expected = majority(nearest.iter().map(|&at| reference_groups[at]), 3);
            let word = found[0].0[query] ^ found[1].0[query];
            assert_eq!(word, 1 << expected, "{k} nearest of {query}");
            correct += i64::from(expected == *own);
        }
        assert_eq!(sum([found[0].1, found[1].1]), correct);
    }
}

/// Five copies of one scanpath give every participant five pairs, so a count of five may be about one participant.
#[test]
fn a_count_of_one_participants_pairs_is_hidden() {
    let (participants, copies, minimum) = (8, 5, 5);
    let values: Vec<i64> = (0..participants * copies)
        .map(|pair| if pair / copies == 0 { 60 } else { -60 })
        .collect();
    let edges = histogram_edges(-100, 100, 4).unwrap();
    let of = PairParticipants {
        by_pair: [
            (0..values.len()).map(|pair| pair / copies).collect(),
            (0..values.len()).map(|pair| pair % copies).collect(),
        ],
        counts: [participants, copies],
    };
    let found = run_both_sides(|side| {
        let own = values.iter().map(|value| side.public(*value));
        let own: Vec<u64> = own.collect();
        side.histogram(&own, &edges, 8, minimum, &of)
    });
    for bin in 0..4 {
        // Also hidden, because it follows from the other count and the total.
        assert_eq!(sum([found[0].shown[bin], found[1].shown[bin]]), 0);
        assert_eq!(sum([found[0].counts[bin], found[1].counts[bin]]), 0);
    }
}

#[test]
fn histograms_hide_small_counts() {
    let count = 60;
    for (seed, bins, minimum) in [
        (1, 4, 5),
        (2, 10, 5),
        (3, 7, 0),
        (4, 3, 100),
        (5, 1, 5),
        (6, 2, 30),
        (7, 9, 4),
        (8, 12, 2),
    ] {
        let shared = Shared::new(seed, count, 100);
        let edges = histogram_edges(-100, 100, bins).unwrap();
        // Pairs of five participants of the host and of seven of the joining side.
        let by_pair = [5, 7].map(|size| (0..count).map(|pair| pair % size).collect::<Vec<_>>());
        let participants = PairParticipants {
            by_pair,
            counts: [5, 7],
        };
        let found = run_both_sides(|side| {
            let values = shared.of_role(side.role);
            side.histogram(values, &edges, 8, minimum, &participants)
        });
        let counts = histogram(shared.values.iter().copied(), &edges).unwrap();
        assert_eq!(counts[bin_of(shared.values[0], &edges)].min(1), 1);
        let mut present = vec![[const { BTreeSet::new() }; 2]; bins];
        for (pair, value) in shared.values.iter().enumerate() {
            for (side, present) in present[bin_of(*value, &edges)].iter_mut().enumerate() {
                present.insert(participants.by_pair[side][pair]);
            }
        }
        let enough = |it: &BTreeSet<usize>| it.len() as u64 >= minimum;
        let enough: Vec<bool> = present.iter().map(|it| it.iter().all(enough)).collect();
        let expected = suppress_small(&counts, &enough);
        for (bin, expected) in expected.iter().enumerate() {
            let shown = sum([found[0].shown[bin], found[1].shown[bin]]);
            let count = sum([found[0].counts[bin], found[1].counts[bin]]);
            assert_eq!(
                shown == 1,
                expected.is_some(),
                "{counts:?}, {minimum}, {bin}"
            );
            assert_eq!(count.cast_unsigned(), expected.unwrap_or(0));
        }
    }
}
