//! Substitution values arranged for a sweep: for each letter that occurs along the steps, its values against all lanes.

use super::Row;

/// Lanes that are processed together. They fill one vector register in the narrowest arithmetic.
pub(crate) const GROUP: usize = 16;
/// Lanes that are copied from a profile at once.
pub(crate) const GRANULE: usize = GROUP / 2;
/// Rows per strip: enough to hide the latency between a step's stores and the next step's shifted loads.
const MAX_LANES: usize = 128;
/// A strip's profile should stay in the second-level cache, so strips are narrower if many letters are in use.
const STRIP_BYTES: usize = 1 << 18;
/// Up to this size, a profile that several scanpaths share is stored whole. Beyond it, the profile is rebuilt strip by
/// strip.
const SHARED_BYTES: usize = 1 << 21;

/// The letters that occur along the steps, numbered from 1. Number 0 is blank: it stands for positions outside the
/// scanpath, and all its values are the default (zero).
pub(crate) struct StepLetters {
    numbers: Vec<u32>,
    letters: Vec<u16>,
}

impl StepLetters {
    /// Collects the letters of all `scanpaths` over an alphabet of `size` letters.
    pub(crate) fn of(scanpaths: &[&[u16]], size: u32) -> Self {
        let mut numbers = vec![0u32; size as usize];
        let mut letters = Vec::new();
        let mut next = 1;
        for &letter in scanpaths.iter().copied().flatten() {
            let number = &mut numbers[usize::from(letter)];
            if *number == 0 {
                *number = next;
                next += 1;
                letters.push(letter);
            }
        }
        Self { numbers, letters }
    }

    /// The letters, starting with number 1.
    pub(crate) fn letters(&self) -> &[u16] {
        &self.letters
    }

    /// A letter's number, from 1.
    #[inline]
    pub(crate) fn number(&self, letter: u16) -> u32 {
        self.numbers[usize::from(letter)]
    }
}

/// How a scanpath is laid out in strips of equal width. Padding rows come before the first row, where blank values
/// leave the borders of the matrix unchanged.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    /// Rows per strip, a multiple of [`GROUP`].
    pub(crate) lanes: usize,
    pub(crate) strips: usize,
    /// The number of padding rows in front.
    pub(crate) padding: usize,
}

impl Layout {
    fn new(rows: usize, step_letters: usize, value_bytes: usize) -> Self {
        let mut widest = MAX_LANES;
        while widest > GROUP && widest * step_letters * value_bytes > STRIP_BYTES {
            widest /= 2;
        }
        let strips = rows.div_ceil(widest);
        let lanes = rows.div_ceil(strips.max(1)).next_multiple_of(GROUP);
        // Rounding the width up can make the last strip unnecessary.
        let strips = rows.div_ceil(lanes.max(1));
        Self {
            lanes,
            strips,
            padding: strips * lanes - rows,
        }
    }
}

/// The values of one scanpath's rows against the letters along the steps.
pub(crate) struct Profile<'a, T, F> {
    row: Row<'a>,
    value: F,
    steps: StepLetters,
    layout: Layout,
    whole: Option<Vec<[T; GRANULE]>>,
}

impl<'a, T: Copy + Default, F: Fn(u16, u16) -> T> Profile<'a, T, F> {
    /// `value` returns the value of a first-side letter and a second-side letter.
    pub(crate) fn new(row: Row<'a>, value: F) -> Self {
        let steps = StepLetters::of(row.others, row.letters);
        let letters = steps.letters.len() + 1;
        let layout = Layout::new(row.shared.len(), letters, size_of::<T>());
        let mut profile = Self {
            row,
            value,
            steps,
            layout,
            whole: None,
        };
        let bytes = layout.strips * layout.lanes * letters * size_of::<T>();
        if row.others.len() > 1 && bytes <= SHARED_BYTES {
            let mut whole = Vec::with_capacity(bytes / size_of::<[T; GRANULE]>().max(1));
            for strip in 0..layout.strips {
                profile.append(strip, &mut whole);
            }
            profile.whole = Some(whole);
        }
        profile
    }

    /// How the rows are laid out.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// Where the values of each letter of a scanpath start in a strip. Blanks before and after let lanes run past the
    /// scanpath by up to a group.
    pub(crate) fn starts(&self, scanpath: &[u16], starts: &mut Vec<u32>) {
        let width = u32::try_from(self.layout.lanes / GRANULE).unwrap_or(u32::MAX);
        starts.clear();
        starts.resize(GROUP, 0);
        starts.extend(
            scanpath
                .iter()
                .map(|&letter| self.steps.number(letter) * width),
        );
        starts.resize(starts.len() + GROUP, 0);
    }

    /// One strip's values: for each letter number, all lanes. `room` is the buffer to use if the profile is not stored
    /// whole.
    pub(crate) fn strip<'s>(
        &'s self,
        strip: usize,
        room: &'s mut Vec<[T; GRANULE]>,
    ) -> &'s [[T; GRANULE]] {
        match &self.whole {
            Some(whole) => {
                let size = whole.len() / self.layout.strips;
                &whole[strip * size..][..size]
            }
            None => {
                room.clear();
                self.append(strip, room);
                room
            }
        }
    }

    fn append(&self, strip: usize, values: &mut Vec<[T; GRANULE]>) {
        let Layout { lanes, padding, .. } = self.layout;
        let first = strip * lanes;
        let blank = padding.saturating_sub(first).min(lanes);
        let rows = &self.row.shared[first + blank - padding..first + lanes - padding];
        values.resize(values.len() + lanes / GRANULE, [T::default(); GRANULE]);
        for &step in &self.steps.letters {
            let start = values.len();
            values.resize(start + lanes / GRANULE, [T::default(); GRANULE]);
            let slots = values[start..].as_flattened_mut()[blank..].iter_mut();
            if self.row.shared_is_first {
                for (slot, &row) in slots.zip(rows) {
                    *slot = (self.value)(row, step);
                }
            } else {
                for (slot, &row) in slots.zip(rows) {
                    *slot = (self.value)(step, row);
                }
            }
        }
    }
}
