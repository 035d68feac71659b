//! The book of `docs/`: its chapters, its links, and what it says about the code.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)] // a test may fail; skipping is said aloud

mod common;

use common::root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use veilpath_metrics::{Alphabet, Comparison, Grid, Metric};
use veilpath_protocol::and_gates_per_cell;

fn read(path: &str) -> String {
    let path = root().join(path);
    let text = std::fs::read_to_string(&path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.replace("\r\n", "\n")
}

/// The names of all chapters.
fn chapters() -> BTreeSet<String> {
    let files = std::fs::read_dir(root().join("docs")).unwrap();
    files
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".md") && name != "SUMMARY.md")
        .collect()
}

/// The targets of `[text](target)`.
fn links(text: &str) -> Vec<&str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once(')')?.0))
        .collect()
}

#[test]
fn the_summary_names_every_chapter_once() {
    let summary = read("docs/SUMMARY.md");
    let named = links(&summary);
    let once: BTreeSet<String> = named.iter().map(|name| name.to_string()).collect();
    assert_eq!(named.len(), once.len(), "a chapter is named twice");
    assert_eq!(
        once,
        chapters(),
        "docs/SUMMARY.md and the files in docs/ differ"
    );
}

/// What is outside of docs/ is not in the built book. (Files of the repository are named, as in `CITATION.cff`.)
#[test]
fn links_of_chapters_stay_in_the_book() {
    for name in chapters() {
        let text = read(&format!("docs/{name}"));
        for link in links(&text) {
            assert!(
                !link.starts_with("../") && !link.starts_with('/'),
                "docs/{name}: ({link}) leads out of the book"
            );
        }
    }
}

/// `.ci/run` builds the book and names its folder.
#[test]
fn every_link_of_the_built_book_leads_somewhere() {
    let Some(folder) = std::env::var_os("VEILPATH_BOOK").map(PathBuf::from) else {
        eprintln!("skipped: VEILPATH_BOOK names no built book (`mdbook build docs`)");
        return;
    };
    let pages: BTreeMap<PathBuf, String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "html"))
        .map(|path| (path.clone(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    let built = |name: &String| pages.contains_key(&folder.join(name.replace(".md", ".html")));
    assert!(chapters().iter().all(built), "a chapter has no page");
    let mut followed = 0;
    for (page, text) in &pages {
        // The page for a wrong address has a base of its own; the one for printing joins all others.
        if page.ends_with("404.html") || page.ends_with("print.html") {
            continue;
        }
        for target in attributes(text) {
            if target.contains("://") || target.starts_with("data:") || target.is_empty() {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            let here = page.display();
            assert!(path.exists(), "{here}: {target} leads nowhere");
            if let (Some(other), false) = (pages.get(&path), anchor.is_empty()) {
                let id = format!("id=\"{anchor}\"");
                assert!(other.contains(&id), "{here}: {target} names no heading");
            }
            followed += 1;
        }
    }
    assert!(followed > 500, "only {followed} links were found");
}

/// The values of `href` and `src`.
fn attributes(page: &str) -> impl Iterator<Item = &str> {
    ["href=\"", "src=\""].into_iter().flat_map(|name| {
        page.split(name)
            .skip(1)
            .filter_map(|rest| Some(rest.split_once('"')?.0))
    })
}

/// What stands between backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

fn is_source(text: &&str) -> bool {
    text.starts_with("crates/") && text.ends_with(".rs")
}

/// Files that chapters name are there.
#[test]
fn named_files_are_there() {
    let mut found = 0;
    for name in chapters() {
        for file in quoted(&read(&format!("docs/{name}")))
            .into_iter()
            .filter(is_source)
        {
            assert!(root().join(file).exists(), "docs/{name}: {file}");
            found += 1;
        }
    }
    assert!(found > 50, "only {found} files were found");
}

/// A name in a row of the tables of docs/notation.md is in one of the files of that row.
#[test]
fn the_papers_notation_leads_to_names_in_the_code() {
    let mut names = 0;
    for line in read("docs/notation.md").lines() {
        let quoted = quoted(line);
        let (files, words): (Vec<&str>, Vec<&str>) = quoted.into_iter().partition(is_source);
        if !line.starts_with('|') || files.is_empty() {
            continue;
        }
        let code: String = files.iter().map(|file| read(file)).collect();
        for word in words.into_iter().filter(|word| !word.starts_with("--")) {
            assert!(code.contains(word), "{word} is not in {files:?}");
            names += 1;
        }
    }
    assert!(names > 30, "only {names} names were found");
}

/// Every row of the last table of docs/wire-format.md is a constant of the code.
#[test]
fn constants_of_the_wire_format_are_those_of_the_code() {
    let chapter = read("docs/wire-format.md");
    let (text, table) = chapter.split_once("\n## Constants\n").unwrap();
    let mut checked = 0;
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, name, value, file, _] = cells[..] else {
            panic!("{row}");
        };
        let (name, file) = (name.trim_matches('`'), file.trim_matches('`'));
        let documented: u64 = value.parse().unwrap();
        let real = constant(&read(file), name).unwrap_or_else(|| panic!("{name} is not in {file}"));
        assert_eq!(real, documented, "{name} in {file}");
        checked += 1;
    }
    assert!(checked > 30, "only {checked} constants were found");
    // The tables above it say the same in their own words.
    for (tag, name) in [
        (1, "Hello"),
        (2, "Terms"),
        (3, "Roster"),
        (4, "Ready"),
        (5, "Done"),
        (6, "Finished"),
        (14, "Wait"),
        (15, "Decline"),
    ] {
        assert!(text.contains(&format!("| {tag} | {name} |")), "{name}");
    }
    let control = read("crates/session/src/control.rs");
    assert!(
        control.contains(
            "Tag::Hello | Tag::Ready | Tag::Finished | Tag::Wait | Tag::Decline => 4 << 10"
        )
    );
    assert!(control.contains("Tag::Terms => 256 << 10"));
    assert!(control.contains("Tag::Roster => 1 << 20"));
    assert!(control.contains("Tag::Done => (MAX_PAIRS / 8)"));
    for magic in [
        ("crates/session/src/agreement.rs", "b\"VEILPATH\""),
        ("crates/session/src/tls.rs", "b\"veilpath\""),
        ("crates/session/src/roster.rs", "b\"veilpath stimulus\""),
        ("crates/session/src/seals.rs", "b\"veilpath agreement 1\""),
        (
            "crates/mpc/src/ot/base/mod.rs",
            "b\"veilpath base oblivious transfer, version 1\"",
        ),
        (
            "crates/mpc/src/ot/letters/mod.rs",
            "b\"veilpath letter, version 1\"",
        ),
    ] {
        let (file, bytes) = magic;
        assert!(read(file).contains(bytes), "{bytes} is not in {file}");
        let words = bytes.trim_start_matches('b').trim_matches('"');
        assert!(text.contains(&format!("`{words}`")), "{words}");
    }
}

/// The value of `NAME: type = value`, `NAME = value` or `name: value`, where it is a number or a shifted one.
fn constant(code: &str, name: &str) -> Option<u64> {
    code.lines().find_map(|line| {
        let line = line.trim();
        let at = line.find(name)?;
        let before = &line[..at];
        if !matches!(
            before,
            "" | "const " | "pub const " | "pub(crate) const " | "pub(super) const "
        ) {
            return None;
        }
        let rest = &line[at + name.len()..];
        let value = match (rest.split_once('='), rest.strip_prefix(": ")) {
            (Some((_, value)), _) | (None, Some(value)) => value,
            _ => return None,
        };
        let value = value.trim().trim_end_matches([';', ',']).replace('_', "");
        let value = value
            .strip_prefix("Self(")
            .and_then(|value| value.strip_suffix(')'))
            .unwrap_or(&value);
        match value.split_once(" << ") {
            Some((base, shift)) => Some(base.parse::<u64>().ok()? << shift.parse::<u32>().ok()?),
            None => match value.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => value.parse().ok(),
            },
        }
    })
}

