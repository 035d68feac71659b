//! The alignment behind a score: which letter is paired with which.
//!
//! It is meant for people who inspect a pair. Among equally good alignments it takes the one that pairs letters as late
//! as possible, so the same pair always has the same alignment.

use crate::{Comparison, GlobalModel, LocalModel, MetricError, Model, Scanpath};

/// The largest matrix that is traced back, in cells. Each cell takes one byte.
pub const MAX_TRACEBACK_CELLS: usize = 1 << 25;

/// An optimal alignment of two scanpaths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// The start: the number of letters before it in each scanpath, which a local alignment skips.
    pub start: [usize; 2],
    /// The steps, in chronological order.
    pub steps: Vec<AlignmentStep>,
}

/// A step of an alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlignmentStep {
    /// A letter of the first scanpath paired with one of the second, equal or not.
    Pair,
    /// A letter that only the first scanpath has.
    First,
    /// A letter that only the second scanpath has.
    Second,
}

/// Why there is no alignment to show.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoAlignment {
    /// The metric does not align letters.
    #[error("the metric {0} does not align letters")]
    NotAligned(&'static str),
    /// The matrix would be too large.
    #[error("the scanpaths have {0} and {1} letters, too many to show how they are aligned")]
    TooLong(usize, usize),
    /// Letters outside the metric's alphabet.
    #[error(transparent)]
    Letters(#[from] MetricError),
}

impl Alignment {
    /// Finds the alignment whose cost or score is [`Comparison::raw`].
    pub fn of(comparison: &Comparison, a: &Scanpath, b: &Scanpath) -> Result<Self, NoAlignment> {
        let cells = (a.len() + 1).checked_mul(b.len() + 1);
        if cells.is_none_or(|cells| cells > MAX_TRACEBACK_CELLS) {
            return Err(NoAlignment::TooLong(a.len(), b.len()));
        }
        for scanpath in [a, b] {
            let alphabet = comparison.alphabet();
            alphabet
                .check(scanpath)
                .map_err(|position| MetricError::OutsideAlphabet {
                    position: position + 1,
                    alphabet: alphabet.in_words(),
                })?;
        }
        let letters = [a.letters(), b.letters()];
        if let Model::Global(model) = comparison.model() {
            return Ok(global(model, letters));
        }
        if let Model::Local(model) = comparison.model() {
            return Ok(local(model, letters));
        }
        Err(NoAlignment::NotAligned(comparison.metric().name()))
    }

    /// The number of aligned letters in each scanpath.
    pub fn lengths(&self) -> [usize; 2] {
        let without = |step| self.steps.iter().filter(|&&other| other != step).count();
        [
            without(AlignmentStep::Second),
            without(AlignmentStep::First),
        ]
    }
}

/// How the best alignment reaches a matrix cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Backpointer {
    /// The alignment starts here.
    Start,
    Step(AlignmentStep),
}

/// A matrix of [`Backpointer`], row by row, with a row and a column for the empty start.
struct Matrix {
    backpointers: Vec<Backpointer>,
    width: usize,
}

impl Matrix {
    fn new([a, b]: [&[u16]; 2]) -> Self {
        let width = b.len() + 1;
        Self {
            backpointers: vec![Backpointer::Start; (a.len() + 1) * width],
            width,
        }
    }

    fn set(&mut self, i: usize, j: usize, step: AlignmentStep) {
        self.backpointers[i * self.width + j] = Backpointer::Step(step);
    }

    /// Follows the backpointers from a cell to the start of the alignment.
    fn path(&self, mut i: usize, mut j: usize) -> Alignment {
        let mut steps = Vec::new();
        while let Backpointer::Step(step) = self.backpointers[i * self.width + j] {
            steps.push(step);
            i -= usize::from(step != AlignmentStep::Second);
            j -= usize::from(step != AlignmentStep::First);
        }
        steps.reverse();
        Alignment {
            start: [i, j],
            steps,
        }
    }
}

fn global(model: &GlobalModel, [a, b]: [&[u16]; 2]) -> Alignment {
    let (insert, delete) = (u64::from(model.insert), u64::from(model.delete));
    let mut matrix = Matrix::new([a, b]);
    let mut row = Vec::with_capacity(b.len() + 1);
    row.push(0);
    for j in 1..=b.len() {
        matrix.set(0, j, AlignmentStep::Second);
        row.push(row[j - 1] + insert);
    }
    for (i, &x) in (1..).zip(a) {
        let mut diagonal = row[0];
        row[0] += delete;
        matrix.set(i, 0, AlignmentStep::First);
        for (j, &y) in (1..).zip(b) {
            let pair = diagonal + u64::from(model.costs.cost(x, y));
            let (first, second) = (row[j] + delete, row[j - 1] + insert);
            let best = pair.min(first).min(second);
            let step = match best {
                best if best == pair => AlignmentStep::Pair,
                best if best == first => AlignmentStep::First,
                _ => AlignmentStep::Second,
            };
            matrix.set(i, j, step);
            diagonal = row[j];
            row[j] = best;
        }
    }
    matrix.path(a.len(), b.len())
}

