//! Cross-recurrence. The number of points, the number on horizontal and vertical lines, and the centre are sums over the letters of
//! the alphabet ([`super::own_letters`]): how often one side has a letter, times what the other side counted for it. Only diagonal
//! lines need a matrix. Fractions of points are computed under secret sharing, so that only the agreed numbers are revealed.

use super::StageRun;
use super::own_letters::{OwnTable, PerLetter, Recurrences};
use crate::engines::alignment::answers::threshold_test;
use crate::engines::alignment::entries::Inputs;
use crate::engines::alignment::on_shares::{Widths, cell_bits, centre_bits, divisor_bits};
use crate::engines::alignment::private_metric::shape;
use crate::{ProtocolError, Reveal, Role};
use std::collections::BTreeMap;
use veilpath_channel::Channel;
use veilpath_mpc::circuit::numbers::bits_for;
use veilpath_mpc::circuit::recurrence::{RecurrenceOutput, RecurrenceOutputs, WHOLE};
use veilpath_mpc::shares::{MatrixInput, SharesSession};
use zeroize::Zeroizing;

/// Secret shares of one number for each pair.
type ShareList = Zeroizing<Vec<u64>>;

/// Data shared by all pairs of a portion.
struct CrossRecurrencePortion<'a, 'r> {
    run: &'a StageRun<'r>,
    pairs: &'a [usize],
    outputs: RecurrenceOutputs,
    own: BTreeMap<usize, Recurrences>,
    alphabet: usize,
    widths: Widths,
    /// Bits of divisors and quotients.
    divisor_bits: (usize, usize),
}

/// Secret shares of each pair's counts; empty if no output needs them.
#[derive(Default)]
struct Counts {
    points: ShareList,
    diagonals: ShareList,
    rows: ShareList,
    columns: ShareList,
    /// Σ (j − i + max(m, n) − 1) over all points.
    centres: ShareList,
}

impl StageRun<'_> {
    /// Computes this side's halves of the outputs of some pairs.
    pub(super) fn cross_recurrences(
        &self,
        pairs: &[usize],
        outputs: RecurrenceOutputs,
        session: &mut SharesSession,
        channel: &mut dyn Channel,
        on_cells: &dyn Fn(usize),
    ) -> Result<Vec<u64>, ProtocolError> {
        let portion = CrossRecurrencePortion::new(self, pairs, outputs);
        let counts = portion.count(session, channel, on_cells)?;
        let halves = portion.halves(&counts, session, channel)?;
        let Reveal::Threshold(threshold) = self.job.reveal else {
            return Ok(halves.to_vec());
        };
        // There is only one output: see `Spec::check`.
        let bits = pairs.iter().map(|pair| {
            let (rows, columns) = self.schedule.lengths(self.job, *pair);
            self.scoring.output_bits(rows, columns)
        });
        let bits = bits.max().unwrap_or(1);
        let mut numbers = session.additive_from_xor(&halves, bits, channel)?;
        if self.job.role == Role::Host {
            for (number, pair) in numbers.iter_mut().zip(pairs) {
                let lengths = self.schedule.lengths(self.job, *pair);
                let bound = threshold_test(self.scoring, self.job, lengths, threshold)?.at_least;
                // No number reaches 2^bits, so no number reaches a larger bound either.
                *number = number.wrapping_sub(bound.min(1 << bits));
            }
        }
        Ok(session.not_negative(&numbers, bits, channel)?.to_vec())
    }
}

impl<'a, 'r> CrossRecurrencePortion<'a, 'r> {
    fn new(run: &'a StageRun<'r>, pairs: &'a [usize], outputs: RecurrenceOutputs) -> Self {
        let StageRun { job, scoring, .. } = *run;
        let inputs = Inputs::new(scoring, job.comparison.model(), run.on_shares.circuit);
        let table = OwnTable::new(scoring, &inputs, job.role);
        let mut own = BTreeMap::new();
        for pair in pairs {
            let scanpath = run.own_scanpath(*pair);
            own.entry(scanpath).or_insert_with(|| {
                table.recurrences(&run.own_letters(scanpath), outputs.shortest() as u64)
            });
        }
        let lengths = || pairs.iter().map(|pair| run.schedule.lengths(job, *pair));
        let max_bits = |bits: &dyn Fn(u32, u32) -> usize| {
            let all = lengths().map(|(rows, columns)| bits(rows, columns));
            all.max().unwrap_or(1)
        };
        Self {
            run,
            pairs,
            outputs,
            own,
            alphabet: table.alphabet(),
            widths: Widths {
                rows: max_bits(&|rows, _| bits_for(rows.into())),
                columns: max_bits(&|_, columns| bits_for(columns.into())),
                cells: max_bits(&cell_bits),
                centres: max_bits(&centre_bits),
            },
            divisor_bits: (
                max_bits(&|rows, columns| divisor_bits(&outputs, rows, columns).0),
                divisor_bits(&outputs, 1, 1).1,
            ),
        }
    }

