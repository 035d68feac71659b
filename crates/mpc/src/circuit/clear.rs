//! A circuit on plain bits, to test what a gadget computes and what it costs.

use super::{Bundle, Circuit, LANES, TwoPartyCircuit};
use crate::error::MpcError;
use veilpath_channel::Channel;

/// Runs circuits on plain bits and counts gates. Protects nothing.
#[derive(Clone, Debug, Default)]
pub struct Clear {
    lanes: usize,
    and_gates: usize,
}

impl Clear {
    /// A circuit with no gates counted yet.
    pub fn new() -> Self {
        Self {
            lanes: LANES,
            and_gates: 0,
        }
    }

    /// AND gates so far, over all lanes.
    pub fn and_gates(&self) -> usize {
        self.and_gates
    }
}

impl Circuit for Clear {
    type Label = bool;

    fn constant(&self, bit: bool) -> bool {
        bit
    }

    fn set_lanes(&mut self, lanes: usize) {
        self.lanes = lanes.min(LANES);
    }

    fn xor(&self, a: &Bundle<bool>, b: &Bundle<bool>) -> Bundle<bool> {
        std::array::from_fn(|lane| a[lane] ^ b[lane])
    }

    fn not(&self, a: &Bundle<bool>) -> Bundle<bool> {
        a.map(|bit| !bit)
    }

    fn and(&mut self, a: &Bundle<bool>, b: &Bundle<bool>) -> Bundle<bool> {
        self.and_gates += self.lanes;
        std::array::from_fn(|lane| a[lane] & b[lane])
    }
}

impl TwoPartyCircuit for Clear {
    fn prepare(&mut self, _: usize, _: &mut dyn Channel) -> Result<(), MpcError> {
        Ok(())
    }

    fn finish_gates(&mut self, _: &mut dyn Channel) -> Result<(), MpcError> {
        Ok(())
    }
}
