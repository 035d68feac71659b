//! `--tile` and `veilpath merge`.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common::Folder;
use crate::common::pair::{Pair, Side};

/// A result file without its cost, which is on its own line.
fn without_cost(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("\"cost\": "));
    lines.collect::<Vec<_>>().join("\n")
}

fn cohorts() -> Folder {
    let folder = Folder::new();
    let run = |call: &str| folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    run("synth lifelike --seed 7 --participants 9 --stimuli 3 -o everyone.csv");
    run("split everyone.csv --seed 1 --first a.csv --second b.csv");
    folder
}

#[test]
fn merged_tiles_equal_the_result_of_one_run() {
    let folder = cohorts();
    let run = |call: &str| folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    for options in [
        "--metric scanmatch",
        "--engine garbled",
        "--engine shares --reveal threshold:9 --pad-to 60",
    ] {
        run(&format!("compare a.csv b.csv {options} -o whole.json"));
        for tile in 1..=5 {
            run(&format!(
                "compare a.csv b.csv {options} --tile {tile}/5 -o tile-{tile}.json"
            ));
        }
        run("merge tile-3.json tile-1.json tile-2.json tile-5.json tile-4.json -o merged.json");
        let [whole, merged] = ["whole.json", "merged.json"].map(|name| folder.read(name));
        assert_ne!(whole, merged);
        assert_eq!(without_cost(&whole), without_cost(&merged), "{options}");
    }
}

#[test]
fn incomplete_or_foreign_tiles_are_refused() {
    let folder = cohorts();
    let run = |call: &str| folder.run(&call.split(' ').collect::<Vec<_>>());
    for tile in 1..=4 {
        run(&format!(
            "compare a.csv b.csv --tile {tile}/4 -o tile-{tile}.json"
        ))
        .ok();
    }
    run("compare a.csv b.csv --tile 2/3 -o third.json").ok();
    run("compare a.csv b.csv --metric dtw --tile 2/4 -o other.json").ok();
    run("compare a.csv b.csv -o whole.json").ok();
    // The same ids, but other letters.
    let changed = folder.read("a.csv").replacen('A', "B", 1);
    folder.file("changed.csv", changed);
    run("compare changed.csv b.csv --names a,b --tile 2/4 -o changed.json").ok();
    let text = folder.read("tile-2.json");
    let (start, score) = text.split_once("\"score\":").unwrap();
    folder.file("forged.json", format!("{start}\"score\":9{score}"));
    for (files, words) in [
        (
            "tile-1.json tile-2.json tile-4.json",
            "1 of 4 tiles missing: 3",
        ),
        (
            "tile-1.json third.json",
            "third.json: this is one of 3 tiles",
        ),
        (
            "tile-1.json other.json",
            "other.json: this tile belongs to a different plan",
        ),
        (
            "tile-1.json changed.json",
            "changed.json: this tile belongs to a different plan",
        ),
        (
            "tile-1.json whole.json",
            "whole.json: this is the result of a whole plan",
        ),
        (
            "tile-2.json forged.json",
            "forged.json: this file and another one have different results for tile 2",
        ),
        (
            "tile-1.json a.csv",
            "a.csv: this is not a result file in JSON",
        ),
    ] {
        let message = run(&format!("merge {files} -o merged.json")).refused();
        assert!(message.contains(words), "{files}: {message}");
    }
    for call in ["report tile-1.json -o page.html", "stats tile-1.json"] {
        let message = run(call).refused();
        assert!(
            message.contains("tile 1/4") && message.contains("veilpath merge"),
            "{message}"
        );
    }
    let call = "compare a.csv b.csv --engine shares --reveal mean --tile 1/2";
    let message = run(call).refused();
    assert!(
        message.contains("no tiles") && message.contains("leave --tile out"),
        "{message}"
    );
    assert!(
        run("compare a.csv b.csv --engine auto --tile 1/2")
            .refused()
            .contains("--engine")
    );
    assert!(
        run("compare a.csv b.csv --tile 3/2")
            .refused()
            .contains("3/8")
    );
}

