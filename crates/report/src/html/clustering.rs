//! Hierarchical clustering by average linkage, for the order of a heat map's rows and columns and for its dendrograms.
//! The functions cluster rows; columns are the rows of the transposed matrix.
//!
//! If a cohort was compared with itself, the distance between any two members is known. Between two cohorts nothing is
//! known about two members of the same one. There, the distance between two rows is that of their numbers: the root
//! mean square difference over the columns that both have.
//!
//! The nearest-neighbour chain algorithm finds the average-linkage tree in O(n²) steps.

use super::matrix::{DissimilarityMatrix, Matrix};
use std::collections::HashMap;

/// The most rows that are clustered, and the most numbers read to do so: a few seconds of work.
const MAX_ROWS_OR_COLUMNS: usize = 3000;
const MAX_NUMBERS: usize = 3_000_000_000;

/// The order of the rows, and how they are merged.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    /// The rows in drawing order.
    pub(crate) order: Vec<usize>,
    /// The merges from the leaves to the root. Node `k` below the number of rows is a row; node `rows + k` is merge
    /// `k`. Empty if there are too many rows to cluster; they are then ordered by their means.
    pub(crate) merges: Vec<Merge>,
}

/// Merges two nodes into one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Merge {
    pub(crate) children: [usize; 2],
    /// The mean distance between the rows of both nodes.
    pub(crate) height: f64,
}

impl Tree {
    /// Whether there were too many rows to cluster.
    pub(crate) fn is_by_means(&self) -> bool {
        self.merges.is_empty() && self.order.len() > 1
    }

    /// The same tree for the other side, which has the same ids in a different order.
    pub(crate) fn renamed(&self, from: &[String], to: &[String]) -> Self {
        let positions: HashMap<&String, usize> = to.iter().zip(0..).collect();
        let rows = from.len();
        let renamed_row = |row: usize| from.get(row).and_then(|id| positions.get(id)).copied();
        let node = |node: usize| {
            if node < rows {
                renamed_row(node).unwrap_or(node)
            } else {
                node
            }
        };
        Self {
            order: self.order.iter().map(|&row| node(row)).collect(),
            merges: self
                .merges
                .iter()
                .map(|merge| Merge {
                    children: merge.children.map(node),
                    ..*merge
                })
                .collect(),
        }
    }
}

/// Clusters the rows of a matrix. Of two branches, the one with the greater mean comes first.
pub(crate) fn rows(matrix: &Matrix, distances: Option<DissimilarityMatrix>) -> Tree {
    let means: Vec<f64> = (0..matrix.rows()).map(|row| mean(matrix, row)).collect();
    let count = matrix.rows();
    let numbers = (count * count / 2).saturating_mul(matrix.columns());
    if count > MAX_ROWS_OR_COLUMNS || numbers > MAX_NUMBERS {
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&i, &j| means[j].total_cmp(&means[i]));
        return Tree {
            order,
            merges: Vec::new(),
        };
    }
    tree(distances.unwrap_or_else(|| profiles(matrix)), &means)
}

/// Clusters by distance. `means` determine which branch comes first.
fn tree(mut distances: DissimilarityMatrix, means: &[f64]) -> Tree {
    let rows = distances.size;
    let mut merges: Vec<Merge> = Vec::with_capacity(rows.saturating_sub(1));
    // For each slot: the node it holds, the number of rows in it, and the sum of their means.
    let mut node: Vec<usize> = (0..rows).collect();
    let mut count = vec![1.0; rows];
    let mut sums = means.to_vec();
    let mut active: Vec<usize> = (0..rows).collect();
    let mut chain: Vec<usize> = Vec::new();
    while active.len() > 1 {
        if chain.is_empty() {
            chain.extend(active.first());
        }
        let Some(&last) = chain.last() else { break };
        let before = chain.len().checked_sub(2).map(|at| chain[at]);
        let nearest = nearest(&distances, &active, last, before);
        if Some(nearest) != before {
            chain.push(nearest);
            continue;
        }
        chain.truncate(chain.len() - 2);
        let (survivor, removed) = (last.min(nearest), last.max(nearest));
        let first = if sums[removed] / count[removed] > sums[survivor] / count[survivor] {
            [node[removed], node[survivor]]
        } else {
            [node[survivor], node[removed]]
        };
        merges.push(Merge {
            children: first,
            height: distances.get(survivor, removed),
        });
        active.retain(|&slot| slot != removed);
        for &other in active.iter().filter(|&&other| other != survivor) {
            let both = count[survivor] * distances.get(survivor, other)
                + count[removed] * distances.get(removed, other);
            distances.set(survivor, other, both / (count[survivor] + count[removed]));
        }
        count[survivor] += count[removed];
        sums[survivor] += sums[removed];
        node[survivor] = rows + merges.len() - 1;
    }
    Tree {
        order: leaves(rows, &merges),
        merges,
    }
}

/// The nearest other slot. On ties, the previous one in the chain wins, so that the chain ends; otherwise the first.
fn nearest(
    distances: &DissimilarityMatrix,
    active: &[usize],
    from: usize,
    before: Option<usize>,
) -> usize {
    let mut best = before.unwrap_or(from);
    let mut smallest = before.map_or(f64::INFINITY, |before| distances.get(from, before));
    for &slot in active {
        if slot != from && (distances.get(from, slot) < smallest || best == from) {
            smallest = distances.get(from, slot);
            best = slot;
        }
    }
    best
}

fn leaves(rows: usize, merges: &[Merge]) -> Vec<usize> {
    let mut order = Vec::with_capacity(rows);
    let root = (rows + merges.len()).checked_sub(1);
    let mut open: Vec<usize> = root.into_iter().collect();
    while let Some(node) = open.pop() {
        match node.checked_sub(rows) {
            None => order.push(node),
            Some(merge) => open.extend(merges[merge].children.iter().rev()),
        }
    }
    order
}

