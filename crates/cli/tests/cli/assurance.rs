//! Compares the tables of `assurance/UNSAFE.md` and `assurance/DEPENDENCIES.md` with the code.

// Clippy lints helpers outside `#[test]` functions like product code.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;
use crate::common::sources;

use common::root;
use sources::{metadata, relative, rust_files};
use std::collections::BTreeSet;
use std::path::Path;

/// The keyword, in two halves so that this file does not find itself.
const KEYWORD: &str = concat!("uns", "afe");

#[test]
fn the_document_lists_every_unsafe_block() {
    let mut found = Vec::new();
    for folder in ["crates", "assurance/src"] {
        for file in rust_files(&root().join(folder)) {
            let name = relative(&file);
            for function in unsafe_places(&read(&file)) {
                found.push(format!("`{name}` | `{function}`"));
            }
        }
    }
    found.sort();
    let mut listed: Vec<String> = rows("assurance/UNSAFE.md")
        .iter()
        .map(|cells| format!("{} | {}", cells[0], cells[1]))
        .collect();
    listed.sort();
    assert_eq!(found, listed, "unsafe code, and the list");
}

#[test]
fn the_scan_names_the_function_around_each_block() {
    let source = format!(
        "impl A {{\n    /// {KEYWORD} {{\n    fn one(&self) {{\n        {KEYWORD} {{ a() }}\n    }}\n    \
         pub(crate) fn two<T>() {{\n        b(\"{KEYWORD} {{\"); // {KEYWORD} {{\n        let c = {KEYWORD} {{\n        }};\n    }}\n}}\n\
         {KEYWORD} impl B for C {{\n    {KEYWORD} fn three() {{}}\n}}\n#[{KEYWORD}(no_mangle)]\nfn four() {{}}\n"
    );
    assert_eq!(
        unsafe_places(&source),
        ["one", "two", "impl B", "three", "no_mangle"]
    );
}

#[test]
fn the_document_explains_every_direct_dependency() {
    let metadata = metadata("");
    let mut found = BTreeSet::new();
    for package in metadata["packages"].as_array().unwrap() {
        for dependency in package["dependencies"].as_array().unwrap() {
            let (kind, name) = (&dependency["kind"], dependency["name"].as_str().unwrap());
            // Dependencies of tests and benches are not shipped.
            if kind.is_null() && dependency["path"].is_null() {
                found.insert(format!("`{name}`"));
            }
        }
    }
    let listed: Vec<String> = rows("assurance/DEPENDENCIES.md")
        .iter()
        .map(|cells| {
            assert!(!cells[1].is_empty(), "{} has no reason", cells[0]);
            cells[0].clone()
        })
        .collect();
    let unique: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), unique.len(), "a crate is listed twice");
    assert_eq!(found, unique, "direct dependencies, and the list");
}

/// The rows of the table in a document, without its header.
fn rows(document: &str) -> Vec<Vec<String>> {
    let rows: Vec<Vec<String>> = read(&root().join(document))
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells = line.trim_matches('|').split('|');
            cells.map(|cell| cell.trim().to_string()).collect()
        })
        .collect();
    assert!(!rows.is_empty(), "no table in {document}");
    rows
}

/// The names of unsafe code in a source file: the function around a block, or an unsafe function, trait implementation or
/// attribute.
fn unsafe_places(source: &str) -> Vec<String> {
    let mut places = Vec::new();
    let mut function = String::new();
    for line in source.lines() {
        let code = without_strings(line.split("//").next().unwrap_or_default());
        let named = code.find("fn ").filter(|at| {
            let before = &code[..*at];
            before.trim().is_empty() || before.ends_with(' ')
        });
        if let Some(at) = named {
            let name = code[at + 3..]
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next();
            function = name.unwrap_or_default().to_string();
        }
        for (at, _) in code.match_indices(KEYWORD) {
            let rest = code[at + KEYWORD.len()..].trim_start();
            if let Some(what) = rest.strip_prefix("impl ") {
                let name = what.split(' ').next().unwrap_or_default();
                places.push(format!("impl {name}"));
            } else if let Some(attribute) = rest.strip_prefix('(') {
                let name = attribute.split(')').next().unwrap_or_default();
                places.push(name.to_string());
            } else if rest.starts_with('{') || rest.starts_with("fn ") || rest.starts_with("extern")
            {
                places.push(function.clone());
            }
        }
    }
    places
}

/// A line without the contents of string literals.
fn without_strings(line: &str) -> String {
    line.split('"').step_by(2).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
