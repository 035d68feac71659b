//! Every example in a `--help` text works.
#![allow(clippy::unwrap_used, clippy::panic)] // a test's helpers may fail the test

use crate::common;
use crate::common::console;
use crate::common::pair;

use common::{Folder, RunOutput, root};
use console::words;
use pair::{Pair, Side};
use std::io::Write;
use std::process::Stdio;

const COMMANDS: [&str; 42] = [
    "",
    "demo",
    "encode",
    "compare",
    "report",
    "stats",
    "host",
    "join",
    "relay",
    "results",
    "peers",
    "peers ban",
    "peers unban",
    "policy",
    "policy init",
    "policy check",
    "policy document",
    "record",
    "identity",
    "policy withdraw",
    "record verify",
    "record compare",
    "split",
    "synth",
    "synth random",
    "synth lifelike",
    "keygen",
    "bench",
    "bench cell",
    "bench candidates",
    "bench groups",
    "bench network",
    "bench paillier",
    "bench paper",
    "completions",
    "man",
    "merge",
    "ui",
    "coordinator",
    "gateway",
    "worker",
    "worker-key",
];

/// Commands that only a build with the feature `audit` lists.
const AUDIT_COMMANDS: &[&str] = match cfg!(feature = "audit") {
    true => &["audit", "audit leakage", "audit reconstruct"],
    false => &[],
};

/// A folder with the files that the examples use.
fn prepared() -> Folder {
    let folder = Folder::new();
    prepare(&folder);
    folder
}

fn prepare(folder: &Folder) {
    let run = |call: &str| folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    run("synth lifelike --seed 7 -o everyone.csv");
    run("split everyone.csv --seed 1 --first a.csv --second b.csv");
    run("synth lifelike --seed 7 --as fixations -o fixations.csv");
    folder.file("gaze.csv", folder.read("fixations.csv"));
    run("synth lifelike --seed 8 --participants 1 --stimuli 1 --as fixations -o dog_p01.csv");
    folder.file("few.csv", "participant,scanpath\np1,ABBA\n");
    folder.file("other.csv", "participant,scanpath\nq1,ABCA\nq2,CAB\n");
    let eyelink = std::fs::read(root().join("testdata/formats/eyelink-asc.asc")).unwrap();
    folder.file("p01.asc", &eyelink);
    folder.file("p02.asc", &eyelink);
}

/// The examples in a command's help, without the command's name.
fn examples(folder: &Folder, command: &str) -> Vec<String> {
    let mut call: Vec<&str> = command.split_whitespace().collect();
    call.push("--help");
    let help = folder.run(&call).ok();
    let lines: Vec<String> = help
        .lines()
        .skip_while(|line| *line != "Examples:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(|line| {
            // A longer example would be wrapped, and copied without its end.
            let example = line.strip_prefix("  veilpath ");
            example.unwrap_or_else(|| panic!("`veilpath {command} --help`: {line}"))
        })
        .map(str::to_string)
        .collect();
    assert!(
        !lines.is_empty(),
        "`veilpath {command} --help` shows no example"
    );
    lines
}

/// Runs an example: commands joined by ` | `, the last one optionally with ` > FILE`.
fn run(folder: &Folder, line: &str) {
    let (commands, file) = match line.split_once(" > ") {
        Some((commands, file)) => (commands, Some(file)),
        None => (line, None),
    };
    let mut output = String::new();
    for command in commands.split(" | veilpath ") {
        // `THEIRS` is the fingerprint in the policy that `policy init` writes.
        let words = words(&command.replace("THEIRS", &"0".repeat(64)));
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        // There is no terminal to ask on.
        if ["ban", "unban", "withdraw"].contains(&words.get(1).copied().unwrap_or_default()) {
            words.push("--yes");
        }
        // Synthetic fixations and policies do not replace the file of an earlier example.
        if words[0] == "synth" && words.contains(&"fixations") || words[1..].starts_with(&["init"])
        {
            let _ = std::fs::remove_file(folder.path().join(words[words.len() - 1]));
        }
        let mut process = folder.command(&words);
        process
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = process.spawn().unwrap();
        // A command that does not read its input may already have ended.
        let _ = child.stdin.take().unwrap().write_all(output.as_bytes());
        output = RunOutput::from(command.to_string(), child.wait_with_output().unwrap()).ok();
    }
    if let Some(file) = file {
        assert!(!output.is_empty(), "{line}");
        folder.file(file, output);
    }
}

