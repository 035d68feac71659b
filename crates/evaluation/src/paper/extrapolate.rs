//! Extrapolates what was not measured.

use super::measurements::{MeasuredEngine, Measurement};
use crate::{PAPER_LETTERS, mean_and_deviation};

/// The time in seconds of one comparison with this many cells, in its own session.
///
/// The time per cell is the slope between the engine's longest comparison and the next one with at most a quarter of its cells.
/// Without such a comparison, it is the time of a cell while many comparisons run. The rest of the longest comparison's time is
/// the setup before the first cell. Only the longest comparisons are used, because a small matrix offers few cells to compute
/// at once and takes longer for each.
pub(super) fn seconds(
    measurements: &[Measurement],
    engine: MeasuredEngine,
    cells: f64,
) -> Option<f64> {
    let measured = measurements
        .iter()
        .filter_map(|measurement| match measurement {
            Measurement::Single {
                engine: e,
                length,
                seconds,
                ..
            } if *e == engine && !seconds.is_empty() => {
                Some(((length * length) as f64, mean_and_deviation(seconds).0))
            }
            _ => None,
        });
    let measured: Vec<(f64, f64)> = measured.collect();
    let by_cells = |a: &&(f64, f64), b: &&(f64, f64)| a.0.total_cmp(&b.0);
    let in_parallel = measurements
        .iter()
        .find_map(|measurement| match measurement {
            Measurement::Cell {
                engine: e, seconds, ..
            } if *e == engine => Some(*seconds),
            _ => None,
        });
    let Some(longest) = measured.iter().max_by(by_cells) else {
        return Some(in_parallel? * cells);
    };
    let shorter = measured.iter().filter(|it| it.0 * 4.0 <= longest.0);
    let per_cell = match shorter.max_by(by_cells) {
        Some(shorter) => ((longest.1 - shorter.1) / (longest.0 - shorter.0)).max(0.0),
        None => in_parallel?,
    };
    Some((longest.1 - per_cell * longest.0).max(0.0) + per_cell * cells)
}

/// The bytes of one comparison in its own session: the host's substitution costs grow with the length, everything else with
/// the number of cells.
pub(super) fn bytes(
    measurements: &[Measurement],
    engine: MeasuredEngine,
    length: usize,
) -> Option<[u64; 2]> {
    let MeasuredEngine::Paillier(bits) = engine else {
        return None;
    };
    let costs =
        |length: usize| (length as u64 * u64::from(PAPER_LETTERS)) as f64 * f64::from(bits) / 4.0;
    let longest = measurements
        .iter()
        .filter_map(|measurement| match measurement {
            Measurement::Single {
                engine: e,
                length,
                bytes,
                ..
            } if *e == engine => Some((*length, *bytes)),
            _ => None,
        });
    let (measured, [host, join]) = longest.max_by_key(|&(length, _)| length)?;
    let growth = (length as f64 / measured as f64).powi(2);
    let host = (host as f64 - costs(measured)).max(0.0) * growth + costs(length);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // far below 2⁵³
    let bytes = [host as u64, (join as f64 * growth) as u64];
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGINE: MeasuredEngine = MeasuredEngine::Paillier(512);

    fn single(length: usize, seconds: f64, bytes: [u64; 2]) -> Measurement {
        Measurement::Single {
            engine: ENGINE,
            length,
            seconds: vec![seconds, seconds],
            bytes,
        }
    }

    fn cell(seconds: f64) -> Measurement {
        Measurement::Cell {
            engine: ENGINE,
            seconds,
            host: 0.0,
            join: 0.0,
            bytes: 0.0,
        }
    }

    #[test]
    fn time_before_the_first_cell_does_not_grow() {
        let close = |measurements: &[Measurement], cells: f64, expected: f64| {
            let found = seconds(measurements, ENGINE, cells).unwrap_or(f64::NAN);
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        };
        let line = |length: usize| single(length, 0.5 + 0.001 * (length * length) as f64, [0; 2]);
        close(&[cell(0.002)], 1e4, 20.0);
        close(&[cell(0.001), line(10)], 1e4, 10.5);
        close(&[cell(9.0), line(10), line(100)], 1e6, 1000.5);
        // The slope between the shortest comparisons is steeper.
        close(&[single(8, 0.1, [0; 2]), line(50), line(100)], 1e6, 1000.5);
        // Nearly the same length: the slope between them is unreliable.
        close(&[cell(0.001), line(8), line(10)], 1e4, 10.5);
        assert_eq!(seconds(&[], ENGINE, 1.0), None);
    }

    #[test]
    fn substitution_costs_grow_with_the_length() {
        let costs = |length: u64| length * 52 * 128;
        let measurement = single(10, 1.0, [costs(10) + 100 * 7, 100 * 9]);
        let expected = [costs(100) + 10_000 * 7, 10_000 * 9];
        assert_eq!(bytes(&[measurement], ENGINE, 100), Some(expected));
    }
}
