//! Turns a matrix's number into the output: adds hidden lengths, reduces a threshold to one bit, and keeps the bits that a
//! score needs. Both parties run the same circuit.

use super::schedule::{Schedule, ScheduledPair};
use crate::engines::alignment::answers::threshold_test;
use crate::engines::alignment::length_terms::{LengthTerms, ThresholdTest};
use crate::{Job, ProtocolError, Reveal};
use veilpath_channel::Channel;
use veilpath_mpc::circuit::TwoPartyCircuit;
use veilpath_mpc::circuit::numbers::bits_for;
use veilpath_mpc::circuit::reduce::{Number, Operation, Pair, pairwise, public_number};
use veilpath_mpc::circuit::tables::entries;

/// Adds both sides' length terms; `host_terms` and `join_terms` have `width` wires for each number.
pub(super) fn add_length_terms<C: TwoPartyCircuit>(
    circuit: &mut C,
    channel: &mut dyn Channel,
    length_terms: &LengthTerms,
    mut numbers: Vec<Number<C::Label>>,
    host_terms: &[C::Label],
    join_terms: &[C::Label],
) -> Result<Vec<Number<C::Label>>, ProtocolError> {
    let width = length_terms.width;
    if length_terms.doubled {
        let zero = circuit.constant(false);
        for number in &mut numbers {
            // Allocated at full size: growing would leave copies in freed memory.
            let mut doubled = Number::new(Vec::with_capacity(number.len() + 1));
            doubled.push(zero);
            doubled.extend_from_slice(number);
            *number = doubled;
        }
    }
    let terms: Vec<Pair<'_, C::Label>> = host_terms
        .chunks_exact(width)
        .zip(join_terms.chunks_exact(width))
        .collect();
    let mut lengths = pairwise(circuit, channel, Operation::Add, &terms)?;
    modulo(&mut lengths, width);
    let operation = if length_terms.subtract {
        Operation::Subtract
    } else {
        Operation::Add
    };
    let both: Vec<Pair<'_, C::Label>> = lengths
        .iter()
        .zip(&numbers)
        .map(|(length, number)| (&length[..], &number[..]))
        .collect();
    let mut adjusted = pairwise(circuit, channel, operation, &both)?;
    modulo(&mut adjusted, width);
    Ok(adjusted)
}

/// With a threshold, replaces each number by one bit; otherwise keeps the bits in which results of this pair can differ.
pub(super) fn reduce_to_output<C: TwoPartyCircuit>(
    circuit: &mut C,
    channel: &mut dyn Channel,
    schedule: &Schedule,
    job: &Job<'_>,
    pairs: &[ScheduledPair],
    mut numbers: Vec<Number<C::Label>>,
) -> Result<Vec<Number<C::Label>>, ProtocolError> {
    if let (Reveal::Group(_), Some(distances)) = (job.reveal, schedule.scoring.distances()) {
        let width = schedule.scoring.full_bits(0, 0);
        return Ok(entries(circuit, channel, distances, &numbers, width)?);
    }
    let Reveal::Threshold(threshold) = job.reveal else {
        // With hidden lengths, all pairs look the same, and so do their outputs.
        for (number, pair) in numbers.iter_mut().zip(pairs) {
            let (rows, columns) = schedule.lengths(job, pair.pair);
            let scoring = &schedule.scoring;
            number.truncate(match job.reveal {
                Reveal::Group(_) => scoring.full_bits(rows, columns),
                _ => scoring.opened_bits(rows, columns),
            });
        }
        return Ok(numbers);
    };
    let tests = pairs
        .iter()
        .map(|pair| {
            let lengths = schedule.lengths(job, pair.pair);
            threshold_test(&schedule.scoring, job, lengths, threshold)
        })
        .collect::<Result<Vec<ThresholdTest>, _>>()?;
    let limits: Vec<Number<C::Label>> = tests
        .iter()
        .map(|test| public_number(circuit, test.at_least, bits_for(test.at_least)))
        .collect();
    let both: Vec<Pair<'_, C::Label>> = numbers
        .iter()
        .zip(&limits)
        .map(|(number, limit)| (&number[..], &limit[..]))
        .collect();
    Ok(pairwise(circuit, channel, Operation::AtLeast, &both)?)
}

/// The lowest bits of a number.
pub(super) fn bits_of(number: u64, width: usize) -> impl Iterator<Item = bool> {
    (0..width).map(move |bit| bit < 64 && number >> bit & 1 == 1)
}

fn modulo<L: zeroize::Zeroize>(numbers: &mut [Number<L>], width: usize) {
    for number in numbers {
        number.truncate(width);
    }
}
