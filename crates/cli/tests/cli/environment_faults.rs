//! One side's environment fails: its disk is full, a folder is read-only, its clock is wrong or jumps. Each case ends with the
//! correct result or with an error and an exit code. No known score is lost, and running both commands again gives the correct
//! result.
//!
//! `VEILPATH_FAULTS=long` runs more cases. Cases that the machine cannot run (no namespaces, no compiler) are skipped
//! with a message.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stderr)] // a test's helpers may fail the test; it prints what ran

use crate::common;
use crate::common::pair;

use common::RunOutput;
use pair::{Pair, Side};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const FLAGS: [&str; 6] = ["--engine", "garbled", "--format", "csv", "--timeout", "5"];

fn is_long() -> bool {
    std::env::var("VEILPATH_FAULTS").is_ok_and(|value| value == "long")
}

/// Two institutions with cohorts of `count` scanpaths, and their expected results.
fn set_up(count: usize) -> (Pair, String) {
    let pair = Pair::new();
    for (file, seed) in [("a.csv", "1"), ("b.csv", "2")] {
        let call = format!("synth random --count {count} --length 5 --seed {seed} -o {file}");
        pair.folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
        // Long ids make a result file larger than the journal, which contains no ids.
        let long = format!("\n{}-r", "a-long-id".repeat(6));
        pair.folder
            .file(file, pair.folder.read(file).replace("\nr", &long));
    }
    let call = "compare a.csv b.csv --engine plain --format csv";
    let expected = pair.folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    (pair, expected)
}

/// Starts the command in a shell that runs `setup` first. `$@` is the command.
fn in_shell(command: &Command, shell: &[&str], setup: &str) -> Command {
    let mut wrapped = Command::new(shell[0]);
    wrapped
        .args(&shell[1..])
        .arg(format!("{setup} && exec \"$@\""));
    wrapped
        .arg("sh")
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            wrapped.env(name, value);
        }
    }
    if let Some(folder) = command.get_current_dir() {
        wrapped.current_dir(folder);
    }
    wrapped
}

/// Limits files to this many blocks of 512 bytes: the next write is truncated and fails, as on a full disk.
fn with_full_disk(blocks: usize) -> pair::Wrapper {
    let first = format!("trap '' XFSZ && ulimit -f {blocks}");
    Box::new(move |command| in_shell(&command, &["sh", "-c"], &first))
}

fn check_error(output: &RunOutput, case: &str) {
    assert!(
        !output.stderr.contains("panicked"),
        "{case}: {}",
        output.stderr
    );
    assert!(
        [2, 3, 4].contains(&output.code),
        "{case}: {} {}",
        output.code,
        output.stderr
    );
    let event = format!("\"exit_code\":{}", output.code);
    assert!(output.stderr.contains(&event), "{case}: {}", output.stderr);
}

/// No matter where the space runs out (before the journal, within it, or before the result file), everything that was
/// computed is printed, no partial file is left, and a later run with enough space has everything.
#[test]
fn results_survive_a_full_disk() {
    let (mut pair, expected) = set_up(12);
    // The journal needs ten blocks before a half is sent, and the result file about forty.
    let blocks: Vec<usize> = match is_long() {
        true => (0..=14).chain((16..=48).step_by(4)).collect(),
        false => vec![0, 9, 12, 48],
    };
    let mut tally = [0; 3];
    for side in [Side::Host, Side::Join] {
        for &blocks in &blocks {
            let case = format!("{side:?} with {blocks} blocks");
            pair.forget();
            for file in ["host.out", "join.out"] {
                let _ = std::fs::remove_file(pair.folder.path().join(file));
            }
            pair.wrap(side, Some(with_full_disk(blocks)));
            let output = pair.run(&FLAGS, &["-o", "host.out"], &["-o", "join.out"]);
            pair.wrap(side, None);
            let limited = &output[side as usize];
            // After the computation, the side prints what it cannot write to its file.
            let printed = limited.stdout == expected;
            assert!(printed || limited.stdout.is_empty(), "{case}");
            match limited.code {
                0 => assert!(!printed, "{case}"),
                _ => check_error(limited, &case),
            }
            let computed = printed || limited.code == 0;
            assert_eq!(output[1 - side as usize].code == 0, computed, "{case}");
            tally[if limited.code == 0 {
                0
            } else {
                1 + usize::from(computed)
            }] += 1;
            for file in ["host.out", "join.out"] {
                if let Ok(text) = std::fs::read_to_string(pair.folder.path().join(file)) {
                    assert_eq!(text, expected, "{case}");
                }
            }
            let again = pair.run(&FLAGS, &["-o", "host.out"], &["-o", "join.out"]);
            for output in again {
                assert_eq!(output.ok(), "", "after {case}");
            }
            for file in ["host.out", "join.out"] {
                assert_eq!(pair.folder.read(file), expected, "after {case}");
            }
            let left = std::fs::read_dir(pair.folder.path()).unwrap();
            let left = left.filter(|file| {
                let name = file.as_ref().unwrap().file_name();
                name.to_string_lossy().starts_with(".veilpath-")
            });
            assert_eq!(left.count(), 0, "{case}");
        }
    }
    // All three outcomes occur: everything written, nothing started, and computed but not written.
    assert!(tally.iter().all(|&count| count > 0), "{tally:?}");
    eprintln!(
        "a full disk: {} cases; {} succeeded, {} failed before the work, {} after it with the results printed; all succeeded when run again",
        tally.iter().sum::<u32>(),
        tally[0],
        tally[1],
        tally[2]
    );
}

