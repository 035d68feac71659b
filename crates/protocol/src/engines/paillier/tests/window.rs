//! Comparisons end at a steady pace over a run, and stay mixed.

use super::super::matrix_owner::window::Window;
use super::super::order::{ReadyCells, Staircase, cells_to_take};
use super::rng;
use std::collections::{HashMap, VecDeque};

/// How a run went.
struct RunTrace {
    /// The fraction of all cells that was filled when each comparison ended.
    ends: Vec<f64>,
    /// The fewest comparisons in flight while others waited.
    fewest: usize,
    /// Cells in a request, on average.
    request: f64,
}

/// Simulates `pairs` comparisons of `size` × `size` letters as the matrix owner runs them, without cryptography:
/// requests of up to `request` cells, three outstanding.
fn simulate(pairs: usize, size: u32, request: usize, in_flight: Option<usize>) -> RunTrace {
    let mut window = Window::new(pairs, in_flight);
    const FULL: usize = 8;
    let mut rng = rng(21);
    let mut waiting = 0..pairs;
    let mut matrices = HashMap::new();
    let mut ready = ReadyCells::new();
    let mut outstanding: VecDeque<Vec<(usize, (u32, u32))>> = VecDeque::new();
    let cells = u64::from(size * size);
    let all = pairs as f64 * cells as f64;
    let (mut filled, mut requests, mut fewest) = (0.0, 0.0, pairs);
    let mut ends = Vec::new();
    loop {
        let asked = |o: &VecDeque<Vec<_>>| o.iter().map(Vec::len).sum::<usize>();
        while waiting.start < pairs && window.has_room(ready.len() + asked(&outstanding), request) {
            let Some(pair) = waiting.next() else { break };
            window.start(cells);
            matrices.insert(pair, Staircase::new(size, size));
            ready.push((pair, (1u32, 1u32)));
        }
        if waiting.start < pairs {
            fewest = fewest.min(matrices.len());
        }
        while outstanding.len() < 3 {
            let count = cells_to_take(ready.len(), asked(&outstanding), request, FULL);
            if count == 0 || (!outstanding.is_empty() && count < request) {
                break;
            }
            outstanding.push_back(ready.draw(count, &mut rng));
            requests += 1.0;
        }
        let Some(answered) = outstanding.pop_front() else {
            break;
        };
        for (pair, cell) in answered {
            filled += 1.0;
            window.fill();
            let staircase = matrices.get_mut(&pair).unwrap();
            staircase
                .fill(cell)
                .for_each(|cell| ready.push((pair, cell)));
            if cell == (size, size) {
                matrices.remove(&pair);
                window.finish();
                ends.push(filled / all);
            }
        }
    }
    assert_eq!(ends.len(), pairs);
    RunTrace {
        ends,
        fewest,
        request: filled / requests,
    }
}

/// 900 pairs of 20 × 20 letters with the requests of keys of 2048, 1024 and 512 bits, and all of them in flight.
#[test]
fn pairs_end_steadily() {
    for (request, first, half) in [(160, 0.15, 0.6), (336, 0.2, 0.7), (512, 0.2, 0.75)] {
        let steady = simulate(900, 20, request, None);
        let mixed = simulate(900, 20, request, Some(900));
        println!(
            "requests of {request}: first after {:.3}, half after {:.3}, {:.1} cells each; all in flight {:.3}, {:.3}, {:.1}",
            steady.ends[0],
            steady.ends[450],
            steady.request,
            mixed.ends[0],
            mixed.ends[450],
            mixed.request
        );
        assert!(steady.ends[0] < first && steady.ends[450] < half);
        // Every comparison always runs among at least this many, and requests are as full as if all were in flight.
        assert!(steady.fewest >= 64, "{}", steady.fewest);
        assert!(steady.request > 0.93 * mixed.request);
        assert!(mixed.ends[0] > 0.85);
    }
}

/// Long scanpaths have enough cells to choose from; with short ones, all comparisons must be in flight.
#[test]
fn other_lengths_end_steadily_too() {
    for (size, half) in [(4, 0.97), (8, 0.7), (60, 0.7)] {
        let pairs = if size == 60 { 300 } else { 900 };
        let steady = simulate(pairs, size, 160, None);
        assert!(steady.ends[pairs / 2] < half, "{}", steady.ends[pairs / 2]);
    }
}

/// Pairs also end steadily in sessions with fewer pairs, and stay mixed.
#[test]
fn few_pairs_end_steadily_too() {
    for (pairs, fewest, first) in [
        (64, 16, 0.7),
        (100, 16, 0.5),
        (225, 28, 0.35),
        (400, 50, 0.3),
    ] {
        let steady = simulate(pairs, 20, 160, None);
        let mixed = simulate(pairs, 20, 160, Some(pairs));
        println!(
            "{pairs} pairs: first after {:.3}, half after {:.3}, {:.1} cells per request; all in flight {:.3}, {:.3}, {:.1}",
            steady.ends[0],
            steady.ends[pairs / 2],
            steady.request,
            mixed.ends[0],
            mixed.ends[pairs / 2],
            mixed.request
        );
        assert!(steady.ends[0] < first, "{}", steady.ends[0]);
        assert!(steady.ends[pairs / 2] < mixed.ends[pairs / 2]);
        assert!(steady.fewest >= fewest, "{}", steady.fewest);
        assert!(steady.request > 0.8 * mixed.request, "{}", steady.request);
    }
}
