//! What the documents say is so: their commands run and print what is shown, their links lead somewhere, and nothing that
//! the command line offers is left out.

// A test stops at the first thing that is not as expected; helpers outside `#[test]` functions are linted like the product.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Folder, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Stands for any number of lines of output.
const ANYTHING: &str = "…";

#[test]
fn every_command_in_the_documents_prints_what_they_show() {
    let mut commands = 0;
    for document in guides() {
        let folder = Folder::new();
        for step in steps(&read(&document)) {
            run(&step, &folder).unwrap_or_else(|problem| {
                panic!("{}:{}: {problem}", document.display(), step.line)
            });
            commands += 1;
        }
    }
    assert!(commands > 30, "only {commands} commands were found");
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut documents = guides();
    let others = [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "SECURITY.md",
        "testdata/formats/README.md",
    ];
    documents.extend(others.map(|name| root().join(name)));
    let mut links = 0;
    for document in &documents {
        for link in links_in(&read(document)) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => document.clone(),
                file => document.parent().unwrap().join(file),
            };
            let here = document.display();
            assert!(target.exists(), "{here}: ({link}) leads nowhere");
            if !heading.is_empty() {
                let known = headings_in(&read(&target));
                assert!(
                    known.contains(heading),
                    "{here}: ({link}) names none of the headings {known:?}"
                );
            }
            links += 1;
        }
    }
    assert!(links > 20, "only {links} links were found");
}

#[test]
fn the_readme_starts_with_what_to_type() {
    let readme = read(&root().join("README.md"));
    let start: Vec<&str> = readme.lines().take(15).collect();
    for command in [
        "cargo run --release --locked -- demo",
        "cargo test --workspace --locked",
    ] {
        assert!(
            start.iter().any(|line| line.contains(command)),
            "{command} is not in the first 15 lines"
        );
    }
}

#[test]
fn every_format_and_flag_is_explained() {
    let formats = read(&root().join("docs/formats.md"));
    let folder = Folder::new();
    let help = folder.run(&["encode", "--help"]).ok();
    let names: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.contains("--input-format"))
        .take_while(|line| !line.contains("--screen"))
        .filter_map(|line| line.trim().strip_prefix("- ")?.split(':').next())
        .collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        assert!(
            formats.contains(&format!("\n### `{name}`\n")),
            "docs/formats.md has no section about {name}"
        );
    }
    let all: String = guides().iter().map(|path| read(path)).collect();
    for command in ["encode", "compare"] {
        let help = folder.run(&[command, "--help"]).ok();
        for flag in help.lines().filter_map(flag_of) {
            assert!(
                all.contains(&format!("`{flag}")) || all.contains(&format!(" {flag} ")),
                "no document explains {flag} of veilpath {command}"
            );
        }
    }
}

/// The long flag that a line of help begins with.
fn flag_of(line: &str) -> Option<&str> {
    let flag = line
        .split_whitespace()
        .take(2)
        .find(|word| word.starts_with("--"))?;
    let end = flag.find(|c: char| !c.is_ascii_alphabetic() && c != '-');
    let flag = &flag[..end.unwrap_or(flag.len())];
    let is_definition = line.starts_with("  ") && line.trim_start().starts_with('-');
    (is_definition && !matches!(flag, "--help" | "--quiet" | "--output")).then_some(flag)
}

/// The documents whose commands are run.
fn guides() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    assert!(!found.is_empty());
    found.push(root().join("README.md"));
    found.push(root().join("testdata/demo/README.md"));
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .replace("\r\n", "\n")
}

/// A command of a document, with what is shown below it.
struct Step {
    line: usize,
    command: String,
    /// What a here-document feeds it.
    input: Option<String>,
    shown: Vec<String>,
}

/// The commands in a document's console blocks.
fn steps(document: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut in_console = false;
    let mut lines = document.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        if line.starts_with("```") {
            in_console = line == "```console";
        } else if !in_console {
            continue;
        } else if let Some(command) = line.strip_prefix("$ ") {
            let (command, input) = match command.split_once(" <<'E'") {
                None => (command, None),
                Some((command, rest)) => {
                    assert_eq!(rest, "", "line {}", index + 1);
                    let text: String = lines
                        .by_ref()
                        .map(|(_, line)| line)
                        .take_while(|line| *line != "E")
                        .map(|line| format!("{line}\n"))
                        .collect();
                    (command, Some(text))
                }
            };
            steps.push(Step {
                line: index + 1,
                command: command.to_string(),
                input,
                shown: Vec::new(),
            });
        } else {
            let step = steps.last_mut().expect("a block starts with a command");
            step.shown.push(line.to_string());
        }
    }
    steps
}

