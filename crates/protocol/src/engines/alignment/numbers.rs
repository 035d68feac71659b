//! Turns a matrix's number (what its columns are folded into) into the raw result. Both have ranges that are known in advance.

use super::length_terms::{LengthTerms, ThresholdTest};
use super::private_metric::{MAX_LOOKUP_LENGTH, MaxLengths, PrivateMetric, RecurrenceKind, shape};
use crate::limit::AnswerSize;
use crate::{JobError, ProtocolError};
use std::ops::RangeInclusive;
use veilpath_metrics::Bound;
use veilpath_mpc::circuit::numbers::bits_for;
use veilpath_mpc::circuit::recurrence::RecurrenceOutput;

/// Raw results are not negative, and have 64 bits with the sign.
const MAX_OUTPUT_BITS: usize = 63;

impl PrivateMetric {
    /// The possible numbers of a matrix of this shape.
    fn numbers(&self, rows: u32, columns: u32) -> RangeInclusive<u64> {
        let shape = shape(rows, columns);
        let (rows, columns) = (u64::from(rows), u64::from(columns));
        let shorter = rows.min(columns);
        // Each of the evaluator's letters that must be inserted adds 2 to the sum.
        let inserted = 2 * columns.saturating_sub(rows);
        match self.kind {
            RecurrenceKind::Unit => inserted..=inserted + shorter,
            RecurrenceKind::Clipped => inserted..=2 * columns,
            RecurrenceKind::Difference { insert, delete } => {
                0..=shorter.saturating_mul(insert + delete)
            }
            RecurrenceKind::Local { best, .. } => 0..=shorter.saturating_mul(best),
            RecurrenceKind::Reward { largest } => 0..=(rows + columns).saturating_mul(largest),
            RecurrenceKind::Warping { largest } => 0..=rows.max(columns).saturating_mul(largest),
            RecurrenceKind::Frechet { largest } | RecurrenceKind::Hausdorff { largest } => {
                0..=largest
            }
            RecurrenceKind::CrossRecurrence(outputs) => {
                let bits: usize = outputs.iter().map(|output| output.bits(shape)).sum();
                0..=u64::MAX >> (64 - bits.clamp(1, 64))
            }
        }
    }

    /// The largest number of output bits that are opened. With hidden lengths, all outputs are as wide as the longest
    /// scanpaths need.
    pub(in crate::engines) fn opened_bits(&self, rows: u32, columns: u32) -> usize {
        match (self.padding, self.length_terms()) {
            (None, _) => self.output_bits(rows, columns),
            (Some(_), Some(length_terms)) => length_terms.width,
            (Some(padding), None) => match self.kind {
                RecurrenceKind::Local { .. } => {
                    let max_lengths = MaxLengths::of(padding.length, padding.length);
                    self.circuit(max_lengths).result_wires()
                }
                _ => self.output_bits(padding.length, padding.length),
            },
        }
    }

    /// Fails if the numbers of a pair with these lengths do not fit an output. This must be known before the computation:
    /// later, whether a number fits would depend on letters.
    pub(in crate::engines) fn check_output(&self, host: u32, join: u32) -> Result<(), JobError> {
        match self.output_bits(host, join) {
            0..=MAX_OUTPUT_BITS => Ok(()),
            _ => Err(JobError::TooManyNumbers { host, join }),
        }
    }

    /// Output bits for a matrix of this shape. Only the lowest bits, which tell possible numbers apart, are opened. So a side
    /// that makes the circuit compute something else learns no more bits than a result of this pair has.
    pub(in crate::engines) fn output_bits(&self, rows: u32, columns: u32) -> usize {
        let numbers = self.numbers(rows, columns);
        bits_for(numbers.end() - numbers.start())
    }