/// Commands for the workers of an agreement on tiles.
const NEED_AN_AGREEMENT: [&str; 4] = ["coordinator", "gateway", "worker", "worker-key"];

/// Commands that measure for long.
const LONG_MEASUREMENTS: [&str; 5] = [
    "bench cell",
    "bench groups",
    "bench network",
    "bench paillier",
    "bench paper",
];

/// Examples with a slow engine.
fn is_slow(line: &str) -> bool {
    line.contains("--engine paillier")
}

#[test]
fn every_example_runs() {
    let folder = prepared();
    let mut examples_run = 0;
    for command in COMMANDS {
        // These run below.
        let elsewhere = ["host", "join", "relay", "ui"].contains(&command);
        if elsewhere || NEED_AN_AGREEMENT.contains(&command) || LONG_MEASUREMENTS.contains(&command)
        {
            continue;
        }
        if command == "record verify" {
            // A withdrawal begins the record. The partner's has nothing yet.
            folder.file("record.jsonl", folder.read("home/record.jsonl"));
            folder.file("partner.jsonl", "");
        }
        for line in examples(&folder, command) {
            if !is_slow(&line) {
                run(&folder, &line);
                examples_run += 1;
            }
        }
    }
    assert!(examples_run > 20, "{examples_run}");
}

/// Without an agreement, these examples fail, but not because of their options. `coordinator.rs` runs the commands.
#[test]
fn the_examples_of_workers_have_valid_options() {
    let folder = Folder::new();
    for command in NEED_AN_AGREEMENT {
        for line in examples(&folder, command) {
            let words = words(&line);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let message = folder.run(&words).refused();
            assert!(!message.contains("Usage:"), "{line}: {message}");
        }
    }
}

/// They take a minute; `.ci/full` runs the tests with the feature.
#[test]
#[cfg(feature = "audit")]
fn the_examples_of_audit_run() {
    let folder = Folder::new();
    let lines = AUDIT_COMMANDS
        .iter()
        .flat_map(|command| examples(&folder, command));
    // `audit` shows examples of its subcommands again.
    let lines: std::collections::BTreeSet<String> = lines.collect();
    for line in lines {
        run(&folder, &line);
    }
}

#[test]
#[ignore = "takes minutes; .ci/full runs it"]
fn examples_of_long_measurements_run() {
    let folder = prepared();
    for command in LONG_MEASUREMENTS {
        for line in examples(&folder, command) {
            run(&folder, &line);
        }
    }
    let examples: Vec<String> = examples(&folder, "demo");
    let slow: Vec<&String> = examples.iter().filter(|line| is_slow(line)).collect();
    assert!(!slow.is_empty());
    for line in slow {
        run(&folder, line);
    }
}

/// The examples of `host` and `join` belong together: the first with the first, and so on. They run unchanged except for the
/// fingerprints and the port, which may be in use on the test machine.
#[test]
fn the_examples_of_host_and_join_run_as_pairs() {
    let pair = Pair::new();
    prepare(&pair.folder);
    let hosts = examples(&pair.folder, "host");
    let joins = examples(&pair.folder, "join");
    assert_eq!(hosts.len(), joins.len());
    let fingerprints = [pair.fingerprint(Side::Host), pair.fingerprint(Side::Join)];
    let mut relayed = 0;
    for (host, join) in hosts.iter().zip(&joins) {
        // The example with a relay runs with every example of `relay`.
        let mut relays = vec![None];
        if host.contains("--relay") {
            relays = examples(&pair.folder, "relay")
                .into_iter()
                .map(Some)
                .collect();
            relayed += relays.len();
        }
        for relay in relays {
            run_together(&pair, host, join, relay.as_deref(), &fingerprints);
            // Together, the examples make more comparisons than the default limit allows.
            pair.forget();
        }
    }
    assert!(relayed > 0);
}

