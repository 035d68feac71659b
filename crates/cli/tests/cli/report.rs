//! `veilpath report`: what it writes, and what it refuses.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common;
use crate::common::pair;

use common::{Folder, root};
use pair::Pair;

fn folder() -> Folder {
    let folder = Folder::new();
    for name in ["clinic.csv", "university.csv"] {
        let content = std::fs::read(root().join("testdata/demo").join(name)).unwrap();
        folder.file(name, content);
    }
    let compare = [
        "compare",
        "clinic.csv",
        "university.csv",
        "--engine",
        "garbled",
        "-q",
        "-o",
    ];
    for name in ["scores.json", "scores.csv"] {
        folder.run(&[&compare[..], &[name]].concat()).ok();
    }
    folder
}

#[test]
fn the_page_of_a_local_comparison_mentions_no_sides() {
    let folder = folder();
    let compare = ["compare", "clinic.csv", "university.csv", "-q", "-o"];
    folder.run(&[&compare[..], &["here.json"]].concat()).ok();
    let page = folder.run(&["report", "here.json"]).ok();
    assert!(page.contains("compared without encryption; nothing was sent and nothing was hidden"));
    for absent in ["Results go to", "between the sides", "Sent by this side"] {
        assert!(!page.contains(absent), "{absent}");
    }
    let bits = ["bits.json", "--metric", "smith-waterman", "--reveal"];
    let bits = [&compare[..], &bits, &["threshold:4"]].concat();
    folder.run(&bits).ok();
    let page = folder.run(&["report", "bits.json"]).ok();
    assert!(page.contains("whether it reaches the threshold"));
    assert!(!page.contains("within the threshold"));
}

#[test]
fn a_page_needs_an_html_file_name() {
    let folder = folder();
    for name in ["page.pdf", "page"] {
        let refused = folder.run(&["report", "scores.json", "-o", name]);
        assert!(refused.refused().contains(".html"));
        assert!(!folder.path().join(name).exists());
    }
}

