//! Files that must not be misread silently: what is read from them, and which messages are printed.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common;

use common::Folder;

/// The ScanMatch toolbox computes the two letters of a cell modulo the number of grid columns, and scores this pair 0.714.
#[test]
fn two_letters_per_cell_follow_the_grid() {
    let folder = Folder::new();
    folder.file("a.txt", "aFaFcF\n");
    folder.file("b.txt", "bFbFbF\n");
    let call = "compare a.txt b.txt --pairs all --metric scanmatch --grid 12x8 --format csv";
    let done = folder.run(&call.split(' ').collect::<Vec<_>>());
    let score = first_score(&done.stdout);
    assert!((score - 0.714).abs() < 0.001, "{score}");
    assert!(done.stderr.contains("up to 12"), "{}", done.stderr);
}

/// The summary of one file says everything about it.
#[test]
fn verbose_summaries_are_about_several_files() {
    let folder = Folder::new();
    let more = |files: &str| {
        let run = |flag: &str| {
            let call = format!("encode {files} --screen 700x700 -o c.csv {flag}");
            let output = folder.run(&call.split_whitespace().collect::<Vec<_>>());
            let stderr = output.stderr.clone();
            output.ok();
            stderr
        };
        let (short, long) = (run(""), run("-v"));
        long.strip_prefix(&short).unwrap().to_string()
    };
    for file in ["p.csv", "q.csv"] {
        folder.file(file, "x,y,duration\n50,60,200\n");
    }
    assert_eq!(more("p.csv"), "");
    assert!(more("p.csv q.csv").contains("p.csv: 1 of 1 row used"));
}

/// The same pair from fixations: `encode` and `split` write how the letters count, and `compare` needs no option for it.
#[test]
fn written_cohorts_say_how_two_letters_count() {
    let folder = Folder::new();
    let run = |call: &str| folder.run(&call.split(' ').collect::<Vec<_>>());
    // Grid cells of 100 by 100 pixels: all in column F; rows a, a, c and b, b, b.
    let rows = [50, 50, 250].map(|y| format!("P1,550,{y},200\n")).concat()
        + &[150; 3].map(|y| format!("P2,550,{y},200\n")).concat();
    folder.file("fixations.csv", format!("participant,x,y,duration\n{rows}"));
    run("encode fixations.csv --screen 1200x800 --grid 12x8 --notation double-letters -o all.csv")
        .ok();
    run("split all.csv --seed 1 --first a.csv --second b.csv").ok();
    let mut written = ["a.csv", "b.csv"].map(|file| folder.read(file));
    written.sort_by_key(|cohort| letters(cohort).to_string());
    for (cohort, expected) in written.iter().zip(["aFaFcF", "bFbFbF"]) {
        assert_eq!(letters(cohort), expected);
        let header = "\n# alphabet: double-letters 96 modulus 12\n";
        assert!(cohort.contains(header), "{cohort}");
    }
    let compared =
        run("compare a.csv b.csv --metric scanmatch --threshold 3.5 --gap 0 --format csv");
    assert!(!compared.stderr.contains("assumed"), "{}", compared.stderr);
    let score = first_score(&compared.ok());
    assert!((score - 0.714).abs() < 0.001, "{score}");
}

/// The score in the first row of a table of results.
fn first_score(csv: &str) -> f64 {
    let row = csv.lines().nth(1).unwrap();
    row.split(',').nth(3).unwrap().parse().unwrap()
}

/// The letters of the only scanpath in a cohort.
fn letters(cohort: &str) -> &str {
    cohort.lines().last().unwrap().rsplit(',').next().unwrap()
}

/// Thirty fixations all over the screen, in any unit.
fn spread(scale: impl Fn(f64) -> f64, x: &str, y: &str) -> String {
    let part = |step: u32| f64::from(step % 30) / 29.0 * 0.96 + 0.013;
    let row = |step| format!("{},{},200\n", scale(part(step)), scale(part(step * 7)));
    let rows: Vec<String> = (0..30).map(row).collect();
    format!("{x},{y},duration\n{}", rows.concat())
}

