//! Pipes, links, permissions and terminals.

use super::*;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

#[test]
fn a_pipe_is_written_to_and_not_replaced() {
    let folder = Folder::new();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let from = pipe.clone();
    let reader = std::thread::spawn(move || std::fs::read_to_string(from).unwrap());
    encode_to(&folder, "pipe").ok();
    assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
    assert!(reader.join().unwrap().ends_with("anna,cows,A\n"));
    // A pipe that is checked before the work stays open until the results are written.
    folder.file("few.csv", "participant,scanpath\np1,ABBA\n");
    let reader = std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap());
    let call = [
        "compare", "few.csv", "few.csv", "--format", "csv", "-o", "pipe",
    ];
    folder.run(&call).ok();
    let printed = folder.run(&call[..5]).ok();
    assert_eq!(reader.join().unwrap(), printed);
}

/// The exit code and the messages of a call whose standard output was closed at once, as `| head -0` does.
fn with_closed_stdout(folder: &Folder, call: &str) -> (Option<i32>, String) {
    let mut child = folder
        .command(&call.split(' ').collect::<Vec<_>>())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let result = child.wait_with_output().unwrap();
    (
        result.status.code(),
        String::from_utf8(result.stderr).unwrap(),
    )
}

/// A folder with a cohort that gives more results than a pipe holds.
fn large_cohort() -> Folder {
    let folder = Folder::new();
    let scanpaths = (0..120).map(|index| format!("participant-{index},scene,ABC\n"));
    let rows: String = scanpaths.collect();
    folder.file("a.csv", format!("participant,stimulus,scanpath\n{rows}"));
    folder
}

const COMPARE: &str = "compare a.csv a.csv --engine plain -q";

/// As with `| head -2`.
#[test]
fn a_reader_that_stops_early_is_not_an_error() {
    let folder = large_cohort();
    for format in ["csv", "json", "table"] {
        let closed = with_closed_stdout(&folder, &format!("{COMPARE} --format {format}"));
        assert_eq!(closed, (Some(0), String::new()), "{format}");
    }
}

#[test]
fn a_reader_of_a_named_output_that_stops_early_is_an_error() {
    let folder = large_cohort();
    for call in [
        COMPARE,
        "synth random --count 2000 --seed 4",
        "synth lifelike --seed 4 --as fixations",
    ] {
        for output in ["-", "/dev/stdout", "/dev/fd/1"] {
            let call = format!("{call} -o {output}");
            let (code, message) = with_closed_stdout(&folder, &call);
            assert_eq!(code, Some(2), "{call}: {message}");
            assert!(message.contains("Broken pipe"), "{call}: {message}");
        }
    }
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let reader = std::thread::spawn(move || drop(std::fs::File::open(pipe).unwrap()));
    let (code, message) = with_closed_stdout(&folder, &format!("{COMPARE} -o pipe"));
    assert_eq!(code, Some(2), "{message}");
    reader.join().unwrap();
}

