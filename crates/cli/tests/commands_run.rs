//! Runs the commands that documents show outside of console blocks, or the nearest that a test can do: `common/commands.rs` says for each
//! what that is.

// A test stops at the first thing that is not as expected; helpers outside `#[test]` functions are linted like the product.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "common/cargo_lines.rs"]
mod cargo_lines;
#[path = "common/commands.rs"]
mod commands;
mod common;
#[path = "common/sources.rs"]
mod sources;

use cargo_lines::{Workspace, names_what_is_there, targets};
use commands::assigned;
use common::{Folder, root};
use std::io::Write;
use std::path::Path;

#[test]
fn calls_run_as_they_stand() {
    let folder = Folder::new();
    let run = |call: &str| folder.run(&call.split(' ').collect::<Vec<_>>());
    let recording = std::fs::read(root().join("testdata/formats/eyelink-asc.asc"));
    folder.file("recording.asc", recording.unwrap());
    run("synth lifelike --participants 4 --stimuli 1 --seed 7 -o everyone.csv").ok();
    run("split everyone.csv --seed 1 --first clinic.csv --second university.csv").ok();
    run("synth random --count 30 --length 100 --seed 2 -o b.csv").ok();
    run("compare clinic.csv university.csv -q -o result.json").ok();
    for call in assigned("calls_run_as_they_stand") {
        let metrics: &[&str] = match call.contains("NAME") {
            true => &[
                "levenshtein",
                "needleman-wunsch",
                "smith-waterman",
                "scanmatch",
            ],
            false => &[""],
        };
        for metric in metrics {
            let call: Vec<&str> = call
                .split(' ')
                .skip(1)
                .map(|word| match word {
                    "FILE" => "recording.asc",
                    "A" => "clinic.csv",
                    "B" => "university.csv",
                    "RESULT" => "result.json",
                    "NAME" => metric,
                    word => word,
                })
                .collect();
            let wants_json = call.ends_with(&["--format", "json"]);
            let ran = folder.run(&call);
            let said = ran.stderr.clone();
            let printed = ran.ok();
            assert!(call.contains(&"-o") || !printed.is_empty(), "{call:?}");
            if wants_json {
                let result: serde_json::Value = serde_json::from_str(&printed).unwrap();
                assert!(result["cost"]["seconds"].is_number(), "{call:?}");
            }
            if call.contains(&"--summary") {
                let summary: serde_json::Value = serde_json::from_str(said.trim()).unwrap();
                assert!(summary["rows_read"].is_number(), "{said}");
            }
        }
    }
    assert!(folder.read("report.html").contains("</html>"));
    assert_eq!(
        folder
            .read("a.csv")
            .lines()
            .filter(|it| it.len() > 100)
            .count(),
        30
    );
}

#[test]
fn measurements_run_with_smaller_numbers() {
    // The book repeats some of them with further options.
    let further = |call: &str| match call.split(' ').take(3).collect::<Vec<_>>()[..] {
        [_, "audit", "leakage"] => vec![
            "",
            " --metric needleman-wunsch --substitution index",
            " --metric needleman-wunsch --substitution euclidean --grid 7x7 --letters 49 --scale 100",
        ],
        [_, "bench", "cell"] if call.contains("garbled") => vec![
            "",
            " --metric smith-waterman",
            " --metric needleman-wunsch --substitution euclidean --grid 7x7 --scale 100 --gap 1.5",
            " --metric scanmatch --grid 8x6",
        ],
        [_, "bench", "cell"] => vec!["", " --hardened"],
        _ => vec![""],
    };
    let weak = |call: &str| match call.contains("bench cell") {
        true => "--key-bits 512 --allow-weak-key",
        false => "--key-bits 512",
    };
    for call in assigned("measurements_run_with_smaller_numbers") {
        let mut smaller = call.to_string();
        for (number, small) in [
            ("--key-bits 2048", weak(call)),
            ("--seconds 0.25", "--seconds 0.01"),
            ("--seconds 25", "--seconds 0.01"),
            ("--seconds 6", "--seconds 0.01"),
            ("--rounds 100", "--rounds 1"),
            ("--hypotheses 500", "--hypotheses 10"),
        ] {
            smaller = smaller.replace(number, small);
        }
        if !cfg!(feature = "gmp") {
            smaller = smaller.replace(" --gmp", "");
        }
        for options in further(call) {
            let mut call = format!("{smaller}{options}");
            if call.contains("audit") {
                call.push_str(" --length 3");
            }
            let words: Vec<&str> = call.split(' ').skip(1).collect();
            let printed = Folder::new().run(&words).ok();
            assert!(printed.lines().count() > 5, "{call}: {printed}");
        }
    }
    let workspace = Workspace::read(".");
    assert!(workspace.package("veilpath")["features"]["gmp"].is_array());
}