/// Runs a command of the few kinds that the documents use.
fn run(step: &Step, folder: &Folder) -> Result<(), String> {
    let mut words = words(&step.command);
    let into = match words.iter().position(|word| word == ">") {
        Some(at) => words.split_off(at).get(1).cloned(),
        None => None,
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let file = |name: &str| {
        let text = std::fs::read_to_string(folder.path().join(name));
        text.map_err(|error| format!("{name}: {error}"))
    };
    let output = match (words.as_slice(), &step.input) {
        (["cargo", ..], None) => return Ok(()),
        (["veilpath", arguments @ ..], None) => {
            let ran = folder.run(arguments);
            if ran.code != 0 {
                return Err(format!("exit code {}\n{}", ran.code, ran.stderr));
            }
            ran.stdout
        }
        (["cat"], Some(input)) => input.clone(),
        (["cat", name], None) => file(name)?,
        (["head", count, name], None) => {
            let count = count.strip_prefix('-').and_then(|count| count.parse().ok());
            let count = count.ok_or("write `head -N FILE`")?;
            let text = file(name)?;
            text.lines()
                .take(count)
                .map(|line| format!("{line}\n"))
                .collect()
        }
        _ => return Err(format!("this test cannot run `{}`", step.command)),
    };
    let output = match into {
        Some(name) => {
            folder.file(&name, output);
            String::new()
        }
        None => output,
    };
    let real: Vec<&str> = output.lines().collect();
    let shown: Vec<&str> = step.shown.iter().map(String::as_str).collect();
    if shown.is_empty() || matches(&shown, &real) {
        return Ok(());
    }
    Err(format!(
        "`{}` prints\n{output}and the document shows\n{}",
        step.command,
        shown.join("\n")
    ))
}

/// The words of a shell line, with single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_string());
        } else {
            words.extend(part.split_whitespace().map(str::to_string));
        }
    }
    words
}

/// Whether output is as shown, where a line `…` stands for any number of lines.
fn matches(shown: &[&str], real: &[&str]) -> bool {
    match shown {
        [] => real.is_empty(),
        [first, rest @ ..] if *first == ANYTHING => {
            (0..=real.len()).any(|skipped| matches(rest, &real[skipped..]))
        }
        [first, rest @ ..] => real.first() == Some(first) && matches(rest, &real[1..]),
    }
}

#[test]
fn shown_output_is_held_to_the_letter() {
    assert!(matches(&["a", "…", "d"], &["a", "b", "c", "d"]));
    assert!(matches(&["a", "…", "d"], &["a", "d"]));
    assert!(matches(&["…"], &[]));
    for shown in [&["a"][..], &["…", "a"], &["a", "b", "c"], &[]] {
        assert!(!matches(shown, &["a", "b"]), "{shown:?}");
    }
    let folder = Folder::new();
    let failing = |document: &str| {
        let steps = steps(document);
        assert_eq!(steps.len(), 1);
        run(&steps[0], &folder).is_err()
    };
    assert!(failing("```console\n$ veilpath encode nothing.csv\n```\n"));
    assert!(failing("```console\n$ veilpath --version\n1\n```\n"));
    assert!(failing("```console\n$ rm everything\n```\n"));
}

/// Lines outside of code blocks.
fn prose(document: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    document.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !fence && !in_code
    })
}

/// The targets of `[text](target)`.
fn links_in(document: &str) -> Vec<String> {
    prose(document)
        .flat_map(|line| line.split("](").skip(1))
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.to_string())
        .collect()
}

/// The anchors that headings get: lower case, blanks as dashes, no other signs, a number where one comes again.
fn headings_in(document: &str) -> BTreeSet<String> {
    let mut uses: BTreeMap<String, u32> = BTreeMap::new();
    prose(document)
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            let anchor: String = line
                .trim_start_matches('#')
                .trim()
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect();
            let used = uses.entry(anchor.clone()).or_default();
            *used += 1;
            match *used {
                1 => anchor,
                again => format!("{anchor}-{}", again - 1),
            }
        })
        .collect()
}
