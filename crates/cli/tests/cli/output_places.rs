//! Output files: they never replace an input file, a pipe or a link, and keep their permissions.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

#[cfg(unix)]
mod unix;

use crate::common;

use common::Folder;

const FIXATIONS: &str = "participant,stimulus,x,y,duration\nanna,cows,10,10,200\n";
const COHORT: &str = "participant,stimulus,scanpath\nanna,cows,ABC\nben,cows,ABD\n";
/// A file that `encode` may replace.
const COHORT_START: &str = "# veilpath cohort 1\n";
const ENCODE: [&str; 4] = ["encode", "fixations.csv", "--screen", "700x700"];

fn encode_to(folder: &Folder, output: &str) -> common::RunOutput {
    folder.file("fixations.csv", FIXATIONS);
    folder.run(&[&ENCODE[..], &["-o", output]].concat())
}

#[test]
fn an_input_is_not_overwritten() {
    let folder = Folder::new();
    let message = encode_to(&folder, "./fixations.csv").refused();
    assert!(message.contains("would be overwritten"), "{message}");
    assert_eq!(folder.read("fixations.csv"), FIXATIONS);
    folder.file("a.csv", COHORT);
    folder.file("b.csv", COHORT);
    folder
        .run(&["compare", "a.csv", "b.csv", "-o", "b.csv"])
        .refused();
    assert_eq!(folder.read("b.csv"), COHORT);
}

#[test]
fn the_default_identity_is_not_overwritten() {
    let folder = Folder::new();
    folder.file("a.csv", COHORT);
    let home = folder.path().join("home");
    let run = |call: &[&str]| {
        let mut command = folder.command(call);
        let output = command.env("VEILPATH_HOME", &home).output().unwrap();
        common::RunOutput::from(call.join(" "), output)
    };
    let fingerprint = run(&["identity"]).ok();
    let identity = folder.read("home/identity.pem");
    let peer = fingerprint.trim().replace(['0', '1'], "2");
    let session = ["join", "127.0.0.1:9", "--peer", &peer, "--cohort", "a.csv"];
    let output = ["-o", "home/identity.pem", "--format", "csv", "--force"];
    let message = run(&[&session[..], &output].concat()).refused();
    assert!(message.contains("would be overwritten"), "{message}");
    assert_eq!(folder.read("home/identity.pem"), identity);
}

#[test]
fn the_parts_of_a_split_need_different_files() {
    let folder = Folder::new();
    folder.file("a.csv", COHORT);
    for (first, second, problem) in [
        ("x.csv", "./x.csv", "two outputs"),
        ("./a.csv", "x.csv", "overwritten"),
    ] {
        let call = ["split", "a.csv", "--first", first, "--second", second];
        let message = folder.run(&call).refused();
        assert!(message.contains(problem), "{message}");
    }
    assert_eq!(folder.read("a.csv"), COHORT);
}

#[test]
fn a_missing_folder_is_reported_before_the_work() {
    let folder = Folder::new();
    let message = encode_to(&folder, "nowhere/cohort.csv").refused();
    assert!(message.contains("there is no folder nowhere"), "{message}");
    assert!(!message.contains(".veilpath-"), "{message}");
}

#[test]
fn a_write_protected_file_is_not_replaced() {
    let folder = Folder::new();
    folder.file("cohort.csv", "precious");
    let path = folder.path().join("cohort.csv");
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions.clone()).unwrap();
    let message = encode_to(&folder, "cohort.csv").refused();
    assert!(message.contains("write-protected"), "{message}");
    assert_eq!(folder.read("cohort.csv"), "precious");
    // Windows does not remove write-protected files with their folder.
    #[allow(clippy::permissions_set_readonly_false)]
    permissions.set_readonly(false);
    std::fs::set_permissions(&path, permissions).unwrap();
}