#[test]
fn what_cargo_builds_is_there() {
    let workspace = Workspace::read(".");
    for call in assigned("what_cargo_builds_is_there") {
        match call.split(' ').collect::<Vec<_>>()[..] {
            [
                "cargo",
                "run",
                "--release",
                "--locked",
                "--",
                ref arguments @ ..,
            ] => {
                // It needs no name where there is one program.
                assert_eq!(workspace.programs(), ["veilpath"]);
                assert!(!Folder::new().run(arguments).ok().is_empty(), "{call}");
            }
            ["cargo", "install", "--path", path, "--locked"] => {
                let package = workspace.package("veilpath");
                let manifest = Path::new(package["manifest_path"].as_str().unwrap());
                let named = root().join(path).join("Cargo.toml").canonicalize().unwrap();
                assert_eq!(manifest.canonicalize().unwrap(), named);
                let mut programs = targets(package, "bin");
                assert!(programs.any(|it| it["name"] == "veilpath"), "{call}");
            }
            ["cargo", "test", ..] => {
                let ci = std::fs::read_to_string(root().join(".ci/run")).unwrap();
                assert!(ci.contains(&format!("test_command='{call}'\n")), "{call}");
            }
            _ => panic!("this test knows nothing of `{call}`"),
        }
    }
}

#[test]
fn tests_and_benches_that_cargo_is_asked_for_are_there() {
    let workspace = Workspace::read(".");
    for call in assigned("tests_and_benches_that_cargo_is_asked_for_are_there") {
        names_what_is_there(call, &workspace);
    }
    for wrong in [
        "cargo test -p veilpath-cli --test nothing",
        "cargo test -p veilpath-cli --test commands_run -- --ignored",
        "cargo test -p veilpath-cli --test commands_run no_such_test",
        "cargo test -p veilpath-none --lib",
        "cargo bench -p veilpath-protocol --bench none",
        "VEILPATH_NOTHING=1 cargo test -p veilpath-cli --test commands_run",
    ] {
        let fails = std::panic::catch_unwind(|| names_what_is_there(wrong, &Workspace::read(".")));
        assert!(fails.is_err(), "{wrong}");
    }
}

/// What a shell prints for a line, which has to succeed, with `veilpath` in reach and cargo kept from the network.
#[cfg(unix)]
fn shell(line: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_veilpath"));
    let mut places = vec![program.parent().unwrap().to_path_buf()];
    places.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let output = std::process::Command::new("bash")
        .args(["-o", "pipefail", "-ec", line])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(places).unwrap())
        .env("CARGO_NET_OFFLINE", "true")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

#[cfg(unix)]
#[test]
fn a_shell_keeps_a_sides_files_where_it_is_told() {
    for line in assigned("a_shell_keeps_a_sides_files_where_it_is_told") {
        let folder = Folder::new();
        shell(&format!("{line}\nveilpath identity"), folder.path());
        assert!(folder.path().join("home/identity.pem").is_file(), "{line}");
    }
}