#[test]
fn saccades_and_blinks_are_skipped_and_counted() {
    let folder = Folder::new();
    folder.file(
        "a.csv",
        "x,y,duration,eye_movement\n10,10,200,Fixation\n300,300,40,Saccade\n690,690,250,Fixation\n,,90,Blink\n",
    );
    let call = ["encode", "a.csv", "--screen", "700x700"];
    let done = folder.run(&call);
    assert_eq!(letters(&done.stdout), "Aw");
    assert!(done.stderr.contains("1 Saccade"), "{}", done.stderr);
    assert!(done.stderr.contains("--events"), "{}", done.stderr);
    let all = folder.run(&[&call[..], &["--events", "all"]].concat()).ok();
    assert_eq!(letters(&all), "AYw");
    let some = [&call[..], &["--events", "Saccade,blink"]].concat();
    assert_eq!(letters(&folder.run(&some).ok()), "Y");
    let json = folder.run(&[&call[..], &["--summary", "json"]].concat());
    let summary: serde_json::Value = serde_json::from_str(&json.stderr).unwrap();
    assert_eq!(
        summary["unrequested_events"],
        serde_json::json!({"Blink": 1, "Saccade": 1})
    );
}

#[test]
fn remodnav_files_are_read() {
    let folder = Folder::new();
    let file = common::root().join("testdata/formats/remodnav.tsv");
    let call = [
        "encode",
        file.to_str().unwrap(),
        "--screen",
        "1280x720",
        "--grid",
        "4x2",
    ];
    let done = folder.run(&call);
    assert_eq!(letters(&done.stdout), "AFH");
    assert!(
        done.stderr.contains("mean of where it starts and ends"),
        "{}",
        done.stderr
    );
}

#[test]
fn visual_angles_require_the_screen_size() {
    let folder = Folder::new();
    folder.file(
        "a.csv",
        "x_deg,y_deg,duration\n-23,13,200\n0.5,-0.5,250\n23,-13,200\n",
    );
    let message = folder
        .run(&["encode", "a.csv", "--screen", "1920x1080"])
        .refused();
    for part in ["visual angle", "--screen-cm", "--distance"] {
        assert!(message.contains(part), "{message}");
    }
    let call = [
        "encode",
        "a.csv",
        "--screen-cm",
        "52x29",
        "--distance",
        "60",
        "--grid",
        "4x4",
    ];
    assert_eq!(letters(&folder.run(&call).ok()), "AKP");
    folder.file(
        "b.csv",
        "lon,lat,duration\n-170,80,200\n5,-5,250\n170,-80,200\n",
    );
    let panorama = folder.run(&["encode", "b.csv", "--grid", "4x4"]).ok();
    assert_eq!(letters(&panorama), "AKP");
    assert!(panorama.contains("# aspect: 2\n"), "{panorama}");
}

/// The same places in five units give the same letters. Fractions and percent do not need the size of the screen.
#[test]
fn units_other_than_pixels_are_recognised_with_a_screen_size() {
    let folder = Folder::new();
    let encoded_without_screen = |text: String, more: &[&str]| {
        folder.file("a.csv", text);
        let done = folder.run(&[&["encode", "a.csv", "--grid", "4x4"], more].concat());
        (letters(&done.stdout).to_string(), done.stderr)
    };
    let encoded = |text: String, more: &[&str]| {
        encoded_without_screen(text, &[&["--screen", "1000x1000"], more].concat())
    };
    let (pixels, message) = encoded(spread(|part| part * 1000.0, "x", "y"), &[]);
    assert!(
        message.contains("in pixels") && pixels.len() == 30,
        "{message}"
    );
    for (scaled, flags, words) in [
        (spread(|part| part, "x", "y"), vec![], "0 to 1"),
        (spread(|part| part * 100.0, "x", "y"), vec![], "percent"),
        (
            spread(|part| part * 2.0 - 1.0, "x", "y"),
            vec!["--flip-y"],
            "-1 to 1",
        ),
        (
            spread(|part| part * 2.0 - 1.0, "x_norm", "y_norm"),
            vec!["--flip-y"],
            "centre",
        ),
        (
            spread(|part| part - 0.5, "x", "y"),
            vec!["--flip-y", "--units", "height"],
            "",
        ),
    ] {
        let (letters, message) = encoded(scaled, &flags);
        assert_eq!(letters, pixels, "{words}: {message}");
        assert!(message.contains(words), "{message}");
    }
    for (scaled, flags) in [
        (spread(|part| part, "x", "y"), vec![]),
        (
            spread(|part| part * 100.0, "x", "y"),
            vec!["--units", "percent"],
        ),
    ] {
        let (letters, message) = encoded_without_screen(scaled, &flags);
        assert_eq!(letters, pixels, "{message}");
    }
    let (_, message) = encoded(spread(|part| part, "x", "y"), &["--units", "px"]);
    assert!(
        message.contains("one grid cell") && message.contains("0 and 1"),
        "{message}"
    );
}

