//! Gadgets compared with plain arithmetic, on transfers from a dealer.

use super::compare::clamp_cost;
use super::gates::{Factor, Gates};
use super::packing::Words;
use super::pool::{Demand, Hashes, MAX_SURPLUS_OF_TASKS, Pool};
use super::rounds::{Rounds, Task, run};
use super::session::Party;
use super::{GadgetCost, MatrixRecurrence};
use crate::bits::mask;
use crate::block::Block;
use crate::error::MpcError;
use crate::kernel::Kernel;
use crate::label::Delta;
use crate::ot::correlated::MAX_BATCH;
use crate::ot::ideal::ideal_pair;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use veilpath_channel::{Counted, Traffic, memory_pair};

/// The results of both sides of a task, and the first side's traffic.
pub(super) struct TaskRun<T> {
    pub(super) results: [T; 2],
    pub(super) used: Demand,
    pub(super) traffic: Traffic,
    pub(super) exchanges: u64,
}

fn pool(party: Party, seed: u64) -> Pool {
    let pair = |direction: u64| {
        let mut rng = ChaCha20Rng::seed_from_u64(seed + direction);
        ideal_pair(Arc::new(Delta::random(&mut rng)), seed + 10 + direction)
    };
    let hashes = |direction: u128| Hashes::new(Kernel::best(), Block::new(direction << 100));
    let ((first_sender, second_receiver), (second_sender, first_receiver)) = (pair(0), pair(1));
    match party {
        Party::Host => Pool::new(first_sender, first_receiver, hashes(0), hashes(1)),
        Party::Join => Pool::new(second_sender, second_receiver, hashes(1), hashes(0)),
    }
}

/// Runs a task on both sides.
pub(super) fn run_both_sides<T: Send>(
    task: impl AsyncFn(Gates) -> Result<T, MpcError> + Sync,
) -> TaskRun<T> {
    let (left, right) = memory_pair();
    let task = &task;
    let side = |party: Party, channel| {
        let mut channel = Counted::new(channel);
        let pool = Rc::new(RefCell::new(pool(party, 3)));
        let rounds = Rc::new(Rounds::default());
        let gates = Gates {
            rounds: Rc::clone(&rounds),
            pool: Rc::clone(&pool),
            party,
        };
        let task = Task {
            rounds: Rc::clone(&rounds),
            future: Box::pin(task(gates)),
        };
        let mut results = run([task].into_iter(), 1, &pool, &mut channel).unwrap();
        let used = pool.borrow().used();
        (
            results.pop().unwrap(),
            used,
            channel.traffic(),
            rounds.exchanges(),
        )
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(move || side(Party::Join, right).0);
        let (first, used, traffic, exchanges) = side(Party::Host, left);
        TaskRun {
            results: [first, other.join().unwrap()],
            used,
            traffic,
            exchanges,
        }
    })
}

fn random(seed: u64, count: usize, bits: usize) -> Vec<u64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    (0..count)
        .map(|_| rng.random::<u64>() & mask(bits))
        .collect()
}

/// The two sides' shares of numbers modulo 2^bits.
fn shares(numbers: &[u64], bits: usize, seed: u64) -> [Vec<u64>; 2] {
    let first = random(seed, numbers.len(), bits);
    let second = numbers.iter().zip(&first);
    let second = second
        .map(|(number, share)| number.wrapping_sub(*share) & mask(bits))
        .collect();
    [first, second]
}

pub(super) fn sums(results: &[Words; 2], bits: usize) -> Vec<u64> {
    let both = results[0].iter().zip(results[1].iter());
    both.map(|(a, b)| a.wrapping_add(*b) & mask(bits)).collect()
}

pub(super) fn xors(results: &[Words; 2]) -> Vec<u64> {
    results[0]
        .iter()
        .zip(results[1].iter())
        .map(|(a, b)| a ^ b)
        .collect()
}

/// Boundary numbers and some in between.
fn signed(width: usize) -> Vec<u64> {
    let modulus = mask(width + 1);
    let mut numbers: Vec<u64> = random(5, 300, width + 1);
    let half = 1u64 << width;
    numbers.extend([0, 1, half - 1, half, half + 1, modulus].map(|number| number & modulus));
    numbers
}

#[test]
fn clamped_numbers_are_never_negative() {
    for width in (1..=20).chain([33, 40, 63]) {
        for first_sender in [Party::Host, Party::Join] {
            let numbers = signed(width);
            let own = shares(&numbers, width + 1, 9);
            let ran = run_both_sides(async |gates: Gates| {
                let demand = gates.clamp_demand(numbers.len(), width, first_sender);
                gates.rounds.reserve(demand).await;
                gates
                    .clamp(&own[gates.party.index()], width, first_sender)
                    .await
            });
            let expected: Vec<u64> = numbers
                .iter()
                .map(|number| if number >> width == 0 { *number } else { 0 })
                .collect();
            assert_eq!(sums(&ran.results, width + 1), expected, "{width} bits");
        }
    }
}