    fn has(&self, outputs: &[RecurrenceOutput]) -> bool {
        self.outputs.iter().any(|output| outputs.contains(&output))
    }

    /// Rows and columns of each pair.
    fn lengths(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.pairs.iter().map(|pair| {
            let (rows, columns) = self.run.schedule.lengths(self.run.job, *pair);
            (rows.into(), columns.into())
        })
    }

    /// For each pair, one number per letter of the alphabet, from this side's scanpath.
    fn own(
        &self,
        part: impl Fn(&Recurrences, (u64, u64)) -> PerLetter,
    ) -> Result<ShareList, ProtocolError> {
        let mut all = Zeroizing::new(Vec::with_capacity(self.pairs.len() * self.alphabet));
        for (pair, lengths) in self.pairs.iter().zip(self.lengths()) {
            let own = self.own.get(&self.run.own_scanpath(*pair));
            let own = own.ok_or(ProtocolError::Internal("a scanpath was left out"))?;
            all.extend_from_slice(&part(own, lengths));
        }
        Ok(all)
    }

    /// For each pair, the sum over all letters of the host's number times the joining side's.
    fn sums(
        &self,
        host: impl Fn(&Recurrences, (u64, u64)) -> PerLetter,
        join: impl Fn(&Recurrences, (u64, u64)) -> PerLetter,
        widths: Widths,
        session: &mut SharesSession,
        channel: &mut dyn Channel,
    ) -> Result<ShareList, ProtocolError> {
        let own = match self.run.job.role {
            Role::Host => self.own(host)?,
            Role::Join => self.own(join)?,
        };
        let size = widths.inner_product(self.alphabet);
        Ok(session.inner_products(&own, size, channel)?)
    }

    fn count(
        &self,
        session: &mut SharesSession,
        channel: &mut dyn Channel,
        on_cells: &dyn Fn(usize),
    ) -> Result<Counts, ProtocolError> {
        use RecurrenceOutput::{Centre, Columns, Diagonals, Rows, RowsAndColumns};
        let letter_counts = |own: &Recurrences, _: (u64, u64)| own.letter_counts.clone();
        let points = |own: &Recurrences, _: (u64, u64)| own.points.clone();
        let on_lines = |own: &Recurrences, _: (u64, u64)| own.on_lines.clone();
        let widths = self.widths;
        let mut counts = Counts {
            points: self.sums(letter_counts, points, widths, session, channel)?,
            ..Counts::default()
        };
        // Along a row, the host's letter is fixed.
        if self.has(&[Rows, RowsAndColumns]) {
            counts.rows = self.sums(letter_counts, on_lines, widths, session, channel)?;
        }
        if self.has(&[Columns, RowsAndColumns]) {
            counts.columns = self.sums(on_lines, letter_counts, widths, session, channel)?;
        }
        if self.has(&[Centre]) {
            let position_sums = |own: &Recurrences, _: (u64, u64)| own.point_position_sums.clone();
            let from_last = |own: &Recurrences, (rows, columns): (u64, u64)| {
                let last = rows.max(columns) - 1;
                let own = own.letter_counts.iter().zip(own.position_sums.iter());
                Zeroizing::new(
                    own.map(|(count, positions)| count * last - positions)
                        .collect(),
                )
            };
            let [row_widths, column_widths] = [widths.row_centres(), widths.column_centres()];
            let columns = self.sums(
                letter_counts,
                position_sums,
                column_widths,
                session,
                channel,
            )?;
            let rows = self.sums(from_last, points, row_widths, session, channel)?;
            let both = rows.iter().zip(columns.iter());
            counts.centres = Zeroizing::new(both.map(|(a, b)| a.wrapping_add(*b)).collect());
        }
        if self.has(&[Diagonals]) {
            counts.diagonals = self.diagonals(session, channel, on_cells)?;
        } else {
            let cells = self.lengths().map(|(rows, columns)| rows * columns);
            on_cells(usize::try_from(cells.sum::<u64>()).unwrap_or(usize::MAX));
        }
        Ok(counts)
    }

    fn diagonals(
        &self,
        session: &mut SharesSession,
        channel: &mut dyn Channel,
        on_cells: &dyn Fn(usize),
    ) -> Result<ShareList, ProtocolError> {
        let letters = self.run.letters;
        let letters = letters.ok_or(ProtocolError::Internal("letters have no trees"))?;
        let comparisons = self.pairs.iter().map(|pair| {
            let (host, join) = self.run.job.pairs[*pair];
            MatrixInput {
                rows: self.run.stage.letters_of(Role::Host, host),
                columns: self.run.stage.letters_of(Role::Join, join),
                term: 0,
                at_least: 0,
            }
        });
        let comparisons: Vec<MatrixInput> = comparisons.collect();
        let line = self.outputs.shortest();
        Ok(session.diagonal_runs(letters, &comparisons, line, channel, on_cells)?)
    }

