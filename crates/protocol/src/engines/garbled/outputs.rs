//! Turns a matrix's number into the output: adds hidden lengths, reduces a threshold to one bit, and keeps the bits that a
//! score needs. Both parties run the same circuit.

use super::schedule::{Schedule, ScheduledPair};
use crate::engines::alignment::answers::threshold_test;
use crate::engines::alignment::length_terms::{LengthTerms, ThresholdTest};
use crate::{Job, ProtocolError, Reveal};
use veilpath_channel::Channel;
use veilpath_mpc::circuit::Party;
use veilpath_mpc::circuit::numbers::bits_for;
use veilpath_mpc::circuit::reduce::{Number, Operation, Pair, pairwise, public_number};
use veilpath_mpc::circuit::tables::entries;

/// Adds both sides' length terms; `host_terms` and `join_terms` have `width` wires for each number.
pub(super) fn add_length_terms<P: Party>(
    party: &mut P,
    channel: &mut dyn Channel,
    length_terms: &LengthTerms,
    mut numbers: Vec<Number<P::Label>>,
    host_terms: &[P::Label],
    join_terms: &[P::Label],
) -> Result<Vec<Number<P::Label>>, ProtocolError> {
    let width = length_terms.width;
    if length_terms.doubled {
        let zero = party.constant(false);
        for number in &mut numbers {
            number.insert(0, zero);
        }
    }
    let terms: Vec<Pair<'_, P::Label>> = host_terms
        .chunks_exact(width)
        .zip(join_terms.chunks_exact(width))
        .collect();
    let mut lengths = pairwise(party, channel, Operation::Add, &terms)?;
    modulo(&mut lengths, width);
    let operation = if length_terms.subtract {
        Operation::Subtract
    } else {
        Operation::Add
    };
    let both: Vec<Pair<'_, P::Label>> = lengths
        .iter()
        .zip(&numbers)
        .map(|(length, number)| (&length[..], &number[..]))
        .collect();
    let mut adjusted = pairwise(party, channel, operation, &both)?;
    modulo(&mut adjusted, width);
    Ok(adjusted)
}

/// With a threshold, replaces each number by one bit; otherwise keeps the bits in which results of this pair can differ.
pub(super) fn reduce_to_output<P: Party>(
    party: &mut P,
    channel: &mut dyn Channel,
    schedule: &Schedule,
    job: &Job<'_>,
    pairs: &[ScheduledPair],
    mut numbers: Vec<Number<P::Label>>,
) -> Result<Vec<Number<P::Label>>, ProtocolError> {
    if let (Reveal::Group(_), Some(distances)) = (job.reveal, schedule.scoring.distances()) {
        let width = schedule.scoring.full_bits(0, 0);
        return Ok(entries(party, channel, distances, &numbers, width)?);
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
    let limits: Vec<Number<P::Label>> = tests
        .iter()
        .map(|test| public_number(party, test.at_least, bits_for(test.at_least)))
        .collect();
    let both: Vec<Pair<'_, P::Label>> = numbers
        .iter()
        .zip(&limits)
        .map(|(number, limit)| (&number[..], &limit[..]))
        .collect();
    Ok(pairwise(party, channel, Operation::AtLeast, &both)?)
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