    /// The raw result for an output; `None` if no matrix of this shape has such a result.
    pub(in crate::engines) fn raw(&self, output: u64, rows: u32, columns: u32) -> Option<i64> {
        let (smallest, largest) = self.numbers(rows, columns).into_inner();
        let bits = self.output_bits(rows, columns);
        let mask = u64::MAX >> (u64::BITS as usize - bits.min(64));
        if output & !mask != 0 {
            return None;
        }
        let number = smallest.checked_add(output.wrapping_sub(smallest) & mask)?;
        if number > largest {
            return None;
        }
        if let RecurrenceKind::CrossRecurrence(outputs) = self.kind
            && !outputs.accept(number, shape(rows, columns))
        {
            return None;
        }
        let (rows, columns, number) = (rows.into(), columns.into(), i128::from(number));
        let value = match self.kind {
            RecurrenceKind::Unit | RecurrenceKind::Clipped => rows - columns + number,
            RecurrenceKind::Difference { .. } => self.gaps(rows, columns) - number,
            _ => number,
        };
        i64::try_from(value * i128::from(self.divisor)).ok()
    }

    /// The raw result as a linear function of a matrix's number: a constant, and the number's factor. With hidden
    /// lengths, the number is the adjusted one.
    pub(crate) fn linear(&self, rows: u32, columns: u32) -> Result<[i64; 2], ProtocolError> {
        let (rows, columns) = (i128::from(rows), i128::from(columns));
        let (constant, factor) = match (self.padding, self.kind) {
            (Some(_), _) => {
                let offset = self
                    .length_terms()
                    .map_or(0, |length_terms| length_terms.offset);
                (-offset, 1)
            }
            (None, RecurrenceKind::Unit | RecurrenceKind::Clipped) => (rows - columns, 1),
            (None, RecurrenceKind::Difference { .. }) => (self.gaps(rows, columns), -1),
            // Ranks have already become distances.
            (None, _) => (0, 1),
        };
        let scaled = |number: i128| {
            let number = number * i128::from(self.divisor);
            i64::try_from(number).map_err(|_| ProtocolError::Job(JobError::CostsTooLarge))
        };
        Ok([scaled(constant)?, scaled(factor)?])
    }

    /// The full width of the number of a matrix of this shape.
    pub(crate) fn full_bits(&self, rows: u32, columns: u32) -> usize {
        if let Some(largest) = self.distances.iter().max() {
            return bits_for(*largest);
        }
        match self.padding {
            Some(_) => self.opened_bits(rows, columns),
            None => bits_for(*self.numbers(rows, columns).end()),
        }
    }

    /// The raw result of a pair without cells.
    pub(crate) fn empty_matrix_result(
        &self,
        rows: u32,
        columns: u32,
    ) -> Result<i64, ProtocolError> {
        let number = *self.numbers(rows, columns).start();
        let mask = (1 << self.output_bits(rows, columns)) - 1;
        self.raw(number & mask, rows, columns)
            .ok_or(ProtocolError::Job(JobError::CostsTooLarge))
    }

    /// The test of a number that decides whether the raw result is within a bound.
    pub(in crate::engines) fn threshold_test(
        &self,
        bound: Bound,
        rows: u32,
        columns: u32,
    ) -> ThresholdTest {
        let (rows, columns) = (i128::from(rows), i128::from(columns));
        match (self.kind, self.divided(bound)) {
            (RecurrenceKind::Unit | RecurrenceKind::Clipped, Bound::AtMost(limit)) => {
                ThresholdTest::at_most(i128::from(limit) - rows + columns)
            }
            (RecurrenceKind::Difference { .. }, Bound::AtMost(limit)) => {
                ThresholdTest::at_least(self.gaps(rows, columns) - i128::from(limit))
            }
            (_, Bound::AtMost(limit)) => ThresholdTest::at_most(limit.into()),
            (_, Bound::AtLeast(limit)) => ThresholdTest::at_least(limit.into()),
        }
    }