#[test]
fn a_hyphen_is_standard_input_or_output() {
    let folder = Folder::new();
    folder.file("a.csv", COHORT);
    folder.file("fixations.csv", FIXATIONS);
    let run = |call: &str| folder.run(&call.split(' ').collect::<Vec<_>>());
    run("compare a.csv a.csv -o r.json").ok();
    for (to_file, file, to_stdout) in [
        (
            "compare a.csv a.csv -o r.txt",
            "r.txt",
            "compare a.csv a.csv -o -",
        ),
        ("report r.json -o r.html", "r.html", "report r.json -o -"),
        (
            "encode fixations.csv --screen 700x700 -o c.csv",
            "c.csv",
            "encode fixations.csv --screen 700x700 -o -",
        ),
        (
            "synth random --count 2 --seed 4 -o s.csv",
            "s.csv",
            "synth random --count 2 --seed 4 -o -",
        ),
    ] {
        run(to_file).ok();
        assert_eq!(run(to_stdout).ok(), folder.read(file), "{to_stdout}");
    }
    let piped = |call: &str, input: &str| {
        let words: Vec<&str> = call.split(' ').collect();
        let output = assert_cmd::Command::from_std(folder.command(&words))
            .write_stdin(input)
            .output()
            .unwrap();
        common::RunOutput::from(call.to_string(), output)
    };
    for (call, input, same) in [
        (
            "compare - a.csv --names a,b",
            COHORT,
            "compare a.csv a.csv --names a,b",
        ),
        (
            "encode - --screen 700x700 --input-format table",
            FIXATIONS,
            "encode fixations.csv --screen 700x700",
        ),
        ("report -", &folder.read("r.json"), "report r.json"),
    ] {
        // A page contains the name of the file that it was made from.
        let read = piped(call, input).ok();
        assert_eq!(
            read.replace("standard input", "r.json"),
            run(same).ok(),
            "{call}"
        );
    }
    assert!(!folder.path().join("-").exists());
    let twice = piped("compare - -", COHORT).refused();
    assert!(twice.contains("standard input"), "{twice}");
    // Neither two files nor a secret key can be written to standard output.
    for call in [
        "split a.csv --first - --second b.csv",
        "keygen -o - --key-bits 512 --allow-weak-key",
    ] {
        run(call).refused();
    }
    folder.file("-", COHORT);
    run("compare ./- a.csv").ok();
}

/// Every argument that names a file or a folder: `-` is standard input or output, or it is refused; it is never a file of
/// that name.
#[test]
fn a_hyphen_is_never_a_file_name() {
    let folder = Folder::new();
    folder.file("a.csv", COHORT);
    folder.file("fixations.csv", FIXATIONS);
    let run = |call: &str| folder.run(&call.split(' ').collect::<Vec<_>>());
    let piped = |call: &str, input: &str| {
        let words: Vec<&str> = call.split(' ').collect();
        let output = assert_cmd::Command::from_std(folder.command(&words))
            .write_stdin(input)
            .output()
            .unwrap();
        common::RunOutput::from(call.to_string(), output)
    };
    // The partner in the example of a policy.
    let fingerprint = ["0000"; 16].join("-");
    run("compare a.csv a.csv -o r.json").ok();
    for tile in ["1", "2"] {
        run(&format!(
            "compare a.csv a.csv --tile {tile}/2 -o {tile}.json"
        ))
        .ok();
    }
    run("policy init -o policy.toml").ok();
    folder.file("empty.jsonl", "");
    // Inputs: from standard input, the result is the same as from the file.
    for (call, file) in [
        ("merge FILE 2.json --format csv", "1.json"),
        ("record verify FILE", "empty.jsonl"),
        ("record compare FILE empty.jsonl", "empty.jsonl"),
        ("record compare empty.jsonl FILE", "empty.jsonl"),
        (
            "policy check --policy FILE --peer FINGERPRINT --reveal mean",
            "policy.toml",
        ),
        (
            "policy document --policy FILE --peer FINGERPRINT --reveal mean",
            "policy.toml",
        ),
        ("compare FILE a.csv --names x,y", "a.csv"),
        ("compare a.csv FILE --names x,y", "a.csv"),
        ("stats FILE --answer mean", "r.json"),
        ("report r.json --cohort FILE --grid 7x7", "a.csv"),
        ("split FILE --first 1.csv --second 2.csv --seed 1", "a.csv"),
    ] {
        let call = call.replace("FINGERPRINT", &fingerprint);
        let from_stdin = piped(&call.replace("FILE", "-"), &folder.read(file));
        let from_file = run(&call.replace("FILE", file));
        assert_eq!(from_file.code, 0, "{call}: {}", from_file.stderr);
        assert_eq!(
            from_stdin.code, from_file.code,
            "{call}: {}",
            from_stdin.stderr
        );
        assert_eq!(from_stdin.stdout, from_file.stdout, "{call}");
    }
    // Outputs: standard output has what would be in the file.
    for (to_file, file, to_stdout) in [
        (
            "report r.json -o r.html --svg m.svg",
            "m.svg",
            "report r.json -o r.html --svg -",
        ),
        ("policy init -o p.toml", "p.toml", "policy init -o -"),
    ] {
        run(to_file).ok();
        assert_eq!(run(to_stdout).ok(), folder.read(file), "{to_stdout}");
    }
    let png = folder
        .command(&["report", "r.json", "-o", "r.html", "--png", "-"])
        .output()
        .unwrap();
    assert!(png.stdout.starts_with(b"\x89PNG"), "{png:?}");
    // Everything else is refused, with the reason.
    let session = "--peer FINGERPRINT --cohort a.csv";
    for call in [
        "report r.json --svg -",
        "report r.json -o - --svg -",
        "report r.json -o r.html --svg - --png -",
        "report r.json --cohort a.csv --image scene=-",
        "merge - -",
        "record compare - -",
        "compare a.csv a.csv --substitution -",
        &format!("join 127.0.0.1:1 {session} --policy -"),
        &format!("join 127.0.0.1:1 {session} --identity -"),
        &format!("host --listen 127.0.0.1:0 {session} --policy -"),
        "identity --identity -",
        "record --identity -",
        "results --identity -",
        "peers --identity -",
        "ui - --no-browser",
        "man --folder -",
        "bench paper --quick -o -",
        "keygen -o - --key-bits 512 --allow-weak-key",
        "split a.csv --first - --second b.csv",
        "worker - --tile 1 --listen 127.0.0.1:0",
        "worker-key abc --tiles 1 -o -",
    ] {
        let call = call.replace("FINGERPRINT", &fingerprint);
        let message = piped(&call, COHORT).refused();
        assert!(message.contains("standard "), "{call}: {message}");
    }
    let nobody = piped("relay --listen 127.0.0.1:0 --institutions -", "nobody\n").refused();
    assert!(nobody.contains("standard input: line 1"), "{nobody}");
    assert!(!folder.path().join("-").exists());
}

