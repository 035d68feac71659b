//! The incremental encoder against two slow and simple implementations of the rule.

use super::*;
use proptest::prelude::*;

/// The paper's rule on the string of samples: remove short sequences, then downsize the rest.
fn on_strings(symbols: &[u16], n: usize) -> Vec<u16> {
    let kept: Vec<u16> = symbols
        .chunk_by(|a, b| a == b)
        .filter(|run| run.len() >= n)
        .flatten()
        .copied()
        .collect();
    kept.chunk_by(|a, b| a == b)
        .flat_map(|run| std::iter::repeat_n(run[0], (run.len() / n).min(3)))
        .collect()
}

/// All rows at once, with lists for everything; the step is given.
fn in_one_go(rows: &[(f64, Gaze)], step: f64, options: RunOptions) -> Vec<u16> {
    let mut runs: Vec<(u16, f64, f64)> = Vec::new();
    let mut open = false;
    for (i, &(time, gaze)) in rows.iter().enumerate() {
        let is_backwards = i > 0 && time < rows[i - 1].0;
        open &= !is_backwards && gaze != Gaze::Elsewhere;
        let Gaze::At(letter) = gaze else { continue };
        let end = match rows.get(i + 1) {
            Some(&(next, _)) if next >= time && next - time <= 1.5 * step => next,
            _ => time + step,
        };
        match runs.last_mut() {
            Some(run) if open && run.0 == letter && time - run.2 <= options.max_gap_ms + 1e-4 => {
                run.2 = end
            }
            _ => runs.push((letter, time, end)),
        }
        open = true;
    }
    let kept = runs
        .into_iter()
        .map(|(letter, start, end)| (letter, end - start))
        .filter(|(_, length)| *length >= options.min_dwell_ms - 1e-4);
    let mut merged: Vec<(u16, f64)> = Vec::new();
    for (letter, length) in kept {
        match merged.last_mut() {
            Some(last) if options.merge && last.0 == letter => last.1 += length,
            _ => merged.push((letter, length)),
        }
    }
    merged
        .into_iter()
        .flat_map(|(letter, length)| {
            let units = length / options.min_dwell_ms;
            let count = match options.downsize {
                Downsize::Floor => (units + 1e-6).floor(),
                Downsize::Round => (units + 1e-6).round(),
                Downsize::Ceil => (units - 1e-6).ceil(),
            };
            std::iter::repeat_n(
                letter,
                (count as usize).min(options.cap.unwrap_or(u32::MAX) as usize),
            )
        })
        .collect()
}

fn symbols() -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec((0u16..3, 1usize..60), 0..30).prop_map(|runs| {
        runs.into_iter()
            .flat_map(|(letter, count)| std::iter::repeat_n(letter, count))
            .collect()
    })
}

/// Steps in whole milliseconds around 10, some lost, some elsewhere, some jumps, some backwards.
fn rows() -> impl Strategy<Value = Vec<(f64, Gaze)>> {
    let step = prop_oneof![20 => 5i64..15, 20 => Just(10i64), 1 => 20i64..200, 1 => -50i64..1];
    let gaze = prop_oneof![
        30 => Just(None),
        3 => (0u16..3).prop_map(|letter| Some(Gaze::At(letter))),
        4 => Just(Some(Gaze::Lost)),
        1 => Just(Some(Gaze::Elsewhere)),
    ];
    prop::collection::vec((step, gaze), 0..400).prop_map(|changes| {
        let (mut time, mut letter) = (0, Gaze::At(0));
        changes
            .into_iter()
            .map(|(step, gaze)| {
                time += step;
                if let Some(Gaze::At(_)) = gaze {
                    letter = gaze.unwrap();
                }
                (time as f64, gaze.unwrap_or(letter))
            })
            .collect()
    })
}

fn options() -> impl Strategy<Value = RunOptions> {
    (
        prop_oneof![
            Just(Downsize::Floor),
            Just(Downsize::Round),
            Just(Downsize::Ceil)
        ],
        any::<bool>(),
        prop::option::of(1u32..5),
        0u32..120,
    )
        .prop_map(|(downsize, merge, cap, max_gap)| RunOptions {
            downsize,
            merge,
            cap,
            max_gap_ms: f64::from(max_gap),
            ..RunOptions::default()
        })
}

proptest! {
    #[test]
    fn regular_gaze_follows_the_papers_words(symbols in symbols(), rate in prop::sample::select(vec![30.0, 60.0, 120.0, 250.0])) {
        let n = (rate / 10.0) as usize;
        let rows = |timed: bool| {
            let time = move |i: usize| timed.then_some(i as f64 * 1000.0 / rate);
            symbols.iter().enumerate().map(move |(i, &letter)| (time(i), Gaze::At(letter)))
        };
        let expected = on_strings(&symbols, n);
        for by in [RunsBy::Time, RunsBy::Count] {
            let options = RunOptions { by, ..RunOptions::default() };
            for timed in [true, false] {
                let reduced = reduce(rows(timed), Some(rate), options).unwrap();
                prop_assert_eq!(&reduced.letters, &expected);
            }
        }
    }

    #[test]
    fn row_by_row_equals_all_at_once(rows in rows(), options in options()) {
        let timed = rows.iter().map(|&(time, gaze)| (Some(time), gaze));
        let reduced = reduce(timed, Some(100.0), options).unwrap();
        prop_assert_eq!(reduced.letters, in_one_go(&rows, 10.0, options));
    }

    #[test]
    fn the_result_is_bounded(rows in rows(), options in options()) {
        let timed = rows.iter().map(|&(time, gaze)| (Some(time), gaze));
        let letters = reduce(timed, None, options).unwrap().letters;
        prop_assert!(letters.iter().all(|&letter| letter < 3));
        if let (true, Some(cap)) = (options.merge, options.cap) {
            prop_assert!(letters.chunk_by(|a, b| a == b).all(|run| run.len() <= cap as usize));
        }
        if options.downsize == Downsize::Floor {
            let step = median_step(rows.iter().map(|row| Some(row.0)));
            let forward: f64 = rows.windows(2).map(|pair| (pair[1].0 - pair[0].0).max(0.0)).sum();
            let resets = rows.windows(2).filter(|pair| pair[1].0 < pair[0].0).count() + 1;
            prop_assert!(letters.len() as f64 <= (forward + resets as f64 * step.max(20.0)) / 100.0);
        }
    }

    #[test]
    fn nothing_panics(
        rows in prop::collection::vec((prop::option::of(any::<f64>()), 0u16..4), 0..200),
        rate in prop::option::of(any::<f64>()),
        options in options(),
    ) {
        let gaze = |code| match code { 0 => Gaze::Lost, 1 => Gaze::Elsewhere, letter => Gaze::At(letter) };
        let _ = reduce(rows.into_iter().map(|(time, code)| (time, gaze(code))), rate, options);
    }
}
