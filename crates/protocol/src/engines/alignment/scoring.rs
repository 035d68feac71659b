//! Which circuit computes a metric, and how its output becomes the raw result.
//!
//! All of this follows from the agreed metric and the lengths, so both sides compute the same. Costs are first
//! divided by their common divisor: the width of a matrix cell, and with it its whole cost, depends on their size.
//!
//! With hidden lengths every scanpath ends in letters of padding, one letter more than the alphabet has. Padding
//! against anything costs as much as a deletion and an insertion. (In a local alignment its score is so low that it
//! is never used.) So it changes no difference between neighbouring cells, and the sum of the last row is the same as
//! without padding.

use super::entries::{Entries, gcd};
use super::settling::{Settling, Test};
use crate::{Job, JobError, ProtocolError};
use std::ops::RangeInclusive;
use veilpath_metrics::{Bound, Model, ScoreFormula};
use veilpath_mpc::alignment::Fold;
use veilpath_mpc::circuit::cells::{
    Cell, ClippedCell, DifferenceCell, LocalCell, SavingCell, UnitCell,
};
use veilpath_mpc::circuit::numbers::bits_for;
use veilpath_mpc::shares;

/// A metric as a circuit.
#[derive(Clone, Debug)]
pub(crate) struct Scoring {
    kind: Kind,
    /// The divisor of all costs.
    divisor: u64,
    alphabet: u32,
    padding: Option<Padding>,
}

/// Costs and scores are divided by the common divisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Gaps of 1, substitutions of 0 or 1.
    Unit,
    /// Gaps of 1, substitutions of 0, 1 or 2.
    Clipped,
    /// Any global alignment.
    Difference { insert: u64, delete: u64 },
    /// A local alignment; `best` is the largest score of two letters.
    Local { gap: u64, best: u64 },
}

/// Hidden lengths.
#[derive(Clone, Copy, Debug)]
struct Padding {
    /// The padded length of every scanpath.
    length: u32,
    /// What each letter adds to a maximised score, divided like the costs; `None` if the result is a cost.
    reward: Option<u64>,
}

/// The cell of some comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engines) enum Circuit {
    Unit(UnitCell),
    Clipped(ClippedCell),
    Difference(DifferenceCell),
    Saving(SavingCell),
    Local(LocalCell),
}

/// A metric on shares.
pub(in crate::engines) struct OnShares {
    pub(in crate::engines) cell: shares::Cell,
    /// The circuit with the same inputs.
    pub(in crate::engines) inputs: Circuit,
    /// Whether the number is 2 for each column minus the result.
    pub(in crate::engines) from_two_per_column: bool,
}

impl Scoring {
    /// The scoring of a job.
    pub(crate) fn of(job: &Job<'_>) -> Self {
        Self::new(
            job.comparison.model(),
            job.comparison.alphabet().size(),
            job.pad_to.and_then(|length| u32::try_from(length).ok()),
        )
    }

    pub(crate) fn new(model: &Model, alphabet: u32, padding: Option<u32>) -> Self {
        let entries = Entries::new(model, alphabet);
        let reward = match model {
            Model::Global(global) => match global.formula {
                ScoreFormula::Reward { per_letter, .. } => Some(u64::from(per_letter)),
                _ => None,
            },
            _ => None,
        };
        let (kind, divisor) = match model {
            Model::Global(costs) => {
                let (insert, delete) = (u64::from(costs.insert), u64::from(costs.delete));
                // If rewards are added inside the circuit, they are divided as well.
                let rewards = padding.and(reward).unwrap_or(0);
                let of_gaps = gcd(rewards, gcd(insert, delete));
                let divisor = entries.divisor(of_gaps, insert + delete);
                let (insert, delete) = (insert / divisor, delete / divisor);
                let largest = entries.largest(insert + delete, divisor);
                let kind = match (insert, delete) {
                    (1, 1) if largest <= 1 && padding.is_none() => Kind::Unit,
                    (1, 1) => Kind::Clipped,
                    _ => Kind::Difference { insert, delete },
                };
                (kind, divisor)
            }
            Model::Local(local) => {
                let gap = u64::from(local.gap);
                let divisor = entries.divisor(gap, 2 * gap);
                let best = local.scores.largest().max(0).unsigned_abs();
                let kind = Kind::Local {
                    gap: gap / divisor,
                    best: u64::from(best) / divisor,
                };
                (kind, divisor)
            }
            // Refused before anything is computed: `Engine::can_compute`.
            _ => (Kind::Unit, 1),
        };
        Self {
            kind,
            divisor,
            alphabet,
            padding: padding.map(|length| Padding {
                length,
                reward: reward.map(|reward| reward / divisor),
            }),
        }
    }

