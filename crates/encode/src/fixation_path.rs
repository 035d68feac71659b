//! Collects the letters of a fixation recording, in temporal order.
//!
//! Trackers write fixations in order, but tables get sorted by area, by duration or at random. If rows have start
//! times, the fixations of a recording are sorted by start. Equal starts keep their order, and a row without a start
//! stays after the row before it.
//!
//! Two trials under one name, each with its own clock, must not be mixed: that would invent eye movements. They can be
//! recognised, because nobody fixates two places at once. So if sorting would make a fixation start in the first half
//! of the one before it, all fixations stay in row order.
//!
//! In addition to the scanpath, it uses 24 bytes for each fixation with a start, and 48 for each that is kept.

use crate::Dropped;
use veilpath_metrics::Fixation;

/// Collects the fixations of one recording, row by row.
#[derive(Debug)]
pub(crate) struct FixationPath {
    letters: Vec<u16>,
    /// The blocks of `letters`, fixation by fixation; empty as long as no row has a start.
    blocks: Vec<Block>,
    /// The kept fixations behind `letters`, each with its number of letters.
    kept: Vec<KeptFixation>,
    rows: u64,
    /// The start of the previous row.
    latest: f64,
    /// The earliest fixation so far, if it is to be left out.
    held_back: Option<Row>,
}

/// A fixation as read from its row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    number: u64,
    /// Its own start, or that of the previous row; −∞ if there is none.
    start_ms: f64,
    has_start: bool,
    pub(crate) duration_ms: Option<f64>,
    pub(crate) letter: Result<u16, Dropped>,
    /// The fixation itself, if it is kept.
    pub(crate) kept: Option<Fixation>,
}

/// The fixations of a recording in temporal order.
#[derive(Debug, PartialEq)]
pub(crate) struct Ordered {
    pub(crate) letters: Vec<u16>,
    /// The fixations that were kept.
    pub(crate) fixations: Vec<Fixation>,
    pub(crate) order: RowOrder,
}

/// The letters of a fixation and of those after it that have no start.
#[derive(Clone, Copy, Debug)]
struct Block {
    start_ms: f64,
    row: u64,
    length: u32,
    /// Single precision is enough to tell whether fixations overlap.
    duration_ms: f32,
}

/// A fixation that is kept, and the number of its letters.
type KeptFixation = (Fixation, u32);

/// The order of a recording's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowOrder {
    /// In temporal order, or without times.
    Temporal,
    /// Not in temporal order, and sorted.
    Sorted,
    /// Not in temporal order, but left unchanged because sorted fixations would overlap.
    ClockRestarts,
}

impl Row {
    #[allow(clippy::cast_possible_truncation)] // coarse on purpose
    fn coarse_duration(&self) -> f32 {
        match self.duration_ms {
            Some(duration) if self.has_start => duration as f32,
            _ => 0.0,
        }
    }
}

impl Block {
    fn new(start_ms: f64, row: u64, length: usize) -> Self {
        let mut block = Self {
            start_ms,
            row,
            length: 0,
            duration_ms: 0.0,
        };
        block.extend(length);
        block
    }

    fn extend(&mut self, letters: usize) {
        // No scanpath has so many letters that this saturates.
        let letters = u32::try_from(letters).unwrap_or(u32::MAX);
        self.length = self.length.saturating_add(letters);
    }
}

impl FixationPath {
    pub(crate) fn new() -> Self {
        Self {
            letters: Vec::new(),
            blocks: Vec::new(),
            kept: Vec::new(),
            rows: 0,
            latest: f64::NEG_INFINITY,
            held_back: None,
        }
    }

    /// How many letters there are.
    pub(crate) fn len(&self) -> usize {
        self.letters.len()
    }

    /// How many fixations are kept.
    pub(crate) fn kept(&self) -> usize {
        self.kept.len()
    }

