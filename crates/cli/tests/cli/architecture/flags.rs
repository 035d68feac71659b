//! No library knows about flags.

use super::{files_of_crates, read, report};
use crate::common::root;

/// Only a front end knows about flags; a library's errors name fields and values.
#[test]
fn libraries_name_no_flags() {
    let mut wrong = Vec::new();
    for file in files_of_crates() {
        // crates/<crate>/…
        if ["cli", "ui"].contains(&file.split('/').nth(1).unwrap()) {
            continue;
        }
        for (index, line) in read(&root().join(&file)).lines().enumerate() {
            let flag = flag_in(line);
            wrong.extend(flag.map(|flag| format!("{file}:{}: --{flag}", index + 1)));
        }
    }
    report(
        &wrong,
        "Libraries name fields; crates/cli/src/hints.rs turns them into flags.",
    );
}

#[test]
fn the_scan_for_flags_sees_only_flags_of_the_program() {
    for (line, flag) in [
        (r#"    "use --grid 7x7","#, Some("grid")),
        (
            r#"     `--limit-per-scanpath`: more","#,
            Some("limit-per-scanpath"),
        ),
        (r#"format!("{}--{name}")"#, None),
        (r#""--{flag}""#, None),
        (r#"let x = 1; // --grid"#, None),
        (r#"/// `--grid`"#, None),
        (r#""color: var(--accent)""#, None),
        (r#""--grid: too small""#, Some("grid")),
        (r#""<!--page-->""#, None),
        (r#""`python -m Toolbox.generate --scanp-file`""#, None),
    ] {
        assert_eq!(flag_in(line), flag, "{line}");
    }
}

/// The name of the first flag in a line of code. Outside strings and comments, no code has a letter after `--`. A custom
/// property of CSS in `var(…)`, an HTML comment and an option of a Python program are not flags.
fn flag_in(line: &str) -> Option<&str> {
    let code = match line.trim_start().starts_with("//") {
        true => "",
        false => line.split(" // ").next().unwrap_or_default(),
    };
    let code = code.split("python -m").next().unwrap_or_default();
    code.match_indices("--").find_map(|(at, dashes)| {
        let rest = &code[at + dashes.len()..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let name = &rest[..end.unwrap_or(rest.len())];
        let elsewhere = code[..at].ends_with("var(") || code[..at].ends_with(['-', '!']);
        (!elsewhere && name.starts_with(char::is_alphabetic)).then_some(name)
    })
}