#[test]
fn constants_are_found_and_others_are_not() {
    let code = "const A: usize = 256 << 10;\npub(crate) const BB: u32 = 1_000;\n  C = 15,\n  d: 2 << 20,\nlet A2 = 7;";
    let of = |name| constant(code, name);
    assert_eq!(of("A"), Some(256 << 10));
    assert_eq!(of("BB"), Some(1000));
    assert_eq!(of("C"), Some(15));
    assert_eq!(of("d"), Some(2 << 20));
    assert_eq!(of("A2"), None);
}

/// Messages that troubleshooting quotes in tables, and does not provoke, are in the program.
#[test]
fn quoted_messages_are_in_the_program() {
    let chapter = read("docs/troubleshooting.md");
    let (_, section) = chapter.split_once("\n## It stops in the middle\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let mut code = String::new();
    for folder in ["cli", "session", "protocol"] {
        gather(&root().join("crates").join(folder).join("src"), &mut code);
    }
    let mut messages = 0;
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let message = quoted(row)[0];
        for part in message.split('…').filter(|part| !part.is_empty()) {
            assert!(code.contains(part.trim()), "nothing says {part:?}");
        }
        messages += 1;
    }
    assert!(messages > 5, "only {messages} messages were found");
}

fn gather(folder: &Path, code: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(&path, code);
        } else {
            code.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn the_numbers_of_gates_are_those_of_the_circuits() {
    let alphabet = Alphabet::letters(49).unwrap();
    let scanmatch = |scale: Option<u32>| Metric::ScanMatch {
        grid: Grid::new(7, 7).unwrap(),
        wrap: false,
        threshold: 3.5,
        gap: 0.0,
        scale,
    };
    let gates = |metric| and_gates_per_cell(&Comparison::new(metric, alphabet).unwrap(), 20);
    let sentence = format!(
        "ScanMatch needs {} gates with the default of 10,000 and {} with `--scale 100`, Levenshtein needs {}",
        gates(scanmatch(None)),
        gates(scanmatch(Some(100))),
        gates(Metric::Levenshtein)
    );
    assert!(read("docs/choosing.md").contains(&sentence), "{sentence}");
}

/// The headline of the README is no other than that of the chapters it comes from.
#[test]
fn the_headline_of_the_readme_is_in_the_book() {
    let readme = read("README.md");
    let (_, rest) = readme.split_once("<!-- headline begins -->").unwrap();
    let (headline, _) = rest.split_once("<!-- headline ends -->").unwrap();
    let book = read("docs/engines.md") + &read("docs/evaluation.md");
    let rows: Vec<&str> = headline.lines().filter(|l| l.starts_with("| ")).collect();
    assert!(rows.len() > 3, "{headline}");
    for row in rows {
        assert!(book.contains(row), "{row} is not in docs/engines.md");
    }
}
