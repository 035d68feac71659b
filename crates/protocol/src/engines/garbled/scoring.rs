//! Which circuit computes a metric, what goes into its cells, and how its number becomes the raw result.
//!
//! All of it follows from the agreed metric and the lengths, so both sides hold the same. Costs are divided by what they have
//! in common first: the width of a cell, and with it everything it costs, depends on their size alone.

use crate::ProtocolError;
use veilpath_garble::alignment::Fold;
use veilpath_garble::circuit::cells::{Cell, ClippedCell, DifferenceCell, LocalCell, UnitCell};
use veilpath_metrics::{Costs, Model, Scores};

/// The largest table of all pairs of letters that is walked or kept. Beyond it costs are computed as they are needed, and no
/// common divisor is looked for.
const MOST_ENTRIES: usize = 1 << 20;

/// A metric in the terms of circuits.
#[derive(Clone, Debug)]
pub(super) struct Scoring {
    kind: Kind,
    /// What all costs were divided by.
    divisor: u64,
    letters: u32,
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

/// The cell of some comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Circuit {
    Unit(UnitCell),
    Clipped(ClippedCell),
    Difference(DifferenceCell),
    Local(LocalCell),
}

impl Scoring {
    pub(super) fn new(model: &Model, letters: u32) -> Self {
        let walk = Entries::new(model, letters);
        let (kind, divisor) = match model {
            Model::Global(costs) => {
                let (insert, delete) = (u64::from(costs.insert), u64::from(costs.delete));
                let divisor = walk.divisor(gcd(insert, delete), insert + delete);
                let (insert, delete) = (insert / divisor, delete / divisor);
                let kind = match walk.largest(insert + delete, divisor) {
                    0..=1 if (insert, delete) == (1, 1) => Kind::Unit,
                    _ if (insert, delete) == (1, 1) => Kind::Clipped,
                    _ => Kind::Difference { insert, delete },
                };
                (kind, divisor)
            }
            Model::Local(local) => {
                let gap = u64::from(local.gap);
                let divisor = walk.divisor(gap, 2 * gap);
                let best = local.scores.largest().max(0).unsigned_abs();
                let kind = Kind::Local {
                    gap: gap / divisor,
                    best: u64::from(best) / divisor,
                };
                (kind, divisor)
            }
        };
        Self {
            kind,
            divisor,
            letters,
        }
    }

    /// Letters that Bob's may be.
    pub(super) fn letters(&self) -> usize {
        self.letters as usize
    }

    /// The circuit for matrices of which the smaller side is at most so long.
    pub(super) fn circuit(&self, shorter: u32) -> Circuit {
        match self.kind {
            Kind::Unit => Circuit::Unit(UnitCell),
            Kind::Clipped => Circuit::Clipped(ClippedCell),
            Kind::Difference { insert, delete } => {
                Circuit::Difference(DifferenceCell::new(insert + delete))
            }
            Kind::Local { gap, best } => {
                let largest = u64::from(shorter) * best;
                Circuit::Local(LocalCell::new(largest, best, gap))
            }
        }
    }

    /// How the columns of a matrix become one number.
    pub(super) fn fold(&self) -> Fold {
        match self.kind {
            Kind::Local { .. } => Fold::Max,
            _ => Fold::Sum,
        }
    }

    /// What a cell takes as input for Alice's letter `a` and Bob's letter `b`.
    fn input(&self, circuit: &Circuit, model: &Model, a: u16, b: u16) -> u64 {
        let entry = entry(model, a, b);
        match circuit {
            Circuit::Unit(cell) => cell.input(entry == 0),
            Circuit::Clipped(cell) => cell.input(entry.unsigned_abs() / self.divisor),
            Circuit::Difference(cell) => cell.input(entry.unsigned_abs() / self.divisor),
            Circuit::Local(cell) => {
                // Only scores that the cell cuts off are rounded.
                cell.input(entry / i64::try_from(self.divisor).unwrap_or(i64::MAX))
            }
        }
    }

    /// The raw result that a number stands for; `None` where no matrix of this shape has such a result.
    pub(super) fn raw(&self, number: u64, rows: u32, columns: u32) -> Option<i64> {
        let (rows, columns) = (i128::from(rows), i128::from(columns));
        let number = i128::from(number);
        let (value, largest) = match self.kind {
            Kind::Unit | Kind::Clipped => (rows - columns + number, rows + columns),
            Kind::Difference { insert, delete } => {
                let gaps = rows * i128::from(delete) + columns * i128::from(insert);
                (gaps - number, gaps)
            }
            Kind::Local { best, .. } => (number, rows.min(columns) * i128::from(best)),
        };
        if !(0..=largest).contains(&value) {
            return None;
        }
        i64::try_from(value * i128::from(self.divisor)).ok()
    }