/// A session continues from a truncated journal, and records after an incomplete one are not lost.
#[test]
fn a_journal_on_a_full_disk_is_valid_up_to_its_end() {
    let (mut pair, expected) = set_up(12);
    // There is room for what is recorded before a half is sent, and for part of the answers.
    for blocks in [10, 12, 15] {
        pair.forget();
        pair.wrap(Side::Host, Some(with_full_disk(blocks)));
        let [host, join] = pair.run(&FLAGS, &[], &[]);
        assert!(
            host.stderr.contains("\"journal_failure\":\""),
            "{}",
            host.stderr
        );
        for output in [host, join] {
            assert_eq!(output.ok(), expected);
        }
        pair.wrap(Side::Host, None);
        let list = || pair.start(Side::Host, &["results".to_string()]).end().ok();
        assert!(list().contains(",144,incomplete"), "{}", list());
        let [host, join] = pair.run(&FLAGS, &[], &[]);
        // Nothing is computed again, because the halves are stored.
        assert!(
            host.stderr.contains("\"pairs_from_journal\":144"),
            "{}",
            host.stderr
        );
        for output in [host, join] {
            assert_eq!(output.ok(), expected);
        }
        assert!(list().contains(",144,144,complete"), "{}", list());
    }
    eprintln!("a full disk under a journal: 3 cases; all answers were recovered when run again");
}

/// If standard output cannot be written, that is an error; the results are in the journal and in the file.
#[test]
fn a_full_output_device_is_an_error_and_keeps_the_results() {
    if !Path::new("/dev/full").exists() {
        eprintln!("SKIPPED: there is no /dev/full here, so a full output device was NOT tested");
        return;
    }
    let (mut pair, expected) = set_up(3);
    pair.wrap(
        Side::Host,
        Some(Box::new(|command| {
            in_shell(&command, &["sh", "-c"], "exec 3>/dev/full && exec >&3")
        })),
    );
    let [host, join] = pair.run(&FLAGS, &[], &["-o", "/dev/full"]);
    check_error(&host, "a full standard output");
    check_error(&join, "a full file");
    assert_eq!(join.stdout, expected, "printed all the same");
    pair.wrap(Side::Host, None);
    for run in pair.run(&FLAGS, &[], &[]) {
        assert_eq!(run.ok(), expected);
    }
    eprintln!("a full output device: 2 cases");
}

/// Makes a folder read-only for one command. Permissions do not bind the superuser, but a read-only mount does. Returns
/// `None` if neither is possible.
fn read_only(folder: &Path) -> Option<pair::Wrapper> {
    let folder = folder.to_str().unwrap().to_string();
    let user = Command::new("id").arg("-u").output().ok()?;
    if user.stdout != b"0\n" {
        let permit = |mode| std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&folder, permit(0o555)).ok()?;
        return Some(Box::new(|command| command));
    }
    let first =
        format!("mount --bind '{folder}' '{folder}' && mount -o remount,ro,bind '{folder}'");
    let tried = Command::new("unshare")
        .args(["-m", "sh", "-c", &first])
        .output();
    tried.is_ok_and(|tried| tried.status.success()).then(|| {
        let wrapper: pair::Wrapper =
            Box::new(move |command| in_shell(&command, &["unshare", "-m", "sh", "-c"], &first));
        wrapper
    })
}

#[test]
fn a_read_only_folder_is_an_error_before_the_work() {
    let (mut pair, expected) = set_up(3);
    let results = pair.folder.path().join("results");
    std::fs::create_dir(&results).unwrap();
    let home = |side: Side| pair.folder.path().join(["host", "join"][side as usize]);
    let places: [(Side, PathBuf); 4] = [
        (Side::Host, home(Side::Host)),
        (Side::Join, home(Side::Join)),
        (Side::Host, results.clone()),
        (Side::Join, results),
    ];
    let mut cases = 0;
    for (side, folder) in places {
        pair.forget();
        let Some(wrapper) = read_only(&folder) else {
            eprintln!("SKIPPED: no folder can be made read-only here, so that was NOT tested");
            return;
        };
        let case = format!("{side:?} cannot write {}", folder.display());
        pair.wrap(side, Some(wrapper));
        let output = ["-o", "results/out.csv"];
        let (host, join) = match side {
            Side::Host => (&output[..], &[][..]),
            Side::Join => (&[][..], &output[..]),
        };
        // A host that cannot write its results fails before it listens, so that the other side cannot connect.
        let host = pair.host(&[&FLAGS, host].concat());
        let address = host.address.clone();
        let join = address.map(|address| pair.join(&address, &[&FLAGS, join].concat()));
        let mut host = host;
        let join = join.map(pair::Running::end);
        if join
            .as_ref()
            .is_some_and(|join| join.stderr.contains("results"))
        {
            // The joining side never connected.
            assert!(!host.has_connected(), "{case}");
            host.kill();
        }
        let host = host.end();
        let limited = match side {
            Side::Host => &host,
            Side::Join => join.as_ref().unwrap(),
        };
        check_error(limited, &case);
        assert_eq!(limited.code, 2, "{case}: {}", limited.stderr);
        pair.wrap(side, None);
        let _ = std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755));
        for run in pair.run(&FLAGS, &[], &[]) {
            assert_eq!(run.ok(), expected, "after {case}");
        }
        cases += 1;
    }
    eprintln!(
        "a read-only folder: {cases} cases; all reported before the work, and right when run again"
    );
}