#[test]
fn numbers_become_bits_and_bits_numbers() {
    for width in [1, 2, 3, 5, 9, 17, 32, 47] {
        let numbers = random(width as u64, 77, width);
        let modulus = width + 3;
        let masks = random(8, numbers.len(), width);
        let ran = run_both_sides(async |gates: Gates| {
            let own: Vec<u64> = match gates.party {
                Party::Host => masks.clone(),
                Party::Join => masks
                    .iter()
                    .zip(&numbers)
                    .map(|(mask, number)| mask ^ number)
                    .collect(),
            };
            let demand = gates.numbers_demand(own.len(), width);
            gates.rounds.reserve(demand).await;
            gates.numbers_from_bits(&own, width, modulus).await
        });
        assert_eq!(sums(&ran.results, modulus), numbers);
        let back = run_both_sides(async |gates: Gates| {
            let own = &ran.results[gates.party.index()];
            let demand = gates.bits_demand(own.len(), modulus);
            gates.rounds.reserve(demand).await;
            gates.bits_from_numbers(own, modulus).await
        });
        assert_eq!(xors(&back.results), numbers);
        let own = shares(&numbers, width + 1, 4);
        let wide = run_both_sides(async |gates: Gates| {
            gates
                .rounds
                .reserve(gates.widen_demand(numbers.len()))
                .await;
            gates.widen(&own[gates.party.index()], width, 64).await
        });
        assert_eq!(sums(&wide.results, 64), numbers);
    }
}

#[test]
fn clamping_costs_what_the_formula_says() {
    let count = 64 * 100;
    for width in [1, 2, 4, 5, 6, 9, 10, 13, 16, 30] {
        let numbers = random(1, count, width + 1);
        let own = shares(&numbers, width + 1, 2);
        let ran = run_both_sides(async |gates: Gates| {
            let demand = gates.clamp_demand(count, width, Party::Host)
                + gates.clamp_demand(count, width, Party::Join);
            gates.rounds.reserve(demand).await;
            gates
                .clamp(&own[gates.party.index()], width, Party::Host)
                .await?;
            gates
                .clamp(&own[gates.party.index()], width, Party::Join)
                .await
        });
        let cost = clamp_cost(width);
        assert_eq!(
            ran.used,
            Demand::each_way(cost.cots * count),
            "{width} bits"
        );
        assert_eq!(ran.traffic.sent, ran.traffic.received, "{width} bits");
        assert_eq!(
            ran.traffic.sent,
            (cost.bits * count / 8) as u64,
            "{width} bits"
        );
        assert_eq!(ran.exchanges, 2 * cost.exchanges as u64, "{width} bits");
    }
    // Nine bits, as ScanMatch has, and sixteen.
    for (insertion_and_deletion, cots, bits, exchanges) in
        [(448, 39, 202, 10), (65_535, 68, 434, 12)]
    {
        let cell = MatrixRecurrence::Difference {
            insertion_and_deletion,
        };
        let designed = GadgetCost {
            cots,
            bits,
            exchanges,
        };
        assert_eq!(cell.cost(), designed);
    }
}

/// Batches are made in both directions, and a step of a matrix may use one direction more than the other.
#[test]
fn a_task_does_not_pile_up_transfers_of_one_direction() {
    const COUNT: usize = MAX_BATCH;
    let own = [random(6, COUNT, 1), random(7, COUNT, 8)];
    let ran = run_both_sides(async |gates: Gates| {
        let receives = gates.party.is_host();
        let own = &own[gates.party.index()];
        let (mut most, mut last) = (0, Words::default());
        for _ in 0..4 * MAX_SURPLUS_OF_TASKS {
            let demand = Gates::products_demand(COUNT, receives);
            gates.rounds.reserve(demand).await;
            let factor = match receives {
                true => Factor::Bits(own),
                false => Factor::Numbers(own),
            };
            last = gates.products(factor, 8).await?;
            most = most.max(gates.pool.borrow().unused());
        }
        Ok((most, last))
    });
    let [(most, first), (others_most, second)] = ran.results;
    for most in [most, others_most] {
        assert!(most >= MAX_SURPLUS_OF_TASKS * MAX_BATCH, "{most}");
        assert!(most <= (MAX_SURPLUS_OF_TASKS + 1) * MAX_BATCH, "{most}");
    }
    // Both sides have erased the same ones.
    let products = own[0].iter().zip(&own[1]).map(|(bit, number)| bit * number);
    assert_eq!(sums(&[first, second], 8), products.collect::<Vec<u64>>());
}
