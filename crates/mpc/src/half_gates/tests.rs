//! Garbler and evaluator against the same circuit in the clear.

use super::*;
use crate::block::Block;
use crate::circuit::cells::{Cell, DifferenceCell};
use crate::circuit::{Bundle, Circuit, Clear, LANES, TwoPartyCircuit};
use crate::error::MpcError;
use crate::kernel::Kernel;
use crate::label::{ActiveLabel, Delta, ZeroLabel};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::sync::Arc;
use veilpath_channel::memory_pair;

struct Bench {
    garbler: Garbler,
    evaluator: Evaluator,
    rng: ChaCha20Rng,
}

impl Bench {
    fn new(garbling: Kernel, evaluating: Kernel, seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let delta = Arc::new(Delta::random(&mut rng));
        Self {
            garbler: Garbler::new(delta, garbling, Block::new(99)),
            evaluator: Evaluator::new(evaluating, Block::new(99)),
            rng,
        }
    }

    fn wire(&mut self, bits: Bundle<bool>) -> (Bundle<ZeroLabel>, Bundle<ActiveLabel>) {
        let zeros: Bundle<_> = std::array::from_fn(|_| ZeroLabel::random(&mut self.rng));
        let active = std::array::from_fn(|lane| zeros[lane].of(bits[lane], self.garbler.delta()));
        (zeros, active)
    }
}

fn decode(zeros: &Bundle<ZeroLabel>, active: &Bundle<ActiveLabel>) -> Bundle<bool> {
    std::array::from_fn(|lane| zeros[lane].colour() ^ active[lane].colour())
}

#[test]
fn an_and_gate_is_right_for_all_values_on_all_kernels() {
    for garbling in Kernel::available() {
        for evaluating in Kernel::available() {
            let mut bench = Bench::new(garbling, evaluating, 5);
            for lanes in (1..=LANES).chain([LANES; 60]) {
                let (x, y): (Bundle<bool>, Bundle<bool>) = bench.rng.random();
                let (x0, xa) = bench.wire(x);
                let (y0, ya) = bench.wire(y);
                bench.garbler.set_lanes(lanes);
                bench.evaluator.set_lanes(lanes);
                let z0 = bench.garbler.and(&x0, &y0);
                assert_eq!(bench.garbler.tables().len(), lanes * messages::TABLE_BYTES);
                bench.evaluator.add_tables(bench.garbler.tables());
                bench.garbler.clear_tables();
                let za = bench.evaluator.and(&xa, &ya);
                for lane in 0..lanes {
                    // Not only the colour must match: the whole label is one of the two.
                    let expected = z0[lane].of(x[lane] & y[lane], bench.garbler.delta());
                    assert_eq!(za[lane].0, expected.0);
                }
            }
            assert_eq!(bench.garbler.and_gates(), bench.evaluator.and_gates());
        }
    }
}

#[test]
fn constants_and_free_gates_agree() {
    let mut bench = Bench::new(Kernel::best(), Kernel::best(), 6);
    for bit in [false, true] {
        let (x, other): (Bundle<bool>, Bundle<bool>) = bench.rng.random();
        let (x0, xa) = bench.wire(x);
        let (o0, oa) = bench.wire(other);
        let (c0, ca) = (bench.garbler.constants(bit), bench.evaluator.constants(bit));
        assert_eq!(decode(&c0, &ca), [bit; LANES]);
        let (n0, na) = (bench.garbler.not(&x0), bench.evaluator.not(&xa));
        assert_eq!(decode(&n0, &na), x.map(|x| !x));
        let (s0, sa) = (bench.garbler.xor(&x0, &o0), bench.evaluator.xor(&xa, &oa));
        assert_eq!(decode(&s0, &sa), std::array::from_fn(|l| x[l] ^ other[l]));
        let z0 = bench.garbler.and(&x0, &c0);
        bench.evaluator.add_tables(bench.garbler.tables());
        bench.garbler.clear_tables();
        let za = bench.evaluator.and(&xa, &ca);
        assert_eq!(decode(&z0, &za), x.map(|x| x & bit));
    }
}

#[test]
fn a_garbled_cell_gives_the_same_as_in_the_clear() {
    let cell = DifferenceCell::new(300);
    let mut bench = Bench::new(Kernel::best(), Kernel::portable(), 7);
    let (mut to_evaluator, mut from_garbler) = memory_pair();
    for _ in 0..20 {
        let bits: Vec<Bundle<bool>> = (0..27).map(|_| bench.rng.random()).collect();
        let (mut zeros, mut active): (Vec<_>, Vec<_>) = bits.iter().map(|b| bench.wire(*b)).unzip();
        let mut clear = bits.clone();
        run(&cell, &mut Clear::new(), &mut clear);
        run(&cell, &mut bench.garbler, &mut zeros);
        bench.garbler.finish(&mut to_evaluator).unwrap();
        bench
            .evaluator
            .prepare(cell.and_gates() * LANES, &mut from_garbler)
            .unwrap();
        run(&cell, &mut bench.evaluator, &mut active);
        bench.evaluator.finish_gates(&mut from_garbler).unwrap();
        for (wire, clear) in clear.iter().enumerate().take(18) {
            assert_eq!(decode(&zeros[wire], &active[wire]), *clear);
        }
    }
}

fn run<C: Circuit>(cell: &DifferenceCell, circuit: &mut C, wires: &mut [Bundle<C::Label>]) {
    let (across, rest) = wires.split_at_mut(9);
    let (down, input) = rest.split_at_mut(9);
    cell.run(circuit, across, down, input);
}

#[test]
fn an_evaluator_without_tables_returns_an_error() {
    let mut evaluator = Evaluator::new(Kernel::best(), Block::ZERO);
    let wire = [ActiveLabel::default(); LANES];
    evaluator.and(&wire, &wire);
    let (mut channel, _peer) = memory_pair();
    assert!(matches!(
        evaluator.finish_gates(&mut channel),
        Err(MpcError::Misuse(_))
    ));
}

#[test]
fn equal_gates_have_different_tables() {
    // The tweak changes, so two tables for the same labels have nothing in common.
    let mut bench = Bench::new(Kernel::best(), Kernel::best(), 8);
    let (x, _) = bench.wire([true; LANES]);
    bench.garbler.and(&x, &x);
    bench.garbler.and(&x, &x);
    let (blocks, _) = bench.garbler.tables().as_chunks::<16>();
    let different: std::collections::BTreeSet<_> = blocks.iter().collect();
    assert_eq!(different.len(), 4 * LANES);
}

#[test]
fn bits_are_packed_and_unused_bits_are_zero() {
    let (mut channel, mut other) = memory_pair();
    messages::send_bits([true, false, true], &mut channel).unwrap();
    veilpath_channel::Channel::send(&mut channel, &[0b1000]).unwrap();
    veilpath_channel::Channel::flush(&mut channel).unwrap();
    assert_eq!(
        messages::receive_bits(3, &mut other),
        Ok(vec![true, false, true])
    );
    assert!(matches!(
        messages::receive_bits(3, &mut other),
        Err(MpcError::Peer(_))
    ));
}
