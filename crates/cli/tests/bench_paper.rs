//! `veilpath bench paper` is killed and goes on. (`help_examples.rs` runs it to its end.)
#![allow(clippy::unwrap_used, clippy::panic)] // a test's helpers may fail the test

mod common;

use common::Folder;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// No run of this test lasts longer.
const LONGEST: Duration = Duration::from_secs(120);

fn start(folder: &Folder) -> Child {
    let mut command = folder.command(&["bench", "paper", "--quick", "-o", "paper"]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::piped()).spawn().unwrap()
}

/// The whole lines of the file, once there are so many; the process is killed then.
fn kill_after(mut child: Child, file: &Path, lines: usize) -> (Vec<String>, String) {
    let deadline = Instant::now() + LONGEST;
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
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "it ended before it could be killed");
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
fn a_killed_run_goes_on_with_what_is_missing() {
    let folder = Folder::new();
    let file = folder.path().join("paper/measurements.jsonl");
    // The settings, and two measurements.
    let (first, _) = kill_after(start(&folder), &file, 3);
    // As if it had been killed in the middle of a line.
    let mut text = std::fs::read_to_string(&file).unwrap();
    let known = text.lines().count();
    text.push_str("{\"step\":\"cell\",\"eng");
    std::fs::write(&file, text).unwrap();

    let (second, said) = kill_after(start(&folder), &file, known + 1);
    assert!(
        said.contains(&format!(
            "going on after {} finished measurements",
            known - 1
        )),
        "{said}"
    );
    assert_eq!(second[..first.len()], first[..], "measured again");
    let records: Vec<serde_json::Value> = second
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let steps: Vec<String> = records[1..]
        .iter()
        .map(|record| format!("{} {}", record["step"], record["engine"]))
        .collect();
    let mut once = steps.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), steps.len(), "a step was measured twice");
}