#[cfg(unix)]
#[test]
fn trees_of_dependencies_are_as_the_book_says() {
    let chapter = std::fs::read_to_string(root().join("docs/assurance.md")).unwrap();
    for line in assigned("trees_of_dependencies_are_as_the_book_says") {
        let printed = shell(line, &root());
        if line.ends_with("wc -l") {
            let own = shell(&line.replace("wc -l", "grep -c ^veilpath"), &root());
            let sentence = format!(
                "The binary contains {} crates, of which {} are Veilpath's own:\n",
                printed.trim(),
                own.trim()
            );
            // On other systems there are others.
            let is_here = cfg!(all(target_os = "linux", target_arch = "x86_64"));
            assert!(!is_here || chapter.contains(&sentence), "{sentence}");
        } else {
            assert!(printed.contains("\n└── ring v"), "{line}: {printed}");
        }
    }
}

#[cfg(unix)]
#[test]
fn scripts_run_what_is_there() {
    let workspace = Workspace::read(".");
    let mut looked_up = 0;
    for call in assigned("scripts_run_what_is_there") {
        let (script, arguments) = match call.split_once("/run") {
            Some((folder, arguments)) => (format!("{folder}/run"), arguments),
            None => (
                ".ci/faults".to_string(),
                call.strip_prefix(".ci/faults").unwrap(),
            ),
        };
        let printed = shell(&format!("{script} --list{arguments}"), &root());
        let lines = printed
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with("== "));
        let lines: Vec<&str> = lines.collect();
        assert!(!lines.is_empty(), "{call} would run nothing");
        looked_up += lines.len();
        for word in arguments.split_whitespace() {
            let headline = format!("== {word}");
            let is_used = |line: &str| line == headline || line.contains(&format!("={word} "));
            assert!(
                printed.lines().any(is_used),
                "{call}: {word} changes nothing"
            );
        }
        let mut fuzzed = Vec::new();
        for line in &lines {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["cargo", "+nightly", "fuzz", "run", target, ..] => fuzzed.push(target.to_string()),
                ["cargo", "build", "--release", "--locked"] => {
                    assert!(lines.contains(&"target/release/secrets"), "{call}");
                }
                ["target/release/secrets"] => {
                    assert_eq!(Workspace::read("assurance").programs(), ["secrets"]);
                }
                ["cargo", "deny", "--locked", "check", ref checks @ ..] => {
                    let rules = std::fs::read_to_string(root().join("deny.toml")).unwrap();
                    let is_there = |check: &&str| rules.contains(&format!("[{check}]\n"));
                    assert!(checks.iter().all(is_there), "{line}");
                }
                _ => names_what_is_there(line, &workspace),
            }
        }
        if script == "fuzz/run" {
            let mut targets = Workspace::read("fuzz").programs();
            targets.sort();
            fuzzed.sort();
            assert_eq!(targets, fuzzed, "{call}");
        }
        assert!(
            call.contains("VEILPATH_ADVISORIES") == printed.contains("check advisories"),
            "{call}"
        );
    }
    assert!(looked_up > 30, "only {looked_up} commands were listed");
}

/// Where it is installed, be it by `.ci/run`.
#[test]
fn the_book_is_built() {
    let own = root().join("target/tools/bin/mdbook");
    let mdbook = if own.is_file() { own } else { "mdbook".into() };
    for call in assigned("the_book_is_built") {
        let folder = Folder::new();
        let output = std::process::Command::new(&mdbook)
            .args(call.split(' ').skip(1))
            .arg("--dest-dir")
            .arg(folder.path().join("book"))
            .current_dir(root())
            .output();
        let Ok(output) = output else {
            let notice =
                "\n*** SKIPPED: mdBook is not installed, so the book of docs/ was NOT built. ***\n";
            // Not by `eprintln!`, which the test harness keeps to itself when a test passes.
            std::io::stderr().write_all(notice.as_bytes()).unwrap();
            return;
        };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{call}: {said}");
        assert!(folder.read("book/index.html").contains("Veilpath"));
        assert!(folder.path().join("book/glossary.html").is_file());
    }
}
