//! The paper's rule on hand-made sequences, and against two slow and simple implementations.

#![allow(clippy::cast_sign_loss)] // counts and rates of tests are positive

use super::*;

mod properties;

/// `A` to `Z` are letters, `.` is a lost sample, `-` one outside.
fn gaze(symbol: char) -> Gaze {
    match symbol {
        '.' => Gaze::Lost,
        '-' => Gaze::Elsewhere,
        letter => Gaze::At(u16::from(letter as u8 - b'A')),
    }
}

fn text(letters: &[u16]) -> String {
    letters
        .iter()
        .map(|&letter| char::from(b'A' + u8::try_from(letter).unwrap()))
        .collect()
}

fn reduce(
    rows: impl IntoIterator<Item = (Option<f64>, Gaze)>,
    rate: Option<f64>,
    options: RunOptions,
) -> Result<Reduced, ReductionError> {
    let mut encoder = RunEncoder::new(options, rate);
    for (time, gaze) in rows {
        encoder.push(time, gaze);
    }
    encoder.finish()
}

/// Words such as `12A 3B`: how many samples of what, at a rate, with timestamps.
fn sampled(rate: f64, words: &str) -> Vec<(Option<f64>, Gaze)> {
    words
        .split_whitespace()
        .flat_map(|word| {
            let (count, symbol) = word.split_at(word.len() - 1);
            let symbol = gaze(symbol.chars().next().unwrap());
            std::iter::repeat_n(symbol, count.parse().unwrap())
        })
        .enumerate()
        .map(|(index, gaze)| (Some(index as f64 * 1000.0 / rate), gaze))
        .collect()
}

/// The scanpath of words at 120 Hz: it must be the same with timestamps, without, and by counting.
fn at_120(words: &str, options: RunOptions) -> String {
    let rows = sampled(120.0, words);
    let untimed: Vec<_> = rows.iter().map(|row| (None, row.1)).collect();
    let by_count = RunOptions {
        by: RunsBy::Count,
        ..options
    };
    let timed = reduce(rows.clone(), None, options).unwrap();
    for other in [
        reduce(rows.clone(), Some(120.0), options).unwrap(),
        reduce(untimed.clone(), Some(120.0), options).unwrap(),
        reduce(untimed, Some(120.0), by_count).unwrap(),
        reduce(rows, None, by_count).unwrap(),
    ] {
        assert_eq!(timed, other, "{words}");
    }
    text(&timed.letters)
}

#[test]
fn runs_follow_the_rule_of_the_paper() {
    let default = RunOptions::default();
    for (words, expected) in [
        ("", ""),
        ("11A", ""),
        ("12A", "A"),
        ("23A", "A"),
        ("24A", "AA"),
        ("36A", "AAA"),
        ("480A", "AAA"),
        ("12A 12B", "AB"),
        ("12A 11B 12C", "AC"),
        ("11A 11B 11C", ""),
    ] {
        assert_eq!(at_120(words, default), expected, "{words}");
    }
}

#[test]
fn neighbours_merge_before_they_are_downsized_and_capped() {
    let apart = RunOptions {
        merge: false,
        ..RunOptions::default()
    };
    for (words, merged, kept_apart) in [
        ("18A 5B 18A", "AAA", "AA"),
        ("36A 5B 36A", "AAA", "AAAAAA"),
        ("6A 5B 6A", "", ""),
        ("12A 5B 12C 5B 12A", "ACA", "ACA"),
        ("24A 40. 24A", "AAA", "AAAA"),
    ] {
        assert_eq!(at_120(words, RunOptions::default()), merged, "{words}");
        assert_eq!(at_120(words, apart), kept_apart, "{words}");
    }
}

#[test]
fn downsizing_and_cap_are_options() {
    let options = |downsize, cap| RunOptions {
        downsize,
        cap,
        ..RunOptions::default()
    };
    for (downsize, expected) in [
        (Downsize::Floor, "ABBCCCCC"),
        (Downsize::Round, "AABBCCCCC"),
        (Downsize::Ceil, "AABBBCCCCC"),
    ] {
        assert_eq!(at_120("18A 29B 60C", options(downsize, None)), expected);
    }
    assert_eq!(at_120("60A", options(Downsize::Ceil, Some(1))), "A");
    assert_eq!(at_120("12A 24B", options(Downsize::Ceil, None)), "ABB");
}

#[test]
fn short_losses_are_bridged_and_long_ones_end_the_run() {
    let default = RunOptions::default();
    for (words, expected) in [
        ("6A 3. 6A", "A"),
        // Nine samples are 75 ms, ten are more.
        ("6A 9. 6A", "A"),
        ("6A 10. 6A", ""),
        ("14A 9. 13A", "AAA"),
        // A gap between two letters belongs to neither run.
        ("11A 5. 12B", "B"),
        ("11A 1.", ""),
        ("5. 12A 5.", "A"),
        // A sample elsewhere is not lost.
        ("6A 1- 6A", ""),
        ("6A 2. 1- 2. 6A", ""),
        ("12A 3- 12A", "AA"),
    ] {
        assert_eq!(at_120(words, default), expected, "{words}");
    }
    let strict = RunOptions {
        max_gap_ms: 0.0,
        ..default
    };
    assert_eq!(at_120("6A 1. 6A 12B", strict), "B");
}

#[test]
fn lost_rows_may_be_written_or_left_out() {
    for words in [
        "6A 3. 6A 12B",
        "6A 9. 6A 1. 12B",
        "6A 10. 6A",
        "11A 5. 12B",
        "30A 40. 30A 2. 5B 1. 9B",
    ] {
        let rows = sampled(120.0, words);
        let seen = rows.iter().copied().filter(|row| row.1 != Gaze::Lost);
        assert_eq!(
            reduce(seen.collect::<Vec<_>>(), None, RunOptions::default()),
            reduce(rows, None, RunOptions::default()),
            "{words}"
        );
    }
}

