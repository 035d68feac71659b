//! The console blocks of documents: commands as users type them, and the output that they see.
//!
//! | in a block | means |
//! |---|---|
//! | `$ command` | typed in the document's folder |
//! | `clinic$ command` | typed at this institution, which has its own folder and identity |
//! | a line that ends in ` \` | continues on the next line |
//! | `<<'E'` … `E` | standard input of the command |
//! | `CLINIC-FINGERPRINT` | what `clinic$ veilpath identity` printed |
//! | `COINS` | the coins of the last private test whose answer went to a JSON file |
//! | lines below a command | its exact output, on standard output, standard error, or both |
//! | `…` | any text; on a line by itself, any lines |
//! | a fingerprint below a command | any fingerprint |
//! | lines that start with `error: ` | the command must fail with this message |
//!
//! In the output, addresses are replaced with those in the commands.
//! `veilpath host` and the `veilpath join` right after it in the same block run at the same time, on a free port.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test's helpers may fail the test

use crate::common::pair::Running;
use crate::common::{Folder, RunOutput, root};
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Stdio;

/// Matches any text, or on a line by itself any number of lines.
const WILDCARD: &str = "…";

/// A command in a document, with what is shown below it.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) line: usize,
    /// The index of the console block in the document.
    block: usize,
    /// The institution; empty if there is only one.
    who: String,
    pub(crate) command: String,
    /// The contents of a here-document.
    input: Option<String>,
    shown: Vec<String>,
}