fn local(model: &LocalModel, [a, b]: [&[u16]; 2]) -> Alignment {
    let gap = i64::from(model.gap);
    let mut matrix = Matrix::new([a, b]);
    let mut row = vec![0_i64; b.len() + 1];
    let (mut greatest, mut end) = (0, [0, 0]);
    for (i, &x) in (1..).zip(a) {
        let mut diagonal = 0;
        for (j, &y) in (1..).zip(b) {
            let pair = diagonal + i64::from(model.scores.score(x, y));
            let (first, second) = (row[j] - gap, row[j - 1] - gap);
            let best = pair.max(first).max(second).max(0);
            // A score of 0 starts a new alignment.
            if best > 0 {
                let step = match best {
                    best if best == pair => AlignmentStep::Pair,
                    best if best == first => AlignmentStep::First,
                    _ => AlignmentStep::Second,
                };
                matrix.set(i, j, step);
            }
            if best > greatest {
                (greatest, end) = (best, [i, j]);
            }
            diagonal = row[j];
            row[j] = best;
        }
    }
    matrix.path(end[0], end[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Alphabet, Distance, Grid, LocalScoring, Metric, Substitution};

    /// Adds up the cost or score of an alignment, step by step.
    fn walked(model: &Model, alignment: &Alignment, a: &Scanpath, b: &Scanpath) -> i64 {
        let ([mut i, mut j], mut total) = (alignment.start, 0);
        for &step in &alignment.steps {
            let pair = || (a.letters()[i], b.letters()[j]);
            total += match (model, step) {
                (Model::Global(model), AlignmentStep::Pair) => {
                    i64::from(model.costs.cost(pair().0, pair().1))
                }
                (Model::Global(model), AlignmentStep::First) => model.delete.into(),
                (Model::Global(model), AlignmentStep::Second) => model.insert.into(),
                (Model::Local(model), AlignmentStep::Pair) => {
                    model.scores.score(pair().0, pair().1).into()
                }
                (Model::Local(model), _) => -i64::from(model.gap),
                _ => unreachable!("not an alignment"),
            };
            i += usize::from(step != AlignmentStep::Second);
            j += usize::from(step != AlignmentStep::First);
        }
        if matches!(model, Model::Global(_)) {
            assert_eq!([i, j], [a.len(), b.len()], "all letters are aligned");
            assert_eq!(alignment.start, [0, 0]);
        }
        total
    }

    fn metrics() -> Vec<Metric> {
        let grid = Grid::new(3, 2).unwrap();
        let substitution = Substitution::Grid {
            grid,
            wrap: true,
            distance: Distance::Manhattan,
        };
        vec![
            Metric::Levenshtein,
            Metric::NeedlemanWunsch {
                substitution,
                insert: 0.5,
                delete: 1.5,
                scale: None,
            },
            Metric::NeedlemanWunsch {
                substitution: Substitution::Index,
                insert: 0.0,
                delete: 0.0,
                scale: None,
            },
            Metric::NeedlemanWunschScore {
                reward: 2.0,
                mismatch: 1.0,
                gap: 0.5,
                scale: None,
            },
            Metric::SmithWaterman {
                scoring: LocalScoring::Unit {
                    reward: 2.0,
                    mismatch: 1.0,
                },
                gap: 1.0,
                scale: None,
            },
            Metric::ScanMatch {
                grid,
                wrap: false,
                threshold: 1.5,
                gap: -0.25,
                scale: None,
            },
        ]
    }

    #[test]
    fn the_cost_of_the_alignment_is_the_raw_result() {
        let alphabet = Alphabet::letters(6).unwrap();
        let mut seed = 11_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for metric in metrics() {
            let comparison = Comparison::new(metric, alphabet).unwrap();
            for _ in 0..200 {
                let [a, b] = [0, 1].map(|_| {
                    let letters = (0..random(25)).map(|_| u16::try_from(random(6)).unwrap());
                    Scanpath::new(letters.collect())
                });
                let alignment = Alignment::of(&comparison, &a, &b).unwrap();
                let walked = walked(comparison.model(), &alignment, &a, &b);
                let name = comparison.metric().name();
                assert_eq!(walked, comparison.raw(&a, &b).unwrap(), "{name}");
                let [first, second] = alignment.lengths();
                assert!(alignment.start[0] + first <= a.len());
                assert!(alignment.start[1] + second <= b.len());
            }
        }
    }

    /// kitten and sitting: two replacements and an insertion at the end.
    #[test]
    fn a_known_alignment_is_found() {
        use AlignmentStep::{Pair, Second};
        let alphabet = Alphabet::letters(52).unwrap();
        let comparison = Comparison::new(Metric::Levenshtein, alphabet).unwrap();
        let [a, b] = ["kitten", "sitting"].map(|text| alphabet.parse(text).unwrap());
        let alignment = Alignment::of(&comparison, &a, &b).unwrap();
        assert_eq!(
            alignment.steps,
            [Pair, Pair, Pair, Pair, Pair, Pair, Second]
        );
    }

    /// Only `BCD` is common to both.
    #[test]
    fn a_local_alignment_leaves_out_what_is_around_it() {
        let alphabet = Alphabet::letters(52).unwrap();
        let metric = metrics().swap_remove(4);
        let comparison = Comparison::new(metric, alphabet).unwrap();
        let [a, b] = ["AAAABCD", "XBCDYYY"].map(|text| alphabet.parse(text).unwrap());
        let alignment = Alignment::of(&comparison, &a, &b).unwrap();
        assert_eq!(alignment.start, [4, 1]);
        assert_eq!(alignment.steps, [AlignmentStep::Pair; 3]);
    }

    #[test]
    fn long_scanpaths_and_unknown_letters_are_refused() {
        let alphabet = Alphabet::letters(4).unwrap();
        let comparison = Comparison::new(Metric::Levenshtein, alphabet).unwrap();
        let long = Scanpath::new(vec![0; 6000]);
        let refused = Alignment::of(&comparison, &long, &long);
        assert_eq!(refused, Err(NoAlignment::TooLong(6000, 6000)));
        let other = Scanpath::new(vec![9]);
        let refused = Alignment::of(&comparison, &other, &other);
        assert!(matches!(refused, Err(NoAlignment::Letters(_))));
    }
}