    /// Letters that the evaluator may have, including padding.
    pub(in crate::engines) fn letters(&self) -> usize {
        self.alphabet as usize + usize::from(self.padding.is_some())
    }

    /// The letter of padding, which is not in the alphabet.
    pub(in crate::engines) fn padding_letter(&self) -> usize {
        self.alphabet as usize
    }

    pub(in crate::engines) fn divisor(&self) -> u64 {
        self.divisor
    }

    /// The circuit for matrices whose smaller side has at most this length.
    pub(in crate::engines) fn circuit(&self, shorter: u32) -> Circuit {
        match self.kind {
            Kind::Unit => Circuit::Unit(UnitCell),
            Kind::Clipped => Circuit::Clipped(ClippedCell),
            Kind::Difference { insert, delete } if is_wide(insert + delete) => {
                Circuit::Saving(SavingCell::new(insert + delete))
            }
            Kind::Difference { insert, delete } => {
                Circuit::Difference(DifferenceCell::new(insert + delete))
            }
            Kind::Local { gap, best } => {
                let largest = u64::from(shorter) * best;
                Circuit::Local(LocalCell::new(largest, best, gap))
            }
        }
    }

    /// The recurrence on shares for matrices whose smaller side has at most this length, and the circuit with the same inputs.
    pub(in crate::engines) fn on_shares(&self, shorter: u32) -> OnShares {
        let difference = |sum: u64| {
            let cell = shares::Cell::Difference {
                insertion_and_deletion: sum,
            };
            (cell, Circuit::Difference(DifferenceCell::new(sum)))
        };
        let (cell, inputs) = match self.kind {
            Kind::Unit => (shares::Cell::Unit, Circuit::Unit(UnitCell)),
            Kind::Clipped => difference(2),
            Kind::Difference { insert, delete } => difference(insert + delete),
            Kind::Local { gap, best } => {
                let largest = u64::from(shorter) * best;
                let gap = gap.min(largest);
                let cell = shares::Cell::Local {
                    largest,
                    largest_entry: best.saturating_add(gap.saturating_mul(2)),
                    gap,
                };
                (cell, Circuit::Local(LocalCell::new(largest, best, gap)))
            }
        };
        OnShares {
            cell,
            inputs,
            // Its numbers count what is spent, those of the recurrence on shares what is saved.
            from_two_per_column: self.kind == Kind::Clipped,
        }
    }

    /// How the columns of a matrix become one number.
    pub(in crate::engines) fn fold(&self) -> Fold {
        match self.kind {
            Kind::Local { .. } => Fold::Max,
            Kind::Difference { insert, delete } if is_wide(insert + delete) => Fold::Unwrap,
            _ => Fold::Sum,
        }
    }

    /// The numbers that matrices of this shape can have.
    fn numbers(&self, rows: u32, columns: u32) -> RangeInclusive<u64> {
        let (rows, columns) = (u64::from(rows), u64::from(columns));
        let shorter = rows.min(columns);
        // Letters of the evaluator that must be inserted: 2 for each is in the sum.
        let inserted = 2 * columns.saturating_sub(rows);
        match self.kind {
            Kind::Unit => inserted..=inserted + shorter,
            Kind::Clipped => inserted..=2 * columns,
            Kind::Difference { insert, delete } => 0..=shorter.saturating_mul(insert + delete),
            Kind::Local { best, .. } => 0..=shorter.saturating_mul(best),
        }
    }

    /// The most that the numbers of matrices with one more letter of the shorter side can differ by.
    pub(in crate::engines) fn most_per_letter(&self) -> u64 {
        match self.kind {
            Kind::Unit => 1,
            Kind::Clipped => 2,
            Kind::Difference { insert, delete } => insert + delete,
            Kind::Local { best, .. } => best,
        }
    }

