//! The minimum cost of a global alignment, for any cost table.
//!
//! With `D(i, j)` the minimum cost of the first `i` and `j` letters, the kernel stores the gain over the all-gaps path
//! along the border: `H = D(i, j−1) + insert − D(i, j)` and `V = D(i−1, j) + delete − D(i, j)`. With `T` the gain of a
//! substitution, `max(0, insert + delete − cost)`, the recurrence becomes
//!
//! ```text
//! t = max(T, V(i, j−1), H(i−1, j));   H(i, j) = t − V(i, j−1);   V(i, j) = t − H(i−1, j)
//! ```
//!
//! with zeros at the borders, and the minimum cost is `m·delete + n·insert − Σ H(m, j)`. `t`, `H` and `V` never exceed
//! the largest `T`, and all can be divided by a common divisor of all `T`. So most cost tables fit in 8 bits per cell.

use super::Row;
use super::number::{FLOAT_LIMIT, Number};
use super::profile::{GROUP, Profile};
use super::sweep::{SweepStep, Sweeper, active, lanes, window};
use super::values::{Values, common_divisor};
use crate::{GlobalModel, RewardModel};

/// A global model prepared for sweeps.
pub(crate) struct GlobalKernel {
    insert: u32,
    delete: u32,
    divisor: u32,
    gains: Gains,
}

/// The gains of substitutions, in the narrowest type that fits them.
enum Gains {
    /// No substitution is cheaper than a deletion plus an insertion.
    None,
    Narrow(Values<u8>),
    Middle(Values<u16>),
    Float(Values<f32>),
    Wide(Values<u32>),
}

impl GlobalKernel {
    pub(crate) fn new(model: &GlobalModel, letters: u32) -> Self {
        // At most 2³¹, since no cost exceeds 2³⁰.
        let both = model.insert + model.delete;
        let costs = Values::of_costs(&model.costs, letters).squared(letters);
        let (mut max_gain, mut divisor) = (0, 0);
        costs.visit(|cost| {
            let gain = both.saturating_sub(cost);
            max_gain = max_gain.max(gain);
            if divisor != 1 {
                divisor = common_divisor(divisor, gain);
            }
        });
        let gains = match max_gain.checked_div(divisor).map(i64::from) {
            None => Gains::None,
            Some(0..=0xff) => Gains::Narrow(reduced(&costs, both, divisor)),
            Some(0x100..=0xffff) => Gains::Middle(reduced(&costs, both, divisor)),
            Some(0x1_0000..=FLOAT_LIMIT) => Gains::Float(reduced(&costs, both, divisor)),
            Some(_) => Gains::Wide(reduced(&costs, both, divisor)),
        };
        Self {
            insert: model.insert,
            delete: model.delete,
            divisor,
            gains,
        }
    }

    /// The minimum alignment costs of the shared scanpath with each of the others.
    pub(crate) fn row(&self, row: Row<'_>, mut finished: impl FnMut(usize, i64)) {
        let (shared_gap, step_gap) = if row.shared_is_first {
            (self.delete, self.insert)
        } else {
            (self.insert, self.delete)
        };
        let mut finish = |index: usize, gained: u64| {
            let gaps = row.shared.len() as u64 * u64::from(shared_gap)
                + row.others[index].len() as u64 * u64::from(step_gap);
            let cost = gaps - gained * u64::from(self.divisor);
            finished(index, i64::try_from(cost).unwrap_or(i64::MAX));
        };
        match &self.gains {
            Gains::None => (0..row.others.len()).for_each(|index| {
                (row.progress)(row.cells(index));
                finish(index, 0);
            }),
            Gains::Narrow(values) => gained(row, |a, b| values.get(a, b), finish),
            Gains::Middle(values) => gained(row, |a, b| values.get(a, b), finish),
            Gains::Float(values) => gained(row, |a, b| values.get(a, b), finish),
            Gains::Wide(values) => gained(row, |a, b| values.get(a, b), finish),
        }
    }
}

/// A prepared alignment with free gaps. Its rewards are the gains of substitutions.
pub(crate) struct RewardKernel {
    model: RewardModel,
    rewards: Rewards,
}

enum Rewards {
    Middle(Values<u16>),
    Wide(Values<u32>),
    /// The alphabet is too large for a table.
    Computed,
}