#[test]
fn an_unknown_extension_is_refused() {
    let folder = Folder::new();
    folder.file("a.csv", COHORT);
    let to = |more: &[&str]| folder.run(&[&["compare", "a.csv", "a.csv"], more].concat());
    for name in ["r.tsv", "r.xlsx"] {
        let output = to(&["-o", name]);
        assert_eq!(output.stdout, "", "nothing is computed before");
        let message = output.refused();
        assert!(message.contains(".csv, .json or .txt"), "{message}");
        assert!(!folder.path().join(name).exists());
    }
    to(&["-o", "r.tsv", "--format", "csv"]).ok();
    assert!(folder.read("r.tsv").starts_with("a,b,stimulus,score"));
    to(&["-o", "R.CSV"]).ok();
    assert_eq!(folder.read("R.CSV"), folder.read("r.tsv"));
    for name in ["r.txt", "r"] {
        to(&["-o", name]).ok();
        assert_eq!(to(&[]).ok(), folder.read(name));
    }
}

/// Otherwise a spreadsheet program would be asked to open text.
#[test]
fn a_table_is_not_written_under_another_formats_name() {
    let folder = Folder::new();
    folder.file("f.csv", "x,y,duration\n1,2,200\n");
    folder.file("a.csv", "participant,scanpath\np,AB\nq,BA\n");
    for name in ["c.xlsx", "c.json", "c.tsv"] {
        for call in [
            "encode f.csv --screen 7x7 -o",
            "synth random -o",
            "synth lifelike --as fixations -o",
            "split a.csv --second b.csv --first",
        ] {
            let call = format!("{call} {name}");
            let call: Vec<&str> = call.split(' ').collect();
            let error = folder.run(&call).refused();
            assert!(error.contains("is not written as ."), "{call:?}: {error}");
            assert!(!folder.path().join(name).exists());
        }
    }
    for name in ["c.CSV", "c.txt", "c"] {
        let call = format!("encode f.csv --screen 7x7 -o {name}");
        let call: Vec<&str> = call.split(' ').collect();
        folder.run(&call).ok();
    }
}

/// `--format` is an explicit wish, but a reader of the file expects what its name says.
#[test]
fn a_name_that_contradicts_the_format_is_noted() {
    let folder = Folder::new();
    folder.file("a.csv", "participant,scanpath\np,ABC\n");
    let run = |format: &str, file: &str| {
        let call = ["compare", "a.csv", "a.csv", "--format", format, "-o", file];
        let output = folder.run(&call);
        let stderr = output.stderr.clone();
        output.ok();
        stderr
    };
    let contradicts = run("json", "x.csv");
    assert!(
        contradicts.contains(
            "note: x.csv contains JSON, as --format says, although its name ends in .csv"
        ),
        "{contradicts}"
    );
    assert!(!run("csv", "y.csv").contains("although"));
    assert!(!run("csv", "z.dat").contains("although"));
}