/// A library that returns a false time of day: off by `TEST_CLOCK_OFFSET` seconds, with the sign changing every
/// `TEST_CLOCK_JUMPS_MS` milliseconds.
const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long offset_now(void) {
    static long long start = 0;
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    long long ms = now.tv_sec * 1000LL + now.tv_nsec / 1000000;
    if (start == 0) start = ms;
    const char *offset = getenv("TEST_CLOCK_OFFSET"), *every = getenv("TEST_CLOCK_JUMPS_MS");
    long long away = offset ? atoll(offset) : 0, period = every ? atoll(every) : 0;
    return period > 0 && (ms - start) / period % 2 == 1 ? -away : away;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += offset_now();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec time;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &time);
    now->tv_sec = time.tv_sec;
    now->tv_usec = time.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *place) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place) *place = now.tv_sec;
    return now.tv_sec;
}
"#;

/// The library, if there is a compiler for it and the system loads it.
fn false_clock(folder: &Path) -> Option<PathBuf> {
    let (source, library) = (folder.join("clock.c"), folder.join("clock.so"));
    std::fs::write(&source, CLOCK).unwrap();
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source])
        .output();
    let compiled = compiled.is_ok_and(|run| run.status.success());
    // The library must work for another program, or the test would prove nothing.
    let year = Command::new("date")
        .arg("+%Y")
        .env("LD_PRELOAD", &library)
        .env("TEST_CLOCK_OFFSET", format!("{}", 100 * YEAR))
        .output()
        .ok()
        .and_then(|run| {
            String::from_utf8(run.stdout)
                .ok()?
                .trim()
                .parse::<u32>()
                .ok()
        });
    (compiled && year.is_some_and(|year| year > 2100)).then_some(library)
}

const YEAR: i64 = 31_556_952;

#[test]
fn sessions_do_not_depend_on_the_wall_clock() {
    let (mut pair, expected) = set_up(6);
    let Some(library) = false_clock(pair.folder.path()) else {
        eprintln!(
            "SKIPPED: no library for a false clock can be built here, so clocks were NOT tested"
        );
        return;
    };
    let mut clocks = vec![
        // First, one side is decades in the past and the other far in the future; then both clocks jump by decades.
        (-50 * YEAR, 120 * YEAR, 0),
        (30 * YEAR, -40 * YEAR, 3),
    ];
    if is_long() {
        clocks.extend([
            (-50 * YEAR, 0, 1),
            (0, 5000 * YEAR, 2),
            (3600, -3600, 5),
            (20 * YEAR, 20 * YEAR, 10),
        ]);
    }
    for engine in ["garbled", "shares", "plain"] {
        for (host, join, jumps) in &clocks {
            pair.forget();
            for (side, offset) in [(Side::Host, *host), (Side::Join, *join)] {
                let (library, jumps) = (library.clone(), *jumps);
                let wrapper: pair::Wrapper = Box::new(move |mut command| {
                    command
                        .env("LD_PRELOAD", &library)
                        .env("TEST_CLOCK_OFFSET", offset.to_string())
                        .env("TEST_CLOCK_JUMPS_MS", jumps.to_string());
                    command
                });
                pair.wrap(side, Some(wrapper));
            }
            let flags = ["--engine", engine, "--format", "csv", "--timeout", "5"];
            for output in pair.run(&flags, &[], &[]) {
                assert_eq!(output.ok(), expected, "{host} {join} {jumps}");
            }
        }
    }
    eprintln!("wrong clocks: {} cases, all right", 3 * clocks.len());
}

/// Timeouts and durations use a monotonic clock. Only two parts read the time of day: `bench paper`, which dates its tables,
/// and the file that dates records and checks whether policies and worker keys are still valid.
#[test]
fn only_exempt_files_read_the_wall_clock() {
    let mut files = 0;
    let mut folders = vec![common::root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                let exempt = path.ends_with("tests") || path.ends_with("evaluation/src/paper");
                folders.extend((!exempt).then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                if path.ends_with("session/src/date.rs") {
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                let reads = text.contains("SystemTime::now") || text.contains("UNIX_EPOCH.elapsed");
                assert!(!reads, "{}", path.display());
                files += 1;
            }
        }
    }
    assert!(files > 100);
}