#[test]
fn exactly_a_hundred_milliseconds_is_one_letter_at_every_rate() {
    for (rate, samples) in [
        (30.0, 3),
        (60.0, 6),
        (90.0, 9),
        (120.0, 12),
        (250.0, 25),
        (300.0, 30),
        (500.0, 50),
        (1000.0, 100),
    ] {
        // Epoch milliseconds, sums of rounded steps, rounded times.
        let clocks: [&dyn Fn(f64) -> f64; 5] = [
            &|i| i * 1000.0 / rate,
            &|i| 1.7e12 + i * 1000.0 / rate,
            &|i| i * ((1e6 / rate).round() / 1000.0),
            &|i| (i * 1000.0 / rate).round(),
            &|i| (i * 1e6 / rate).floor() / 1000.0,
        ];
        for (number, clock) in clocks.iter().enumerate() {
            for (count, expected) in [(samples - 1, "B"), (samples, "AB")] {
                // A sample of C at the end: rounded times show where B ends only when a row follows.
                let symbols = format!("{}{}C", "A".repeat(count), "B".repeat(samples));
                let rows: Vec<_> = symbols
                    .chars()
                    .enumerate()
                    .map(|(i, symbol)| (Some(clock(i as f64)), gaze(symbol)))
                    .collect();
                let reduced = reduce(rows, Some(rate), RunOptions::default()).unwrap();
                assert_eq!(
                    text(&reduced.letters),
                    expected,
                    "{rate} Hz, clock {number}"
                );
            }
        }
    }
}

#[test]
fn counting_rounds_the_minimum_to_whole_samples() {
    let rows = |count| vec![(None, Gaze::At(0)); count];
    let by = |by| RunOptions {
        by,
        ..RunOptions::default()
    };
    let length = |count, rate, options| {
        reduce(rows(count), Some(rate), options)
            .unwrap()
            .letters
            .len()
    };
    // 75 Hz: 7.5 samples in 100 ms.
    assert_eq!(length(7, 75.0, by(RunsBy::Count)), 0);
    assert_eq!(length(8, 75.0, by(RunsBy::Count)), 1);
    assert_eq!(length(15, 75.0, by(RunsBy::Count)), 1);
    assert_eq!(length(15, 75.0, by(RunsBy::Time)), 2);
    // A slow tracker: one sample is longer than the minimum.
    assert_eq!(length(1, 2.0, by(RunsBy::Count)), 1);
    assert_eq!(length(1, 2.0, by(RunsBy::Time)), 3);
}

#[test]
fn a_slow_tracker_is_not_all_gaps() {
    let rows = (0..4).map(|i| (Some(f64::from(i) * 100.0), Gaze::At(0)));
    let apart = RunOptions {
        merge: false,
        cap: None,
        ..RunOptions::default()
    };
    assert_eq!(reduce(rows, None, apart).unwrap().letters.len(), 4);
}

#[test]
fn clocks_may_jump_stand_still_and_go_backwards() {
    let at = |time: f64, symbol: char| (Some(time), gaze(symbol));
    let every = |from: f64, count: u32, symbol| {
        (0..count).map(move |i| at(from + f64::from(i) * 10.0, symbol))
    };
    let default = RunOptions::default();

    // The run before a reset ends one step after its last sample.
    let reset: Vec<_> = every(5000.0, 10, 'A').chain(every(0.0, 9, 'A')).collect();
    let reduced = reduce(reset, None, default).unwrap();
    assert_eq!((text(&reduced.letters), reduced.backwards), ("A".into(), 1));

    // A jump of a second is a gap, though no row says so.
    let jump: Vec<_> = every(0.0, 9, 'A').chain(every(1000.0, 9, 'A')).collect();
    assert!(reduce(jump, None, default).unwrap().letters.is_empty());

    // Every row twice.
    let doubled: Vec<_> = every(0.0, 25, 'A').flat_map(|row| [row, row]).collect();
    assert_eq!(text(&reduce(doubled, None, default).unwrap().letters), "AA");

    // A clock that never moves gives no duration and does not panic.
    let still = vec![at(7.0, 'A'); 5000];
    assert!(reduce(still, None, default).unwrap().letters.is_empty());

    // Single missing times are filled in.
    let holes: Vec<_> = every(0.0, 20, 'A')
        .enumerate()
        .map(|(i, row)| if i % 3 == 1 { (None, row.1) } else { row })
        .collect();
    assert_eq!(text(&reduce(holes, None, default).unwrap().letters), "AA");
}

#[test]
fn without_time_and_rate_there_is_no_duration() {
    for count in [1, 5000] {
        for by in [RunsBy::Time, RunsBy::Count] {
            let options = RunOptions {
                by,
                ..RunOptions::default()
            };
            for rate in [None, Some(0.0), Some(f64::NAN)] {
                let rows = vec![(None, Gaze::At(0)); count];
                assert_eq!(reduce(rows, rate, options), Err(ReductionError::NoTime));
            }
        }
    }
    assert_eq!(
        reduce([], None, RunOptions::default()),
        Ok(Reduced::default())
    );
}

#[test]
fn a_mistaken_unit_without_cap_does_not_fill_the_memory() {
    let rows = (0..100).map(|i| (Some(f64::from(i) * 1e12), Gaze::At(0)));
    let options = RunOptions {
        cap: None,
        ..RunOptions::default()
    };
    assert_eq!(reduce(rows, None, options), Err(ReductionError::TooLong));
}