fn run_together(pair: &Pair, host: &str, join: &str, relay: Option<&str>, [a, b]: &[String; 2]) {
    pair.folder.file("partners.txt", format!("{b} partner\n"));
    pair.folder.file("institutions.txt", format!("{a}\n{b}\n"));
    let results = host.contains("partners.txt");
    let relay = relay.map(|relay| {
        let relay = relay.replace("127.0.0.1:7071", "127.0.0.1:0");
        let relay = pair.start(Side::Host, &words(&relay));
        let address = relay.wait_for_line("listening on ");
        (relay, address)
    });
    let at_relay = |call: &str| match &relay {
        Some((_, address)) => call.replace("127.0.0.1:7071", address),
        None => call.to_string(),
    };
    let host = at_relay(host)
        .replace("127.0.0.1:7070", "127.0.0.1:0")
        .replace("THEIRS", b);
    let host = pair.start(Side::Host, &words(&host));
    let address = match relay {
        Some(_) => host.wait_for_line("connecting to the relay "),
        None => host.wait_for_line("listening on "),
    };
    let join = at_relay(join)
        .replace("127.0.0.1:7070", &address)
        .replace("THEIRS", a);
    let join = pair.start(Side::Join, &words(&join));
    let (host, join) = (host.end().ok(), join.end().ok());
    if results {
        // Standard output has a row for each peer.
        assert!(host.contains(",finished,results"), "{host}");
        let theirs = pair.folder.read("join.csv");
        assert_eq!(pair.folder.read("results/partner.csv"), theirs);
    } else {
        assert_eq!(host, join);
    }
}

/// These examples run until their page is closed, so only their start is tested here.
#[test]
fn the_examples_of_ui_print_an_address() {
    use std::io::{BufRead, BufReader};
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("recordings")).unwrap();
    for line in examples(&folder, "ui") {
        let mut words = words(&line);
        // Open no window, and use no port twice.
        words.retain(|word| !["--no-browser", "--port", "7080"].contains(&word.as_str()));
        words.push("--no-browser".into());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut server = folder
            .command(&words)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let mut output = BufReader::new(server.stdout.take().unwrap());
        output.read_line(&mut address).unwrap();
        server.kill().unwrap();
        server.wait().unwrap();
        assert!(
            address.starts_with("http://127.0.0.1:"),
            "{line}: {address}"
        );
        assert!(address.contains("/?token="), "{line}: {address}");
    }
}

/// The commands that a help lists.
fn listed_commands(folder: &Folder, command: &[&str]) -> Vec<String> {
    let help = folder.run(&[command, &["--help"]].concat()).ok();
    help.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        // Other lines continue a description.
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_string)
        .collect()
}

#[test]
fn all_commands_have_a_tested_example() {
    let folder = Folder::new();
    for command in COMMANDS.iter().chain(AUDIT_COMMANDS) {
        examples(&folder, command);
    }
    for name in &listed_commands(&folder, &[]) {
        let tested = |name: &str| {
            COMMANDS
                .iter()
                .chain(AUDIT_COMMANDS)
                .any(|tested| *tested == name)
        };
        assert!(tested(name), "{name} has no tested example");
        for action in listed_commands(&folder, &[name]) {
            let name = format!("{name} {action}");
            assert!(tested(&name), "{name} has no tested example");
        }
    }
}

#[test]
fn completions_and_man_pages_cover_every_command() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(
            folder
                .run(&["completions", shell])
                .ok()
                .contains("scanmatch"),
            "{shell}"
        );
    }
    folder.run(&["man", "--folder", "man1"]).ok();
    assert!(folder.read("man1/veilpath.1").contains("split"));
    assert!(folder.read("man1/veilpath-compare.1").contains("threshold"));
    for command in COMMANDS.iter().chain(AUDIT_COMMANDS) {
        let name = format!("veilpath {command}");
        let page = folder.read(&format!("man1/{}.1", name.trim().replace(' ', "-")));
        assert!(page.contains(".SH EXAMPLES\n.nf\n  veilpath "), "{command}");
    }
}