    /// How values that only one side knows enter the result: durations, or hidden lengths, on which only global
    /// alignments depend.
    pub(in crate::engines) fn length_terms(&self) -> Option<LengthTerms> {
        if let RecurrenceKind::Reward { largest } = self.kind {
            let length = self
                .padding
                .map_or(MAX_LOOKUP_LENGTH, |padding| padding.length);
            return Some(LengthTerms {
                width: bits_for(largest.saturating_mul(2 * u64::from(length))),
                subtract: true,
                doubled: true,
                per_host_letter: 1,
                per_join_letter: 1,
                constant: 0,
                offset: 0,
            });
        }
        let padding = self.padding?;
        let (insert, delete, constant, largest) = match self.kind {
            RecurrenceKind::Local { .. }
            | RecurrenceKind::Reward { .. }
            | RecurrenceKind::Warping { .. }
            | RecurrenceKind::Frechet { .. }
            | RecurrenceKind::Hausdorff { .. }
            | RecurrenceKind::CrossRecurrence(_) => return None,
            // For padded length L, the matrix sum Σ is 2·L minus the letters' savings; the unpadded cost is m + n minus
            // the same.
            RecurrenceKind::Unit | RecurrenceKind::Clipped => {
                (1, 1, -2 * i128::from(padding.length), 2)
            }
            RecurrenceKind::Difference { insert, delete } => {
                (i128::from(insert), i128::from(delete), 0, insert + delete)
            }
        };
        let subtract_from_gaps = matches!(self.kind, RecurrenceKind::Difference { .. });
        let length = i128::from(padding.length);
        let (per_host_letter, per_join_letter, constant, subtract) = match padding.reward {
            None => (delete, insert, constant, subtract_from_gaps),
            Some(reward) => {
                let reward = i128::from(reward);
                (
                    reward - delete,
                    reward - insert,
                    -constant,
                    !subtract_from_gaps,
                )
            }
        };
        let offset = (per_host_letter.abs() + per_join_letter.abs()) * length
            + constant.abs()
            + i128::from(largest) * length;
        Some(LengthTerms {
            width: bits_for(u64::try_from(2 * offset).unwrap_or(u64::MAX)),
            subtract,
            doubled: false,
            per_host_letter,
            per_join_letter,
            constant,
            offset,
        })
    }

    /// Bits of the adjusted numbers for scanpaths up to these lengths; 0 if nothing is adjusted.
    pub(in crate::engines) fn adjusted_bits(&self, max_lengths: MaxLengths) -> usize {
        match (self.kind, self.padding) {
            (RecurrenceKind::Reward { largest }, None) => {
                let letters = u64::from(max_lengths.shorter) + u64::from(max_lengths.longer);
                bits_for(largest.saturating_mul(letters))
            }
            _ => self
                .length_terms()
                .map_or(0, |length_terms| length_terms.width),
        }
    }

    /// In group answers, the distance of each rank, if numbers are ranks. The last entry belongs to the largest
    /// rank.
    pub(crate) fn distances(&self) -> Option<&[u64]> {
        (!self.distances.is_empty()).then_some(&self.distances)
    }

    /// In group answers, the number behind a raw result: its distance, if it is a rank.
    pub(crate) fn distance_of_rank(&self, raw: i64) -> i64 {
        let rank = usize::try_from(raw).unwrap_or(usize::MAX);
        match self.distances.get(rank) {
            Some(distance) => i64::try_from(*distance).unwrap_or(i64::MAX),
            None => raw,
        }
    }

    /// The adjusted result for a number. With hidden lengths, the user's score follows from it.
    pub(in crate::engines) fn adjusted(&self, number: u64) -> Option<i64> {
        match self.length_terms() {
            Some(length_terms) if !length_terms.doubled => {
                let value = i128::from(number) - length_terms.offset;
                self.within(value, -length_terms.offset, length_terms.offset)
            }
            _ => {
                let length = self.padding.map_or(0, |padding| padding.length);
                self.raw(number, length, length)
            }
        }
    }

    /// The test of an adjusted number that decides whether it is within a bound.
    pub(in crate::engines) fn adjusted_threshold_test(&self, bound: Bound) -> ThresholdTest {
        let offset = self
            .length_terms()
            .map_or(0, |length_terms| length_terms.offset);
        match self.divided(bound) {
            Bound::AtMost(limit) => ThresholdTest::at_most(i128::from(limit) + offset),
            Bound::AtLeast(limit) => ThresholdTest::at_least(i128::from(limit) + offset),
        }
    }