    /// Starts the next row, used or not. `kept` is the fixation itself, if it is to be kept.
    pub(crate) fn next_row(
        &mut self,
        start_ms: Option<f64>,
        duration_ms: Option<f64>,
        letter: Result<u16, Dropped>,
        kept: Option<Fixation>,
    ) -> Row {
        self.rows += 1;
        let start_ms = start_ms.filter(|start| start.is_finite());
        self.latest = start_ms.unwrap_or(self.latest);
        Row {
            number: self.rows,
            start_ms: self.latest,
            has_start: start_ms.is_some(),
            duration_ms,
            letter,
            kept,
        }
    }

    /// Holds back the earliest row so far and returns the other of the two; `None` for the very first row.
    pub(crate) fn hold_back_first(&mut self, row: Row) -> Option<Row> {
        match &mut self.held_back {
            None => {
                self.held_back = Some(row);
                None
            }
            Some(first) if row.start_ms < first.start_ms => Some(std::mem::replace(first, row)),
            Some(_) => Some(row),
        }
    }

    /// Adds the letters of a row.
    pub(crate) fn push(&mut self, row: &Row, letter: u16, repeats: usize) {
        if row.start_ms > f64::NEG_INFINITY {
            let without_start = self.letters.len();
            if self.blocks.is_empty() && without_start > 0 {
                self.blocks
                    .push(Block::new(f64::NEG_INFINITY, 0, without_start));
            }
            match self.blocks.last_mut() {
                Some(last) if !row.has_start && last.start_ms == row.start_ms => {
                    last.extend(repeats)
                }
                _ => self.blocks.push(Block {
                    duration_ms: row.coarse_duration(),
                    ..Block::new(row.start_ms, row.number, repeats)
                }),
            }
        }
        self.letters.extend(std::iter::repeat_n(letter, repeats));
        // No scanpath has so many letters that this saturates.
        let repeats = u32::try_from(repeats).unwrap_or(u32::MAX);
        self.kept
            .extend(row.kept.map(|fixation| (fixation, repeats)));
    }

    /// The letters in temporal order.
    pub(crate) fn finish(self) -> Ordered {
        // A fixation that was held back may follow later rows.
        let by_row = self.blocks.is_sorted_by_key(|block| block.row);
        let in_time = |pair: &[Block]| pair[0].start_ms <= pair[1].start_ms;
        if by_row && self.blocks.windows(2).all(in_time) {
            return Ordered {
                letters: self.letters,
                fixations: self
                    .kept
                    .into_iter()
                    .map(|(fixation, _)| fixation)
                    .collect(),
                order: RowOrder::Temporal,
            };
        }
        let (mut letters, mut kept) = (self.letters.as_slice(), self.kept.as_slice());
        let mut pieces: Vec<Piece<'_>> = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let (of_block, after) = letters.split_at(letters.len().min(block.length as usize));
            let (fixations, kept_after) = split_kept(kept, of_block.len());
            pieces.push(Piece {
                block: *block,
                letters: of_block,
                fixations,
            });
            (letters, kept) = (after, kept_after);
        }
        pieces.sort_unstable_by_key(|piece| piece.block.row);
        let in_order_of_rows = pieces.clone();
        pieces.sort_by(|one, other| one.block.start_ms.total_cmp(&other.block.start_ms));
        let overlap = pieces.windows(2).any(|pair| {
            let before = &pair[0].block;
            pair[1].block.start_ms < before.start_ms + f64::from(before.duration_ms) / 2.0
        });
        let (pieces, order) = if overlap {
            (in_order_of_rows, RowOrder::ClockRestarts)
        } else {
            (pieces, RowOrder::Sorted)
        };
        let letters = pieces.iter().flat_map(|piece| piece.letters);
        let fixations = pieces.iter().flat_map(|piece| piece.fixations);
        Ordered {
            letters: letters.copied().collect(),
            fixations: fixations.map(|(fixation, _)| *fixation).collect(),
            order,
        }
    }
}

