//! Every command that the book or the README shows is run by a test.
//!
//! `docs.rs` runs the console blocks. All other commands are in the table of `common/commands.rs`, which names a test for each. A
//! command is
//! - a line of a block in the language of a shell (`sh` and the like),
//! - a line of any other block, or text between backticks, that begins with a program (after settings as in `NAME=value`).
//!
//! Between backticks the bare name of a program or script is a name, and so are `veilpath` with nothing but its verbs, and `cargo`
//! with nothing but one: `veilpath bench paper` names what `veilpath bench paper -o FOLDER` calls.

// A test stops at the first thing that is not as expected; helpers outside `#[test]` functions are linted like the product.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "common/commands.rs"]
mod commands;
mod common;
#[path = "common/console.rs"]
mod console;
#[path = "common/pair.rs"]
mod pair;

use commands::RUNNERS;
use common::{Folder, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a line has to begin with to be taken for a command: programs that documents use, and others that somebody might.
const PROGRAMS: &str = "veilpath cargo rustup mdbook just chromium export ssh scp sudo ufw nft iptables firewall-cmd netsh systemctl \
     openssl apt apt-get brew pip python python3 docker git curl wget bash sh cp mv rm mkdir cd diff grep valgrind perf unzip tar";

/// Scripts of the repository, by how they begin.
const SCRIPTS: [&str; 4] = [".ci/", "assurance/run", "fuzz/run", "fuzz/minimise"];

fn read(path: &Path) -> String {
    let text = std::fs::read_to_string(path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.replace("\r\n", "\n")
}

/// The documents, by name.
fn documents() -> BTreeMap<String, String> {
    let chapters = std::fs::read_dir(root().join("docs")).unwrap();
    let chapters = chapters.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = chapters
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    paths.push(root().join("README.md"));
    let named = paths.iter().map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        (name, read(path))
    });
    named.collect()
}

/// Whether a source of the libraries has this text in quotation marks.
fn is_in_code(text: &str) -> bool {
    let text = format!("\"{text}\"");
    let mut folders: Vec<PathBuf> = ["mpc", "paillier", "session"]
        .map(|name| root().join("crates").join(name).join("src"))
        .into();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if read(&path).contains(&text) {
                return true;
            }
        }
    }
    false
}

/// The verbs of the program: those of itself, and those of each verb that has some.
struct Verbs(BTreeMap<String, BTreeSet<String>>);

impl Verbs {
    fn ask() -> Self {
        let of = |verb: &[&str]| -> BTreeSet<String> {
            let help = Folder::new().run(&[verb, &["--help"]].concat()).ok();
            help.lines()
                .skip_while(|line| *line != "Commands:")
                .skip(1)
                .take_while(|line| !line.is_empty())
                .filter_map(|line| Some(line.split_whitespace().next()?.to_string()))
                .collect()
        };
        let verbs = of(&[]).into_iter().filter(|verb| verb != "help");
        let found: BTreeMap<_, _> = verbs.map(|verb| (verb.clone(), of(&[&verb]))).collect();
        assert!(found.len() > 10 && found["bench"].contains("paper"));
        Self(found)
    }

    /// Whether a line is a command rather than words or data.
    fn is_command(&self, line: &str) -> bool {
        let is_setting = |word: &&str| {
            let name = word.split_once('=').map_or("", |(name, _)| name);
            !name.is_empty()
                && name
                    .chars()
                    .all(|sign| sign.is_ascii_uppercase() || sign == '_')
        };
        let words: Vec<&str> = line.split_whitespace().skip_while(is_setting).collect();
        match words[..] {
            ["veilpath", verb, ..] if !verb.starts_with('-') && !self.0.contains_key(verb) => {
                // A wrong call, or the first words of a file or a message, which are in the code.
                !is_in_code(line.split("  ").next().unwrap())
            }
            [program, ..] => {
                PROGRAMS.split(' ').any(|it| it == program)
                    || SCRIPTS.iter().any(|it| program.starts_with(it))
            }
            [] => false,
        }
    }

    /// Whether text between backticks only names a program or what it can do. Scripts so named have to be there.
    fn is_name(&self, text: &str) -> bool {
        match text.split(' ').collect::<Vec<_>>()[..] {
            [script] if script.contains('/') => root().join(script).is_file(),
            [_] => true,
            ["veilpath", verb] => self.0.contains_key(verb),
            ["veilpath", verb, second] => self.0.get(verb).is_some_and(|it| it.contains(second)),
            ["cargo", verb] => verb.chars().all(|sign| sign.is_ascii_lowercase()),
            _ => false,
        }
    }

