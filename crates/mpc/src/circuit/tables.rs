//! Public tables, read at a secret index: for example, the distance with a given rank.

use super::reduce::Number;
use super::{Bundle, LANES, TwoPartyCircuit};
use crate::error::MpcError;
use veilpath_channel::Channel;
use zeroize::{Zeroize, Zeroizing};

/// The entry of a public table at each secret index. An index beyond the table gives 0 if it has
/// no more bits than the length of the table; higher bits are ignored.
///
/// An index of w bits costs 2^w − w − 1 gates, for entries of any width: one for each product of two or more index
/// bits. Every bit of the entry is the XOR of some products (its algebraic normal form).
pub fn entries<C: TwoPartyCircuit>(
    circuit: &mut C,
    channel: &mut dyn Channel,
    table: &[u64],
    indices: &[Number<C::Label>],
    width: usize,
) -> Result<Vec<Number<C::Label>>, MpcError> {
    let longest = indices.iter().map(|index| index.len()).max().unwrap_or(0);
    let bits = longest.min((usize::BITS - table.len().leading_zeros()) as usize);
    // The coefficient of each product.
    let mut coefficients: Vec<u64> = (0..1 << bits)
        .map(|index| table.get(index).copied().unwrap_or(0))
        .collect();
    for bit in 0..bits {
        for index in (0..coefficients.len()).filter(|index| index >> bit & 1 == 1) {
            coefficients[index] ^= coefficients[index ^ 1 << bit];
        }
    }
    let zero = circuit.constant(false);
    let mut results = Vec::with_capacity(indices.len());
    for chunk in indices.chunks(LANES) {
        circuit.prepare(chunk.len() * (coefficients.len() - bits - 1), channel)?;
        circuit.set_lanes(chunk.len());
        let bundle = |bit: usize| -> Bundle<C::Label> {
            std::array::from_fn(|lane| {
                let index = chunk.get(lane);
                *index.and_then(|index| index.get(bit)).unwrap_or(&zero)
            })
        };
        let products = products(circuit, bits, bundle);
        circuit.finish_gates(channel)?;
        let entry: Zeroizing<Vec<Bundle<C::Label>>> = Zeroizing::new(
            (0..width)
                .map(|bit| {
                    let used = coefficients.iter().zip(products.iter());
                    let used = used.filter(|(entry, _)| bit < 64 && **entry >> bit & 1 == 1);
                    let none = circuit.constants(false);
                    used.fold(none, |sum, (_, product)| circuit.xor(&sum, product))
                })
                .collect(),
        );
        let number = |lane: usize| Number::new(entry.iter().map(|wire| wire[lane]).collect());
        results.extend((0..chunk.len()).map(number));
    }
    Ok(results)
}

/// The products of all subsets of bits. The binary digits of a product's position say which bits it contains.
fn products<C: TwoPartyCircuit>(
    circuit: &mut C,
    bits: usize,
    bundle: impl Fn(usize) -> Bundle<C::Label>,
) -> Zeroizing<Vec<Bundle<C::Label>>>
where
    C::Label: Zeroize,
{
    let mut products = Zeroizing::new(Vec::with_capacity(1 << bits));
    products.push(circuit.constants(true));
    for bit in 0..bits {
        let factor = bundle(bit);
        products.push(factor);
        for set in 1..1 << bit {
            let product = circuit.and(&products[set], &factor);
            products.push(product);
        }
    }
    products
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::Clear;
    use veilpath_channel::memory_pair;

    #[test]
    fn every_index_has_its_entry() {
        for (count, bits) in [(1, 1), (2, 1), (3, 2), (27, 5), (32, 5), (27, 6)] {
            let table: Vec<u64> = (0..count).map(|at| (at * at * 977 + 3) % 8192).collect();
            let index = |at: u64| Number::new((0..bits).map(|bit| at >> bit & 1 == 1).collect());
            let indices: Vec<_> = (0..1 << bits).map(index).collect();
            let (mut channel, _peer) = memory_pair();
            let mut clear = Clear::new();
            let got = entries(&mut clear, &mut channel, &table, &indices, 13).unwrap();
            let value = |number: &Number<bool>| {
                let bits = number.iter().rev();
                bits.fold(0, |sum, bit| sum * 2 + u64::from(*bit))
            };
            for (at, entry) in table.iter().enumerate() {
                assert_eq!(value(&got[at]), *entry, "{at} of {count}");
            }
            let max_gates = indices.len() * ((1 << bits) - bits - 1);
            assert!(clear.and_gates() <= max_gates);
        }
    }
}