fn mean(matrix: &Matrix, row: usize) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in (0..matrix.columns()).filter_map(|column| matrix.get(row, column)) {
        sum += value;
        count += 1.0;
    }
    // All pairs of a row may lack a number.
    if count > 0.0 { sum / count } else { 0.0 }
}

/// Distances between rows, as lists of numbers.
fn profiles(matrix: &Matrix) -> DissimilarityMatrix {
    let columns = matrix.columns();
    let row = |row: usize| matrix.row(row);
    let mut unknown = Vec::new();
    let mut largest = 0.0_f64;
    let mut square = DissimilarityMatrix::new(matrix.rows(), |i, j| {
        let (mut sum, mut common) = (0.0, columns as f64);
        if matrix.missing == 0 {
            sum = row(i)
                .iter()
                .zip(row(j))
                .map(|(x, y)| (x - y) * (x - y))
                .sum();
        } else {
            common = 0.0;
            for difference in row(i).iter().zip(row(j)).map(|(x, y)| x - y) {
                if !difference.is_nan() {
                    sum += difference * difference;
                    common += 1.0;
                }
            }
        }
        if common == 0.0 {
            unknown.push((i, j));
            return 0.0;
        }
        let distance = f64::sqrt(sum / common);
        largest = largest.max(distance);
        distance
    });
    // Two rows without a common column get the largest distance between any two rows that have one.
    for (i, j) in unknown {
        square.set(i, j, largest);
    }
    square
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::matrix::PairValue;

    fn from_positions(positions: &[f64]) -> DissimilarityMatrix {
        DissimilarityMatrix::new(positions.len(), |i, j| (positions[i] - positions[j]).abs())
    }

    /// By hand: 0 and 1 merge at 1, 5 and 7 at 2, and both pairs at the mean of 5, 7, 4 and 6. The last one, at 20, is
    /// 20, 19, 15 and 13 away from the others.
    #[test]
    fn merges_and_heights_follow_average_linkage() {
        let tree = tree(
            from_positions(&[0.0, 5.0, 1.0, 7.0, 20.0]),
            &[5.0, 4.0, 3.0, 2.0, 1.0],
        );
        let mut heights: Vec<f64> = tree.merges.iter().map(|merge| merge.height).collect();
        heights.sort_by(f64::total_cmp);
        assert_eq!(heights, [1.0, 2.0, 5.5, 16.75]);
        assert_eq!(tree.order, [0, 2, 1, 3, 4]);
    }

    #[test]
    fn the_branch_with_the_greater_mean_comes_first() {
        let tree = tree(from_positions(&[0.0, 5.0, 1.0, 7.0]), &[0.0, 1.0, 0.5, 2.0]);
        assert_eq!(tree.order, [3, 1, 2, 0]);
    }

    /// Follows the definition step by step, with the mean over all pairs of rows.
    #[test]
    fn random_distances_give_the_heights_of_the_definition() {
        let mut seed = 7_u64;
        for size in [2, 3, 4, 9, 30] {
            let distances = DissimilarityMatrix::new(size, |_, _| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 33) as f64
            });
            let mut groups: Vec<Vec<usize>> = (0..size).map(|row| vec![row]).collect();
            let mut expected = Vec::new();
            while groups.len() > 1 {
                let mut best = (f64::INFINITY, 0, 0);
                for i in 0..groups.len() {
                    for j in 0..i {
                        let pairs = groups[i]
                            .iter()
                            .flat_map(|&x| groups[j].iter().map(move |&y| (x, y)));
                        let sum: f64 = pairs.map(|(x, y)| distances.get(x, y)).sum();
                        let mean = sum / (groups[i].len() * groups[j].len()) as f64;
                        if mean < best.0 {
                            best = (mean, i, j);
                        }
                    }
                }
                expected.push(best.0);
                let merged = groups.remove(best.1);
                groups[best.2].extend(merged);
            }
            let tree = tree(distances, &vec![0.0; size]);
            let mut heights: Vec<f64> = tree.merges.iter().map(|merge| merge.height).collect();
            heights.sort_by(f64::total_cmp);
            for (ours, theirs) in heights.iter().zip(&expected) {
                assert!((ours / theirs - 1.0).abs() < 1e-12, "{ours} {theirs}");
            }
            let mut order = tree.order.clone();
            order.sort_unstable();
            assert!(order.into_iter().eq(0..size));
        }
    }

    #[test]
    fn trivial_inputs_terminate() {
        for size in 0..6 {
            let tree = tree(DissimilarityMatrix::new(size, |_, _| 1.0), &vec![0.0; size]);
            assert_eq!(tree.order.len(), size);
            assert_eq!(tree.merges.len(), size.saturating_sub(1));
        }
    }

    #[test]
    fn rows_with_missing_values_are_compared_on_common_columns() {
        let cells = [
            ("p", "x", 1.0),
            ("q", "x", 4.0),
            ("q", "y", 2.0),
            ("r", "y", 2.5),
            ("s", "z", 0.0),
        ];
        let matrix = Matrix::new(cells.iter().map(|&(a, b, value)| PairValue {
            a,
            b,
            value: Some(value),
            secondary: None,
        }));
        let distances = profiles(&matrix.unwrap());
        assert_eq!(distances.get(0, 1), 3.0);
        assert_eq!(distances.get(1, 2), 0.5);
        assert_eq!(distances.get(0, 2), 3.0, "nothing in common: as far as any");
        assert_eq!(distances.get(3, 0), 3.0);
    }
}