#[test]
fn two_institutions_merge_the_tiles_of_their_sessions() {
    let pair = Pair::with_cohorts();
    let engine = ["--engine", "garbled"];
    let [host, join] = pair.run(&engine, &["-o", "host.json"], &["-o", "join.json"]);
    host.ok();
    join.ok();
    pair.forget();
    let estimate = pair.run(
        &["--engine", "garbled", "--tile", "2/3", "--estimate"],
        &[],
        &[],
    );
    for side in estimate {
        assert!(side.stderr.contains("\"tile\":\"2/3\""), "{}", side.stderr);
    }
    for tile in ["1", "2", "3"] {
        let name = |side| format!("{side}-{tile}.json");
        let place = format!("{tile}/3");
        let both = [&engine[..], &["--tile", &place]].concat();
        let [host, join] = pair.run(&both, &["-o", &name("host")], &["-o", &name("join")]);
        host.ok();
        join.ok();
    }
    for side in ["host", "join"] {
        let files = [1, 2, 3].map(|tile| format!("{side}-{tile}.json"));
        let merged = format!("{side}-merged.json");
        let [one, two, three] = files.each_ref().map(String::as_str);
        pair.folder
            .run(&["merge", one, two, three, "-o", &merged])
            .ok();
        let whole = pair.folder.read(&format!("{side}.json"));
        assert_eq!(
            without_cost(&whole),
            without_cost(&pair.folder.read(&merged))
        );
    }
    // The two sides choose different tiles.
    let host = pair.host(&[&engine[..], &["--tile", "1/3"]].concat());
    let address = host.address.clone().unwrap();
    let join = pair.join(&address, &[&engine[..], &["--tile", "2/3"]].concat());
    for side in [host.end(), join.end()] {
        assert_eq!(side.code, 3, "{}", side.stderr);
        assert!(side.stderr.contains("tile"), "{}", side.stderr);
    }
}

#[test]
fn workers_compute_tiles_with_their_own_keys() {
    let pair = Pair::with_cohorts();
    let engine = ["--engine", "garbled"];
    let [host, join] = pair.run(&engine, &["-o", "host.json"], &["-o", "join.json"]);
    host.ok();
    join.ok();
    pair.forget();
    let sides = [Side::Host, Side::Join];
    let agreed = pair.run(&["--engine", "garbled", "--tile-count", "2"], &[], &[]);
    let ids = agreed.map(|side| {
        let plan = r#""tiles":{"tile_count":2,"pairs":"#;
        assert!(side.stderr.contains(plan), "{}", side.stderr);
        assert!(!side.stderr.contains(r#""tile_count":2,"pairs":0}"#));
        let event = side
            .stderr
            .lines()
            .find(|line| line.contains("agreed-on-tiles"));
        let event: serde_json::Value = serde_json::from_str(event.unwrap()).unwrap();
        event["agreement"].as_str().unwrap().to_string()
    });
    assert_eq!(ids[0], ids[1]);
    let start = |side: Side, call: &str| {
        let words: Vec<String> = call.split(' ').map(String::from).collect();
        pair.start(side, &words)
    };
    for (side, name) in sides.into_iter().zip(["host", "join"]) {
        let call = format!(
            "worker-key {} --tiles 1-2 --hours 1 -o {name}.order",
            &ids[0][..12]
        );
        start(side, &call).end().ok();
        let again = start(side, &call).end().refused();
        assert!(again.contains("never overwritten"), "{again}");
        let beyond = call.replace("1-2", "2-3").replace(".order", ".other");
        let beyond = start(side, &beyond).end().refused();
        assert!(beyond.contains("it has 2 tiles"), "{beyond}");
        // The worker gets only the work order, not the identity.
        let home = pair.folder.path().join(name);
        std::fs::rename(home.join("identity.pem"), home.join("away.pem")).unwrap();
    }
    for tile in 1..=2 {
        let call = |name: &str, place: &str| {
            format!("worker {name}.order --tile {tile} {place} --log json -o {name}-{tile}.json")
        };
        let host = start(Side::Host, &call("host", "--listen 127.0.0.1:0"));
        let listening = host.wait_for("listening").unwrap();
        let place = format!("--connect {}", listening["address"].as_str().unwrap());
        let join = start(Side::Join, &call("join", &place));
        host.end().ok();
        join.end().ok();
    }
    for side in ["host", "join"] {
        let (one, two) = (format!("{side}-1.json"), format!("{side}-2.json"));
        let merged = format!("{side}-merged.json");
        pair.folder.run(&["merge", &one, &two, "-o", &merged]).ok();
        let whole = pair.folder.read(&format!("{side}.json"));
        assert_eq!(
            without_cost(&whole),
            without_cost(&pair.folder.read(&merged))
        );
    }
    let other = start(
        Side::Host,
        "worker host.order --tile 3 --listen 127.0.0.1:0",
    )
    .end();
    assert!(other.refused().contains("it is for other tiles"));
}
