//! Fixations on the command line: rounded fixations in every engine, and why some metrics have no private engine.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common::Folder;
use crate::common::pair::Pair;

const HEAD: &str = "# veilpath cohort 1\n# alphabet: letters 49\n# data: fixations\n# grid: 7x7\n# screen: 1920 x 1080 pixels\n# viewing: 53 x 30 cm from 60 cm\nparticipant,stimulus,scanpath,fixations\n";
const A: &str =
    "a1,,ABC,812 400 180;1300.5 610 240;300 900 410\na2,,AB,20 30 95;1900 1000 630;55 66 77\n";
const B: &str = "b1,,RZ,790 377.5 220;1411 600 300\n";

fn write(folder: &Folder) {
    folder.file("a.csv", format!("{HEAD}{A}"));
    folder.file("b.csv", format!("{HEAD}{B}"));
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

const ROUNDED: [&str; 5] = [
    "--metric scasim --fixation-grid 16x9 --duration-classes 100,200,300,500,800",
    "--metric dtw --positions fixations --fixation-grid 32x18",
    "--metric frechet --positions fixations --fixation-grid 32x32",
    "--metric hausdorff --positions fixations --fixation-grid 32x18",
    "--metric crqa --positions fixations --fixation-grid 32x18 --radius 150",
];

#[test]
fn private_numbers_equal_plain_ones() {
    let folder = Folder::new();
    write(&folder);
    for metric in ROUNDED {
        let call = format!("compare a.csv b.csv --format csv {metric} --engine");
        let plain = folder.run(&words(&format!("{call} plain"))).ok();
        for engine in ["garbled", "shares"] {
            let private = folder.run(&words(&format!("{call} {engine}"))).ok();
            assert_eq!(private, plain, "{metric} {engine}");
        }
    }
}

#[test]
fn both_sides_report_what_rounding_changes() {
    let pair = Pair::new();
    write(&pair.folder);
    let plain = pair.folder.run(&words(&format!(
        "compare a.csv b.csv --format csv -q {} --engine plain",
        ROUNDED[0]
    )));
    let plain = plain.ok();
    let both = format!("{} --engine shares --limit-per-scanpath 4", ROUNDED[0]);
    let [host, join] = pair.run(&words(&both), &["-o", "host.csv"], &["-o", "join.json"]);
    host.ok();
    let events = join.stderr.lines().filter_map(|line| {
        let event: serde_json::Value = serde_json::from_str(line).ok()?;
        (event["event"] == "agreed").then_some(event)
    });
    let agreed: Vec<serde_json::Value> = events.collect();
    assert_eq!(agreed.len(), 1, "{}", join.stderr);
    assert_eq!(agreed[0]["fixation_rounding"]["unit"], "pixels");
    join.ok();
    assert_eq!(pair.folder.read("host.csv"), plain);
    let summary = format!("compare a.csv b.csv {} --engine plain", ROUNDED[0]);
    let summary = pair.folder.run(&words(&summary));
    let text = format!("{}{}", summary.stdout, summary.stderr);
    for words in [
        "16x9",
        "pixels",
        "100, 200, 300, 500, 800 ms",
        "by at most 150 ms",
        "a.csv: rounding moves the 6 fixations",
    ] {
        assert!(text.contains(words), "{text}");
    }
    let result: serde_json::Value = serde_json::from_str(&pair.folder.read("join.json")).unwrap();
    assert_eq!(result["fixation_rounding"]["grid"], "16x9");
    assert_eq!(
        result["fixation_rounding"]["largest_duration_change"],
        150.0
    );
}

#[test]
fn refusals_say_why_and_what_to_do() {
    let folder = Folder::new();
    write(&folder);
    for engine in ["garbled", "shares"] {
        for (metric, reason, advice) in [
            ("multimatch", "medians", "--fixation-grid"),
            ("subsmatch", "short sequences", "sequence-score"),
            ("scasim", "must be rounded", "--duration-classes"),
            (
                "dtw --positions fixations",
                "must be rounded",
                "--fixation-grid",
            ),
            (
                "scasim --fixation-grid 4x4",
                "rounds both or none",
                "--duration-classes",
            ),
            (
                "dtw --fixation-grid 4x4",
                "letters are compared",
                "--positions fixations",
            ),
            (
                "frechet --positions fixations --fixation-grid 64x64",
                "1024",
                "",
            ),
            (
                "crqa --reveal histogram:4",
                "several measures",
                "--measures",
            ),
            (
                "crqa --measures det --reveal histogram:4",
                "undefined",
                "--undefined-as-zero",
            ),
        ] {
            let call = format!("compare a.csv b.csv --engine {engine} --metric {metric}");
            let text = folder.run(&words(&call)).refused();
            assert!(text.contains(reason) && text.contains(advice), "{text}");
        }
    }
    let other = HEAD.replace("1920 x 1080", "1280 x 720");
    folder.file("b.csv", format!("{other}{B}"));
    for metric in [ROUNDED[1], "--metric dtw --positions fixations"] {
        let call = format!("compare a.csv b.csv --engine plain {metric}");
        let text = folder.run(&words(&call)).refused();
        assert!(text.contains("screen is"), "{text}");
    }
}

/// The cost per cell is measured in the clear for every metric, and with each engine for those that have a private engine.
#[test]
fn bench_cell_measures_every_metric() {
    let metrics = [
        ("sequence-score", true),
        ("dtw --grid 7x7", true),
        ("dtw --positions fixations", false),
        ("frechet --grid 7x7", true),
        ("hausdorff --grid 7x7", true),
        ("crqa --measures rec,det", true),
        ("scasim", false),
        ("multimatch", false),
        ("subsmatch", false),
    ];
    for (metric, is_private) in metrics {
        let folder = Folder::new();
        let call = |engine: &str| {
            let call = format!(
                "bench cell --engine {engine} --seconds 0.02 --length 20 --format json --metric {metric}"
            );
            folder.run(&words(&call))
        };
        let json = call("plain").json();
        assert!(json["cells_per_second"].as_f64().unwrap() > 0.0, "{metric}");
        for engine in ["garbled", "shares"] {
            if is_private {
                let json = call(engine).json();
                assert!(json["bytes_per_cell"].as_f64().unwrap() > 0.0, "{metric}");
            } else {
                assert!(call(engine).refused().contains("error"), "{metric}");
            }
        }
    }
}

#[test]
fn cells_of_rounded_fixations_are_measured() {
    for engine in ["garbled", "shares"] {
        for metric in [
            "scasim --fixation-grid 4x3 --duration-classes 100,300",
            "dtw --positions fixations --fixation-grid 8x5",
        ] {
            let call = format!(
                "bench cell --engine {engine} --seconds 0.05 --format json --metric {metric}"
            );
            let json = Folder::new().run(&words(&call)).json();
            assert!(json["bytes_per_cell"].as_f64().unwrap() > 0.0, "{call}");
        }
    }
}
