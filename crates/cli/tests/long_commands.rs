//! Runs the commands of the documents that take minutes, as they stand: `commands_run.rs`, in every run of the suite, only looks up
//! what they name.

// A test stops at the first thing that is not as expected; helpers outside `#[test]` functions are linted like the product.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(unix)]

#[path = "common/commands.rs"]
mod commands;
mod common;

use commands::assigned;
use common::{Folder, root};
use std::io::Write;
use std::process::Command;

/// Those that contain the text of `VEILPATH_COMMAND`; all of them, which takes an hour or two, where it is empty.
#[test]
#[ignore = "takes an hour or two: see CONTRIBUTING.md"]
fn commands_that_take_minutes_run_as_they_stand() {
    let Ok(wanted) = std::env::var("VEILPATH_COMMAND") else {
        let notice = "\n*** SKIPPED: VEILPATH_COMMAND does not say which commands to run. ***\n";
        // Not by `eprintln!`, which the test harness keeps to itself when a test passes.
        std::io::stderr().write_all(notice.as_bytes()).unwrap();
        return;
    };
    let looked_up = [
        "what_cargo_builds_is_there",
        "tests_and_benches_that_cargo_is_asked_for_are_there",
        "scripts_run_what_is_there",
    ];
    let calls = looked_up.into_iter().flat_map(assigned);
    let mut ran = 0;
    for call in calls.filter(|call| call.contains(&wanted)) {
        // What is installed goes where it leaves nothing behind.
        let place = Folder::new();
        let status = Command::new("bash")
            .args(["-o", "pipefail", "-ec", call])
            .current_dir(root())
            .env("CARGO_INSTALL_ROOT", place.path())
            .status()
            .unwrap();
        assert!(status.success(), "`{call}` ends with {status}");
        if call.starts_with("cargo install") {
            let installed = Command::new(place.path().join("bin/veilpath"))
                .arg("--version")
                .status();
            assert!(installed.unwrap().success(), "{call}");
        }
        ran += 1;
    }
    assert!(ran > 0, "no command contains `{wanted}`");
}
