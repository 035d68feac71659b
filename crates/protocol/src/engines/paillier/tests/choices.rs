//! Cells, batches and permutations are chosen uniformly.

use super::super::order::{ReadyCells, Staircase, candidate_counts, cells_to_take, permutation};
use super::{assert_uniform, rng};
use std::collections::HashMap;

const DRAWS: usize = 24_000;

#[test]
fn every_subset_in_every_order_is_equally_likely() {
    let mut rng = rng(1);
    let mut seen = HashMap::new();
    for _ in 0..DRAWS {
        let mut ready = ReadyCells::new();
        (0..5).for_each(|candidate| ready.push(candidate));
        let drawn = ready.draw(2, &mut rng);
        assert_eq!(ready.len(), 3);
        *seen.entry(drawn).or_insert(0) += 1;
    }
    // 5·4 ordered pairs.
    assert_eq!(seen.len(), 20);
    assert_uniform("pairs", &seen.into_values().collect::<Vec<_>>());
}

#[test]
fn drawn_candidates_are_removed_and_others_stay() {
    let mut ready = ReadyCells::new();
    (0..10).for_each(|candidate| ready.push(candidate));
    let mut all = ready.draw(4, &mut rng(2));
    all.extend(ready.draw(100, &mut rng(3)));
    assert_eq!(ready.len(), 0);
    all.sort_unstable();
    assert_eq!(all, (0..10).collect::<Vec<_>>());
}

#[test]
fn permutations_are_uniform() {
    for width in [3, 4] {
        let mut rng = rng(4);
        let mut seen = HashMap::new();
        for _ in 0..DRAWS {
            *seen
                .entry(permutation(width, &mut rng).to_vec())
                .or_insert(0) += 1;
        }
        assert_eq!(seen.len(), (1..=width).product::<usize>());
        assert_uniform("permutations", &seen.into_values().collect::<Vec<_>>());
    }
}

#[test]
fn a_cell_is_a_candidate_once_its_three_neighbours_are_known() {
    let mut rng = rng(5);
    for (rows, columns) in [(1, 1), (1, 7), (7, 1), (5, 8), (9, 4)] {
        let mut staircase = Staircase::new(rows, columns);
        let mut ready = ReadyCells::new();
        ready.push((1u32, 1u32));
        let mut done = std::collections::HashSet::new();
        while let Some((row, column)) = ready.draw(1, &mut rng).pop() {
            for (i, j) in [(row - 1, column - 1), (row - 1, column), (row, column - 1)] {
                assert!(i == 0 || j == 0 || done.contains(&(i, j)));
            }
            assert!(done.insert((row, column)));
            for cell in staircase.fill((row, column)) {
                ready.push(cell);
            }
        }
        assert_eq!(done.len() as u32, rows * columns);
    }
}

/// The fill order of a 2×2 matrix is fixed except for its two middle cells.
#[test]
fn the_paths_through_a_small_matrix_are_uniform() {
    let mut rng = rng(6);
    let mut first = [0; 2];
    for _ in 0..DRAWS {
        let mut staircase = Staircase::new(2, 2);
        let mut ready = ReadyCells::new();
        staircase.fill((1, 1)).for_each(|cell| ready.push(cell));
        let (row, _) = ready.draw(1, &mut rng)[0];
        first[row as usize - 1] += 1;
    }
    assert_uniform("second cells", &first);
}

#[test]
fn the_number_of_candidates_matches_a_simulation() {
    let mut rng = rng(7);
    assert_eq!(candidate_counts(1, 5, &mut rng), [1; 5]);
    assert_eq!(candidate_counts(0, 5, &mut rng), [0u32; 0]);
    let mean = |rng: &mut _| {
        let counts = candidate_counts(20, 20, rng);
        assert_eq!(counts.len(), 400);
        counts.iter().sum::<u32>() as f64 / 400.0
    };
    let mean = (0..300).map(|_| mean(&mut rng)).sum::<f64>() / 300.0;
    // The paper says 6.8.
    assert!((7.0..7.4).contains(&mean), "{mean}");
}

/// The uncertainty about a cell's anti-diagonal, given the number of its batch, in bits. `take` returns how many of the
/// ready candidates form a batch while others are outstanding. Up to `outstanding` batches are outstanding.
fn uncertainty(size: u32, outstanding: usize, take: impl Fn(usize, usize) -> usize) -> f64 {
    let runs = 150;
    let mut rng = rng(8);
    let mut seen: HashMap<usize, HashMap<u32, f64>> = HashMap::new();
    for _ in 0..runs {
        let mut staircase = Staircase::new(size, size);
        let mut ready = ReadyCells::new();
        ready.push((1u32, 1u32));
        let mut batches = std::collections::VecDeque::new();
        let mut batch = 0;
        loop {
            while batches.len() < outstanding {
                let asked = batches.iter().map(Vec::len).sum();
                let drawn = ready.draw(take(ready.len(), asked), &mut rng);
                if drawn.is_empty() {
                    break;
                }
                for (row, column) in &drawn {
                    let diagonals = seen.entry(batch).or_default();
                    *diagonals.entry(row + column).or_default() += 1.0;
                }
                batches.push_back(drawn);
                batch += 1;
            }
            let Some(answered) = batches.pop_front() else {
                break;
            };
            for cell in answered {
                staircase.fill(cell).for_each(|cell| ready.push(cell));
            }
        }
    }
    let bits = seen.values().map(|diagonals| {
        let total: f64 = diagonals.values().sum();
        let information = |count: &f64| count * (total / count).log2();
        diagonals.values().map(information).sum::<f64>()
    });
    bits.sum::<f64>() / f64::from(runs * size * size)
}

#[test]
fn batches_reveal_hardly_more_of_the_anti_diagonal_than_the_papers_order() {
    for size in [20, 30, 60] {
        let in_the_paper = uncertainty(size, 1, |ready, _| ready.min(1));
        assert!(in_the_paper > 2.5, "{in_the_paper}");
        for full in [8, 16, 40] {
            // A request follows another outstanding one only if it is full.
            let batch = 160;
            let batched = uncertainty(size, 3, |ready, asked| {
                let cells = cells_to_take(ready, asked, batch, full);
                if asked == 0 || cells == batch {
                    cells
                } else {
                    0
                }
            });
            assert!(
                batched >= 0.97 * in_the_paper,
                "{size}, {full}: {batched} {in_the_paper}"
            );
        }
    }
    assert_eq!(uncertainty(20, 1, |ready, _| ready), 0.0);
    // The same, ignoring outstanding cells.
    let other_rule = uncertainty(60, 3, |ready, _| cells_to_take(ready, 0, 256, 8));
    assert!(other_rule < 0.97 * uncertainty(60, 1, |ready, _| ready.min(1)));
}

#[test]
fn at_most_three_quarters_are_taken() {
    for ready in 0..1500 {
        for (batch, full) in [(256, 8), (256, 16), (160, 40), (112, 56), (1, 40), (7, 8)] {
            for asked in [0, 1, 7, 40, 300] {
                let taken = cells_to_take(ready, asked, batch, full);
                assert!(taken <= batch.min(ready));
                let outstanding = taken + asked;
                assert!(taken == 0 || outstanding <= 1 || 4 * outstanding <= 3 * (ready + asked));
                assert!(taken > 0 || ready == 0 || asked > 0);
            }
        }
    }
}
