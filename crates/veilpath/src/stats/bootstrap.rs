//! Bootstrap confidence intervals, from participants drawn with replacement.

use super::sample::{Grouping, Sample};
use super::{SEED_BOOTSTRAP, StatsError, StatsOptions};
use veilpath_protocol::Interval;
use veilpath_statistics::{Coins, DrawCounts, percentile_interval};

/// How to compute intervals.
pub(super) struct Bootstrap {
    resamples: u64,
    level: f64,
    seed: u64,
}

/// A sample's participants in strata. Each stratum is drawn from separately, so that its size stays the same.
pub(super) struct Strata {
    sizes: [usize; 2],
    /// Whether rows and columns are the same participants.
    is_one_cohort: bool,
    /// Participants of the second side are numbered after those of the first.
    lists: Vec<Vec<usize>>,
}

impl Strata {
    /// The participants of each side, by group if groups are given.
    pub(super) fn new(sample: &Sample<'_>, groups: Option<&Grouping>) -> Self {
        let sizes = [sample.participants[0].len(), sample.participants[1].len()];
        let is_one_cohort = sample.is_one_cohort();
        let sides = if is_one_cohort { 1 } else { 2 };
        let count = groups.map_or(1, |groups| groups.names.len());
        let mut lists = vec![Vec::new(); sides * count];
        for side in 0..sides {
            for participant in 0..sizes[side] {
                let group = groups.map_or(0, |groups| groups.by_participant[side][participant]);
                lists[side * count + group].push(side * sizes[0] + participant);
            }
        }
        Self {
            sizes,
            is_one_cohort,
            lists,
        }
    }

    /// Two sites as one set of participants.
    pub(super) fn of_sites(sizes: [usize; 2]) -> Self {
        let all = sizes[0] + sizes[1];
        Self {
            sizes: [all, all],
            is_one_cohort: true,
            lists: vec![(0..sizes[0]).collect(), (sizes[0]..all).collect()],
        }
    }

    fn draw(&self, coins: &Coins, index: u64) -> Result<[DrawCounts; 2], StatsError> {
        let draws = coins.draws(index, &self.lists);
        if self.is_one_cohort {
            let drawn = DrawCounts::new(self.sizes[0], &draws)?;
            return Ok([drawn.clone(), drawn]);
        }
        let (first, second): (Vec<usize>, Vec<usize>) =
            draws.into_iter().partition(|&it| it < self.sizes[0]);
        let second: Vec<usize> = second.into_iter().map(|it| it - self.sizes[0]).collect();
        Ok([
            DrawCounts::new(self.sizes[0], &first)?,
            DrawCounts::new(self.sizes[1], &second)?,
        ])
    }
}

impl Bootstrap {
    pub(super) fn new(options: &StatsOptions) -> Result<Self, StatsError> {
        let level = options.level;
        if !(level > 0.0 && level < 1.0) {
            return Err(StatsError::Level {
                level: level.to_string(),
            });
        }
        Ok(Self {
            resamples: options.resamples,
            level,
            seed: options.seed,
        })
    }

    /// Intervals of several statistics over the same draws. A statistic is `None` for a draw without anybody from a
    /// small group; such draws are ignored. An interval needs at least half of the draws.
    pub(super) fn intervals(
        &self,
        strata: &Strata,
        count: usize,
        statistics: impl Fn([&DrawCounts; 2]) -> Vec<Option<f64>>,
    ) -> Result<Vec<Option<Interval>>, StatsError> {
        let coins = Coins::of_number(self.seed, SEED_BOOTSTRAP);
        let mut numbers = vec![Vec::new(); count];
        for index in 0..self.resamples {
            let [rows, columns] = strata.draw(&coins, index)?;
            for (numbers, number) in numbers.iter_mut().zip(statistics([&rows, &columns])) {
                numbers.extend(number);
            }
        }
        numbers.into_iter().map(|it| self.interval(it)).collect()
    }

    fn interval(&self, numbers: Vec<f64>) -> Result<Option<Interval>, StatsError> {
        if numbers.is_empty() || (numbers.len() as u64) < self.resamples.div_ceil(2) {
            return Ok(None);
        }
        let (low, high) = percentile_interval(numbers, self.level)?;
        Ok(Some(Interval {
            level: self.level,
            low,
            high,
            resamples: self.resamples,
            seed: Some(self.seed),
        }))
    }
}