    /// The most bits of an output that are opened. With hidden lengths all outputs are as wide as the longest needs.
    pub(in crate::engines) fn opened_bits(&self, rows: u32, columns: u32) -> usize {
        match (self.padding, self.settling()) {
            (None, _) => self.output_bits(rows, columns),
            (Some(_), Some(settling)) => settling.width,
            (Some(padding), None) => self.circuit(padding.length).result_wires(),
        }
    }

    /// Bits of the output for a matrix of this shape. The lowest ones tell possible numbers apart, and no others are opened: a
    /// side that makes the circuit compute something else learns no more bits than a result of this pair has.
    pub(in crate::engines) fn output_bits(&self, rows: u32, columns: u32) -> usize {
        let numbers = self.numbers(rows, columns);
        bits_for(numbers.end() - numbers.start())
    }

    /// The raw result for an output; `None` if no matrix of this shape has such a result.
    pub(in crate::engines) fn raw(&self, output: u64, rows: u32, columns: u32) -> Option<i64> {
        let (least, most) = self.numbers(rows, columns).into_inner();
        let bits = self.output_bits(rows, columns);
        let mask = u64::MAX >> (u64::BITS as usize - bits.min(64));
        if output & !mask != 0 {
            return None;
        }
        let number = least.checked_add(output.wrapping_sub(least) & mask)?;
        if number > most {
            return None;
        }
        let (rows, columns, number) = (rows.into(), columns.into(), i128::from(number));
        let value = match self.kind {
            Kind::Unit | Kind::Clipped => rows - columns + number,
            Kind::Difference { .. } => self.gaps(rows, columns) - number,
            Kind::Local { .. } => number,
        };
        i64::try_from(value * i128::from(self.divisor)).ok()
    }

    /// The raw result as a linear function of the number of a matrix: a constant, and what the number is multiplied with. With hidden
    /// lengths the number has been settled.
    pub(crate) fn linear(&self, rows: u32, columns: u32) -> Result<[i64; 2], ProtocolError> {
        let (rows, columns) = (i128::from(rows), i128::from(columns));
        let (constant, factor) = match (self.padding, self.kind) {
            (Some(_), _) => {
                let offset = self.settling().map_or(0, |settling| settling.offset);
                (-offset, 1)
            }
            (None, Kind::Unit | Kind::Clipped) => (rows - columns, 1),
            (None, Kind::Difference { .. }) => (self.gaps(rows, columns), -1),
            (None, Kind::Local { .. }) => (0, 1),
        };
        let scaled = |number: i128| {
            let number = number * i128::from(self.divisor);
            i64::try_from(number).map_err(|_| ProtocolError::Job(JobError::CostsTooLarge))
        };
        Ok([scaled(constant)?, scaled(factor)?])
    }

    /// Bits of the number of a matrix of this shape, if nothing of it is cut off.
    pub(crate) fn whole_bits(&self, rows: u32, columns: u32) -> usize {
        match self.padding {
            Some(_) => self.opened_bits(rows, columns),
            None => bits_for(*self.numbers(rows, columns).end()),
        }
    }

    /// The raw result of a pair without cells.
    pub(crate) fn without_cells(&self, rows: u32, columns: u32) -> Result<i64, ProtocolError> {
        let number = *self.numbers(rows, columns).start();
        let mask = (1 << self.output_bits(rows, columns)) - 1;
        self.raw(number & mask, rows, columns)
            .ok_or(ProtocolError::Job(JobError::CostsTooLarge))
    }

    /// The bit of a number that says whether the raw result is within a bound.
    pub(in crate::engines) fn test(&self, bound: Bound, rows: u32, columns: u32) -> Test {
        let (rows, columns) = (i128::from(rows), i128::from(columns));
        match (self.kind, self.divided(bound)) {
            (Kind::Unit | Kind::Clipped, Bound::AtMost(most)) => {
                Test::at_most(i128::from(most) - rows + columns)
            }
            (Kind::Difference { .. }, Bound::AtMost(most)) => {
                Test::at_least(self.gaps(rows, columns) - i128::from(most))
            }
            (Kind::Local { .. }, Bound::AtMost(most)) => Test::at_most(most.into()),
            (_, Bound::AtLeast(least)) => Test::at_least(least.into()),
        }
    }

