//! Checks the rules in `ARCHITECTURE.md` that the compiler does not: which crate may use which, where unsafe code is
//! allowed, that every crate has the same lints, that libraries name no flags, and that files stay readable.

// Clippy lints helpers outside `#[test]` functions like product code.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod flags;

use crate::common;
use crate::common::sources;

use common::root;
use serde_json::Value;
use sources::{metadata, relative, rust_files};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Every crate in the workspace: layer, folder under `crates/`, package, and the workspace crates that its code, tests or
/// build script may use. `ARCHITECTURE.md` contains the same table.
const CRATES: &[(u8, &str, &str, &[&str])] = &[
    (0, "channel", "veilpath-channel", &[]),
    (0, "metrics", "veilpath-metrics", &[]),
    (0, "paillier", "veilpath-paillier", &[]),
    (0, "statistics", "veilpath-statistics", &[]),
    (1, "encode", "veilpath-encode", &["metrics"]),
    (1, "mpc", "veilpath-mpc", &["channel"]),
    (
        2,
        "protocol",
        "veilpath-protocol",
        &["channel", "metrics", "paillier", "statistics", "mpc"],
    ),
    (
        3,
        "audit",
        "veilpath-audit",
        &["channel", "metrics", "paillier", "protocol"],
    ),
    (3, "report", "veilpath-report", &["metrics", "protocol"]),
    (
        3,
        "session",
        "veilpath-session",
        &["channel", "metrics", "protocol"],
    ),
    (
        4,
        "veilpath",
        "veilpath",
        &[
            "metrics",
            "paillier",
            "statistics",
            "encode",
            "protocol",
            "report",
            "session",
        ],
    ),
    (
        4,
        "evaluation",
        "veilpath-evaluation",
        &["metrics", "paillier", "protocol", "session", "audit"],
    ),
    (5, "ui", "veilpath-ui", &["veilpath"]),
    (
        6,
        "cli",
        "veilpath-cli",
        &[
            "channel",
            "metrics",
            "paillier",
            "encode",
            "protocol",
            "report",
            "session",
            "veilpath",
            "evaluation",
            "ui",
        ],
    ),
];

/// The files that may contain unsafe code, as paths from the root: `crates/…/kernel.rs`.
const UNSAFE_FILES: &[&str] = &[
    "crates/paillier/src/arith/ifma.rs",
    "crates/mpc/src/aes_kernel.rs",
    "crates/mpc/src/clmul_kernel.rs",
    "crates/mpc/src/ot_kernel.rs",
    "crates/mpc/src/sha_kernel.rs",
    "crates/mpc/src/transpose_kernel.rs",
    "crates/cli/src/glibc.rs",
    "crates/cli/src/windows_console.rs",
];

/// Files under `crates/*/src` are shorter than this.
const MAX_LINES: usize = 450;

#[test]
fn crates_use_only_what_the_table_allows() {
    let metadata = metadata("");
    let packages = metadata["packages"].as_array().unwrap();
    let folder_of: BTreeMap<&str, &str> = CRATES
        .iter()
        .map(|&(_, folder, package, _)| (package, folder))
        .collect();
    let mut wrong = Vec::new();

    let found: BTreeSet<&str> = packages
        .iter()
        .map(|package| text(package, "name"))
        .collect();
    let listed: BTreeSet<&str> = folder_of.keys().copied().collect();
    for package in found.difference(&listed) {
        wrong.push(format!("{package} is not in the table"));
    }
    for package in listed.difference(&found) {
        wrong.push(format!(
            "{package} is in the table but not in the workspace"
        ));
    }

    for &(_, folder, name, allowed) in CRATES {
        let Some(package) = packages
            .iter()
            .find(|package| text(package, "name") == name)
        else {
            continue;
        };
        let manifest = root().join("crates").join(folder).join("Cargo.toml");
        if !same_file(Path::new(text(package, "manifest_path")), &manifest) {
            wrong.push(format!("{name} is not in crates/{folder}"));
        }
        for dependency in package["dependencies"].as_array().unwrap() {
            let used = text(dependency, "name");
            // A crate's tests may enable its own features.
            let local = used != name && (dependency["path"].is_string() || found.contains(used));
            let permitted = folder_of
                .get(used)
                .is_some_and(|used| allowed.contains(used));
            if local && !permitted {
                let kind = dependency["kind"].as_str().unwrap_or("normal");
                wrong.push(format!("{name} may not use {used} ({kind} dependency)"));
            }
        }
    }
    report(
        &wrong,
        "A new crate or edge is a decision: change CRATES in this file and the table in ARCHITECTURE.md with it.",
    );
}

