//! `veilpath compare` reproduces scores of independent implementations.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common;

use common::{Folder, shared};

/// Runs one command for many pairs, each with its own stimulus.
fn scores(pairs: &[(String, String)], arguments: &[&str], files: &[(&str, String)]) -> Vec<f64> {
    let folder = Folder::new();
    for (name, content) in files {
        folder.file(name, content);
    }
    let cohort = |side: fn(&(String, String)) -> &String| {
        let rows = pairs
            .iter()
            .enumerate()
            .map(|(index, pair)| format!("p,{index},{}\n", side(pair)));
        format!(
            "participant,stimulus,scanpath\n{}",
            rows.collect::<String>()
        )
    };
    folder.file("a.csv", cohort(|pair| &pair.0));
    folder.file("b.csv", cohort(|pair| &pair.1));
    let mut call = vec!["compare", "a.csv", "b.csv", "--format", "json"];
    call.extend(arguments);
    let outcome = folder.run(&call).json();
    let results = outcome["results"].as_array().unwrap();
    assert_eq!(results.len(), pairs.len());
    results
        .iter()
        .enumerate()
        .map(|(index, row)| {
            assert_eq!(row["stimulus"], index.to_string());
            row["score"].as_f64().unwrap()
        })
        .collect()
}

fn words(list: &str) -> Vec<&str> {
    list.split_whitespace().collect()
}

/// The three scanpaths of the ScanMatch toolbox's example as pairs 1-2, 1-3, 2-3.
fn toolbox_pairs(scanpaths: [&str; 3]) -> Vec<(String, String)> {
    [(0, 1), (0, 2), (1, 2)]
        .map(|(i, j)| (scanpaths[i].to_string(), scanpaths[j].to_string()))
        .to_vec()
}

#[test]
fn the_toolbox_example_gives_the_known_values() {
    let pairs = toolbox_pairs([
        "IKKDPPqtggvbbbSSGGS",
        "RPKDPPqqtggvbGSS",
        "QRSSSGibvnggttqWPPKD",
    ]);
    for (arguments, expected) in [
        ("--metric levenshtein", [8.0, 19.0, 17.0]),
        (
            "--metric needleman-wunsch --substitution index --gap 5",
            [49.0, 104.0, 88.0],
        ),
        (
            "--metric needleman-wunsch --substitution manhattan --gap 2 --grid 7x7",
            [18.0, 53.0, 48.0],
        ),
        (
            "--metric needleman-wunsch --match 2 --mismatch 1 --gap 1",
            [16.0, -15.0, -11.0],
        ),
        (
            "--metric smith-waterman --match 2 --mismatch 1 --gap 1",
            [21.0, 6.0, 6.0],
        ),
    ] {
        assert_eq!(
            scores(&pairs, &words(arguments), &[]),
            expected,
            "{arguments}"
        );
    }
    let close = |scores: Vec<f64>, expected: [f64; 3]| {
        for (score, expected) in scores.into_iter().zip(expected) {
            assert!((score - expected).abs() < 1e-11, "{score} {expected}");
        }
    };
    close(
        scores(
            &pairs,
            &words("--engine plain --metric scanmatch --grid 7x7"),
            &[],
        ),
        [0.679690780756, 0.326728711364, 0.311217476541],
    );
    let grid_cells = toolbox_pairs([
        "15 18 18 18 27 27 85 89 55 55 93 47 47 58 32 31 23 11 32",
        "41 26 18 6 27 26 85 85 89 55 55 93 58 11 31 31",
        "40 42 31 32 32 11 58 58 93 80 67 55 89 89 85 38 26 26 18 18",
    ]);
    close(
        scores(
            &grid_cells,
            &words("--engine plain --metric scanmatch --grid 12x8 --threshold 3.5 --gap 0"),
            &[],
        ),
        [0.617831375002, 0.258243134648, 0.230499168829],
    );
}