    /// How hidden lengths enter the result; local scores do not depend on them.
    pub(in crate::engines) fn settling(&self) -> Option<Settling> {
        let padding = self.padding?;
        let (insert, delete, constant, largest) = match self.kind {
            Kind::Local { .. } => return None,
            // The sum Σ of the padded matrix is 2·L minus what the letters save, and so is the sum of all gaps.
            Kind::Unit | Kind::Clipped => (1, 1, -2 * i128::from(padding.length), 2),
            Kind::Difference { insert, delete } => {
                (i128::from(insert), i128::from(delete), 0, insert + delete)
            }
        };
        let subtract_from_gaps = matches!(self.kind, Kind::Difference { .. });
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
        Some(Settling {
            width: bits_for(u64::try_from(2 * offset).unwrap_or(u64::MAX)),
            subtract,
            per_host_letter,
            per_join_letter,
            constant,
            offset,
        })
    }

    /// The settled result for a number: the user's score is computed from it if lengths are hidden.
    pub(in crate::engines) fn settled(&self, number: u64) -> Option<i64> {
        match self.settling() {
            Some(settling) => {
                let value = i128::from(number) - settling.offset;
                self.within(value, -settling.offset, settling.offset)
            }
            None => {
                let length = self.padding.map_or(0, |padding| padding.length);
                self.raw(number, length, length)
            }
        }
    }

    /// The bit of a settled number that says whether it is within a bound.
    pub(in crate::engines) fn settled_test(&self, bound: Bound) -> Test {
        let offset = self.settling().map_or(0, |settling| settling.offset);
        match self.divided(bound) {
            Bound::AtMost(most) => Test::at_most(i128::from(most) + offset),
            Bound::AtLeast(least) => Test::at_least(i128::from(least) + offset),
        }
    }

    fn gaps(&self, rows: i128, columns: i128) -> i128 {
        match self.kind {
            Kind::Difference { insert, delete } => {
                rows * i128::from(delete) + columns * i128::from(insert)
            }
            _ => rows + columns,
        }
    }

    /// The bound after division: a multiple of the divisor is within it if and only if the quotient is.
    fn divided(&self, bound: Bound) -> Bound {
        let divisor = i64::try_from(self.divisor).unwrap_or(i64::MAX);
        match bound {
            Bound::AtMost(most) => Bound::AtMost(most.div_euclid(divisor)),
            Bound::AtLeast(least) => Bound::AtLeast(-(-least).div_euclid(divisor)),
        }
    }

    fn within(&self, value: i128, least: i128, most: i128) -> Option<i64> {
        if !(least..=most).contains(&value) {
            return None;
        }
        i64::try_from(value * i128::from(self.divisor)).ok()
    }
}

/// Whether 5·w + 2 gates are fewer than 6·w − 2, where an insertion and a deletion take w bits together.
fn is_wide(insertion_and_deletion: u64) -> bool {
    bits_for(insertion_and_deletion) >= 5
}

impl Circuit {
    /// AND gates of a cell.
    pub(in crate::engines) fn and_gates(&self) -> u64 {
        let gates = match self {
            Circuit::Unit(cell) => cell.and_gates(),
            Circuit::Clipped(cell) => cell.and_gates(),
            Circuit::Difference(cell) => cell.and_gates(),
            Circuit::Saving(cell) => cell.and_gates(),
            Circuit::Local(cell) => cell.and_gates(),
        };
        gates as u64
    }

    /// Wires of a column's result.
    pub(super) fn result_wires(&self) -> usize {
        match self {
            Circuit::Unit(cell) => cell.result_wires(),
            Circuit::Clipped(cell) => cell.result_wires(),
            Circuit::Difference(cell) => cell.result_wires(),
            Circuit::Saving(cell) => cell.result_wires(),
            Circuit::Local(cell) => cell.result_wires(),
        }
    }

    /// Input wires of a cell.
    pub(in crate::engines) fn input_wires(&self) -> u64 {
        let wires = match self {
            Circuit::Unit(cell) => cell.input_wires(),
            Circuit::Clipped(cell) => cell.input_wires(),
            Circuit::Difference(cell) => cell.input_wires(),
            Circuit::Saving(cell) => cell.input_wires(),
            Circuit::Local(cell) => cell.input_wires(),
        };
        wires as u64
    }
}