    fn gaps(&self, rows: i128, columns: i128) -> i128 {
        match self.kind {
            RecurrenceKind::Difference { insert, delete } => {
                rows * i128::from(delete) + columns * i128::from(insert)
            }
            _ => rows + columns,
        }
    }

    /// The bound after division: a multiple of the divisor is within it if and only if the quotient is.
    fn divided(&self, bound: Bound) -> Bound {
        let divisor = i64::try_from(self.divisor).unwrap_or(i64::MAX);
        match bound {
            Bound::AtMost(limit) => Bound::AtMost(limit.div_euclid(divisor)),
            Bound::AtLeast(limit) => Bound::AtLeast(-(-limit).div_euclid(divisor)),
        }
    }

    fn within(&self, value: i128, smallest: i128, largest: i128) -> Option<i64> {
        if !(smallest..=largest).contains(&value) {
            return None;
        }
        i64::try_from(value * i128::from(self.divisor)).ok()
    }

    /// Roughly how many AND gates a pair needs beyond those of its matrix cells, if there are many.
    pub(in crate::engines) fn gates_per_pair(&self, rows: u32, columns: u32) -> u64 {
        let borders = u64::from(rows) + u64::from(columns);
        match self.kind {
            // The maximum over all rows and columns.
            RecurrenceKind::Hausdorff { largest } => 2 * bits_for(largest) as u64 * borders,
            RecurrenceKind::CrossRecurrence(outputs) => {
                let points = RecurrenceOutput::Points.bits(shape(rows, columns)) as u64;
                let longer = bits_for(rows.max(columns).into()) as u64;
                let gates_for = |output: RecurrenceOutput| match output {
                    RecurrenceOutput::Points => 0,
                    // Weights of diagonals, and a longer division.
                    RecurrenceOutput::Centre => {
                        borders * longer * longer / 2 + 36 * (points + longer)
                    }
                    // The ends of lines, a product and a division.
                    _ => borders + 36 * points,
                };
                outputs.iter().map(gates_for).sum()
            }
            _ => 0,
        }
    }

    /// How much an output can reveal about a scanpath, however the other side behaves and however long its scanpaths
    /// are.
    pub(in crate::engines) fn answer_size(&self) -> AnswerSize {
        if let Some(padding) = self.padding {
            return AnswerSize::Bits(self.opened_bits(padding.length, padding.length));
        }
        match self.kind {
            // The number of inserted letters of the longer scanpath is known in advance.
            RecurrenceKind::Unit => AnswerSize::PerLetter(1),
            RecurrenceKind::Clipped => AnswerSize::PerLetter(2),
            RecurrenceKind::Difference { insert, delete } => AnswerSize::PerLetter(insert + delete),
            RecurrenceKind::Local { best, .. } => AnswerSize::PerLetter(best),
            RecurrenceKind::Warping { largest } => {
                AnswerSize::Bits(bits_for(largest.saturating_mul(MAX_LOOKUP_LENGTH.into())))
            }
            RecurrenceKind::Reward { largest } => {
                let letters = 2 * u64::from(MAX_LOOKUP_LENGTH);
                AnswerSize::Bits(bits_for(largest.saturating_mul(letters)))
            }
            RecurrenceKind::Frechet { largest } | RecurrenceKind::Hausdorff { largest } => {
                AnswerSize::Bits(bits_for(largest))
            }
            RecurrenceKind::CrossRecurrence(outputs) => {
                // Fractions of points have the same width for all shapes. The number of points grows with the matrix
                // cells per letter.
                let points = |output: &RecurrenceOutput| *output == RecurrenceOutput::Points;
                let fractions = outputs.iter().filter(|output| !points(output));
                let fraction_bits: usize = fractions.map(|output| output.bits(shape(0, 0))).sum();
                match outputs.iter().any(|output| points(&output)) {
                    false => AnswerSize::Bits(fraction_bits),
                    true => {
                        let factor = u32::try_from(fraction_bits)
                            .ok()
                            .and_then(|it| 1u64.checked_shl(it));
                        let factor = factor.unwrap_or(u64::MAX);
                        AnswerSize::PerLetter(factor.saturating_mul(MAX_LOOKUP_LENGTH.into()))
                    }
                }
            }
        }
    }
}