#[test]
fn options_without_effect_are_named() {
    let folder = Folder::new();
    folder.file("a.csv", "x,y,duration\n10,10,200\n500,400,200\n");
    let call = ["encode", "a.csv", "--screen", "700x700"];
    let more = [
        "--min-dwell",
        "200",
        "--rate",
        "60",
        "--eye",
        "left",
        "--max-gap",
        "10",
    ];
    let done = folder.run(&[&call[..], &more[..]].concat());
    for flag in ["--min-dwell", "--rate", "--eye", "--max-gap"] {
        assert!(
            done.stderr.contains(&format!("{flag} has no effect")),
            "{}",
            done.stderr
        );
    }
    assert!(!folder.run(&call).stderr.contains("has no effect"));
    // Areas of interest have no outside.
    let areas = ["--aoi", "areas.csv", "--outside", "clamp"];
    let message = folder.run(&[&call[..], &areas[..]].concat()).refused();
    assert!(message.contains("--outside"), "{message}");
}

#[test]
fn a_recording_is_not_overwritten() {
    let folder = Folder::new();
    let recording = "x,y,duration\n10,10,200\n";
    folder.file("p1.csv", recording);
    folder.file("p2.csv", recording);
    let call = ["encode", "p1.csv", "-o", "p2.csv", "--screen", "700x700"];
    let message = folder.run(&call).refused();
    assert!(
        message.contains("p2.csv") && message.contains("--force"),
        "{message}"
    );
    assert_eq!(folder.read("p2.csv"), recording);
    folder.run(&[&call[..], &["--force"]].concat()).ok();
    // A file that Veilpath wrote may be overwritten.
    folder.run(&call).ok();
}

#[test]
fn standard_input_is_a_file() {
    use std::io::Write;
    let folder = Folder::new();
    let mut command = folder.command(&["encode", "-", "--screen", "700x700", "--participant", "p"]);
    command.stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input
        .write_all(b"x,y,duration\n10,10,200\n690,690,200\n")
        .unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(letters(&String::from_utf8(output.stdout).unwrap()), "Aw");
}

#[test]
fn files_of_other_programs_are_identified() {
    let folder = Folder::new();
    for (name, content, parts) in [
        (
            "fixations.csv",
            &b"PK\x03\x04\x14\x00\x06\x00[Content_Types].xml....PK\x03\x04xl/workbook.xml"[..],
            ["spreadsheet", "save the sheet"],
        ),
        (
            "cut.json",
            b"{\"a.jpg\": {\"subject\": \"07\", \"X\": [1, 2",
            ["truncated", "again"],
        ),
        (
            "gaze.csv",
            b"x,y,gap_length\n1,2,3\n4,5,6\n",
            ["neither a duration nor a time", "gap_length"],
        ),
    ] {
        folder.file(name, content);
        let message = folder
            .run(&["encode", name, "--screen", "700x700"])
            .refused();
        for part in parts {
            assert!(message.contains(part), "{name}: {message}");
        }
    }
    // A spreadsheet program pads the lines of a cohort file.
    let padded = "# veilpath cohort 1,,\r\n# alphabet: letters 49,,\r\nparticipant,stimulus,scanpath\r\nP1,cows,ABCD\r\n";
    folder.file("cohort.csv", padded);
    folder.run(&["compare", "cohort.csv", "cohort.csv"]).ok();
}