/// A terminal shows the first rows of a long output, how many more there are, and how to get them.
#[test]
fn a_terminal_shows_the_first_rows() {
    let script = std::process::Command::new("script")
        .arg("--version")
        .output();
    if !script.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: there is no script(1) here, so previews in a terminal were NOT tested");
        return;
    }
    let folder = Folder::new();
    let run = |call: &str| folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    run("synth lifelike --groups a=20,b=20 --stimuli 1 --seed 7 -o study.csv");
    run("synth lifelike --participants 40 --stimuli 1 --seed 7 --as fixations -o fixations.csv");
    run("compare study.csv study.csv --engine plain -o study.json");
    let in_terminal = |call: &str| {
        let program = env!("CARGO_BIN_EXE_veilpath");
        let output = std::process::Command::new("script")
            .args([
                "-qec",
                &format!("'{program}' {call} 2>/dev/null"),
                "/dev/null",
            ])
            .current_dir(folder.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for (call, example) in [
        ("compare study.csv study.csv --engine plain", "scores.csv"),
        ("encode fixations.csv --screen 1280x720", "cohort.csv"),
        ("synth random --count 50 --seed 1", "cohort.csv"),
        ("synth lifelike --seed 1 --as fixations", "fixations.csv"),
        (
            "stats study.json --groups study.csv --answer nearest:3",
            "answers.csv",
        ),
    ] {
        let shown = in_terminal(call);
        let hint = format!("-o {example} writes all to a file, -o - prints all");
        assert!(shown.trim_end().ends_with(&hint), "{call}: {shown}");
        assert!(shown.contains("… and "), "{call}: {shown}");
        assert!(shown.lines().count() <= 25, "{call}: {shown}");
        let all = in_terminal(&format!("{call} -o -"));
        assert!(all.lines().count() > 40, "{call}: {all}");
        assert_eq!(all.replace('\r', ""), run(call), "a pipe gets everything");
    }
}

#[test]
fn a_link_is_kept_and_its_target_replaced() {
    let folder = Folder::new();
    folder.file("target.csv", COHORT_START);
    symlink("target.csv", folder.path().join("link.csv")).unwrap();
    encode_to(&folder, "link.csv").ok();
    assert!(folder.path().join("link.csv").is_symlink());
    assert!(folder.read("target.csv").ends_with("anna,cows,A\n"));
}

#[test]
fn a_link_to_a_missing_file_is_written_through() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    symlink("data/next.csv", folder.path().join("link.csv")).unwrap();
    symlink("target.csv", folder.path().join("data/next.csv")).unwrap();
    encode_to(&folder, "link.csv").ok();
    assert!(folder.path().join("link.csv").is_symlink());
    assert!(folder.read("data/target.csv").ends_with("anna,cows,A\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn redirected_output_is_appended() {
    let folder = Folder::new();
    folder.file("fixations.csv", FIXATIONS);
    let expected = format!("old\n{}", folder.run(&ENCODE).ok());
    for output in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        folder.file("all.csv", "old\n");
        let path = folder.path().join("all.csv");
        let all = std::fs::OpenOptions::new().append(true).open(path).unwrap();
        let result = folder
            .command(&[&ENCODE[..], &["-q", "-o", output]].concat())
            .stdout(all)
            .status();
        assert!(result.unwrap().success(), "{output}");
        assert_eq!(folder.read("all.csv"), expected, "{output}");
    }
}

#[test]
fn a_named_pipe_without_a_reader_is_an_error() {
    let folder = Folder::new();
    let scanpaths = (0..120).map(|index| format!("participant-{index},scene,ABC\n"));
    let rows: String = scanpaths.collect();
    folder.file("a.csv", format!("participant,stimulus,scanpath\n{rows}"));
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let reader = std::thread::spawn(move || drop(std::fs::File::open(pipe)));
    let call = ["compare", "a.csv", "a.csv", "--format", "csv", "-o", "pipe"];
    let message = folder.run(&call).refused();
    assert!(message.contains("pipe: cannot be written"), "{message}");
    reader.join().unwrap();
}

#[test]
fn a_private_file_stays_private() {
    let folder = Folder::new();
    folder.file("cohort.csv", COHORT_START);
    let path = folder.path().join("cohort.csv");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    encode_to(&folder, "cohort.csv").ok();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_error_does_not_lose_the_results() {
    let folder = Folder::new();
    folder.file("fixations.csv", FIXATIONS);
    let code = |arguments: &[&str]| {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        std::process::Command::new(env!("CARGO_BIN_EXE_veilpath"))
            .args(arguments)
            .current_dir(folder.path())
            .stderr(full.unwrap())
            .output()
            .unwrap()
            .status
            .code()
    };
    assert_eq!(code(&[&ENCODE[..], &["-o", "c.csv"]].concat()), Some(0));
    assert!(folder.read("c.csv").ends_with("anna,cows,A\n"));
    assert_eq!(code(&["compare", "c.csv", "c.csv"]), Some(0));
    assert_eq!(code(&["encode", "missing.csv"]), Some(2));
}