/// The largest alphabet that gets a table of rewards.
const TABLE_LETTERS: u32 = 2048;

impl RewardKernel {
    pub(crate) fn new(model: &RewardModel, letters: u32) -> Self {
        let square = || {
            let all = 0..u16::try_from(letters).unwrap_or(u16::MAX);
            let pairs = all.clone().flat_map(|a| all.clone().map(move |b| (a, b)));
            Values::Square {
                size: letters as usize,
                values: pairs.map(|(a, b)| model.reward(a, b)).collect(),
            }
        };
        let rewards = match (letters, model.largest()) {
            (TABLE_LETTERS.., _) => Rewards::Computed,
            (_, 0..=0xffff) => {
                Rewards::Middle(square().map(|reward| u16::try_from(reward).unwrap_or(u16::MAX)))
            }
            _ => Rewards::Wide(square()),
        };
        Self {
            model: model.clone(),
            rewards,
        }
    }

    /// The unrewarded durations of the shared scanpath with each of the others.
    pub(crate) fn row(&self, row: Row<'_>, mut finished: impl FnMut(usize, i64)) {
        let shared = self.model.total(row.shared);
        let finish = |index: usize, reward: u64| {
            let total = shared + self.model.total(row.others[index]);
            let left = total.saturating_sub(2 * reward);
            finished(index, i64::try_from(left).unwrap_or(i64::MAX));
        };
        match &self.rewards {
            Rewards::Middle(values) => gained(row, |a, b| values.get(a, b), finish),
            Rewards::Wide(values) => gained(row, |a, b| values.get(a, b), finish),
            Rewards::Computed => gained(row, |a, b| self.model.reward(a, b), finish),
        }
    }
}

/// The gain of each substitution, in units of the divisor.
fn reduced<T: Number>(costs: &Values<u32>, both: u32, divisor: u32) -> Values<T> {
    costs.map(|cost| T::of((both.saturating_sub(cost) / divisor).into()))
}

fn gained<T: Number>(
    row: Row<'_>,
    gain: impl Fn(u16, u16) -> T,
    mut finish: impl FnMut(usize, u64),
) {
    let profile = Profile::new(row, |a, b| gain(a, b).bits());
    let groups = profile.layout().lanes / GROUP;
    let mut sweeper = Sweeper::new();
    for (index, &other) in row.others.iter().enumerate() {
        if row.shared.is_empty() || other.is_empty() {
            finish(index, 0);
            continue;
        }
        let mut differences = Differences {
            length: other.len(),
            vertical: vec![[T::default(); GROUP]; groups],
            horizontal: vec![T::default(); other.len() + 2 * GROUP],
        };
        sweeper.sweep(&profile, other, &mut differences, row.progress);
        let last_row = &differences.horizontal[GROUP..GROUP + other.len()];
        let gained = last_row.iter().map(|gain| gain.integer().unsigned_abs());
        finish(index, gained.sum());
    }
}

/// The state of a sweep: `V` by lane, and `H` by column, backwards.
struct Differences<T> {
    length: usize,
    vertical: Vec<[T; GROUP]>,
    horizontal: Vec<T>,
}

/// Positions outside the matrix need no special treatment. Before a scanpath everything is zero and stays zero, and no
/// position inside the matrix reads a value after its end.
impl<T: Number> SweepStep<T::Bits> for Differences<T> {
    fn begin(&mut self, _first_row: usize) {
        self.vertical.fill([T::default(); GROUP]);
    }

    #[inline]
    fn step(&mut self, step: usize, values: &[[T::Bits; GROUP]]) {
        let active = active(step, self.length, values.len());
        let start = window(step, self.length, active.start * GROUP);
        let columns = self.horizontal[start..].as_chunks_mut::<GROUP>().0;
        for ((vertical, horizontal), gains) in self.vertical[active.clone()]
            .iter_mut()
            .zip(columns)
            .zip(&values[active])
        {
            // Read everything before writing anything; otherwise the compiler does not vectorise.
            let (left, up) = (*vertical, *horizontal);
            let best = lanes(|lane| {
                T::from_bits(gains[lane])
                    .larger(left[lane])
                    .larger(up[lane])
            });
            *vertical = lanes(|lane| best[lane].minus(up[lane]));
            *horizontal = lanes(|lane| best[lane].minus(left[lane]));
        }
    }
}