/// A pipe, a file and `-o -` get the page.
#[cfg(unix)]
#[test]
fn a_terminal_gets_advice_instead_of_the_page() {
    let script = std::process::Command::new("script")
        .arg("--version")
        .output();
    if !script.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: there is no script(1) here, so a page in a terminal was NOT tested");
        return;
    }
    let folder = folder();
    let in_terminal = |call: &str| {
        let program = env!("CARGO_BIN_EXE_veilpath");
        let output = std::process::Command::new("script")
            .args(["-qec", &format!("'{program}' {call}"), "/dev/null"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    let (code, message) = in_terminal("report scores.json");
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("-o report.html"), "{message}");
    assert!(!message.contains("<html"), "{message}");
    let page = folder.run(&["report", "scores.json"]).ok();
    assert!(page.contains("<html"), "a pipe");
    for call in ["report scores.json -o -", "report scores.json | cat"] {
        let (code, shown) = in_terminal(call);
        assert_eq!(code, Some(0), "{call}: {shown}");
        assert_eq!(shown.replace('\r', ""), page, "{call}");
    }
    let (code, shown) = in_terminal("report scores.json --svg - -o page.html");
    assert!(code == Some(0) && shown.contains("<svg"), "{shown}");
}

#[test]
fn pages_are_made_from_json_and_csv() {
    let folder = folder();
    let from_json = folder.run(&["report", "scores.json", "-o", "json.html"]);
    assert_eq!(
        (from_json.stdout.as_str(), from_json.stderr.as_str()),
        ("", "report: json.html\n")
    );
    from_json.ok();
    let page = folder.read("json.html");
    assert!(page.contains("nothing else, if both follow the protocol"));
    assert!(page.contains(
        "4 participants of clinic with 4 of university, 2 stimuli, by Levenshtein, with the garbled engine."
    ));
    let from_csv = folder.run(&["report", "scores.csv"]);
    assert!(
        from_csv.stderr.contains("scores.csv: the page has no plan"),
        "{}",
        from_csv.stderr
    );
    let page = from_csv.ok();
    assert!(
        page.starts_with("<!DOCTYPE html>")
            && page.contains("A CSV file contains only the numbers of the pairs")
    );
    let quiet = folder.run(&["report", "scores.csv", "-q", "-o", "quiet.html"]);
    assert_eq!(quiet.stderr, "");
}

/// Both institutions make a report. On the page of a side that gets no scores, it still says what each side learned.
#[test]
fn both_institutions_can_make_a_report() {
    let pair = Pair::with_cohorts();
    let only_host = ["--reveal-to", "host"];
    for output in pair.run(&only_host, &["-o", "host.json"], &["-o", "join.json"]) {
        output.ok();
    }
    let host = pair
        .folder
        .run(&["report", "host.json", "--cohort", "a.csv"])
        .ok();
    assert!(host.contains("<dt>pairs</dt><dd>32</dd>") && host.contains("the host only."));
    assert!(host.contains("The host learned") && host.contains("<li>the score of every pair"));
    let join = pair
        .folder
        .run(&["report", "join.json", "--cohort", "b.csv"])
        .ok();
    assert!(join.contains("<dt>pairs</dt><dd>32</dd>") && join.contains("What each side learned"));
    assert!(join.contains("32 pairs were compared; the results are for the other side only"));
    assert!(join.contains("Your own scanpaths") && !join.contains("class=\"heat\""));
    for output in pair.run(&only_host, &["-o", "host.csv"], &["-o", "join.csv"]) {
        output.ok();
    }
    let join = pair.folder.run(&["report", "join.csv"]).ok();
    assert!(join.contains("no pairs were compared, or only the other side gets results"));
}

/// A page does not depend on time, place or chance, so that it can be compared and archived.
#[test]
fn reports_are_reproducible() {
    let folder = folder();
    let page = || folder.run(&["report", "scores.json"]).ok();
    assert_eq!(page(), page());
}

#[test]
fn the_heat_map_can_be_exported_alone() {
    let folder = folder();
    let call = [
        "report",
        "scores.json",
        "-o",
        "x.html",
        "--svg",
        "h.svg",
        "--png",
        "h.png",
    ];
    let output = folder.run(&call);
    assert!(
        output.stderr.contains("the PNG contains only the tiles"),
        "{}",
        output.stderr
    );
    output.ok();
    let drawing = folder.read("h.svg");
    assert!(
        drawing.starts_with("<?xml")
            && drawing.contains("expert-1")
            && drawing.contains("similarity")
    );
    let picture = std::fs::read(folder.path().join("h.png")).unwrap();
    let reader = png::Decoder::new(std::io::Cursor::new(picture))
        .read_info()
        .unwrap();
    assert_eq!(
        (reader.info().width, reader.info().height),
        (256, 256),
        "4 by 4 tiles of 64 pixels"
    );
}

#[test]
fn own_scanpaths_and_pictures_are_drawn() {
    let folder = folder();
    let mut picture = Vec::new();
    let mut writer = png::Encoder::new(&mut picture, 2, 1)
        .write_header()
        .unwrap();
    writer.write_image_data(&[0; 2]).unwrap();
    writer.finish().unwrap();
    folder.file("scene.png", picture);
    let call = [
        "report",
        "scores.json",
        "-o",
        "own.html",
        "--cohort",
        "clinic.csv",
        "--image",
        "scene-1=scene.png",
    ];
    let output = folder.run(&call);
    assert!(
        output.stderr.contains("do not give it to the other side"),
        "{}",
        output.stderr
    );
    output.ok();
    let page = folder.read("own.html");
    assert_eq!(page.matches("class=\"path over\"").count(), 4);
    assert_eq!(page.matches("class=\"path\"").count(), 4);
    let others = "participant,stimulus,scanpath\nnobody,scene-1,ABC\n";
    folder.file("others.csv", others);
    let call = [
        "report",
        "scores.json",
        "-o",
        "x.html",
        "--cohort",
        "others.csv",
        "--grid",
        "7x7",
    ];
    let message = folder.run(&call).stderr;
    assert!(
        message.contains("no participant of the cohort is in the result file"),
        "{message}"
    );
}

/// No page shows what the other side's participants looked at, because only ids and scores are known.
#[test]
fn the_page_shows_only_ids_and_scores_of_the_other_side() {
    let folder = folder();
    folder
        .run(&[
            "report",
            "scores.json",
            "-o",
            "own.html",
            "--cohort",
            "clinic.csv",
        ])
        .ok();
    let page = folder.read("own.html");
    let scanpaths = |name: &str| -> Vec<String> {
        let text = folder.read(name);
        let rows = text.lines().filter(|line| line.contains(",scene-"));
        rows.map(|line| line.rsplit(',').next().unwrap().to_string())
            .collect()
    };
    let (own, others) = (scanpaths("clinic.csv"), scanpaths("university.csv"));
    assert!(own.len() == 8 && others.len() == 8);
    assert!(own.iter().all(|scanpath| page.contains(scanpath.as_str())));
    assert!(
        !others
            .iter()
            .any(|scanpath| page.contains(scanpath.as_str()))
    );
}

#[test]
fn two_scanpaths_are_shown_side_by_side() {
    let folder = folder();
    let call = "report scores.json --cohort clinic.csv --second-cohort university.csv --pair expert-1 novice-1";
    let call: Vec<&str> = call.split(' ').collect();
    let page = folder.run(&call).ok();
    for scene in ["scene-1", "scene-2"] {
        let heading = format!("<h3>expert-1 and novice-1: {scene}</h3>");
        assert!(page.contains(&heading), "{heading}");
    }
    assert_eq!(page.matches("class=\"alignment\"").count(), 2);
    assert!(page.contains("both look at the same letter"));
    let one = [&call[..], &["--stimulus", "scene-2", "--radius", "1"]].concat();
    let page = folder.run(&one).ok();
    assert_eq!(page.matches("class=\"alignment\"").count(), 1);
    assert!(page.contains("the grid cells are at most 1 apart"));
}

/// Without a grid there are sequences and no pictures.
#[test]
fn a_cohort_without_a_grid_is_shown_as_sequences() {
    let folder = folder();
    folder.file("bare.csv", "participant,scanpath\nexpert-1,ABCA\n");
    let output = folder.run(&["report", "scores.json", "--cohort", "bare.csv"]);
    assert!(output.stderr.contains("--grid 7x7"), "{}", output.stderr);
    let page = output.ok();
    assert!(page.contains("id=\"sequences\"") && !page.contains("id=\"scanpaths\""));
}

#[test]
fn invalid_arguments_and_files_are_refused_with_advice() {
    let folder = folder();
    folder.file(
        "broken.json",
        folder
            .read("scores.json")
            .replacen("\"score\":", "\"score\":x", 1),
    );
    folder.file(
        "newer.json",
        folder
            .read("scores.json")
            .replacen("\"veilpath_result\": 2", "\"veilpath_result\": 3", 1),
    );
    folder.file("empty.json", "");
    folder.file("none.csv", "a,b,stimulus,score\n");
    folder.file("bare.csv", "participant,scanpath\nexpert-1,ABC\n");
    folder.file("large.csv", "participant,scanpath\nexpert-1,Az\n");
    folder.file("text.png", "no picture");
    let page = ["-o", "page.html"];
    let with = |more: &[&'static str]| [&["scores.json"], more].concat();
    for (arguments, expected) in [
        (vec!["missing.json"], "missing.json: there is no such file"),
        (vec!["."], "this is a folder"),
        (vec!["empty.json"], "the file is empty"),
        (vec!["broken.json"], "broken.json: line "),
        (vec!["newer.json"], "version 3 of the format"),
        (vec!["clinic.csv"], "this is not a result file"),
        (
            vec!["none.csv", "--svg", "h.svg"],
            "there is no heat map to draw: the file has no results for individual pairs",
        ),
        (
            with(&["--stimulus", "scene-9"]),
            "available stimuli: \"scene-1\", \"scene-2\"",
        ),
        (
            with(&["--svg", "./page.html"]),
            "two outputs would go to this file",
        ),
        (with(&["--svg", "scores.json"]), "would be overwritten"),
        (with(&["--image", "scene-1=text.png"]), "--cohort"),
        (
            with(&["--cohort", "bare.csv", "--image", "text.png"]),
            "add it, as in --grid 7x7",
        ),
        (
            with(&["--measure", "distance"]),
            "available measures: \"score\", \"similarity\"",
        ),
        (with(&["--pair", "expert-1", "expert-2"]), "--cohort"),
        (
            with(&["--cohort", "clinic.csv", "--pair", "expert-1", "novice-1"]),
            "clinic.csv: there is no participant \"novice-1\"",
        ),
        (
            with(&["--cohort", "large.csv", "--grid", "2x2"]),
            "letters beyond the 4 cells",
        ),
        (
            with(&["--cohort", "clinic.csv", "--grid", "5x5"]),
            "was encoded on a grid of 7x7",
        ),
        (
            with(&["--cohort", "clinic.csv", "--image", "scene-1=text.png"]),
            "text.png: this is neither a PNG nor a JPEG picture",
        ),
        (
            with(&["--cohort", "clinic.csv", "--image", "scene-9=text.png"]),
            "no scanpath has the stimulus scene-9",
        ),
        (with(&["--cohort", "scores.csv"]), "scores.csv"),
    ] {
        let call = [&["report"], arguments.as_slice(), &page].concat();
        let message = folder.run(&call).refused();
        assert!(message.contains(expected), "{call:?}\n{message}");
        assert!(!folder.path().join("page.html").exists(), "{call:?}");
    }
}

#[test]
fn long_lists_of_stimuli_are_shortened() {
    let folder = Folder::new();
    let rows = (0..134).map(|index| format!("P,Q,scene-{index},1,0.5\n"));
    let table = format!(
        "a,b,stimulus,score,similarity\n{}",
        rows.collect::<String>()
    );
    folder.file("many.csv", table);
    let message = folder
        .run(&["report", "many.csv", "--stimulus", "nope"])
        .refused();
    assert!(message.contains("\"scene-9\" and 124 more"), "{message}");
}
