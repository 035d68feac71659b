//! Arithmetic on shares gives the same results as in the clear.

use super::session::Party;
use super::*;
use crate::Kernel;
use crate::error::MpcError;
use crate::ot::correlated::TreeLevels;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use veilpath_channel::{MemoryChannel, memory_pair};

/// Runs a task on both sides.
pub(super) fn run_both_parties<T: Send>(
    task: impl Fn(&mut SharesSession, Party, &mut MemoryChannel) -> Result<T, MpcError> + Sync,
) -> [T; 2] {
    let (left, right) = memory_pair();
    let side = |party: Party, mut channel: MemoryChannel, seed: u64| {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let kernel = Kernel::best();
        let mut session =
            SharesSession::start(party, TreeLevels::FOUR, kernel, &mut rng, &mut channel).unwrap();
        task(&mut session, party, &mut channel).unwrap()
    };
    std::thread::scope(|scope| {
        let join = scope.spawn(|| side(Party::Join, right, 2));
        [side(Party::Host, left, 1), join.join().unwrap()]
    })
}

pub(super) fn random(seed: u64, count: usize) -> Vec<u64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    (0..count).map(|_| rng.next_u64()).collect()
}

/// The shares of one of the two sides.
pub(super) fn of(party: Party, shares: [&[u64]; 2]) -> &[u64] {
    match party {
        Party::Host => shares[0],
        Party::Join => shares[1],
    }
}

#[test]
fn xor_shares_become_additive_shares() {
    for bits in [1, 2, 17, 40, 63] {
        let mask = u64::MAX >> (64 - bits);
        let count = 900;
        let halves = [random(1, count), random(2, count)];
        let halves = halves.map(|list| list.iter().map(|half| half & mask).collect::<Vec<_>>());
        let shares = run_both_parties(|session, party, channel| {
            let own = of(party, [&halves[0], &halves[1]]);
            session.additive_from_xor(own, bits, channel)
        });
        for at in 0..count {
            let sum = shares[0][at].wrapping_add(shares[1][at]);
            assert_eq!(sum, halves[0][at] ^ halves[1][at], "{bits} bits");
        }
    }
}

#[test]
fn products_of_bits_and_numbers_equal_plain_ones() {
    // Enough for several messages, and different numbers in the two directions.
    let (of_host, of_join) = (20_000, 300);
    let host_bits: Vec<u64> = random(1, of_host).iter().map(|word| word & 1).collect();
    let join_bits: Vec<u64> = random(2, of_join).iter().map(|word| word & 1).collect();
    let (join_numbers, host_numbers) = (random(3, of_host), random(4, of_join));
    let [host, join] = run_both_parties(|session, party, channel| {
        let own = match party {
            Party::Host => Factors {
                bits: &host_bits,
                numbers: &host_numbers,
            },
            Party::Join => Factors {
                bits: &join_bits,
                numbers: &join_numbers,
            },
        };
        session.products(own, channel)
    });
    for at in 0..of_host {
        let sum = host.of_own_bits[at].wrapping_add(join.of_own_numbers[at]);
        assert_eq!(sum, host_bits[at].wrapping_mul(join_numbers[at]));
    }
    for at in 0..of_join {
        let sum = join.of_own_bits[at].wrapping_add(host.of_own_numbers[at]);
        assert_eq!(sum, join_bits[at].wrapping_mul(host_numbers[at]));
    }
}

/// Modulo 2⁶⁴.
#[allow(clippy::cast_possible_truncation)]
fn low_word(number: i128) -> u64 {
    number.cast_unsigned() as u64
}

#[test]
fn comparisons_and_selections_equal_plain_ones() {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    for bits in [1, 8, 33, 62, 63] {
        let bound = 1i128 << bits;
        let count = 2_000;
        let edges = [0, -1, bound - 1, -bound];
        let numbers: Vec<i128> = (0..count)
            .map(|at| match edges.get(at) {
                Some(edge) => *edge,
                None => rng.random_range(-bound..bound),
            })
            .collect();
        let first = random(6, count);
        let second: Vec<u64> = numbers
            .iter()
            .zip(&first)
            .map(|(number, share)| low_word(*number).wrapping_sub(*share))
            .collect();
        let [host, join] = run_both_parties(|session, party, channel| {
            let own = of(party, [&first, &second]);
            let signs = session.not_negative(own, bits, channel)?;
            let selected = session.select(&signs, own, channel)?;
            let both = session.and(&signs, own, 64, channel)?;
            Ok((signs, selected, both))
        });
        for (at, number) in numbers.iter().enumerate() {
            let sign = host.0[at] ^ join.0[at];
            assert_eq!(sign, u64::from(*number >= 0), "{number} of {bits} bits");
            let selected = host.1[at].wrapping_add(join.1[at]);
            assert_eq!(selected, low_word((*number).max(0)), "{number}");
            let and = host.2[at] ^ join.2[at];
            assert_eq!(and, (first[at] ^ second[at]) * sign);
        }
    }
}

/// A share alone reveals nothing: each of its bits is 0 as often as 1, for any number.
#[test]
fn shares_of_a_constant_are_uniform() {
    let count = 4096;
    let halves = [random(8, count), random(8, count)];
    let mask = (1 << 20) - 1;
    let halves = halves.map(|list| list.iter().map(|half| half & mask).collect::<Vec<_>>());
    let shares = run_both_parties(|session, party, channel| {
        let own = of(party, [&halves[0], &halves[1]]);
        session.additive_from_xor(own, 20, channel)
    });
    for side in &shares {
        for bit in 0..64 {
            let ones = side.iter().filter(|share| *share >> bit & 1 == 1).count();
            // Six standard deviations.
            assert!(ones.abs_diff(count / 2) < 6 * 32, "bit {bit}: {ones}");
        }
    }
}
