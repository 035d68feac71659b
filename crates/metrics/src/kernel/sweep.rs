//! The sweep over a matrix of cells along anti-diagonals, strip by strip.
//!
//! At step `s`, lane `l` of a strip is at column `s − l`. Its substitution value therefore belongs to the letter `l`
//! steps back. Fetching values cell by cell would cost more than the rest of the recurrence. Instead, they are copied
//! eight lanes at a time, as if all eight were at the same column, and then *skewed*: lanes whose number has bit 0 set
//! are taken from 1 step back, then those with bit 1 set from 2 steps back, then those with bit 2 set from 4 steps
//! back.

use super::profile::{GRANULE, GROUP, Profile};
use std::hint::black_box;
use std::ops::{BitAnd, BitXor, Not};

/// Steps whose values are prepared at once. They stay in the first-level cache.
const CHUNK: usize = 128;

/// A kernel's work in a sweep.
pub(crate) trait SweepStep<T> {
    /// Begins a new strip. `first_row` is the row of its first lane, counting the padding rows.
    fn begin(&mut self, first_row: usize);

    /// Performs one step of the strip with the values of all lanes. Values of groups that [`active`] excludes are
    /// stale.
    fn step(&mut self, step: usize, values: &[[T; GROUP]]);
}

/// Buffers that successive sweeps reuse.
pub(crate) struct Sweeper<T> {
    starts: Vec<u32>,
    strip: Vec<[T; GRANULE]>,
    values: Vec<[T; GROUP]>,
    skew_buffers: SkewBuffers<T>,
}

impl<T: Value> Sweeper<T> {
    pub(crate) fn new() -> Self {
        Self {
            starts: Vec::new(),
            strip: Vec::new(),
            values: Vec::new(),
            skew_buffers: SkewBuffers::new(),
        }
    }

    /// Sweeps the matrix of the profile's scanpath and `other`. Neither may be empty.
    pub(crate) fn sweep<F: Fn(u16, u16) -> T>(
        &mut self,
        profile: &Profile<'_, T, F>,
        other: &[u16],
        kernel: &mut impl SweepStep<T>,
        progress: &dyn Fn(u64),
    ) {
        let layout = profile.layout();
        let groups = layout.lanes / GROUP;
        let steps = other.len() + layout.lanes - 1;
        profile.starts(other, &mut self.starts);
        self.values.resize(CHUNK * groups, [T::default(); GROUP]);
        // Padding rows make strips even. The reported cells still add up to those of the matrix.
        let rows = layout.lanes * layout.strips - layout.padding;
        let cells = rows as u64 * other.len() as u64;
        let done = |strips: usize| cells / layout.strips as u64 * strips as u64;
        for strip in 0..layout.strips {
            let table = profile.strip(strip, &mut self.strip);
            kernel.begin(strip * layout.lanes);
            for first in (0..steps).step_by(CHUNK) {
                let last = steps.min(first + CHUNK);
                for group in 0..groups {
                    // The steps at which some lane of this group is inside the scanpath, relative to the step at which
                    // its first lane starts.
                    let from = first.max(group * GROUP);
                    let to = last.min(group * GROUP + other.len() + GROUP - 1);
                    if from < to {
                        let out = &mut self.values[(from - first) * groups..(to - first) * groups];
                        let steps = from - group * GROUP..to - group * GROUP;
                        self.skew_buffers
                            .skew(table, &self.starts, group, steps, out);
                    }
                }
                for (step, values) in (first..last).zip(self.values.chunks_exact(groups)) {
                    kernel.step(step, values);
                }
            }
            progress(if strip + 1 == layout.strips {
                cells - done(strip)
            } else {
                done(strip + 1) - done(strip)
            });
        }
    }
}

/// The groups with a lane inside a scanpath of `length` letters at a step.
#[inline]
pub(crate) fn active(step: usize, length: usize, groups: usize) -> std::ops::Range<usize> {
    let first = (step + 1).saturating_sub(length) / GROUP;
    first..(step / GROUP + 1).min(groups)
}

/// Where a step's columns begin in a reversed array of columns with a group of slack at each end. The reversal makes a
/// step's columns adjacent in lane order.
#[inline]
pub(crate) fn window(step: usize, length: usize, first_lane: usize) -> usize {
    length + GROUP - 1 + first_lane - step
}

/// A number that a sweep moves around only as bits.
pub(crate) trait Value:
    Copy + Default + Not<Output = Self> + BitXor<Output = Self> + BitAnd<Output = Self>
{
}

