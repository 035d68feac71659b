//! Whether a line that calls `cargo` names what is there: packages, targets, tests and variables, without building anything.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test's helpers may fail the test

use crate::common::root;
use crate::sources::{metadata, rust_files};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What cargo knows of a workspace itself.
pub(crate) struct Workspace(Value);

impl Workspace {
    /// The one in this folder of the repository.
    pub(crate) fn read(folder: &str) -> Self {
        Self(metadata(folder))
    }

    fn packages(&self) -> &[Value] {
        self.0["packages"].as_array().unwrap()
    }

    pub(crate) fn package(&self, name: &str) -> &Value {
        let found = self.packages().iter().find(|it| it["name"] == name);
        found.unwrap_or_else(|| panic!("there is no package {name}"))
    }

    /// The names of all programs.
    pub(crate) fn programs(&self) -> Vec<String> {
        let all = self.packages().iter().flat_map(|it| targets(it, "bin"));
        all.map(|it| it["name"].as_str().unwrap().to_string())
            .collect()
    }
}

/// A package's targets of a kind.
pub(crate) fn targets<'a>(package: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    let all = package["targets"].as_array().unwrap().iter();
    all.filter(move |it| it["kind"].as_array().unwrap().iter().any(|its| its == kind))
}

/// Fails unless all that a line of `cargo test`, `cargo miri test` or `cargo bench` names is there, and each of its filters finds
/// something. Settings before `cargo` have to be read by some source, if they are Veilpath's.
pub(crate) fn names_what_is_there(line: &str, workspace: &Workspace) {
    let mut words = line.split_whitespace().peekable();
    while let Some(setting) = words.next_if(|word| word.contains('=')) {
        let name = setting.split('=').next().unwrap();
        let is_read = || in_code(&format!("\"{}\"", name.to_lowercase()));
        assert!(
            !name.starts_with("VEILPATH_") || is_read(),
            "{line}: nothing reads {name}"
        );
    }
    assert_eq!(words.next(), Some("cargo"), "{line}");
    words.next_if_eq(&"+nightly");
    words.next_if_eq(&"miri");
    let bench = match words.next() {
        Some("test") => false,
        Some("bench") => true,
        _ => panic!("{line}: this test knows nothing of it"),
    };
    let (mut packages, mut kinds, mut filters, mut ignored) = (vec![], vec![], vec![], false);
    let mut for_program = false;
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .unwrap_or_else(|| panic!("{line}: {word} of what?"))
        };
        match word {
            "--" => for_program = true,
            "--locked" | "--release" if !for_program => {}
            "--target" if !for_program => drop(value()),
            "-p" if !for_program => packages.push(workspace.package(value())),
            "--lib" if !for_program => kinds.push(("lib", None)),
            "--tests" if !for_program => kinds.push(("test", None)),
            "--test" if !for_program => kinds.push(("test", Some(value()))),
            "--bench" if !for_program => kinds.push(("bench", Some(value()))),
            "--nocapture" if for_program => {}
            "--ignored" if for_program => ignored = true,
            "--test-threads" if for_program => drop(value().parse::<u8>().unwrap()),
            option if option.starts_with('-') => panic!("{line}: {option} is not known here"),
            filter => filters.push(filter),
        }
    }
    assert!(
        !packages.is_empty() && !kinds.is_empty(),
        "{line}: of what?"
    );
    let mut tests = Vec::new();
    for (kind, name) in kinds {
        let before = tests.len();
        for target in packages.iter().flat_map(|it| targets(it, kind)) {
            if name.is_none_or(|name| target["name"] == name) {
                let path = Path::new(target["src_path"].as_str().unwrap());
                if bench {
                    tests.push((path.display().to_string(), false));
                } else {
                    tests.extend(tests_of(path, kind == "lib"));
                }
            }
        }
        assert!(tests.len() > before, "{line}: there is no {kind} {name:?}");
    }
    tests.retain(|(_, is_ignored)| bench || *is_ignored == ignored);
    assert!(!tests.is_empty(), "{line}: there are no such tests");
    for filter in filters {
        // A bench composes its names when it runs, of those of kernels for example: then only that the code knows the word.
        let found = match bench {
            true => in_code(&filter.to_lowercase()),
            false => tests.iter().any(|(name, _)| name.contains(filter)),
        };
        assert!(found, "{line}: nothing is called {filter}");
    }
}

/// The tests in the sources of a target by name, and whether they are left out unless asked for.
fn tests_of(path: &Path, with_modules: bool) -> Vec<(String, bool)> {
    let files = match with_modules {
        true => rust_files(path.parent().unwrap()),
        false => vec![path.to_path_buf()],
    };
    let mut tests = Vec::new();
    for file in &files {
        let mut module = match with_modules {
            true => module_of(file, path.parent().unwrap(), &files),
            false => Vec::new(),
        };
        let source = std::fs::read_to_string(file).unwrap();
        let (mut is_test, mut is_ignored) = (false, false);
        for line in source.lines().map(str::trim) {
            if let Some(name) = line
                .strip_prefix("mod ")
                .and_then(|it| it.strip_suffix(" {"))
            {
                module.push(name.to_string());
            } else if line == "#[test]" {
                (is_test, is_ignored) = (true, false);
            } else if line.starts_with("#[ignore") {
                is_ignored = true;
            } else if let Some(name) = line.strip_prefix("fn ").filter(|_| is_test) {
                let name = name.split('(').next().unwrap().to_string();
                tests.push(([&module[..], &[name]].concat().join("::"), is_ignored));
                is_test = false;
            }
        }
    }
    tests
}

/// The path of a file's module: by its place, or by the file beside it that names it as a module of its own.
fn module_of(file: &Path, folder: &Path, files: &[PathBuf]) -> Vec<String> {
    let name = file.file_name().unwrap().to_str().unwrap();
    let attribute = format!("#[path = \"{name}\"]\nmod ");
    for other in files.iter().filter(|it| it.parent() == file.parent()) {
        let source = std::fs::read_to_string(other).unwrap();
        if let Some((_, rest)) = source.split_once(&attribute) {
            let mut module = module_of(other, folder, &[]);
            module.push(rest.split(';').next().unwrap().to_string());
            return module;
        }
    }
    let within = file.strip_prefix(folder).unwrap().with_extension("");
    let parts = within.iter().map(|part| part.to_str().unwrap().to_string());
    let mut module: Vec<String> = parts.collect();
    if matches!(module.last().map(String::as_str), Some("lib" | "mod")) {
        module.pop();
    }
    module
}

/// Whether some source has this text in lower case, in capitals or mixed, and not in a comment.
fn in_code(text: &str) -> bool {
    let has = |line: &str| {
        line.split("//")
            .next()
            .unwrap()
            .to_lowercase()
            .contains(text)
    };
    let mut files = rust_files(&root().join("crates")).into_iter();
    files.any(|file| std::fs::read_to_string(file).unwrap().lines().any(has))
}
