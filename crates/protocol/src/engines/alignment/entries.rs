//! Costs, scores, distances or points of two letters as inputs of matrix cells.

use super::private_metric::{Circuit, PrivateMetric};
use subtle::{Choice, ConditionallySelectable};
use veilpath_metrics::{Costs, Model, RecurrentLetters, Scores};

/// The largest letter-pair table that is scanned or stored. Beyond it, costs are computed on demand and no common
/// divisor is sought.
const MAX_ENTRIES: usize = 1 << 20;

/// The inputs of matrix cells, by the garbler's letter and the evaluator's.
pub(in crate::engines) struct Inputs<'a> {
    scoring: &'a PrivateMetric,
    model: &'a Model,
    circuit: Circuit,
    /// All inputs, if they fit.
    table: Vec<u64>,
}

impl<'a> Inputs<'a> {
    pub(in crate::engines) fn new(
        scoring: &'a PrivateMetric,
        model: &'a Model,
        circuit: Circuit,
    ) -> Self {
        let mut inputs = Self {
            scoring,
            model,
            circuit,
            table: Vec::new(),
        };
        let letters = scoring.alphabet_size();
        if letters.pow(2) <= MAX_ENTRIES {
            let mut table = vec![0; letters.pow(2)];
            for (a, row) in table.chunks_exact_mut(letters).enumerate() {
                inputs.compute(a, row);
            }
            inputs.table = table;
        }
        inputs
    }

    pub(in crate::engines) fn circuit(&self) -> &Circuit {
        &self.circuit
    }

    /// Writes the inputs for one of the garbler's letters. If they come from a table, the address depends on the
    /// letter: this engine does not protect against an attacker who shares the caches of the garbler's own machine.
    pub(in crate::engines) fn fill(&self, a: usize, inputs: &mut [u64]) {
        let first = a * self.scoring.alphabet_size();
        match self.table.get(first..first + inputs.len()) {
            Some(row) => inputs.copy_from_slice(row),
            None => self.compute(a, inputs),
        }
    }

    fn compute(&self, a: usize, inputs: &mut [u64]) {
        for (b, input) in inputs.iter_mut().enumerate() {
            *input = self.input(a, b);
        }
    }

    /// Takes as long for padding as for a letter: it computes the first letter's input instead and discards it.
    /// Otherwise the time until the other side gets its columns would reveal how much of a scanpath is padding.
    fn input(&self, a: usize, b: usize) -> u64 {
        let padding = self.scoring.padding_letter();
        let is_padding = [a, b].map(|letter| Choice::from(u8::from(letter == padding)));
        let [first, second] = is_padding;
        let padded = first | second;
        let letter = |index: usize| {
            let index = u64::conditional_select(&(index as u64), &0, padded);
            u16::try_from(index).unwrap_or(0)
        };
        let entry = self.model.entry(letter(a), letter(b));
        // Only entries that the cell clips are rounded.
        let entry = entry / i64::try_from(self.scoring.divisor()).unwrap_or(i64::MAX);
        let input = self.circuit.input(self.scoring.cost(entry));
        let padding_input =
            [false, true].map(|both_padded| self.circuit.input_of_padding(both_padded));
        let padding_input =
            u64::conditional_select(&padding_input[0], &padding_input[1], first & second);
        u64::conditional_select(&input, &padding_input, padded)
    }
}

/// All costs or scores of an alphabet.
pub(in crate::engines) struct Entries<'a> {
    model: &'a Model,
    letters: u32,
    /// How many rows (letters of the garbler) it takes to find every entry.
    rows: u32,
}

impl<'a> Entries<'a> {
    pub(in crate::engines) fn new(model: &'a Model, letters: u32) -> Self {
        let first_row_has_all = match model {
            Model::Global(model) => {
                matches!(model.costs, Costs::Unit { .. } | Costs::Index { .. })
            }
            Model::Local(model) => matches!(model.scores, Scores::Unit { .. }),
            Model::Recurrence(model) => matches!(model.letters, RecurrentLetters::Same),
            _ => false,
        };
        Self {
            model,
            letters,
            rows: if first_row_has_all { 1 } else { letters },
        }
    }

    fn fit_in_table(&self) -> bool {
        self.rows as usize * self.letters as usize <= MAX_ENTRIES
    }

    fn all(&self) -> impl Iterator<Item = i64> + '_ {
        let letters = |count: u32| (0..count).filter_map(|letter| u16::try_from(letter).ok());
        letters(self.rows)
            .flat_map(move |a| letters(self.letters).map(move |b| self.model.entry(a, b)))
    }

    /// The common divisor of the gaps (or durations) and of all entries that matter. An entry that is no better than two gaps does not
    /// matter: a cost of at least `limit`, or a score of at most −`limit`.
    pub(in crate::engines) fn divisor(&self, gap_divisor: u64, limit: u64) -> u64 {
        if !self.fit_in_table() {
            return 1;
        }
        let matters = |entry: &i64| match self.model {
            Model::Global(_) => entry.unsigned_abs() < limit,
            _ => *entry > 0 || entry.unsigned_abs() < limit,
        };
        let divisor = self
            .all()
            .filter(matters)
            .fold(gap_divisor, |divisor, entry| {
                gcd(divisor, entry.unsigned_abs())
            });
        divisor.max(1)
    }

    /// The largest cost after division, clipped at `limit`.
    pub(in crate::engines) fn largest(&self, limit: u64, divisor: u64) -> u64 {
        if !self.fit_in_table() {
            return limit;
        }
        let largest = self.all().map(|cost| cost.unsigned_abs() / divisor).max();
        largest.unwrap_or(0).min(limit)
    }
}

/// The greatest common divisor, with gcd(0, b) = b.
pub(in crate::engines) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