    /// The halves of all outputs of each pair, packed.
    fn halves(
        &self,
        counts: &Counts,
        session: &mut SharesSession,
        channel: &mut dyn Channel,
    ) -> Result<ShareList, ProtocolError> {
        let count = self.pairs.len();
        let points = match self.has(&[RecurrenceOutput::Points]) {
            true => session.xor_from_additive(&counts.points, self.widths.cells, channel)?,
            false => ShareList::default(),
        };
        let fractions = self.fractions(counts, session, channel)?;
        let mut fractions = fractions.chunks_exact(count.max(1));
        let mut packed: ShareList = Zeroizing::new(vec![0; count]);
        let mut shifts = vec![0; count];
        for output in self.outputs.iter() {
            let halves = match output {
                RecurrenceOutput::Points => Some(&points[..]),
                _ => fractions.next(),
            };
            let halves = halves.ok_or(ProtocolError::Internal("an output was left out"))?;
            for (at, (rows, columns)) in self.lengths().enumerate() {
                let bits = output.bits(shape_of(rows, columns));
                let half = halves[at] & (u64::MAX >> (64 - bits.clamp(1, 64)));
                packed[at] |= half << shifts[at];
                shifts[at] += bits;
            }
        }
        Ok(packed)
    }

    /// The halves of the fractions of points, output by output: quotients, or the value that represents an undefined one.
    fn fractions(
        &self,
        counts: &Counts,
        session: &mut SharesSession,
        channel: &mut dyn Channel,
    ) -> Result<ShareList, ProtocolError> {
        let outputs = || {
            let all = self.outputs.iter();
            all.filter(|output| *output != RecurrenceOutput::Points)
        };
        let (count, fractions) = (self.pairs.len(), outputs().count());
        if fractions == 0 {
            return Ok(ShareList::default());
        }
        let mut dividends = Zeroizing::new(Vec::with_capacity(fractions * count));
        let mut divisors = Zeroizing::new(Vec::with_capacity(fractions * count));
        for output in outputs() {
            for (at, lengths) in self.lengths().enumerate() {
                let [part, whole] = counts.fraction(output, at, lengths);
                dividends.push((2 * WHOLE).wrapping_mul(part).wrapping_add(whole));
                divisors.push(whole.wrapping_mul(2));
            }
        }
        let (divisor_bits, bits) = self.divisor_bits;
        let quotients = session.quotients(&dividends, &divisors, divisor_bits, bits, channel)?;
        // Whether there is any point.
        let is_host = self.run.job.role == Role::Host;
        let mut less_one = counts.points.clone();
        if is_host {
            less_one
                .iter_mut()
                .for_each(|number| *number = number.wrapping_sub(1));
        }
        let any = session.not_negative(&less_one, self.widths.cells, channel)?;
        let mut defined = Zeroizing::new(Vec::with_capacity(fractions * count));
        let mut others = Vec::with_capacity(fractions * count);
        for output in outputs() {
            for (at, (rows, columns)) in self.lengths().enumerate() {
                // A single cell has no centre.
                let possible = output != RecurrenceOutput::Centre || rows.max(columns) > 1;
                defined.push(if possible { any[at] } else { 0 });
                others.push(match is_host {
                    true => self.outputs.undefined(output),
                    false => 0,
                });
            }
        }
        let differences = quotients.iter().zip(&others);
        let differences: ShareList = Zeroizing::new(
            differences
                .map(|(quotient, other)| quotient ^ other)
                .collect(),
        );
        let mut chosen = session.and(&defined, &differences, bits, channel)?;
        for (half, other) in chosen.iter_mut().zip(&others) {
            *half ^= other;
        }
        Ok(chosen)
    }
}

impl Counts {
    /// The numerator and denominator of a fraction of points.
    fn fraction(
        &self,
        output: RecurrenceOutput,
        at: usize,
        (rows, columns): (u64, u64),
    ) -> [u64; 2] {
        let points = self.points[at];
        match output {
            RecurrenceOutput::Points => [points, rows.wrapping_mul(columns)],
            RecurrenceOutput::Diagonals => [self.diagonals[at], points],
            RecurrenceOutput::RowsAndColumns => [
                self.rows[at].wrapping_add(self.columns[at]),
                points.wrapping_mul(2),
            ],
            RecurrenceOutput::Rows => [self.rows[at], points],
            RecurrenceOutput::Columns => [self.columns[at], points],
            RecurrenceOutput::Centre => {
                let last = rows.max(columns) - 1;
                [self.centres[at], points.wrapping_mul(last)]
            }
        }
    }
}

fn shape_of(rows: u64, columns: u64) -> veilpath_mpc::wavefront::Shape {
    let length = |length: u64| u32::try_from(length).unwrap_or(u32::MAX);
    shape(length(rows), length(columns))
}
