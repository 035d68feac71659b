//! `veilpath bench paper` is killed and resumes. (An ignored test of `help_examples.rs` runs it to its end.)
#![allow(clippy::unwrap_used, clippy::panic)] // a test's helpers may fail the test

use crate::common;

use common::Folder;
use serde_json::json;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// The limit on the run time of a process.
const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// The command for a quick run.
const QUICK: &str = "veilpath bench paper --quick -o paper";

fn start(folder: &Folder, call: &str) -> Child {
    let words: Vec<&str> = call.split(' ').skip(1).collect();
    let mut command = folder.command(&words);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for this many complete lines in the file and kills the process. Returns the lines, and what was printed to
/// standard error.
fn kill_after(mut child: Child, file: &Path, lines: usize) -> (Vec<String>, String) {
    let deadline = Instant::now() + RUN_TIMEOUT;
    let whole = loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let whole: Vec<String> = text
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .map(str::to_string)
            .collect();
        if whole.len() >= lines {
            break whole;
        }
        let result = child.try_wait().unwrap();
        assert!(result.is_none(), "it ended before it could be killed");
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("only {} lines in time", whole.len());
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    (whole, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_killed_run_resumes() {
    let folder = Folder::new();
    let file = folder.path().join("paper/measurements.jsonl");
    // The file has the settings and two measurements.
    let (first, _) = kill_after(start(&folder, QUICK), &file, 3);
    // As if the process had been killed while writing a line.
    let mut text = std::fs::read_to_string(&file).unwrap();
    let known = text.lines().count();
    text.push_str("{\"step\":\"cell\",\"eng");
    std::fs::write(&file, text).unwrap();

    let (second, message) = kill_after(start(&folder, QUICK), &file, known + 1);
    assert!(
        message.contains(&format!("after {} finished measurements", known - 1)),
        "{message}"
    );
    assert_eq!(second[..first.len()], first[..], "measured again");
    let lines: Vec<serde_json::Value> = second
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let steps: Vec<String> = lines[1..]
        .iter()
        .map(|line| format!("{} {}", line["step"], line["engine"]))
        .collect();
    let mut once = steps.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), steps.len(), "a step was measured twice");
}

/// A full run first measures a cell of each engine for twenty seconds; the test writes these measurements itself.
#[test]
fn an_interrupted_full_run_resumes() {
    for call in [
        "veilpath bench paper -o paper",
        "veilpath bench paper --budget 20 -o paper",
    ] {
        let folder = Folder::new();
        let file = folder.path().join("paper/measurements.jsonl");
        let (settings, _) = kill_after(start(&folder, call), &file, 1);
        let settings: serde_json::Value = serde_json::from_str(&settings[0]).unwrap();
        assert_eq!(settings["quick"], false, "{call}");
        let mut text = std::fs::read_to_string(&file).unwrap();
        let keys = [512, 1024, 2048, 3072].map(|bits| json!({ "paillier": bits }));
        for engine in keys.into_iter().chain([json!("garbled"), json!("shares")]) {
            let cell = json!({"step": "cell", "engine": engine, "seconds": 1e-4, "host": 1e-4, "join": 1e-4, "bytes": 100.0});
            text.push_str(&format!("{cell}\n"));
        }
        let known = text.lines().count();
        std::fs::write(&file, &text).unwrap();

        let (all, message) = kill_after(start(&folder, call), &file, known + 1);
        let resumed = format!("after {} finished measurements", known - 1);
        assert!(message.contains(&resumed), "{call}: {message}");
        assert_eq!(all[..known].concat(), text, "{call}: measured again");
        let new: serde_json::Value = serde_json::from_str(&all[known]).unwrap();
        assert_eq!(new["step"], "order", "{call}: {new}");
        assert!(new["candidates"].as_f64().unwrap() > 1.0, "{call}: {new}");
    }
}