/// The workspace crates that the programs of the front ends may use. Their tests may use those in the table.
const FRONT_ENDS: &[(&str, &[&str])] = &[
    ("veilpath-ui", &["veilpath"]),
    (
        "veilpath-cli",
        &["veilpath", "veilpath-evaluation", "veilpath-ui"],
    ),
];

/// Front ends reach the libraries through the façade, so that every front end can do the same.
#[test]
fn front_ends_use_only_the_facade() {
    let metadata = metadata("");
    let packages = metadata["packages"].as_array().unwrap();
    for &(name, allowed) in FRONT_ENDS {
        let package = packages.iter().find(|it| text(it, "name") == name);
        let dependencies = package.unwrap()["dependencies"].as_array().unwrap();
        let used: BTreeSet<&str> = dependencies
            .iter()
            .filter(|it| it["kind"].is_null() && it["path"].is_string())
            .map(|it| text(it, "name"))
            .collect();
        let allowed = allowed.iter().copied().collect();
        assert_eq!(used, allowed, "normal dependencies of {name}");
    }
}

/// Features that observe or replace parts of a protocol, for tests and attacks.
const TEST_HOOKS: &[&str] = &["watch", "ideal", "fuzz", "fuzzing"];

/// Checks what `cargo install --path crates/cli` builds.
#[test]
fn an_installed_program_has_no_test_hooks() {
    has_no_test_hooks(&["-p", "veilpath-cli"]);
}

/// Checks what `cargo run` and `cargo build` build in the root folder. (Only a build with `--workspace` enables all features
/// that any crate asks for.)
#[test]
fn the_default_build_has_no_test_hooks() {
    has_no_test_hooks(&[]);
}

/// Checks what `pip install ./python` builds: the façade, with the features that the package asks for. The package is not in
/// the workspace and its other dependencies may not be downloaded, so `cargo tree` cannot always resolve it.
#[test]
fn the_python_package_has_no_test_hooks() {
    let metadata = metadata("python");
    let package = &metadata["packages"][0];
    assert_eq!(package["features"], serde_json::json!({}));
    let dependencies = package["dependencies"].as_array().unwrap();
    let local: Vec<&Value> = dependencies
        .iter()
        .filter(|it| it["path"].is_string())
        .collect();
    assert_eq!(local.len(), 1, "{local:?}");
    assert_eq!(local[0]["name"], "veilpath");
    assert_eq!(local[0]["features"], serde_json::json!([]));
    has_no_test_hooks(&["-p", "veilpath"]);
}

fn has_no_test_hooks(selection: &[&str]) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = "tree --edges normal,build --prefix none --format {p}|{f} --offline --locked";
    let output = std::process::Command::new(cargo)
        .args(arguments.split(' '))
        .args(selection)
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tree = String::from_utf8(output.stdout).unwrap();
    let ours = tree.lines().filter(|line| line.starts_with("veilpath"));
    let mut packages = 0;
    for line in ours {
        packages += 1;
        let (package, features) = line.split_once('|').unwrap();
        assert!(!package.starts_with("veilpath-audit "), "{line}");
        let features = features.trim_end_matches(" (*)");
        let hook = features.split(',').find(|it| TEST_HOOKS.contains(it));
        assert_eq!(hook, None, "{line}");
    }
    assert!(packages > 5, "{tree}");
}

#[test]
fn dependencies_point_down() {
    let layer_of: BTreeMap<&str, u8> = CRATES
        .iter()
        .map(|&(layer, folder, ..)| (folder, layer))
        .collect();
    for &(layer, folder, _, allowed) in CRATES {
        for used in allowed {
            assert!(
                layer_of[used] < layer,
                "{folder} may only use lower layers, and {used} is none"
            );
        }
    }
}

#[test]
fn the_architecture_document_shows_the_same_table() {
    let document = read(&root().join("ARCHITECTURE.md"));
    let shown: BTreeSet<String> = document
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains("| `crates/"))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            assert_eq!(cells.len(), 5, "not a row of the table of layers: {line}");
            [cells[0], cells[1], cells[2], cells[4]].join(" | ")
        })
        .collect();
    let expected = CRATES
        .iter()
        .map(|(layer, folder, package, allowed)| {
            let allowed = match allowed {
                [] => "–".to_string(),
                some => some.join(", "),
            };
            format!("{layer} | `crates/{folder}` | `{package}` | {allowed}")
        })
        .collect();
    assert_eq!(shown, expected, "ARCHITECTURE.md and CRATES differ");
}

