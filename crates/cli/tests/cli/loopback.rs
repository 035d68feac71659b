//! Both roles in one process, over TLS on this machine: what a run leaves behind, how it ends, and whose key it uses.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // a test's helpers may fail the test; tests print what they skip

use crate::common;
use crate::common::pair;

use common::Folder;
use pair::Pair;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const WEAK: &str = "--engine paillier --key-bits 512 --allow-weak-key";

fn words(call: &str) -> Vec<&str> {
    call.split(' ').collect()
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("a.csv", "participant,scanpath\na1,ABCAB\na2,CC\n");
    folder.file("b.csv", "participant,scanpath\nb1,BCA\nb2,ABCABC\n");
    folder
}

fn files(folder: &Folder) -> Vec<String> {
    let names = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn loopback_leaves_no_files_and_counts_bytes() {
    let pair = Pair::new();
    pair.folder
        .file("a.csv", "participant,scanpath\na1,ABCAB\na2,CC\n");
    pair.folder
        .file("b.csv", "participant,scanpath\nb1,BCA\nb2,ABCABC\n");
    let before = files(&pair.folder);
    let call = format!("compare a.csv b.csv {WEAK} --format json");
    let here = pair.folder.run(&words(&call)).json();
    assert_eq!(files(&pair.folder), before);

    let both = format!("{WEAK} --format json");
    let [host, _] = pair.run(&words(&both), &[], &[]);
    let there = host.json();
    for part in ["spec", "results", "revealed"] {
        assert_eq!(here[part], there[part], "{part}");
    }
    assert_eq!(here["cost"]["cells"], there["cost"]["cells"]);
    // A batch contains a random part of the cells that are ready, so the byte counts of the two runs differ slightly.
    for count in ["bytes_sent", "bytes_received"] {
        let [here, there] = [&here, &there].map(|json| json["cost"][count].as_f64().unwrap());
        assert!((here / there - 1.0).abs() < 0.25, "{count}: {here} {there}");
    }
}

/// On Linux a process can have its own network namespace, in which not even 127.0.0.1 works.
#[cfg(target_os = "linux")]
#[test]
fn a_missing_loopback_interface_is_reported() {
    let apart = |program: &str, arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["-rn", program]).args(arguments);
        command
    };
    let possible = apart("true", &[]).stderr(Stdio::null()).status();
    if !possible.is_ok_and(|status| status.success()) {
        eprintln!("skipped: this machine does not let users have a network of their own");
        return;
    }
    let folder = folder();
    let call = format!("compare a.csv b.csv {WEAK}");
    let run = apart(env!("CARGO_BIN_EXE_veilpath"), &words(&call))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let message = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(4), "{message}");
    for part in ["127.0.0.1", "loopback", "--engine plain"] {
        assert!(message.contains(part), "{message}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_both_roles_at_once() {
    use std::os::unix::process::ExitStatusExt;
    if interrupts_are_ignored() {
        let notice = "\n*** SKIPPED: this shell ignores interrupts, so that none was sent. ***\n";
        // Not with `eprintln!`: the test harness hides its output when a test passes.
        std::io::stderr().write_all(notice.as_bytes()).unwrap();
        return;
    }
    let folder = Folder::new();
    for (file, seed) in [("a.csv", "1"), ("b.csv", "2")] {
        let call = format!("synth random --count 40 --length 100 --seed {seed} -o {file}");
        folder.run(&words(&call)).ok();
    }
    let before = files(&folder);
    let call = format!("compare a.csv b.csv {WEAK} -o scores.csv");
    let mut child = folder
        .command(&words(&call))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Both roles have several threads; while one works, the process has many.
    let threads = format!("/proc/{}/task", child.id());
    let deadline = Instant::now() + Duration::from_secs(20);
    while cfg!(target_os = "linux")
        && Instant::now() < deadline
        && std::fs::read_dir(&threads).map_or(0, Iterator::count) < 5
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    let interrupted = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupted.unwrap().success());
    let start = Instant::now();
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), Some(2), "{status}");
    assert!(start.elapsed() < Duration::from_secs(5));
    let left: Vec<String> = files(&folder)
        .into_iter()
        .filter(|name| !before.contains(name))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A shell without job control makes background processes ignore interrupts, and their child processes inherit this.
#[cfg(unix)]
fn interrupts_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 1 << 1 != 0)
}

#[test]
fn a_comparison_can_use_a_key_of_keygen() {
    let pair = Pair::new();
    pair.folder
        .file("a.csv", "participant,scanpath\na1,ABCAB\na2,CC\n");
    pair.folder
        .file("b.csv", "participant,scanpath\nb1,BCA\nb2,ABCABC\n");
    let keygen = "keygen -o clinic.key --key-bits 512 --allow-weak-key";
    pair.folder.run(&words(keygen)).ok();
    let expected = pair
        .folder
        .run(&words("compare a.csv b.csv --format csv"))
        .ok();
    let call =
        "compare a.csv b.csv --engine paillier --key clinic.key --allow-weak-key --format csv";
    assert_eq!(pair.folder.run(&words(call)).ok(), expected);

    // The key size is part of a session's agreement.
    let both = words("--engine paillier --allow-weak-key --format csv");
    let [host, join] = pair.run(&both, &["--key-bits", "512"], &["--key-bits", "1024"]);
    assert_eq!((host.code, join.code), (3, 3));
    assert!(
        host.stderr.contains("512 here, 1024 there"),
        "{}",
        host.stderr
    );
}

#[test]
fn an_unusable_key_is_refused_first() {
    let folder = folder();
    folder
        .run(&words("keygen -o k.key --key-bits 512 --allow-weak-key"))
        .ok();
    let compare = |more: &str| {
        let call = format!("compare a.csv b.csv {more}");
        folder.run(&words(&call)).refused()
    };
    for (call, parts) in [
        ("--engine paillier --key k.key", &["--allow-weak-key"][..]),
        (
            "--engine paillier --key k.key --allow-weak-key --key-bits 1024",
            &["k.key", "512 bits", "asks for 1024", "leave --key-bits out"],
        ),
        ("--key k.key", &["--key is only for --engine paillier"]),
        ("--engine paillier --key none.key", &["none.key"]),
        (
            "--engine paillier --key k.key.pub",
            &["k.key.pub", "secret key"],
        ),
        ("--engine paillier --key a.csv", &["a.csv", "secret key"]),
        (
            "--engine paillier --key k.key --allow-weak-key -o k.key",
            &["k.key"],
        ),
    ] {
        let message = compare(call);
        for part in parts {
            assert!(message.contains(part), "{call}\n{message}");
        }
    }
    assert!(folder.read("k.key").starts_with("veilpath paillier secret"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path().join("k.key");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let message = compare("--engine paillier --key k.key --allow-weak-key");
        assert!(
            message.contains("k.key") && message.contains("644"),
            "{message}"
        );
    }
}

/// With a key of an earlier session, a partner could have that session's numbers opened as results of another.
#[test]
fn sessions_take_no_key() {
    let folder = folder();
    for call in [
        "host --listen 127.0.0.1:0 --key k.key",
        "join 127.0.0.1:1 --key k.key",
    ] {
        assert!(folder.run(&words(call)).refused().contains("--key"));
    }
}