/// A 49×49 table of a function of the Euclidean distance, as CSV.
fn table(value: impl Fn(f64) -> f64) -> String {
    let row = |a: i32| {
        (0..49).map(move |b| {
            let (dx, dy) = (f64::from(a % 7 - b % 7), f64::from(a / 7 - b / 7));
            dx.hypot(dy)
        })
    };
    (0..49)
        .map(|a| {
            let numbers: Vec<String> = row(a).map(|d| value(d).to_string()).collect();
            format!("{}\n", numbers.join(","))
        })
        .collect()
}

#[test]
fn biopython_and_rapidfuzz_agree() {
    let Some(path) = shared("vectors/alignment_7x7.csv") else {
        return;
    };
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 150);
    let pairs: Vec<(String, String)> = rows
        .iter()
        .map(|row| (row[0].to_string(), row[1].to_string()))
        .collect();
    let files = [
        ("euclid100.csv", table(|d| (100.0 * d).round())),
        ("signed.csv", table(|d| 350.0 - (100.0 * d).round())),
    ];
    for (column, arguments) in [
        ("levenshtein", "--metric levenshtein"),
        (
            "weighted_ins1_del2_sub3",
            "--metric needleman-wunsch --insert 1 --delete 2 --mismatch 3",
        ),
        (
            "nw_manhattan_gap2",
            "--metric needleman-wunsch --substitution manhattan --grid 7x7 --gap 2",
        ),
        (
            "nw_index_gap5",
            "--metric needleman-wunsch --substitution index --gap 5",
        ),
        (
            "nw_euclid100_gap150",
            "--metric needleman-wunsch --substitution euclid100.csv --gap 150",
        ),
        (
            "nw_match2_mismatch1_gap1",
            "--metric needleman-wunsch --match 2 --mismatch 1 --gap 1",
        ),
        (
            "sw_match2_mismatch1_gap1",
            "--metric smith-waterman --match 2 --mismatch 1 --gap 1",
        ),
        (
            "sw_euclid_350_minus_100d_gap100",
            "--metric smith-waterman --substitution signed.csv --gap 100",
        ),
    ] {
        let index = header.iter().position(|name| *name == column).unwrap();
        let expected: Vec<f64> = rows.iter().map(|row| row[index].parse().unwrap()).collect();
        assert_eq!(
            scores(&pairs, &words(arguments), &files),
            expected,
            "{column}"
        );
    }
    // The same with the built-in distance and a fixed-point scale: costs in grid cells, rounded to hundredths.
    let index = header
        .iter()
        .position(|name| *name == "nw_euclid100_gap150")
        .unwrap();
    let call =
        "--metric needleman-wunsch --substitution euclidean --grid 7x7 --gap 1.5 --scale 100";
    for (score, row) in scores(&pairs, &words(call), &[]).into_iter().zip(&rows) {
        assert_eq!((score * 100.0).round(), row[index].parse::<f64>().unwrap());
    }
}

#[test]
fn the_matlab_toolbox_agrees_to_its_five_digits() {
    let Some(path) = shared("vectors/scanmatch_matlab_3x6_T1_g-0.5.csv") else {
        return;
    };
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(rows.len(), 400);
    let pairs: Vec<(String, String)> = rows
        .iter()
        .map(|row| (row[0].to_string(), row[1].to_string()))
        .collect();
    let call = "--metric scanmatch --grid 3x6 --threshold 1 --gap -0.5";
    // All in double precision like the toolbox, and some in integers with garbled circuits; the crate `protocol` compares the rest.
    for (options, count) in [
        (" --engine plain", 400),
        (" --engine garbled --scale 1000000", 40),
    ] {
        let call = format!("{call}{options}");
        let call = words(&call);
        for (score, row) in scores(&pairs[..count], &call, &[]).iter().zip(&rows) {
            let printed: f64 = row[2].parse().unwrap();
            // Half a unit of the last of five significant digits.
            let half_digit = match printed.abs() {
                0.0 => 0.0,
                size => 0.5 * 10f64.powf(size.log10().floor() - 4.0),
            };
            let slack = if options.contains("plain") {
                1e-9
            } else {
                1e-6
            };
            assert!(
                (score - printed).abs() <= half_digit + slack,
                "{score} {printed}"
            );
        }
    }
}
