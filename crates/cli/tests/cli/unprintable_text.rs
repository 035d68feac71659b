//! Text from a file or from a peer reaches the terminal and the log of a session only with its unprintable characters
//! replaced or escaped. File names on Windows cannot have such characters.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common::RunOutput;
use crate::common::pair::{Pair, Running, Side};
use std::time::Duration;
use veilpath_channel::Channel;
use veilpath_metrics::text::is_unprintable;
use veilpath_session::limits::{PROTOCOL_VERSION, Timeouts};
use veilpath_session::{ChecksummedChannel, join};

/// Escape, its form of one character, and a change of the writing direction.
const UNSAFE: &str = "\u{1b}[31m\u{9b}\u{202e}";

/// The same in a message.
const SHOWN: &str = "\u{fffd}[31m\u{fffd}\u{fffd}";

/// The same in JSON.
const ESCAPED: &str = r"\u001b[31m\u009b\u202e";

fn assert_printable(output: &RunOutput) {
    for text in [&output.stdout, &output.stderr] {
        let found = text.chars().find(|&c| c != '\n' && is_unprintable(c));
        assert_eq!(found, None, "{}\n{text:?}", output.call);
    }
}

/// Starts a host with this log, without stopping at its first message.
fn host(pair: &Pair, log: &str, cohort: &str, more: &[&str]) -> Running {
    let peer = pair.fingerprint(Side::Join);
    let call = [
        "host",
        "--listen",
        "127.0.0.1:0",
        "--peer",
        &peer,
        "--cohort",
        cohort,
        "--log",
        log,
        "--engine",
        "plain",
        "--limit-per-scanpath",
        "1000",
        "--wait",
        "20",
    ];
    let call: Vec<String> = call.iter().chain(more).map(ToString::to_string).collect();
    pair.start(Side::Host, &call)
}

fn address(host: &Running, log: &str) -> String {
    match log {
        "json" => host.wait_for("listening").unwrap()["address"]
            .as_str()
            .unwrap()
            .to_string(),
        _ => host.wait_for_line("listening on "),
    }
}

/// A cohort file and a result file with unprintable names, and an unprintable column.
#[test]
fn names_of_files_and_columns_are_printable_in_both_logs() {
    let pair = Pair::new();
    let (cohort, results) = (format!("a{UNSAFE}.csv"), format!("out{UNSAFE}"));
    let text = format!("participant,stimulus,x{UNSAFE},scanpath\np,s,1,CAB\n");
    pair.folder.file(&cohort, text);
    pair.folder
        .file("b.csv", "participant,stimulus,scanpath\nq,s,ABC\n");
    for log in ["text", "json"] {
        pair.forget();
        let results = format!("{results}-{log}.json");
        let host = host(&pair, log, &cohort, &["-o", &results]);
        let address = address(&host, log);
        let joined = pair.join(&address, &["--wait", "20"]).end();
        let output = host.end();
        assert_printable(&output);
        // Notes about a cohort are for people.
        let in_text = [format!("a{SHOWN}.csv"), format!("x{SHOWN}")];
        for shown in in_text.iter().filter(|_| log == "text") {
            assert!(output.stderr.contains(shown), "{}", output.stderr);
        }
        let of_results = match log {
            "json" => format!("out{ESCAPED}-json.json"),
            _ => format!("out{SHOWN}-text.json"),
        };
        assert!(
            output.stderr.contains(&of_results),
            "{log}: {}",
            output.stderr
        );
        output.ok();
        joined.ok();
    }
}

/// Ids are made printable when the file is read.
#[test]
fn ids_of_a_file_are_printable_in_both_logs() {
    let pair = Pair::new();
    let header = "participant,stimulus,scanpath\n";
    for (file, row) in [("ids.csv", "p{},s{},CAB\n"), ("b.csv", "q{},s{},ABC\n")] {
        let row = row.replace("{}", UNSAFE);
        pair.folder.file(file, format!("{header}{row}"));
    }
    for log in ["text", "json"] {
        pair.forget();
        let host = host(&pair, log, "ids.csv", &["--format", "csv"]);
        let address = address(&host, log);
        let joined = pair.join(&address, &["--format", "csv"]).end();
        for output in [host.end(), joined] {
            assert_printable(&output);
            let row = format!("p{SHOWN},q{SHOWN},s{SHOWN},");
            assert!(output.stdout.contains(&row), "{log}: {}", output.stdout);
            output.ok();
        }
    }
}

/// A modified peer has unprintable text in its plan.
#[test]
fn text_of_a_peer_is_printable_in_both_logs() {
    let pair = Pair::with_cohorts();
    let [identity, own] = &pair.identities;
    let timeouts = Timeouts::new(Duration::from_secs(5), Duration::from_secs(10));
    for log in ["text", "json"] {
        let host = host(&pair, log, "a.csv", &[]);
        let peer = identity.fingerprint();
        let mut channel = join(&address(&host, log), own, peer, &timeouts).unwrap();
        let mut opening = b"VEILPATH".to_vec();
        opening.extend(PROTOCOL_VERSION.to_le_bytes());
        channel.send(&opening).unwrap();
        channel.flush().unwrap();
        let hello = r#"{"idle_timeout_ms":1000,"named":null,"declared":null,"read_as":"letters 49","grid":null}"#;
        let tag = "0".repeat(64);
        let terms = format!(
            r#"{{"fields":{{"engine":"plain","x{ESCAPED}":"y{ESCAPED}"}},"encoding":{{}},"scanpaths":9,"letters":9,"id_bytes":9,"cohort_tag":"{tag}","estimate_only":false}}"#
        );
        channel.receive(&mut vec![0; opening.len()]).unwrap();
        let mut checksummed = ChecksummedChannel::new(&mut channel);
        for (tag, content) in [(1, hello), (2, &terms)] {
            let mut message = vec![tag];
            message.extend(u32::try_from(content.len()).unwrap().to_le_bytes());
            message.extend(content.as_bytes());
            checksummed.send(&message).unwrap();
        }
        checksummed.flush().unwrap();
        while checksummed.receive(&mut [0]).is_ok() {}
        let output = host.end();
        assert_printable(&output);
        assert_eq!(output.code, 3, "{log}: {}", output.stderr);
        assert!(
            output.stderr.contains(&format!("y{SHOWN}")),
            "{log}: {}",
            output.stderr
        );
    }
}