/// The contents of a block.
#[derive(Clone, Copy)]
struct Piece<'a> {
    block: Block,
    letters: &'a [u16],
    fixations: &'a [KeptFixation],
}

/// Splits the kept fixations into those of the first `letters` letters and the rest.
fn split_kept(kept: &[KeptFixation], letters: usize) -> (&[KeptFixation], &[KeptFixation]) {
    let mut left = letters;
    let count = kept
        .iter()
        .take_while(|(_, repeats)| {
            let fits = left > 0;
            left = left.saturating_sub(*repeats as usize);
            fits
        })
        .count();
    kept.split_at(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order_of(rows: &[(Option<f64>, f64)]) -> (Vec<u16>, RowOrder) {
        let mut path = FixationPath::new();
        for (letter, &(start, duration)) in (0..).zip(rows) {
            // The coordinates encode the position in the file, and letters are repeated.
            let kept = Fixation {
                x: f64::from(letter),
                y: 0.0,
                start,
                duration,
            };
            let row = path.next_row(start, Some(duration), Ok(letter), Some(kept));
            path.push(&row, letter, 1 + usize::from(letter % 2));
        }
        let Ordered {
            mut letters,
            fixations,
            order,
        } = path.finish();
        letters.dedup();
        let places: Vec<f64> = letters.iter().copied().map(f64::from).collect();
        let kept: Vec<f64> = fixations.iter().map(|fixation| fixation.x).collect();
        assert_eq!(kept, places);
        (letters, order)
    }

    #[test]
    fn fixations_are_sorted_by_their_starts_where_they_are_known() {
        let at = |start: f64| (Some(start), 100.0);
        let without_start = (None, 100.0);
        for (rows, letters, order) in [
            (vec![], vec![], RowOrder::Temporal),
            (
                vec![at(0.0), at(150.0), at(300.0)],
                vec![0, 1, 2],
                RowOrder::Temporal,
            ),
            (
                vec![at(300.0), at(0.0), at(150.0)],
                vec![1, 2, 0],
                RowOrder::Sorted,
            ),
            (
                vec![without_start, without_start, without_start],
                vec![0, 1, 2],
                RowOrder::Temporal,
            ),
            // Rows without a start stay after the row before them, or in front.
            (
                vec![
                    without_start,
                    at(300.0),
                    without_start,
                    at(0.0),
                    without_start,
                ],
                vec![0, 3, 4, 1, 2],
                RowOrder::Sorted,
            ),
            (
                vec![at(f64::NAN), at(f64::INFINITY), at(5.0)],
                vec![0, 1, 2],
                RowOrder::Temporal,
            ),
            // The clocks of two trials under one name.
            (
                vec![at(0.0), at(150.0), at(10.0), at(160.0)],
                vec![0, 1, 2, 3],
                RowOrder::ClockRestarts,
            ),
        ] {
            assert_eq!(order_of(&rows), (letters, order), "{rows:?}");
        }
    }

    #[test]
    fn memory_use_is_as_documented() {
        assert_eq!(size_of::<Block>(), 24);
    }

    #[test]
    fn the_earliest_fixation_is_held_back() {
        let held = |starts: &[f64]| {
            let mut path = FixationPath::new();
            for (letter, &start) in (0..).zip(starts) {
                let row = path.next_row(Some(start), Some(100.0), Ok(letter), None);
                if let Some(row) = path.hold_back_first(row) {
                    path.push(&row, row.letter.unwrap(), 1);
                }
            }
            let ordered = path.finish();
            (ordered.letters, ordered.order)
        };
        assert_eq!(held(&[0.0, 150.0, 300.0]).0, [1, 2]);
        assert_eq!(held(&[300.0, 150.0, 0.0]), (vec![1, 0], RowOrder::Sorted));
        // Rows that must stay in row order do so without the one that is left out.
        let restarted = held(&[20.0, 150.0, 10.0, 160.0]);
        assert_eq!(restarted, (vec![0, 1, 3], RowOrder::ClockRestarts));
    }
}