impl<T> Value for T where
    T: Copy + Default + Not<Output = Self> + BitXor<Output = Self> + BitAnd<Output = Self>
{
}

/// Buffers for the stages of skewing, and for each stage a mask of the lanes taken from an earlier step.
struct SkewBuffers<T> {
    masks: [[T; GROUP]; 3],
    raw: Vec<[T; GROUP]>,
    once: Vec<[T; GROUP]>,
    twice: Vec<[T; GROUP]>,
}

impl<T: Value> SkewBuffers<T> {
    fn new() -> Self {
        let room = |back: usize| vec![[T::default(); GROUP]; CHUNK + back];
        let mask = |bit: usize| {
            lanes(|lane| match lane & bit {
                0 => T::default(),
                _ => !T::default(),
            })
        };
        Self {
            // If the compiler knew the masks, it would copy lane by lane instead of blending whole vectors.
            masks: black_box([mask(1), mask(2), mask(4)]),
            raw: room(7),
            once: room(6),
            twice: room(4),
        }
    }

    /// Writes the values of one group of lanes for a range of its steps. `out` has a slot for every group of each step.
    fn skew(
        &mut self,
        table: &[[T; GRANULE]],
        starts: &[u32],
        group: usize,
        steps: std::ops::Range<usize>,
        out: &mut [[T; GROUP]],
    ) {
        let count = steps.len();
        let groups = out.len() / count;
        if size_of::<T>() == size_of::<u64>() {
            // Baseline vectors hold two such lanes, so blending takes more work than fetching one by one.
            return fetch(table, starts, group, steps, out);
        }
        let raw = &mut self.raw[..count + 7];
        let once = &mut self.once[..count + 6];
        let twice = &mut self.twice[..count + 4];
        // Seven steps more than requested, because lanes look up to seven steps back. The upper half of the group is
        // another eight steps behind.
        let lower = &starts[steps.start + GROUP - 7..];
        let upper = &starts[steps.start + GROUP - 7 - GRANULE..];
        let (low_table, high_table) = (&table[2 * group..], &table[2 * group + 1..]);
        for ((slot, &low), &high) in raw.iter_mut().zip(lower).zip(upper) {
            let (low_half, high_half) = slot.split_at_mut(GRANULE);
            low_half.copy_from_slice(&low_table[low as usize]);
            high_half.copy_from_slice(&high_table[high as usize]);
        }
        let [bit_0, bit_1, bit_2] = self.masks;
        for ((slot, now), back) in once.iter_mut().zip(&raw[1..]).zip(&raw[..]) {
            *slot = blend(now, back, &bit_0);
        }
        for ((slot, now), back) in twice.iter_mut().zip(&once[2..]).zip(&once[..]) {
            *slot = blend(now, back, &bit_1);
        }
        for ((slots, now), back) in out
            .chunks_exact_mut(groups)
            .zip(&twice[4..])
            .zip(&twice[..])
        {
            slots[group] = blend(now, back, &bit_2);
        }
    }
}

/// The same as [`SkewBuffers::skew`], lane by lane.
fn fetch<T: Value>(
    table: &[[T; GRANULE]],
    starts: &[u32],
    group: usize,
    steps: std::ops::Range<usize>,
    out: &mut [[T; GROUP]],
) {
    let groups = out.len() / steps.len();
    let table = &table.as_flattened()[group * GROUP..];
    let back = starts[steps.start + 1..].array_windows::<GROUP>();
    for (slots, back) in out.chunks_exact_mut(groups).zip(back) {
        slots[group] = lanes(|lane| table[back[GROUP - 1 - lane] as usize * GRANULE + lane]);
    }
}

/// Builds a group from the value of each lane.
#[inline(always)]
pub(crate) fn lanes<T: Copy + Default>(lane: impl Fn(usize) -> T) -> [T; GROUP] {
    let mut group = [T::default(); GROUP];
    for (index, slot) in group.iter_mut().enumerate() {
        *slot = lane(index);
    }
    group
}

/// Takes lanes from `back` where the mask is all ones, and from `now` elsewhere.
#[inline(always)]
fn blend<T: Value>(now: &[T; GROUP], back: &[T; GROUP], mask: &[T; GROUP]) -> [T; GROUP] {
    let (now, back) = (*now, *back);
    lanes(|lane| now[lane] ^ ((now[lane] ^ back[lane]) & mask[lane]))
}