/// The commands in a document's console blocks.
pub(crate) fn steps(document: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut in_console = false;
    let mut block = 0;
    let mut lines = document.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        if line.starts_with("```") {
            in_console = line == "```console";
            block += usize::from(in_console);
        } else if !in_console {
            continue;
        } else if let Some((who, command)) = prompt(line) {
            let mut command = command.to_string();
            while let Some(start) = command.strip_suffix(" \\") {
                let (_, next) = lines.next().expect("a command goes on");
                command = format!("{start} {}", next.trim_start());
            }
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
                    (command.to_string(), Some(text))
                }
            };
            steps.push(Step {
                line: index + 1,
                block,
                who: who.to_string(),
                command,
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

/// The institution before the prompt, and the command after it.
fn prompt(line: &str) -> Option<(&str, &str)> {
    let (who, command) = line.split_once("$ ")?;
    who.chars()
        .all(|c| c.is_ascii_lowercase())
        .then_some((who, command))
}

/// Whether a command is skipped, because building takes minutes.
fn is_skipped(command: &str) -> bool {
    command.starts_with("cargo ")
}

/// The words of a shell line, with single or double quotes.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (' ', None) => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Where the commands of one document run.
pub(crate) struct DocumentRunner {
    folder: Folder,
    fingerprints: HashMap<String, String>,
    coins: Option<String>,
}

impl DocumentRunner {
    pub(crate) fn new() -> Self {
        Self {
            folder: Folder::new(),
            fingerprints: HashMap::new(),
            coins: None,
        }
    }

    /// The contents of an institution's file.
    pub(crate) fn file(&self, who: &str, name: &str) -> String {
        let path = self.folder.path().join(who).join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Runs all commands and returns the problems, each with its line.
    pub(crate) fn run(&mut self, steps: &[Step]) -> Vec<String> {
        let mut problems = Vec::new();
        let mut steps = steps.iter().peekable();
        while let Some(step) = steps.next() {
            let next_joins = |next: &&Step| {
                next.block == step.block && next.command.starts_with("veilpath join ")
            };
            let is_host = step.command.starts_with("veilpath host ");
            let output = match steps.next_if(|next| is_host && next_joins(next)) {
                Some(join) => self.run_together(step, join),
                None => self.run_one(step),
            };
            problems.extend(
                output
                    .err()
                    .map(|problem| format!("{}: {problem}", step.line)),
            );
        }
        problems
    }

    /// The institution's folder, with the bundled files if the command names them.
    fn place(&self, step: &Step) -> PathBuf {
        let place = self.folder.path().join(&step.who);
        std::fs::create_dir_all(&place).unwrap();
        let bundled = "testdata/formats";
        if step.command.contains(bundled) && !place.join(bundled).exists() {
            std::fs::create_dir_all(place.join(bundled)).unwrap();
            for entry in std::fs::read_dir(root().join(bundled)).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    let name = path.file_name().unwrap();
                    std::fs::copy(&path, place.join(bundled).join(name)).unwrap();
                }
            }
        }
        place
    }

    fn veilpath(&self, step: &Step, arguments: &[String]) -> std::process::Command {
        let place = self.place(step);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = self.folder.command(&arguments);
        command
            .env("VEILPATH_HOME", place.join("home"))
            .current_dir(place)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// The words of a command with the real fingerprints and coins.
    fn words(&self, step: &Step) -> Vec<String> {
        let mut words = words(&step.command);
        for word in &mut words {
            if let Some(who) = word.strip_suffix("-FINGERPRINT") {
                let known = self.fingerprints.get(&who.to_ascii_lowercase());
                *word = known.expect("an identity is shown first").clone();
            }
            if word == "COINS" {
                *word = self.coins.clone().expect("a test is shown first");
            }
        }
        words
    }

    /// Runs one command: `veilpath`, `cat` or `head`.
    fn run_one(&mut self, step: &Step) -> Result<(), String> {
        let mut words = self.words(step);
        let into = match words.iter().position(|word| word == ">") {
            Some(at) => words.split_off(at).get(1).cloned(),
            None => None,
        };
        let place = self.place(step);
        let file = |name: &str| {
            let text = std::fs::read_to_string(place.join(name));
            text.map_err(|error| format!("{name}: {error}"))
        };
        let short: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = match (short.as_slice(), &step.input) {
            _ if is_skipped(&step.command) => return Ok(()),
            (["veilpath", ..], None) => {
                let output = self.veilpath(step, &words[1..]).output().unwrap();
                let run_output = RunOutput::from(step.command.clone(), output);
                if short.get(1) == Some(&"identity") && run_output.code == 0 {
                    let fingerprint = run_output.stdout.trim().to_string();
                    self.fingerprints.insert(step.who.clone(), fingerprint);
                }
                if into.is_none() {
                    return compare(step, &run_output);
                }
                if run_output.code != 0 {
                    return Err(format!(
                        "exit code {}\n{}",
                        run_output.code, run_output.stderr
                    ));
                }
                run_output.stdout
            }
            (["cat"], Some(input)) => {
                let mut input = input.clone();
                for (who, fingerprint) in &self.fingerprints {
                    let shown = format!("{}-FINGERPRINT", who.to_ascii_uppercase());
                    input = input.replace(&shown, fingerprint);
                }
                input
            }
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
        match into {
            Some(name) => {
                std::fs::write(place.join(name), output).unwrap();
                Ok(())
            }
            None => check_output(step, &[&output]),
        }
    }

    /// Runs the two sides of a session.
    fn run_together(&mut self, host: &Step, join: &Step) -> Result<(), String> {
        let mut arguments = self.words(host).split_off(1);
        let listen = arguments.iter().position(|word| word == "--listen");
        let listen = listen.expect("a host listens somewhere") + 1;
        let listens = std::mem::replace(&mut arguments[listen], "127.0.0.1:0".into());
        let running = Running::start(self.veilpath(host, &arguments), host.command.clone());
        let address = running.wait_for_line("listening on ");
        let mut arguments = self.words(join).split_off(1);
        let calls = std::mem::replace(&mut arguments[1], address.clone());
        let joining = Running::start(self.veilpath(join, &arguments), join.command.clone());
        let outputs = [(join, joining.end(), calls), (host, running.end(), listens)];
        self.coins = self.written_coins(host).or(self.coins.take());
        for (step, output, shown) in outputs {
            let stderr = output.stderr.replace(&address, &shown);
            compare(step, &RunOutput { stderr, ..output })?;
        }
        Ok(())
    }

    /// The coins in the result file of a command, if it has written the answer of a test.
    fn written_coins(&self, step: &Step) -> Option<String> {
        let words = self.words(step);
        let name = words.iter().skip_while(|word| *word != "-o").nth(1)?;
        let text = std::fs::read_to_string(self.place(step).join(name)).ok()?;
        let outcome: serde_json::Value = serde_json::from_str(&text).ok()?;
        Some(outcome["answers"][0]["coins"].as_str()?.to_string())
    }
}

/// Compares the output of a command with the document.
fn compare(step: &Step, output: &RunOutput) -> Result<(), String> {
    let fails = step
        .shown
        .first()
        .is_some_and(|line| line.starts_with("error: "));
    if fails != (output.code != 0) {
        return Err(format!(
            "`{}` ends with exit code {}\n{}",
            step.command, output.code, output.stderr
        ));
    }
    if fails {
        // Ignore the messages before the error.
        let start = output.stderr.find("error: ").unwrap_or(0);
        return check_output(step, &[&output.stderr[start..]]);
    }
    let both = format!("{}{}", output.stderr, output.stdout);
    check_output(step, &[&output.stdout, &output.stderr, &both])
}

fn check_output(step: &Step, outputs: &[&str]) -> Result<(), String> {
    let shown: Vec<&str> = step.shown.iter().map(String::as_str).collect();
    let real = |output: &&str| matches(&shown, &output.lines().collect::<Vec<_>>());
    if shown.is_empty() || outputs.iter().any(real) {
        return Ok(());
    }
    Err(format!(
        "`{}` prints\n{}but the document shows\n{}",
        step.command,
        outputs.join("--- or\n"),
        shown.join("\n")
    ))
}

/// Whether output matches what is shown, where a line `…` matches any number of lines.
pub(crate) fn matches(shown: &[&str], real: &[&str]) -> bool {
    match shown {
        [] => real.is_empty(),
        [first, rest @ ..] if *first == WILDCARD => {
            (0..=real.len()).any(|skipped| matches(rest, &real[skipped..]))
        }
        [first, rest @ ..] => match real {
            [line, later @ ..] => is_line(first, line) && matches(rest, later),
            [] => false,
        },
    }
}

/// The text with every fingerprint replaced by the same word.
fn without_fingerprints(text: &str) -> String {
    let is_one = |word: &str| {
        let groups: Vec<&str> = word.split('-').collect();
        let digits =
            |group: &&str| group.len() == 4 && group.bytes().all(|digit| digit.is_ascii_hexdigit());
        groups.len() == 16 && groups.iter().all(digits)
    };
    text.split_inclusive([' ', ','])
        .map(|word| {
            let bare = word.trim_end_matches([' ', ',']);
            match is_one(bare) {
                true => word.replace(bare, "FINGERPRINT"),
                false => word.to_string(),
            }
        })
        .collect()
}

/// Whether a line matches what is shown, where `…` matches any text.
fn is_line(shown: &str, real: &str) -> bool {
    let (shown, real) = (&without_fingerprints(shown), &without_fingerprints(real));
    let mut parts = shown.split(WILDCARD);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = real.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}
