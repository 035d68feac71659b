//! Published recordings, which are not part of this repository. `assurance/detection/real.py` says where they come
//! from, and has recorded how many fixations pymovements finds in them.

use super::*;
use crate::readers::recorder::shared_file;

/// The same samples as in `real.py`: time in milliseconds, and x and y in pixels unless the eye was lost.
fn samples(text: &str, file: &str, eye: &str) -> Vec<(f64, Option<(f64, f64)>)> {
    let number = |text: &str| text.parse::<f64>().unwrap();
    let sample = |at: usize, row: &str| -> Option<(f64, Option<(f64, f64)>)> {
        if file.ends_with(".arff") {
            let cells: Vec<&str> = row.split(',').collect();
            let is_valid = number(cells[3]) > 0.0;
            let position = (number(cells[1]), number(cells[2]));
            return Some((4.0 * at as f64, is_valid.then_some(position)));
        }
        let cells: Vec<&str> = row.split_whitespace().collect();
        if file.ends_with(".csv") {
            let is_valid = number(cells[2]) > 0.0;
            let position = (number(cells[0]) * 1280.0, number(cells[1]) * 720.0);
            return Some((4.0 * at as f64, is_valid.then_some(position)));
        }
        let first: usize = 1 + 3 * eye.parse::<usize>().unwrap();
        let time = cells.first()?.parse().ok()?;
        let (x, y) = (cells.get(first)?, cells.get(first + 1)?);
        (cells.len() == 8).then(|| (time, x.parse().ok().zip(y.parse().ok())))
    };
    let rows: Vec<&str> = match text.split_once("@DATA\n") {
        Some((_, data)) => data.lines().filter(|row| !row.starts_with('%')).collect(),
        None => text.lines().skip(1).collect(),
    };
    let rows = rows.iter().enumerate();
    rows.filter_map(|(at, row)| sample(at, row)).collect()
}

fn hash(fixations: &[DetectedFixation]) -> String {
    let lines = fixations
        .iter()
        .map(|one| format!("{} {}\n", one.onset_ms, one.offset_ms));
    let bytes: Vec<u8> = lines.flat_map(String::into_bytes).collect();
    let value = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{value:016x}")
}

#[test]
fn pymovements_finds_the_same_fixations_in_published_recordings() {
    let (mut compared, mut skipped) = (0u64, 0);
    for row in table("real.csv") {
        let Some(path) = shared_file(&row[0]) else {
            skipped += 1;
            continue;
        };
        let text = std::fs::read_to_string(path).unwrap();
        let options = options(&row);
        let (size, screen_cm, distance) = match row[0].starts_with("eyelink") {
            true => ((1920.0, 1080.0), (53.0, 30.0), 60.0),
            false => ((1280.0, 720.0), (40.0, 22.5), 45.0),
        };
        let settings = ScreenSettings::new(&ReadOptions {
            screen_cm: Some(screen_cm),
            distance_cm: Some(distance),
            ..ReadOptions::default()
        });
        let mapping = ScreenMapping::new(&Space::pixels(size.0, size.1), &settings).unwrap();
        let unit = options.unit().unwrap();
        let samples: Vec<_> = samples(&text, &row[0], &row[1])
            .into_iter()
            .map(|(time, position)| {
                let point = position.map(|(x, y)| Point {
                    file: (x, y),
                    measured: mapping.measured(unit, x, y),
                });
                (Some(time), point)
            })
            .collect();
        let (found, _) = found(options, None, &samples);
        assert_eq!(found.len().to_string(), row[10], "{row:?}");
        assert_eq!(hash(&found), row[11], "{row:?}");
        let sums = found
            .iter()
            .fold([0.0; 2], |sum, one| [sum[0] + one.x, sum[1] + one.y]);
        for (sum, expected) in sums.into_iter().zip(&row[12..]) {
            let expected: f64 = expected.parse().unwrap();
            assert!((sum - expected).abs() < 1e-6, "{sum} {row:?}");
        }
        compared += found.len() as u64;
    }
    if skipped > 0 {
        eprintln!("skipped: {skipped} cases, whose recordings are not on this machine");
    } else {
        assert!(compared > 1000, "{compared}");
    }
}
