//! The Rust files of the workspace, and its metadata from cargo.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)] // every test file uses a part of this; a test's helpers may fail the test

use crate::common::root;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// All Rust files under a folder, in order.
pub(crate) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The path from the workspace's root, with `/` on every platform.
pub(crate) fn relative(file: &Path) -> String {
    let parts = file.strip_prefix(root()).unwrap().iter();
    let parts: Vec<_> = parts.map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// Cargo's metadata about the packages of the workspace in this folder, without dependencies.
pub(crate) fn metadata(folder: &str) -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = "metadata --format-version 1 --no-deps --offline";
    let output = Command::new(cargo)
        .args(arguments.split(' '))
        .current_dir(root().join(folder))
        .output()
        .expect("cargo can be started");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "cargo metadata in {folder}: {message}"
    );
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}
