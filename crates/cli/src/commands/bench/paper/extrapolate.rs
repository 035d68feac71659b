//! What was not measured: from what was.

use super::lengths::mean_and_deviation;
use super::measure::LETTERS;
use super::record::{Measured, Record};

/// The seconds of one comparison of so many cells by itself.
///
/// The time of a cell is that between the longest comparison of the engine and the next one that is short enough to tell, where there
/// is one, else that of a cell among many; what the longest took beyond its cells came before the first. A short matrix has few cells
/// that can be asked for at once, and each of them takes longer: the longest comparisons are the nearest to what is sought.
pub(super) fn seconds(records: &[Record], engine: Measured, cells: f64) -> Option<f64> {
    let measured = records.iter().filter_map(|record| match record {
        Record::Alone {
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
    let among_many = records.iter().find_map(|record| match record {
        Record::Cell {
            engine: e, seconds, ..
        } if *e == engine => Some(*seconds),
        _ => None,
    });
    let Some(longest) = measured.iter().max_by(by_cells) else {
        return Some(among_many? * cells);
    };
    let shorter = measured.iter().filter(|it| it.0 * 4.0 <= longest.0);
    let per_cell = match shorter.max_by(by_cells) {
        Some(shorter) => ((longest.1 - shorter.1) / (longest.0 - shorter.0)).max(0.0),
        None => among_many?,
    };
    Some((longest.1 - per_cell * longest.0).max(0.0) + per_cell * cells)
}

/// The bytes of a comparison by itself: Alice's substitution costs grow with the length, all else with the cells.
pub(super) fn bytes(records: &[Record], engine: Measured, length: usize) -> Option<[u64; 2]> {
    let Measured::Paillier(bits) = engine else {
        return None;
    };
    let costs = |length: usize| (length as u64 * u64::from(LETTERS)) as f64 * f64::from(bits) / 4.0;
    let longest = records.iter().filter_map(|record| match record {
        Record::Alone {
            engine: e,
            length,
            bytes,
            ..
        } if *e == engine => Some((*length, *bytes)),
        _ => None,
    });
    let (known, [alice, bob]) = longest.max_by_key(|&(length, _)| length)?;
    let growth = (length as f64 / known as f64).powi(2);
    let alice = (alice as f64 - costs(known)).max(0.0) * growth + costs(length);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // far below 2⁵³
    let whole = [alice as u64, (bob as f64 * growth) as u64];
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGINE: Measured = Measured::Paillier(512);

    fn alone(length: usize, seconds: f64, bytes: [u64; 2]) -> Record {
        Record::Alone {
            engine: ENGINE,
            length,
            seconds: vec![seconds, seconds],
            bytes,
        }
    }

    fn cell(seconds: f64) -> Record {
        Record::Cell {
            engine: ENGINE,
            seconds,
            alice: 0.0,
            bob: 0.0,
            bytes: 0.0,
        }
    }

    #[test]
    fn time_before_the_first_cell_does_not_grow() {
        let close = |records: &[Record], cells: f64, expected: f64| {
            let found = seconds(records, ENGINE, cells).unwrap_or(f64::NAN);
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        };
        let line = |length: usize| alone(length, 0.5 + 0.001 * (length * length) as f64, [0; 2]);
        close(&[cell(0.002)], 1e4, 20.0);
        close(&[cell(0.001), line(10)], 1e4, 10.5);
        close(&[cell(9.0), line(10), line(100)], 1e6, 1000.5);
        // The beginning of the curve is steeper.
        close(&[alone(8, 0.1, [0; 2]), line(50), line(100)], 1e6, 1000.5);
        // Nearly as long: the difference says little.
        close(&[cell(0.001), line(8), line(10)], 1e4, 10.5);
        assert_eq!(seconds(&[], ENGINE, 1.0), None);
    }

    #[test]
    fn alices_costs_grow_with_the_length() {
        let costs = |length: u64| length * 52 * 128;
        let record = alone(10, 1.0, [costs(10) + 100 * 7, 100 * 9]);
        let expected = [costs(100) + 10_000 * 7, 10_000 * 9];
        assert_eq!(bytes(&[record], ENGINE, 100), Some(expected));
    }
}