    /// The commands of a document outside of console blocks, each with its line.
    fn commands_in(&self, document: &str) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        let mut language: Option<&str> = None;
        let mut paragraph = String::new();
        for (index, line) in document.lines().chain([""]).enumerate() {
            let fence = line.strip_prefix("```");
            assert!(
                fence.is_some() || !line.contains("```"),
                "a block within: {line}"
            );
            let is_code = language.is_some() || line.starts_with("    ") && paragraph.is_empty();
            if let (None, false, false) = (fence, is_code, line.trim().is_empty()) {
                paragraph.push_str(line);
                paragraph.push(' ');
                continue;
            }
            assert!(
                paragraph.matches('`').count().is_multiple_of(2),
                "backticks in {paragraph}"
            );
            for span in paragraph.split('`').skip(1).step_by(2) {
                let span = span.split_whitespace().collect::<Vec<_>>().join(" ");
                if self.is_command(&span) && !self.is_name(&span) {
                    found.push((index, span));
                }
            }
            paragraph.clear();
            match (fence, language) {
                (Some(kind), None) => language = Some(kind.trim()),
                (Some(_), Some(_)) => language = None,
                (None, Some("console")) => {}
                (None, kind) => {
                    assert!(kind.is_some() || !line.contains('`'), "code within: {line}");
                    let (command, comment) = line.split_once(" #").unwrap_or((line, ""));
                    let command = command.trim();
                    assert!(
                        !command.ends_with('\\'),
                        "only console blocks go on: {line}"
                    );
                    let names_one = |word| self.is_command(&format!("{word} --help"));
                    let hides_one = comment
                        .split_whitespace()
                        .any(|word| word.contains('/') && names_one(word))
                        || ["veilpath ", "cargo "]
                            .iter()
                            .any(|it| comment.contains(it));
                    assert!(!hides_one, "a comment has a command in it: {line}");
                    let is_shell = matches!(kind, Some("sh" | "bash" | "shell" | "powershell"));
                    if !command.is_empty() && (is_shell || self.is_command(command)) {
                        found.push((index + 1, command.to_string()));
                    }
                }
            }
        }
        found
    }
}

#[test]
fn every_command_is_run_by_a_test() {
    let verbs = Verbs::ask();
    let documents = documents();
    let mut run_by_docs = BTreeSet::new();
    let mut others = Vec::new();
    for (name, text) in &documents {
        for step in console::steps(text) {
            match console::is_run_elsewhere(&step.command) {
                true => others.push((format!("{name}:{}", step.line), step.command)),
                false => drop(run_by_docs.insert(step.command)),
            }
        }
        let found = verbs.commands_in(text).into_iter();
        others.extend(found.map(|(line, command)| (format!("{name}:{line}"), command)));
    }
    assert!(
        run_by_docs.len() > 100 && others.len() > 40,
        "too few were found"
    );
    let known: BTreeSet<&str> = RUNNERS.iter().flat_map(|it| it.commands).copied().collect();
    let mut shown = BTreeSet::new();
    let mut unknown = Vec::new();
    for (place, command) in &others {
        if known.contains(command.as_str()) {
            shown.insert(command.as_str());
        } else if !run_by_docs.contains(command) {
            unknown.push(format!("{place}: nothing runs `{command}`"));
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    let dead: Vec<_> = known.difference(&shown).collect();
    assert!(dead.is_empty(), "no document shows {dead:?}");
}

#[test]
fn the_table_names_tests_that_take_their_commands_from_it() {
    let mut names = BTreeSet::new();
    for runner in &RUNNERS {
        let test = runner.test;
        assert!(names.insert(test), "{test} is there twice");
        assert!(!runner.commands.is_empty(), "{test} has nothing to run");
        let source = read(&root().join("crates/cli/tests").join(runner.file));
        let start = source.find(&format!("\nfn {test}() {{\n"));
        let start = start.unwrap_or_else(|| panic!("{test} is not in {}", runner.file));
        let attributes = source[..start].rsplit("\n\n").next().unwrap();
        assert!(attributes.contains("#[test]"), "{test} is no test");
        assert!(!attributes.contains("#[ignore"), "{test} is left out");
        let body = source[start..].split("\n}\n").next().unwrap();
        assert!(
            body.contains(&format!("assigned(\"{test}\")")),
            "{test} does not ask for its commands"
        );
    }
}

#[test]
fn commands_are_found_and_names_are_not() {
    let verbs = Verbs::ask();
    let found = |document: &str| -> Vec<String> {
        let found = verbs.commands_in(document).into_iter();
        found.map(|(_, command)| command).collect()
    };
    let names = "`veilpath demo`, `veilpath bench\ncell`, `cargo deny`, `.ci/run`, `ufw`, `--listen 1:2`, `veilpath letter, version 1`, `veilpath`";
    assert_eq!(found(names), [] as [&str; 0]);
    let spans = "a `veilpath demo -q` b `cargo test\n-p x` | `fuzz/run 60` | `A=1 .ci/run` `.ci/none` `veilpath bench nothing` `veilpath nothing`";
    assert_eq!(
        found(spans),
        [
            "veilpath demo -q",
            "cargo test -p x",
            "fuzz/run 60",
            "A=1 .ci/run",
            ".ci/none",
            "veilpath bench nothing",
            "veilpath nothing"
        ]
    );
    let blocks = "```text\nveilpath paillier public key 1\nveilpath demo\nufw allow 1\nwords\n```\n\n```sh\nanything # why\n```\n\n    cargo run   # all\n\n```console\n$ veilpath demo\n```\n";
    assert_eq!(
        found(blocks),
        ["veilpath demo", "ufw allow 1", "anything", "cargo run"]
    );
}
