//! Compares many pairs on all cores.
//!
//! Pairs that share a scanpath are computed together, because preparing a scanpath can cost as much as comparing it.
//! These rows are split into tasks of similar size. The largest tasks start first, so that a single huge pair does not
//! start last.

use crate::Scanpath;
use crate::kernel::Row;
use rayon::prelude::*;

/// Below this many matrix cells, a task is not worth the bookkeeping.
const MIN_TASK_CELLS: u64 = 1 << 18;
/// Tasks per thread: enough to even out run times that the number of matrix cells does not predict.
const TASKS_PER_THREAD: u64 = 16;

/// The pairs to compute, as indices into two lists of scanpaths. All indices must be in range.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a> {
    pub(crate) first: &'a [&'a Scanpath],
    pub(crate) second: &'a [&'a Scanpath],
    pub(crate) pairs: &'a [(usize, usize)],
    /// The size of the alphabet.
    pub(crate) letters: u32,
    /// Called with the number of finished matrix cells.
    pub(crate) progress: &'a (dyn Fn(u64) + Sync),
}

impl Batch<'_> {
    /// Calls `compute` for each row of pairs. `compute` reports each finished pair by its index in the row. Results are
    /// in the order of the pairs.
    pub(crate) fn run<R: Send>(
        &self,
        compute: impl Fn(Row<'_>, &mut dyn FnMut(usize, R)) + Sync,
    ) -> Vec<R> {
        let done: Vec<Vec<(usize, R)>> = self
            .tasks()
            .into_par_iter()
            .with_max_len(1)
            .map(|task| {
                let mut results = Vec::with_capacity(task.pairs.len());
                let (shared_is_first, shared, others) = self.sides(&task);
                let row = Row {
                    shared,
                    others: &others,
                    shared_is_first,
                    letters: self.letters,
                    progress: self.progress,
                };
                compute(row, &mut |index, result| {
                    results.push((task.pairs[index], result));
                });
                results
            })
            .collect();
        let mut results: Vec<Option<R>> = self.pairs.iter().map(|_| None).collect();
        for (index, result) in done.into_iter().flatten() {
            results[index] = Some(result);
        }
        results.into_iter().flatten().collect()
    }

    fn tasks(&self) -> Vec<Task> {
        let shared_is_first = self.first_is_shared_more();
        let shared = |index: usize| {
            let (first, second) = self.pairs[index];
            if shared_is_first { first } else { second }
        };
        let mut order: Vec<usize> = (0..self.pairs.len()).collect();
        order.sort_by_key(|&index| shared(index));
        let total: u64 = order.iter().map(|&index| self.cells(index)).sum();
        let cells_per_task =
            total / (rayon::current_num_threads() as u64 * TASKS_PER_THREAD).max(1);
        let limit = cells_per_task.max(MIN_TASK_CELLS);
        let mut tasks = Vec::new();
        for row in order.chunk_by(|&left, &right| shared(left) == shared(right)) {
            let mut task = Task::new(shared_is_first);
            for &index in row {
                let cells = self.cells(index);
                if task.cells + cells > limit && !task.pairs.is_empty() {
                    tasks.push(std::mem::replace(&mut task, Task::new(shared_is_first)));
                }
                task.pairs.push(index);
                task.cells += cells;
            }
            tasks.push(task);
        }
        tasks.sort_by_key(|task| std::cmp::Reverse(task.cells));
        tasks
    }

    fn cells(&self, index: usize) -> u64 {
        let (first, second) = self.pairs[index];
        self.first[first].len() as u64 * self.second[second].len() as u64
    }

    fn first_is_shared_more(&self) -> bool {
        let distinct = |count: usize, side: fn(&(usize, usize)) -> usize| {
            let mut seen = vec![false; count];
            self.pairs.iter().for_each(|pair| seen[side(pair)] = true);
            seen.into_iter().filter(|&seen| seen).count()
        };
        distinct(self.first.len(), |pair| pair.0) <= distinct(self.second.len(), |pair| pair.1)
    }

    fn sides(&self, task: &Task) -> (bool, &[u16], Vec<&[u16]>) {
        let letters = |index: usize| {
            let (first, second) = self.pairs[index];
            (self.first[first].letters(), self.second[second].letters())
        };
        let pairs = task.pairs.iter().map(|&index| letters(index));
        if let [index] = task.pairs[..] {
            let row = letters(index);
            return match shorter_first(row.0, row.1) {
                (true, shared, other) => (true, shared, vec![other]),
                (false, shared, other) => (false, shared, vec![other]),
            };
        }
        let shared = task.pairs.first().map(|&index| letters(index));
        if task.shared_is_first {
            (
                true,
                shared.map_or(&[], |pair| pair.0),
                pairs.map(|pair| pair.1).collect(),
            )
        } else {
            (
                false,
                shared.map_or(&[], |pair| pair.1),
                pairs.map(|pair| pair.0).collect(),
            )
        }
    }
}

/// Orders two scanpaths so that the shorter lies along the lanes, for pairs that share no scanpath: a strip of lanes
/// takes about as many steps as the other scanpath has letters. Returns whether the shorter is the first, then the
/// shorter and the longer.
pub(crate) fn shorter_first<'a>(
    first: &'a [u16],
    second: &'a [u16],
) -> (bool, &'a [u16], &'a [u16]) {
    if first.len() <= second.len() {
        (true, first, second)
    } else {
        (false, second, first)
    }
}

/// Pairs that share one scanpath, by their indices.
struct Task {
    shared_is_first: bool,
    pairs: Vec<usize>,
    cells: u64,
}

impl Task {
    fn new(shared_is_first: bool) -> Self {
        Self {
            shared_is_first,
            pairs: Vec::new(),
            cells: 0,
        }
    }
}