    /// The raw result of a pair without cells.
    pub(super) fn without_cells(&self, rows: u32, columns: u32) -> Result<i64, ProtocolError> {
        let number = match self.kind {
            // Every column hands over 2: each letter of Bob is inserted.
            Kind::Unit | Kind::Clipped => 2 * u64::from(columns),
            Kind::Difference { .. } | Kind::Local { .. } => 0,
        };
        self.raw(number, rows, columns)
            .ok_or(ProtocolError::Job("the sum of all costs is too large"))
    }
}

impl Circuit {
    /// AND gates of a cell.
    pub(super) fn and_gates(&self) -> u64 {
        let gates = match self {
            Circuit::Unit(cell) => cell.and_gates(),
            Circuit::Clipped(cell) => cell.and_gates(),
            Circuit::Difference(cell) => cell.and_gates(),
            Circuit::Local(cell) => cell.and_gates(),
        };
        gates as u64
    }

    /// Input wires of a cell.
    pub(super) fn input_wires(&self) -> u64 {
        let wires = match self {
            Circuit::Unit(cell) => cell.input_wires(),
            Circuit::Clipped(cell) => cell.input_wires(),
            Circuit::Difference(cell) => cell.input_wires(),
            Circuit::Local(cell) => cell.input_wires(),
        };
        wires as u64
    }
}

/// What cells take as input, by Alice's letter and Bob's.
pub(super) struct Inputs<'a> {
    scoring: &'a Scoring,
    model: &'a Model,
    circuit: Circuit,
    /// All of them, where they are few.
    table: Vec<u64>,
}

impl<'a> Inputs<'a> {
    pub(super) fn new(scoring: &'a Scoring, model: &'a Model, circuit: Circuit) -> Self {
        let mut inputs = Self {
            scoring,
            model,
            circuit,
            table: Vec::new(),
        };
        let letters = scoring.letters();
        if letters.pow(2) <= MOST_ENTRIES {
            let mut table = vec![0; letters.pow(2)];
            for (a, row) in (0..).zip(table.chunks_exact_mut(letters)) {
                inputs.compute(a, row);
            }
            inputs.table = table;
        }
        inputs
    }

    pub(super) fn circuit(&self) -> &Circuit {
        &self.circuit
    }

    /// Writes the inputs of one of Alice's letters.
    pub(super) fn fill(&self, a: u16, inputs: &mut [u64]) {
        let first = usize::from(a) * self.scoring.letters();
        match self.table.get(first..first + inputs.len()) {
            Some(known) => inputs.copy_from_slice(known),
            None => self.compute(a, inputs),
        }
    }

    fn compute(&self, a: u16, inputs: &mut [u64]) {
        for (b, input) in (0..=u16::MAX).zip(inputs) {
            *input = self.scoring.input(&self.circuit, self.model, a, b);
        }
    }
}

/// The cost (or, where larger is better, the score) of two letters.
fn entry(model: &Model, a: u16, b: u16) -> i64 {
    match model {
        Model::Global(model) => model.costs.cost(a, b).into(),
        Model::Local(model) => model.scores.score(a, b).into(),
    }
}

/// All costs or scores of an alphabet.
struct Entries<'a> {
    model: &'a Model,
    letters: u32,
    /// Letters of Alice that show all there are.
    rows: u32,
}

impl<'a> Entries<'a> {
    fn new(model: &'a Model, letters: u32) -> Self {
        let first_row_has_all = match model {
            Model::Global(model) => {
                matches!(model.costs, Costs::Unit { .. } | Costs::Index { .. })
            }
            Model::Local(model) => matches!(model.scores, Scores::Unit { .. }),
        };
        Self {
            model,
            letters,
            rows: if first_row_has_all { 1 } else { letters },
        }
    }

    fn are_few(&self) -> bool {
        self.rows as usize * self.letters as usize <= MOST_ENTRIES
    }

    fn all(&self) -> impl Iterator<Item = i64> + '_ {
        let letters = |count: u32| (0..count).filter_map(|letter| u16::try_from(letter).ok());
        letters(self.rows)
            .flat_map(move |a| letters(self.letters).map(move |b| entry(self.model, a, b)))
    }

    /// What divides the gaps and all entries that matter: one beyond `most` never does (a cost above two gaps, a score below them).
    fn divisor(&self, of_gaps: u64, most: u64) -> u64 {
        if !self.are_few() {
            return 1;
        }
        let matters = |entry: &i64| match self.model {
            Model::Global(_) => entry.unsigned_abs() < most,
            Model::Local(_) => *entry > 0 || entry.unsigned_abs() < most,
        };
        let divisor = self
            .all()
            .filter(matters)
            .fold(of_gaps, |divisor, entry| gcd(divisor, entry.unsigned_abs()));
        divisor.max(1)
    }

    /// The largest divided cost, cut off at `most`.
    fn largest(&self, most: u64, divisor: u64) -> u64 {
        if !self.are_few() {
            return most;
        }
        let largest = self.all().map(|cost| cost.unsigned_abs() / divisor).max();
        largest.unwrap_or(0).min(most)
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