#[test]
fn unsafe_code_is_only_in_the_listed_files() {
    let allowing: BTreeSet<String> = files_of_crates()
        .into_iter()
        .filter(|file| lowers_the_unsafe_lint(&read(&root().join(file))))
        .collect();
    let listed: BTreeSet<String> = UNSAFE_FILES.iter().map(ToString::to_string).collect();
    assert_eq!(
        allowing, listed,
        "files that allow unsafe code, and the list"
    );

    // Without the workspace's lint the list would mean nothing.
    let manifest = read(&root().join("Cargo.toml"));
    let denied = ["deny", "forbid"].map(|level| format!("{LINT} = \"{level}\""));
    assert!(
        section(&manifest, "workspace.lints.rust").any(|line| denied.iter().any(|d| d == line)),
        "the workspace must deny unsafe code"
    );
}

#[test]
fn the_scan_for_unsafe_code_sees_every_spelling() {
    let lint = LINT;
    for yes in [
        format!("#![allow({lint})]"),
        format!("#[allow(dead_code, {lint})]"),
        format!("#[expect(\n    {lint},\n    reason = \"…\"\n)]"),
        format!("#[cfg_attr(unix, allow( {lint} ))]"),
        format!("#[warn({lint})] // forbid("),
    ] {
        assert!(lowers_the_unsafe_lint(&yes), "{yes}");
    }
    for no in [
        format!("fn {lint}_is_rare() {{}}"),
        format!("#![forbid({lint})]"),
        format!("#![deny({lint})]"),
        format!("//! allow({lint}) is not for this file"),
        "fn main() {}".to_string(),
    ] {
        assert!(!lowers_the_unsafe_lint(&no), "{no}");
    }
}

#[test]
fn every_crate_inherits_the_lints_of_the_workspace() {
    let metadata = metadata("");
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let manifest = read(Path::new(text(package, "manifest_path")));
        if !section(&manifest, "lints").any(|line| line == "workspace = true") {
            wrong.push(text(package, "name").to_string());
        }
    }
    report(
        &wrong,
        "These manifests need [lints] with workspace = true.",
    );
}

#[test]
fn source_files_stay_short() {
    let mut wrong = Vec::new();
    for file in files_of_crates() {
        // crates/<crate>/src/…
        if file.split('/').nth(2) == Some("src") {
            let lines = read(&root().join(&file)).lines().count();
            if lines >= MAX_LINES {
                wrong.push(format!("{file}: {lines} lines"));
            }
        }
    }
    report(
        &wrong,
        &format!(
            "Files are shorter than {MAX_LINES} lines; give a part of what they do a file and a name of its own."
        ),
    );
}

/// The name of the lint, in two halves so that this file does not find itself.
const LINT: &str = concat!("unsafe", "_code");

/// Whether an attribute in this source sets the lint to anything but `deny` or `forbid`.
fn lowers_the_unsafe_lint(source: &str) -> bool {
    let code: String = source
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .flat_map(str::chars)
        .filter(|c| !c.is_whitespace())
        .collect();
    code.match_indices(LINT).any(|(at, _)| {
        let rest = &code[at + LINT.len()..];
        if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            return false;
        }
        let level = code[..at].rsplit_once('(').map_or("", |(before, _)| before);
        !level.ends_with("deny") && !level.ends_with("forbid")
    })
}

/// The lines of a section of a manifest, up to the next section.
fn section<'a>(manifest: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let header = format!("[{name}]");
    manifest
        .lines()
        .map(str::trim)
        .skip_while(move |line| *line != header)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
}

/// All Rust files under `crates/`, as paths from the root.
fn files_of_crates() -> Vec<String> {
    let files = rust_files(&root().join("crates"));
    files.iter().map(|file| relative(file)).collect()
}

fn same_file(a: &Path, b: &Path) -> bool {
    a.canonicalize().unwrap() == b.canonicalize().unwrap_or_default()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("cargo metadata has no {key}"))
}

/// Fails with a list of everything that is wrong, and what to do about it.
fn report(wrong: &[String], remedy: &str) {
    assert!(wrong.is_empty(), "\n  {}\n{remedy}", wrong.join("\n  "));
}
